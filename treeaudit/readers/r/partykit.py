"""Trees of partykit: nodes in nodes, a split with a child for every interval or set of levels.

Nodes hold nobody: who is where follows from ``fitted``, the node of every training row, and in
forests from the data themselves, which are sent down the trees.
"""

from dataclasses import dataclass, replace

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Extras, Source
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters import check_number, each_tree
from treeaudit.readers.limits import Most, listed
from treeaudit.readers.r.fields import (
    Grown,
    below,
    extras_of,
    items,
    numbers,
    optional,
    part,
    scalar,
    schema_of,
    target_of,
    whole,
)
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.r.rows import Response, columns_of, meaning, table_of


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The columns of the data, those that are no responses first by name, and their levels."""

    names: list[str]
    place: list[int]  # Of every column of the data, -1 for the response
    levels: dict[str, list[str]]
    gaps: frozenset[int]  # Those with missing values

    @classmethod
    def of(cls, frame: RObject, target: str) -> "Columns":
        """Return the columns of a data frame, which may have no rows."""
        each = items(frame)
        if len(each) != len(frame.names) or len(set(frame.names)) != len(each):
            raise ReadError("the columns of its data have no names of their own")
        names = [name for name in frame.names if name != target]
        place = [names.index(name) if name != target else -1 for name in frame.names]
        held = zip(frame.names, each, strict=True)
        levels = {name: one.levels for name, one in held if one.levels and name != target}
        columns = (frame.get(name) for name in names)
        empty = (i for i, one in enumerate(columns) if one and np.isnan(one.numbers()).any())
        return cls(names, place, levels, frozenset(empty))

    def column(self, split: RObject) -> int:
        """Return the column of a split."""
        at = scalar(optional(split, "varid"))
        inside = isinstance(at, float) and 1 <= at <= len(self.place)
        found = self.place[int(at) - 1] if isinstance(at, float) and inside else -1
        if found < 0:
            raise ReadError("it tests a column that does not exist")
        return found


def read(model: RObject, source: Source) -> Forest:
    """Return the tree of a party object."""
    target = target_of(optional(model, "terms"))
    columns = Columns.of(part(model, "data"), target)
    grown, number, unclear = _grown(part(model, "node"), columns)
    fitted = optional(model, "fitted")
    where = None if fitted is None else fitted.get("(fitted)")
    told, response, weight = {}, None, np.empty(0)
    if fitted is not None and where is not None:
        response = Response.of(fitted.get("(response)"))
        stored = fitted.get("(weights)")
        weight = np.ones(len(where)) if stored is None else numbers(stored, len(where))
        place = {one: i for i, one in enumerate(number)}
        leaf = np.array([place.get(one, -1) for one in whole(where).tolist()], dtype=np.int64)
        told = columns_of(np.array(grown.parent, np.int32), leaf, weight, response)
    tree = grown.tree(**told)
    alike = bool(np.all(weight == 1))
    numeric = response is None or response.classes is None
    counts_are, reason = meaning([weight], response, drawn=False)
    classes = None if response is None else response.classes
    return Forest(
        trees=(tree,),
        schema=schema_of(columns.names, columns.levels, classes, target, columns.gaps),
        counts_are=counts_are,
        counts_reason=reason if told else "the file does not tell where its rows are (fitted)",
        n_records=None if tree.n_records is None else int(tree.n_records[0]),
        values_are="means" if numeric and alike and tree.value is not None else "unknown",
        extras=extras_of((tree,), means=alike) if numeric else Extras(),
        warnings=_warnings(columns, unclear),
        source=replace(source, library="partykit"),
    )


def read_forest(model: RObject, source: Source) -> Forest:
    """Return the forest of a cforest object."""
    frame, target = part(model, "data"), target_of(optional(model, "terms"))
    columns = Columns.of(frame, target)
    stored = items(part(model, "nodes"))
    check_number(len(stored), "partykit")
    response = Response.of(optional(model, "fitted", "(response)"))
    table = table_of(frame, columns.names, columns.levels)
    held = optional(model, "weights")
    weights = [] if held is None else [numbers(one, len(table)) for one in items(held)]
    if weights and len(weights) != len(stored):
        raise ReadError("it does not have weights for each tree")
    unclear: set[int] = set()

    def one_tree(i: int) -> Tree:
        grown, _, some = _grown(stored[i], columns)
        unclear.update(some)
        tree = grown.tree()
        if not weights or not len(table):
            return tree
        leaf = tree.apply(table).astype(np.int64)
        leaf[~tree.is_leaf[leaf]] = -1
        return replace(tree, **columns_of(tree.parent, leaf, weights[i], response))

    trees = each_tree(range(len(stored)), one_tree)
    counts_are, reason = meaning(weights, response, drawn=True)
    told = trees[0].n_records is not None
    drawn = any(np.any(one > 1) for one in weights)
    numeric = response is None or response.classes is None
    classes = None if response is None else response.classes
    return Forest(
        trees=tuple(trees),
        schema=schema_of(columns.names, columns.levels, classes, target, columns.gaps),
        counts_are=counts_are if told else "absent",
        counts_reason=reason if told else "the file does not hold its training rows (data)",
        records_are="bootstrap" if drawn else "unknown",
        n_records=len(table) or None,
        extras=extras_of(trees, means=False) if numeric else Extras(),
        warnings=_warnings(columns, unclear),
        source=replace(source, library="partykit"),
    )


def _grown(node: RObject, columns: Columns) -> tuple[Grown, list[int], set[int]]:
    """Return the nodes, the number of each in the file, and columns whose gaps go several ways."""
    grown, number, unclear = Grown(), list[int](), set[int]()
    todo: list[tuple[RObject, int, dict[str, object]]] = [(node, -1, {})]
    while todo:
        at, parent, edge = todo.pop()
        stored_id = scalar(optional(at, "id"))
        number.append(int(stored_id) if isinstance(stored_id, float) else -1)
        me = grown.add(parent, **edge)  # type: ignore[arg-type]  # as `_edges` makes them
        kids = optional(at, "kids")
        if me > Most.objects or (kids is not None and len(todo) > Most.objects):
            raise ReadError("it has too many nodes")
        if kids is None:
            continue
        edges, sure = _edges(part(at, "split"), len(kids), columns)
        feature = columns.column(part(at, "split"))
        if optional(at, "surrogates") is not None or not sure:
            unclear.add(feature)
        todo += [(kid, me, edge) for kid, edge in zip(items(kids), edges, strict=True)][::-1]
    return grown, number, unclear


def _edges(split: RObject, n_kids: int, columns: Columns) -> tuple[list[dict[str, object]], bool]:
    """Return the way into every child, and whether missing values follow one of them for sure."""
    feature = columns.column(split)
    levels = columns.levels.get(columns.names[feature])
    breaks, stored = optional(split, "breaks"), optional(split, "index")
    # R closes intervals on the right unless told.
    closed = optional(split, "right")
    bounds = np.empty(0) if breaks is None else numbers(breaks)
    if closed is not None and scalar(closed) == 0:
        bounds = below(bounds)
    ends = np.concatenate([[-np.inf], bounds, [np.inf]])
    index = np.arange(1.0, len(ends)) if stored is None else stored.numbers()
    if np.any(np.diff(ends) < 0) or (breaks is None and levels is None):
        raise ReadError("the split of a column has no bounds")
    if levels is not None and breaks is not None:
        interval = np.searchsorted(bounds, np.arange(1, len(levels) + 1), side="left")
        index = index[interval] if len(index) == len(ends) - 1 else np.empty(0)
    size = len(levels) if levels is not None else len(ends) - 1
    known = index[~np.isnan(index)]
    if len(index) != size or np.any((known < 1) | (known > n_kids) | (known != np.rint(known))):
        raise ReadError("a split does not fit the children of its node")
    likely = optional(split, "prob")
    chance = np.empty(0) if likely is None else likely.numbers()
    sure = len(chance) == n_kids and bool(np.any(chance == 1))
    edges: list[dict[str, object]] = []
    for kid in range(n_kids):
        own = np.flatnonzero(index == kid + 1)
        edge: dict[str, object] = {"feature": feature, "missing": sure and chance[kid] == 1}
        if levels is not None:
            edge["codes"] = own.tolist()
        elif len(own) == 1:
            edge["low"], edge["high"] = float(ends[own[0]]), float(ends[own[0] + 1])
        else:
            raise ReadError("a split does not fit the children of its node")
        edges.append(edge)
    return edges, sure


def _warnings(columns: Columns, unclear: set[int]) -> tuple[str, ...]:
    names = [columns.names[i] for i in sorted(unclear & columns.gaps)]
    if not names:
        return ()
    return (
        f"missing values of {listed(names)} follow surrogate splits or chance, which treeaudit "
        "leaves out",
    )
