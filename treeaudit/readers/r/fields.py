"""What the models of all R packages share: columns, sides of splits, and trees of their nodes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.forest import LazyTrees
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters import check_number, reading
from treeaudit.readers.limits import Most, bare
from treeaudit.readers.links import category_sets, link
from treeaudit.readers.r.objects import CALLS, RObject

Sides = tuple[Sequence[int], Sequence[int]]
"""The codes of categories that lead to the left, and to the right."""

Edge = dict[str, Any]
"""The way into a node: its ``feature``, and of ``low high codes missing`` what is stated."""

DRAWS = "class counts are bootstrap draws: a person drawn twice counts twice"
_Node = TypeVar("_Node")
_CONTROL = (
    "method minsplit minbucket cp maxdepth mtry ntree min.node.size max.depth splitrule num.trees"
)


def parameters_of(*where: RObject) -> dict[str, float | str]:
    """Return the settings that are plain values."""
    found = {name: one.get(name).scalar() for one in where for name in _CONTROL.split()}
    return {name: value for name, value in found.items() if value is not None}


def target_of(terms: RObject) -> str:
    """Return the response of a formula where it is a name, else the word ``label``."""
    variables, at = terms.attribute("variables"), terms.attribute("response").scalar()
    if variables.kind not in CALLS or not isinstance(at, float) or not 0 < at < len(variables):
        return "label"
    one = variables.values[int(at)]
    return str(one.values) if one.kind == "symbol" else "label"


def levels_of(names: Sequence[str], stored: RObject) -> dict[str, list[str]]:
    """Return the levels of the columns that are factors."""
    return {name: levels for name in names if (levels := stored.get(name).texts())}


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


def codes_of(names: Sequence[str], asked: Sequence[str]) -> Wide:
    """Return the columns that are asked about by their names."""
    place = {name: i for i, name in enumerate(names)}
    unknown = next((one for one in asked if one not in place), None)
    if unknown is not None:
        raise ReadError(f"it tests a column that does not exist ({bare(unknown)})")
    return np.array([place[one] for one in asked], dtype=np.int64)


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


def sides_of(
    inner: Flag,
    feature: Wide,
    bound: Float,
    sizes: Mapping[int, int],
    by_bits: Collection[int],
    *,
    left: bool,
) -> dict[int, Sides]:
    """Return the codes on both sides of each node that asks about a factor, by `bits` or `halves`.

    ``sizes`` are how many levels factors have.
    """
    found = {}
    for node in np.flatnonzero(inner & np.isin(feature, list(sizes))).tolist():
        at = int(feature[node])
        size, value = sizes[at], float(bound[node])
        found[node] = bits(size, value, left=left) if at in by_bits else halves(size, value)
    return found


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


def grown(
    root: _Node, below: Callable[[_Node], Sequence[tuple[_Node, Edge]]]
) -> tuple[Tree, list[_Node]]:
    """Return a tree, each node before what is below it, and what each was read from.

    ``below`` returns the children of a node, with the way into each.
    """
    parent, edges, order = list[int](), list[Edge](), list[_Node]()
    n_codes = 0
    todo: list[tuple[_Node, int, Edge]] = [(root, -1, {})]
    while todo:
        at, above, edge = todo.pop()
        parent.append(above)
        edges.append(edge)
        order.append(at)
        n_codes += len(edge.get("codes", ()))
        if n_codes > Most.codes or len(parent) > Most.objects:
            raise ModelTooLargeError("a tree has more nodes or categories than treeaudit takes in")
        todo += [(child, len(parent) - 1, way) for child, way in below(at)][::-1]
    closed = np.array(["codes" in edge for edge in edges])
    missing = np.array([edge.get("missing", False) for edge in edges])
    low, high = (
        np.where(closed, -end, [edge.get(side, end) for edge in edges])
        for side, end in (("low", -np.inf), ("high", np.inf))
    )
    tree = Tree(
        parent=np.array(parent, dtype=np.int32),
        feature=np.array([edge.get("feature", -1) for edge in edges], dtype=np.int32),
        low=low,
        high=high,
        categories=category_sets([edge.get("codes", ()) for edge in edges]) if n_codes else None,
        missing=missing if missing.any() else None,
    )
    return tree, order


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


def no_trees(what: str) -> UnsupportedModelError:
    """Say that an object holds a model without its trees."""
    return UnsupportedModelError(f"the {what} object holds no trees")
