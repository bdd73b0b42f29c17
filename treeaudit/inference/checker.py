"""Follow a proof that people must be in the training data of a forest.

Written to be read: it shares no code with what finds proofs. It cuts the domain of the proof along
the leaves of the file by itself, drops what a leaf says is empty of a label, and then adds up the
equations of every step in whole numbers.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, inf
from typing import Any

from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree

_ANYBODY = 1 << 31
"""Of each label in a leaf of nobody at most: it stands for one that was taken out."""
_LARGEST = 1 << 24
"""Codes of a variable, or the times of an equation."""
Box = tuple[int, ...]
"""For every variable the codes that it may have, as the bits of a number."""


def check_proof(proof: Mapping[str, Any], forest: Forest) -> int:
    """Return how many people a proof shows to have been in the training data.

    Raises DataError if it is no proof, it is one of another file, or a step does not follow.
    """
    try:
        return _check(proof, forest)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"this is no proof: {type(error).__name__} {error}") from None


def assumed_by(proof: Mapping[str, Any], forest: Forest) -> list[str]:
    """Return what a proof that was checked takes for granted of the columns, in sentences.

    They are of its domain: what it says of itself is not believed.
    """
    said = []
    for variable in proof["domain"]:
        features = [forest.schema.features[column] for column in variable["columns"]]
        names = ", ".join(repr(feature.name) for feature in features)
        if variable["kind"] == "number":
            for name, sign in (("low", "at least"), ("high", "at most")):
                end = variable.get(name)
                if end is not None and end != getattr(features[0], name):
                    said.append(f"column {names} is {sign} {end:g}")
        elif variable["kind"] == "one-hot" and len(features) == 1:
            said.append(f"column {names} holds 0 or 1")
        elif variable["kind"] == "one-hot":
            one = "exactly" if len(variable["values"]) == len(features) else "at most"
            said.append(f"{one} one of the columns {names} is 1, and the others are 0")
    return said


def _check(proof: Mapping[str, Any], forest: Forest) -> int:
    content = {name: part for name, part in proof.items() if name != "sha256"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    _must(proof["treeaudit_proof"] == 1, "it is of another kind")
    _must(hashlib.sha256(text.encode()).hexdigest() == proof["sha256"], "it was changed")
    _must(proof["model"]["sha256"] == forest.source.sha256, "it is of another file")
    _must(forest.counts_are == "exact" and forest.records_are == "all", "leaves are no equations")
    domain, n_trees = proof["domain"], proof["model"]["trees"]
    _must(0 < n_trees <= forest.n_trees, "the file has fewer trees")
    for variable in domain:
        _check_variable(variable, forest, given=proof["public_schema"] is True)
    columns = [column for variable in domain for column in variable["columns"]]
    _must(len(columns) == len({*columns}), "a column is there twice")
    trees = [_Tree(tree, domain) for tree in forest.trees[:n_trees]]
    cells: list[Box] = [tuple(map(_bits, cell)) for cell in proof["cells"]]
    certified = 0
    for label in range(len(forest.schema.classes or ())):
        steps = [step for step in proof["steps"] if step["label"] == label]
        people = [one for one in proof["people"] if one["label"] == label]
        if people or steps:
            low, high = _follow(trees, domain, cells, label, steps)
            for one in people:
                cell = cells[one["cell"]]
                _must([low[cell], high[cell]] == one["people"], "people are not what was shown")
                _must(low[cell] > 0, "nobody has to be there")
            held = [cells[one["cell"]] for one in people]
            _must(len(held) == len({*held}), "people are counted twice")
            certified += sum(low[cell] for cell in held)
    _must(certified == proof["certified"], "the people do not add up")
    return certified


def _follow(
    trees: Sequence["_Tree"],
    domain: Sequence[Any],
    cells: Sequence[Box],
    label: int,
    steps: Sequence[Any],
) -> tuple[dict[Box, int], dict[Box, int]]:
    """Return how many people are in each cell at least and at most, as the steps show."""
    low: dict[Box, int] = {}
    high: dict[Box, int] = {}
    inside: dict[tuple[int, int], list[Box]] = defaultdict(list)
    for box, leaves in _cut(trees, tuple(_all_codes(variable) for variable in domain), label):
        _must(box not in low, "a cell is there twice")
        low[box] = 0
        high[box] = min(trees[t].people(leaf, label) for t, leaf in enumerate(leaves))
        for tree, leaf in enumerate(leaves):
            inside[tree, leaf].append(box)
    for step in steps:
        cell, total = cells[step["cell"]], Fraction(0)
        column: dict[Box, int] = defaultdict(int)
        for tree, leaf, times in step["equations"]:
            _must(isinstance(times, int) and abs(times) < _LARGEST, "an equation is not whole")
            _must(leaf in trees[tree].counts, "there is no such leaf")
            _must(leaf not in trees[tree].unknown, "it is not told who was in a leaf")
            total += times * trees[tree].people(leaf, label)
            for box in inside[tree, leaf]:
                column[box] += times
        own = column.pop(cell)
        _must(own > 0, "a step says nothing of its cell")
        largest = sum(n * (high if n > 0 else low)[box] for box, n in column.items())
        smallest = sum(n * (low if n > 0 else high)[box] for box, n in column.items())
        if "low" in step:
            _must(step["low"] == ceil((total - largest) / own), "a step does not follow")
            low[cell] = max(low[cell], step["low"])
        else:
            _must(step["high"] == floor((total - smallest) / own), "a step does not follow")
            high[cell] = min(high[cell], step["high"])
    return low, high


def _cut(trees: Sequence["_Tree"], whole: Box, label: int) -> Iterator[tuple[Box, tuple[int, ...]]]:
    """Yield every part of the domain with its leaves, where none of them is empty of a label."""
    todo: list[tuple[Box, tuple[int, ...]]] = [(whole, ())]
    while todo:
        box, leaves = todo.pop()
        if len(leaves) == len(trees):
            yield box, leaves
            continue
        tree = trees[len(leaves)]
        for leaf, part in tree.parts(box):
            if tree.people(leaf, label):
                todo.append((part, (*leaves, leaf)))


class _Tree:
    """A tree whose conditions are sets of codes of the domain."""

    def __init__(self, tree: Tree, domain: Sequence[Any]) -> None:
        _must(tree.counts is not None, "a tree holds no counts")
        place = {column: i for i, one in enumerate(domain) for column in one["columns"]}
        self.children: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        known: dict[tuple[Any, ...], int] = {}
        for node in range(1, tree.n_nodes):
            column = int(tree.feature[node])
            sets = [] if tree.categories is None else tree.categories.of(node)
            low, high = float(tree.low[node]), float(tree.high[node])
            key = (column, low, high, *sets)
            if key not in known:
                known[key] = _passes(domain[place[column]], column, low, high, sets)
            self.children[int(tree.parent[node])].append((node, place[column], known[key]))
        for held in self.children.values():
            masks = [mask for _, _, mask in held]
            apart = sum(masks).bit_count() == sum(mask.bit_count() for mask in masks)
            _must(apart and len({v for _, v, _ in held}) == 1, "children of a node are no parts")
        rows = [] if tree.counts is None else tree.counts.tolist()
        self.counts = {leaf: rows[leaf] for leaf in tree.leaves.tolist()}
        nobody = [] if tree.n_records is None else tree.leaves[tree.n_records[tree.leaves] == 0]
        self.unknown = {int(leaf) for leaf in nobody}

    def people(self, leaf: int, label: int) -> int:
        return _ANYBODY if leaf in self.unknown else int(self.counts[leaf][label])

    def parts(self, box: Box) -> Iterator[tuple[int, Box]]:
        """Yield the leaves that a box meets, and the part of it in each."""
        todo = [(0, box)]
        while todo:
            node, part = todo.pop()
            if node in self.counts:
                yield node, part
            for child, variable, mask in self.children.get(node, ()):
                if held := part[variable] & mask:
                    todo.append((child, (*part[:variable], held, *part[variable + 1 :])))
            if below := self.children.get(node):
                every = sum(mask for _, _, mask in below)
                whole = part[below[0][1]]
                _must(whole & every == whole, "leaves were taken out of a tree")


def _passes(
    variable: Mapping[str, Any], column: int, low: float, high: float, sets: Sequence[int]
) -> int:
    """Return the codes of a variable that an edge lets in."""
    if "cuts" in variable:
        ends = [-inf, *variable["cuts"], inf]
        _must({low, high} <= {*ends}, "a threshold is not in the domain")
        spans = list(pairwise(ends))
        return sum(1 << i for i, (a, b) in enumerate(spans) if low <= a and b <= high)
    n = len(variable["values"])
    if variable["kind"] == "categories":
        return sum(1 << i for i in range(n) if (i in sets if sets else low < i <= high))
    _must(all(end in (-inf, inf) or 0 <= end < 1 for end in (low, high)), "a column is not 0 or 1")
    own = 1 << variable["columns"].index(column)
    others = ((1 << n) - 1) ^ own
    return (own if low < 1 <= high else 0) | (others if low < 0 <= high else 0)


def _all_codes(variable: Mapping[str, Any]) -> int:
    """Return all codes of a variable."""
    if "cuts" not in variable:
        return int((1 << len(variable["values"])) - 1)
    ends = [-inf, *variable["cuts"], inf]
    low, high = variable.get("low", -inf), variable.get("high", inf)
    spans = list(pairwise(ends))
    return sum(1 << i for i, (a, b) in enumerate(spans) if b >= low and a < high)


def _check_variable(variable: Mapping[str, Any], forest: Forest, *, given: bool) -> None:
    """Refuse a domain that is smaller than what the proof says that it assumes."""
    columns, kind = variable["columns"], variable["kind"]
    _must(all(type(column) is int and column >= 0 for column in columns), "there is no such column")
    features = [forest.schema.features[column] for column in columns]
    _must(len(features) == 1 or kind == "one-hot", "a variable has one column")
    if kind == "number":
        told = {name: getattr(features[0], name) for name in ("low", "high")}
        _must(
            given or all(variable.get(name) in (None, told[name]) for name in told),
            "a number has other bounds than in the file",
        )
        _must(variable["cuts"] == sorted({*variable["cuts"]}), "thresholds do not ascend")
    elif kind == "categories":
        _must(
            (*variable["values"],) == features[0].categories, "categories are not those of the file"
        )
    else:
        _must(kind == "one-hot" and "cuts" not in variable, "there is no such kind of variable")
        _must(not any(one.categories for one in features), "categories are no 0 or 1")
        least = len(features) + (0 if given and len(features) > 1 else 1)
        _must(len(variable["values"]) in (least, len(features) + 1), "a group has other values")


def _bits(codes: Sequence[int]) -> int:
    _must(
        all(type(code) is int and 0 <= code < _LARGEST for code in codes), "there is no such code"
    )
    return sum(1 << code for code in {*codes})


def _must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise DataError(f"the proof does not hold: {otherwise}")
