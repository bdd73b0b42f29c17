"""Numbers of people, as types: every renderer tells them in the same words.

A `People` is a whole number and a `Share` is a number like any other: they are
added, compared and written to JSON as such. What they add is that whoever
renders them knows that they count people, and their noun.
"""

from dataclasses import dataclass
from typing import Self


class Count(int):
    """A number of things that disclose nobody, such as features, with its noun.

    Attributes
    ----------
    one, many
        The noun that follows it; empty where it stands alone.

    Examples
    --------
    >>> Count(2, "feature", "features") + 1, Count(1, "feature", "features").noun
    (3, 'feature')
    """

    one: str
    many: str

    def __new__(cls, n: int, one: str = "", many: str = "") -> Self:
        """Make the number."""
        made = super().__new__(cls, n)
        made.one, made.many = one, many
        return made

    @property
    def noun(self) -> str:
        """The noun in the form that agrees with the number."""
        return self.one if self == 1 else self.many

    def __getnewargs__(self) -> tuple[int, str, str]:  # type: ignore[override]
        return (int(self), self.one, self.many)


class People(Count):
    """A number of people, or of things that stand for people, such as small leaves.

    Examples
    --------
    >>> People(3) + 1, People(3).many, People.alone(3).many, People.leaves(1).one
    (4, 'people', '', 'leaf')
    """

    def __new__(cls, n: int, one: str = "person", many: str = "people") -> Self:
        """Make the number."""
        return super().__new__(cls, n, one, many)

    @classmethod
    def alone(cls, n: int) -> Self:
        """Return the number without a noun."""
        return cls(n, "", "")

    @classmethod
    def leaves(cls, n: int) -> Self:
        """Return a number of leaves, which stand for people."""
        return cls(n, "leaf", "leaves")


class Agreeing(People):
    """Only the word that agrees with a number of people, such as a verb."""


class Share(float):
    """A share of people, between 0 and 1.

    Attributes
    ----------
    part, whole
        The people it is the quotient of; None where there is no such pair, as
        for the worst of several trees.

    Examples
    --------
    >>> Share.of(1, 4), Share.of(1, 4).whole, Share(0.25).whole
    (0.25, 4, None)
    """

    part: int | None
    whole: int | None

    def __new__(cls, value: float, part: int | None = None, whole: int | None = None) -> Self:
        """Make the number."""
        made = super().__new__(cls, value)
        made.part, made.whole = part, whole
        return made

    @classmethod
    def of(cls, part: int, whole: int) -> Self:
        """Return the share that some people are of all; 0 of nobody."""
        return cls(part / whole if whole else 0.0, part, whole)

    def __getnewargs__(self) -> tuple[float, int | None, int | None]:  # type: ignore[override]
        return (float(self), self.part, self.whole)


class Strong(str):
    """A word that matters, in bold where there is any."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Score:
    """A number that is no share of people, such as an AUC, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence or a part of one whose numbers are still numbers.

    Attributes
    ----------
    template
        Text with a ``{}`` per part. Texts of a model are parts, never the template.
    parts
        What goes in there: the types of this module and `Estimate` in words,
        other numbers and text as they are.
    """

    template: str
    parts: tuple[object, ...] = ()


def say(template: str, *parts: object) -> Phrase:
    """Return a phrase.

    Examples
    --------
    >>> say("{} below {}", People(3), 5).parts
    (3, 5)
    """
    return Phrase(template, parts)
