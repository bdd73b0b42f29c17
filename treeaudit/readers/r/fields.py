"""What the models of all R packages share: their parts, checked, and how nodes become a tree."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.forest import LazyTrees
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.model.source import KINDS, Extras
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters import check_number, reading
from treeaudit.readers.limits import Most, bare
from treeaudit.readers.links import category_sets, link
from treeaudit.readers.r.objects import CALLS, RObject
from treeaudit.readers.residual.targets import single_targets

Sides = tuple[Sequence[int], Sequence[int]]
"""The codes of categories that lead to the left, and to the right."""

Edge = dict[str, Any]
"""The way into a node: its ``feature``, and of ``low high codes missing`` what is stated."""

_Node = TypeVar("_Node")
_CONTROL = (
    "method minsplit minbucket cp maxdepth mtry ntree min.node.size max.depth splitrule num.trees"
)


def part(of: RObject, *way: str) -> RObject:
    """Return an element of an element; refuse a model that has none."""
    found = of
    for name in way:
        below = found.get(name)
        if below is None or below.kind == "null":
            raise ReadError(f"it has no {'$'.join(way)}")
        found = below
    return found


def optional(of: RObject | None, *way: str) -> RObject | None:
    """Return an element of an element, None where there is none."""
    for name in way:
        of = None if of is None else of.get(name)
    return None if of is None or of.kind == "null" else of


def items(of: RObject) -> list[RObject]:
    """Return the elements of a list."""
    if of.kind != "list":
        raise ReadError(f"a {of.kind} stands for a list")
    return list(of.values)


def numbers(of: RObject, length: int | None = None) -> Float:
    """Return a vector of numbers, all of them there."""
    found = of.numbers()
    if (length is not None and len(found) != length) or not np.isfinite(found).all():
        raise ReadError("numbers are missing")
    return found


def whole(of: RObject, length: int | None = None) -> Wide:
    """Return a vector of whole numbers, all of them there."""
    found = numbers(of, length)
    if np.any((found != np.rint(found)) | (np.abs(found) > Most.people)):
        raise ReadError("a number is not whole")
    return found.astype(np.int64)


def matrix(of: RObject, rows: int | None = None, width: int | None = None) -> Float:
    """Return a matrix; missing numbers are NaN."""
    found, dim = of.numbers(), of.dim
    fits = len(dim) == 2 and min(dim) >= 0 and dim[0] * dim[1] == len(found)
    if not fits or rows not in (None, dim[0]) or (width is not None and dim[1] < width):
        raise ReadError("a matrix has the wrong shape")
    return found.reshape(dim, order="F")


def scalar(of: RObject | None) -> float | str | None:
    """Return a number or text that stands alone, None for anything else."""
    if of is None or len(of) != 1 or of.attributes.get("levels") is not None:
        return None
    if of.kind == "string":
        text: str | None = of.values[0]
        return None if text is None else text[:80]
    found = of.numbers()
    return float(found[0]) if len(found) == 1 and np.isfinite(found[0]) else None


def parameters_of(*where: RObject | None) -> dict[str, float | str]:
    """Return the settings that are plain values."""
    found = {name: scalar(optional(one, name)) for one in where for name in _CONTROL.split()}
    return {name: value for name, value in found.items() if value is not None}


def argument(call: RObject | None, name: str) -> RObject | None:
    """Return an argument of the call that made a model, by its full name."""
    return optional(call, name) if call is not None and call.kind in CALLS else None


def attribute(of: RObject | None, name: str) -> RObject | None:
    """Return an attribute, None where there is none."""
    return None if of is None else of.attributes.get(name)


def dimnames(of: RObject | None, side: int) -> list[str]:
    """Return the names of the rows (0) or columns (1) of a matrix; empty where it has none."""
    stored = attribute(of, "dimnames")
    if stored is None or stored.kind != "list" or len(stored) <= side:
        return []
    return texts(stored.values[side])


def texts(of: RObject | None) -> list[str]:
    """Return the texts of a vector, empty for NA; no texts of what has none."""
    return [] if of is None else [one or "" for one in of.texts()]


def target_of(terms: RObject | None) -> str:
    """Return the response of a formula where it is a name, else the word ``label``."""
    variables, place = attribute(terms, "variables"), scalar(attribute(terms, "response"))
    if variables is None or variables.kind not in CALLS or not isinstance(place, float):
        return "label"
    at = int(place) if 0 < place < len(variables) else 0
    one = variables.values[at]
    return str(one.values) if at and one.kind == "symbol" else "label"


def schema_of(
    names: Sequence[str],
    levels: Mapping[str, Sequence[str]],
    classes: Sequence[Label] | None,
    target: str = "label",
    missing: frozenset[int] = frozenset(),
) -> Schema:
    """Return the columns, with the levels of factors, and the classes."""
    if len(names) > Most.features or sum(map(len, levels.values())) > Most.categories:
        raise ModelTooLargeError("the model has more columns or levels than treeaudit takes in")
    if classes is not None and not classes:
        raise ReadError("it has no classes")
    features = tuple(
        Feature(
            name=name,
            categories=tuple(levels[name]) if name in levels else None,
            had_missing=i in missing,
        )
        for i, name in enumerate(names)
    )
    return Schema(
        features=features, classes=None if classes is None else tuple(classes), target=target
    )


def codes_of(names: Sequence[str], asked: Sequence[str | None]) -> Wide:
    """Return the columns that are asked about by their names."""
    place = {name: i for i, name in enumerate(names)}
    unknown = next((one for one in asked if one not in place), None)
    if unknown is not None or None in asked:
        raise ReadError(f"it tests a column that does not exist ({bare(str(unknown))})")
    return np.array([place[one] for one in asked if one is not None], dtype=np.int64)


def halves(size: int, bound: float) -> Sides:
    """Return the codes of an ordered factor on both sides of a bound on its numbers, from 1 on."""
    n = int(min(max(np.floor(bound), 0), size))
    return range(n), range(n, size)


def bits(size: int, mask: float, *, left: bool) -> Sides:
    """Return the codes on both sides of a split whose bits say which categories go left, or right.

    Categories are numbered from the lowest bit; a double holds 53 and more of them.
    """
    if not (0 <= mask < 2.0**1023 and mask == np.floor(mask)):
        raise ReadError("the split of a factor is no set of its levels")
    number = int(mask)
    told = [code for code in range(size) if number >> code & 1]
    others = [code for code in range(size) if not number >> code & 1]
    return (told, others) if left else (others, told)


def below(bound: Float) -> Float:
    """Return the bound of ``x <= bound`` that is the same as ``x <`` another."""
    return np.nextafter(bound, -np.inf)


def binary(
    *,
    inner: Flag,
    left: Wide,
    right: Wide,
    feature: Wide,
    bound: Float,
    n_features: int,
    sets: Mapping[int, Sides],
    missing: Wide | None = None,
    **columns: Any,  # noqa: ANN401  # as `Tree` declares them
) -> Tree:
    """Return the tree of nodes that name their children; each array has an entry for every node.

    ``sets`` are the categories of the inner nodes that ask about a factor; ``missing`` is where
    missing values go: -1 to the left, 1 to the right, 0 nowhere.
    """
    places = np.flatnonzero(inner)
    links = link(places, left[places], right[places], len(inner))
    if links.cut_off:
        raise ReadError("it has nodes that do not hang on its root")
    order = links.order
    own = order[links.inner]
    asked = feature[own]
    if np.any((asked < 0) | (asked >= n_features)):
        raise ReadError("it tests a column that does not exist")
    edges = links.edges(asked, bound[own], None)
    if missing is not None:
        follows = np.zeros(links.n_nodes, dtype=np.bool_)
        follows[links.left], follows[links.right] = missing[own] < 0, missing[own] > 0
        edges = replace(edges, missing=follows)
    codes: list[Sequence[int]] = [()] * links.n_nodes
    total = 0
    sides = zip(own.tolist(), links.left.tolist(), links.right.tolist(), strict=True)
    for node, to_left, to_right in sides if sets else ():
        if node in sets:
            codes[to_left], codes[to_right] = sets[node]
            edges.low[[to_left, to_right]], edges.high[[to_left, to_right]] = np.inf, -np.inf
            total += sum(map(len, sets[node]))
        if total > Most.codes:
            raise ModelTooLargeError("a tree names more categories than treeaudit takes in")
    kept = {name: None if each is None else each[order] for name, each in columns.items()}
    return edges.tree(categories=category_sets(codes) if sets else None, **kept)


class Grown:
    """The nodes of a tree, each before what is below it."""

    def __init__(self) -> None:
        self.parent: list[int] = []
        self._edges: list[Edge] = []
        self._n_codes = 0

    def add(self, parent: int, edge: Edge) -> int:
        """Write down a node and return its number."""
        self.parent.append(parent)
        self._edges.append(edge)
        self._n_codes += len(edge.get("codes", ()))
        if self._n_codes > Most.codes or len(self.parent) > Most.objects:
            raise ModelTooLargeError("a tree has more nodes or categories than treeaudit takes in")
        return len(self.parent) - 1

    def tree(self, **columns: Any) -> Tree:  # noqa: ANN401  # as `Tree` declares them
        """Return the tree, with its other columns."""
        edges, missing = self._edges, [edge.get("missing", False) for edge in self._edges]
        closed = np.array(["codes" in edge for edge in edges])
        low = np.array([edge.get("low", -np.inf) for edge in edges])
        high = np.array([edge.get("high", np.inf) for edge in edges])
        return Tree(
            parent=np.array(self.parent, dtype=np.int32),
            feature=np.array([edge.get("feature", -1) for edge in edges], dtype=np.int32),
            low=np.where(closed, np.inf, low),
            high=np.where(closed, -np.inf, high),
            categories=(
                category_sets([edge.get("codes", ()) for edge in edges]) if self._n_codes else None
            ),
            missing=np.array(missing) if any(missing) else None,
            **columns,
        )


def grown(
    root: _Node, below: Callable[[_Node], Sequence[tuple[_Node, Edge]]]
) -> tuple[Grown, list[_Node]]:
    """Return the nodes from the root down, and what each was read from.

    ``below`` returns the children of a node, with the way into each.
    """
    nodes, order = Grown(), list[_Node]()
    todo: list[tuple[_Node, int, Edge]] = [(root, -1, {})]
    while todo:
        at, parent, edge = todo.pop()
        me = nodes.add(parent, edge)
        order.append(at)
        todo += [(child, me, way) for child, way in below(at)][::-1]
    return nodes, order


def each_of(n_trees: int, build: Callable[[int], Tree]) -> LazyTrees:
    """Return the trees of a forest, each of which was built once to see that it is whole."""
    check_number(n_trees, "R")

    def built(i: int) -> Tree:
        with reading(f"tree {i + 1}"):
            return build(i)

    trees = LazyTrees(built, n_trees)
    for _ in trees:
        pass
    return trees


def extras_of(trees: Sequence[Tree], *, means: bool) -> Extras:
    """Return the numbers of single people that the leaves of a regression give away."""
    return Extras(looked_for=KINDS).beside(single_targets(trees, means=means))


def no_trees(what: str) -> UnsupportedModelError:
    """Say that an object holds a model without its trees."""
    return UnsupportedModelError(f"the {what} object holds no trees")
