"""TA106 where persons are counted, and on the random forests of boosting libraries."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier

import treeaudit as ta
from tests.libraries import library
from treeaudit.attacks.composition.bounds import shared_leaf_groups
from treeaudit.reports.summary import reasons

N = 240
RANDOM = np.random.default_rng(8)


def _found(model, **people):
    return ta.scan(model, policy="observe", attacks=["TA106"], **people)["TA106"].details


def test_groups_of_three_visits_by_hand() -> None:
    # Visits 0 and 1 are Ann's, 2 is Ben's, 3 is Cem's. In the first tree Ann and Ben share a leaf;
    # after the second nobody shares with anybody, and Ann, in two groups, is one person.
    node = np.array([[1, 1], [1, 2], [1, 3], [2, 3]], dtype=np.int32)
    persons = np.array([4, 4, 7, 9], dtype=np.int32)
    found = shared_leaf_groups(node, (1, 2), persons)
    assert [(n, size.tolist()) for n, size in found.values()] == [(2, [2, 2, 1]), (4, [1, 1, 1])]


def test_who_is_apart_from_everybody_is_told() -> None:
    """Beside what scikit-learn says: where everybody ends, in all trees."""
    rows, labels = RANDOM.normal(size=(N, 4)).round(3), RANDOM.integers(0, 2, N)
    model = ExtraTreesClassifier(7, min_samples_leaf=10, random_state=0).fit(rows, labels)
    report = ta.scan(model, train=(rows, labels), attacks=["TA101", "TA106"])
    _, size = np.unique(model.apply(rows), axis=0, return_counts=True)
    alone = int((size == 1).sum())
    last = report["TA106"].details.curve[-1]
    assert (last.alone, last.below_k) == (alone, size[size < 5].sum())
    assert alone > 100
    assert report["TA101"].status == "clear"
    assert f"All trees together set {alone} of {N} people apart from everybody else." in (
        reasons(report)
    )


def test_everybody_counts_once_however_many_visits() -> None:
    rows = RANDOM.normal(size=(N, 4)).round(3)
    labels = RANDOM.integers(0, 2, N)
    model = ExtraTreesClassifier(60, min_samples_leaf=6, random_state=0).fit(rows, labels)
    model.random_state = None
    for tree in model.estimators_:
        tree.random_state = None
    frame = pd.DataFrame(rows, columns=list("abcd")).assign(label=labels)
    alone = _found(model, train=frame, target="label")
    # 40 persons with 3 visits and 120 with one: 160 in all.
    frame["who"] = np.r_[np.repeat(np.arange(40), 3), np.arange(40, 160)]
    found = _found(model, train=frame, target="label", person="who")
    assert (alone.train, found.train) == (N, 160)
    assert found.joint.whole == 160
    assert 0 < found.curve[-1].alone <= 160
    # By hand: the mean over persons of the share of their records that is right.
    own = model.predict(rows) == labels
    assert found.own == round(frame.assign(own=own).groupby("who")["own"].mean().sum()) / 160
    frame["who"] = np.arange(N)
    assert _found(model, train=frame, target="label", person="who") == alone


@pytest.mark.libraries
def test_a_random_forest_of_xgboost_is_judged_as_a_forest(tmp_path) -> None:
    xgb = library("xgboost")
    rows = RANDOM.normal(size=(N, 6)).astype(np.float32)
    labels = RANDOM.integers(0, 2, N)
    common = {"max_depth": 4, "min_child_weight": 3, "colsample_bynode": 0.4, "random_state": 0}
    forest = xgb.XGBRFClassifier(n_estimators=60, subsample=1.0, **common).fit(rows, labels)
    forest.save_model(tmp_path / "forest.json")
    model = ta.load(tmp_path / "forest.json")
    # Labels were drawn at random: beyond its own answers, what comes back is memory.
    node = model.apply(rows)
    for i, tree in enumerate(model.trees):
        there = np.bincount(node[:, i], labels, tree.n_nodes)[tree.leaves]
        assert tree.counts[tree.leaves, 1].tolist() == there.tolist()
    report = ta.scan(model, train=(rows, labels))
    found = report["TA106"].details
    assert found.own == (forest.predict(rows) == labels).mean()
    assert found.excess > 0.05
    assert report["TA102"].looked == ("class counts of the leaves of 60 trees",)
    assert {c.name: c.status for c in report.checks}["max-joint-label-excess"] == "fail"
    alone = {c.name: c.status for c in ta.scan(model).checks}
    assert alone["max-joint-label-excess"] == "skipped"
    boosted = xgb.XGBClassifier(n_estimators=5, **common).fit(rows, labels)
    boosted.save_model(tmp_path / "boosted.json")
    checks = {c.name: c for c in ta.scan(tmp_path / "boosted.json").checks}
    assert checks["max-joint-label-excess"].reason.endswith("(--train)")
