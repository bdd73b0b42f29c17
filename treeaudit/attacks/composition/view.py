"""What TA106 measures and shows: labels given back and people alone, over the number of trees."""

from dataclasses import dataclass
from typing import Literal

from treeaudit.attacks.composition.equations import not_applicable
from treeaudit.attacks.distinct_people import skipped_rung
from treeaudit.findings.details import Count, Details, People, Phrase, Share, only_if_given, say
from treeaudit.findings.findings import (
    Curve,
    Figure,
    Finding,
    Line,
    Mark,
    Plot,
    Rung,
    Series,
    Skipped,
    View,
    details_of,
)
from treeaudit.findings.report import Report
from treeaudit.stats import Estimate, fact


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstTrees(Details):
    """What the first trees say together."""

    trees: int  # How many
    groups: People  # Groups of people who share all their leaves in them
    # People who share them with nobody, and in groups below k
    alone: People
    below_k: People
    smallest: People  # People in the smallest group
    # Share of the people whose answer they give back; not written where that was not tried
    joint: Share | None = only_if_given()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositionDetails(Details):
    """What all trees say together of the people they were trained on; counted, not sampled."""

    train: People  # The people: all that were given
    # What the leaves tell: shares of labels, labels alone, numbers, or the steps of a boosting
    by: Literal["shares", "labels", "numbers", "steps"]
    draws_known: bool  # Whether every tree is known to hold all people
    # Share of the people whose label, or number within `tolerance`, the attack gives back, and
    # the model itself answers
    joint: Share
    own: Share
    excess: Share  # `joint` minus `own`; below 0 where the attack finds less
    # The same for unseen people whom the attack answers by the same rule; None without any
    unseen_excess: Estimate | None
    memorised: Share  # `excess` less the lower end of that, of which nothing below 0 counts
    # People called a label rightly less people called it wrongly, beyond those of the model (of
    # nobody, where it is more often wrong), of all who have it: of the label of which that is
    # most; None for numbers
    excess_of_one_label: Share | None
    memorised_of_one_label: Share | None  # The same less the lower end of that of unseen people
    # People whose label is certain to somebody who knows everybody's features, or who are in a
    # group below `k` of which all labels or the mean of the numbers are; less those whom a leaf
    # of one label tells of. 0 where the draws of the trees hide who is in them.
    certain: People
    certain_alone: People  # Of these, who share all leaves with nobody: their own number or label
    majority: Share | None  # Share of the most frequent label; None for numbers
    # People of the least frequent label, and the same two shares of them; None for numbers
    rarest_people: People | None
    rarest_joint: Share | None
    rarest_own: Share | None
    # How far a number may be off: 1 % of the standard deviation; None for labels
    tolerance: float | None
    equations: int  # Leaves that say something of somebody
    # Steps of the solution, and whether the last 25 changed fewer than one answer in a thousand
    steps: int
    settled: bool
    k: int  # The smallest acceptable group
    curve: tuple[FirstTrees, ...]  # The same for the first trees, the last entry for all of them


_KNOWS = "everybody's features, and puts all trees together"


def view(result: Finding | Skipped, report: Report) -> View:
    """Return what is given back beside the model's own answers, and who is alone."""
    if isinstance(result, Skipped):
        if not_applicable(report.forest) is not None:
            return View()
        return View(rungs=(skipped_rung(_KNOWS, result),))
    details = details_of(result, CompositionDetails)
    what = "number" if details.tolerance is not None else "label"
    last, own = details.curve[-1], say("{} by the model's own answers", details.own)
    return View(
        brief=say(f"{{}} of {what}s given back, {{}}", details.joint, own),
        figure=Figure(
            number=People(result.people),
            counts=f"more whose {what} all trees together give back than the model itself answers",
        ),
        reason=say(
            "All trees together set {} of {} apart from everybody else.",
            People.alone(last.alone), details.train,
        ),
        rungs=(
            Rung(
                knows=say(_KNOWS),
                number=say("{}", details.joint),
                follows=say(f"of the {what}s given back; {{}}", own),
            ),
        ),
        facts=(
            (
                "All leaves together",
                say("{} with leaves that nobody else has, {} in groups below {}",
                    last.alone, last.below_k, details.k),
            ),
            *_certain(details),
            *_rarest(details),
        ),
        plots=(_given_back(details, what),),
        picture=_apart(details),
    )  # fmt: skip


def _certain(details: CompositionDetails) -> tuple[tuple[str, Phrase], ...]:
    if not details.certain:
        return ()
    text = "{} to somebody who knows everybody's features, {} of them alone with their leaves"
    return (("Certain", say(text, details.certain, details.certain_alone)),)


def _rarest(details: CompositionDetails) -> tuple[tuple[str, Phrase], ...]:
    people, joint, own = details.rarest_people, details.rarest_joint, details.rarest_own
    if people is None or joint is None or own is None:
        return ()
    text = "of {} who have it {} given back, {} by the model's own answers"
    return (("Rarest label", say(text, people, joint, own)),)


def _given_back(details: CompositionDetails, what: str) -> Plot:
    shares = [
        (say("{}", Count(at.trees, "tree", "trees")), at.joint)
        for at in details.curve
        if at.joint is not None
    ]
    shares.append((say("the model's own answers"), details.own))
    if details.majority is not None:
        shares.append((say("the most frequent label"), details.majority))
    return Plot(
        title=say(f"People whose {what} is given back"),
        lines=tuple(_bar(name, share) for name, share in shares),
        heads=("people",),
    )


def _apart(details: CompositionDetails) -> Curve:
    first = details.curve
    return Curve(
        title="All trees together: who shares their leaves with whom",
        name="People who share all their leaves with nobody or with few, and groups of people",
        axis="trees put together",
        at=tuple(one.trees for one in first),
        series=(
            Series(name="alone with their leaves", values=tuple(one.alone for one in first)),
            Series(
                name=f"in a group below {details.k}", values=tuple(one.below_k for one in first)
            ),
            Series(name="groups", values=tuple(one.groups for one in first)),
        ),
        most=details.train,
    )


def _bar(name: Phrase, share: Share) -> Line:
    mark = Mark(kind="part", share=fact(share, share.whole or 0))
    return Line(name=name, marks=(mark,), cells=(say("{}", share),))
