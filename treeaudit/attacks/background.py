"""Background knowledge: what falls when others are known (TA103).

An attacker who knows the labels of some people in a leaf takes them out; when
one label is left, everybody else is disclosed. With counts c the fewest people
that are enough is n minus the largest count. Other knowledge does it too: what
the target does not have, what follows from what, what is publicly known.

References
----------
Wakabayashi et al. (2024), section 3.1, background knowledge attack: of
{yes: 1, no: 2}, knowing the one "yes" discloses the two others; and section
2.2.3, Umeko. Machanavajjhala et al. (2006), l-diversity, section 2. Martin et
al. (2007), Worst-case background knowledge. Chen et al. (2007), Privacy skyline.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.background_control import one_known
from treeaudit.attacks.background_curves import knowledge_curves
from treeaudit.attacks.background_known import Fallen, taken_out
from treeaudit.attacks.background_prior import Inferred, under_prior
from treeaudit.attacks.background_view import view
from treeaudit.attacks.case import Case, Need, evidence, looked_at, severity_of_share, unseen_trees
from treeaudit.attacks.control import lowered
from treeaudit.attacks.needs import CLASS_COUNTS
from treeaudit.checks import Rule
from treeaudit.findings import About, Control, Finding, Severity, Skipped, Words
from treeaudit.knowledge.vectors import vectors_of
from treeaudit.report import Show
from treeaudit.tree import Forest

__all__ = ["Background"]

Wide = npt.NDArray[np.int64]


def _by_one_known(findings: Sequence[Finding], _: Forest) -> float:
    """Measure the people who fall once the best other person is known."""
    return float(findings[0].details["people_disclosed_by_known"][1])


_BY_ONE_KNOWN = Rule(
    name="max-disclosed-by-one-known",
    title="People disclosed by knowing one other",
    bound="at most {:,.0f}",
    measure=_by_one_known,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """Count people who are disclosed once the attacker knows something already.

    Attributes
    ----------
    most_known
        The largest number of known people, negations and implications.
    certainty
        From which probability on a label counts as disclosed by a public prior.

    Notes
    -----
    ``details`` of the finding. Lists are indexed by how much is known, from 0.

    ``people_disclosed_by_known``
        People whose label is certain if the attacker knows the r best others of
        their leaf.
    ``leaves_by_known``
        Leaves for which exactly r known people are the fewest that are enough.
    ``leaves_not_countable``
        Leaves whose class counts are not people; they are in no other number.
    ``people_total``
        People in all leaves of all trees.
    ``people_countable``
        Those in leaves whose class counts are people.
    ``share_certain_random_known``
        Share of the countable people whose label is certain if the attacker
        knows r others of their leaf, drawn at random.
    ``mean_certainty_by_known``
        How certain the best guess in a person's leaf is if the attacker knows
        the r best others, on average over the countable people.
    ``mixed_leaves``, ``mixed_people``
        Countable leaves of several labels, and the people in them. The next
        five are empty where there are none.
    ``worst_case_certainty_by_known``
        The highest certainty in any mixed leaf for r known others.
    ``certainty_by_negations``
        The same for labels that are ruled out for the target.
    ``certainty_by_implications``
        The same for "if this person has this label, that person has that one";
        both in mixed leaves.
    ``skyline``
        The same for one piece of each kind and of all: ``negations``,
        ``known``, ``implications``, ``certainty``.
    ``known``
        With `Case.known`: ``origin``, ``records`` (known people), ``followed``
        (``people`` with training data, otherwise ``leaves``), ``trees_used`` of
        ``trees`` (the others do not tell whether they have seen a known person),
        ``people_falling`` (summed over trees where leaves are followed),
        ``leaves_falling``, ``falling`` (a list of at most 100 leaves: ``tree``,
        ``leaf``, ``people``, ``label``, ``known_rows`` counted from 1). With
        training data also ``people_certain_before`` (by the file alone),
        ``people_falling_at_once``, ``people_falling_as_a_consequence``,
        ``rounds``, and ``people``, a list of at most 100: ``row`` of the training
        data counted from 1, ``label``, ``round``, ``tree``, ``leaf``. Where
        nothing can be proved, ``reason``.
    ``prior``
        With `Case.prior`: ``origin``, ``column``, ``kinds``, ``certainty``,
        ``whose`` (prior each person has), ``method`` (``exact``, or where the
        Ω-estimate was used), ``leaves_looked_at`` (of several labels),
        ``leaves_estimated``, ``leaves_contradicting`` (their counts cannot be if
        the prior is true), ``leaves`` and ``people`` that pass the certainty,
        ``leaves_because_of_prior`` and ``people_because_of_prior`` that would
        not by the leaf alone. Without training data nobody knows how many people
        are of a kind: the numbers of people are null, and ``people_at_most`` and
        ``people_because_of_prior_at_most`` hold the people of those leaves.
        With training data, whoever is known or falls is taken out first.
    """

    id: ClassVar[str] = "TA103"
    title: ClassVar[str] = "Background knowledge"
    words: ClassVar[Words] = Words(
        attacker="The attacker knows the labels of a few people in a leaf and takes them out of "
        "the count. When one label is left, everybody else in the leaf is disclosed.",
        assumes="the attacker has the file, knows the features of the target, and knows the "
        "fewest other people who are enough (the worst case)",
        remedy="merge leaves until no label dominates them",
        limit="assumes the best choice of known people for the attacker; people chosen at random "
        "disclose less. With --known and --train, also that the attacker knows who was in the "
        "training data",
        reference="Wakabayashi et al. (2024), section 3.1; Machanavajjhala et al. (2006); "
        "Martin et al. (2007); Chen et al. (2007)",
    )
    about: ClassVar[About] = "table"
    checks: ClassVar[tuple[Rule, ...]] = (_BY_ONE_KNOWN,)
    view: ClassVar[Show] = staticmethod(view)
    needs: ClassVar[tuple[Need, ...]] = (CLASS_COUNTS,)
    most_known: int = 10
    certainty: float = 0.95

    def run(self, case: Case) -> Finding | Skipped:
        """Return who falls for each amount of knowledge.

        Leaves whose counts are not people (weights, repeated draws) only count
        at ``r = 0``; skipped where nothing was found and there are such leaves.

        Raises
        ------
        DataError
            If a known person cannot be among the training people, or the prior
            has no line for somebody.
        """
        table = case.table
        size, majority = table.size, table.labels.majority
        countable = ~np.isnan(majority)
        others = majority[countable].astype(np.int64)
        needed = size[countable] - others
        inside = needed <= self.most_known
        falls = np.bincount(needed[inside], weights=others[inside], minlength=self.most_known + 1)
        leaves = np.bincount(needed[inside], minlength=self.most_known + 1)
        curve = np.cumsum(falls).astype(np.int64)
        fallen = None if case.known is None else taken_out(case, case.known)
        inferred = None
        if case.prior is not None:
            label = None if fallen is None else fallen.label
            inferred = under_prior(case, case.prior, self.certainty, label)
        positions = np.flatnonzero(countable)[needed == 1]
        control = one_known(case, positions)
        severity = _severity(curve, int(size.sum()), control, fallen, inferred)
        unknown, unseen = int((~countable).sum()), unseen_trees(case)
        if unseen and severity == "none":
            return Skipped(id=self.id, title=self.title, reason=unseen[0])
        if unknown and severity == "none":
            reason = _not_people(unknown, case)
            if fallen is not None:
                reason += f"; {fallen.summary[0].lower()}{fallen.summary[1:].rstrip('.')}"
            return Skipped(id=self.id, title=self.title, reason=reason)
        details = {
            "people_disclosed_by_known": curve.tolist(),
            "leaves_by_known": leaves.tolist(),
            "leaves_not_countable": unknown,
            "people_total": int(size.sum()),
            **knowledge_curves(vectors_of(table), self.most_known),
        }
        worst = positions[np.argsort(-majority[positions], kind="stable")]
        rows, controls, said = evidence(case, worst), [control], [_summary(curve.tolist(), unknown)]
        if fallen is not None:
            details["known"] = dict(fallen.details)
            rows, said = (*fallen.evidence, *rows), [*said, fallen.summary]
            controls += fallen.controls
        if inferred is not None:
            details["prior"] = dict(inferred.details)
            rows, said = (*inferred.evidence, *rows), [*said, inferred.summary]
            controls += inferred.controls
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity,
            leaves=int(leaves[1]),
            people=int(falls[1]),
            summary=" ".join(said),
            looked=looked_at("class counts of the leaves", case),
            unseen=(*unseen, _not_people(unknown, case)) if unknown else unseen,
            details=details,
            evidence=rows,
            controls=tuple(one for one in controls if one is not None),
        )


def _severity(
    curve: Wide,
    total: int,
    control: Control | None,
    fallen: Fallen | None,
    inferred: Inferred | None,
) -> Severity:
    """Grade what one known person adds at most as medium: somebody has to be known.

    People who fall because of people who are known are graded like any others.
    """
    grades: list[Severity] = ["none", "low", "medium", "high"]
    found = severity_of_share((curve[1] - curve[0]) / max(total, 1))
    if found == "none" and curve[-1] > curve[0]:
        found = "low"
    if found == "high":
        found = "medium"
    worst = grades.index(lowered(found, [control] if control is not None else []))
    if fallen is not None:
        worst = max(worst, grades.index(severity_of_share(fallen.share)))
    if inferred is not None:
        new = severity_of_share(inferred.share)
        if new == "none" and inferred.details["leaves_because_of_prior"]:
            new = "low"
        worst = max(worst, min(grades.index(new), grades.index("medium")))
    return grades[worst]


def _not_people(unknown: int, case: Case) -> str:
    leaves = "1 leaf" if unknown == 1 else f"{unknown:,} leaves"
    return (
        f"the class counts of {leaves} are not people ({case.forest.counts_reason}), "
        "so known people cannot be taken out of them"
    )


def _summary(curve: list[int], unknown: int) -> str:
    more, last = curve[1] - curve[0], len(curve) - 1
    text = (
        f"Knowing one other person in the leaf discloses {more:,} more "
        f"{'person' if more == 1 else 'people'}"
        if more
        else "Knowing one other person in the leaf discloses nobody more"
    )
    text += f"; knowing {last} discloses {curve[last] - curve[0]:,}."
    if unknown:
        text += f" In {unknown:,} further leaves the counts are not people."
    return text
