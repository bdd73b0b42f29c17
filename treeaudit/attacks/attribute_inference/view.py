"""What TA104 measures and shows: values found of members, of unseen people, without the model."""

from collections.abc import Sequence
from dataclasses import dataclass

from treeaudit.attacks.distinct_people import skipped_rung
from treeaudit.findings.details import Count, Details, People, Phrase, Share, say
from treeaudit.findings.findings import (
    Control,
    Figure,
    Finding,
    Line,
    Mark,
    Plot,
    Rung,
    Skipped,
    View,
    details_of,
)
from treeaudit.findings.report import Report
from treeaudit.model.words import in_percent


@dataclass(frozen=True, slots=True, kw_only=True)
class InferredColumn(Details):
    """How often the hidden values of one column are found."""

    # Its name, and how many values it may have
    column: str
    candidates: int
    # Share of members and of control people whose value follows from the counts and the guess
    model_members: Share
    model_control: Share
    # From the guess without the model
    imputation_members: Share
    imputation_control: Share
    # From the most frequent value
    frequent_members: Share
    frequent_control: Share
    # From the rule of Fredrikson et al. (2015).
    fredrikson_members: Share
    fredrikson_control: Share
    # Members minus control people, both by the model, with its 95 % interval
    excess: float
    excess_low: float
    excess_high: float
    # Members by the model minus members by the guess, with its 95 % interval
    beyond_imputation: float
    beyond_imputation_low: float
    beyond_imputation_high: float
    given_away: bool  # Whether both are above 0 with 95 % confidence for all columns together


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributesDetails(Details):
    """Which columns the model gives away."""

    columns: tuple[InferredColumn, ...]  # Those that were attacked, the most identifying first
    # Names of those that are given away, and of those that were left out
    given_away: tuple[str, ...]
    not_attacked: tuple[str, ...]
    alpha: float  # Weight of the counts against the guess
    # People who were asked about, unseen people who were, and unseen people from whom the
    # population was learnt
    members: People
    control: People
    reference: People


_MOST_COLUMNS = 12
_KNOWS = "all of a person but one value"


def view(result: Finding | Skipped, report: Report) -> View:
    """Return a row per column: found with the model, on unseen people, without the model."""
    if isinstance(result, Skipped):
        return View(rungs=(skipped_rung(_KNOWS, result, "not run: {}"),))
    details = details_of(result, AttributesDetails)
    given, n = details.given_away, len(details.columns)
    where = "" if report.forest.n_trees == 1 else ", summed over all trees"
    return View(
        brief=_brief(given, n),
        unseen=_unseen_share(result, given),
        figure=Figure(
            number=People(result.people),
            counts=f"of whom the file gives away a hidden value{where}",
        ),
        rungs=(
            Rung(
                knows=say(_KNOWS),
                number=People(result.people),
                follows=say("given away beyond a guess"),
                nobody="given away beyond a guess",
            ),
        ),
        plots=_columns(result, given),
    )


def _unseen_share(finding: Finding, given: Sequence[str]) -> Phrase:
    """Return how often the column that is given away most is found for unseen people."""
    named = [c for c in finding.controls if c.of in given and c.control is not None]
    if not named:
        return say("within chance")
    worst = max(named, key=lambda c: 0.0 if c.excess is None else c.excess.value)
    unseen = 0.0 if worst.control is None else worst.control.value
    return say(f"{in_percent(unseen, 0)}, members {in_percent(worst.claim.value, 0)}")


def _brief(given: Sequence[str], n: int) -> Phrase:
    if given:
        return say("hidden values of {} of {} columns", len(given), n)
    return say("none beyond a guess, {}", Count(n, "column", "columns"))


def _columns(finding: Finding, given: Sequence[str]) -> tuple[Plot, ...]:
    order = sorted(
        finding.controls,
        key=lambda c: (c.of not in given, 0.0 if c.excess is None else -c.excess.value),
    )
    if not order:
        return ()
    said = "Square: training people, with the model. Dot: unseen people, with the model. Ring: "
    said += "unseen people, guessed without the model. Lines: 95 % intervals."
    if len(order) > _MOST_COLUMNS:
        said += f" {len(order) - _MOST_COLUMNS:,} more in report.json."
    plot = Plot(
        title=say("Values found, column by column"),
        lines=tuple(_line(control, control.of in given) for control in order[:_MOST_COLUMNS]),
        heads=("members", "unseen", "guess"),
        told=True,
        sentences=(say(said),),
        more=tuple(say("{}", control.sentence) for control in order),
    )
    return (plot,)


def _line(control: Control, given: bool) -> Line:
    return Line(
        name=say("{}{}", control.of[:60], " (given away)" if given else ""),
        marks=(
            Mark(kind="claim", share=control.claim),
            Mark(kind="unseen", share=control.control),
            Mark(kind="guess", share=control.baselines.get("guess without the model")),
        ),
    )
