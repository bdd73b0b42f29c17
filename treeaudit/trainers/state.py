"""A forest as plain data, for the pickle of a trainer: no class of ours is needed to read it."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from treeaudit.arrays import Array, Float
from treeaudit.dp.budget import Budget
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.native_json import forest_of
from treeaudit.trainers.fit_checks import FROM_DATA, plain_numbers
from treeaudit.writers.native_json import to_dict

_NARROW = {"i": (np.int8, np.int16, np.int32)}
_ARRAYS = ("parent", "feature", "missing", "counts", "label", "value")


def pickled_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator as its pickle holds them, without seed and account."""
    held = dict(state)
    if "forest_" in held:
        held = plain_numbers(held)
        held["forest_"] = pack(held["forest_"])
        held["random_state"] = None
        if isinstance(held["epsilon"], Fraction):
            # A pickle of plain numbers; the ledger has it exactly.
            held["epsilon"] = float(held["epsilon"])
        if not isinstance(held["schema"], Schema) and held["schema"] != FROM_DATA:
            # The file stands on the machine of the fit.
            held["schema"] = None
        if held["budget"] is not None:
            held["budget"] = held["budget"].epsilon
    return held


def restored_state(held: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator from those in its pickle."""
    state = dict(held)
    if "forest_" in state:
        state["forest_"] = unpack(state["forest_"])
    if isinstance(state.get("budget"), float):
        state["budget"] = Budget.elsewhere(state["budget"])
    return state


def pack(forest: Forest) -> dict[str, Any]:
    """Return the JSON form of a forest, with arrays in the place of lists."""
    return {**to_dict(replace(forest, trees=())), "trees": [_tree(tree) for tree in forest.trees]}


def _tree(tree: Tree) -> dict[str, Any]:
    held = {name: getattr(tree, name) for name in _ARRAYS}
    form: dict[str, Any] = {n: _small(array) for n, array in held.items() if array is not None}
    form |= {"low": _bounds(tree.low), "high": _bounds(tree.high)}
    if tree.categories is not None:
        start, codes = tree.categories.start, tree.categories.codes
        form["categories"] = {"start": _small(start), "codes": _small(codes)}
    return form


def _bounds(bound: Float) -> Any:  # noqa: ANN401  # an array, or two where most are open
    closed = np.flatnonzero(np.isfinite(bound))
    if 2 * len(closed) > len(bound):
        return bound
    return {"at": _small(closed), "is": bound[closed]}


def _small(array: Array) -> Array:
    """Return an array in the smallest numbers that hold it exactly."""
    narrow: Array
    for kind in _NARROW.get(array.dtype.kind, ()):
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = array.astype(kind)
        if narrow.dtype.itemsize < array.dtype.itemsize and np.array_equal(narrow, array):
            return narrow
    return array


def unpack(data: Mapping[str, Any]) -> Forest:
    """Return the forest that `pack` took apart."""
    return forest_of(data, Source())
