"""What a public statistic and the counts of a leaf say together about a person.

People of a leaf with the same prior are exchangeable, so they are counted by
kind: a row of a public table of class shares. Given that exactly k people of a
leaf have a label, the probability that a certain one has it is a conditional
Bernoulli probability. It does not change when all odds are multiplied by the
same number; that number is chosen so that k is what one would expect, and then
the probability of k is never tiny and a Fourier transform gives it to twelve
digits, however large the leaf.

References
----------
Wakabayashi et al. (2024), section 2.2.3 (Umeko). Li, Li and Zhang (2010),
Modeling and integrating background knowledge in data anonymization, sections 3
and 4 (exact inference and the Ω-estimate).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Wide

_CELLS = 1_000_000
"""How many complex numbers are held at a time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Posterior:
    """Probabilities of labels, per leaf and kind of person.

    * ``probability``: shape ``(n_leaves, n_kinds, n_classes)``; 0 where nobody of the kind is in
      the leaf, or the prior contradicts the counts.
    * ``exact``: shape ``(n_leaves,)``: False where it is the Ω-estimate.
    * ``possible``: shape ``(n_leaves,)``: False where the counts cannot be if the prior is true.
    """

    probability: Float
    exact: Flag
    possible: Flag


def posterior(counts: npt.ArrayLike, people: npt.ArrayLike, share: npt.ArrayLike) -> _Posterior:
    """Return how likely each label is for each kind of person in each leaf."""
    table = np.asarray(counts, dtype=np.int64)
    kinds = np.asarray(people, dtype=np.int64)
    prior = np.asarray(share, dtype=np.float64)
    there = table > 0
    exact = there.sum(axis=1) <= 2
    found = np.zeros((*kinds.shape, table.shape[1]))
    possible = np.ones(len(table), np.bool_)
    many = np.flatnonzero(~exact)
    if len(many):
        found[many], possible[many] = omega_estimate(table[many], kinds[many], prior)
    first = there.argmax(axis=1)
    last = table.shape[1] - 1 - there[:, ::-1].argmax(axis=1)
    pairs = first * table.shape[1] + last
    for pair in np.unique(pairs[exact]).tolist():
        here = np.flatnonzero(exact & (pairs == pair))
        a, b = divmod(pair, table.shape[1])
        # Of one label alone everybody has it, whatever the odds.
        either = prior[:, a] + prior[:, b]
        odds = np.where(either > 0, prior[:, a] / np.where(either > 0, either, 1), np.nan)
        one, possible[here] = posterior_of_two(table[here, a], kinds[here], odds)
        found[here, :, a] = one
        if a != b:
            found[here, :, b] = np.where((kinds[here] > 0) & possible[here, None], 1 - one, 0)
    return _Posterior(probability=found, exact=exact, possible=possible)


def omega_estimate(counts: Wide, people: Wide, share: Float) -> tuple[Float, Flag]:
    """Return P(label) ∝ count · prior / (sum of the priors in the leaf)."""
    expected = people @ share
    possible: Flag = ((expected > 0) | (counts == 0)).all(axis=1)
    weight = counts / np.where(expected > 0, expected, 1)
    product = weight[:, None, :] * share[None, :, :]
    total = product.sum(axis=2, keepdims=True)
    possible &= ((total[:, :, 0] > 0) | (people == 0)).all(axis=1)
    here = (people > 0)[:, :, None] & possible[:, None, None] & (total > 0)
    return np.where(here, product / np.where(total > 0, total, 1), 0.0), possible


def among_others(counts: npt.ArrayLike, share: npt.ArrayLike, others: npt.ArrayLike) -> Float:
    """Return how likely each label is for one person among others who are all alike.

    P(label) ∝ count · prior of the person / prior of the others. It is exact
    for any number of classes. With the same prior for everybody it is the
    share of the label in the leaf.
    """
    table = np.asarray(counts, dtype=np.float64)
    prior = np.asarray(share, dtype=np.float64)
    rest = np.asarray(others, dtype=np.float64)
    ratio: Float = np.where(rest > 0, prior / np.where(rest > 0, rest, 1), 0.0)
    product: Float = table[:, None, :] * ratio[None, :, :]
    # Only one of them can have a label that the others cannot have.
    only: Flag = (table > 0) & (rest <= 0)
    forced = np.where(only & (table == 1), 1.0, 0.0)[:, None, :] * (prior > 0)
    some: Flag = np.asarray(only.any(axis=1))
    product = np.where(some[:, None, None], forced, product)
    twice: Flag = (only.sum(axis=1) > 1) | (only & (table > 1)).any(axis=1)
    product = np.where(twice[:, None, None], 0.0, product)
    total = product.sum(axis=2, keepdims=True)
    found: Float = np.where(total > 0, product / np.where(total > 0, total, 1), 0.0)
    return found


def posterior_of_two(
    having: npt.ArrayLike, people: npt.ArrayLike, share: npt.ArrayLike
) -> tuple[Float, Flag]:
    """Return how likely people of each kind have a label that ``having`` of them have."""
    k = np.asarray(having, dtype=np.int64)
    kinds = np.asarray(people, dtype=np.int64)
    prior = np.asarray(share, dtype=np.float64)
    neither, never, always = np.isnan(prior), prior == 0, prior == 1
    open_kinds = ~(neither | never | always)
    free, left = kinds[:, open_kinds], k - kinds[:, always].sum(axis=1)
    n = free.sum(axis=1)
    possible = (kinds[:, neither].sum(axis=1) == 0) & (left >= 0) & (left <= n)
    found = np.zeros(kinds.shape)
    found[:, always] = 1.0
    certain = np.where(left == n, 1.0, 0.0)[:, None] * np.ones(free.shape)
    mixed = np.flatnonzero(possible & (left > 0) & (left < n))
    for part in _blocks(mixed, n):
        certain[part] = _conditional(left[part], free[part], prior[open_kinds])
    found[:, open_kinds] = certain
    found[~possible] = 0
    return np.where(kinds > 0, found, 0.0), possible


def _blocks(leaves: Index, n: Wide) -> list[Index]:
    """Put leaves of similar size together, as many as fit into memory."""
    order = leaves[np.argsort(n[leaves], kind="stable")]
    blocks, begin = [], 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and (end + 1 - begin) * int(n[order[end]]) <= _CELLS:
            if int(n[order[end]]) > 2 * int(n[order[begin]]) + 8:
                break
            end += 1
        blocks.append(order[begin:end])
        begin = end
    return blocks


def _conditional(having: Wide, people: Wide, share: Float) -> Float:
    """Return the conditional Bernoulli probabilities of leaves that hold both labels."""
    odds = np.log(share) - np.log1p(-share)
    tilted = _chance(odds + _tilt(having, people, odds)[:, None])
    # An odd number of points, so that no factor 1 - p + p·w is exactly 0.
    points = int(people.sum(axis=1).max()) // 2 * 2 + 3
    angle = 2 * np.pi * np.arange((points + 1) // 2) / points
    circle = np.exp(1j * angle)
    total = np.zeros((len(people), len(circle)), dtype=np.complex128)
    for kind in range(people.shape[1]):
        total += people[:, kind, None] * np.log1p(tilted[:, kind, None] * (circle - 1))
    twice = np.where(np.arange(len(circle)) > 0, 2.0, 1.0)
    total -= 1j * angle * having[:, None]
    whole = (np.exp(total).real * twice).sum(axis=1)
    found = np.zeros(people.shape)
    for kind in range(people.shape[1]):
        p = tilted[:, kind, None]
        without = np.exp(total - np.log1p(p * (circle - 1)) + 1j * angle)
        found[:, kind] = tilted[:, kind] * (without.real * twice).sum(axis=1) / whole
    return np.clip(found, 0.0, 1.0)


def _tilt(having: Wide, people: Wide, odds: Float) -> Float:
    """Return what to add to all log odds so that as many are expected as there are."""
    n = people.sum(axis=1)
    wanted = np.log(having) - np.log(n - having)
    low, high = wanted - odds.max(), wanted - odds.min()
    for _ in range(40):
        middle = (low + high) / 2
        few = (people * _chance(odds + middle[:, None])).sum(axis=1) < having
        low, high = np.where(few, middle, low), np.where(few, high, middle)
    tilt: Float = (low + high) / 2
    return tilt


def _chance(log_odds: Float) -> Float:
    return 1 / (1 + np.exp(-np.clip(log_odds, -700, 700)))
