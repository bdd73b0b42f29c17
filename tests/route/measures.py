"""What a report has to say of the groups of some trees: TA101, TA102 and TA103, by definition."""

from collections.abc import Callable, Sequence
from math import comb
from typing import Any

import numpy as np

from tests.route.leaves import Group

__all__ = ["alike", "background", "singling_out"]

Trees = Sequence[Sequence[Group]]
Chosen = Callable[[Group], bool]
Count = Callable[[Chosen], Sequence[int]]
"""Tells how many different people of each tree are in some groups."""

_BINS = ((1, 1), (2, 4), (5, 9), (10, 49), (50, None))


def singling_out(trees: Trees, count: Count, k: int, n_people: int | None, n_leaves: int,
                 n_classes: int) -> dict[str, Any]:  # fmt: skip
    """Return the details of TA101."""
    size = [np.array([g.size for g in tree]) for tree in trees]
    every = np.concatenate(size)
    chance = [len(one) / one.sum() for one in size]
    worst = size[int(np.argmax(chance))]
    return {
        "unique_leaves": int((every == 1).sum()),
        "unique_people": max(count(lambda g: g.size == 1)),
        "below_k_leaves": int((every < k).sum()),
        "below_k_people": max(count(lambda g: g.size < k)),
        "k": k,
        "min_leaf": int(every.min()),
        "prosecutor_risk": 1 / every.min(),
        "marketer_risk": len(every) / every.sum(),
        "below_k_share": share(count, lambda g: g.size < k),
        "residual_degrees_of_freedom": None if n_people is None else n_people
        - 2 * (n_leaves - len(trees)) - max(n_classes - 1, 1) * n_leaves,
        "group_sizes": [
            {
                "from": low, "to": high,
                "leaves": sum(int(_inside(one, low, high).sum()) for one in size),
                "people": max(int(one[_inside(one, low, high)].sum()) for one in size),
            }
            for low, high in _BINS
        ],
        "risks": {
            "threshold": 1 / k,
            "prosecutor": {
                "highest": 1 / worst.min(),
                "average": len(worst) / worst.sum(),
                "above_threshold": worst[worst < k].sum() / worst.sum(),
            },
        },
    }  # fmt: skip


def _inside(size: np.ndarray, low: int, high: int | None) -> np.ndarray:
    return (size >= low) & (size <= (high or size.max()))


def share(count: Count, chosen: Chosen) -> float:
    """Return the share of the people of a tree who are in some groups, of the worst tree."""
    return max(np.array(count(chosen)) / np.array(count(lambda g: True)))


def diversity(table: np.ndarray, ordered: bool) -> dict[str, float]:
    """Return the worst measure of any group, counts of shape (groups, values)."""
    all_ = table.sum(axis=0)
    here = all_ > 0
    table, all_ = table[:, here], all_[here] / all_.sum()
    found: dict[str, list[float]] = {}

    def add(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    for row in table:
        share = row / row.sum()
        some = share[share > 0]
        add("distinct_l", len(some))
        add("entropy_l", np.exp(-(some * np.log(some)).sum()))
        add("largest_share", share.max())
        add("recursive_c_for_l_2", row.max() / (row.sum() - row.max()) if len(some) > 1 else np.inf)
        add("t_closeness", np.abs(share - all_).sum() / 2)
        add("ordered_t_closeness",
            np.abs(np.cumsum(share) - np.cumsum(all_)).sum() / max(len(all_) - 1, 1))  # fmt: skip
        gone = (share == 0).any()
        add("delta_disclosure", np.inf if gone else np.abs(np.log(share / all_)).max())
        add("beta_likeness", max(0.0, (share / all_ - 1).max()))
    least = ("distinct_l", "entropy_l")
    worst = {name: min(v) if name in least else max(v) for name, v in found.items()}
    return worst if ordered else {n: v for n, v in worst.items() if n != "ordered_t_closeness"}


def alike(trees: Trees, count: Count, k: int, ordered: bool) -> dict[str, Any]:
    """Return the details of TA102."""

    def most(chosen: Chosen) -> int:
        return max(count(chosen))

    every = [g for tree in trees for g in tree]
    occur = {id(g): int((sum(o.counts for o in tree) > 0).sum()) for tree in trees for g in tree}

    def pure(g: Group) -> bool:
        return g.distinct == 1

    def nearly(g: Group) -> bool:
        return g.others <= 1 or (g.share >= 0.95 and g.others < k)

    def absent(g: Group) -> bool:
        return g.distinct < occur[id(g)]

    def leaves(chosen: Callable[[Group], bool]) -> int:
        return sum(map(chosen, every))

    known = all(not np.isnan(g.rarest) for g in every)
    tables = [np.array([g.counts for g in tree]) for tree in trees]
    # What persons say counts too, where all of them are known.
    tables += [np.array([g.spread for g in t]) for t in trees if all(len(g.spread) for g in t)]
    worst = [diversity(table, ordered) for table in tables]
    least = ("distinct_l", "entropy_l")
    joined = {
        name: min(w[name] for w in worst) if name in least else max(w[name] for w in worst)
        for name in worst[0]
    }
    joined = {n: None if np.isinf(v) else v for n, v in joined.items()}
    return {
        **joined,
        "homogeneous_leaves": leaves(pure),
        "homogeneous_people": most(pure),
        "certain_share": share(count, pure),
        "largest_share": max(g.share for g in every),
        "dominant_leaves": leaves(lambda g: g.share >= 0.9),
        "dominant_people": most(lambda g: g.share >= 0.9),
        "absent_class_leaves": leaves(absent),
        "absent_class_people": most(absent),
        "smallest_cell": int(min(g.rarest for g in every)) if known else None,
        "small_cell_leaves": leaves(lambda g: g.rarest < k),
        "small_cell_people": most(lambda g: g.rarest < k),
        "nearly_certain_leaves": leaves(nearly),
        "nearly_certain_people": most(nearly),
        "nearly_certain_share": share(count, nearly),
    }


def background(trees: Trees, count: Count, total: Sequence[int], most: int = 10) -> dict[str, Any]:
    """Return the numbers of TA103: the curve for every tree, the rest for all or by tree.

    ``count`` tells how many people of each tree have the commonest label of some groups.
    """

    def needed(g: Group) -> float:
        return g.size - g.majority

    falls = [count(lambda g, r=r: needed(g) <= r) for r in range(most + 1)]
    curves = [list(curve) for curve in zip(*falls, strict=True)]
    every = [g for tree in trees for g in tree]
    every_count = [g.counts_of_people for g in every if g.counts_of_people is not None]
    mixed = [counts for counts in every_count if (counts > 0).sum() > 1]
    return {
        "curves": curves,
        "leaves_by_known": [sum(needed(g) == r for g in every) for r in range(most + 1)],
        "leaves_not_countable": sum(bool(np.isnan(g.majority)) for g in every),
        "mixed_leaves": len(mixed),
        "worst_case_certainty_by_known": [
            max(_by_known(c, r) for c in mixed) for r in range(most + 1)
        ] if mixed else [],
        "certainty_by_negations": [
            max(_by_negations(c, r) for c in mixed)
            for r in range(min(most + 1, max((c > 0).sum() for c in mixed)))
        ] if mixed else [],
        "by_tree": [
            {"people_total": n, **_of_tree(tree, most)}
            for tree, n in zip(trees, total, strict=True)
        ],
    }  # fmt: skip


def _of_tree(tree: Sequence[Group], most: int) -> dict[str, Any]:
    told = [g.persons_of_a_label for g in tree if g.persons_of_a_label is not None]
    n, steps = sum(int(counts.sum()) for counts in told), range(most + 1)
    return {
        "people_countable": n,
        "share_certain_random_known": [
            sum(c.sum() * _random(c, r) for c in told) / max(n, 1) for r in steps
        ],
        "mean_certainty_by_known": [
            sum(c.sum() * _by_known(c, r) for c in told) / max(n, 1) for r in steps
        ],
    }


def _by_known(counts: np.ndarray, r: int) -> float:
    """Return the certainty of some label if r others of other labels are known."""
    n = counts.sum()
    return max(c / (n - min(r, n - c)) for c in counts.tolist() if c)


def _by_negations(counts: np.ndarray, r: int) -> float:
    best = 0.0
    for i, mine in enumerate(counts.tolist()):
        rest = sorted((c for j, c in enumerate(counts.tolist()) if j != i), reverse=True)
        if mine:
            best = max(best, mine / (mine + sum(rest[r:])))
    return best


def _random(counts: np.ndarray, r: int) -> float:
    """Return the chance that somebody is of the commonest label and r random others disclose it.

    All d people of other labels have to be among r of the n - 1 others: hypergeometric.
    """
    n, top = int(counts.sum()), int(counts.max())
    d, r = n - top, min(r, n - 1)
    if d > r:
        return 0.0
    return top / n * comb(n - 1 - d, r - d) / comb(n - 1, r)
