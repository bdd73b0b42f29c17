"""Numbers of a stored tree that follow from others: what differs was not written by fitting.

An impurity is the mean of some g over the targets of a node, less g of its value. So impurity
plus g of the value adds up over the children of a node, as the value does. For classes that mean
is known, and the impurity of every node follows from its values.

L. Breiman, J. Friedman, R. Olshen, C. Stone, Classification and Regression Trees (1984), 4.2, 8.3.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np

from treeaudit.readers.columns import Columns
from treeaudit.readers.links import Links
from treeaudit.readers.types import Flag, Float, Wide

__all__ = ["underived"]

_MEDIANS = ("absolute_error", "mae")
_UNKNOWN = np.float64(np.nan).tobytes()
# Sums in double precision, over the people of a node and those beside it.
_ROUNDING = 1e-12
# Nodes, and numbers of theirs, that stay at hand while they are worked on.
_MOST_NODES, _MOST_NUMBERS = 1 << 14, 1 << 15
_FEW = 4


def underived(
    nodes: Columns,
    values: Float,
    links: Links,
    criterion: str,
    *,
    changed: bool = False,
    clipped: bool = False,
    most: float | None = None,
) -> tuple[int, int]:
    """Return how many impurities and values do not follow from the other numbers.

    Parameters
    ----------
    nodes
        The columns of the table of a `Tree` of scikit-learn, all nodes within reach.
    values
        Shape ``(n_nodes, n_outputs, n_classes)``.
    links
        Its inner nodes and their children.
    criterion
        What the estimator says it was split by.
    changed
        Whether the leaves were given other values after fitting, as boosting does.
    clipped
        Whether values were moved into bounds, as monotonic constraints do: then impurities
        are only held against those of the children.
    most
        How large its numbers may become; told by itself unless given.
    """
    stored, of_classes = nodes["impurity"], values.shape[2] > 1
    known = not np.isnan(stored[0]) or stored.tobytes() != len(stored) * _UNKNOWN
    if most is None:
        most = _most(stored) + (1.0 if of_classes else min(_most(values), 1e150) ** 2)
    slack = cache(partial(_slack, nodes, links))
    of_shares = cache(partial(_slack_of_shares, nodes, links, slack))
    n_impurities = n_values = 0
    # Per output and class one run of numbers. Shares of classes sum up to 1: one of them follows.
    n_outputs, n_free = values.shape[1], values.shape[2] - of_classes
    across = np.empty((n_outputs, n_free, len(values)), dtype=values.dtype)
    step = min(_MOST_NODES, max(1, _MOST_NUMBERS // max(1, values[0].size)))
    for begin in range(0, len(values), step):
        some = slice(begin, begin + step)
        own = values[some].transpose(1, 2, 0)
        if of_classes:
            own = np.array(own, order="C")
            own /= _total(own)[:, None]
            if known and not clipped:
                n_impurities += _odd_impurities_of_classes(stored, own, some, criterion, of_shares)
        across[:, :, some] = own[:, :n_free]
    reach = cache(partial(_reach, stored, across, links))
    of_numbers = known and (clipped or not of_classes)
    if of_numbers:
        size = np.abs(stored)
        odd = (nodes["n_node_samples"] <= 1) & ~(size <= 1e-9 * most)
        if odd.any():
            bound = _digits(_above(nodes, links)) * slack() / _ROUNDING * reach()
            n_impurities += int(np.count_nonzero(odd & ~(size <= bound)))
    for begin in range(0, len(links.inner), step):
        some = slice(begin, begin + step)
        block = _Block(nodes, across, links, some, slack, reach, of_classes=of_classes)
        n_values += 0 if clipped else block.odd_values(criterion, changed)
        if of_numbers:
            n_impurities += block.odd_impurities(criterion, most, clipped, changed)
    return n_impurities, n_values


def _odd_impurities_of_classes(
    stored: Float, shares: Float, some: slice, criterion: str, slack: Callable[[], Float]
) -> int:
    """Count the nodes, of some of which the shares are given, whose impurity is not theirs."""
    off = np.abs(stored[some] - _of_classes(shares, criterion))
    return 0 if off.max() <= _ROUNDING else int(np.count_nonzero(~(off <= slack()[some])))


class _Block:
    """Some inner nodes of a tree and their children."""

    def __init__(
        self,
        nodes: Columns,
        across: Float,
        links: Links,
        some: slice,
        slack: Callable[[], Float],
        reach: Callable[[], Float],
        *,
        of_classes: bool,
    ) -> None:
        self.nodes, self.of_classes, self.slack, self.reach = nodes, of_classes, slack, reach
        self.inner, self.sides = links.inner[some], (links.left[some], links.right[some])
        weight = nodes["weighted_n_node_samples"]
        self.weight = weight.take(self.inner)
        self.weights = [weight.take(side) for side in self.sides]
        self.above = across.take(self.inner, axis=2)
        self.below = [across.take(side, axis=2) for side in self.sides]

    def _excess(self, above: Float, parts: Sequence[Float]) -> Float:
        """Return by how much a parent is above the mean of its children."""
        left, right = (part * by for part, by in zip(parts, self.weights, strict=True))
        left += right
        left /= self.weight
        return np.subtract(above, left, out=left)

    def _usual(self, changed: bool) -> Flag:
        # Without people nothing adds up: a model may not tell them.
        usual: Flag = self.weight > 0
        if changed:
            for side in self.sides:
                usual &= self.nodes["left_child"][side] >= 0
        return usual

    def odd_values(self, criterion: str, changed: bool) -> int:
        """Count the values above leaves that are not those of the nodes below."""
        if criterion in _MEDIANS and not self.of_classes:
            low, high = np.minimum(*self.below), np.maximum(*self.below)
            odd = ((self.above < low) | (self.above > high)).any(axis=(0, 1))
        else:
            gap = self._excess(self.above, self.below)
            size: Float | float = 3.0
            if self.of_classes and _most(gap) <= 1e3 * _ROUNDING * size:
                return 0
            if not self.of_classes:
                size = sum(_largest(part) for part in (self.above, *self.below))
            odd = ~(_largest(gap) <= 1e3 * _ROUNDING * size)
        return int(np.count_nonzero(odd & self._usual(changed))) if odd.any() else 0

    def odd_impurities(self, criterion: str, most: float, clipped: bool, changed: bool) -> int:
        """Count the nodes whose impurity is not what is left of those below."""
        stored, people = self.nodes["impurity"], self.nodes["n_node_samples"].take(self.inner)
        own, below = stored.take(self.inner), [stored.take(side) for side in self.sides]
        odd = ~(self._excess(own, below) >= -most * _ROUNDING) | ~(own >= 0)
        if not clipped and criterion not in _MEDIANS:
            g, *gs = (_of_numbers(part[:, 0], criterion) for part in (self.above, *self.below))
            sums = [part + _mean(each) for part, each in zip(below, gs, strict=True)]
            gap = np.abs(self._excess(own + _mean(g), sums))
            # Sums of as many squares as there are people.
            digits = _digits(people)
            bound = digits * (_largest(g[:, None]) + np.abs(own))
            if not (gap <= 3 * bound).all():
                slack, reach = self.slack() / _ROUNDING, self.reach()
                each = (self.inner, *self.sides)
                bound *= sum(slack[some] for some in each)
                bound += digits * sum(slack[some] * reach[some] for some in each)
                odd |= ~(gap <= bound) & self._usual(changed)
        return int(np.count_nonzero(odd))


def _most(a: Float) -> float:
    return float(np.maximum(a.max(), -a.min()))


def _largest(a: Float) -> Float:
    """Return the largest size of a number of each node."""
    size = np.abs(a)
    largest: Float = size[0, 0] if size.shape[:2] == (1, 1) else size.max(axis=(0, 1))
    return largest


def _digits(people: Wide) -> Float:
    """Return by which part of itself a sum of so many squares may be off."""
    return 2e-13 + 8e-14 * np.sqrt(people)


def _above(nodes: Columns, links: Links) -> Wide:
    """Return how many people are in the node above each."""
    people = nodes["n_node_samples"]
    above = people.copy()
    above[links.left] = above[links.right] = people[links.inner]
    return above


def _slack(nodes: Columns, links: Links) -> Float:
    """Return how far a number of each node may be off, which was summed up with the one beside."""
    weight = nodes["weighted_n_node_samples"]
    slack = np.full(len(weight), _ROUNDING)
    for side in (links.left, links.right):
        slack[side] *= np.maximum(1, weight[links.inner] / np.maximum(weight[side], 1e-300))
    return slack


def _slack_of_shares(nodes: Columns, links: Links, slack: Callable[[], Float]) -> Float:
    """Return the same for shares of classes: weights that are no whole numbers add up inexactly."""
    weight = nodes["weighted_n_node_samples"]
    if np.array_equal(weight, np.rint(weight)):
        return slack()
    # Half a unit in the last place for everybody who is added: all may be rounded to one side.
    return slack() * (1 + 2.0**-53 / _ROUNDING * _above(nodes, links))


def _reach(stored: Float, across: Float, links: Links) -> Float:
    """Return how large the squares were from which those of each node are what is left.

    scikit-learn sums up the numbers of a node and those of its left child; of the right one it
    takes what is left, of the squares too.
    """
    size: Float = np.abs(across).max(axis=(0, 1))
    square: Float = np.abs(stored) * len(across) + size**2
    reach = square.copy()
    reach[links.left] = size[links.left] * np.sqrt(square[links.inner])
    reach[links.right] = square[links.inner]
    return reach


def _of_numbers(values: Float, criterion: str) -> Float:
    """Return g of the values of nodes."""
    if criterion == "poisson":
        deviance: Float = values * np.log(np.maximum(values, 1e-300))
        return deviance
    return values**2


def _of_classes(shares: Float, criterion: str) -> Float:
    """Return the impurity of every node, the mean over its outputs."""
    if criterion in ("entropy", "log_loss"):
        terms = shares * np.log2(np.where(shares > 0, shares, 1))
        return _mean(-_total(terms))
    return _mean(1 - _total(shares * shares))


def _total(parts: Float) -> Float:
    """Return the sum over classes; of a few a column at a time is quicker than `sum`."""
    many = parts.shape[1] > _FEW
    total: Float = parts.sum(axis=1) if many else parts[:, 0]
    for i in range(1, 0 if many else parts.shape[1]):
        total = total + parts[:, i]
    return total


def _mean(of_outputs: Float) -> Float:
    mean: Float = of_outputs[0] if len(of_outputs) == 1 else of_outputs.mean(axis=0)
    return mean
