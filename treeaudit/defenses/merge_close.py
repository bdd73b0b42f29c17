"""Merge leaves until their labels are spread like everybody's: t-closeness.

References
----------
Li, Li and Venkatasubramanian (2007), t-closeness.
"""

from dataclasses import dataclass
from typing import ClassVar

from treeaudit import diversity
from treeaudit.defenses.cutting import recount
from treeaudit.defenses.defense import Words, counts_of, people_in, tree_by_tree
from treeaudit.defenses.merging import merged
from treeaudit.tree import Forest, Tree

__all__ = ["MergeClose"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeClose:
    """Merge leaves into their parents until none is farther than ``t`` from everybody.

    Attributes
    ----------
    t
        Half the sum of the absolute differences of the class shares between a
        leaf and the whole tree, between 0 and 1.
    """

    id: ClassVar[str] = "merge-close"
    title: ClassVar[str] = "Merge until labels are spread as in all"
    words: ClassVar[Words] = Words(
        does="makes nodes leaves, from the deepest upwards, until the labels of no leaf are "
        "farther than t from those of everybody",
        fixes="knowing the leaf of a person changes the chances of each label by at most t",
        leaves="small groups; and the tree can say no more than t allows, so that a small t costs "
        "most of its accuracy",
        reference="Li, Li and Venkatasubramanian (2007), t-closeness for nominal values",
    )
    t: float = 0.5

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        return f"leaves farther than {self.t:g} from everybody merged"

    def apply(self, forest: Forest) -> Forest:
        """Return the model with its far leaves merged.

        Raises
        ------
        DataError
            If the model holds no class counts.
        """
        return tree_by_tree(forest, lambda tree, _: self._merged(tree, forest))

    def _merged(self, tree: Tree, forest: Forest) -> Tree:
        counted = recount(tree, tree.is_leaf)
        counts = counts_of(counted, forest)
        held = people_in(counted, forest) > 0
        bad = held & False
        bad[held] = diversity.closeness(counts[held], counts[0]) > self.t
        return merged(counted, bad)
