"""What TA101 measures, and what each feature adds to the people in small leaves."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.distinct_people import InAnyTree
from treeaudit.attacks.singling_out.population import Population, Risks
from treeaudit.findings.details import Details, called
from treeaudit.findings.numbers import People, Share
from treeaudit.model.rules import rules_of
from treeaudit.people.records import Records
from treeaudit.table.features import hidden_without, people_by_feature, people_by_last_split

_MOST_LEAVES = 200

_MOST_COMPARED = 60_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution(Details):
    """What one feature does to the people in small leaves.

    Attributes
    ----------
    feature
        Its name.
    people, share
        Those in small leaves whose rule has a condition on it.
    last_split_people, last_split_share
        Those whom its last condition alone puts below k.
    hidden_share
        With training data, the share of people in small leaves who would be
        among k people if the feature were left out; None without.
    hidden_n
        On how many people that rests: a draw where there are many leaves.
    """

    feature: str
    people: People
    share: Share
    last_split_people: People
    last_split_share: Share
    hidden_share: Share | None
    hidden_n: People | None


def contribution(case: Case, small: Flag) -> tuple[Contribution, ...]:
    """Return the features on the way to ``small`` leaves of the table, the most important first.

    Of the tree with the most people in small leaves.
    """
    table = case.table
    if not small.any():
        return ()
    index = int(table.per_tree(table.size * small).argmax())
    mine = table.rows_of(index)
    leaves = table.leaf[mine][small[mine]]
    size = table.size[mine][small[mine]]
    tree, features = case.forest.trees[index], case.forest.schema.features
    asked = people_by_feature(tree, leaves, size, len(features))
    last = people_by_last_split(tree, leaves, size, len(features), case.k)
    hidden = _hidden(case, index, leaves, size)
    total = int(size.sum())
    order = last if hidden is None else hidden[0]
    found = np.flatnonzero(asked)
    return tuple(
        Contribution(
            feature=features[i].name,
            people=People(int(asked[i])),
            share=Share.of(int(asked[i]), total),
            last_split_people=People(int(last[i])),
            last_split_share=Share.of(int(last[i]), total),
            hidden_share=None if hidden is None else Share(float(hidden[0][i])),
            hidden_n=None if hidden is None else People(hidden[1]),
        )
        for i in sorted(found.tolist(), key=lambda i: (-order[i], -last[i], -asked[i], i))
    )


def _hidden(case: Case, index: int, leaves: Int, size: Wide) -> tuple[Float, int] | None:
    """Leave each feature out in turn, for some of the small leaves."""
    # A draw of the rows is in a bootstrap tree; who would join is not known from all of them.
    if case.train is None or case.forest.records_are != "all":
        return None
    most = min(_MOST_LEAVES, max(1, _MOST_COMPARED // len(case.train)))
    if len(leaves) > most:
        rng = np.random.default_rng([case.seed, 0x50DA])
        chosen = np.sort(rng.choice(len(leaves), most, replace=False))
        leaves, size = leaves[chosen], size[chosen]
    rules = rules_of(case.forest.trees[index], leaves)
    hidden = hidden_without(rules, len(leaves), _compared(case, case.train), case.k)
    return (size[:, None] * hidden).sum(axis=0) / size.sum(), int(size.sum())


def _compared(case: Case, train: Records) -> Float:
    """Return the people as the model compares them."""
    values = train.values.astype(np.float32) if case.forest.single_precision else train.values
    return np.asarray(values, dtype=np.float64)


_BINS = ((1, 1), (2, 4), (5, 9), (10, 49), (50, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupSizes(Details):
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
    group_sizes: tuple[_GroupSizes, ...]
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
) -> tuple[_GroupSizes, ...]:
    """Return leaves and people by size of the group.

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
            _GroupSizes(low=low, high=high, leaves=People.leaves(leaves), people=People(people))
        )
    return tuple(bins)
