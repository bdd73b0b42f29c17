"""What TA101 measures and shows: who is alone, what singles them out, the risk outside the data."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.distinct_people import (
    InAnyTree,
    headline_tree,
    in_any,
    in_worst_tree,
    number_of_tree,
)
from treeaudit.attacks.singling_out.population import Population, Risks
from treeaudit.findings.details import Agreeing, Details, People, Phrase, Share, Strong, called, say
from treeaudit.findings.findings import (
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
from treeaudit.model.rules import rules_of
from treeaudit.model.words import number_of
from treeaudit.people.records import Records
from treeaudit.stats import fact
from treeaudit.table.frame import hidden_without, people_by_feature, people_by_last_split

_MOST_LEAVES = 200

_MOST_COMPARED = 60_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution(Details):
    """What one feature does to the people in small leaves."""

    feature: str  # Its name
    # Those in small leaves whose rule has a condition on it
    people: People
    share: Share
    # Those whom its last condition alone puts below k
    last_split_people: People
    last_split_share: Share
    # With training data, the share of people in small leaves who would be among k people if the
    # feature were left out; None without
    hidden_share: Share | None
    hidden_n: People | None  # On how many people that rests: a draw where there are many leaves


def contribution(case: Case, small: Flag) -> tuple[Contribution, ...]:
    """Return the features on the way to ``small`` leaves of the table, the most important first."""
    table = case.table
    if not small.any():
        return ()
    index = int(table.per_tree(table.size * small).argmax())
    mine = table.rows_of(index)
    leaves = table.leaf[mine][small[mine]]
    size = table.size[mine][small[mine]]
    tree, features = case.forest.trees[index], case.forest.schema.features
    asked = people_by_feature(tree, leaves, size, len(features))
    last = people_by_last_split(tree, leaves, size, len(features), case.k)
    hidden = _hidden(case, index, leaves, size)
    total = int(size.sum())
    order = last if hidden is None else hidden[0]
    found = np.flatnonzero(asked)
    return tuple(
        Contribution(
            feature=features[i].name,
            people=People(int(asked[i])),
            share=Share.of(int(asked[i]), total),
            last_split_people=People(int(last[i])),
            last_split_share=Share.of(int(last[i]), total),
            hidden_share=None if hidden is None else Share(float(hidden[0][i])),
            hidden_n=None if hidden is None else People(hidden[1]),
        )
        for i in sorted(found.tolist(), key=lambda i: (-order[i], -last[i], -asked[i], i))
    )


def _hidden(case: Case, index: int, leaves: Int, size: Wide) -> tuple[Float, int] | None:
    """Leave each feature out in turn, for some of the small leaves."""
    # A draw of the rows is in a bootstrap tree; who would join is not known from all of them.
    if case.train is None or case.forest.records_are != "all":
        return None
    most = min(_MOST_LEAVES, max(1, _MOST_COMPARED // len(case.train)))
    if len(leaves) > most:
        rng = np.random.default_rng([case.seed, 0x50DA])
        chosen = np.sort(rng.choice(len(leaves), most, replace=False))
        leaves, size = leaves[chosen], size[chosen]
    rules = rules_of(case.forest.trees[index], leaves)
    hidden = hidden_without(rules, len(leaves), _compared(case, case.train), case.k)
    return (size[:, None] * hidden).sum(axis=0) / size.sum(), int(size.sum())


def _compared(case: Case, train: Records) -> Float:
    """Return the people as the model compares them."""
    values = train.values.astype(np.float32) if case.forest.single_precision else train.values
    return np.asarray(values, dtype=np.float64)


_BINS = ((1, 1), (2, 4), (5, 9), (10, 49), (50, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupSizes(Details):
    """Leaves and people whose group is of some size."""

    # The size, both ends inclusive; None where there is no bound
    low: int = called("from")
    high: int | None = called("to")
    # How many there are; of several trees all leaves, and the people of the tree that has the
    # most. A person counts in every leaf with a record of theirs.
    leaves: People
    people: People


@dataclass(frozen=True, slots=True, kw_only=True)
class UniquenessDetails(Details):
    """What the leaf sizes alone reveal."""

    # Leaves of one person
    unique_leaves: People
    unique_people: People
    # Leaves of fewer than `k` people
    below_k_leaves: People
    below_k_people: People
    # Different people of whom that is true in some tree
    unique_in_any_tree: InAnyTree
    below_k_in_any_tree: InAnyTree
    # The smallest acceptable group, and the smallest there is
    k: int
    min_leaf: People
    group_sizes: tuple[_GroupSizes, ...]  # Leaves and people by size of the group
    # The highest chance to find a person, and leaves by people
    prosecutor_risk: Share
    marketer_risk: Share
    trees_that_do_not_tell: int  # Trees without sizes
    below_k_share: Share  # Of people, in the worst tree
    # People minus parameters; None where the people are not told
    residual_degrees_of_freedom: int | None
    # Inside and outside the data
    risks: Risks
    population: Population | None
    contribution: tuple[Contribution, ...]  # What each feature does to those in small leaves


def group_sizes(
    size: Wide, per_tree: Callable[[Wide], Wide] | None = None
) -> tuple[_GroupSizes, ...]:
    """Return leaves and people by size of the group."""
    bins = []
    for low, high in _BINS:
        inside = (size >= low) & (size <= (high or size.max(initial=0)))
        leaves, held = int(np.count_nonzero(inside)), size * inside
        people = int(held.sum() if per_tree is None else per_tree(held).max())
        bins.append(
            _GroupSizes(low=low, high=high, leaves=People.leaves(leaves), people=People(people))
        )
    return tuple(bins)


_MOST_FEATURES = 8


def view(result: Finding | Skipped, report: Report) -> View:
    """Return what there is to show of group sizes."""
    if isinstance(result, Skipped):
        return View(harmless=_untold(report), reason=say("Group sizes: {}.", result.reason))
    details = details_of(result, UniquenessDetails)
    k = report.policy.k
    many = report.forest.n_trees > 1
    alone_once, below_once = details.unique_in_any_tree, details.below_k_in_any_tree
    distinct, tree = alone_once if alone_once.worst else below_once, headline_tree(report)
    alone = number_of_tree(result, tree, "unique_people", details.unique_people)
    below = number_of_tree(result, tree, "below_k_people", details.below_k_people)
    plot = _contribution(details.contribution, k)
    return View(
        brief=say("no group below {}", k) if not below_once.high else say(
            "{}{} alone, {} in groups below {}", "at least " if many else "",
            People.alone(alone_once.low), People.alone(below_once.low), k),
        figure=_figure(alone_once.worst, below_once.worst, k, in_worst_tree(report, distinct)),
        headline=_headline(alone, below, k),
        together=_in_any_tree(alone_once, report) if many else None,
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
        facts=(
            *_risks(details.risks),
            *_freedom(details.residual_degrees_of_freedom),
            *_population(details.population),
        ),
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


def _in_any_tree(distinct: InAnyTree, report: Report) -> Phrase | None:
    """Say how many are alone in one tree or another, where people were followed through all."""
    if distinct.low < distinct.high or distinct.low <= distinct.worst:
        return None
    drawn = ", knowing who was drawn" if report.forest.records_are == "bootstrap" else ""
    return say("can single out {} in one tree or another{}", distinct.low, drawn)


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


def _freedom(left: int | None) -> Iterator[tuple[str, Phrase]]:
    if left is not None:
        text = "{}: people, less two for each split and one for each leaf and label but the last"
        yield "Residual degrees of freedom", say(text, left)


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
