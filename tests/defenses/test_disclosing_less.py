"""Defenses that leave the groups as they are and say less about them."""

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from tests.strategies import examples, forests, rows, smallest_intersection
from treeaudit.defenses import (
    DEFENSES,
    Coarsen,
    IntersectK,
    KeepTrees,
    LabelsOnly,
    RoundCounts,
    Strip,
)
from treeaudit.defenses.tree_edits import recount
from treeaudit.model.source import KINDS, Extra, Extras, Member, Source

INF = np.inf


@pytest.mark.parametrize("defense", DEFENSES)
def test_every_defense_says_what_it_is(defense) -> None:
    assert re.fullmatch(r"[a-z-]+", defense.id)
    assert defense.title
    for field in dataclasses.fields(defense.words):
        assert len(getattr(defense.words, field.name)) > 10
    assert defense().step
    with pytest.raises((AttributeError, TypeError)):
        defense().anything = 1


class TestStrip:
    def test_only_shares_of_leaves_stay(self, figure_3) -> None:
        full = dataclasses.replace(
            figure_3,
            extras=Extras(
                found=(Extra(kind="seeds", where="random_state", n=1, says="…"),),
                looked_for=frozenset({"seeds"}),
            ),
            source=Source(parameters={"random_state": 7, "tree__random_state": 7, "max_depth": 2}),
        )
        bare = Strip().apply(full)
        tree = bare.trees[0]
        assert tree.n_records is None
        assert bare.n_records is None
        assert bare.extras.found == ()
        assert bare.extras.looked_for == KINDS - {
            "column-values",
            "extremes",
            "first-round-counts",
        }
        assert dict(bare.source.parameters) == {"max_depth": 2}
        assert tree.counts[:3].tolist() == [[0, 0]] * 3
        assert tree.counts[3:].tolist() == [[2 / 3, 1 / 3], [0, 1], [1, 0], [1 / 3, 2 / 3]]

    def test_what_was_stripped_never_passes(self, figure_3) -> None:
        assert ta.scan(Strip().apply(figure_3)).verdict == "review"
        assert ta.scan(LabelsOnly().apply(figure_3)).verdict == "review"

    def test_shares_are_those_of_the_weighted_answer(self, figure_3) -> None:
        heavy = dataclasses.replace(figure_3, class_weights=((3.0, 1.0),))
        assert Strip().apply(heavy).trees[0].counts[6].tolist() == [3 / 5, 2 / 5]
        assert LabelsOnly().apply(heavy).trees[0].label[6] == 0
        assert LabelsOnly().apply(figure_3).trees[0].label[6] == 1


def test_labels_need_classes() -> None:
    tree = ta.Tree(parent=[-1], feature=[-1], low=[-INF], high=[INF], value=[1.0])
    numbers = ta.Forest(trees=(tree,), schema=ta.Schema.numeric(1), counts_are="absent")
    with pytest.raises(ta.DataError, match="predicts a class"):
        LabelsOnly().apply(numbers)


class TestRoundCounts:
    def test_by_hand(self) -> None:
        counts = [[0, 0, 0], [6, 7, 0], [3, 3, 0], [8, 8, 0], [2, 12, 1], [3, 3, 3], [9, 1, 0]]
        leaves = [*range(1, 7)]
        n = [sum(one) for one in counts]
        tree = ta.Tree(
            parent=[-1, *[0] * 6],
            feature=[-1, *[0] * 6],
            low=[-INF, -INF, *leaves[:-1]],
            high=[INF, *leaves[:-1], INF],
            counts=[np.sum(counts, axis=0), *counts[1:]],
            n_records=[sum(n), *n[1:]],
        )
        schema = ta.Schema.numeric(1, ["a", "b", "c"])
        safe = RoundCounts(base=5).apply(ta.Forest(trees=(tree,), schema=schema)).trees[0]
        # 13 are 10 at most, of 6 and 7; b is answered, so that a is not as many.
        assert safe.counts[1].tolist() == [0, 5, 0]
        # 6 are 5 at most, 16 are 15, 15 are 15; 9 are 5; 10 are 10.
        assert safe.counts[2:].tolist() == [
            [5, 0, 0], [10, 5, 0], [0, 10, 0], [5, 0, 0], [10, 0, 0],
        ]  # fmt: skip
        assert safe.n_records.tolist() == [50, 5, 5, 15, 10, 5, 10]

    @examples(300)
    @given(forests(), st.integers(2, 20), st.integers(0, 2**32 - 1))
    def test_totals_are_consistent_answers_stay_and_no_leaf_tells_of_more(
        self, forest, base, seed
    ) -> None:
        rng = np.random.default_rng(seed)

        def grown(tree: ta.Tree) -> ta.Tree:
            more = rng.integers(0, 30, tree.counts.shape)
            more[:, 0] += base
            counts = np.where(tree.is_leaf[:, None], tree.counts + more, 0)
            one = dataclasses.replace(tree, counts=counts, n_records=counts.sum(axis=1).astype(int))
            return recount(one, one.is_leaf)

        forest = dataclasses.replace(forest, trees=tuple(map(grown, forest.trees)), n_records=None)
        safe = RoundCounts(base=base).apply(forest)
        table = rows(seed)
        for old, new in zip(forest.trees, safe.trees, strict=True):
            assert (new.counts % base == 0).all()
            assert (new.n_records <= old.n_records).all()
            assert (new.n_records[new.leaves] >= base).all()
            start, child = new.children()
            for node in np.flatnonzero(np.diff(start)):
                below = child[start[node] : start[node + 1]]
                assert np.array_equal(new.counts[node], new.counts[below].sum(axis=0))
                assert new.n_records[node] == new.n_records[below].sum()
            leaf = old.apply(table)
            leaf = leaf[old.is_leaf[leaf]]
            assert np.array_equal(old.counts[leaf].argmax(axis=1), new.counts[leaf].argmax(axis=1))

    def test_a_small_leaf_is_not_hidden(self, figure_3) -> None:
        # Leaves of 3, 2, 1 and 3 people: 1 and 2 would be told as 3.
        with pytest.raises(ta.DataError, match=r"leaf 4 holds 2 people.*--min-leaf 3"):
            _ = RoundCounts(base=3).apply(figure_3).trees[0]
        numbers = dataclasses.replace(figure_3.trees[0], counts=None, value=np.arange(7.0))
        forest = dataclasses.replace(
            figure_3, trees=(numbers,), schema=ta.Schema.numeric(3), counts_are="absent"
        )
        with pytest.raises(ta.DataError, match="leaf 4 holds 2 people"):
            _ = RoundCounts(base=3).apply(forest).trees[0]

    def test_weights_are_not_rounded(self, figure_3) -> None:
        weights = dataclasses.replace(figure_3, counts_are="weighted", counts_reason="weights")
        with pytest.raises(ta.DataError, match="no people"):
            RoundCounts().apply(weights)
        with pytest.raises(ta.DataError, match="at least 2"):
            RoundCounts(base=1)


class TestCoarsen:
    def tree(self, *thresholds: float) -> ta.Forest:
        n = len(thresholds)
        parent = [-1] + [2 * (i // 2) for i in range(2 * n)]
        low, high = [-INF], [INF]
        for t in thresholds:
            low += [-INF, t]
            high += [t, INF]
        tree = ta.Tree(parent=parent, feature=[-1] + [0] * (2 * n), low=low, high=high)
        schema = ta.Schema.numeric(["age"])
        return ta.Forest(trees=(tree,), schema=schema, counts_are="absent")

    def test_digits_and_steps(self) -> None:
        model = self.tree(0.0, 1234.5, -0.0123, np.nextafter(170.0, 0))
        digits = Coarsen(digits=2).apply(model).trees[0]
        assert digits.high[1::2].tolist() == [0, 1200, -0.012, np.nextafter(170.0, 0)]
        assert digits.low[2::2].tolist() == digits.high[1::2].tolist()
        steps = Coarsen(steps={"age": 50}).apply(self.tree(1234.5, 20)).trees[0]
        assert steps.high[1::2].tolist() == [1250, 0]

    def test_moved_thresholds_take_the_counts_with_them(self, figure_3) -> None:
        # 170, 60 and 15 are on the first grid; on steps of 100 they are 200, 100 and 0.
        assert Coarsen(digits=2).apply(figure_3) is figure_3
        moved = Coarsen(steps=dict.fromkeys(figure_3.schema.names, 100)).apply(figure_3)
        assert moved.counts_are == "weighted"
        assert "leaves hold others than were counted" in moved.counts_reason
        assert moved.trees[0].n_records is None
        assert moved.trees[0].counts[3].tolist() == [2 / 3, 1 / 3]
        assert ta.scan(moved).verdict != "pass"
        private = dataclasses.replace(figure_3, privacy={"epsilon": 1.0}, counts_are="noisy")
        kept = Coarsen(steps={"Height": 100}).apply(private)
        assert kept.trees[0].counts[3].tolist() == [2, 1]

    def test_a_grid_that_is_too_fine_is_refused(self) -> None:
        with pytest.raises(ta.DataError, match="so fine a grid"):
            _ = Coarsen(steps={"age": 1e-320}).apply(self.tree(50.0)).trees[0]

    def test_a_grid_needs_a_feature_and_a_width(self) -> None:
        for steps in ({"height": 5}, {"age": 0}):
            with pytest.raises(ta.DataError, match="steps of"):
                Coarsen(steps=steps).apply(self.tree(1.0))


class TestKeepTrees:
    def test_the_first_stay(self, figure_3) -> None:
        old = figure_3.trees[0]
        other = dataclasses.replace(old, n_records=2 * old.n_records, counts=2 * old.counts)
        three = dataclasses.replace(
            figure_3,
            trees=(*figure_3.trees, other, other),
            class_weights=(None, (1.0, 2.0), None),
            members=(Member(inside="steps['f']", estimator="Forest", n_trees=3),),
        )
        two = KeepTrees(trees=2).apply(three)
        assert [tree.n_records[0] for tree in two.trees] == [9, 18]
        assert two.class_weights == (None, (1.0, 2.0))
        assert two.members[0].n_trees == 2
        with pytest.raises(ta.DataError, match="ask for 1 to 3"):
            KeepTrees(trees=4).apply(three)

    def test_of_one_model_only(self, figure_3) -> None:
        member = Member(inside="estimators_[0]", estimator="Tree", n_trees=1)
        both = dataclasses.replace(figure_3, trees=figure_3.trees * 2, members=(member, member))
        with pytest.raises(ta.DataError, match="belong to 2 models"):
            KeepTrees(trees=1).apply(both)


class TestIntersectK:
    def test_without_data_it_says_so(self, figure_3) -> None:
        with pytest.raises(ta.DataError, match="--train"):
            IntersectK().apply(figure_3)

    def test_two_trees_that_single_somebody_out(self) -> None:
        def stump(threshold: float, feature: int) -> ta.Tree:
            return ta.Tree(
                parent=[-1, 0, 0],
                feature=[-1, feature, feature],
                low=[-INF, -INF, threshold],
                high=[INF, threshold, INF],
                n_records=[8, 4, 4],
            )

        schema = ta.Schema.numeric(2)
        both = ta.Forest(trees=(stump(3.5, 0), stump(3.5, 1)), schema=schema, counts_are="absent")
        people = np.array([[i, (i + 1) % 8] for i in range(8)], dtype=float)
        assert smallest_intersection(both, people) == 1
        safe = IntersectK(min_leaf=2, values=people).apply(both)
        assert safe.n_trees == 1
        assert smallest_intersection(safe, people) == 4

    @examples(100)
    @given(forests(), st.integers(1, 10), st.integers(0, 2**32 - 1))
    def test_every_intersected_group_holds_k(self, forest, k, seed) -> None:
        people = rows(seed)
        try:
            safe = IntersectK(min_leaf=k, values=people).apply(forest)
        except ta.DataError:
            return
        assert smallest_intersection(safe, people) >= k
