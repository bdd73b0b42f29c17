"""Merge leaves until their labels are spread like everybody's: t-closeness."""

from dataclasses import dataclass
from typing import Annotated

from treeaudit.arrays import Flag
from treeaudit.defenses.defense import Bounds, DefenseWords, counts_of
from treeaudit.defenses.merging import Merging, bad_occupied
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.table.diversity import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeClose(Merging):
    """Merge leaves into their parents until none is farther than ``t`` from everybody.

    Attributes
    ----------
    t
        The most by which the class shares of a leaf may differ from those of
        everybody: half the sum of their absolute differences.
    """

    id = "merge-close"
    title = "Merge until labels are spread as in all"
    did = "leaves farther than {0.t:g} from everybody merged"
    words = DefenseWords(
        does="makes nodes leaves, from the deepest upwards, until the labels of no leaf are "
        "farther than t from those of everybody",
        fixes="knowing the leaf of a person changes the chances of each label by at most t",
        leaves="small groups; and the tree can say no more than t allows, so that a small t costs "
        "most of its accuracy",
        reference="Li, Li and Venkatasubramanian (2007), t-closeness for nominal values",
    )
    t: Annotated[float, Bounds(0, 1)] = 0.5

    def bad(self, tree: Tree, forest: Forest) -> Flag:
        """Tell which nodes are too far from the root."""
        everybody = counts_of(tree, forest)[0]
        return bad_occupied(tree, forest, lambda c: counted(c, everybody).closeness > self.t)
