"""What an audit found, and what an attack shows of it: data only, no rendering, no computing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args

from treeaudit.findings.details import Count, Details, People, Phrase, Score
from treeaudit.rendered import NotebookText
from treeaudit.stats import Estimate

D = TypeVar("D", bound=Details)
About = Literal["table", "people", "file"]
"""What an attack is about: the table of leaves, single people, or the rest of the file."""
Severity = Literal["none", "low", "medium", "high"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""From harmless to worst."""
_CheckStatus = Literal["pass", "fail", "skipped", "not-applicable", "untold"]
TellsOf = Literal["people", "small groups", "smallest group", "everybody", "file"]
"""Of whom it tells that a check passes or fails."""
Verdict = Literal["pass", "fail", "review", "accepted"]


AttackKind = Literal[
    "singling out",
    "linkability",
    "attribute inference",
    "membership inference",
    "exfiltration",
    "regurgitation",
    "model inversion",
    "reconstruction",
]
"""What an attack is called by those who ask for evidence; an annex maps these to its items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What there is to say about an attack, once, for every renderer."""

    attacker: str  # What an attacker does, in two sentences
    assumes: str  # What the attacker needs to have or to know
    remedy: str  # What removes the finding
    limit: str  # What the finding does not say
    reference: str  # Where the attack comes from
    kinds: tuple[AttackKind, ...] = ()  # What an annex calls it; none for attacks on no person


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One leaf that shows a finding.

    Attributes
    ----------
    says
        What the attacker learns, such as ``income = >50K``.
    rule
        Who they are, in words.
    """

    tree: int
    leaf: int
    people: int
    says: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One claim of the file beside the same claim on other people.

    Attributes
    ----------
    of
        Which leaves or people the claim is about, such as ``leaves below 5``.
    claim
        How often the file says that the claim is right.
    verified
        How often it is right for the real training people (``--train``).
    control
        How often it is right for people who were not in the training data
        (``--test``).
    baselines
        How often people guess as well without the model, on the same unseen
        people, by name of the guess.
    excess
        Claim, or verified where it is known, minus control: what was memorised.
    memorised
        The same in people, of the ``n`` whom the claim is about; None where they are not
        counted once each.
    residual
        Of what fails on unseen people, the share in which the claim holds.
    sentence
        The whole in plain words.
    """

    of: str
    claim: Estimate
    verified: Estimate | None = None
    control: Estimate | None = None
    baselines: Mapping[str, Estimate] = field(default_factory=dict)
    excess: Estimate | None = None
    memorised: Estimate | None = None
    residual: Estimate | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(NotebookText):
    """What one attack found.

    Attributes
    ----------
    severity
        ``none`` where the attack found nothing.
    leaves, people
        How many are affected, summed over all trees: a person counts once in
        every tree that exposes them.
    summary
        One sentence with the numbers.
    looked
        What was examined, in a few words each, such as ``leaf sizes of 12
        trees``. Nothing can be clear that was not looked at.
    unseen
        What should have been examined and could not be. No check passes on a
        finding that did not see everything.
    details
        Further numbers, of the type that the attack names.
    evidence
        The worst leaves.
    per_tree
        The main numbers tree by tree, for forests.
    controls
        The claims beside the same claims on training and unseen people, where
        those were given.

    Raises
    ------
    ValueError
        If nothing was found where nothing, or not everything, was looked at:
        that is `Skipped`.
    """

    id: str
    title: str
    severity: Severity
    leaves: int
    people: int
    summary: str
    looked: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    details: Details = field(default_factory=Details)
    evidence: tuple[Evidence, ...] = ()
    per_tree: tuple[Mapping[str, Any], ...] | None = None
    controls: tuple[Control, ...] = ()

    def __post_init__(self) -> None:
        if self.severity == "none" and (self.unseen or not self.looked):
            unseen = ", ".join(self.unseen) or "anything"
            raise ValueError(f"{self.id} cannot be clear: nobody looked at {unseen}")

    def __repr__(self) -> str:
        """Return what was found, in two lines."""
        risk = "clear" if self.severity == "none" else self.severity
        return f"{self.id} {self.title}: {risk}, {self.people:,} people\n  {self.summary}"

    @property
    def status(self) -> Literal["found", "clear"]:
        """Whether the attack found anything."""
        return "clear" if self.severity == "none" else "found"


def details_of(finding: Finding, kind: type[D]) -> D:
    """Return the details of a finding as the type that its attack gives them."""
    if not isinstance(finding.details, kind):
        raise TypeError(f"{finding.id} has no {kind.__name__}")
    return finding.details


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An attack that could not be run, and why. Never a pass.

    Attributes
    ----------
    asks
        The options of the command line that would supply what is missing; none where the
        attack was tried and did not come to an end.
    """

    id: str
    title: str
    reason: str
    asks: tuple[str, ...] = ()


NOT_HELD = "people-given"
"""The check that is skipped where the people do not fit one of several models of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One threshold of the policy against what was measured.

    Attributes
    ----------
    threshold, measured
        The bound and the number; ``measured`` is None where the check was
        skipped.
    title, bound, shown
        What is measured, its bound and the measured number, in words.
    reason
        Why it was skipped, or why it does not apply.
    accepted
        Whether it fails no worse than in the accepted report (``--baseline``).
    baseline, was
        What was measured in the accepted report, and the same in words; None
        and empty where it does not tell.
    attack
        Id of the attack that has to have run; None for what the model itself tells.
    share, among
        Whether the number is a share, and whether it is one of all the people.
    tells_of
        Of whom it tells that the check passes or fails.
    step
        What to do where it fails.
    """

    name: str
    threshold: float
    measured: float | None
    status: _CheckStatus
    title: str
    bound: str
    shown: str = ""
    reason: str | None = None
    accepted: bool = False
    baseline: float | None = None
    was: str = ""
    attack: str | None = None
    share: bool = False
    among: bool = False
    tells_of: TellsOf = "people"
    step: str = ""

    @property
    def met(self) -> bool:
        """Whether nothing is left to do: it passed, or the model has nothing of its kind."""
        return self.status in ("pass", "not-applicable")


MarkKind = Literal["claim", "seen", "unseen", "guess", "part"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The number that matters."""

    number: Count | Score  # The number; its noun comes first in what it counts
    counts: str  # The rest of what it counts, such as `alone in a leaf`


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """What follows from one more thing that an attacker knows."""

    knows: Phrase
    number: Count | Phrase | None  # How much follows; None where the attack did not run
    follows: Phrase  # What follows, after the noun of the number, or why it did not run
    # What is said instead where the number is 0; empty where that is said like any other number
    nobody: str = ""
    at_most: bool = False  # Whether the number is a bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One share on a scale from 0 to 1; ``part`` draws it as a bar."""

    kind: MarkKind
    share: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of a plot."""

    name: Phrase
    marks: tuple[Mark, ...] = ()  # Its shares; none where there is nothing to draw
    # The same in words, one per heading; None for the value, its interval and its people where
    # there is one mark, and the values of all marks where there are several. A single one says
    # why there is no number.
    cells: tuple[Phrase, ...] | None = None
    chance: float | None = None  # What chance would give, or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Rows on one scale."""

    title: Phrase  # What all of them are about
    lines: tuple[Line, ...]  # The rows; the first `most` are drawn
    most: int = 1 << 20  # How many rows are drawn
    heads: tuple[str, ...] = ("value", "95 % interval", "people")  # Headings of the cells
    told: bool = False  # Whether the headings are shown, or left to those who cannot see
    sentences: tuple[Phrase, ...] = ()  # What follows from the rows
    more: tuple[Phrase, ...] = ()  # Further sentences, folded away


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of a curve."""

    name: str
    # Its heights at 0, 1, 2, …, or where the curve says; people or shares
    values: tuple[People | float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Growing numbers against a number of pieces of knowledge, or of trees."""

    title: str  # What is drawn
    name: str  # What it is called for those who cannot see it
    axis: str  # Against what
    series: tuple[Series, ...]  # At most four lines
    # Growing numbers from 1 where the values stand, on a logarithmic scale; 0, 1, 2, … on an even
    # one unless told
    at: tuple[int, ...] = ()
    most: float | None = None  # The top of the scale; the largest number unless told


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What there is to show of one attack."""

    # What was found in a few words; the sentence of the finding without
    brief: Phrase | None = None
    # What unseen people say of it in a few words; their shares without
    unseen: Phrase | None = None
    figure: Figure | None = None
    # What whoever reads the file can do, after "Anyone who can read this file"; None where
    # nothing was found. Of a forest it speaks of one tree.
    headline: Phrase | None = None
    together: Phrase | None = None  # The same of all trees together, in a sentence of its own
    # What can be said where no attack has a headline, and what is added to it
    harmless: Phrase | None = None
    too: Phrase | None = None
    reason: Phrase | None = None  # One short line on why the verdict is what it is
    rungs: tuple[Rung, ...] = ()  # What follows, the more is known
    facts: tuple[tuple[str, Phrase], ...] = ()  # Further measures, name and text
    plots: tuple[Plot, ...] = ()
    curves: tuple[Curve, ...] = ()
    picture: Curve | None = None  # The model as a whole, drawn where a page has one picture of it
    held: tuple[Control, ...] = ()  # Controls that the verdict shows
    # Whether the verdict has to say that only unseen people tell memory from fact
    asks_control: bool = False
    step: str = ""  # What to do against it, where it was found and no check says it
