"""Noisy counts made to fit together: post-processing, which costs nothing.

References
----------
Friedman & Schuster (2010), algorithm 3 and section 4.2.
Quinlan (1993), C4.5: the pessimistic estimate of errors.
Fletcher & Islam (2015), equation 27.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int, Wide, sum_of_row
from treeaudit.defenses.tree_edits import add_to
from treeaudit.model.tree import depths_of


def shrink(parent: npt.ArrayLike, counts: npt.ArrayLike, deviation: float, trust: float) -> Float:
    """Return counts for all nodes from noisy counts of the leaves.

    A node holds what its leaves hold together. Its shares are drawn towards
    those of the node above, the more so the fewer people it holds by the noise
    in it; a node of few people answers as the one above, which is
    surer. Nothing below zero is left.

    ``parent``: shape ``(n_nodes,)``; -1 at roots, parents before children. ``counts``: shape
    ``(n_nodes, n_classes)``: noisy in leaves, 0 elsewhere. ``deviation``: the standard deviation of
    the noise of one count. ``trust``: how many deviations the node above is worth.
    """
    above = np.asarray(parent, dtype=np.int64)
    held = np.array(counts, dtype=np.float64)
    n_nodes, n_classes = held.shape
    leaf = np.ones(n_nodes)
    leaf[above[above >= 0]] = 0
    n_leaves = leaf.copy()
    for node in range(n_nodes - 1, 0, -1):
        if above[node] >= 0:
            held[above[node]] += held[node]
            n_leaves[above[node]] += n_leaves[node]
    share = np.full((n_nodes, n_classes), 1 / n_classes)
    for node in range(n_nodes):
        pull = trust * deviation * np.sqrt(n_leaves[node])
        over = share[above[node]] if above[node] >= 0 else share[node]
        pulled = np.maximum(held[node] + (pull * over if above[node] >= 0 else 0.0), 0.0)
        total = pulled.sum()
        share[node] = pulled / total if total > 0 else over
    result: Float = share * np.maximum(held.sum(axis=1), 0.5)[:, None]
    return result


def calibrate(parent: Sequence[int], people: npt.ArrayLike, classes: npt.ArrayLike) -> Float:
    """Return class counts that add up, from noisy counts of nodes and of classes in leaves.

    Top-down, the people of a node are shared out over its children in proportion
    to their own counts; bottom-up, the class counts of the leaves are scaled to that
    and added up. Counts below zero count as zero.

    ``parent``: as in `shrink`. ``people``: shape ``(n_nodes,)``: the noisy number of people in
    every node. ``classes``: shape ``(n_nodes, n_classes)``: noisy in leaves.
    """
    above = np.asarray(parent, dtype=np.int64)
    fixed = np.maximum(np.asarray(people, dtype=np.float64), 0.0)
    held = np.maximum(np.asarray(classes, dtype=np.float64), 0.0)
    raw = np.asarray(classes, dtype=np.float64)
    n = len(above)
    children = _children(above)
    for node in range(n):
        if children[node]:
            own = fixed[children[node]]
            total = own.sum()
            share = own / total if total > 0 else np.full(len(own), 1 / len(own))
            fixed[children[node]] = fixed[node] * share
    for node in range(n - 1, -1, -1):
        if children[node]:
            held[node] = held[children[node]].sum(axis=0)
            continue
        if held[node].sum() <= 0:
            # Nothing but noise: the class that is least below zero is the answer, as printed.
            held[node, np.argmax(raw[node])] = 1.0
        held[node] *= max(fixed[node], 0.5) / held[node].sum()
    return held


def prune_pessimistically(parent: Sequence[int], counts: Float, certainty: float) -> Flag:
    """Tell which nodes stay when subtrees that do not pay are cut, as in C4.5.

    A leaf with N people and E errors is expected to err on N times the upper
    limit of a binomial share, at the given certainty factor. A subtree whose leaves
    are expected to err as often as it would as a leaf, or more, becomes one.
    """
    from scipy.special import betaincinv

    people = counts.sum(axis=1)
    wrong = people - counts.max(axis=1)
    limit = betaincinv(wrong + 1, np.maximum(people - wrong, 1e-12), 1 - certainty)
    as_leaf = people * np.where(people - wrong > 0, limit, 1.0)
    above = np.asarray(parent, dtype=np.int64)
    children = _children(above)
    expected = as_leaf.copy()
    cut = np.zeros(len(people), dtype=np.bool_)
    for node in range(len(people) - 1, -1, -1):
        if not children[node]:
            continue
        below = float(expected[children[node]].sum())
        # C4.5 lets a leaf be worse by a tenth of an error.
        cut[node] = as_leaf[node] <= below + 0.1
        expected[node] = as_leaf[node] if cut[node] else below
    return _kept_nodes(above, cut, levels_of(above))


def prune_by_gini(
    parent: Sequence[int], counts: npt.ArrayLike, ties: Literal["cut", "kept"] = "cut"
) -> Flag:
    """Tell which nodes stay when leaves no purer than the node above are cut.

    The counts are noisy ones of every node; below zero they count as zero. Leaves that are
    exactly as pure are cut by equation 27 and kept by line 43.
    """
    held = np.maximum(np.asarray(counts, dtype=np.float64), 0.0)
    people = held.sum(axis=1)
    share = held / np.maximum(people, 1e-300)[:, None]
    purity = np.where(people > 0, (share**2).sum(axis=1) - 1, -1.0)
    above = np.asarray(parent, dtype=np.int64)
    children = _children(above)
    leaf = np.array([not below for below in children])
    cut = np.zeros(len(held), dtype=np.bool_)
    for node in range(len(held) - 1, -1, -1):
        below = children[node]
        if not below or not leaf[below].all():
            continue
        total = people[below].sum()
        mean = float((people[below] * purity[below]).sum() / total) if total > 0 else -1.0
        if purity[node] > mean or (ties == "cut" and purity[node] == mean):
            cut[node] = leaf[node] = True
    return _kept_nodes(above, cut, levels_of(above))


def prune_noise(parent: npt.ArrayLike, counts: Float, least: float) -> Flag:
    """Tell which nodes stay when leaves that are noise are cut, all of a node together.

    A node with |J| leaves below it has the signal-to-noise ratio ``epsilon sum n_j / (C sqrt(2
    |J|))`` (Fletcher & Islam 2015b; equation 17 of the survey), that is its people by the
    square root of |J| and by the people that a leaf must hold, ``sqrt(2) C / epsilon``.
    """
    above = np.asarray(parent, dtype=np.int64)
    by_level = levels_of(above)
    n_leaves, leaf = leaves_below(above, by_level)
    noise = sum_of_row(counts) / (least * np.sqrt(n_leaves)) <= 1
    cut = np.zeros(len(leaf), dtype=np.bool_)
    stays = np.zeros(len(leaf), dtype=np.bool_)
    for over, own in zip(by_level[-2::-1], by_level[:0:-1], strict=True):
        stays[above[own][~(leaf[own] & noise[own])]] = True
        cut[over] = ~(leaf[over] | stays[over])
        leaf[over] |= cut[over]
    return _kept_nodes(above, cut, by_level)


def leaves_below(above: Int | Wide, by_level: Sequence[Index]) -> tuple[Float, Flag]:
    """Return how many leaves each node holds, and which are leaves themselves."""
    leaf = np.ones(len(above), dtype=np.bool_)
    leaf[above[above >= 0]] = False
    found = leaf.astype(np.float64)
    for level in by_level[:0:-1]:
        add_to(found, above[level], level)
    return found, leaf


def levels_of(parent: npt.ArrayLike) -> list[Index]:
    """Return the nodes of each depth, roots first."""
    depth = depths_of(np.asarray(parent, dtype=np.int64))
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)


def _children(above: Wide) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in above]
    for node, parent in enumerate(above.tolist()):
        if parent >= 0:
            found[parent].append(node)
    return found


def _kept_nodes(above: Wide, cut: Flag, by_level: Sequence[Index]) -> Flag:
    """Return what stays when everything below some nodes goes."""
    kept = np.ones(len(cut), dtype=np.bool_)
    goes_on = ~cut
    for own in by_level[1:]:
        over = above[own]
        kept[own] = kept.take(over) & goes_on.take(over)
    return kept
