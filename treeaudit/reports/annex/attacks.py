"""The annex on anonymity: which attack answers which question, with its numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeGuard

from treeaudit.attacks import ATTACKS
from treeaudit.attacks.differencing import Differencing
from treeaudit.findings.details import plain_data
from treeaudit.findings.findings import Check, Evidence, Finding, Skipped, Words
from treeaudit.findings.report import Page, Report
from treeaudit.model.rules import rules_of
from treeaudit.model.words import sentence
from treeaudit.reports.annex.questions import QUESTIONS, Question
from treeaudit.stats import Estimate

Status = Literal["evidence", "contrary evidence", "not run", "out of scope"]

STATUSES: Mapping[Status, str] = {
    "evidence": "every attack that can apply was run, and found nothing, or a low risk that the "
    "policy allows",
    "contrary evidence": "an attack found something; whether the policy allows that much is told "
    "by its checks",
    "not run": "an attack that could apply was not run; what the others found stands beside it",
    "out of scope": "no attack applies to this model, or treeaudit has none, for the reason given",
}
"""What each says, worst of the attacks of a question first where several apply."""

_WORST: tuple[Status, ...] = ("contrary evidence", "not run", "evidence", "out of scope")
_ABOUT_THE_FILE = {one.id for one in ATTACKS if one.about == "file"}
_MOST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number with its 95 % interval, and how many people it rests on."""

    name: str
    value: float
    low: float
    high: float
    n: int | None

    @property
    def in_words(self) -> str:
        """The number, its interval, and of how many it is."""
        of = "" if self.n is None else f", n = {self.n:,}"
        bounds = f"95 % {self.low:.4g} to {self.high:.4g}"
        counted = "counted" if self.low == self.high else bounds
        return f"{self.name} {self.value:.4g} ({counted}{of})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckEvidence:
    """A check of the policy that rests on an attack."""

    name: str
    title: str
    status: str
    measured: str
    bound: str

    @property
    def in_words(self) -> str:
        """The check, what became of it, and its number against its bound."""
        shown = f", {self.measured}" if self.measured else ""
        return f"{self.title}: {self.status}{shown} ({self.bound})"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackEvidence:
    """What one attack contributes."""

    id: str
    title: str
    kinds: tuple[str, ...]
    status: Status
    says: str  # What it found, or why it was not run
    people: int | None  # Whom it found; None where it was not run
    n: int | None  # Of how many; None where the file does not tell
    unit: str  # What is counted as one
    knowledge: str  # What the attacker has and knows
    limit: str  # What it does not say, and of whom it does not hold
    checks: tuple[CheckEvidence, ...]
    measures: tuple[Measure, ...]  # Empty where people are counted, not estimated

    @property
    def counted(self) -> str:
        """Whom it found, of how many, in words."""
        if self.people is None:
            return "not run"
        among = "how many there are is not told" if self.n is None else f"of {self.n:,}"
        return f"{self.people:,} people concerned, {among} ({self.unit})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is known of one question."""

    source: str
    name: str
    asks: str
    status: Status
    attacks: tuple[str, ...]
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstPerson:
    """The highest risk of one person: that somebody of that description is found."""

    risk: float | None  # One in so many people of the group; None where nothing tells
    people: int | None
    tree: int | None
    leaf: int | None
    rule: str | None
    learns: str | None
    attack: str | None  # Which found it; None where the smallest group is told
    reason: str | None  # Why it is not told, or not of every tree

    @property
    def in_words(self) -> str:
        """The risk, who it is, and where that was found."""
        if self.risk is None:
            return f"not told: {self.reason}"
        by = f"found by {self.attack}" if self.attack else "the smallest group"
        learns = f"; who finds them learns {self.learns}" if self.learns else ""
        return (
            f"{self.risk:.4g}, one in {self.people:,} ({by}, tree {self.tree}, leaf {self.leaf})"
            f"{learns}{f'; {self.reason}' if self.reason else ''}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Anonymity:
    """The questions, the attacks that answer them, and the worst person."""

    statuses: Mapping[Status, str]
    answers: tuple[Answer, ...]
    worst_person: WorstPerson
    attacks: tuple[AttackEvidence, ...]


def anonymity(report: Report) -> Anonymity:
    """Return what a report says of anonymity."""
    attacks = tuple(evidence_of(report))
    return Anonymity(
        statuses=STATUSES,
        answers=tuple(_answer(question, attacks) for question in QUESTIONS),
        worst_person=worst_person(report),
        attacks=attacks,
    )


def evidence_of(report: Report) -> Iterator[AttackEvidence]:
    """Yield every attack that has a kind, those that were not asked for too."""
    pages: dict[str, type[Page | Differencing]] = {one.id: one for one in ATTACKS}
    pages |= {Differencing.id: Differencing, **report.pages}
    results = {one.id: one for one in report.results}
    for attack, page in sorted(pages.items()):
        if page.words.kinds:
            result = results.get(attack) or _unasked(report, attack, page.title)
            yield _evidence(report, result, page.words)


def _unasked(report: Report, attack: str, title: str) -> Skipped:
    """Say why an attack has no result."""
    if attack != Differencing.id:
        return Skipped(id=attack, title=title, reason="it was not asked for (--attack)")
    if report.several:
        other = "what the other models in the file tell together with this one was not looked at"
        return Skipped(id=attack, title=title, reason=f"{other}; 'treeaudit diff' takes two files")
    alone = "not applicable: one model; treeaudit diff OLD NEW compares it with another release"
    return Skipped(id=attack, title=title, reason=alone)


def _evidence(report: Report, result: Finding | Skipped, words: Words) -> AttackEvidence:
    checks = [check for check in report.checks if check.attack == result.id]
    ran = isinstance(result, Finding)
    return AttackEvidence(
        id=result.id,
        title=result.title,
        kinds=words.kinds,
        status=_status(result, checks),
        says=result.summary if isinstance(result, Finding) else result.reason,
        people=int(result.people) if isinstance(result, Finding) else None,
        n=report.table.n_people if ran else None,
        unit=report.unit.sentence,
        knowledge=words.assumes,
        limit=words.limit,
        checks=tuple(_check_evidence(check) for check in checks),
        measures=tuple(_measures(result))[:_MOST] if isinstance(result, Finding) else (),
    )


def _status(result: Finding | Skipped, checks: Sequence[Check]) -> Status:
    if isinstance(result, Skipped):
        return "out of scope" if result.reason.startswith("not applicable") else "not run"
    states = {check.status for check in checks}
    harmless = result.severity == "none" or (result.severity == "low" and "pass" in states)
    if "fail" in states or not harmless:
        return "contrary evidence"
    return "not run" if result.unseen or "skipped" in states else "evidence"


def _check_evidence(check: Check) -> CheckEvidence:
    status = "accepted" if check.accepted else check.status
    return CheckEvidence(
        name=check.name, title=check.title, status=status, measured=check.shown, bound=check.bound
    )


def _measures(finding: Finding) -> Iterator[Measure]:
    for control in finding.controls:
        told = {
            "right, as the file says": control.claim,
            "right of training people": control.verified,
            "right of unseen people": control.control,
            "excess over unseen people": control.excess,
        }
        for name, found in told.items():
            if isinstance(found, Estimate):
                low, high = found.low, found.high
                yield Measure(
                    name=f"{control.of}: {name}", value=found.value, low=low, high=high, n=found.n
                )
    yield from _with_bounds(plain_data(finding.details), "", None)


def _with_bounds(data: object, of: str, n: int | None) -> Iterator[Measure]:
    """Yield the numbers of details that have a ``_low`` and a ``_high`` beside them."""
    if isinstance(data, list):
        for part in data:
            yield from _with_bounds(part, of, n)
    if not isinstance(data, Mapping):
        return
    own = "strongest test" if "strongest" in data else str(data.get("column", ""))
    name = " ".join(part for part in (of, own) if part)
    asked = [data[key] for key in ("members", "control") if isinstance(data.get(key), int)]
    n = sum(asked) or n
    for key, value in data.items():
        low, high, words = data.get(f"{key}_low"), data.get(f"{key}_high"), key.replace("_", " ")
        if _is_number(value) and _is_number(low) and _is_number(high):
            told = f"{name}: {words}" if name else words
            yield Measure(name=told, value=value, low=low, high=high, n=n)
        elif isinstance(value, Mapping):
            yield from _with_bounds(value, words, n)
        elif isinstance(value, list):
            yield from _with_bounds(value, name, n)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def coverage(question: Question, attacks: Sequence[AttackEvidence]) -> str:
    """Return whether the attacks of a question were run, whatever they found."""
    own, beside = _relevant(question, attacks)
    about = {one.status for one in own if one.id not in beside}
    if question.out_of_scope or about == {"out of scope"}:
        return "out of scope"
    ran = {one.people is not None for one in own if one.status != "out of scope"}
    return "not run" if True not in ran else "run in part" if False in ran else "run"


def _relevant(
    question: Question, attacks: Sequence[AttackEvidence]
) -> tuple[list[AttackEvidence], set[str]]:
    """Return the attacks of a question, and those of them of which a clear one says nothing."""
    own = [one for one in attacks if {*one.kinds} & {*question.kinds}]
    # That nothing lies beside the trees says nothing of what the trees tell.
    return own, set() if "exfiltration" in question.kinds else _ABOUT_THE_FILE


def _answer(question: Question, attacks: Sequence[AttackEvidence]) -> Answer:
    own, beside = _relevant(question, attacks)
    found = {one.status for one in own if one.status != "evidence" or one.id not in beside}
    none: Status = "out of scope" if question.out_of_scope else "not run"
    status = next((one for one in _WORST if one in found), none)
    silent = {"not run", "out of scope"} | ({"evidence"} if status == "evidence" else set())
    because = [f"{one.id}: {one.says.rstrip('.')}" for one in own if one.status in silent]
    if contrary := [one.id for one in own if one.status == "contrary evidence"]:
        because.insert(0, f"something was found by {', '.join(contrary)}")
    reason = question.out_of_scope or question.not_tested or "; ".join(because)
    return Answer(
        source=question.source,
        name=question.name,
        asks=question.asks,
        status=status,
        attacks=tuple(one.id for one in own),
        reason=reason or None,
    )


def worst_person(report: Report) -> WorstPerson:
    """Return the person who is found most surely: the smallest group that anything shows."""
    shown = [(one, part) for one in report.findings for part in one.evidence if part.people > 0]
    if not report.table.tells_people and not shown:
        step = "" if "train" in report.people else " (give --train)"
        return _untold(f"the file does not tell how many people are in its leaves{step}")
    finding, part = min(shown, key=lambda one: one[1].people, default=(None, None))
    smallest = _smallest(report)
    if part is not None and (smallest is None or part.people <= smallest.people):
        smallest = part
    if smallest is None:
        return _untold("no group of the model holds anybody")
    silent, n_trees = report.table.n_silent, report.forest.n_trees
    told = [f"{silent:,} of {n_trees:,} trees do not tell their people"] if silent else []
    if report.forest.records_are == "bootstrap":
        told.append("of those who were drawn for that tree: others may fit the rule")
    return WorstPerson(
        risk=1 / smallest.people,
        people=int(smallest.people),
        tree=smallest.tree,
        leaf=smallest.leaf,
        rule=smallest.rule,
        learns=smallest.says or None,
        attack=finding.id if finding is not None and smallest is part else None,
        reason="; ".join(told) or None,
    )


def _smallest(report: Report) -> Evidence | None:
    """Return the smallest group of the table; None where it holds nobody, or does not tell."""
    table, forest = report.table, report.forest
    if not table.tells_people or not len(table):
        return None
    at = int(table.size.argmin())
    tree, leaf = int(table.tree_of(at)), int(table.leaf[at])
    rule = sentence(rules_of(forest.trees[tree], [leaf]), forest.schema)
    return Evidence(tree=tree, leaf=leaf, people=int(table.size[at]), says="", rule=rule)


def _untold(reason: str) -> WorstPerson:
    return WorstPerson(
        risk=None,
        people=None,
        tree=None,
        leaf=None,
        rule=None,
        learns=None,
        attack=None,
        reason=reason,
    )
