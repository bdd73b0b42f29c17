"""Repairs of a model before release: ``Forest -> Forest``, the input untouched.

Adding one: its module, its name in `DEFENSES`, its test file.
"""

from treeaudit.defenses.defense import Defense, Words
from treeaudit.defenses.merge_close import MergeClose
from treeaudit.defenses.merge_diverse import MergeDiverse
from treeaudit.defenses.merge_dominated import MergeDominated
from treeaudit.defenses.merge_siblings import MergeSiblings
from treeaudit.defenses.prune_leaves import PruneLeaves

__all__ = ["DEFENSES", "Defense", "MergeSiblings", "PruneLeaves", "Words"]

DEFENSES: tuple[type[Defense], ...] = (PruneLeaves, MergeSiblings)
