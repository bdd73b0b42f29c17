"""Numbers of a stored tree that follow from others: what differs was not written by fitting.

An impurity is the mean of some g over the targets of a node, less g of its value. So impurity
plus g of the value adds up over the children of a node, as the value does. For classes that mean
is known, and the impurity of every node follows from its values.

L. Breiman, J. Friedman, R. Olshen, C. Stone, Classification and Regression Trees (1984), 4.2, 8.3.
"""

from collections.abc import Sequence

import numpy as np

from treeaudit.readers.columns import Columns
from treeaudit.readers.types import Flag, Float

__all__ = ["underived"]

_MEDIANS = ("absolute_error", "mae")
_UNKNOWN = np.float64(np.nan).tobytes()
# Sums in double precision, over the people of a node and those beside it.
_ROUNDING = 1e-12
_USED = ("left_child", "right_child", "impurity", "n_node_samples", "weighted_n_node_samples")
_BLOCK = 1 << 12


def underived(
    nodes: Columns,
    values: Float,
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
    n_impurities = n_values = 0
    # A file may state them column by column; a copy is made of no others.
    values = np.ascontiguousarray(values)
    for begin in range(0, len(stored), _BLOCK):
        block = _Block(nodes, values, begin)
        n_values += 0 if clipped else block.odd_values(criterion, changed)
        if known and of_classes and not clipped:
            n_impurities += block.odd_impurities_of_classes(criterion)
        elif known:
            n_impurities += block.odd_impurities(criterion, most, clipped, changed)
    return n_impurities, n_values


class _Block:
    """Some nodes of a tree and their children: few enough that their numbers stay at hand."""

    def __init__(self, nodes: Columns, values: Float, begin: int) -> None:
        end = begin + _BLOCK
        self.nodes, self.rows = nodes, slice(begin, end)
        self.columns = columns = {name: nodes[name][begin:end] for name in _USED}
        self.inner = inner = np.flatnonzero(columns["left_child"] >= 0)
        self.sides = columns["left_child"][inner], columns["right_child"][inner]
        self.weight = columns["weighted_n_node_samples"][inner]
        self.weights = [nodes["weighted_n_node_samples"][side] for side in self.sides]
        self.of_classes = values.shape[2] > 1
        # The nodes last: what is done to all of them is done to one run of numbers.
        self.own = self._across(values[begin:end])
        # Numbers may stand anywhere in a file: bytes are fetched without a copy of them all.
        rows = values.reshape(len(values), -1).view(f"V{values[0].nbytes}")
        self.below = [
            self._across(rows.take(side).view(values.dtype).reshape(len(side), *values.shape[1:]))
            for side in self.sides
        ]
        self.above = self.own.take(inner, axis=2)

    def _across(self, values: Float) -> Float:
        across = np.ascontiguousarray(values.transpose(1, 2, 0))
        return across / across.sum(axis=1, keepdims=True) if self.of_classes else across

    def _excess(self, above: Float, parts: Sequence[Float]) -> Float:
        """Return by how much a parent is above the mean of its children."""
        left, right = (part * by for part, by in zip(parts, self.weights, strict=True))
        excess: Float = above - (left + right) / self.weight
        return excess

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
            # Shares of classes sum up to 1: one of them follows.
            free = slice(-1) if self.of_classes else slice(1)
            gap = self._excess(self.above[:, free], [part[:, free] for part in self.below])
            size: Float | float = 3.0
            if not self.of_classes:
                size = sum(_largest(part) for part in (self.above, *self.below))
            odd = ~(_largest(gap) <= 1e3 * _ROUNDING * size)
        return int(np.count_nonzero(odd & self._usual(changed))) if odd.any() else 0

    def odd_impurities_of_classes(self, criterion: str) -> int:
        """Count the nodes whose impurity is not that of their shares."""
        off = np.abs(self.columns["impurity"] - _of_classes(self.own, criterion))
        if off.max() <= _ROUNDING:
            return 0
        return int(np.count_nonzero(~(off <= _slack(self.nodes)[self.rows])))

    def odd_impurities(self, criterion: str, most: float, clipped: bool, changed: bool) -> int:
        """Count the nodes whose impurity is not what is left of those below."""
        stored, people = self.columns["impurity"], self.columns["n_node_samples"]
        own, below = stored[self.inner], [self.nodes["impurity"][side] for side in self.sides]
        odd = ~(self._excess(own, below) >= -most * _ROUNDING) | ~(own >= 0)
        alone = (people <= 1) & ~(np.abs(stored) <= 1e-9 * most)
        if not clipped and criterion not in _MEDIANS:
            g, *gs = (_of_numbers(part[:, 0], criterion) for part in (self.above, *self.below))
            sums = [part + each.mean(axis=0) for part, each in zip(below, gs, strict=True)]
            gap = np.abs(self._excess(own + g.mean(axis=0), sums))
            # Sums of as many squares as there are people.
            digits = 2e-13 + 8e-14 * np.sqrt(people[self.inner])
            bound = digits * (np.abs(g).max(axis=0) + np.abs(own))
            if not (gap <= 3 * bound).all():
                slack = _slack(self.nodes) / _ROUNDING
                bound *= sum(slack[some] for some in (self.inner + self.rows.start, *self.sides))
                odd |= ~(gap <= bound) & self._usual(changed)
        return int(np.count_nonzero(odd) + np.count_nonzero(alone))


def _most(a: Float) -> float:
    return float(np.maximum(a.max(), -a.min()))


def _largest(a: Float) -> Float:
    """Return the largest size of a number of each node."""
    largest: Float = np.abs(a).max(axis=(0, 1))
    return largest


def _slack(nodes: Columns) -> Float:
    """Return how far a number of each node may be off, which was summed up with the one beside."""
    weight = nodes["weighted_n_node_samples"]
    slack = np.full(len(weight), _ROUNDING)
    inner = np.flatnonzero(nodes["left_child"] >= 0)
    for name in ("left_child", "right_child"):
        side = nodes[name][inner]
        slack[side] *= np.maximum(1, weight[inner] / np.maximum(weight[side], 1e-300))
    return slack


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
        entropy: Float = -terms.sum(axis=1).mean(axis=0)
        return entropy
    gini: Float = (1 - (shares * shares).sum(axis=1)).mean(axis=0)
    return gini
