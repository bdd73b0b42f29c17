"""Known numbers: leaves that tell the number of everybody in them (TA109).

Where a model predicts a number, people need not be equal to be disclosed: it is enough
that their numbers are close. A leaf of ``n`` people keeps their mean ``m`` and often their
standard deviation ``s``. One person has ``m``; two have ``m - s`` and ``m + s``; of ``n``
each is off by at most ``s * sqrt(n - 1)``, and whoever guesses ``m`` of everybody is off by
``s`` as a root of the mean square. Trees that were grown by absolute errors keep the median
and how far numbers are from it on average. Where nearly everybody has one number, whoever
knows the few others knows it, and often whoever knows nobody. Where no number is below zero,
one person may be nearly all of a total of ``n m``, which the sum of the squares tells.

References
----------
Samuelson (1968), How deviant can you be? Li, Tao and Xiao (2008), Preservation of proximity
privacy in publishing numerical sensitive data. Hundepool et al. (2012), Statistical Disclosure
Control, section 4.2, the (n, k) rule.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from treeaudit.arrays import Flag, Float
from treeaudit.attacks.case import (
    Case,
    Need,
    evidence,
    looked_at,
    severity_of_share,
    smallest,
    unseen_trees,
)
from treeaudit.attacks.distinct_people import (
    InAnyTree,
    in_any,
    in_any_tree,
    in_worst_tree,
    number_of_tree,
    share_at_most,
    share_in_words,
    skipped_rung,
    worst_share,
)
from treeaudit.attacks.homogeneous_groups import NEARLY
from treeaudit.attacks.known_numbers.exceptions import nearly_certain_leaves
from treeaudit.attacks.known_numbers.spreads import dominating, spreads
from treeaudit.attacks.needs import PEOPLE
from treeaudit.findings.checks import Rule, most
from treeaudit.findings.details import Details, People, Share, say
from treeaudit.findings.findings import (
    About,
    Figure,
    Finding,
    Rung,
    Skipped,
    View,
    Words,
    details_of,
)
from treeaudit.findings.report import Report, Show
from treeaudit.model.forest import Forest
from treeaudit.model.words import in_percent


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNumbersDetails(Details):
    """How narrow the leaves say the numbers of their people are."""

    # How far a number may be off to be known, and the standard deviation of everybody's numbers;
    # None where it is not told and nothing was said: then only numbers that are told exactly
    # count. Where trees were grown by absolute errors or Poisson deviances, and no training
    # people are given, what the root keeps in the place of the deviation. The largest where trees
    # predict different numbers, each of which has its own.
    tolerance: float | None
    deviation: float | None
    # Where the spread inside a leaf is from: the `file`, the training `people` where the file
    # does not tell all, or `none`, so that only sizes tell
    spread_of: Literal["file", "people", "none"]
    # Alone in a leaf, or with others of the same number; of the tree with the most
    exact_people: People
    # Leaves whose numbers are off their mean by no more than the tolerance, as a root of the mean
    # square, or off their median on average, of draws where the file counts these; over all
    # trees, and of the tree with the most people in them
    known_leaves: People
    known_people: People
    # Of those, whom the mean, the spread and the size of the leaf bound within the tolerance,
    # every one; of the tree with the most
    certain_people: People
    # Those whose amount, whatever its sign, is at least nine tenths of the total of those of
    # their leaf; of the tree with the most. They are among the known.
    dominating_people: People
    dominating_at_most: People  # With those of whom that is not told
    # Of people, in the worst tree, and different people over all
    known_share: Share
    known_in_any_tree: InAnyTree
    # Known, or in a leaf in which all but one have one number within the tolerance, or 95 % or
    # more with fewer than k exceptions
    nearly_certain_leaves: People
    nearly_certain_people: People
    # Of the people in a tree, in the worst, and different people over all
    nearly_certain_share: Share
    nearly_certain_in_any_tree: InAnyTree
    # Of the people, with those in leaves where the file tells a grid of numbers, or zeros, and as
    # few exceptions fit what it keeps as more do
    nearly_certain_at_most: Share
    # The smallest spread of a leaf of two or more people; None where none is told
    narrowest: float | None


_KNOWS = "the same, and asks for the number"


def view(result: Finding | Skipped, report: Report) -> View:
    """Return what there is to show of the numbers in the groups; nothing of labels."""
    if isinstance(result, Skipped):
        labels = result.reason.startswith("not applicable")
        return View() if labels else View(rungs=(skipped_rung(_KNOWS, result),))
    details = details_of(result, KnownNumbersDetails)
    distinct, people = details.known_in_any_tree, People(result.people)
    within = "exactly" if details.tolerance is None else f"within {details.tolerance:.4g}"
    return View(
        brief=say("{} known ({})", People(result.people), details.known_share),
        figure=Figure(
            number=distinct.worst,
            counts=f"whose number is known {within}{in_worst_tree(report, distinct)}",
        ),
        headline=say(
            "knows the number of {} {}",
            People(number_of_tree(result, None, "", people)), within,
        ) if people and report.forest.n_trees == 1 else None,
        rungs=(
            Rung(
                knows=say(_KNOWS),
                number=people,
                follows=say("whose number is known {}{}", within, in_any(report, distinct)),
            ),
        ),
        facts=(
            (
                "How narrow",
                say(
                    "{} exactly, {} bounded within the tolerance for certain, {} with nine tenths "
                    "of the total of a leaf or more, if no number is below zero",
                    details.exact_people, details.certain_people, details.dominating_people,
                ),
            ),
        ),
    )  # fmt: skip


_EXACT = 1e-7
"""Of the deviation of everybody: what rounding leaves of a spread of zero."""


def _no_numbers(forest: Forest) -> str | None:
    """Say why a model tells nobody's number; None where it may."""
    if forest.schema.classes is not None:
        return "not applicable: the model predicts a label, not a number"
    if forest.answers in ("path", "leaf"):
        return "not applicable: the trees were grown without numbers to predict"
    return None


def _one_number(case: Case) -> str | None:
    """Say why nothing can be told of the numbers that a model predicts; None where it can."""
    missing = _no_numbers(case.forest)
    if missing is None and case.forest.trees[0].value is None:
        return case.forest.counts_reason or "the model does not tell which number it predicts"
    return missing


def _dominating_at_most(findings: Sequence[Finding], _: Forest) -> tuple[float, str]:
    most = max(details_of(one, KnownNumbersDetails).dominating_at_most for one in findings)
    return float(most), (
        f"of {most:,} {'leaf' if most == 1 else 'leaves'} the file does not tell whether one "
        "person has nine tenths of the total: the training data (--train) tell it unless who was "
        "drawn is not known"
    )


_NUMBERS = Need(missing=_one_number)
_CHECKS = (
    Rule(
        name="max-known-number-share",
        title="People whose number is known within the tolerance",
        bound="at most {:.1%}",
        tells_of="everybody",
        measure=share_at_most("known_share", "known_in_any_tree"),
        told=share_in_words("known_share", "known_in_any_tree"),
        share=True,
        needless=_no_numbers,
        step="make leaves larger (a higher min_samples_leaf) until the numbers in each differ",
        rests_on=("unit", "tolerance", "spread", "train"),
    ),
    NEARLY,
    Rule(
        name="max-dominating-people",
        title="People whose number is nine tenths of the total of a leaf",
        bound="at most {:,.0f}",
        measure=most("dominating_people"),
        perhaps=_dominating_at_most,
        needless=_no_numbers,
        step="cap the largest numbers before training",
        rests_on=("unit", "tolerance", "spread", "train"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNumbers:
    """Count people whose number follows from their leaf within a tolerance."""

    id: ClassVar[str] = "TA109"
    title: ClassVar[str] = "Known numbers"
    words: ClassVar[Words] = Words(
        kinds=("attribute inference", "regurgitation"),
        attacker="A leaf tells the mean of the numbers of its people, and often how much they "
        "differ. Alone in a leaf, a person has exactly that number; where the numbers of a leaf "
        "hardly differ, everybody in it has it nearly. Where all but few have one number, whoever "
        "knows the few knows the rest.",
        assumes="the attacker has the file and knows the features on the path",
        remedy="train with larger leaves (min_samples_leaf), and write the file anew without the "
        "spread of its leaves (treeaudit release)",
        limit="where the file keeps no spread, only people alone are told of unless the training "
        "people are given; a number that anybody behind the rule has is a fact of the population",
        reference="Samuelson (1968); Li, Tao and Xiao (2008), proximity privacy; Hundepool et al. "
        "(2012), section 4.2, dominance",
    )
    about: ClassVar[About] = "table"
    checks: ClassVar[tuple[Rule, ...]] = _CHECKS
    view: ClassVar[Show] = staticmethod(view)
    needs: ClassVar[tuple[Need, ...]] = (_NUMBERS, PEOPLE)
    details: ClassVar[type[Details]] = KnownNumbersDetails

    def run(self, case: Case) -> Finding | Skipped:
        """Return whose number is known."""
        table, size = case.table, case.table.size
        known_of = spreads(case)
        spread, deviation = known_of.spread, known_of.deviation
        # A spread that is not told is none: such comparisons are false.
        exact = (size == 1) | (spread <= _EXACT * np.nan_to_num(known_of.scale))
        known = exact | (spread <= known_of.tolerance)
        certain = exact | (known_of.reach <= known_of.tolerance)
        alone, perhaps_alone = dominating(case, known_of)
        near, perhaps_near = nearly_certain_leaves(case, known_of)
        nearly = known | near
        tolerance = _largest(known_of.tolerance)
        people = np.where(known, size, alone)
        distinct = _in_any_tree(case, known, alone & ~known)
        mine, every = table.per_tree(people), table.per_tree(size)
        share = Share.of(int(mine[0]), int(every[0])) if len(mine) == 1 else Share(
            float((mine / np.maximum(every, 1)).max()))  # fmt: skip
        share_nearly = worst_share(case, nearly)
        severity = severity_of_share(max(share, share_nearly))
        unseen = unseen_trees(case) + _untold(known_of.untold & ~nearly, changed=known_of.changed)
        unseen += _lost(known_of.lost & ~known)
        if case.train is not None and case.train.unlabelled:
            # Whose numbers were refused, of those nothing was looked at.
            unseen = (*unseen, case.train.unlabelled)
        if severity == "none" and unseen:
            return Skipped(id=self.id, title=self.title, reason=unseen[0])
        several = spread[(size > 1) & ~np.isnan(spread)]
        details = KnownNumbersDetails(
            tolerance=tolerance,
            deviation=deviation,
            spread_of=known_of.whose,
            exact_people=_most(case, exact),
            known_leaves=People.leaves(int((known | alone).sum())),
            known_people=distinct.worst,
            certain_people=_most(case, certain),
            dominating_people=People(int(table.per_tree(alone).max())),
            dominating_at_most=People(int(table.per_tree(alone | perhaps_alone).max())),
            known_share=share,
            known_in_any_tree=distinct,
            nearly_certain_leaves=People.leaves(int(nearly.sum())),
            nearly_certain_people=_most(case, nearly),
            nearly_certain_share=share_nearly,
            nearly_certain_in_any_tree=in_any_tree(case, size * nearly),
            nearly_certain_at_most=Share(_at_most(case, nearly | perhaps_near)),
            narrowest=float(several.min()) if len(several) else None,
        )
        what = "leaf sizes" if known_of.whose == "none" else "sizes and spreads of the leaves"
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity,
            leaves=int((known | alone).sum()),
            people=distinct.worst,
            summary=_summary(details, case.forest.n_trees > 1),
            looked=looked_at(what, case),
            unseen=unseen,
            details=details,
            evidence=evidence(case, smallest(size, known | alone)),
        )


def _untold(leaves: Flag, *, changed: bool) -> tuple[str, ...]:
    """Say that the file holds spreads that are not of people, or of other numbers."""
    n = int(leaves.sum())
    if not n:
        return ()
    why = "rows weighed differently in training"
    if changed:
        why = "the numbers of the leaves are in units of the changed target"
    return (
        f"{why}, so that the file does not tell how the numbers of the people in {n:,} "
        f"{'leaf' if n == 1 else 'leaves'} differ; the training people would (--train)",
    )


def _lost(leaves: Flag) -> tuple[str, ...]:
    """Say that spreads are lost to rounding."""
    n = int(leaves.sum())
    if not n:
        return ()
    return (
        f"numbers are so far from zero that rounding hides how those of the people in {n:,} "
        f"{'leaf' if n == 1 else 'leaves'} differ; the training people would tell (--train)",
    )


def _in_any_tree(case: Case, known: Flag, alone: Flag) -> InAnyTree:
    """Bound how many different people are known, with one person of each of some leaves."""
    table = case.table
    people = np.where(known, table.size, alone)
    if not table.in_persons or not alone.any():
        return in_any_tree(case, people)
    # Who of several in a leaf is the one, nobody can follow.
    distinct, each = in_any_tree(case, np.where(known, table.size, 0)), table.per_tree(people)
    worst = max(int(each.max()), distinct.worst)
    high = min(max(distinct.among, worst), distinct.high + int(alone.sum()))
    return InAnyTree(
        tree=int(each.argmax()),
        worst=People(worst),
        low=People(max(distinct.low, min(worst, high))),
        high=People(max(high, distinct.low)),
        among=People(max(distinct.among, high)),
    )


def _largest(numbers: Float) -> float | None:
    told = numbers[~np.isnan(numbers)]
    return float(told.max()) if len(told) else None


def _at_most(case: Case, leaves: Flag) -> float:
    """Return the largest share of people who may be meant by some leaves."""
    return max(worst_share(case, leaves), in_any_tree(case, case.table.size * leaves).share)


def _most(case: Case, chosen: Flag) -> People:
    """Return the people of some leaves, of the tree that has the most."""
    return People(int(case.table.per_tree(np.where(chosen, case.table.size, 0)).max()))


def _summary(details: KnownNumbersDetails, many: bool) -> str:
    told, nearly = _of_known(details, many), details.nearly_certain_people
    if details.nearly_certain_leaves == details.known_leaves or details.dominating_people:
        return told
    if many:
        return (
            f"{told} In {details.nearly_certain_leaves:,} leaves all but few have the same; in the "
            f"worst tree that is {details.nearly_certain_share:.1%} of the people in it."
        )
    leaves = "1 leaf" if details.nearly_certain_leaves == 1 else (
        f"{details.nearly_certain_leaves:,} leaves")  # fmt: skip
    return (
        f"{told} That of {nearly:,} ({details.nearly_certain_share:.1%}) is nearly certain: "
        f"all but few have the same in {leaves}."
    )


def _of_known(details: KnownNumbersDetails, many: bool) -> str:
    people, within = details.known_people, ""
    if details.tolerance is not None:
        within = f" within {details.tolerance:.4g}"
    if not details.known_leaves:
        if details.narrowest is None:
            return "Nobody is alone in a leaf, and the file does not tell how numbers differ."
        return f"No leaf tells the numbers of its people{within or ' exactly'}."
    if details.dominating_people:
        within = f"{within or ' exactly'}, or as nine tenths of the total of a leaf"
    if many:
        whose = "some" if details.dominating_people else "all"
        return (
            f"In {details.known_leaves:,} leaves the numbers of {whose} are known{within}; in the "
            f"worst tree that is {in_percent(details.known_share)} of the people in it. Different "
            f"people in those of any tree: {details.known_in_any_tree.text}."
        )
    who = "person is" if people == 1 else "people is"
    return (
        f"The number of {people:,} {who} known{within} ({in_percent(details.known_share)}), of "
        f"{details.exact_people:,} exactly."
    )
