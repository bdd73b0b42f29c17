"""What TA105 shows: how well each test tells members, and what chance gives."""

from collections.abc import Mapping
from typing import Any

from treeaudit.attacks.showing import rung_not_run
from treeaudit.findings import Finding, Skipped
from treeaudit.numbers import Agreeing, Either, People, Phrase, Prose, Score, exactly, say
from treeaudit.report import Report
from treeaudit.stats import Estimate
from treeaudit.view import Figure, Line, Mark, MarkKind, Plot, Rung, View

__all__ = ["view"]

_KNOWS = "everything about a person, and asks whether they were in"
_TESTS = {"loss": "Loss of the model", "lira": "LiRA, shadow models"}
_RATES = {
    "tpr_at_1_percent_fpr": ("Members recognised at 1 % false alarms", 0.01),
    "tpr_at_0_1_percent_fpr": ("Members recognised at 0.1 % false alarms", 0.001),
}


def view(result: Finding | Skipped, report: Report) -> View:
    """Return every test with its interval beside chance."""
    if isinstance(result, Skipped):
        return View(rungs=(rung_not_run(_KNOWS, result, "not run: {}"),))
    details = result.details
    auc, low, high = (details[name] for name in ("auc", "auc_low", "auc_high"))
    return View(
        brief=say(f"AUC {auc:.2f} ({low:.2f}–{high:.2f})"),
        unseen=say("a coin: AUC 0.50"),
        figure=Figure(number=Score(auc, low, high), counts="AUC{}; a coin has 0.5"),
        rungs=(
            Rung(
                knows=say(_KNOWS),
                number=say(f"{auc:.0%}"),
                follows=say(
                    "of pairs of a member and somebody else are told apart"
                    + ("" if low > 0.5 else "; a coin tells 50%")
                ),
            ),
        ),
        plots=_plots(result),
    )


def _plots(finding: Finding) -> tuple[Plot, ...]:
    details = finding.details
    tests: list[tuple[str, MarkKind, Mapping[str, Any]]] = [("Counts of leaves", "unseen", details)]
    tests += [
        (_TESTS.get(name, name), "guess", found) for name, found in details["references"].items()
    ]
    members, control = details["members"], details["control"]
    told_apart = Plot(
        title=say("A member told from somebody else (AUC; a coin has 50 %)"),
        lines=tuple(_line(*test, "auc", members + control, 0.5) for test in tests),
        sentences=_non_members(details),
    )
    rates = []
    for key, (title, chance) in _RATES.items():
        if all(found.get(key) is None for _, _, found in tests):
            reason = say("Not told: {}.", _refused(details, key))
            rates.append(Plot(title=say(title), lines=(), sentences=(reason,)))
            continue
        # The control of this attack is about the first of the rates.
        said = finding.controls if key == next(iter(_RATES)) else ()
        rates.append(
            Plot(
                title=say(title),
                lines=tuple(_line(*test, key, members, chance) for test in tests),
                sentences=tuple(exactly(one.sentence) for one in said),
            )
        )
    return (told_apart, *rates)


def _line(
    name: str, kind: MarkKind, found: Mapping[str, Any], key: str, n: int, chance: float
) -> Line:
    """Return a row of a test, or why it has no number."""
    value = found.get(key)
    if value is None:
        reason = Prose(found["reason"]) if found.get("reason") else _refused(found, key)
        return Line(name=say(name), cells=(say("{}", reason),))
    share = Estimate(value=value, low=found[f"{key}_low"], high=found[f"{key}_high"], n=n)
    return Line(name=say(name), marks=(Mark(kind=kind, share=share),), chance=chance)


def _refused(found: Mapping[str, Any], key: str) -> Either:
    few = "too few control people"
    return Either(str(found.get("refused", {}).get(key, few)), few)


def _non_members(details: Mapping[str, Any]) -> tuple[Phrase, ...]:
    n = details["certain_non_members"]
    if not n:
        return ()
    return (
        say(
            "{} of {} unseen {} certainly not in the training data: the file excludes them "
            "without any doubt.",
            People.alone(n), People.alone(details["control"]),
            Agreeing(n, "person is", "people are"),
        ),
    )  # fmt: skip
