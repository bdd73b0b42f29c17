"""Numbers of people in words, and what of them may leave the room.

A report lists small groups, which is what its readers came for and what nobody
else may see. A release-safe copy says "fewer than k" for every small number of
people and rounds every other one to a multiple of k: a single hidden number
could otherwise be had back by subtracting the shown ones from their total.
"""

import math
import re
from dataclasses import dataclass

from markupsafe import Markup

from treeaudit.findings.numbers import (
    Agreeing,
    Count,
    Either,
    People,
    Phrase,
    Prose,
    Score,
    Share,
    Strong,
)
from treeaudit.reports.plain_text import plain
from treeaudit.stats import Estimate

__all__ = ["Level", "Numbers", "percent"]

_BINS = (1, 2, 5, 10, 50)
_STEPS = (0.05, 0.1, 0.2, 0.25, 0.5)
_WHOLE = re.compile(r"(?<![\w.,])\d+(?![\w%]|[.,]\d)")


def percent(ratio: float) -> str:
    """Return a share in percent that never rounds to nobody or to everybody.

    Examples
    --------
    >>> percent(1), percent(0.058), percent(0.9999), percent(0.00001)
    ('100%', '5.8%', 'over 99.9%', 'under 0.1%')
    """
    if ratio in (0, 1):
        return f"{ratio:.0%}"
    if ratio < 0.0005:
        return "under 0.1%"
    return "over 99.9%" if ratio > 0.9995 else f"{ratio:.1%}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Group sizes that share a colour.

    Attributes
    ----------
    low, high
        People, both inclusive; ``high`` is None where there is no bound.
    shade
        Name of the colour: ``r4`` for the most exposed to ``r0``.
    """

    low: int
    high: int | None
    shade: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """How numbers of people are written in one report.

    Attributes
    ----------
    k
        The smallest number that may be told.
    safe
        Whether the report may leave the room.
    """

    k: int
    safe: bool = False

    def hides(self, n: int) -> bool:
        """Tell whether a number of people is not to be told."""
        return self.safe and 0 < n < self.k

    def rounded(self, n: int) -> int:
        """Return the number that other numbers may be computed from.

        Examples
        --------
        >>> [Numbers(k=5, safe=True).rounded(n) for n in (0, 1, 5, 7, 8)]
        [0, 0, 5, 5, 10]
        """
        if not self.safe:
            return n
        return 0 if n < self.k else (2 * n + self.k) // (2 * self.k) * self.k

    def count(self, n: int) -> str:
        """Return a number of people, or of leaves that stand for people.

        Examples
        --------
        >>> Numbers(k=5).count(1888), Numbers(k=5, safe=True).count(3)
        ('1,888', 'fewer than 5')
        """
        return f"fewer than {self.k:,}" if self.hides(n) else f"{self.rounded(n):,}"

    def noun(self, n: int, one: str, many: str) -> str:
        """Return the number with its noun in the right form.

        Examples
        --------
        >>> Numbers(k=5).noun(1, "leaf", "leaves")
        '1 leaf'
        """
        return f"{self.count(n)} {one if n == 1 and not self.hides(n) else many}"

    def people(self, n: int) -> str:
        """Return a number of people.

        Examples
        --------
        >>> Numbers(k=5).people(1), Numbers(k=5, safe=True).people(1)
        ('1 person', 'fewer than 5 people')
        """
        return self.noun(n, "person", "people")

    def share(self, part: int, whole: int) -> str:
        """Return a share in percent; in a safe copy, of the numbers it shows.

        Examples
        --------
        >>> Numbers(k=5).share(1, 3), Numbers(k=5, safe=True).share(2, 100)
        ('33.3%', 'under 5.0%')
        """
        whole = max(self.rounded(whole), 1)
        if self.hides(part):
            return f"under {percent(min(1.0, self.k / whole))}"
        return percent(min(1.0, self.rounded(part) / whole))

    def estimate(self, found: Estimate) -> Estimate | None:
        """Return a share of people as it may be told.

        A safe copy rounds it so that no step stands for fewer than k people, the
        interval outwards: an exact interval would tell how many people it rests on.

        Returns
        -------
        Estimate or None
            None where the share rests on too few people.

        Examples
        --------
        >>> exact = Estimate(value=0.61, low=0.42, high=0.76, n=28)
        >>> share = Numbers(k=5, safe=True).estimate(exact)
        >>> round(share.value, 2), round(share.low, 2), round(share.high, 2), share.n
        (0.6, 0.4, 0.8, 30)
        """
        if not self.safe:
            return found
        step = next((step for step in _STEPS if step * found.n >= self.k), None)
        if step is None:
            return None
        fact = found.low == found.high
        value = round(found.value / step) * step
        return Estimate(
            value=value,
            low=value if fact else max(0.0, math.floor(found.low / step + 1e-9) * step),
            high=value if fact else min(1.0, math.ceil(found.high / step - 1e-9) * step),
            n=self.rounded(found.n),
        )

    def rate(self, shown: Estimate) -> str:
        """Return a share that may be told, in percent.

        Examples
        --------
        >>> Numbers(k=5).rate(Estimate(value=0.9951, low=0.9951, high=0.9951, n=900))
        '99.5%'
        """
        text = f"{shown.value:.0%}"
        if self.safe:
            return f"≈{text}"
        edge = text in ("0%", "100%") or shown.value < 0.1 or shown.value > 0.9
        return percent(shown.value) if edge or shown.n >= 1_000 else text

    def interval(self, shown: Estimate) -> str:
        """Return the 95 % interval of a share that may be told; nothing where it is counted.

        Examples
        --------
        >>> Numbers(k=5).interval(Estimate(value=0.61, low=0.42, high=0.76, n=28))
        '42–76%'
        """
        if shown.low == shown.high:
            return ""
        low, high = f"{shown.low:.0%}", f"{shown.high:.0%}"
        if shown.high - shown.low < 0.05 and not self.safe:
            low, high = f"{shown.low:.1%}", f"{shown.high:.1%}"
        return f"{low[:-1]}–{high}"

    def tells(self, phrase: Phrase | None) -> bool:
        """Tell whether a phrase may be told."""
        return phrase is not None and not (self.safe and phrase.exact)

    def say(self, phrase: Phrase) -> str:
        """Return a phrase with its numbers as they may be told.

        Examples
        --------
        >>> from treeaudit.findings.numbers import say
        >>> phrase = say("{} of {}", People.alone(3), People(40))
        >>> Numbers(k=5).say(phrase), Numbers(k=5, safe=True).say(phrase)
        ('3 of 40 people', 'fewer than 5 of 40 people')
        """
        return phrase.template.format(*map(self.part, phrase.parts))

    def strong(self, phrase: Phrase) -> Markup:
        """Return a phrase as markup, numbers of people and words that matter in bold."""
        bold = Markup("<b>{}</b>")
        parts = [
            bold.format(text) if isinstance(part, People | Strong) else text
            for part, text in ((part, self.part(part)) for part in phrase.parts)
        ]
        return Markup(phrase.template).format(*parts)  # noqa: S704  # templates are our own

    def part(self, part: object) -> str:
        """Return what stands in a phrase as it may be told: all masking of typed numbers."""
        match part:
            case Agreeing():
                return self.word(part)
            case Count():
                return f"{self.number(part)} {self.word(part)}".rstrip()
            case Share(part=int(some), whole=int(all_)):
                return self.share(some, all_)
            case Share():
                return f"about {part:.0%}" if self.safe else percent(part)
            case Estimate():
                shown = self.estimate(part)
                return "–" if shown is None else self.rate(shown)
            case Score():
                return f"{part.value:.1f}" if self.safe else f"{part.value:.3f}"
            case Phrase():
                return self.say(part) if self.tells(part) else ""
            case Either():
                return plain(part.safe if self.safe else part.exact, 600)
            case Prose():
                return self.text(part)
            case str():
                return plain(part, 600)
            case bool() | None:
                raise TypeError(f"{part!r} is nothing to tell")
            case int():
                return f"{part:,}"
        return f"{part:g}"

    def number(self, n: Count) -> str:
        """Return a number without its noun."""
        return self.count(n) if isinstance(n, People) else f"{n:,}"

    def word(self, n: Count) -> str:
        """Return the noun in the form that agrees with what is shown of the number."""
        return n.one if self.number(n) == "1" else n.many

    def levels(self) -> tuple[Level, ...]:
        """Return the colour scale of group sizes, the most exposed first.

        In a safe copy everything below k is one level.

        Examples
        --------
        >>> [level.name for level in Numbers(k=7, safe=True).levels()]
        ['fewer than 7', '7–9', '10–49', '50 or more']
        """
        starts = [1, *(n for n in (*_BINS, self.k) if n >= self.k)] if self.safe else _BINS
        starts = sorted(set(starts))
        ends = [*(n - 1 for n in starts[1:]), None]
        return tuple(
            Level(low=low, high=high, shade=self._shade(low), name=self._name(low, high))
            for low, high in zip(starts, ends, strict=True)
        )

    def _shade(self, low: int) -> str:
        return f"r{len(_BINS) - sum(low >= n for n in _BINS)}"

    def _name(self, low: int, high: int | None) -> str:
        if high is None:
            return f"{low:,} or more"
        if self.hides(low):
            return f"fewer than {self.k:,}"
        if low == high:
            return "alone" if low == 1 else f"{low:,}"
        return f"{low:,}–{high:,}"

    def text(self, text: str) -> str:
        """Return a sentence whose small whole numbers are masked if they must be.

        Examples
        --------
        >>> Numbers(k=5, safe=True).text("3 are in leaves below 5 (scikit-learn 1.9.1)")
        'fewer than 5 are in leaves below 5 (scikit-learn 1.9.1)'
        """
        if not self.safe:
            return text
        return _WHOLE.sub(lambda found: self._word(found.group()), text)

    def _word(self, digits: str) -> str:
        # Longer numbers cannot be small, and int() refuses very long ones.
        return self.count(int(digits)) if len(digits) < 5 and self.hides(int(digits)) else digits
