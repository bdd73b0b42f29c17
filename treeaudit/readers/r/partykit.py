"""Trees of partykit: nodes in nodes, a split with a child for every interval or set of levels.

Nodes hold nobody: who is where follows from ``fitted``, the node of every training row, and in
forests from the data themselves, which are sent down the trees.
"""

from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters import check_number, each_tree
from treeaudit.readers.limits import listed
from treeaudit.readers.r.fields import (
    Edge,
    below,
    grown,
    schema_of,
    target_of,
)
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.r.rows import Response, places, table_of, with_rows


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The columns of the data, those that are no responses first by name, and their levels."""

    names: list[str]
    place: list[int]  # Of every column of the data, -1 for the response
    levels: dict[str, list[str]]
    gaps: frozenset[int]  # Those with missing values
    target: str

    @classmethod
    def of(cls, model: RObject) -> "Columns":
        """Return the columns of the data of a model, which may have no rows."""
        frame, target = model.part("data"), target_of(model.get("terms"))
        each = frame.items()
        if len(each) != len(frame.names) or len(set(frame.names)) != len(each):
            raise ReadError("the columns of its data have no names of their own")
        names = [name for name in frame.names if name != target]
        place = [names.index(name) if name != target else -1 for name in frame.names]
        held = zip(frame.names, each, strict=True)
        levels = {name: one.levels for name, one in held if one.levels and name != target}
        columns = (frame.get(name) for name in names)
        empty = (i for i, one in enumerate(columns) if one and np.isnan(one.numbers()).any())
        return cls(names, place, levels, frozenset(empty), target)

    def column(self, split: RObject) -> int:
        """Return the column of a split."""
        at = split.get("varid").scalar()
        inside = isinstance(at, float) and 1 <= at <= len(self.place)
        found = self.place[int(at) - 1] if isinstance(at, float) and inside else -1
        if found < 0:
            raise ReadError("it tests a column that does not exist")
        return found


def read(model: RObject, source: Source) -> Forest:
    """Return the tree of a party object."""
    fitted, leaf, weight = model.get("fitted"), list[Wide](), list[Float]()
    tree, number, unclear = _grown(model.part("node"), columns := Columns.of(model))
    if where := fitted.get("(fitted)"):
        leaf, stored = [places(number, where)], fitted.get("(weights)")
        weight = [stored.complete(len(where)) if stored else np.ones(len(where))]
    response = Response.of(fitted.get("(response)")) if leaf else None
    forest = _forest([tree], leaf, weight, response, columns, unclear, source)
    # Other kinds of trees answer with a model for each leaf.
    return forest if model.is_a("constparty") else replace(forest, answers="unknown")


def read_forest(model: RObject, source: Source) -> Forest:
    """Return the forest of a cforest object."""
    stored, held = model.part("nodes").items(), model.get("weights")
    check_number(len(stored), "partykit")
    columns = Columns.of(model)
    read_ones = each_tree(stored, lambda one: _grown(one, columns))
    trees = [tree for tree, *_ in read_ones]
    table = table_of(model.part("data"), columns.names, columns.levels)
    leaf, weights = list[Wide](), list[Float]()
    if held and len(table):
        weights = [one.complete(len(table)) for one in held.items()]
        ends = [tree.apply(table).astype(np.int64) for tree in trees]
        leaf = [np.where(t.is_leaf[at], at, -1) for t, at in zip(trees, ends, strict=True)]
    response = Response.of(model.get("fitted", "(response)"))
    unclear = {one for *_, some in read_ones for one in some}
    return _forest(trees, leaf, weights, response, columns, unclear, source)


def _forest(
    trees: list[Tree],
    leaf: list[Wide],
    weights: list[Float],
    response: Response | None,
    columns: Columns,
    unclear: set[int],
    source: Source,
) -> Forest:
    classes = None if response is None else response.classes
    names = [columns.names[i] for i in sorted(unclear & columns.gaps)]
    says = f"missing values of {listed(names)} follow surrogate splits or chance: not shown"
    return Forest(
        schema=schema_of(columns.names, columns.levels, classes, columns.target, columns.gaps),
        warnings=(says,) if names else (),
        source=replace(source, library="partykit"),
        **with_rows(trees, leaf, weights, response, alone=source.estimator == "party"),
    )


def _grown(node: RObject, columns: Columns) -> tuple[Tree, list[float | str | None], set[int]]:
    """Return the tree, the number of each node, and columns whose gaps go several ways."""
    unclear = set[int]()

    def children(at: RObject) -> list[tuple[RObject, Edge]]:
        if not (kids := at.get("kids")):
            return []
        edges, sure = _edges(at.part("split"), len(kids), columns)
        if at.get("surrogates") or not sure:
            unclear.add(edges[0]["feature"])
        return list(zip(kids.items(), edges, strict=True))

    tree, order = grown(node, children)
    return tree, [one.get("id").scalar() for one in order], unclear


def _edges(split: RObject, n_kids: int, columns: Columns) -> tuple[list[Edge], bool]:
    """Return the way into every child, and whether missing values follow one of them for sure."""
    feature = columns.column(split)
    levels = columns.levels.get(columns.names[feature])
    breaks, stored = split.get("breaks"), split.get("index")
    # R closes intervals on the right unless told.
    bounds = breaks.complete() if breaks else np.empty(0)
    if split.get("right").scalar() == 0:
        bounds = below(bounds)
    ends = np.concatenate([[-np.inf], bounds, [np.inf]])
    index = stored.numbers() if stored else np.arange(1.0, len(ends))
    if np.any(np.diff(ends) < 0) or (not breaks and levels is None):
        raise ReadError("the split of a column has no bounds")
    if levels is not None and breaks:
        interval = np.searchsorted(bounds, np.arange(1, len(levels) + 1), side="left")
        index = index[interval] if len(index) == len(ends) - 1 else np.empty(0)
    size = len(levels) if levels is not None else len(ends) - 1
    known = index[~np.isnan(index)]
    if len(index) != size or np.any((known < 1) | (known > n_kids) | (known != np.rint(known))):
        raise ReadError("a split does not fit the children of its node")
    chance = split.get("prob").numbers()
    sure = len(chance) == n_kids and bool(np.any(chance == 1))
    edges: list[Edge] = []
    for kid in range(n_kids):
        own = np.flatnonzero(index == kid + 1)
        edge: Edge = {"feature": feature, "missing": sure and chance[kid] == 1}
        if levels is not None:
            edge["codes"] = own.tolist()
        elif len(own) == 1:
            edge["low"], edge["high"] = float(ends[own[0]]), float(ends[own[0] + 1])
        else:
            raise ReadError("a split does not fit the children of its node")
        edges.append(edge)
    return edges, sure
