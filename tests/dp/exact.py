"""How far apart two laws are at one answer: exact where a fraction tells, else to 50 digits.

Decimals are rounded correctly to 60 digits, also by ``exp`` and ``ln``, and nothing is
subtracted but logarithms. With less than a million terms each of these is off by less
than 1e-50; `SLACK` is more than a billion of them.
"""

import math
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np

__all__ = [
    "SLACK",
    "Loss",
    "laplace_loss",
    "mechanism_loss",
    "permute_and_flip_loss",
    "sample_law",
]

SLACK = Fraction(1, 10**40)
_DIGITS = Context(prec=60)
_GONE = 20_000
"""exp(-20000) is less than any error here."""


class Loss:
    """A sum of logarithms of ratios: what fractions tell, and the rest."""

    def __init__(self) -> None:
        self.exact, self.rest = Fraction(0), Decimal(0)

    def add(self, exact: Fraction, ratio: tuple[Decimal, Decimal] = (Decimal(1), Decimal(1))):
        """Add a fraction and the logarithm of a ratio."""
        self.exact += exact
        with localcontext(_DIGITS):
            if ratio[0] != ratio[1]:
                self.rest += ratio[0].ln() - ratio[1].ln()

    @property
    def total(self) -> Fraction:
        """The sum, off by less than `SLACK`."""
        return self.exact + Fraction(self.rest)


def _weight(distance: int, rate: Fraction) -> Decimal:
    exponent = distance * rate
    if exponent > _GONE:
        return Decimal(0)
    return (-(Decimal(exponent.numerator) / Decimal(exponent.denominator))).exp()


def laplace_loss(loss: Loss, one: np.ndarray, other: np.ndarray, answer: np.ndarray, rate) -> None:
    """Add ln P(answer | one) - ln P(answer | other) of counts with discrete Laplace noise."""
    further = np.abs(answer - other).sum() - np.abs(answer - one).sum()
    loss.add(rate * int(further))


def mechanism_loss(
    loss: Loss,
    one: tuple[Sequence[int], Sequence[int], int],
    other: tuple[Sequence[int], Sequence[int], int],
    rate: Fraction,
) -> None:
    """Add the same of the exponential mechanism: distances, weights and the one chosen, of each.

    The weight of the one chosen is left out, as where one of its points is drawn next.
    """
    with localcontext(_DIGITS):
        mass = [
            sum((n * _weight(d, rate) for d, n in zip(*side[:2], strict=True)), Decimal(0))
            for side in (other, one)
        ]
    loss.add(rate * (other[0][other[2]] - one[0][one[2]]), (mass[0], mass[1]))


def permute_and_flip_loss(
    loss: Loss, one: Sequence[int], other: Sequence[int], chosen: int, rate: Fraction
) -> None:
    """Add the same of permute-and-flip, from the distances to the best."""
    mean = [_share(side, chosen, rate) for side in (one, other)]
    loss.add(rate * (other[chosen] - one[chosen]), (mean[0], mean[1]))


def sample_law(n: int, rate: Fraction, least: int) -> dict[int, Decimal]:
    """Return the chances of what is told of n people: how many are in a sample, or 0 if few."""
    with localcontext(_DIGITS):
        p = Decimal(rate.numerator) / Decimal(rate.denominator)
        law = {x: math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)}
        few = sum((law[x] for x in range(min(least, n + 1))), Decimal(0))
    return {0: few} | {x: law[x] for x in range(least, n + 1)}


def _share(distance: Sequence[int], chosen: int, rate: Fraction) -> Decimal:
    """Return the mean of 1 / (1 + N), N being how many other coins come up."""
    with localcontext(_DIGITS):
        up = [_weight(d, rate) for i, d in enumerate(distance) if i != chosen]
        surely = up.count(Decimal(1))
        chances = [Decimal(1)]
        for heads in up:
            if heads in (0, 1):
                continue
            tails = 1 - heads
            chances = [
                a * tails + b * heads
                for a, b in zip([*chances, Decimal(0)], [Decimal(0), *chances], strict=True)
            ]
        return sum((c / (1 + surely + n) for n, c in enumerate(chances)), Decimal(0))
