"""How much the values inside a group differ, and whether a total gives a person away.

Groups and values are counted by the pairs that occur: a column of money has as many values as
people and a leaf of a grown tree one label, so nothing is spread out into a dense table.

References
----------
Machanavajjhala et al. (2006), l-diversity: privacy beyond k-anonymity.
Li, Li and Venkatasubramanian (2007), t-closeness. Brickell and Shmatikov
(2008), delta-disclosure privacy. Cao and Karras (2012), beta-likeness. Wong et
al. (2006), (alpha, k)-anonymity. Hundepool et al. (2012), Statistical Disclosure Control, section
4.2: the (n, k) rule and the p % rule; ACRO uses n = 2, k = 0.90 and p = 0.10.
"""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Float, Wide


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The worst measure of any group; infinite where it has no bound."""

    distinct_l: int
    entropy_l: float
    recursive_c: float
    t_closeness: float
    ordered_t_closeness: float
    delta_disclosure: float
    beta_likeness: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Crosstab:
    """People, or their weight, per group and value, for the pairs that occur."""

    # The pairs, one entry each, groups ascending and values within them
    value: Wide
    people: Float
    start: Wide  # Shape `(n_groups + 1,)`: the pairs of each group; none may be empty
    # Shape `(n_values,)`: people with each value, in all that the groups are held against
    overall: Float
    distinct: Wide  # Shape `(n_groups,)`: values that occur in each group, distinct l-diversity
    # People per group, and those with its commonest value
    size: Float
    largest: Float
    share: Float  # Of their group, per pair

    @property
    def least(self) -> Float:
        """People with the rarest value that occurs in each group."""
        return np.asarray(np.minimum.reduceat(self.people, self.start[:-1]), dtype=np.float64)

    @property
    def top(self) -> Wide:
        """The commonest value of each group, the first of several."""
        found = np.flatnonzero(self.people == self._each(self.largest))
        return self.value[found[np.searchsorted(found, self.start[:-1])]]

    @property
    def dominance(self) -> Float:
        """The share of the commonest value: (alpha, k)-anonymity asks for at most alpha."""
        return self.largest / self.size

    @property
    def entropy_l(self) -> Float:
        """The exponential of the entropy: entropy l-diversity.

        Rounded to nine decimals, so that four equal values give exactly 4.
        """
        entropy = self._summed(-self.share * np.log(self.share))
        return np.asarray(np.round(np.exp(entropy), 9), dtype=np.float64)

    @property
    def recursive_c(self) -> Float:
        """What c must exceed for recursive (c, 2)-diversity; infinite for one value."""
        rest = np.where(self.distinct > 1, self.size - self.largest, 0.0)
        bound = np.full(len(rest), np.inf)
        np.divide(self.largest, rest, out=bound, where=rest > 0)
        return bound

    @property
    def closeness(self) -> Float:
        """The distance of each group from everybody, values without order: t-closeness."""
        everybody = (self.overall / self.overall.sum())[self.value]
        apart = self._summed(np.abs(self.share - everybody))
        # Values that are absent from the group add what everybody has of them.
        absent = np.where(self._lacks, 1 - self._summed(everybody), 0.0)
        return (apart + absent) / 2

    @property
    def ordered_closeness(self) -> Float:
        """The earth mover's distance from everybody, values in order and equally far apart."""
        n, first = len(self.overall), self.start[:-1]
        below = np.cumsum(self.overall / self.overall.sum())
        summed = np.concatenate([[0.0], np.cumsum(below)])
        total = np.cumsum(self.people)
        level = (total - self._each(total[first] - self.people[first])) / self._each(self.size)
        # From one value of the group to its next the share of the group is constant.
        end = np.append(self.value[1:], n)
        end[self.start[1:] - 1] = n
        apart = _area(level, self.value, end, below, summed)
        apart[first] += summed[self.value[first]]
        return self._summed(apart) / max(n - 1, 1)

    @property
    def delta_disclosure(self) -> Float:
        """The delta that each group must stay below: the largest log-ratio of shares."""
        delta = np.maximum.reduceat(np.abs(np.log(self._ratio())), self.start[:-1])
        return np.where(self._lacks, np.inf, delta)

    @property
    def beta_likeness(self) -> Float:
        """The largest relative gain of any value: basic beta-likeness."""
        gain = np.maximum.reduceat(self._ratio() - 1, self.start[:-1])
        return np.asarray(np.maximum(gain, 0.0), dtype=np.float64)

    def worst(self) -> Worst:
        """Return the worst measure of any group."""
        return Worst(
            distinct_l=int(self.distinct.min()),
            entropy_l=float(self.entropy_l.min()),
            recursive_c=float(self.recursive_c.max()),
            t_closeness=round(float(self.closeness.max()), 12),
            ordered_t_closeness=round(float(self.ordered_closeness.max()), 12),
            delta_disclosure=float(self.delta_disclosure.max()),
            beta_likeness=round(float(self.beta_likeness.max()), 12),
        )

    @property
    def _lacks(self) -> Flag:
        """Whether a value that occurs at all is absent from a group."""
        return np.asarray(self.distinct < np.count_nonzero(self.overall))

    def _each(self, of_group: Float) -> Float:
        """Repeat a number per group for each of its pairs."""
        return np.repeat(of_group, self.distinct)

    def _summed(self, of_pair: Float) -> Float:
        return np.asarray(np.add.reduceat(of_pair, self.start[:-1]), dtype=np.float64)

    def _ratio(self) -> Float:
        return np.asarray(self.share / (self.overall / self.overall.sum())[self.value])


def _area(level: Float, begin: Wide, end: Wide, below: Float, summed: Float) -> Float:
    """Return the sum of ``|level - below[i]|`` for i from begin to end; below ascends."""
    cut = np.clip(np.searchsorted(below, level), begin, end)
    under = level * (cut - begin) - (summed[cut] - summed[begin])
    over = (summed[end] - summed[cut]) - level * (end - cut)
    return np.asarray(under + over)


def crosstab(
    group: Wide, value: Wide, n_groups: int, n_values: int, part: Float | None = None
) -> Crosstab:
    """Count people by group and value.

    * ``group``: shape ``(n_people,)``: group of each person, from 0; none may be empty.
    * ``value``: shape ``(n_people,)``: their value as a code from 0.
    * ``part``: shape ``(n_people,)``: as how much of a person each entry counts; one unless told.
    """
    key = group.astype(np.int64) * n_values + value.astype(np.int64)
    if part is None:
        pair, people = np.unique(key, return_counts=True)
    else:
        pair, own = np.unique(key, return_inverse=True)
        people = np.bincount(own.reshape(-1), part)
    start = np.searchsorted(pair, np.arange(n_groups + 1) * n_values)
    overall = np.bincount(value, part, n_values).astype(np.float64)
    return _of(pair % n_values, people.astype(np.float64), start, overall)


def counted(counts: Float, overall: Float | None = None) -> Crosstab:
    """Return what a dense table tells.

    * ``counts``: shape ``(n_groups, n_values)``, with a positive entry in every row.
    * ``overall``: shape ``(n_values,)``: what the groups are held against; all of them together
      unless told.
    """
    group, value = np.nonzero(counts > 0)
    start = np.searchsorted(group, np.arange(len(counts) + 1))
    overall = counts.sum(axis=0) if overall is None else overall
    return _of(value, counts[group, value], start, overall)


def _of(value: Wide, people: Float, start: Wide, overall: Float) -> Crosstab:
    distinct, size = np.diff(start), np.add.reduceat(people, start[:-1])
    return Crosstab(
        value=value,
        people=people,
        start=start,
        overall=overall,
        distinct=distinct,
        size=size,
        largest=np.maximum.reduceat(people, start[:-1]),
        share=people / np.repeat(size, distinct),
    )


def dominated(value: Float, group: Wide, n_groups: int, *, n: int = 2, k: float = 0.9) -> Flag:
    """Tell where the n largest contributions are more than the share k of the total.

    * ``value``: shape ``(n_people,)``: what each person contributes. Of negative numbers the size
      counts.
    * ``group``: shape ``(n_people,)``: group of each person, from 0.
    * ``n``: how many people contribute together.
    * ``k``: the largest acceptable share, between 0 and 1.

    Returns: shape ``(n_groups,)``; False for a group whose total is nothing.
    """
    largest, total = _largest(_sizes(value, group, n_groups), group, n_groups, n)
    # Contributions that are the share but for the last digit are not above it.
    return np.asarray((total > 0) & (largest > k * total * (1 + 1e-12)))


def estimable(value: Float, group: Wide, n_groups: int, *, p: float = 0.1, most: int = 1) -> Flag:
    """Tell where the second-largest contributor can estimate the largest to within p."""
    size = _sizes(value, group, n_groups)
    two, total = _largest(size, group, n_groups, 2 * most)
    one, _ = _largest(size, group, n_groups, most)
    return np.asarray((total > 0) & ((total - two) < p * one * (1 - 1e-12)))


def _sizes(value: Float, group: Wide, n_groups: int) -> Float:
    """Return contributions as parts of the largest of their group, whose sum is finite."""
    size, most = np.abs(value), np.zeros(n_groups)
    np.maximum.at(most, group, size)
    of = np.where(most > 0, most, 1.0)[group]
    return np.where(np.isinf(of), np.isinf(size), size / np.where(np.isinf(of), 1.0, of))


def _largest(size: Float, group: Wide, n_groups: int, n: int) -> tuple[Float, Float]:
    """Return the sum of the n largest contributions of each group, and of all of them."""
    order = np.lexsort((-size, group))
    size, group = size[order], group[order]
    first = np.searchsorted(group, np.arange(n_groups))
    rank = np.arange(len(group)) - first[group]
    total = np.bincount(group, weights=size, minlength=n_groups)
    top = rank < n
    largest = np.bincount(group[top], weights=size[top], minlength=n_groups)
    return largest.astype(np.float64), total.astype(np.float64)
