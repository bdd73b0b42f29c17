"""What TA101 shows: who is alone, what singles them out, the risk outside the data."""

from collections.abc import Iterator, Sequence

from treeaudit.attacks.distinct_people import (
    InAnyTree,
    headline_tree,
    in_any,
    number_of_tree,
    where,
)
from treeaudit.attacks.singling_out.details import Contribution, UniquenessDetails
from treeaudit.attacks.singling_out.population import Population, Risks
from treeaudit.findings.findings import Finding, Skipped, details_of
from treeaudit.findings.numbers import Agreeing, People, Phrase, Share, Strong, say
from treeaudit.findings.report import Report
from treeaudit.findings.view import Figure, Line, Mark, Plot, Rung, View
from treeaudit.model.words import number_of
from treeaudit.stats import fact

_MOST_FEATURES = 8


def view(result: Finding | Skipped, report: Report) -> View:
    """Return what there is to show of group sizes."""
    if isinstance(result, Skipped):
        return View(harmless=_untold(report), reason=say("Group sizes: {}.", result.reason))
    details = details_of(result, UniquenessDetails)
    k = report.policy.k
    many = report.forest.n_trees > 1
    alone_once, below_once = details.unique_in_any_tree, details.below_k_in_any_tree
    once, tree = alone_once if alone_once.worst else below_once, headline_tree(report)
    alone = number_of_tree(result, tree, "unique_people", details.unique_people)
    below = number_of_tree(result, tree, "below_k_people", details.below_k_people)
    small = details.below_k_leaves if many else details.below_k_people
    noun = ("leaves", "leaves") if many else ("", "")
    plot = _contribution(details.contribution, k)
    return View(
        brief=say("{} alone, {} below {}", People(details.unique_leaves, *noun),
                  People.alone(small), k),
        figure=_figure(alone_once.worst, below_once.worst, k, where(report, once)),
        headline=_headline(alone, below, k),
        together=_together(alone_once) if many else None,
        harmless=say(
            "Nobody stands alone in this file: every group holds at least {}",
            details.min_leaf,
        ),
        reason=_reason(result, report),
        rungs=(
            Rung(
                knows=say("a person's features on the path"),
                number=People(result.people),
                follows=say("found in a group of fewer than {}{}", k, in_any(report, below_once)),
            ),
        ),
        facts=(*_risks(details.risks), *_population(details.population)),
        plots=() if plot is None else (plot,),
        held=result.controls,
    )  # fmt: skip


def _untold(report: Report) -> Phrase:
    if report.bound:
        return say(
            "What this file can give away about any one person is bounded by {}, by its own "
            "ledger. It does not tell the sizes of its groups",
            Strong(report.bound),
        )
    return say(
        "This file does not tell how many people are in a group: {}", Strong("nothing was measured")
    )


def _figure(alone: int, below: int, k: int, where: str) -> Figure:
    if alone:
        return Figure(number=People(alone), counts=f"alone in a leaf{where}")
    return Figure(number=People(below), counts=f"in leaves of fewer than {k}{where}")


def _headline(alone: int, below: int, k: int) -> Phrase | None:
    if alone:
        return say("can single out {}", People(alone))
    if below:
        return say("can narrow {} down to groups of fewer than {}", People(below), k)
    return None


def _together(once: InAnyTree) -> Phrase | None:
    """Say how many are alone in one tree or another, where people were followed through all."""
    if once.low < once.high or once.low <= once.worst:
        return None
    return say("can single out {} in one tree or another", once.low)


def _reason(finding: Finding, report: Report) -> Phrase:
    leaves, k = len(report.table.leaf), report.policy.k
    smallest = details_of(finding, UniquenessDetails).min_leaf
    if not finding.leaves:
        groups = "The one group holds" if leaves == 1 else f"All {leaves:,} groups hold"
        return say(f"{groups} at least {number_of(k, 'person', 'people')}.")
    if leaves == 1:
        return say("The one group holds {}, fewer than {}.", smallest, k)
    few = finding.leaves
    return say(
        "{} of {} groups {} fewer than {} people; the smallest holds {}.",
        People.alone(few), leaves, Agreeing(few, "holds", "hold"), k, smallest,
    )  # fmt: skip


def _contribution(entries: Sequence[Contribution], k: int) -> Plot | None:
    """Return which features single people out, the most important first."""
    if not entries:
        return None
    tried = entries[0].hidden_share is not None
    total = round(entries[0].people / entries[0].share)
    n = int(entries[0].hidden_n or total) if tried else total
    lines = []
    for entry in entries:
        share = entry.hidden_share if tried else entry.last_split_share
        if share:
            found = fact(share, n)
            lines.append(
                Line(
                    name=say("{}", entry.feature[:60]),
                    marks=(Mark(kind="part", share=found),),
                    cells=(say("{}", found),),
                )
            )
    if not lines:
        return None
    if tried:
        title = "What singles them out: left out of the rule, it would hide"
        said = say(
            "Share of the {} below {} who would be among at least {} if this one feature were "
            "left out of the rule of their leaf.",
            People(n), k, k,
        )  # fmt: skip
    else:
        title = "What singles them out: the last condition on the way"
        said = say(
            "Share of the {} below {} whom this feature alone, as the last condition of their "
            "rule, puts below {}.",
            People(n), k, k,
        )  # fmt: skip
    return Plot(
        title=say(title), lines=tuple(lines), most=_MOST_FEATURES, heads=("share",),
        sentences=(said,),
    )  # fmt: skip


def _risks(found: Risks) -> Iterator[tuple[str, Phrase]]:
    for title, risk, knows in (
        (
            "Chance to find one chosen person",
            found.prosecutor,
            "who knows that the person is in the data (prosecutor risk)",
        ),
        (
            "The same, not knowing",
            found.journalist,
            "who does not know whether the person is in the data (journalist risk)",
        ),
    ):
        if risk is not None:
            text = say(
                "for somebody {}: {} for the most exposed person, {} on average, above {} for {} "
                "of the people",
                knows, Share(risk.highest), Share(risk.average), found.threshold,
                Share(risk.above_threshold),
            )  # fmt: skip
            yield title, text
    guessed = ", an estimate" if found.estimated else ""
    yield (
        "Chance over everybody",
        say(
            "of somebody who tries to find everybody, {} are found rightly (marketer risk){}",
            found.marketer,
            guessed,
        ),
    )


def _population(found: Population | None) -> Iterator[tuple[str, Phrase]]:
    if found is None:
        return
    alone = found.alone_in_both
    if alone.counted is not None:
        counted = alone.counted
        text = (
            f"of {found.alone_in_data:,} alone in the data, {counted.value:,.0f} "
            f"({counted.low:,.0f}–{counted.high:,.0f}) are alone among {found.people:,} people "
            f"as well, counted on unseen people"
        )
        yield "Population", say("{}", text)
    named = (
        ()
        if alone.counted is not None
        else (
            ("Pitman", alone.pitman),
            ("Zayatz", alone.zayatz),
            ("SNB", alone.slide_negative_binomial),
        )
    )
    both = [f"{value:,.1f} ({name})" for name, value in named if value is not None]
    if both:
        text = (
            f"of {found.alone_in_data:,} alone in the data, {', '.join(both)} are alone among "
            f"{found.people:,} people as well; {found.assumes}"
        )
        yield "Population", say("{}", text)
    others = found.others_per_unique_leaf
    if others:
        text = (
            f"{others.value:,.1f} ({others.low:,.1f}–{others.high:,.1f}) further people "
            f"of the population for each leaf of one person, by {others.n:,} unseen people"
        )
        yield "Lookalikes", say("{}", text)
