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

from treeaudit.dataclass import dataclass
from treeaudit.readers.types import Flag, Float, Wide

__all__ = ["Inner", "strays"]

_ROUNDS, _LOOSE, _UNSURE = 12, 1e-4, 10
_ENOUGH, _MOST_ABOVE, _CLOSE = 4000, 64, 1e-5
_MOST_SLOW = 500_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inner:
    """The nodes of all trees; those of one tree lie together, children behind their parents.

    Attributes
    ----------
    node, left, right, tree
        Shape ``(n_inner,)``: positions of inner nodes, ascending, and of their children; the
        tree they are of.
    cover, weight
        Shape ``(n_nodes,)``.
    scaled
        Shape ``(n_nodes,)``: whether the weight is stored times the learning rate.
    told
        Shape ``(n_nodes,)``: whether the file tells the weight as the node was grown.
    gain
        Shape ``(n_inner,)``: what the split gained.
    slack
        The error of sums of the numbers as they are stored, relative to their size.
    error
        Shape ``(n_nodes,)``: of the weights, where it is larger than that.
    n_moved
        How many trees, the first ones, may have all weights moved by one number, and gains in a
        unit of their own.
    same
        How far a number may be from the same one stored elsewhere, relative to it.
    bound
        The largest size of a weight as it is grown, where the file tells.
    """

    node: Wide
    left: Wide
    right: Wide
    tree: Wide
    cover: Float
    weight: Float
    scaled: Flag
    told: Flag
    gain: Float
    slack: float
    error: Float | float = 0.0
    n_moved: int = 0
    same: float = 4e-7
    bound: float = np.inf


@dataclass(frozen=True, slots=True)
class _Constants:
    """The penalties of a model; one over the learning rate, and what is added, of each tree."""

    l2: float
    l1: float
    per_rate: Float
    added: Float


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


def _solved(inner: Inner) -> tuple[_Constants, tuple[Flag, Flag]]:
    """Return the constants that explain the most nodes, and what they leave; the fewest first."""
    n_trees = int(inner.tree.max(initial=-1)) + 1
    added = np.zeros(n_trees)
    # LightGBM has no penalties unless told to.
    best = (
        _Constants(0.0, 0.0, np.ones(n_trees), added) if inner.n_moved else _usual(inner, n_trees)
    )
    off = _off(inner, best)
    fewest = int(np.count_nonzero(off[0]))
    if not fewest:
        return best, off
    for columns, apart in ((3, False), (4, False), (3, True), (4, True)):
        l2, per_rate, l1 = _penalties(inner, columns, apart)
        l2, l1 = max(l2, 0.0), max(l1, 0.0)
        rates = np.full(n_trees, per_rate)
        one = _Constants(l2, l1, _rates(inner, l2, l1, rates) if apart else rates, added)
        one = replace(one, added=_added(inner, one))
        left = _off(inner, one)
        n = int(np.count_nonzero(left[0]))
        if n < fewest:
            best, fewest, off = one, n, left
        if n == 0:
            break
    return best, off


def _penalties(inner: Inner, columns: int, apart: bool) -> tuple[float, float, float]:
    """Solve for the penalties and the rate, again and again without what does not fit.

    With ``apart`` only nodes are taken whose numbers have no rate in them.
    """
    kept = _every(inner, inner.told & ~_at_the_bound(inner))
    sign = np.sign(inner.weight)
    if columns == 4:
        kept &= _every(inner, sign != 0)
    if apart:
        kept &= _every(inner, ~inner.scaled)
    if np.any(settled := kept & (inner.tree >= inner.n_moved)):
        kept = settled
    # Some of many are enough to solve for three numbers: all are held against them afterwards.
    some = np.flatnonzero(kept)
    some = some[:: len(some) // _ENOUGH + 1]
    node, left, right = inner.node[some], inner.left[some], inner.right[some]

    def gap(at: Float) -> Float:
        return at[node] - at[left] - at[right]

    grown, scaled = np.where(inner.scaled, 0, inner.weight), np.where(inner.scaled, inner.weight, 0)
    cover, mass = inner.cover, np.abs(inner.weight) * (inner.cover + 1)
    size = mass[node] + mass[left] + mass[right] + 1e-300
    table = np.column_stack([gap(grown), gap(scaled * cover), gap(scaled), gap(sign)][:columns])
    rest = -gap(grown * cover)
    good = np.isfinite(table).all(axis=1) & np.isfinite(rest)
    table, rest = table[good] / size[good, None], rest[good] / size[good]
    width = np.abs(table).max(axis=0, initial=0)
    width[width == 0] = 1
    table = table / width
    solved, fits = np.zeros(columns), np.ones(len(rest), dtype=np.bool_)
    for _ in range(_ROUNDS if len(rest) else 0):
        solved = np.linalg.lstsq(table[fits], rest[fits], rcond=1e-12)[0]
        off = np.abs(table @ solved - rest)
        before, fits = fits, off <= max(_LOOSE, 2 * float(np.median(off)))
        if np.array_equal(before, fits):
            break
    solved = solved / width
    l1 = float(solved[3]) if columns == 4 else 0.0
    return float(solved[0]), float(solved[1]) or 1.0, l1


def _at_the_bound(inner: Inner) -> Flag:
    """Tell which weights are as large as a bound lets them be, where several are or it is known."""
    found = ~inner.scaled & _bounded(inner, inner.weight)
    for some in (inner.scaled, ~inner.scaled):
        magnitude = np.where(some, np.abs(inner.weight), 0)
        at = some & (magnitude >= magnitude.max(initial=0) * (1 - inner.same))
        if np.count_nonzero(at) > 1:
            found |= at
    return found


def _bounded(inner: Inner, grown: Float) -> Flag:
    at: Flag = np.abs(grown) >= inner.bound * (1 - 4 * inner.same)
    return at


def _every(inner: Inner, at: Flag) -> Flag:
    return at[inner.node] & at[inner.left] & at[inner.right]


def _size(inner: Inner, at: Float) -> Float:
    return at[inner.node] + at[inner.left] + at[inner.right]


def _ratios(inner: Inner, l2: float, l1: float) -> Float:
    """Return what one over the rate would be for each inner node; not finite where none is."""
    term = inner.weight * (inner.cover + l2)
    grown = np.where(inner.scaled, np.sign(inner.weight) * l1, term + np.sign(inner.weight) * l1)
    scaled = np.where(inner.scaled, term, 0)
    below = scaled[inner.left] + scaled[inner.right]
    ratio: Float = (grown[inner.node] - grown[inner.left] - grown[inner.right]) / below
    return ratio


def _usual(inner: Inner, n_trees: int) -> _Constants:
    """Return the penalties that XGBoost takes unless told otherwise, with the rate of most."""
    ratio = _ratios(inner, 1.0, 0.0)
    ratio = np.sort(ratio[np.isfinite(ratio) & (ratio > 0)])
    # The one that most others are the same as: bounds on weights may spoil more than half.
    alike = np.searchsorted(ratio, ratio * (1 + _CLOSE)) - np.arange(len(ratio))
    rate = float(ratio[int(np.argmax(alike)) + int(alike.max()) // 2]) if len(ratio) else 1.0
    return _Constants(1.0, 0.0, np.full(n_trees, rate), np.zeros(n_trees))


def _rates(inner: Inner, l2: float, l1: float, usual: Float) -> Float:
    """Return one over the rate of each tree, where a schedule changes it from round to round."""
    rates, ratio = usual.copy(), _ratios(inner, l2, l1)
    good = np.flatnonzero(np.isfinite(ratio))
    if not len(good):
        return rates
    some, start = np.unique(inner.tree[good], return_index=True)
    for tree, part in zip(some.tolist(), np.split(ratio[good], start[1:]), strict=True):
        rates[tree] = np.median(part)
    steps = np.diff(rates)
    close = np.abs(steps) <= _CLOSE * np.abs(rates[1:])
    # Any other order of rates could spell something.
    turns = np.all(close | (steps > 0)) or np.all(close | (steps < 0))
    return rates if turns else usual


def _grown(inner: Inner, by: _Constants) -> Float:
    """Return the weights of all nodes as they were grown."""
    of_node = np.zeros(len(inner.weight), dtype=np.int64)
    of_node[inner.node] = of_node[inner.left] = of_node[inner.right] = inner.tree
    grown = np.where(inner.scaled, inner.weight * by.per_rate[of_node], inner.weight)
    return grown - by.added[of_node] if inner.n_moved else grown


def _added(inner: Inner, by: _Constants) -> Float:
    """Return what was added to the weights of each tree, where a penalty gives it away."""
    added = by.added.copy()
    if inner.n_moved and abs(by.l2) > _LOOSE:
        for _ in range(3):
            weight = _grown(inner, replace(by, added=added))
            term = weight * (inner.cover + by.l2) + np.sign(weight) * by.l1
            over = term[inner.left] + term[inner.right] - term[inner.node]
            sure = _every(inner, inner.told)
            for tree, part in _moved(inner):
                if sure[part].any():
                    added[tree] += np.median(over[part][sure[part]]) / by.l2
    return added


def _off(inner: Inner, by: _Constants) -> tuple[Flag, Flag]:
    weight = _grown(inner, by)
    sure = _every(inner, inner.told)
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
    off = np.where(_every(inner, inner.told), size / inner.gain, np.inf)
    for _, part in _moved(inner):
        if part.start < part.stop:
            best = part.start + int(np.argmin(off[part]))
            unit = made[best] / inner.gain[best]
            units[part] = unit if np.isfinite(unit) and np.isfinite(off[best]) else 1
    return units


def _slowly(inner: Inner, by: _Constants) -> tuple[Flag, Flag]:
    """Return what `strays` does, where bounds pin some weights: node by node from the leaves up."""
    weight = _grown(inner, by)
    bounded = _at_the_bound(inner) | _bounded(inner, weight)
    pinned = (bounded | _in_the_middle(inner, weight)).tolist()
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
