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

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.attacks.background.certainty import knowledge_details, vectors_of
from treeaudit.attacks.background.known import Fallen, taken_out
from treeaudit.attacks.background.prior import Inferred, under_prior
from treeaudit.attacks.background.view import BackgroundDetails, view
from treeaudit.attacks.case import (
    Case,
    Need,
    evidence,
    looked_at,
    severity_of_share,
    smallest,
    unseen_trees,
)
from treeaudit.attacks.control import lowered, one_known
from treeaudit.attacks.distinct_people import (
    at_most,
    bounds_in_words,
    in_any_tree,
    of_each_tree,
    of_tree,
)
from treeaudit.attacks.homogeneous_groups import no_labels
from treeaudit.attacks.needs import CLASS_COUNTS
from treeaudit.findings.checks import Rule
from treeaudit.findings.details import Details
from treeaudit.findings.findings import About, Control, Finding, Severity, Skipped, Words
from treeaudit.findings.report import Show
from treeaudit.model.words import number_of
from treeaudit.table.persons import Codes

_BY_ONE_KNOWN = Rule(
    name="max-disclosed-by-one-known",
    title="People disclosed by knowing one other",
    bound="at most {:,.0f}",
    measure=at_most("disclosed_by_one_in_any_tree"),
    told=bounds_in_words("disclosed_by_one_in_any_tree"),
    needless=no_labels,
    rests_on=("unit", "counts", "noise"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """Count people who are disclosed once the attacker knows something already."""

    id: ClassVar[str] = "TA103"
    title: ClassVar[str] = "Background knowledge"
    words: ClassVar[Words] = Words(
        kinds=("attribute inference",),
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
    details: ClassVar[type[Details]] = BackgroundDetails
    most_known: int = 10  # The largest number of known people, negations and implications
    # From which probability on a label counts as disclosed by a public prior
    certainty: float = 0.95

    def run(self, case: Case) -> Finding | Skipped:
        """Return who falls for each amount of knowledge."""
        table = case.table
        size, majority = table.size, table.labels.majority
        countable = ~np.isnan(majority)
        # The later trees of a boosting hold steps: nothing there to take anybody out of.
        steps = (
            (table.labels.distinct == 0) if table.first_round else np.zeros(len(table), np.bool_)
        )
        others = np.zeros(len(table), dtype=np.int64)
        np.copyto(others, majority, where=countable, casting="unsafe")
        needed = size - others
        # In other leaves nobody can be taken out: more would have to be known than ever are.
        needed[~countable] = self.most_known + 1
        inside = needed <= self.most_known
        leaves = np.bincount(needed[inside], minlength=self.most_known + 1)
        said = table.labels, _labels(case)
        by_one, by_most = (
            in_any_tree(case, others * (needed <= r), *said) for r in (1, self.most_known)
        )
        tree = by_one.tree if by_one.worst else by_most.tree
        if by_one.worst:
            # Of trees alike in the end, the one in which most people fall.
            told, before = (of_each_tree(case, others * (needed <= r), *said) for r in (1, 0))
            tree = int(np.lexsort((told - before, told))[-1])
            by_one = replace(by_one, tree=tree)
        mine = table.rows_of(tree)
        curve = np.array([
            of_tree(case, tree, others[mine] * (needed[mine] <= r), *said)
            for r in range(self.most_known + 1)
        ])  # fmt: skip
        total = of_tree(case, tree, size[mine])
        fallen = None if case.known is None else taken_out(case, case.known)
        inferred = None
        if case.prior is not None:
            label = None if fallen is None else fallen.label
            inferred = under_prior(case, case.prior, self.certainty, label)
        positions = np.flatnonzero(needed == 1)
        control = one_known(case, positions)
        severity = _severity(curve, total, int(leaves[1:].sum()), control, fallen, inferred)
        unknown = int((~countable & ~steps).sum())
        unseen = () if table.first_round else unseen_trees(case)
        if unseen and severity == "none":
            return Skipped(id=self.id, title=self.title, reason=unseen[0])
        if unknown and severity == "none":
            reason = _not_people(unknown, case)
            if fallen is not None:
                reason += f"; {fallen.summary[0].lower()}{fallen.summary[1:].rstrip('.')}"
            return Skipped(id=self.id, title=self.title, reason=reason)
        details = knowledge_details(
            vectors_of(table),
            vectors_of(table, tree),
            curve,
            leaves,
            not_countable=unknown,
            total=total,
            by_one=by_one,
            by_most=by_most,
            known=None if fallen is None else fallen.details,
            prior=None if inferred is None else inferred.details,
        )
        rows, controls = evidence(case, smallest(majority, needed == 1)), [control]
        sentences = [_summary(case, tree, curve.tolist(), unknown)]
        for more in (fallen, inferred):
            if more is not None:
                rows = (*more.evidence, *rows)
                sentences.append(more.summary)
                controls += more.controls
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity,
            leaves=int(leaves[1]),
            people=int(curve[1] - curve[0]),
            summary=" ".join(sentences),
            looked=looked_at("class counts of the leaves", case, labels=True),
            unseen=(*unseen, _not_people(unknown, case)) if unknown else unseen,
            details=details,
            evidence=rows,
            controls=tuple(one for one in controls if one is not None),
        )


def _severity(
    curve: Wide,
    total: int,
    falling: int,
    control: Control | None,
    fallen: Fallen | None,
    inferred: Inferred | None,
) -> Severity:
    """Grade what one known person adds at most as medium: somebody has to be known.

    People who fall because of people who are known are graded like any others.
    """
    grades: list[Severity] = ["none", "low", "medium", "high"]
    found = severity_of_share((curve[1] - curve[0]) / max(total, 1))
    if found == "none" and falling:
        found = "low"
    if found == "high":
        found = "medium"
    worst = grades.index(lowered(found, [control] if control is not None else []))
    if fallen is not None:
        worst = max(worst, grades.index(severity_of_share(fallen.share)))
    if inferred is not None:
        new = severity_of_share(inferred.share)
        if new == "none" and inferred.details.leaves_because_of_prior:
            new = "low"
        worst = max(worst, min(grades.index(new), grades.index("medium")))
    return grades[worst]


def _not_people(unknown: int, case: Case) -> str:
    leaves = number_of(unknown, "leaf", "leaves")
    return (
        f"the class counts of {leaves} are not people ({case.forest.counts_reason}), "
        "so known people cannot be taken out of them"
    )


def _labels(case: Case) -> Codes | None:
    """Return the labels of the training people where all trees count the same ones."""
    train = case.labelled("train")
    return None if train is None or case.forest.tree_classes is not None else train.known_labels


def _summary(case: Case, tree: int, curve: list[int], unknown: int) -> str:
    more, last = curve[1] - curve[0], len(curve) - 1
    whom = number_of(more, "more person", "more people") if more else "nobody more"
    where = "the first tree" if len(case.table.first_round) == 1 else f"tree {tree}"
    text = f"In {where}: knowing" if case.forest.n_trees > 1 else "Knowing"
    text += f" one other person in the leaf discloses {whom}"
    text += f"; knowing {last} discloses {curve[last] - curve[0]:,}."
    if unknown:
        text += f" In {unknown:,} further leaves the counts are not people."
    return text
