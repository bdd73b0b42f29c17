"""How TA105 is shown: every test with its interval beside chance."""

from collections.abc import Callable, Sequence

from treeaudit.attacks.distinct_people import skipped_rung
from treeaudit.attacks.membership_inference.roc import (
    MembershipDetails,
    NotMade,
    Separation,
    Test,
)
from treeaudit.findings.details import Agreeing, People, Phrase, Score, Share, say
from treeaudit.findings.findings import (
    Figure,
    Finding,
    Line,
    Mark,
    MarkKind,
    Plot,
    Rung,
    Skipped,
    View,
    details_of,
)
from treeaudit.findings.report import Report
from treeaudit.model.words import in_percent
from treeaudit.stats import Estimate

_KNOWS = "everything about a person, and asks whether they were in"
NAMES: dict[Test, str] = {
    "counts": "the counts of leaves",
    "loss": "the loss",
    "shadows": "shadow models",
}
"""The tests in a sentence."""
_Read = Callable[[Separation, int], Estimate | str]
"""Reads a share and what it rests on, or why there is none."""


def view(result: Finding | Skipped, report: Report) -> View:
    """Return every test with its interval beside chance."""
    if isinstance(result, Skipped):
        return View(rungs=(skipped_rung(_KNOWS, result, "not run: {}"),))
    details = details_of(result, MembershipDetails)
    auc, low, high = details.auc, details.auc_low, details.auc_high
    return View(
        brief=say(f"AUC {auc:.2f} ({low:.2f}–{high:.2f})"),
        unseen=say("a coin: AUC 0.50"),
        figure=Figure(number=Score(auc, low, high), counts="AUC{}; a coin has 0.5"),
        rungs=(
            Rung(
                knows=say(_KNOWS),
                number=say(in_percent(auc, 0)),
                follows=say(
                    "is the chance that the score of a member is above that of somebody else "
                    "(AUC; of a coin 50%)"
                ),
            ),
        ),
        plots=_plots(result),
    )


def _plots(finding: Finding) -> tuple[Plot, ...]:
    details = details_of(finding, MembershipDetails)
    told_apart = Plot(
        title=say(
            "Chance that the score of a member is above somebody else's (AUC; of a coin 50 %)"
        ),
        lines=_lines(details, _area, details.members + details.control, 0.5),
        sentences=_non_members(details),
    )
    # The control of this attack is about the first of the rates.
    said = tuple(say("{}", one.sentence) for one in finding.controls)
    return (
        told_apart,
        _rate(details, "1 %", at_1_percent, 0.01, said),
        _rate(details, "0.1 %", _at_0_1_percent, 0.001, ()),
    )


def _rate(
    details: MembershipDetails, alarms: str, read: _Read, chance: float, said: tuple[Phrase, ...]
) -> Plot:
    """Return a rate of every test, or why none of them has it."""
    title = say(f"Members recognised at {alarms} false alarms, by one threshold for everybody")
    lines = _lines(details, read, details.members, chance)
    if not any(line.marks for line in lines):
        reason = say("Not told: {}.", read(details, details.members))
        return Plot(title=title, lines=(), sentences=(reason,))
    return Plot(title=title, lines=lines, sentences=said)


def _lines(details: MembershipDetails, read: _Read, n: int, chance: float) -> tuple[Line, ...]:
    """Return a row per test, with its number or why it has none."""
    tests: list[tuple[str, MarkKind, Separation | NotMade]] = [
        ("Counts of leaves", "guess", details.references.counts),
        ("Loss of the model", "guess", details.references.loss),
        ("Shadow models", "guess", details.references.shadows),
    ]
    if details.n_tests > 1:
        tests.insert(0, ("The strongest, corrected for choosing", "unseen", details))
    lines = []
    for name, kind, test in tests:
        found = test.reason if isinstance(test, NotMade) else read(test, n)
        if isinstance(found, Estimate):
            mark = Mark(kind=kind, share=found)
            lines.append(Line(name=say(name), marks=(mark,), chance=chance))
        else:
            lines.append(Line(name=say(name), cells=(say("{}", found),)))
    return tuple(lines)


def _area(test: Separation, n: int) -> Estimate:
    return Estimate(value=test.auc, low=test.auc_low, high=test.auc_high, n=n)


def at_1_percent(test: Separation, n: int) -> Estimate | str:
    """Return the members recognised at 1 % false alarms, or why that is not told."""
    low, high = test.tpr_at_1_percent_fpr_low, test.tpr_at_1_percent_fpr_high
    return _share((test.tpr_at_1_percent_fpr, low, high), n, test.refused.tpr_at_1_percent_fpr)


def _at_0_1_percent(test: Separation, n: int) -> Estimate | str:
    low, high = test.tpr_at_0_1_percent_fpr_low, test.tpr_at_0_1_percent_fpr_high
    return _share((test.tpr_at_0_1_percent_fpr, low, high), n, test.refused.tpr_at_0_1_percent_fpr)


def _share(found: Sequence[Share | None], n: int, refused: str | None) -> Estimate | str:
    value, low, high = found
    if value is None or low is None or high is None:
        return refused or "too few control people"
    return Estimate(value=value, low=low, high=high, n=n)


def _non_members(details: MembershipDetails) -> tuple[Phrase, ...]:
    n = details.certain_non_members
    if not n:
        return ()
    return (
        say(
            "{} of {} unseen {} certainly not in the training data: the file excludes them "
            "without any doubt.",
            People.alone(n), People.alone(details.control),
            Agreeing(n, "person is", "people are"),
        ),
    )  # fmt: skip
