"""What TA101 measures."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.attacks.distinct_people import InAnyTree
from treeaudit.attacks.singling_out.contribution import Contribution
from treeaudit.attacks.singling_out.population import Population, Risks
from treeaudit.findings.details import Details, called
from treeaudit.findings.numbers import People, Share

__all__ = ["GroupSizes", "UniquenessDetails", "group_sizes"]

_BINS = ((1, 1), (2, 4), (5, 9), (10, 49), (50, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSizes(Details):
    """Leaves and people whose group is of some size.

    Attributes
    ----------
    low, high
        The size, both ends inclusive; None where there is no bound.
    leaves, people
        How many there are; of several trees all leaves, and the people of the
        tree that has the most. A person counts in every leaf with a record of theirs.
    """

    low: int = called("from")
    high: int | None = called("to")
    leaves: People
    people: People


@dataclass(frozen=True, slots=True, kw_only=True)
class UniquenessDetails(Details):
    """What the leaf sizes alone reveal.

    Leaves are those of all trees; people are those of the tree that has the most.

    Attributes
    ----------
    unique_leaves, unique_people
        Leaves of one person.
    below_k_leaves, below_k_people
        Leaves of fewer than ``k`` people.
    unique_in_any_tree, below_k_in_any_tree
        Different people of whom that is true in some tree.
    k, min_leaf
        The smallest acceptable group, and the smallest there is.
    group_sizes
        Leaves and people by size of the group.
    prosecutor_risk, marketer_risk
        The highest chance to find a person, and leaves by people.
    trees_that_do_not_tell
        Trees without sizes.
    below_k_share
        Of people, in the worst tree.
    residual_degrees_of_freedom
        People minus parameters; None where the people are not told.
    risks, population
        Inside and outside the data.
    contribution
        What each feature does to those in small leaves.
    """

    unique_leaves: People
    unique_people: People
    below_k_leaves: People
    below_k_people: People
    unique_in_any_tree: InAnyTree
    below_k_in_any_tree: InAnyTree
    k: int
    min_leaf: People
    group_sizes: tuple[GroupSizes, ...]
    prosecutor_risk: Share
    marketer_risk: Share
    trees_that_do_not_tell: int
    below_k_share: Share
    residual_degrees_of_freedom: int | None
    risks: Risks
    population: Population | None
    contribution: tuple[Contribution, ...]


def group_sizes(
    size: Wide, per_tree: Callable[[Wide], Wide] | None = None
) -> tuple[GroupSizes, ...]:
    """Return leaves and people by size of the group.

    Parameters
    ----------
    size
        People per leaf.
    per_tree
        Sums them over each tree, where there are several.

    Examples
    --------
    >>> import numpy as np
    >>> found = group_sizes(np.array([1, 1, 3, 60]))[0]
    >>> found.low, found.high, found.leaves, found.people
    (1, 1, 2, 2)
    """
    bins = []
    for low, high in _BINS:
        inside = (size >= low) & (size <= (high or size.max(initial=0)))
        leaves, held = int(np.count_nonzero(inside)), size * inside
        people = int(held.sum() if per_tree is None else per_tree(held).max())
        bins.append(
            GroupSizes(low=low, high=high, leaves=People.leaves(leaves), people=People(people))
        )
    return tuple(bins)
