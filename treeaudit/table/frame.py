"""Rows of the reconstructed table by columns, and which columns single people out.

A leaf is small because of the conditions on its way. The file tells the last of
them; with the people at hand each feature can be left out for real.

References
----------
Elliot, Manning and Ford (2002), A computational algorithm for handling the
special uniques problem (SUDA), for the question; the answer here is for leaves.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.model.rules import Rules, boxes_of, rules_of
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.model.words import ANY, cells, label_text

Column = npt.NDArray[Any]
Columns = dict[str, Column]
"""Arrays of one length, by the name of their column."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Some rows of the table with all that the model says of them."""

    schema: Schema
    tree: Wide | None  # Tree of each row; None where there is only one
    leaf: Int
    rules: Columns  # What the path of each row says of the features
    # People, class counts, predicted number and predicted class per row, or None where the model
    # does not tell
    size: Wide | None
    counts: Float | None
    value: Float | None
    label: Int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tested:
    """Which features the trees of a table test."""

    # Features with low and high ends, and those with categories; ascending
    numeric: tuple[int, ...]
    named: tuple[int, ...]
    missing: frozenset[int]  # Those for which it can be told whether missing values are in a leaf


def tested_by(trees: Iterable[Tree], schema: Schema) -> Tested:
    """Return which features some trees test."""
    tested = np.zeros(len(schema.features) + 1, np.bool_)
    missing = tested.copy()
    for tree in trees:
        tested[tree.feature] = True
        if tree.missing is not None:
            missing[tree.feature[tree.missing]] = True
    found = np.flatnonzero(tested[:-1]).tolist()
    numeric = [schema.features[i].categories is None for i in found]
    return Tested(
        numeric=tuple(i for i, is_numeric in zip(found, numeric, strict=True) if is_numeric),
        named=tuple(i for i, is_numeric in zip(found, numeric, strict=True) if not is_numeric),
        missing=frozenset(np.flatnonzero(missing[:-1]).tolist()),
    )


def bounds(tree: Tree, leaves: Int, schema: Schema, tested: Tested) -> Columns:
    """Return what the paths to some leaves of a tree say, as numbers.

    Returns: ``NAME_low`` and ``NAME_high`` of each numeric feature that is tested, infinite where
    open; for each feature of categories all that pass, ``A or B``, ``*`` where nothing is said;
    ``NAME_missing`` of both where models send missing values somewhere.
    """
    asked = (*tested.numeric, *(i for i in tested.named if i in tested.missing))
    boxes = boxes_of(tree, leaves, asked)
    at = {feature: i for i, feature in enumerate(asked)}
    texts = _texts(tree, leaves, schema, tested.named, sys.maxsize) if tested.named else {}
    columns: Columns = {}
    for i in sorted((*tested.numeric, *tested.named)):
        name = schema.features[i].name
        if i in texts:
            columns[_free(name, columns)] = texts[i]
        else:
            columns[_free(f"{name}_low", columns)] = boxes.low[:, at[i]]
            columns[_free(f"{name}_high", columns)] = boxes.high[:, at[i]]
        if i in tested.missing:
            columns[_free(f"{name}_missing", columns)] = boxes.missing[:, at[i]]
    return columns


def in_words(tree: Tree, leaves: Int, schema: Schema) -> Columns:
    """Return what the paths to some leaves of a tree say, a text for each feature."""
    columns: Columns = {}
    texts = _texts(tree, leaves, schema, range(len(schema.features)), 20)
    for i, name in enumerate(schema.names):
        columns[_free(name, columns)] = texts[i]
    return columns


def _texts(
    tree: Tree, leaves: Int, schema: Schema, features: Sequence[int], most: int
) -> dict[int, npt.NDArray[np.object_]]:
    """Return a text per leaf for each of some features, with so many categories at most."""
    rules = rules_of(tree, leaves)
    found = {i: np.full(len(leaves), ANY, dtype=object) for i in features}
    asked = np.zeros(len(schema.features), np.bool_)
    asked[list(features)] = True
    part = rules.part(np.flatnonzero(asked[rules.feature]))
    texts = np.array(cells(part, schema, most=most), dtype=object)
    order = np.argsort(part.feature, kind="stable")
    for here in np.split(order, np.flatnonzero(np.diff(part.feature[order])) + 1):
        if len(here):
            found[int(part.feature[here[0]])][part.row[here]] = texts[here]
    return found


def per_leaf(rows: Rows) -> Columns:
    """Return the columns of `treeaudit.table.table.Table.to_frame`."""
    schema = rows.schema
    columns: Columns = {} if rows.tree is None else {"tree": rows.tree}
    columns["leaf"] = rows.leaf
    for name, column in rows.rules.items():
        columns[_free(name, columns)] = column
    if rows.size is not None:
        columns[_free("people", columns)] = rows.size
    if rows.counts is not None and schema.classes is not None:
        for i, label in enumerate(schema.classes):
            name = _free(f"{schema.target}={label_text(label)}", columns)
            columns[name] = rows.counts[:, i]
    if rows.value is not None:
        columns[_free("value", columns)] = rows.value
    if rows.label is not None and schema.classes is not None:
        labels = np.array([label_text(c) for c in schema.classes], dtype=object)
        columns[_free(schema.target, columns)] = labels[rows.label]
    return columns


def per_person(rows: Rows, size: Wide, people: Float) -> Columns:
    """Return the columns of `treeaudit.table.table.Table.expand`.

    * ``size``: shape ``(n_rows,)``: people per row.
    * ``people``: shape ``(n_rows, n_classes)``: people per class, NaN where unknown.
    """
    schema = rows.schema
    columns: Columns = {}
    if rows.tree is not None:
        columns["tree"] = np.repeat(rows.tree, size)
    for name, column in rows.rules.items():
        columns[_free(name, columns)] = np.repeat(column, size)
    if schema.classes is not None:
        known = np.nan_to_num(people, nan=0).astype(np.int64)
        split = np.column_stack([known, size - known.sum(axis=1)])
        texts: list[object] = [label_text(c) for c in schema.classes]
        names = np.array([*texts, None], dtype=object)
        labels = np.repeat(np.tile(names, len(size)), split.ravel())
        columns[_free(schema.target, columns)] = labels
    if rows.value is not None:
        columns[_free("value", columns)] = np.repeat(rows.value, size)
    return columns


def _free(name: str, taken: Columns) -> str:
    """Return the name, with a number where two columns would share it."""
    free, i = name, 2
    while free in taken:
        free, i = f"{name} ({i})", i + 1
    return free


_SAMPLE = 500


def people_by_feature(tree: Tree, leaves: npt.ArrayLike, people: Wide, n_features: int) -> Wide:
    """Return how many of the people in some leaves have a condition on each feature.

    * ``leaves``: node numbers, shape ``(n,)``.
    * ``people``: shape ``(n,)``: people in each of them.
    """
    rules = rules_of(tree, leaves)
    return np.bincount(rules.feature, people[rules.row], n_features).astype(np.int64)


def people_by_last_split(
    tree: Tree, leaves: npt.ArrayLike, people: Wide, n_features: int, k: int
) -> Wide:
    """Return how many people the last condition of their leaf alone puts below k.

    Counted for the feature of that condition, where the node above it holds at
    least k people; shapes as in `people_by_feature`.
    """
    leaf = np.asarray(leaves, dtype=np.int64)
    leaf, people = leaf[tree.parent[leaf] >= 0], people[tree.parent[leaf] >= 0]
    if tree.n_records is None:
        return np.zeros(n_features, dtype=np.int64)
    whole = tree.n_records[tree.parent[leaf]] >= k
    counted = np.bincount(tree.feature[leaf[whole]], weights=people[whole], minlength=n_features)
    return np.asarray(counted, dtype=np.int64)


def hidden_without(rules: Rules, n_leaves: int, values: Float, k: int) -> Flag:
    """Tell which leaves would hold k people if one feature were left out of their rule.

    * ``values``: shape ``(n_people, n_features)``: the people, as the model sees them.

    Returns: shape ``(n_leaves, n_features)``.
    """
    hidden = np.zeros((n_leaves, values.shape[1]), dtype=np.bool_)
    first = np.searchsorted(rules.row, np.arange(n_leaves + 1))
    columns = np.asfortranarray(values)
    sample = values[:: max(len(values) // _SAMPLE, 1)]
    for leaf in range(n_leaves):
        conditions = np.arange(int(first[leaf]), int(first[leaf + 1]))
        # The conditions that few people meet come first, so that most are gone early.
        passing = [_fits(rules, i, sample[:, rules.feature[i]]).mean() for i in conditions.tolist()]
        left = np.arange(len(values))
        broken = np.full(len(values), -1, dtype=np.int32)
        for i in conditions[np.argsort(passing, kind="stable")].tolist():
            column = columns[:, rules.feature[i]]
            fits = _fits(rules, i, column if len(left) == len(column) else column[left])
            # Who breaks a second condition is in no group that one feature less would make.
            keep = fits | (broken < 0)
            broken = np.where(fits, broken, rules.feature[i])[keep]
            left = left[keep]
        own = int((broken < 0).sum())
        more = np.bincount(broken[broken >= 0], minlength=values.shape[1])
        asked = rules.feature[conditions]
        hidden[leaf, asked] = own + more[asked] >= k
    return hidden


def _fits(rules: Rules, condition: int, value: Float) -> Flag:
    low, high = rules.low[condition], rules.high[condition]
    codes = [] if rules.categories is None else rules.categories.of(condition)
    fits = np.isin(value, codes) if codes else (value > low) & (value <= high)
    return np.asarray(fits | (np.isnan(value) & bool(rules.missing[condition])))
