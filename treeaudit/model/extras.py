"""The extra content of a file beyond its trees, and what its reader looked for.

A reader states the kinds that it looked for. A kind that no reader looked for may be
there: no attack may call it clear.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from treeaudit.errors import DataError

Kind = Literal[
    "labels",
    "out-of-bag",
    "records",
    "targets",
    "category-counts",
    "seeds",
    "column-values",
    "extremes",
    "first-round-counts",
    "calls",
    "code",
    "flaws",
    "notes",
    "extra",
    "unseen",
]
"""The kinds of extra content. ``notes`` are plain values beside the model: numbers, dates, short
texts, lists of names, metrics. ``extra`` is other content beyond the model, known by path and size
alone. ``unseen`` is a part that was not read, or another model, which was not audited."""

KINDS: frozenset[Kind] = frozenset(get_args(Kind))
"""Every kind."""

FEWEST_RECORDS = 21
"""Of fewer, an array as long as there are people may be anything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """One piece of extra content.

    Attributes
    ----------
    kind
        What it is.
    where
        The way to it in the file, such as ``estimators_[3].random_state``.
    n
        How many values, people or calls it holds; of notes and extra content, how many bytes.
    says
        What it gives away, in one sentence.
    """

    kind: Kind
    where: str
    n: int
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """The extra content of a file, in its order, and the kinds that its reader looked for.

    Attributes
    ----------
    found
        The pieces of extra content.
    looked_for
        The kinds that the reader looked for: none unless it says so.
    groups
        Statistics of groups of at least five people, with the people of the smallest: records
        under a policy that asks for more. Groups of fewer than five are in ``found``.
    """

    found: tuple[Extra, ...] = ()
    looked_for: frozenset[Kind] = frozenset()
    groups: tuple[tuple[int, Extra], ...] = ()

    def __post_init__(self) -> None:
        if strange := self.looked_for - KINDS:
            raise DataError(f"there is no kind of leftover called {', '.join(sorted(strange))}")
        if unasked := {one.kind for one in self.found} - self.looked_for:
            raise DataError(f"leftovers that nobody looked for: {', '.join(sorted(unasked))}")

    def __iter__(self) -> Iterator[Extra]:
        """Yield the pieces of extra content."""
        return iter(self.found)

    def beside(self, other: "Extras") -> "Extras":
        """Return the extra content of two parts of one file."""
        found = (*self.found, *other.found)
        return Extras(
            found=found,
            looked_for=(self.looked_for & other.looked_for) | {one.kind for one in found},
            groups=(*self.groups, *other.groups),
        )

    def only(self, kinds: frozenset[Kind]) -> "Extras":
        """Return the extra content of some kinds; the others are known to be taken out."""
        return Extras(
            found=tuple(one for one in self.found if one.kind in kinds),
            looked_for=self.looked_for | (KINDS - kinds),
            groups=tuple(pair for pair in self.groups if pair[1].kind in kinds),
        )
