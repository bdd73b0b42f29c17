"""Numbers of inner nodes of LightGBM trees that do not follow from their leaves.

Weights of nodes are written with six digits; values of all nodes are multiplied with the
shrinkage of their tree, and moved by where boosting began in the first round. Splits by
categories have a penalty of their own: what stands beside them is not recalculated.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.boosters.inner_nodes import Inner
from treeaudit.readers.boosters.inner_numbers import strays
from treeaudit.readers.boosters.lightgbm_block import CheckedBlock
from treeaudit.readers.boosters.lightgbm_rows import woven
from treeaudit.readers.boosters.lightgbm_text import Booster
from treeaudit.readers.boosters.lightgbm_tree import StoredTree
from treeaudit.readers.leftovers.extra import extra
from treeaudit.readers.leftovers.spelled_numbers import longer_than
from treeaudit.readers.types import Flag, Float

__all__ = ["unexplained_numbers"]

_DIGITS, _ERROR = 6, 6e-6
_NEARLY, _SOME = 0.8, 0.05
_SLACK = 2 * _ERROR
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
    block = trees if isinstance(trees, CheckedBlock) else None
    counted = [block] if block is not None else trees
    empty = sum(
        int(np.count_nonzero(one.n_records == 0)) for one in counted if one.n_records is not None
    )
    if empty:
        says = f"{empty:,} nodes that nobody was in: no training makes one"
        yield Leftover(kind="extra", where="Tree=*", n=16 * empty, says=says)
    told: Sequence[StoredTree] = ()
    if block is not None:
        told = block if block.raw.grown and block.raw.all("internal_value") is not None else ()
        left, some = len(block) - len(told), _tells_any(block)
    else:
        yield from _codes(trees, booster)
        asking = [tree for tree in trees if len(tree.links.inner)]
        told = [t for t in asking if t.raw.grown is not None and t.raw.inner_value is not None]
        left = len(asking) - len(told)
        some = any(t.raw.gain is not None or t.raw.inner_value is not None for t in asking)
    if left and some:
        says = f"gains and values of {left:,} trees, which have no weights to hold them against"
        yield Leftover(kind="unseen", where="Tree=*", n=left, says=says)
    if not told:
        return
    refilled = booster.objective.partition(" ")[0] in _REFILLED
    with np.errstate(all="ignore"):
        odd = _long(*_written(told))
        n_moved = len(told) if booster.averaged else min(booster.n_outputs, len(told))
        inner = _inner_of(told, n_moved, refilled=refilled)
        sums = inner.cover[inner.left] + inner.cover[inner.right]
        odd += int(np.count_nonzero(np.abs(sums - inner.cover[inner.node]) > _SLACK * sums))
        weights, gains = _off(inner, booster)
        n = int(np.count_nonzero(weights) + np.count_nonzero(gains))
        reset = bool(n) and not refilled and _set_anew(told, n_moved, weights | gains, booster)
    # Settings that are not told change many nodes; few are no work of theirs.
    untold = booster.parameters is None and n > _SOME * len(inner.node)
    if reset or untold:
        yield _open(n, booster, reset=reset)
    elif n:
        odd += n
    if odd:
        says = f"{odd:,} weights, values and gains of nodes that do not follow from the leaves"
        yield Leftover(kind="extra", where="Tree=*", n=4 * odd, says=says)


def _off(inner: Inner, booster: Booster) -> tuple[Flag, Flag]:
    """Return which inner nodes have a weight, and which a gain, that no setting excuses."""
    stated = booster.parameters or {}
    weights, gains = strays(inner)
    if any(stated.get(name, "") not in ("", "0") for name in _OF_WEIGHTS):
        return np.zeros_like(weights), np.zeros_like(gains)
    # Where gains are weighed against something else, they are not what was gained.
    if any(stated.get(name, "") not in ("", "0") for name in _OF_GAINS):
        gains = np.zeros_like(gains)
    return weights, gains


def _set_anew(told: Sequence[StoredTree], n_moved: int, off: Flag, booster: Booster) -> bool:
    """Tell whether the leaves have other values than when their trees were grown (`refit`).

    Then nearly all that stands above a leaf is off, and what stands above inner nodes is not.
    """
    anew = _inner_of(told, n_moved, refilled=True, rooted=True)
    above = ~(anew.told[anew.left] & anew.told[anew.right])
    others = [np.count_nonzero(some) for some in _off(anew, booster)]
    nearly = np.count_nonzero(off & above) > _NEARLY * np.count_nonzero(above)
    return bool(nearly) and not any(others)


def _open(n: int, booster: Booster, *, reset: bool) -> Leftover:
    """Name what cannot be held against the leaves, and why."""
    why = "follow from the leaves by settings that this form does not hold, or not at all: scan "
    why += "what Booster.save_model writes"
    if reset:
        why = "are of other leaves: those of all trees were set anew, as Booster.refit does"
    says = f"{n:,} weights and gains of nodes that {why}"
    return Leftover(kind="unseen", where="Tree=*", n=n, says=says)


def _inner_of(
    told: Sequence[StoredTree], n_moved: int, *, refilled: bool, rooted: bool = False
) -> Inner:
    if isinstance(told, CheckedBlock):
        return _inner_of_block(told, n_moved, refilled=refilled, rooted=rooted)
    return _inner(told, n_moved, refilled=refilled, rooted=rooted)


def _codes(trees: Sequence[StoredTree], booster: Booster) -> Iterator[Leftover]:
    """Yield the categories of sets that did not occur in training."""
    beyond = 0
    known: dict[int, Flag] = {}
    for i, info in enumerate(booster.infos):
        codes = info[info >= 0] if isinstance(info, np.ndarray) else np.zeros(0, np.int64)
        known[i] = np.bincount(codes, minlength=1) > 0
    for tree in trees:
        for node, codes in tree.raw.categories.items():
            listed = known[int(tree.raw.feature[node])]
            beyond += len(codes) - int(np.count_nonzero(listed[codes[codes < len(listed)]]))
    if beyond:
        yield extra("categories that feature_infos does not list", [0] * beyond)


def _tells_any(block: CheckedBlock) -> bool:
    return any(block.raw.all(name) is not None for name in ("split_gain", "internal_value"))


def _written(trees: Sequence[StoredTree]) -> tuple[Float, Float, Float]:
    """Return the values, weights and gains of all inner nodes."""
    if isinstance(trees, CheckedBlock):
        value, weight, gain = map(
            trees.raw.all, ("internal_value", "internal_weight", "split_gain")
        )
        return value, weight, gain
    parts = [
        (tree.raw.inner_value, tree.raw.grown.inner_weight, tree.raw.grown.gain)
        for tree in trees
        if tree.raw.grown is not None and tree.raw.inner_value is not None
    ]
    value, weight, gain = (np.concatenate(column) for column in zip(*parts, strict=True))
    return value, weight, gain


def _long(value: Float, weight: Float, gain: Float) -> int:
    """Count the numbers with more digits than LightGBM writes."""
    # Gains are numbers of 32 bits in the JSON.
    wide = gain != gain.astype(np.float32)
    wide[wide] = longer_than(gain[wide], _DIGITS)
    n = np.count_nonzero(wide | (gain < 0))
    n += np.count_nonzero(longer_than(np.concatenate([value, weight]), _DIGITS))
    return int(n)


def _inner(trees: Sequence[StoredTree], n_moved: int, *, refilled: bool, rooted: bool) -> Inner:
    parts = [(tree.links, tree.raw, tree.raw.grown, tree.raw.inner_value) for tree in trees]
    links, raws, grown, values = zip(*parts, strict=True)
    n_inner = np.array([len(one.inner) for one in links])
    ends = np.cumsum(2 * n_inner + 1)
    begins, gains = ends - 2 * n_inner - 1, np.cumsum(n_inner) - n_inner
    tree = np.repeat(np.arange(len(links)), n_inner)
    whose = np.repeat(np.arange(len(links)), 2 * n_inner + 1)
    at, base = begins[tree], begins[whose]
    # As LightGBM counts them: inner nodes, then leaves.
    is_leaf = np.arange(ends[-1]) - base >= n_inner[whose]
    value = woven(values, [raw.leaf_value for raw in raws])
    mass = woven([one.inner_weight for one in grown], [one.leaf_weight for one in grown])
    known = ~is_leaf | (not refilled)
    # Before version 4 nothing is said of the root.
    known[begins] = mass[begins] > 0
    for i in np.flatnonzero(~known[begins]):
        mass[begins[i]] = grown[i].leaf_weight.sum()
    # Nor is it where leaves are linear: it is zero, or where boosting began.
    began = (value[begins] == 0) | (np.arange(len(raws)) < n_moved)
    known[begins] &= ~(began & np.array([raw.linear for raw in raws]))
    by_set = np.concatenate([raw.categorical for raw in raws])
    for side in zip(*((raw.left, raw.right) for raw in raws), strict=True):
        child = np.concatenate(side)[by_set]
        known[np.where(child < 0, n_inner[tree[by_set]] - 1 - child, child) + at[by_set]] = False
    start = np.zeros(len(links))
    for first in range(n_moved):
        of = raws[first].leaf_value, grown[first].leaf_weight
        start[first] = value[begins[first]] if rooted else np.average(of[0], weights=of[1])
    shrinkage = np.array([one.shrinkage for one in grown])[whose]
    slip = np.where(is_leaf, 0, np.abs(value) * _ERROR)
    order = np.concatenate([one.order for one in links]) + base
    node, left, right = (
        np.concatenate(side) + at
        for side in zip(*((one.inner, one.left, one.right) for one in links), strict=True)
    )
    return Inner(
        node=node,
        left=left,
        right=right,
        tree=tree,
        cover=mass[order],
        weight=((value - start[whose]) / shrinkage)[order],
        told=known[order],
        gain=np.concatenate([one.gain for one in grown])[order[node] - at + gains[tree]],
        error=(slip / shrinkage)[order],
        scaled=np.zeros(len(mass), dtype=np.bool_),
        slack=_SLACK,
        same=_ERROR,
        n_moved=n_moved,
    )


def _inner_of_block(block: CheckedBlock, n_moved: int, *, refilled: bool, rooted: bool) -> Inner:
    """Return what `_inner` does: the nodes of a block are in their order."""
    raw, links, begins = block.raw, block.links, block.start
    size = 2 * raw.n_leaves - 1
    value: Float = block.woven("internal_value", "leaf_value")
    mass: Float = block.woven("internal_weight", "leaf_weight")
    known = ~block.is_leaf | (not refilled)
    known[begins] = mass[begins] > 0
    leaf_value, leaf_weight = raw.all("leaf_value"), raw.all("leaf_weight")
    for i in np.flatnonzero(~known[begins]).tolist():
        mass[begins[i]] = leaf_weight[raw.leaves(i)].sum()
    start = np.zeros(len(block))
    for first in range(n_moved):
        of = raw.leaves(first)
        began = np.average(leaf_value[of], weights=leaf_weight[of])
        start[first] = value[begins[first]] if rooted else began
    shrinkage = np.repeat(raw.all("shrinkage"), size)
    slip = np.where(block.is_leaf, 0, np.abs(value) * _ERROR)
    return Inner(
        node=links.inner,
        left=links.left,
        right=links.right,
        tree=np.repeat(np.arange(len(block)), raw.n_leaves - 1),
        cover=mass,
        weight=(value - np.repeat(start, size)) / shrinkage,
        told=known,
        gain=raw.all("split_gain"),
        error=slip / shrinkage,
        scaled=np.zeros(len(mass), dtype=np.bool_),
        slack=_SLACK,
        same=_ERROR,
        n_moved=n_moved,
    )
