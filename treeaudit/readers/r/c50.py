"""Trees of C5.0: text, a line for every node, parents first.

``type`` is 0 for a leaf, 1 for a split by single levels, 2 by a number, 3 by sets of levels; the
first child of 1 and 2 is for what is not applicable. ``freq`` are people of each class, in the
first tree; those of later trees of a boosting are weighed. Missing values go every way at once.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from treeaudit.arrays import Float
from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters import check_number, each_tree
from treeaudit.readers.limits import Most
from treeaudit.readers.r.fields import (
    Edge,
    codes_of,
    grown,
    halves,
    levels_of,
    no_trees,
    schema_of,
)
from treeaudit.readers.r.objects import RObject

_PART = re.compile(r'(\w+)=((?:"(?:[^"\\]|\\.)*",?)+)')
_ONE = re.compile(r'"((?:[^"\\]|\\.)*)"')

Line = dict[str, list[list[str]]]
"""What a line says, by name: values, of sets of levels one list after the other."""


def read(model: RObject, source: Source) -> Forest:
    """Return the trees of a C5.0 object."""
    lines = "\n".join(model.get("tree").texts()).splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("entries=")]
    if not starts:
        raise no_trees(source.estimator)
    names, labels = model.part("predictors").texts(), model.part("levels").texts()
    levels = levels_of(names, model.get("xlevels"))
    nodes = iter([_parts(line) for line in lines[starts[0] + 1 :] if line])
    entries = _ONE.search(lines[starts[0]])
    n_trees = int(entries[1]) if entries and re.fullmatch("[0-9]{1,6}", entries[1]) else 0
    check_number(n_trees, "C5.0")
    trees = each_tree(range(n_trees), lambda _: _tree(nodes, names, levels, labels))
    weighed = model.get("caseWeights").scalar()
    people = None
    # Of a boosting the first tree sees all people alike.
    if (first := trees[0].counts) is not None and weighed == 0 and _whole(first):
        people = first.sum(axis=1).astype(np.int64)
        trees[0] = replace(trees[0], n_records=people)
    exact = people is not None and n_trees == 1
    return Forest(
        trees=tuple(trees),
        schema=schema_of(names, levels, labels),
        counts_are="exact" if exact else "weighted",
        counts_reason=(
            "every training row weighs 1"
            if exact
            else "rows are weighed, or divided where values are missing"
        ),
        answers="mean" if n_trees == 1 else "unknown",
        n_records=None if people is None else int(people[0]),
        warnings=("C5.0 smooths the shares of a leaf by those of the root: not shown",),
        source=replace(source, library="C50"),
    )


def _whole(counts: Float) -> bool:
    return np.array_equal(counts, np.rint(counts))


def _parts(line: str) -> Line:
    """Return what a line says."""
    found: Line = {}
    for name, told in _PART.findall(line):
        one = [re.sub(r"\\(.)", r"\1", text) for text in _ONE.findall(told)]
        found.setdefault(name, []).append(one)
    return found


def _numbers(node: Line, name: str) -> list[float]:
    found = [float(one) for text in node.get(name, [[]])[0] for one in text.split(",")]
    if not all(0 <= abs(one) < Most.weight for one in found):
        raise ReadError("a number is impossible")
    return found


def _tree(
    nodes: Iterator[Line],
    names: list[str],
    levels: dict[str, list[str]],
    labels: list[str],
) -> Tree:
    """Return the tree whose nodes come next."""
    counts: list[list[float]] = []

    def children(_: None) -> list[tuple[None, Edge]]:
        if (node := next(nodes, None)) is None:
            raise ReadError("a node is missing")
        held = _numbers(node, "freq") or [0.0] * len(labels)
        if len(held) != len(labels) or min(held) < 0:
            raise ReadError("a node does not count each class")
        counts.append(held)
        if node.get("type") == [["0"]]:
            return []
        feature = int(codes_of(names, node.get("att", [[""]])[0])[0])
        edges = _edges(node, levels.get(names[feature]))
        if node.get("forks") != [[str(len(edges))]]:
            raise ReadError("a node does not have a condition for each child")
        return [(None, {"feature": feature, **one}) for one in edges]

    return replace(grown(None, children)[0], counts=np.array(counts))


def _edges(node: Line, levels: list[str] | None) -> list[Edge]:
    """Return the conditions of the children."""
    kind = node.get("type")
    nobody: Edge = {"codes": ()}  # What is not applicable
    if kind == [["2"]]:
        (cut,) = _numbers(node, "cut") or [np.nan]
        if levels is None:
            return [nobody, {"high": cut}, {"low": cut}]
        return [nobody, *({"codes": side} for side in halves(len(levels), cut))]
    if kind not in ([["1"]], [["3"]]) or levels is None:
        raise ReadError("a node is of no known type")
    if kind == [["1"]]:
        return [nobody, *({"codes": (code,)} for code in range(len(levels)))]
    told = node.get("elts", [])
    return [{"codes": [levels.index(one) for one in some if one != "N/A"]} for some in told]
