"""How certain a label is once the attacker knows others, or what it is not.

All assignments of the labels to the people of a leaf are equally likely to an
attacker who knows nothing else. Every function takes counts of shape
``(n, n_classes)``, one row per leaf, and returns one number per row; rows
without people are not allowed.

References
----------
Machanavajjhala et al. (2006), l-diversity, section 3. Martin et al. (2007),
Worst-case background knowledge for privacy-preserving data publishing, section
2. Chen, LeFevre and Ramakrishnan (2007), Privacy skyline, section 4.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Wide
from treeaudit.attacks.background.view import (
    BackgroundDetails,
    Knowledge,
    KnownPeople,
    PublicPrior,
)
from treeaudit.attacks.distinct_people import InAnyTree
from treeaudit.findings.details import People, Share
from treeaudit.table.table import Table


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Vectors:
    """Different count vectors, and how often each occurs."""

    counts: Wide  # Shape `(n_vectors, n_classes)`: people per class, largest first
    leaves: Wide  # Shape `(n_vectors,)`: leaves with these counts

    def __len__(self) -> int:
        """Return how many different vectors there are."""
        return len(self.leaves)

    @property
    def size(self) -> Wide:
        """People in one leaf of each vector."""
        total: Wide = self.counts.sum(axis=1)
        return total

    @property
    def mixed(self) -> "_Vectors":
        """The vectors with people of more than one class."""
        chosen = self.counts[:, 0] < self.size
        return _Vectors(counts=self.counts[chosen], leaves=self.leaves[chosen])


def distinct_vectors(counts: npt.ArrayLike, leaves: npt.ArrayLike | None = None) -> _Vectors:
    """Sort the counts of each leaf and join the leaves that have the same."""
    table = -np.sort(-np.atleast_2d(np.asarray(counts)).astype(np.int64), axis=1)
    times = np.ones(len(table), np.int64) if leaves is None else np.asarray(leaves, np.int64)
    if not len(table):
        return _Vectors(counts=table, leaves=times)
    order = np.lexsort(table.T[::-1])
    table = table[order]
    first = np.flatnonzero(np.r_[True, (table[1:] != table[:-1]).any(axis=1)])
    return _Vectors(counts=table[first], leaves=np.add.reduceat(times[order], first))


def vectors_of(table: Table, tree: int | None = None) -> _Vectors:
    """Return the count vectors of all leaves whose counts are people; of one tree where it is told.

    The largest class tells the counts of a leaf of at most two labels; the
    trees are only looked at again where a leaf holds three. Of one tree in
    persons these are left out: its class counts are records.
    """
    rows = slice(0, len(table)) if tree is None else table.rows_of(tree)
    majority, distinct = table.labels.majority[rows], table.labels.distinct[rows]
    known = ~np.isnan(majority)
    few = known & (distinct <= 2)
    largest, size = majority[few].astype(np.int64), table.size[rows][few]
    width = int(size.max(initial=0)) + 1
    pairs, leaves = np.unique(size * width + largest, return_counts=True)
    size, largest = np.divmod(pairs, width)
    parts = [distinct_vectors(np.column_stack([largest, size - largest]), leaves)]
    many = rows.start + np.flatnonzero(known & (distinct > 2))
    if tree is not None and table.in_persons:
        many = many[:0]
    for _, here in table.by_tree(many):
        people = table.people(many[here])
        parts.append(distinct_vectors(people[~np.isnan(people).any(axis=1)]))
    return _joined(parts)


def _joined(parts: list[_Vectors]) -> _Vectors:
    width = max(part.counts.shape[1] for part in parts)
    padded = [np.pad(p.counts, ((0, 0), (0, width - p.counts.shape[1]))) for p in parts]
    return distinct_vectors(np.concatenate(padded), np.concatenate([p.leaves for p in parts]))


def certainty_by_known(counts: npt.ArrayLike, known: int) -> Float:
    """Return how certain a label can become when ``known`` others are known."""
    table = np.asarray(counts, dtype=np.float64)
    n = table.sum(axis=1, keepdims=True)
    left = n - np.minimum(known, n - table)
    certainty: Float = np.where(table > 0, table / np.maximum(left, 1), 0.0).max(axis=1)
    return certainty


def share_certain_by_random(counts: npt.ArrayLike, known: int) -> Float:
    """Return how likely somebody is disclosed when ``known`` random others are known.

    Somebody of the most frequent label, as the best choice of others is for them
    too: it is never exceeded. Everybody of another label has to be among the known:
    with d of them out of n − 1 others that has the probability Π (known − i)/(n − 1 − i)
    over i < d.
    """
    table = np.asarray(counts, dtype=np.float64)
    n, most = table.sum(axis=1), table.max(axis=1)
    drawn = np.minimum(known, n - 1)
    others = n - most
    chance = (others <= drawn).astype(np.float64)
    for i in range(int(np.where(chance > 0, others, 0).max(initial=0))):
        factor = (drawn - i) / np.maximum(n - 1 - i, 1)
        chance *= np.where(i < others, np.clip(factor, 0, 1), 1.0)
    share: Float = most / n * chance
    return share


def certainty_by_negations(counts: npt.ArrayLike, negations: int) -> Float:
    """Return how certain a label can become when others are ruled out for the target."""
    return certainty_by_skyline(counts, negations, 0, 0)


def certainty_by_skyline(
    counts: npt.ArrayLike, negations: int, known: int, implications: int
) -> Float:
    """Return how certain a label can become from three kinds of knowledge at once."""
    table = -np.sort(-np.asarray(counts, dtype=np.float64), axis=1)
    n = table.sum(axis=1)
    total = np.pad(np.cumsum(table, axis=1), ((0, 0), (1, 0)))
    few = min(negations, table.shape[1] - 1)
    best = np.zeros(len(table))
    for place in range(table.shape[1]):
        mine = table[:, place]
        # The largest classes beside this one; it may be among the largest itself.
        out = total[:, few + 1] - mine if place < few else total[:, few]
        left = n - np.minimum(known, n - mine - out)
        wrong = left - mine - out
        for i in range(1, implications + 1):
            wrong = wrong * np.clip((left - mine - i) / np.maximum(left - i, 1), 0, 1)
        best = np.maximum(best, np.where(mine > 0, mine / np.maximum(mine + wrong, 1), 0))
    return best


def certainty_by_implications(vectors: _Vectors, most: int) -> Float:
    """Return how certain some label can become from 0, 1, …, ``most`` implications."""
    if not len(vectors):
        return np.zeros(most + 1)
    false = all_false(vectors.counts, most + 1)
    share = vectors.counts[:, 0] / vectors.size
    # A leaf can be used once, so that more copies than sentences are of no use.
    copies = np.minimum(vectors.leaves, most + 1)
    elsewhere = np.repeat(false, copies, axis=0)
    here = np.repeat(false / share[:, None], copies, axis=0)
    while len(here) > 1:
        even = len(here) - len(here) % 2
        one, two = slice(0, even, 2), slice(1, even, 2)
        either = np.minimum(
            _least_product(here[one], elsewhere[two], first=1),
            _least_product(here[two], elsewhere[one], first=1),
        )
        both = _least_product(elsewhere[one], elsewhere[two], first=0)
        here = np.concatenate([either, here[even:]])
        elsewhere = np.concatenate([both, elsewhere[even:]])
    certainty: Float = 1 / (1 + here[0, 1:])
    return certainty


def all_false(counts: npt.ArrayLike, most: int) -> Float:
    """Return the smallest probability that some statements about a leaf are all false.

    A statement says "this person has this label". The worst ones concern the
    most frequent labels: person i is said to have one of the k_i largest, with
    k_0 ≥ k_1 ≥ …, and the probability is Π (n − i − S_k) / (n − i) with S_k
    the sum of the k largest counts.
    """
    table = np.asarray(counts, dtype=np.float64)
    n = table.sum(axis=1)
    largest = np.pad(np.cumsum(table, axis=1), ((0, 0), (1, 0)))
    width = table.shape[1]
    # least[k][j]: j statements left, at most k of them about the next person.
    least = np.ones((most + 1, most + 1, len(table)))
    for person in range(most - 1, -1, -1):
        inside = person < n
        left = np.maximum(n - person, 1)
        after, least = least, np.ones_like(least)
        for k in range(1, most + 1):
            wrong = np.maximum(left - largest[:, min(k, width)], 0) / left
            least[k, :k] = least[k - 1, :k]
            found = np.where(inside, wrong * after[k, : most + 1 - k], 1.0)
            least[k, k:] = np.minimum(least[k - 1, k:], found)
    return np.ascontiguousarray(least[most].T)


def _least_product(one: Float, other: Float, *, first: int) -> Float:
    """Share out statements over two leaves, at least ``first`` of them in the one."""
    result = np.full(one.shape, np.inf)
    width = one.shape[1]
    for i in range(first, width):
        product = one[:, i : i + 1] * other[:, : width - i]
        result[:, i:] = np.minimum(result[:, i:], product)
    return result


_PIECES = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1))


def knowledge_details(
    vectors: _Vectors,
    mine: _Vectors,
    disclosed: Wide,
    leaves: Wide,
    *,
    not_countable: int,
    total: int,
    by_one: InAnyTree,
    by_most: InAnyTree,
    known: KnownPeople | None,
    prior: PublicPrior | None,
) -> BackgroundDetails:
    """Return what follows from the counts for each amount of knowledge, with what was given."""
    steps, mixed = range(len(disclosed)), vectors.mixed
    people = mine.size * mine.leaves
    some = max(int(people.sum()), 1)
    counts = mixed.counts
    by_known: list[float] = []
    by_negations: list[float] = []
    by_implications: list[float] = []
    skyline: list[Knowledge] = []
    if len(mixed):
        labels = int((counts > 0).sum(axis=1).max())
        by_known = [certainty_by_known(counts, r).max() for r in steps]
        by_negations = [certainty_by_negations(counts, r).max() for r in steps[:labels]]
        by_implications = certainty_by_implications(mixed, steps[-1]).tolist()
        skyline = [
            Knowledge(
                negations=n,
                known=r,
                implications=k,
                certainty=Share(certainty_by_skyline(counts, n, r, k).max()),
            )
            for n, r, k in _PIECES
        ]
    return BackgroundDetails(
        tree=by_one.tree if by_one.worst else by_most.tree,
        disclosed_by_one_in_any_tree=by_one,
        disclosed_by_most_in_any_tree=by_most,
        people_disclosed_by_known=tuple(map(People, disclosed.tolist())),
        leaves_by_known=tuple(map(People.leaves, leaves.tolist())),
        leaves_not_countable=not_countable,
        people_total=People(total),
        people_countable=People(int(people.sum())),
        share_certain_random_known=_shares(
            float(share_certain_by_random(mine.counts, r) @ people) / some for r in steps
        ),
        mean_certainty_by_known=_shares(
            float(certainty_by_known(mine.counts, r) @ people) / some for r in steps
        ),
        mixed_leaves=People.leaves(int(mixed.leaves.sum())),
        mixed_people=People(int((mine.mixed.size * mine.mixed.leaves).sum())),
        worst_case_certainty_by_known=_shares(by_known),
        certainty_by_negations=_shares(by_negations),
        certainty_by_implications=_shares(by_implications),
        skyline=tuple(skyline),
        known=known,
        prior=prior,
    )


def _shares(values: Iterable[float]) -> tuple[Share, ...]:
    return tuple(map(Share, values))
