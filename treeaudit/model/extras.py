"""What a file holds beside its trees, and what its reader looked for.

A reader states the kinds it looked for. A kind that nobody looked for is not a
kind that is not there: no attack may call it clear.
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
"""What can lie beside the trees. ``notes`` are plain values beside the model: numbers, dates, short
texts, lists of names, metrics. ``extra`` is other content beyond the model, known by path and size
alone. ``unseen`` is a part that was not read, or another model, which was not audited."""

KINDS: frozenset[Kind] = frozenset(get_args(Kind))
"""Every kind."""

FEWEST_RECORDS = 21
"""Of fewer, an array as long as there are people may be anything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """Something in the file beside the trees that says something about people.

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
    """What was found beside the trees, and what was looked for.

    Attributes
    ----------
    found
        What is there, in the order of the file.
    looked_for
        The kinds that the reader looked for. Nothing unless a reader says so.
    groups
        Statistics of groups of people, with the people of the smallest: records where that is
        fewer than somebody asks for. Those of fewer than five are among what was found.

    Examples
    --------
    >>> seed = Extra(kind="seeds", where="random_state", n=1, says="repeats the draw")
    >>> [one.where for one in Extras(found=(seed,), looked_for=KINDS).found]
    ['random_state']
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
        """Yield what was found."""
        return iter(self.found)

    def beside(self, other: "Extras") -> "Extras":
        """Return what two readers found in two parts of one file.

        A kind counts as looked for where both looked for it, or where one of
        them found it.
        """
        found = (*self.found, *other.found)
        both = self.looked_for & other.looked_for
        return Extras(
            found=found,
            looked_for=both | {one.kind for one in found},
            groups=(*self.groups, *other.groups),
        )

    def only(self, kinds: frozenset[Kind]) -> "Extras":
        """Return what is left where everything but some kinds is taken out.

        What was taken out is known not to be there, whether or not it was
        looked for before.
        """
        return Extras(
            found=tuple(one for one in self.found if one.kind in kinds),
            looked_for=self.looked_for | (KINDS - kinds),
            groups=tuple(pair for pair in self.groups if pair[1].kind in kinds),
        )
