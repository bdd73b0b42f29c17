"""Defenses that need the training people: everybody counted, and shares over all trees."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import treeaudit as ta
from treeaudit.defenses import CountAnew, MergeDiverse, MergeSiblings
from treeaudit.people.records import read_records

SHARE = 0.05


@pytest.fixture(scope="module")
def people(cancer):
    return cancer


@pytest.fixture(scope="module")
def forest(cancer) -> ta.Forest:
    return ta.load(RandomForestClassifier(15, random_state=0).fit(*cancer))


def test_everybody_is_counted_where_they_end(forest, people) -> None:
    x, y = people
    records = read_records((x, y), forest)
    whole = CountAnew(values=records.values, labels=records.labels).apply(forest)
    assert (whole.records_are, whole.counts_are, whole.n_records) == ("all", "exact", len(x))
    classes = np.array(whole.schema.classes)
    for i, tree in enumerate(whole.trees):
        assert tree.n_nodes == forest.trees[i].n_nodes
        assert tree.n_records[0] == len(x)
        ends = forest.trees[i].apply(records.values)
        for leaf in tree.leaves:
            there = np.asarray(y)[ends == leaf]
            assert tree.counts[leaf].tolist() == [(there == c).sum() for c in classes]
            assert tree.n_records[leaf] >= forest.trees[i].n_records[leaf]


def test_what_is_written_is_of_everybody(forest, people, tmp_path) -> None:
    records = read_records(people, forest)
    whole = CountAnew(values=records.values, labels=records.labels).apply(forest)
    read = ta.load(ta.save(whole, tmp_path / "whole.pkl"))
    assert (read.records_are, read.counts_are) == ("all", "exact")
    report = ta.scan(read, train=people, policy="observe")
    assert report.warnings == ()


def test_whom_to_count_must_be_told(forest) -> None:
    with pytest.raises(ta.DataError, match="give it with --train"):
        CountAnew().apply(forest)
    with pytest.raises(ta.DataError, match="counts of its classes"):
        CountAnew(values=np.zeros((1, 30)), labels=np.zeros(1, int)).apply(
            ta.defend(forest, method="strip")
        )


@pytest.mark.parametrize("exceptions", [0, 5])
def test_a_share_over_all_trees_is_kept_and_used(forest, people, exceptions) -> None:
    records = read_records(people, forest)
    sized = MergeSiblings(min_leaf=5).apply(forest)
    none = MergeDiverse(exceptions=exceptions)
    allowed = MergeDiverse(exceptions=exceptions, allowed=SHARE, values=records.values)
    spared, strict = allowed.apply(sized), none.apply(sized)
    bad = np.zeros(len(records), dtype=bool)
    leaves = 0
    for tree, small in zip(spared.trees, strict.trees, strict=True):
        marked = none.bad(tree, spared) & tree.is_leaf
        bad |= marked[tree.apply(records.values)]
        leaves += len(tree.leaves) - len(small.leaves)
    assert 0 < bad.sum() <= SHARE * len(records)
    assert leaves > 0
