"""Which numbers of inner nodes of boosted trees follow from the leaves below them.

Gradients add up over children. Of a node with cover ``H`` and weight ``w`` the gradient is
``-(w (H + l2) + sign(w) l1)``, its score is ``w ** 2 (H + l2)``, and the gain of a split is what
the scores of both sides are more than that of the node. The two penalties, and the learning rate
that leaves are stored times of, are few numbers of the whole model: they are solved for. A bound
on weights (``max_delta_step``, monotone columns) pins some of them; the gradient of a pinned leaf
is not known, nor is what it would explain.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from treeaudit.readers.boosters.inner_constants import (
    Constants,
    candidates,
    rates_of_trees,
    usual,
)
from treeaudit.readers.boosters.inner_nodes import Inner, at_the_bound, bounded, every, met_once
from treeaudit.readers.types import Flag, Float

__all__ = ["strays"]

_LOOSE, _UNSURE, _MOST_ABOVE = 1e-4, 10, 64
_MOST_SLOW = 500_000


def strays(inner: Inner) -> tuple[Flag, Flag]:
    """Return which inner nodes have a weight, and which a gain, that does not follow.

    Both have the shape ``(n_inner,)``. A node beside a weight that is not told is none of them,
    nor is one of a tree whose weights were moved by a number that a penalty hides.
    """
    none = np.zeros(len(inner.node), dtype=np.bool_)
    if not len(inner.node):
        return none, none
    with np.errstate(all="ignore"):
        best, (weight, gain) = _solved(inner)
        if (weight.any() or gain.any()) and len(inner.node) <= _MOST_SLOW:
            odd, lost = _slowly(inner, best)
            weight, gain = weight & odd, gain & lost
        if abs(best.l2) > _LOOSE or abs(best.l1) > _LOOSE:
            settled = inner.tree >= inner.n_moved
            weight, gain = weight & settled, gain & settled
            if inner.n_moved:
                # What LightGBM gives to a root does not follow then.
                weight &= np.isin(inner.node, np.concatenate([inner.left, inner.right]))
    return weight, gain


def _solved(inner: Inner) -> tuple[Constants, tuple[Flag, Flag]]:
    """Return the constants that explain the most nodes, and what they leave; the fewest first."""
    n_trees = int(inner.tree.max(initial=-1)) + 1
    added = np.zeros(n_trees)
    # LightGBM has no penalties unless told to.
    best = Constants(0.0, 0.0, np.ones(n_trees), added) if inner.n_moved else usual(inner, n_trees)
    off = _off(inner, best)
    fewest = _left(inner, off)
    if not any(fewest):
        return best, off
    for l2, per_rate, l1, apart in candidates(inner):
        rates = np.full(n_trees, per_rate)
        one = Constants(l2, l1, rates_of_trees(inner, l2, l1, rates) if apart else rates, added)
        one = replace(one, added=_added(inner, one))
        left = _off(inner, one)
        n = _left(inner, left)
        if n < fewest:
            best, fewest, off = one, n, left
        if not any(n):
            break
    return best, off


def _left(inner: Inner, off: tuple[Flag, Flag]) -> tuple[int, int]:
    """Count the nodes whose weights, and whose gains where these are plain, are not explained."""
    plain = every(inner, ~at_the_bound(inner))
    n = int(np.count_nonzero(off[0] & plain))
    if inner.n_moved or not inner.gain.any():
        return n, 0
    # What a pinned weight gained is more than its score says.
    return n, int(np.count_nonzero(off[1] & plain))


def _size(inner: Inner, at: Float) -> Float:
    return at[inner.node] + at[inner.left] + at[inner.right]


def _grown(inner: Inner, by: Constants) -> Float:
    """Return the weights of all nodes as they were grown."""
    of_node = np.zeros(len(inner.weight), dtype=np.int64)
    of_node[inner.node] = of_node[inner.left] = of_node[inner.right] = inner.tree
    grown = np.where(inner.scaled, inner.weight * by.per_rate[of_node], inner.weight)
    return grown - by.added[of_node] if inner.n_moved else grown


def _added(inner: Inner, by: Constants) -> Float:
    """Return what was added to the weights of each tree, where a penalty gives it away."""
    added = by.added.copy()
    if inner.n_moved and abs(by.l2) > _LOOSE:
        for _ in range(3):
            weight = _grown(inner, replace(by, added=added))
            term = weight * (inner.cover + by.l2) + np.sign(weight) * by.l1
            over = term[inner.left] + term[inner.right] - term[inner.node]
            sure = every(inner, inner.told)
            for tree, part in _moved(inner):
                if sure[part].any():
                    added[tree] += np.median(over[part][sure[part]]) / by.l2
    return added


def _off(inner: Inner, by: Constants) -> tuple[Flag, Flag]:
    weight = _grown(inner, by)
    sure = every(inner, inner.told)
    term = weight * (inner.cover + by.l2) + np.sign(weight) * by.l1
    # With a weight of zero the gradient may be anything up to the penalty.
    room = np.where(weight == 0, abs(by.l1), 0)
    score = weight * weight * (inner.cover + by.l2)
    node, left, right = inner.node, inner.left, inner.right
    odd = np.abs(term[left] + term[right] - term[node])
    made = score[left] + score[right] - score[node]
    exact, big = (inner.slack * _size(inner, np.abs(part)) for part in (score, term))
    # Nothing times a number that is finite adds nothing.
    if by.l1 or not (isinstance(inner.error, float) and np.isfinite(term).all()) or inner.error:
        error = inner.error * (inner.cover + by.l2) + np.zeros(len(weight))
        exact = exact + 2 * _size(inner, np.abs(weight) * error)
        big = big + _size(inner, room + error)
    gain = inner.gain * _units(inner, made, exact)
    lost = np.abs(made - gain)
    size = exact + inner.slack * np.abs(gain)
    size *= np.where(inner.tree < inner.n_moved, _UNSURE, 1)
    endless = ~np.isfinite(inner.gain)
    return ~(odd <= big + 1e-30) & sure, ~(lost <= size + 1e-30) & sure | endless


def _moved(inner: Inner) -> Iterator[tuple[int, slice]]:
    """Yield the trees whose weights may be moved, with their places among the inner nodes."""
    bounds = np.searchsorted(inner.tree, np.arange(inner.n_moved + 1)).tolist()
    for tree, (begin, end) in enumerate(pairwise(bounds)):
        yield tree, slice(begin, end)


def _units(inner: Inner, made: Float, size: Float) -> Float:
    """Return what the gains of each node are to be multiplied with; the most exact tells."""
    units = np.ones(len(made))
    if not inner.n_moved:
        return units
    off = np.where(every(inner, inner.told), size / inner.gain, np.inf)
    for _, part in _moved(inner):
        if part.start < part.stop:
            best = part.start + int(np.argmin(off[part]))
            unit = made[best] / inner.gain[best]
            units[part] = unit if np.isfinite(unit) and np.isfinite(off[best]) else 1
    return units


def _slowly(inner: Inner, by: Constants) -> tuple[Flag, Flag]:
    """Return what `strays` does, where bounds pin some weights: node by node from the leaves up."""
    weight = _grown(inner, by)
    at = at_the_bound(inner) | bounded(inner, weight) | met_once(inner, weight)
    pinned = (at | _in_the_middle(inner, weight)).tolist()
    height = inner.cover + by.l2
    # What the gradient is, the other way round, where it can be known.
    push = (weight * height + np.sign(weight) * by.l1).tolist()
    is_leaf = np.ones(len(weight), dtype=np.bool_)
    is_leaf[inner.node] = False
    hidden = (np.array(pinned) & is_leaf | ~inner.told).tolist()
    score = weight * weight * height
    made = score[inner.left] + score[inner.right] - score[inner.node]
    slip = inner.error * height + np.zeros(len(weight))
    exact = inner.slack * _size(inner, np.abs(score)) + 2 * _size(inner, np.abs(weight) * slip)
    gain_of, error = (inner.gain * _units(inner, made, exact)).tolist(), slip.tolist()
    odd, lost = np.zeros(len(inner.node), np.bool_), ~np.isfinite(inner.gain)
    weights, heights = weight.tolist(), height.tolist()
    rows = zip(inner.node.tolist(), inner.left.tolist(), inner.right.tolist(), strict=True)
    for i, (node, left, right) in reversed(list(enumerate(rows))):
        below = hidden[left] or hidden[right]
        if pinned[node]:
            hidden[node] = below
            push[node] = push[left] + push[right]
        elif not below and not hidden[node]:
            sides = inner.slack * (abs(push[left]) + abs(push[right]) + abs(push[node]))
            sides += error[left] + error[right] + error[node]
            odd[i] = not abs(push[left] + push[right] - push[node]) <= sides
        if below or hidden[node] or by.l1:
            continue
        node_, left_, right_ = (
            2 * push[at] * weights[at] - heights[at] * weights[at] * weights[at]
            for at in (node, left, right)
        )
        size = inner.slack * (abs(node_) + abs(left_) + abs(right_) + abs(gain_of[i]))
        size += sum(2 * abs(weights[at]) * error[at] for at in (node, left, right))
        size *= _UNSURE if inner.tree[i] < inner.n_moved else 1
        lost[i] |= not abs(left_ + right_ - node_ - gain_of[i]) <= size
    return odd, lost


def _in_the_middle(inner: Inner, weight: Float) -> Flag:
    """Tell which weights are the middle of the two sides of a split above: a bound of theirs."""
    found = np.zeros(len(weight), dtype=np.bool_)
    middles: dict[int, frozenset[tuple[float, float]]] = {}
    rows = zip(inner.node.tolist(), inner.left.tolist(), inner.right.tolist(), strict=True)
    for node, left, right in rows:
        above = middles.pop(node, frozenset())
        low, high = float(weight[left]), float(weight[right])
        # Of numbers on both sides of zero hardly a digit is left in the middle.
        middle = (low + high) / 2, inner.same * (abs(low) + abs(high)) / 2
        for side in (left, right):
            middles[side] = above | {middle} if len(above) < _MOST_ABOVE else above
            value = float(weight[side])
            found[side] = any(abs(value - one) <= room for one, room in above)
    return found
