"""Background knowledge: what falls when others are known (TA103).

An attacker who knows the labels of some people in a leaf takes them out; when
one label is left, everybody else is disclosed. With counts c the fewest people
that are enough is n minus the largest count.

References
----------
Wakabayashi et al. (2024), section 3.1, background knowledge attack: of
{yes: 1, no: 2}, knowing the one "yes" discloses the two others.
Machanavajjhala et al. (2006), l-diversity, section 2.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeaudit.attacks.case import Case, evidence, severity_of_share
from treeaudit.findings import Finding, Severity, Skipped, Words

__all__ = ["Background"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """Count people who are disclosed once the attacker knows ``r`` others.

    Attributes
    ----------
    most_known
        The largest ``r`` of the curve.
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
        "disclose less",
        reference="Wakabayashi et al. (2024), section 3.1; Machanavajjhala et al. (2006)",
    )
    most_known: int = 10

    def run(self, case: Case) -> Finding | Skipped:
        """Return how many people fall for each number of known people.

        Skipped where the model holds no class counts. Leaves whose counts are
        not people (weights, repeated draws) only count at ``r = 0``.
        """
        groups, forest = case.groups, case.forest
        if groups.size is None or groups.labels is None:
            reason = forest.counts_reason or "the model holds no class counts"
            return Skipped(id=self.id, title=self.title, reason=reason)
        size, majority = groups.size, groups.labels.majority
        known = ~np.isnan(majority)
        others = majority[known].astype(np.int64)
        needed = size[known] - others
        inside = needed <= self.most_known
        falls = np.bincount(needed[inside], weights=others[inside], minlength=self.most_known + 1)
        leaves = np.bincount(needed[inside], minlength=self.most_known + 1)
        curve = np.cumsum(falls).astype(np.int64)
        total = int(size.sum())
        one_more = int(falls[1])
        positions = np.flatnonzero(known)[needed == 1]
        worst = positions[np.argsort(-majority[positions], kind="stable")]
        severity: Severity = severity_of_share(one_more / max(total, 1))
        if severity == "none" and curve[-1] > curve[0]:
            severity = "low"
        if severity == "high":
            severity = "medium"
        unknown = int((~known).sum())
        if unknown and severity == "none":
            return Skipped(id=self.id, title=self.title, reason=_not_people(unknown, case))
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity,
            leaves=int(leaves[1]),
            people=one_more,
            summary=_summary(curve.tolist(), unknown),
            details={
                "people_disclosed_by_known": curve.tolist(),
                "leaves_by_known": leaves.tolist(),
                "leaves_not_countable": unknown,
                "people_total": total,
            },
            evidence=evidence(case, worst),
        )


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
