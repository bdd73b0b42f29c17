"""Of how many people of a leaf the numbers are one, by the people themselves.

A person of several records has one number for certain where all of theirs in the leaf are
alike; whoever has another among them is an exception. In shares everybody counts once, spread
over their records.
"""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Float, Int, Wide

__all__ = ["Alike", "alike_in"]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Alike:
    """Per node of a tree: the people who end there, who of them differ, and the largest share.

    Attributes
    ----------
    people, others
        Different people, and how many of them have a number that is not the commonest.
    share
        Of the people, or of their records where that is more, who have the commonest.
    """

    people: Wide
    others: Wide
    share: Float


def alike_in(
    numbers: Float, node: Int, n_nodes: int, *, tolerance: float, persons: Int | None = None
) -> Alike:
    """Count the people of each node whose numbers are alike.

    Parameters
    ----------
    numbers, node
        Of each record.
    tolerance
        Numbers are alike that are off the same one by no more.
    persons
        A number from 0 per person, whose record it is; None where a record is a person.

    Examples
    --------
    Three people have 1, one of them three times; a fourth has 5 and 1.

    >>> of = np.array([0, 1, 1, 1, 2, 3, 3])
    >>> told = alike_in(np.array([1.0, 1, 1, 1, 1, 5, 1]), np.zeros(7, int), 1,
    ...                 tolerance=0.0, persons=of)
    >>> told.people.tolist(), told.others.tolist(), told.share.tolist()
    ([4], [1], [0.875])
    """
    rising = np.sort(numbers)
    width = 2 * tolerance * (1 + _ROUNDING)
    ones = np.ones(len(numbers))
    same = _most_in_reach(rising, numbers, numbers, node, ones, width, n_nodes)
    records = np.bincount(node, minlength=n_nodes)
    share = same / np.maximum(records, 1)
    if persons is None:
        return Alike(people=records, others=records - np.rint(same).astype(np.int64), share=share)
    _, pair, held = np.unique(
        node.astype(np.int64) * (int(persons.max(initial=0)) + 1) + persons,
        return_inverse=True,
        return_counts=True,
    )
    pair = pair.reshape(-1)
    low, high = np.full(len(held), np.inf), np.full(len(held), -np.inf)
    np.minimum.at(low, pair, numbers)
    np.maximum.at(high, pair, numbers)
    where = np.zeros(len(held), dtype=np.int64)
    where[pair] = node
    people = np.bincount(where, minlength=n_nodes)
    one = high - low <= width
    only = _most_in_reach(
        rising, low[one], high[one], where[one], np.ones(int(one.sum())), width, n_nodes
    )
    spread = _most_in_reach(rising, numbers, numbers, node, 1 / held[pair], width, n_nodes)
    return Alike(
        people=people,
        others=people - np.rint(only).astype(np.int64),
        share=np.maximum(share, np.maximum(spread, only) / np.maximum(people, 1)),
    )


def _most_in_reach(
    rising: Float, low: Float, high: Float, node: Int, weight: Float, width: float, n_nodes: int
) -> Float:
    """Return the largest weight of what lies in one window, per node.

    Nothing is wider than the window: whatever begins before it, ends before it ends.
    """
    most = np.zeros(n_nodes)
    if not len(low):
        return most
    own, n = node.astype(np.int64), len(rising) + 1
    begin = own * n + np.searchsorted(rising, low, side="left")
    end = own * n + np.searchsorted(rising, high, side="left")
    reach = own * n + np.searchsorted(rising, low + width, side="right") - 1
    by_begin, by_end = np.argsort(begin, kind="stable"), np.argsort(end, kind="stable")
    ended = np.concatenate([[0.0], np.cumsum(weight[by_end])])
    begun = np.concatenate([[0.0], np.cumsum(weight[by_begin])])
    inside = ended[np.searchsorted(end[by_end], reach, side="right")]
    inside = inside - begun[np.searchsorted(begin[by_begin], begin, side="left")]
    np.maximum.at(most, own, inside)
    return most
