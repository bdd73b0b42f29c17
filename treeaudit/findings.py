"""What an audit found: data only, no rendering, no computing."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from treeaudit.groups import Groups
from treeaudit.tree import Forest

if TYPE_CHECKING:
    from treeaudit.page import Page
    from treeaudit.policy import Policy

__all__ = [
    "About",
    "Check",
    "Control",
    "Estimate",
    "Evidence",
    "Finding",
    "Fix",
    "Report",
    "Severity",
    "Skipped",
    "Words",
]

About = Literal["table", "people", "file"]
"""What an attack is about: the table of leaves, single people, or the rest of the file."""
Severity = Literal["none", "low", "medium", "high"]
CheckStatus = Literal["pass", "fail", "skipped"]
Verdict = Literal["pass", "fail", "review"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What there is to say about an attack, once, for every renderer.

    Attributes
    ----------
    attacker
        What an attacker does, in two sentences.
    assumes
        What the attacker needs to have or to know.
    remedy
        What removes the finding.
    limit
        What the finding does not say.
    reference
        Where the attack comes from.
    """

    attacker: str
    assumes: str
    remedy: str
    limit: str
    reference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One leaf that shows a finding.

    Attributes
    ----------
    tree, leaf
        Where it is.
    people
        How many people it holds.
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
class Estimate:
    """A number that was measured on people, with the interval around it.

    Attributes
    ----------
    value
        The number.
    low, high
        Its 95 % interval; the number itself where it is counted, not estimated.
    n
        How many people it rests on.
    """

    value: float
    low: float
    high: float
    n: int


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
    sentence
        The whole in plain words.
    """

    of: str
    claim: Estimate
    verified: Estimate | None = None
    control: Estimate | None = None
    baselines: Mapping[str, Estimate] = field(default_factory=dict)
    excess: Estimate | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one attack found.

    Attributes
    ----------
    id, title
        Of the attack.
    severity
        ``none`` where the attack found nothing.
    leaves, people
        How many are affected, summed over all trees: a person counts once in
        every tree that exposes them.
    summary
        One sentence with the numbers.
    details
        Further numbers by name, JSON-ready.
    evidence
        The worst leaves.
    per_tree
        The main numbers tree by tree, for forests.
    controls
        The claims beside the same claims on training and unseen people, where
        those were given.
    """

    id: str
    title: str
    severity: Severity
    leaves: int
    people: int
    summary: str
    details: Any = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    per_tree: tuple[Mapping[str, Any], ...] | None = None
    controls: tuple[Control, ...] = ()

    @property
    def status(self) -> Literal["found", "clear"]:
        """Whether the attack found anything."""
        return "clear" if self.severity == "none" else "found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An attack that could not be run, and why. Never a pass."""

    id: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One threshold of the policy against what was measured.

    Attributes
    ----------
    name
        As in the policy file.
    threshold, measured
        The bound and the number; ``measured`` is None where the check was
        skipped.
    status
        ``pass``, ``fail`` or ``skipped``.
    title, bound, shown
        What is measured, its bound and the measured number, in words.
    reason
        Why it was skipped, or why there was nothing to measure.
    accepted
        Whether it fails no worse than in the accepted report (``--baseline``).
    baseline, was
        What was measured in the accepted report, and the same in words; None
        and empty where it does not tell.
    attack
        Id of the attack that has to have run; None for what the model itself tells.
    share, among
        Whether the number is a share, and whether it is one of all the people.
    step, beside_repair
        What to do where it fails, and whether also where a repair was found.
    """

    name: str
    threshold: float
    measured: float | None
    status: CheckStatus
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
    step: str = ""
    beside_repair: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A repair that was tried after a failed audit, and what it costs.

    Attributes
    ----------
    steps
        What was done, in words.
    passed, misses
        Whether the repaired model passes the policy, and what it misses.
    leaves
        Of all trees, before and after.
    right
        Share of the training people for whom the class counts of the model are
        right, before and after; None where it holds none.
    unseen
        Share of unseen people whose label is predicted rightly, before and
        after; None where there were none.
    """

    steps: tuple[str, ...]
    passed: bool
    misses: tuple[str, ...]
    leaves: tuple[int, int]
    right: tuple[float | None, float | None] = (None, None)
    unseen: tuple[Estimate, Estimate] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Report:
    """The result of an audit.

    Attributes
    ----------
    forest
        The model, for renderers that show its leaves.
    groups
        The leaves with people in them.
    results
        One `Finding` or `Skipped` per attack, in the order of their ids.
    checks, verdict, policy
        What the policy says of them.
    warnings
        What else the reader should know, one sentence each.
    pages
        The page of each attack that was chosen, by id: its words and its view.
    seed
        Of every random choice.
    people
        The tables that were given, by role: what each is called and its rows.
    baseline
        The accepted report it was held against: ``name`` and ``sha256`` of the
        file, ``model_sha256``; None without.
    fix
        The repair that was tried, where the audit failed and one was.
    """

    forest: Forest
    groups: Groups
    results: tuple[Finding | Skipped, ...]
    checks: tuple[Check, ...]
    verdict: Verdict
    policy: "Policy"
    warnings: tuple[str, ...] = ()
    pages: Mapping[str, "type[Page]"] = field(default_factory=dict)
    seed: int = 0
    people: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    baseline: Mapping[str, Any] | None = None
    fix: Fix | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The attacks that ran."""
        return tuple(result for result in self.results if isinstance(result, Finding))

    def __getitem__(self, attack_id: str) -> Finding:
        """Return the finding of an attack.

        Raises
        ------
        KeyError
            If the attack was not asked for or was skipped; says why.
        """
        for result in self.results:
            if result.id == attack_id:
                if isinstance(result, Skipped):
                    raise KeyError(f"{attack_id} was skipped: {result.reason}")
                return result
        raise KeyError(f"{attack_id} was not run")

    @property
    def exit_code(self) -> int:
        """0 for pass, 1 for fail, 3 for review."""
        return {"pass": 0, "fail": 1, "review": 3}[self.verdict]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON report as plain data."""
        from treeaudit.reports import to_dict

        return to_dict(self)

    def save(
        self, path: str | os.PathLike[str], *, force: bool = False, release_safe: bool = False
    ) -> Path:
        """Write the report; ``.html``, ``.json`` or ``.txt`` by suffix.

        Parameters
        ----------
        path
            Where to write.
        force
            Replace a file that exists.
        release_safe
            Mask small counts (HTML only), so that the report may leave the room.

        Raises
        ------
        DataError
            If the suffix is unknown or the file exists already.
        """
        from treeaudit.reports import save

        return save(self, path, force=force, release_safe=release_safe)

    def __str__(self) -> str:
        """Return the terminal report without colours."""
        from treeaudit.reports import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        """Return the HTML report in a frame, for notebooks."""
        from treeaudit.reports import render
        from treeaudit.reports.notebook import framed

        return framed(render(self, "html"))
