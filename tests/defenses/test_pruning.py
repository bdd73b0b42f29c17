"""Methods 1 and 2: the paper's figures, and what holds for every tree."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import examples, forests, rows
from treeaudit import DataError, Forest, Schema, Tree
from treeaudit.defenses import MergeSiblings, PruneLeaves

INF = np.inf
THRESHOLDS = st.integers(1, 25)
SEEDS = st.integers(0, 2**32 - 1)
THOUSAND = examples(1_000)


def leaf_sizes(tree: Tree) -> list[int]:
    return tree.n_records[tree.leaves].tolist()


def biggest(tree: Tree) -> int:
    return int(tree.n_records[tree.leaves].max())


class TestFigure3:
    """Leaves of 3, 2, 1 and 3 people; see Table 4 of the paper."""

    def test_method_1_takes_out_the_leaf_of_one(self, figure_3) -> None:
        tree = PruneLeaves(min_leaf=2, unanswered="reject").apply(figure_3).trees[0]
        assert leaf_sizes(tree) == [3, 2, 3]
        assert tree.n_records.tolist() == [8, 5, 3, 3, 2, 3]
        assert tree.counts.tolist() == [[3, 5], [2, 3], [1, 2], [2, 1], [0, 2], [1, 2]]

    def test_method_2_merges_it_with_its_sibling(self, figure_3) -> None:
        tree = MergeSiblings(min_leaf=2).apply(figure_3).trees[0]
        assert tree.n_records.tolist() == [9, 5, 4, 3, 2]
        assert tree.counts.tolist() == [[4, 5], [2, 3], [2, 2], [2, 1], [0, 2]]

    def test_s_is_k_minus_1(self, figure_3) -> None:
        assert MergeSiblings(min_leaf=3).apply(figure_3).trees[0].n_nodes == 3
        assert leaf_sizes(
            PruneLeaves(min_leaf=3, unanswered="reject").apply(figure_3).trees[0]
        ) == [3, 3]

    def test_the_model_given_is_left_as_it_is(self, figure_3) -> None:
        before = figure_3.trees[0].counts.tolist()
        for defense in (PruneLeaves(min_leaf=3, unanswered="reject"), MergeSiblings(min_leaf=3)):
            assert defense.apply(figure_3) is not figure_3
        assert figure_3.trees[0].counts.tolist() == before
        assert figure_3.n_records == 9

    def test_nobody_can_ask_for_more_people_than_there_are(self, figure_3) -> None:
        with pytest.raises(DataError, match=r"only 9 in the tree.*--min-leaf 4"):
            list(MergeSiblings(min_leaf=10).apply(figure_3).trees)
        with pytest.raises(DataError, match="nothing would be left"):
            list(PruneLeaves(min_leaf=4, unanswered="reject").apply(figure_3).trees)

    def test_answered_by_the_parent(self, figure_3) -> None:
        prune = PruneLeaves(min_leaf=2, unanswered="parent")
        tree = prune.apply(figure_3).trees[0]
        assert tree.n_records.tolist() == [8, 5, 3, 3, 2, 0, 3]
        assert tree.counts[5].tolist() == [1, 2]
        again = prune.apply(prune.apply(figure_3)).trees[0]
        assert again.counts.tolist() == tree.counts.tolist()


def test_a_tree_that_does_not_tell_its_sizes_is_refused() -> None:
    bare = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-INF, -INF, 1], high=[INF, 1, INF])
    forest = Forest(trees=(bare,), schema=Schema.numeric(1), counts_are="absent")
    for defense in (PruneLeaves(), MergeSiblings()):
        with pytest.raises(DataError, match="does not tell how many people"):
            list(defense.apply(forest).trees)


def test_noisy_counts_are_added_up_as_they_are() -> None:
    noisy = Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-INF, -INF, 1],
        high=[INF, 1, INF],
        counts=[[0, 0], [-0.5, 3.25], [9.5, 2.0]],
    )
    forest = Forest(trees=(noisy,), schema=Schema.numeric(1, ["a", "b"]), counts_are="noisy")
    assert MergeSiblings(min_leaf=3).apply(forest).trees[0].counts.tolist() == [[9.0, 5.25]]
    assert PruneLeaves(min_leaf=3, unanswered="reject").apply(forest).trees[0].counts[
        1
    ].tolist() == [9.5, 2.0]


def regression(inner: float) -> Forest:
    tree = Tree(
        parent=[-1, 0, 0, 1, 1],
        feature=[-1, 0, 0, 1, 1],
        low=[-INF, -INF, 1, -INF, 2],
        high=[INF, 1, INF, 2, INF],
        n_records=[10, 4, 6, 3, 1],
        value=[5.0, inner, 6.0, 1.0, 4.0],
    )
    return Forest(trees=(tree,), schema=Schema.numeric(2), counts_are="absent")


@THOUSAND
@given(forests(), THRESHOLDS, SEEDS)
def test_after_method_2_every_leaf_holds_k_people(forest, k, seed) -> None:
    if any(tree.n_records[0] < k for tree in forest.trees):
        return
    safe = MergeSiblings(min_leaf=k).apply(forest)
    again = MergeSiblings(min_leaf=k).apply(safe)
    table = rows(seed)
    for tree, cut, twice in zip(forest.trees, safe.trees, again.trees, strict=True):
        assert min(leaf_sizes(cut)) >= k
        assert sum(leaf_sizes(cut)) == tree.n_records[0] == cut.n_records[0]
        assert cut.counts[cut.leaves].sum(axis=0).tolist() == tree.counts[0].tolist()
        same(cut, twice)
        # A record whose leaf is still there ends in it.
        before, after = tree.apply(table), cut.apply(table)
        kept = cut.depths[after] == tree.depths[before]
        assert np.array_equal(tree.counts[before[kept]], cut.counts[after[kept]])
        assert kept.all() or cut.n_nodes < tree.n_nodes


@examples(200)
@given(forests(), THRESHOLDS, SEEDS)
def test_method_2_cuts_no_more_than_it_must(forest, k, seed) -> None:
    """Against brute force: a node stays if and only if no good cutting needs it gone."""
    for tree in forest.trees:
        if tree.n_records[0] < k:
            continue
        one = Forest(trees=(tree,), schema=forest.schema)
        safe = MergeSiblings(min_leaf=k).apply(one).trees[0]
        sizes = {0: int(tree.n_records[0])}
        children: dict[int, list[int]] = {}
        for node in range(1, tree.n_nodes):
            children.setdefault(int(tree.parent[node]), []).append(node)
            sizes[node] = int(tree.n_records[node])
        leaves = set(range(tree.n_nodes)) - set(children)
        while small := [n for n in leaves if sizes[n] < k]:
            above = int(tree.parent[small[0]])
            gone = list(children[above])
            while gone:
                node = gone.pop()
                gone += children.get(node, [])
                leaves.discard(node)
            leaves.add(above)
        assert sorted(leaf_sizes(safe)) == sorted(sizes[n] for n in leaves)


@THOUSAND
@given(forests(), THRESHOLDS, SEEDS)
def test_after_method_1_those_of_removed_leaves_are_unanswered(forest, k, seed) -> None:
    if any(biggest(tree) < k for tree in forest.trees):
        return
    safe = PruneLeaves(min_leaf=k, unanswered="reject").apply(forest)
    again = PruneLeaves(min_leaf=k, unanswered="reject").apply(safe)
    filled = PruneLeaves(min_leaf=k, unanswered="parent").apply(forest)
    table = rows(seed)
    for tree, cut, twice, full in zip(
        forest.trees, safe.trees, again.trees, filled.trees, strict=True
    ):
        assert min(leaf_sizes(cut)) >= k
        same(cut, twice)
        before, after = tree.apply(table), cut.apply(table)
        removed = tree.is_leaf[before] & (tree.n_records[before] < k)
        stuck = ~tree.is_leaf[before]
        assert np.array_equal(cut.is_leaf[after], ~removed & ~stuck)
        answered = cut.is_leaf[after]
        assert np.array_equal(tree.counts[before[answered]], cut.counts[after[answered]])
        # Subtracting siblings from parents gives nothing back.
        start, child = cut.children()
        for node in np.flatnonzero(np.diff(start)):
            below = child[start[node] : start[node + 1]]
            assert cut.n_records[node] == cut.n_records[below].sum()
            assert np.array_equal(cut.counts[node], cut.counts[below].sum(axis=0))
        # With answers from above nobody is unanswered, and all others as before.
        end = full.apply(table)
        assert np.array_equal(full.is_leaf[end], ~stuck)
        assert np.array_equal(full.counts[end][answered], cut.counts[after][answered])
        assert np.array_equal(full.counts[end][removed], cut.counts[after][removed])


def same(one: Tree, other: Tree) -> None:
    for name in ("parent", "feature", "low", "high", "n_records", "counts"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@examples(200)
@given(forests(), THRESHOLDS, st.lists(st.floats(0.01, 50), min_size=4, max_size=4))
def test_weights_are_carried_along(forest, k, weights) -> None:
    """Sizes are people whatever they weigh; the weight of everybody is kept."""
    if any(tree.n_records[0] < k for tree in forest.trees):
        return
    each = np.array(weights)[: len(forest.schema.classes)]
    heavy = replace(
        forest,
        trees=tuple(replace(tree, counts=tree.counts * each) for tree in forest.trees),
        counts_are="weighted",
    )
    plain, safe = (MergeSiblings(min_leaf=k).apply(one) for one in (forest, heavy))
    for one, other, tree in zip(plain.trees, safe.trees, heavy.trees, strict=True):
        assert np.array_equal(one.parent, other.parent)
        assert np.array_equal(one.n_records, other.n_records)
        assert np.allclose(one.counts * each, other.counts)
        assert np.allclose(other.counts[other.leaves].sum(axis=0), tree.counts[0])
