"""What an attack shows of a finding: data that every renderer reads and none computes.

An attack puts its view together; renderers know its parts, not the attack.
"""

from dataclasses import dataclass
from typing import Literal

from treeaudit.findings.details import Count, People, Phrase, Score
from treeaudit.findings.findings import Control
from treeaudit.stats import Estimate

MarkKind = Literal["claim", "seen", "unseen", "guess", "part"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The number that matters.

    * ``number``: the number; its noun comes first in what it counts.
    * ``counts``: the rest of what it counts, such as ``alone in a leaf``.
    """

    number: Count | Score
    counts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """What follows from one more thing that an attacker knows.

    * ``number``: how much follows; None where the attack did not run.
    * ``follows``: what follows, after the noun of the number, or why it did not run.
    * ``nobody``: what is said instead where the number is 0; empty where that is said like any
      other number.
    * ``at_most``: whether the number is a bound.
    """

    knows: Phrase
    number: Count | Phrase | None
    follows: Phrase
    nobody: str = ""
    at_most: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One share on a scale from 0 to 1; ``part`` draws it as a bar."""

    kind: MarkKind
    share: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of a plot.

    * ``marks``: its shares; none where there is nothing to draw.
    * ``cells``: the same in words, one per heading; None for the value, its interval and its people
      where there is one mark, and the values of all marks where there are several. A single one
      says why there is no number.
    * ``chance``: what chance would give, or None.
    """

    name: Phrase
    marks: tuple[Mark, ...] = ()
    cells: tuple[Phrase, ...] | None = None
    chance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Rows on one scale.

    * ``title``: what all of them are about.
    * ``lines``: the rows; the first ``most`` are drawn.
    * ``most``: how many rows are drawn.
    * ``heads``: headings of the cells.
    * ``told``: whether the headings are shown, or left to those who cannot see.
    * ``sentences``: what follows from the rows.
    * ``more``: further sentences, folded away.
    """

    title: Phrase
    lines: tuple[Line, ...]
    most: int = 1 << 20
    heads: tuple[str, ...] = ("value", "95 % interval", "people")
    told: bool = False
    sentences: tuple[Phrase, ...] = ()
    more: tuple[Phrase, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of a curve.

    * ``values``: its heights at 0, 1, 2, …, or where the curve says; people or shares.
    """

    name: str
    values: tuple[People | float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Growing numbers against a number of pieces of knowledge, or of trees.

    * ``title``: what is drawn.
    * ``name``: what it is called for those who cannot see it.
    * ``axis``: against what.
    * ``series``: at most four lines.
    * ``at``: growing numbers from 1 where the values stand, on a logarithmic scale; 0, 1, 2, … on
      an even one unless told.
    * ``most``: the top of the scale; the largest number unless told.
    """

    title: str
    name: str
    axis: str
    series: tuple[Series, ...]
    at: tuple[int, ...] = ()
    most: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What there is to show of one attack.

    * ``brief``: what was found in a few words; the sentence of the finding without.
    * ``unseen``: what unseen people say of it in a few words; their shares without.
    * ``headline``: what whoever reads the file can do, after "Anyone who can read this file"; None
      where nothing was found. Of a forest it speaks of one tree.
    * ``together``: the same of all trees together, in a sentence of its own.
    * ``harmless``, ``too``: what can be said where no attack has a headline, and what is added to
      it.
    * ``reason``: one short line on why the verdict is what it is.
    * ``rungs``: what follows, the more is known.
    * ``facts``: further measures, name and text.
    * ``picture``: the model as a whole, drawn where a page has one picture of it.
    * ``held``: controls that the verdict shows.
    * ``asks_control``: whether the verdict has to say that only unseen people tell memory from
      fact.
    * ``step``: what to do against it, where it was found and no check says it.
    """

    brief: Phrase | None = None
    unseen: Phrase | None = None
    figure: Figure | None = None
    headline: Phrase | None = None
    together: Phrase | None = None
    harmless: Phrase | None = None
    too: Phrase | None = None
    reason: Phrase | None = None
    rungs: tuple[Rung, ...] = ()
    facts: tuple[tuple[str, Phrase], ...] = ()
    plots: tuple[Plot, ...] = ()
    curves: tuple[Curve, ...] = ()
    picture: Curve | None = None
    held: tuple[Control, ...] = ()
    asks_control: bool = False
    step: str = ""
