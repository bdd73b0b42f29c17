"""Method 2: a node with a small child leaf becomes a leaf itself.

References
----------
Wakabayashi et al. (2024), section 4.1, Method 2 and Figure 6.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from treeaudit.defenses.cutting import recount
from treeaudit.defenses.defense import Words, sizes, tree_by_tree
from treeaudit.defenses.merging import merged
from treeaudit.errors import DataError
from treeaudit.tree import Forest, Tree

__all__ = ["MergeSiblings", "check_size"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSiblings:
    """Merge leaves into their parents until each holds ``min_leaf`` people.

    Attributes
    ----------
    min_leaf
        The k of k-anonymity: a node with a child leaf of n ≤ s = k - 1 becomes
        a leaf and all its children go, from the deepest upwards.
    """

    id: ClassVar[str] = "merge-siblings"
    title: ClassVar[str] = "Merge small leaves"
    words: ClassVar[Words] = Words(
        does="makes every node with a child leaf of fewer than k people a leaf, from the deepest "
        "upwards; everybody stays in the counts",
        fixes="nobody stands in a group below k, in any single tree",
        leaves="large leaves of one label; the groups in which the leaves of several trees "
        "intersect can be smaller than k",
        reference="Wakabayashi et al. (2024), section 4.1, Method 2",
    )
    min_leaf: int = 5

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        return f"leaves of fewer than {self.min_leaf} people merged into their parents"

    def apply(self, forest: Forest) -> Forest:
        """Return the model with its small leaves merged.

        Raises
        ------
        DataError
            If the model does not tell how many people are in its leaves, or
            holds fewer than ``min_leaf`` altogether.
        """
        return tree_by_tree(forest, lambda tree, _: self._merged(tree, forest))

    def _merged(self, tree: Tree, forest: Forest) -> Tree:
        counted = recount(tree, tree.is_leaf)
        size = sizes(counted, forest)
        check_size(size, self.min_leaf)
        return merged(counted, size < self.min_leaf)


def check_size(size: npt.NDArray[np.float64], min_leaf: int) -> None:
    """Refuse to ask for more people than there are.

    Raises
    ------
    DataError
        If even the root holds fewer; names how many can be asked for.
    """
    if size[0] < min_leaf:
        raise DataError(
            f"no leaf can hold {min_leaf:,} people: there are only {size[0]:,.0f} in the "
            f"tree; ask for at most that many (--min-leaf {max(int(size[0]), 0)})"
        )
