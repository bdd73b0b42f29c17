"""Repairs of a model before release: ``Forest -> Forest``, the input untouched.

Adding one: its module, its name in `DEFENSES`, its test file.
"""

from treeaudit.defenses.coarsen import Coarsen, RoundCounts
from treeaudit.defenses.count_anew import CountAnew, DrawSteps
from treeaudit.defenses.defense import Defense, DefenseWords
from treeaudit.defenses.intersect import IntersectK, KeepTrees
from treeaudit.defenses.merge_closest import MergeClosest
from treeaudit.defenses.merge_diverse import MergeDiverse
from treeaudit.defenses.merge_siblings import MergeClose, MergeDominated, MergeSiblings
from treeaudit.defenses.prune_leaves import PruneLeaves
from treeaudit.defenses.strip import LabelsOnly, Strip, without_extras

__all__ = [
    "DEFENSES",
    "Coarsen",
    "CountAnew",
    "Defense",
    "DefenseWords",
    "DrawSteps",
    "IntersectK",
    "KeepTrees",
    "LabelsOnly",
    "MergeClose",
    "MergeClosest",
    "MergeDiverse",
    "MergeDominated",
    "MergeSiblings",
    "PruneLeaves",
    "RoundCounts",
    "Strip",
    "without_extras",
]

DEFENSES: tuple[type[Defense], ...] = (
    PruneLeaves,
    MergeSiblings,
    MergeClosest,
    MergeDiverse,
    MergeClose,
    MergeDominated,
    RoundCounts,
    Strip,
    LabelsOnly,
    Coarsen,
    KeepTrees,
    IntersectK,
    CountAnew,
    DrawSteps,
)
"""Every repair, by the ``id`` that ``defend --method`` and ``ta.defend(method=…)`` call it."""
