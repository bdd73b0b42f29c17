"""How alike one column is inside the groups: group by value, in sparse form.

A column of money has as many values as people, so no dense table is built. The
measures are those of `treeaudit.table.diversity`, from the pairs that occur.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Crosstab", "crosstab"]

Wide = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Flag = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Crosstab:
    """People per group and value, for the pairs that occur, groups ascending.

    Attributes
    ----------
    group, value, people
        The pairs, one entry each.
    start
        Shape ``(n_groups + 1,)``: the pairs of each group; none may be empty.
    overall
        Shape ``(n_values,)``: people with each value.
    """

    group: Wide
    value: Wide
    people: Wide
    start: Wide
    overall: Wide

    @property
    def size(self) -> Wide:
        """People per group."""
        return np.asarray(np.add.reduceat(self.people, self.start[:-1]), dtype=np.int64)

    @property
    def distinct(self) -> Wide:
        """Values that occur in each group: distinct l-diversity."""
        return np.diff(self.start)

    @property
    def only(self) -> Wide:
        """The value of each group that has only one, -1 elsewhere."""
        return np.where(self.distinct == 1, self.value[self.start[:-1]], -1)

    @property
    def largest(self) -> Wide:
        """People with the commonest value of each group."""
        return np.asarray(np.maximum.reduceat(self.people, self.start[:-1]), dtype=np.int64)

    @property
    def entropy_l(self) -> Float:
        """The exponential of the entropy of each group, to nine decimals."""
        share = self.people / self.size[self.group]
        entropy = np.add.reduceat(-share * np.log(share), self.start[:-1])
        return np.asarray(np.round(np.exp(entropy), 9), dtype=np.float64)

    @property
    def recursive_c(self) -> Float:
        """What c must exceed for recursive (c, 2)-diversity; infinite for one value."""
        rest = self.size - self.largest
        bound = np.full(len(rest), np.inf)
        np.divide(self.largest, rest, out=bound, where=rest > 0)
        return bound

    @property
    def closeness(self) -> Float:
        """Distance of each group from everybody, values without order."""
        share = self.people / self.size[self.group]
        everybody = (self.overall / self.overall.sum())[self.value]
        # Values that are absent from the group add what everybody has of them.
        above = np.abs(share - everybody) - everybody
        return np.asarray((np.add.reduceat(above, self.start[:-1]) + 1) / 2, dtype=np.float64)

    @property
    def ordered_closeness(self) -> Float:
        """Distance of each group from everybody, values in the order of their codes."""
        n = len(self.overall)
        below = np.cumsum(self.overall / self.overall.sum())
        summed = np.concatenate([[0.0], np.cumsum(below)])
        share = self.people / self.size[self.group]
        total = np.cumsum(share)
        mine = total - np.repeat(total[self.start[:-1]] - share[self.start[:-1]], self.distinct)
        first = self.start[:-1]
        # From one value of the group to its next the share of the group is constant.
        end = np.append(self.value[1:], n)
        end[self.start[1:] - 1] = n
        apart = _area(mine, self.value, end, below, summed)
        apart[first] += summed[self.value[first]]
        return np.asarray(np.add.reduceat(apart, first) / max(n - 1, 1), dtype=np.float64)

    @property
    def delta_disclosure(self) -> Float:
        """The largest log-ratio of shares; infinite where a value is absent from the group."""
        ratio = self._ratio()
        delta = np.maximum.reduceat(np.abs(np.log(ratio)), self.start[:-1])
        return np.where(self.distinct < np.count_nonzero(self.overall), np.inf, delta)

    @property
    def beta_likeness(self) -> Float:
        """The largest relative gain of any value."""
        gain = np.maximum.reduceat(self._ratio() - 1, self.start[:-1])
        return np.asarray(np.maximum(gain, 0.0), dtype=np.float64)

    def _ratio(self) -> Float:
        share = self.people / self.size[self.group]
        return np.asarray(share / (self.overall / self.overall.sum())[self.value])


def _area(level: Float, begin: Wide, end: Wide, below: Float, summed: Float) -> Float:
    """Return the sum of ``|level - below[i]|`` for i from begin to end; below ascends."""
    cut = np.clip(np.searchsorted(below, level), begin, end)
    under = level * (cut - begin) - (summed[cut] - summed[begin])
    over = (summed[end] - summed[cut]) - level * (end - cut)
    return np.asarray(under + over)


def crosstab(group: Wide, value: Wide, n_groups: int, n_values: int) -> Crosstab:
    """Count people by group and value.

    Parameters
    ----------
    group
        Shape ``(n_people,)``: group of each person, from 0; none may be empty.
    value
        Shape ``(n_people,)``: their value as a code from 0.
    n_groups, n_values
        How many there are.

    Examples
    --------
    >>> table = crosstab(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]), 2, 3)
    >>> table.distinct.tolist(), table.only.tolist(), table.largest.tolist()
    ([2, 1], [-1, 2], [2, 1])
    """
    pair, people = np.unique(
        group.astype(np.int64) * n_values + value.astype(np.int64), return_counts=True
    )
    owner = pair // n_values
    return Crosstab(
        group=owner,
        value=pair % n_values,
        people=people,
        start=np.searchsorted(owner, np.arange(n_groups + 1)),
        overall=np.bincount(value, minlength=n_values),
    )
