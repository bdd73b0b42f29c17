"""Probable people behind inexact counts: the likeliest table, and samples of the posterior.

Unknown is which of some places each of ``n_people`` people is in: a place is a cell with a class.
What the rows of equations say of a table is an `Evidence`; before them each place has a weight, as
many people as are imagined there (Dirichlet). Expectation and maximisation finds the likeliest
table. From it Markov chains of tables start: each move takes one person out and puts them back by
probability, among the place where they were and some that are tried. The share of the tables that
has a first, a second, … person in a place is how likely that person is.

References
----------
Andrieu, Lee and Vihola (2018), Uniform ergodicity of the iterated conditional SMC and geometric
ergodicity of particle Gibbs samplers. Richardson (1972), Bayesian-based iterative method of image
restoration. Lucy (1974), An iterative technique for the rectification of observed distributions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from treeaudit.arrays import Float, Wide

_CHAINS, _TRIED = 16, 8
"""Chains, and other places that are tried when one looks at a person."""
_MOST, _FEWEST, _SETTLING = 160, 40, 0.4
"""How often a chain looks at each person, and at least; the share of it that is not used."""
_A_SECOND, _BESIDES = 60_000_000, 30
"""Places times equations in a second, and equations that a look costs besides."""
_ELSEWHERE = 0.2
"""Share of the moves that are proposed by weight, not by the most likely table."""


class Evidence(Protocol):
    """What the rows say of how many people are in them."""

    @property
    def equal_rows(self) -> Wide:
        """Return for each row a row with the same likelihood of any number of people."""

    def gain(self, row: Wide, people: Wide) -> Float:
        """Return what one person more in rows with so many adds to the log-likelihood."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """How likely people are, the likeliest first."""

    # The n-th person in a place, counted from 1; nobody who is in no table is listed
    place: Wide
    nth: Wide
    probability: Float  # That there are at least so many people in the place

    def first(self, n: int) -> "Posterior":
        """Return the n likeliest people, as many as there are in the table."""
        return Posterior(place=self.place[:n], nth=self.nth[:n], probability=self.probability[:n])


def _spread(guess: Float, n_people: int, offset: float = 0.5) -> Wide:
    """Return the places of so many people that are spread as a guess is."""
    cumulated = np.cumsum(guess)
    steps = (np.arange(n_people) + offset) / max(n_people, 1) * cumulated[-1]
    places: Wide = np.minimum(np.searchsorted(cumulated, steps, "right"), len(guess) - 1)
    return places


def affordable_rounds(seconds: float, n_people: int, n_equations: int) -> int:
    """Return how often chains can look at each person; 0 where that is not often enough.

    Told from sizes alone, so that the same file gives the same answer on every machine.
    """
    looks = seconds * _A_SECOND / (_CHAINS * (_TRIED + 1) * (n_equations + _BESIDES))
    rounds = min(int(looks / n_people), _MOST)
    return rounds if rounds >= _FEWEST else 0


def posterior(
    row: Wide,
    evidence: Evidence,
    weight: Float,
    guess: Float,
    n_people: int,
    *,
    known: Wide,
    rounds: int = _MOST,
    over: Callable[[], bool] = lambda: False,
    seed: int = 0,
) -> Posterior | None:
    """Return how likely people are, or None where time ended before that.

    ``row``: shape ``(n_places, n_equations)``: the rows that each place is in. ``weight``: shape
    ``(n_places,)``, above 0: people imagined in each place beforehand. ``guess``: where chains
    start, and what they propose: people in each place, for instance the most likely. ``known``:
    shape ``(n_rows,)``: people in each row who are known, and not asked for. ``rounds``: how often
    each chain looks at each person, see `affordable_rounds`.
    """
    rng = np.random.default_rng(seed)
    used = np.zeros(len(known), dtype=np.bool_)
    used[row] = True
    # Rows that no place is in are left out: what is looked up stays near the processor.
    equal_rows, known, row = evidence.equal_rows[used], known[used], (np.cumsum(used) - 1).take(row)
    n_places, n_rows, chain = len(row), len(known), np.arange(_CHAINS)
    first = n_rows * chain[:, None]
    at = np.stack([_spread(guess, n_people, offset) for offset in rng.random(_CHAINS)])
    people = (np.bincount(
        (row[at] + n_rows * chain[:, None, None]).ravel(), minlength=n_rows * _CHAINS
    ) + np.tile(known, _CHAINS))  # fmt: skip
    here = np.bincount((at + n_places * chain[:, None]).ravel(), minlength=n_places * _CHAINS)
    offers = (1 - _ELSEWHERE) * guess / guess.sum() + _ELSEWHERE * weight / weight.sum()
    cumulated, of_offer = np.cumsum(offers), np.log(offers)
    # What a person more adds is looked up: the cell of a row moves on with every person in it.
    gains, begins, moves = _gains(evidence, equal_rows, n_people + int(known.max(initial=0)))
    moves = np.tile(moves, _CHAINS)
    cell = np.tile(begins, _CHAINS) + moves * people
    gain = gains.take(cell)
    place = np.empty((_CHAINS, _TRIED + 1), dtype=np.int64)
    # The fewer bytes a row has, the fewer are fetched: this is where the time goes.
    small = row.astype(np.min_scalar_type(n_rows))
    some = np.empty((*place.shape, row.shape[1]), dtype=small.dtype)
    into = np.empty(some.shape, dtype=np.int64)
    won = np.empty(into.shape)
    tables = []
    for step in range(rounds * n_people):
        if step % 64 == 0 and over():
            return None
        person = rng.integers(0, n_people, _CHAINS)
        tried = np.searchsorted(cumulated, rng.random((_CHAINS, _TRIED)) * cumulated[-1])
        place[:, 0] = old = at[chain, person]
        np.minimum(tried, n_places - 1, out=place[:, 1:])
        # Clipped, though nothing is outside: else numpy writes a copy first.
        np.take(small, place, axis=0, out=some, mode="clip")
        np.add(some, first[:, :, None], out=into)
        left = into[:, 0]
        there = cell.take(left) - moves.take(left)
        cell[left] = there
        gain[left] = gains.take(there)
        here[old + n_places * chain] -= 1
        score = gain.take(into, out=won, mode="clip").sum(axis=2)
        score += np.log(weight.take(place) + here.take(place + n_places * chain[:, None]))
        score -= of_offer.take(place)
        share = np.exp(score - score.max(axis=1, keepdims=True)).cumsum(axis=1)
        chosen = (share < rng.random((_CHAINS, 1)) * share[:, -1:]).sum(axis=1)
        new = place[chain, chosen]
        entered = into[chain, chosen]
        there = cell.take(entered) + moves.take(entered)
        cell[entered] = there
        gain[entered] = gains.take(there)
        here[new + n_places * chain] += 1
        at[chain, person] = new
        if step % n_people == 0:
            tables.append(at.copy())
    return _counted(np.concatenate(tables[int(_SETTLING * len(tables)) :]), n_places)


def _gains(evidence: Evidence, alike: Wide, most: int) -> tuple[Float, Wide, Wide]:
    """Return what one person more adds to 0, 1, … people, and where and how a row reads it.

    The gains stand once for all rows that are alike. A person moves not at all where people add the
    same however many there are, since a place may be in such a row several times.
    """
    distinct, which = np.unique(alike, return_inverse=True)
    gains = evidence.gain(*np.broadcast_arrays(distinct[:, None], np.arange(most + 1)))
    moves = (gains != gains[:, :1]).any(axis=1)
    return gains.ravel(), which * (most + 1), moves[which].astype(np.int64)


def _counted(tables: Wide, n_places: int) -> Posterior:
    """Return in what share of some tables each place has a first, a second, … person."""
    key = (tables + n_places * np.arange(len(tables))[:, None]).ravel()
    key, times = np.unique(key, return_counts=True)
    place = np.repeat(key % n_places, times)
    nth = np.arange(len(place)) - np.repeat(np.cumsum(times) - times, times) + 1
    most = int(nth.max(initial=1))
    person, result = np.unique(place * (most + 1) + nth, return_counts=True)
    order = np.argsort(-result, kind="stable")
    return Posterior(
        place=person[order] // (most + 1),
        nth=person[order] % (most + 1),
        probability=result[order] / len(tables),
    )


_NOBODY = 0.1
"""People in a place that is left out from then on, as a share of those in a place on average."""


def likeliest_table(
    row: Wide,
    told: Float,
    n_people: int,
    over: Callable[[], bool] = lambda: False,
    rounds: int = 100,
) -> Float:
    """Return how many people are in each place, so that counts as these are the likeliest.

    With Poisson counts of mean ``A x`` each round takes x to ``x * A'(told / A x) / n_equations``;
    whoever has reached 0 stays there. Where nobody is counted, all places are as likely.

    ``row``: shape ``(n_places, n_equations)``: the rows that each place is in, one an equation.
    ``told``: shape ``(n_rows,)``: about how many people are in a row. ``over``: tells whether to
    stop before that. ``rounds``: how many.
    """
    from scipy.sparse import csr_array

    n_places, n_equations = row.shape
    start = np.arange(0, row.size + 1, max(n_equations, 1), dtype=np.int32)
    shape = (n_places, len(told))
    matrix = csr_array((np.ones(row.size), row.ravel().astype(np.int32), start), shape=shape)
    result = np.zeros(n_places)
    at, guess = np.arange(n_places), np.full(n_places, n_people / max(n_places, 1))
    for i in range(rounds):
        if over():
            break
        ratio = told / np.maximum(matrix.T @ guess, 1e-12)
        guess = guess * (matrix @ ratio) / n_equations
        if i == rounds - 1 or i % 10 == 9:
            stays = guess > _NOBODY * n_people / n_places
            at, guess, matrix = at[stays], guess[stays], matrix[stays]
    result[at] = guess
    total = result.sum()
    return result * (n_people / total) if total else np.full(n_places, n_people / max(n_places, 1))


def posterior_of_one(row: Wide, evidence: Evidence, weight: Float, known: Wide) -> Posterior:
    """Return where the one person is whom nobody knows yet."""
    score = np.log(weight) + evidence.gain(row, known[row]).sum(axis=1)
    share = np.exp(score - score.max())
    share /= share.sum()
    order = np.argsort(-share, kind="stable")
    return Posterior(place=order, nth=np.ones(len(order), np.int64), probability=share[order])
