"""Who the repairs of a model are held against, and what each is told to be."""

from dataclasses import dataclass

import numpy as np

from treeaudit.attacks.composition.attack import Composition
from treeaudit.attacks.composition.details import CompositionDetails
from treeaudit.attacks.reconstruction.attack import Reconstruction
from treeaudit.attacks.singling_out.attack import Uniqueness
from treeaudit.attacks.singling_out.details import UniquenessDetails
from treeaudit.defenses import Defense, MergeDiverse
from treeaudit.findings.policy import Policy
from treeaudit.findings.report import Report, Tried
from treeaudit.model.forest import Forest
from treeaudit.people.predictions import averages, class_shares
from treeaudit.people.records import Records, routed
from treeaudit.people.units import changed_target
from treeaudit.repair.attempts import Attempt, attempt
from treeaudit.repair.counting import Counting, attacks_of

__all__ = ["DEAR", "Candidate", "Judges", "merging_for", "right", "searchable"]

DEAR = (Composition.id, Reconstruction.id)
"""What trees give away together: looked for only where everything before finds nothing."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """A repair as it is told, and with its audit where it was judged."""

    told: Tried
    attempt: Attempt | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judges:
    """Who a repair is held against.

    Attributes
    ----------
    counting
        How it is audited.
    train
        The training people.
    test
        Unseen people, whose answers say how accurate it is; the training people's do without.
    """

    policy: Policy
    counting: Counting
    train: Records
    test: Records | None

    def accuracy(self, forest: Forest) -> float | None:
        """Return how often a model is right for those whom it is not to give away, or others."""
        return right(forest, self.test or self.train)

    def judged(self, forest: Forest, defenses: tuple[Defense, ...]) -> Attempt:
        """Return a repair audited; by what is dear only where everything cheaper passes."""
        every = attacks_of(self.policy)
        asked = tuple(one for one in every if one not in DEAR)
        one = attempt(forest, defenses, self.policy, self.counting, asked)
        for dear in (dear for dear in DEAR if dear in every):
            if any(c.status != "pass" and c.attack in asked for c in one.report.checks):
                break
            asked = (*asked, dear)
            one = attempt(forest, defenses, self.policy, self.counting, asked)
        return one

    def told(
        self,
        trees: int,
        accuracy: float | None,
        steps: tuple[str, ...] = (),
        report: Report | None = None,
    ) -> Tried:
        """Return what is told of a repair."""
        passed = report is not None and report.verdict == "pass"
        missed = [] if report is None else [c for c in report.checks if c.status != "pass"]
        first = next((c for c in missed if c.status == "fail"), missed[0] if missed else None)
        found = {} if report is None else {one.id: one.details for one in report.findings}
        sizes, joint = found.get(Uniqueness.id), found.get(Composition.id)
        return Tried(
            trees=trees,
            smallest=sizes.min_leaf if isinstance(sizes, UniquenessDetails) else None,
            accuracy=accuracy,
            unseen=self.test is not None,
            excess=joint.excess if isinstance(joint, CompositionDetails) else None,
            judged=report is not None,
            passed=passed,
            miss="" if first is None else f"{first.title.lower()}: {first.shown or first.reason}",
            steps=steps,
        )


def searchable(forest: Forest, train: Records) -> bool:
    """Tell whether trees can be taken out of a model and its answers be told from the others."""
    alone = forest.n_trees > 1 and len(forest.members) < 2 and forest.tree_classes is None
    return alone and right(forest, train) is not None


def right(forest: Forest, people: Records) -> float | None:
    """Return the share of people answered rightly, or R² of a number; None where neither is told.

    The people may have been routed through another model of the same columns.
    """
    if averages(forest) and people.labels is not None:
        shares, _ = class_shares(forest, routed(forest, people.values))
        return float((shares.argmax(axis=1) == people.labels).mean())
    values = [tree.value for tree in forest.trees]
    if people.targets is None or forest.answers != "mean" or any(one is None for one in values):
        return None
    if changed_target(forest):
        return None
    node = routed(forest, people.values)
    said = np.mean([v[node[:, i]] for i, v in enumerate(values) if v is not None], axis=0)
    spread = float(people.targets.var())
    return 1 - float(((said - people.targets) ** 2).mean()) / spread if spread else None


def merging_for(policy: Policy, trees: int = 1, **people: object) -> tuple[Defense, ...]:
    """Return what leaves a label certain, or nearly, for no more people than a policy allows.

    Each tree has its part of the share, unless people tell who they are in all of them.
    """
    made: list[Defense] = []
    part = 1 if people else trees
    if (certain := policy.values.get("max-certain-share")) is not None:
        made.append(MergeDiverse(allowed=certain / part, **people))  # type: ignore[arg-type]
    if (nearly := policy.values.get("max-nearly-certain-share")) is not None:
        made.append(MergeDiverse(allowed=nearly / part, exceptions=policy.k, **people))  # type: ignore[arg-type]
    return tuple(made)
