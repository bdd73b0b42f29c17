"""Who may be behind counts that make nobody certain: tables drawn from what the leaves say.

Unknown is which of some places each of ``n_people`` people is in: a place is a cell with a class.
What the rows of equations say of a table is an `Evidence`; before them each place has a weight, as
many people as are imagined there (Dirichlet). Chains of tables move one person at a time, and
accept by Metropolis and Hastings; what share of their tables has a first, a second, … person in a
place is how likely that person is.

References
----------
Diaconis and Sturmfels (1998), Algebraic algorithms for sampling from conditional distributions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from treeaudit.arrays import Float, Wide

__all__ = ["Evidence", "Posterior", "posterior", "rounded"]

_CHAINS, _ROUNDS, _FEWEST, _SETTLING = 16, 600, 150, 0.4
"""Chains; how often each looks at each person, and at least; the share of it that is not used."""
_ELSEWHERE = 0.2
"""Share of the moves that are proposed by weight, not by the most likely table."""


class Evidence(Protocol):
    """What the rows say of how many people are in them."""

    def gain(self, row: Wide, people: Wide) -> Float:
        """Return what one person more in rows with so many adds to the log-likelihood."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """How likely people are, the likeliest first.

    Attributes
    ----------
    place, nth
        The n-th person in a place, counted from 1; nobody who is in no table is listed.
    probability
        That there are at least so many people in the place.
    """

    place: Wide
    nth: Wide
    probability: Float

    def first(self, n: int) -> "Posterior":
        """Return the n likeliest people, as many as there are in the table."""
        return Posterior(place=self.place[:n], nth=self.nth[:n], probability=self.probability[:n])


def rounded(guess: Float, n_people: int, offset: float = 0.5) -> Wide:
    """Return the places of so many people that are spread as a guess is.

    Examples
    --------
    >>> rounded(np.array([1.2, 0.1, 1.7]), 3).tolist()
    [0, 2, 2]
    """
    ends = np.cumsum(guess)
    steps = (np.arange(n_people) + offset) / max(n_people, 1) * ends[-1]
    found: Wide = np.minimum(np.searchsorted(ends, steps, "right"), len(guess) - 1)
    return found


def posterior(
    row: Wide,
    evidence: Evidence,
    weight: Float,
    guess: Float,
    n_people: int,
    *,
    known: Wide,
    over: Callable[[], bool] = lambda: False,
    seed: int = 0,
) -> Posterior | None:
    """Return how likely people are, or None where time ended before the chains had settled.

    Parameters
    ----------
    row
        Shape ``(n_places, n_equations)``: the rows that each place is in.
    weight
        Shape ``(n_places,)``, above 0: people imagined in each place beforehand.
    guess
        Where chains start, and what they propose: people in each place, for instance the most
        likely.
    known
        Shape ``(n_rows,)``: people in each row who are known, and not asked for.

    Examples
    --------
    One row says that two people are in it; the two places are alike, and only one is in the row.

    >>> class Two:
    ...     def gain(self, row, people):
    ...         return np.where(row > 0, 0.0, np.where(people < 2, 20.0, -20.0))
    >>> found = posterior(np.array([[0], [1]]), Two(), np.ones(2), np.ones(2), 3,
    ...                   known=np.zeros(2, np.int64))
    >>> found.place.tolist(), found.nth.tolist(), found.probability.round(2).tolist()
    ([0, 0, 1], [1, 2, 1], [1.0, 1.0, 1.0])
    """
    rng = np.random.default_rng(seed)
    n_places, n_rows, chain = len(row), len(known), np.arange(_CHAINS)
    at = np.stack([rounded(guess, n_people, offset) for offset in rng.random(_CHAINS)])
    held = (np.bincount(
        (row[at] + n_rows * chain[:, None, None]).ravel(), minlength=n_rows * _CHAINS
    ) + np.tile(known, _CHAINS))  # fmt: skip
    here = np.bincount((at + n_places * chain[:, None]).ravel(), minlength=n_places * _CHAINS)
    offers = (1 - _ELSEWHERE) * guess / guess.sum() + _ELSEWHERE * weight / weight.sum()
    ends, of_offer = np.cumsum(offers), np.log(offers)
    steps, seen = _ROUNDS * n_people, []
    for step in range(steps):
        if step % 256 == 0 and over():
            steps = step
            break
        person, sure = rng.integers(0, n_people, _CHAINS), rng.random((2, _CHAINS))
        old = at[chain, person]
        new = np.minimum(np.searchsorted(ends, sure[0] * ends[-1]), n_places - 1)
        before, after = row[old], row[new]
        out, into = before + n_rows * chain[:, None], after + n_rows * chain[:, None]
        change = evidence.gain(after, held[into]) - evidence.gain(before, held[out] - 1)
        change[before == after] = 0
        leaves, enters = old + n_places * chain, new + n_places * chain
        score = change.sum(axis=1) + of_offer[old] - of_offer[new]
        score += np.log(weight[new] + here[enters])
        score -= np.log(weight[old] + here[leaves] - 1)
        moves = np.flatnonzero((np.log(sure[1]) < score) & (old != new))
        np.subtract.at(held, out[moves], 1)
        np.add.at(held, into[moves], 1)
        here[leaves[moves]] -= 1
        here[enters[moves]] += 1
        at[moves, person[moves]] = new[moves]
        if step % n_people == 0:
            seen.append(at.copy())
    if steps < _FEWEST * n_people:
        return None
    return _counted(np.concatenate(seen[int(_SETTLING * len(seen)) :]), n_places)


def _counted(tables: Wide, n_places: int) -> Posterior:
    """Return in what share of some tables each place has a first, a second, … person."""
    key = (tables + n_places * np.arange(len(tables))[:, None]).ravel()
    key, times = np.unique(key, return_counts=True)
    place = np.repeat(key % n_places, times)
    nth = np.arange(len(place)) - np.repeat(np.cumsum(times) - times, times) + 1
    most = int(nth.max(initial=1))
    person, found = np.unique(place * (most + 1) + nth, return_counts=True)
    order = np.argsort(-found, kind="stable")
    return Posterior(
        place=person[order] // (most + 1),
        nth=person[order] % (most + 1),
        probability=found[order] / len(tables),
    )
