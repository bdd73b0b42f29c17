"""What TA102 measures."""

from dataclasses import dataclass
from typing import Literal

from treeaudit.attacks.distinct_people import InAnyTree
from treeaudit.attacks.diversity_details import Diversity
from treeaudit.findings.numbers import People

__all__ = ["HomogeneityDetails"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HomogeneityDetails(Diversity):
    """How far the labels of each group differ; people are those of the tree that has the most.

    Attributes
    ----------
    dominant_share, dominant_leaves, dominant_people
        Leaves in which a class has at least that share.
    absent_class_leaves, absent_class_people
        Leaves in which a class of the tree is ruled out.
    absent_class_in_any_tree
        Different people of whom that is true in some tree.
    smallest_cell
        Fewest people of any class that occurs in a leaf; None: not people.
    small_cell_leaves, small_cell_people
        Leaves where that is below k.
    measured_on
        What the class shares are shares of.
    """

    dominant_share: float
    dominant_leaves: People
    dominant_people: People
    absent_class_leaves: People
    absent_class_people: People
    absent_class_in_any_tree: InAnyTree
    smallest_cell: People | None
    small_cell_leaves: People
    small_cell_people: People
    measured_on: Literal["people", "draws", "weight"]
