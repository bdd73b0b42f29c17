"""Method 2 (Figure 6): a node with a small child leaf becomes a leaf itself."""

from dataclasses import dataclass
from typing import Annotated

from treeaudit.arrays import Flag, Float
from treeaudit.defenses.defense import Bounds, DefenseWords, size_advice, sizes
from treeaudit.defenses.merging import Merging
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSiblings(Merging):
    """Merge leaves into their parents until each holds ``min_leaf`` people.

    Attributes
    ----------
    min_leaf
        The k of k-anonymity: a node with a child leaf of n ≤ s = k - 1 becomes
        a leaf and all its children go, from the deepest upwards.
    """

    id = "merge-siblings"
    title = "Merge small leaves"
    did = "leaves of fewer than {0.min_leaf} people merged into their parents"
    words = DefenseWords(
        does="makes every node with a child leaf of fewer than k people a leaf, from the deepest "
        "upwards; everybody stays in the counts",
        fixes="nobody stands in a group below k, in any single tree",
        leaves="large leaves of one label; the groups in which the leaves of several trees "
        "intersect can be smaller than k",
        reference="Wakabayashi et al. (2024), section 4.1, Method 2",
    )
    min_leaf: Annotated[int, Bounds(2)] = 5

    def bad(self, tree: Tree, forest: Forest) -> Flag:
        """Tell which nodes hold too few people."""
        return sizes_for(tree, forest, self.min_leaf) < self.min_leaf


def sizes_for(tree: Tree, forest: Forest, min_leaf: int) -> Float:
    """Return the people in each node of a tree that holds enough of them.

    Raises DataError if even the root holds too few; names how many can be asked for.
    """
    size = sizes(tree, forest)
    if size[0] < min_leaf:
        # While every child of the root is large enough the root stays divided.
        raise DataError(
            f"no leaf can hold {min_leaf:,} people: there are only {size[0]:,.0f} in the tree; "
            f"{size_advice(float(size[tree.parent == 0].min(initial=size[0])), tree, forest)}"
        )
    return size
