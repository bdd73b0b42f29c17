"""Claim, verification and control: what was memorised, and what holds for everybody."""

from collections.abc import Iterator
from dataclasses import dataclass

from treeaudit.attacks.control import explained, memory
from treeaudit.findings.findings import About, Control, Finding
from treeaudit.findings.report import Report, view_of
from treeaudit.model.words import number_of
from treeaudit.reports.whiskers import Drawing, Row, share_row
from treeaudit.reports.wording import in_words, rate
from treeaudit.stats import Estimate

__all__ = ["Held", "control_plots", "control_text", "held_against"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One claim, and how many people it holds of beyond what unseen people would show."""

    verdict: str
    tone: str
    text: str


def control_plots(finding: Finding) -> tuple[Drawing, ...]:
    """Return a plot per control of a finding."""
    return tuple(
        Drawing(
            title=f"{control.of[:1].upper()}{control.of[1:]}",
            lines=tuple(_lines(control)),
            sentences=(control.sentence,),
        )
        for control in finding.controls
    )


def _lines(control: Control) -> Iterator[Row]:
    yield share_row("File claims", "claim", control.claim)
    if control.verified is not None:
        yield share_row("Training people", "seen", control.verified)
    if control.control is not None:
        yield share_row("Unseen people", "unseen", control.control)
    for name, guess in control.baselines.items():
        plain = name if name.startswith("guess") else f"guess: {name}"
        yield share_row(f"{plain[:1].upper()}{plain[1:]}", "guess", guess)


def _memorised(found: Estimate) -> str:
    said = in_words(memory(found))
    return f"{said[:1].upper()}{said[1:]}"


def held_against(report: Report) -> list[Held]:
    """Return what the verdict card says of memory and fact, claim by claim.

    Where no unseen people were given, that nobody can tell; nothing where there
    is no such claim.
    """
    views = [view_of(report, result) for result in report.results]
    if "test" not in report.people and any(view.asks_control for view in views):
        text = "Only unseen people (--test) tell what of this is memory and what a fact of "
        text += "the population"
        return [Held(verdict="Not decided", tone="skip", text=text)]
    if "test" not in report.people:
        return []
    told: dict[object, Control] = {}
    for control in (control for view in views for control in view.held):
        # Where every small leaf has one label, two claims are about the same people.
        told.setdefault((control.claim, control.verified, control.control), control)
    return [_held(report, control) for control in told.values()]


def _held(report: Report, control: Control) -> Held:
    found = control.memorised
    certain = control.excess is not None and control.excess.low > 0
    return Held(
        verdict="Not decided" if found is None else _memorised(found),
        tone="info" if explained(control) else "bad" if certain else "skip",
        text=_claim_text(report, control),
    )


def _claim_text(report: Report, control: Control) -> str:
    over = ", counted in every tree" if report.forest.n_trees > 1 else ""
    where = f"In {control.of} ({number_of(control.claim.n, 'person', 'people')}{over})"
    if control.control is None:
        return f"{where} no unseen person fits"
    return (
        f"{where} the label fits {rate(control.control)} of unseen people, "
        f"against {rate(control.verified or control.claim)} in training"
    )


def control_text(report: Report, finding: Finding, about: About) -> str:
    """Return what the row "Control" of a card says: what was given, or what to give."""
    if about == "file":
        return "none needed: this is read off the file, not inferred"
    given = [
        f"{rows:,} {what} people of {name}"
        for role, what in (("test", "unseen"), ("train", "training"))
        if role in report.people
        for name, rows in (report.people[role],)
    ]
    if not given:
        return (
            "not measured: this is the claim of the file alone; give people who were not in the "
            "training data with --test"
        )
    text = " and ".join(given)
    if "test" not in report.people:
        return f"{text} verify the claim; only unseen people (--test) tell memory from fact"
    if not finding.controls and about == "table":
        return f"{text} were given, but this claim is not about labels that could be compared"
    return text
