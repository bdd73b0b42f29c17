"""Merge leaves until no label dominates them.

References
----------
Wong et al. (2006), (alpha, k)-anonymity. Hundepool et al. (2012), Statistical
Disclosure Control, section 4.2.1, dominance rules.
"""

from dataclasses import dataclass
from typing import Annotated

from treeaudit.arrays import Flag
from treeaudit.defenses.defense import Bounds, DefenseWords, counts_of
from treeaudit.defenses.merging import Merging, bad_occupied
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.model.words import in_percent
from treeaudit.table.diversity import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeDominated(Merging):
    """Merge leaves into their parents until no label has a share of ``most`` in one.

    Attributes
    ----------
    most
        Share of the largest class from which on it dominates.
    """

    id = "merge-dominated"
    title = "Merge until no label dominates"
    words = DefenseWords(
        does="makes nodes leaves, from the deepest upwards, until the largest label of every leaf "
        "stays below a share",
        fixes="the label of nobody can be guessed from their leaf with that certainty",
        leaves="small groups; where a label is that common among everybody nothing can be done",
        reference="Wong et al. (2006), (alpha, k)-anonymity",
    )
    most: Annotated[float, Bounds(0, 1)] = 0.95

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        return f"leaves with a label of {in_percent(self.most, 0)} or more merged"

    def bad(self, tree: Tree, forest: Forest) -> Flag:
        """Tell which nodes a label dominates."""
        bad = bad_occupied(tree, forest, lambda c: counted(c).dominance >= self.most)
        if bad[0]:
            share = float(counted(counts_of(tree, forest)[:1]).dominance[0])
            raise DataError(
                f"the most common label has {in_percent(share, 1, self.most)} of everybody, so no "
                f"merging brings it below {in_percent(self.most)}; ask for a higher share"
            )
        return bad
