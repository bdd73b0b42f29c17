"""Numbers of inner nodes of LightGBM trees that do not follow from their leaves.

Weights of nodes are written with six digits; values of all nodes are multiplied with the
shrinkage of their tree, and moved by where boosting began in the first round. Splits by
categories have a penalty of their own: what stands beside them is not recalculated.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.boosters.inner_numbers import Inner, strays
from treeaudit.readers.boosters.lightgbm_text import Booster
from treeaudit.readers.boosters.lightgbm_tree import StoredTree
from treeaudit.readers.leftovers.spelled_numbers import longer_than
from treeaudit.readers.types import Array

__all__ = ["unexplained_numbers"]

_DIGITS, _ERROR = 6, 6e-6
_SLACK = 2 * _ERROR
_PARTS = ("node", "left", "right", "tree", "cover", "weight", "told", "gain", "error")
# What changes weights and gains in ways that are not recalculated.
_OF_WEIGHTS = ("path_smooth", "max_delta_step", "monotone_constraints")
_OF_GAINS = (
    "monotone_penalty feature_contri cegb_penalty_split cegb_penalty_feature_lazy "
    "cegb_penalty_feature_coupled min_gain_to_split"
).split()
# The values of leaves are found anew when a tree is grown.
_REFILLED = ("regression_l1", "quantile", "mape")


def unexplained_numbers(trees: Sequence[StoredTree], booster: Booster) -> Iterator[Leftover]:
    """Yield the weights, values and gains of inner nodes that nothing explains.

    Parameters
    ----------
    trees
        Of the model.
    booster
        The model as it was read.
    """
    told = [tree for tree in trees if tree.raw.grown is not None and len(tree.links.inner)]
    told = [tree for tree in told if tree.raw.inner_value is not None]
    if not told:
        return
    stated = booster.parameters or {}
    refilled = booster.objective.partition(" ")[0] in _REFILLED
    with np.errstate(all="ignore"):
        odd = _long(told)
        n_moved = len(told) if booster.averaged else min(booster.n_outputs, len(told))
        inner = _inner(told, n_moved, refilled=refilled)
        sums = inner.cover[inner.left] + inner.cover[inner.right]
        odd += int(np.count_nonzero(np.abs(sums - inner.cover[inner.node]) > _SLACK * sums))
    weights, gains = strays(inner)
    if not any(stated.get(name, "") not in ("", "0") for name in _OF_WEIGHTS):
        odd += int(np.count_nonzero(weights))
        # Where gains are weighed against something else, they are not what was gained.
        if not any(stated.get(name, "") not in ("", "0") for name in _OF_GAINS):
            odd += int(np.count_nonzero(gains))
    if odd:
        says = f"{odd:,} weights, values and gains of nodes that do not follow from the leaves"
        yield Leftover(kind="unexplained", where="Tree=*", n=4 * odd, says=says)


def _long(trees: Sequence[StoredTree]) -> int:
    """Count the numbers with more digits than LightGBM writes."""
    parts = [
        (tree.raw.inner_value, tree.raw.grown.inner_weight, tree.raw.grown.gain)
        for tree in trees
        if tree.raw.grown is not None and tree.raw.inner_value is not None
    ]
    value, weight, gain = (np.concatenate(column) for column in zip(*parts, strict=True))
    # Gains are numbers of 32 bits in the JSON.
    wide = gain != gain.astype(np.float32)
    wide[wide] = longer_than(gain[wide], _DIGITS)
    n = np.count_nonzero(wide | (gain < 0))
    n += np.count_nonzero(longer_than(np.concatenate([value, weight]), _DIGITS))
    return int(n)


def _inner(trees: Sequence[StoredTree], n_moved: int, *, refilled: bool) -> Inner:
    parts: dict[str, list[Array]] = {name: [] for name in _PARTS}
    at = 0
    for i, tree in enumerate(trees):
        links, raw, grown = tree.links, tree.raw, tree.raw.grown
        if grown is None or raw.inner_value is None:
            continue
        order, n_inner = links.order, len(links.inner)
        value = np.concatenate([raw.inner_value, raw.leaf_value])
        mass = np.concatenate([grown.inner_weight, grown.leaf_weight])
        known = np.ones(len(value), dtype=np.bool_)
        # Before version 4 nothing is said of the root.
        known[0] = mass[0] > 0
        if not known[0]:
            mass[0] = grown.leaf_weight.sum()
        known[n_inner:] = not refilled
        by_set = raw.categorical
        for side in (raw.left[by_set], raw.right[by_set]):
            known[np.where(side < 0, n_inner - 1 - side, side)] = False
        start = np.average(raw.leaf_value, weights=grown.leaf_weight) if i < n_moved else 0.0
        slip = np.where(np.arange(len(value)) < n_inner, np.abs(value) * _ERROR, 0)
        for name, part in zip(
            _PARTS,
            (
                links.inner + at,
                links.left + at,
                links.right + at,
                np.full(n_inner, i),
                mass[order],
                ((value - start) / grown.shrinkage)[order],
                known[order],
                grown.gain[order[links.inner]],
                (slip / grown.shrinkage)[order],
            ),
            strict=True,
        ):
            parts[name].append(part)
        at += len(value)
    joined: dict[str, Any] = {name: np.concatenate(part) for name, part in parts.items()}
    never = np.zeros(len(joined["cover"]), dtype=np.bool_)
    return Inner(**joined, scaled=never, slack=_SLACK, same=_ERROR, n_moved=n_moved)
