"""Class counts of a first boosted tree: right where they are claimed, refused where not proved."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import treeaudit as ta
from treeaudit.model.tree import Tree
from treeaudit.readers.first_round import SINGLE, Step, people_of_class, with_people

RANDOM = np.random.default_rng(3)
N = 600
X = RANDOM.normal(size=(N, 4)).astype(np.float32)
Y = (X[:, 0] + RANDOM.normal(size=N) * 0.6 > 0.7).astype(int)
GENTLE = {"max_depth": 3, "random_state": 0}


def _value(step: Step, n: np.ndarray, of_class: np.ndarray) -> np.ndarray:
    moved = (of_class - n * step.p) / (n * step.curvature + step.penalty)
    return step.start + step.rate * moved


def test_a_leaf_worked_out_by_hand() -> None:
    # 2 of 8 people are of the class: p = 1/4, h = 3/16. Leaf of 3 people, both of them in it:
    # (2 - 3/4) / (3 * 3/16 + 1) = 1.25 / 1.5625 = 0.8; times a rate of 0.5 that is 0.4.
    step = Step(p=0.25, curvature=0.1875, rate=0.5, penalty=1.0)
    n, value = np.array([3.0, 5.0]), np.array([0.4, 0.5 * -1.25 / 1.9375])
    assert people_of_class(step, n, value).tolist() == [2.0, 0.0]
    # One value a thousandth off, and nothing is claimed of any leaf.
    assert people_of_class(step, n, np.add(value, [0.001, 0])) is None


def test_doctored_numbers_overflow_in_silence() -> None:
    n, value = np.array([3.0, 5.0]), np.array([1e300, -1e300])
    step = Step(p=0.25, curvature=0.1875, rate=5e-324)
    assert people_of_class(step, n, value) is None
    inf = np.inf
    tree = Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-inf, -inf, 0],
        high=[inf, 0, inf],
        value=[0, *value],
        n_records=[8, 3, 5],
    )
    assert with_people(tree, step) is None


def test_the_class_has_to_have_as_many_people_as_boosting_started_from() -> None:
    step = Step(p=0.25, curvature=0.1875)
    n = np.array([3.0, 5.0])
    assert people_of_class(step, n, _value(step, n, np.array([3.0, 0.0]))) is None


@given(data=st.data())
def test_what_was_put_in_comes_out_and_noise_is_refused(data) -> None:
    pairs = data.draw(
        st.lists(
            st.integers(1, 400).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
            min_size=4,
            max_size=40,
        )
    )
    n, c = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    if not 0 < c.sum() < n.sum():
        return
    p = c.sum() / n.sum()
    step = Step(
        p=p,
        curvature=p * (1 - p),
        rate=data.draw(st.floats(0.01, 1)),
        penalty=data.draw(st.floats(0, 10)),
        start=data.draw(st.floats(-3, 3)),
        rounding=SINGLE,
    )
    value = _value(step, n, c)
    assert people_of_class(step, n, value).tolist() == c.tolist()
    off = np.zeros(len(n))
    off[data.draw(st.integers(0, len(n) - 1))] = data.draw(st.floats(0.1, 0.9))
    assert people_of_class(step, n, _value(step, n, c + off)) is None


def _real(tree: Tree, labels: np.ndarray) -> list[list[float]]:
    at = tree.apply(X)
    return [
        np.bincount(labels[at == leaf], minlength=2).astype(float).tolist() for leaf in tree.leaves
    ]


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(**GENTLE, n_estimators=5),
        GradientBoostingClassifier(**GENTLE, n_estimators=1, learning_rate=0.7),
        GradientBoostingClassifier(**GENTLE, n_estimators=3, init="zero"),
        HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=8),
        HistGradientBoostingClassifier(max_iter=4, l2_regularization=3.0, learning_rate=0.03),
    ],
    ids=str,
)
def test_counts_of_the_first_tree_are_the_people_of_its_leaves(model) -> None:
    forest = ta.load(model.fit(X, Y))
    assert forest.counts_are == "likely"
    first = forest.trees[0]
    assert first.counts[first.leaves].tolist() == _real(first, Y)
    assert first.counts[0].tolist() == np.bincount(Y).tolist()
    assert all(tree.counts is None for tree in forest.trees[1:])


@pytest.mark.parametrize("of_class", [2.0, 5.0])
def test_weights_of_a_class_are_not_called_people(of_class) -> None:
    weight = np.where(Y == 1, of_class, 1.0)
    forest = ta.load(GradientBoostingClassifier(**GENTLE).fit(X, Y, sample_weight=weight))
    assert forest.counts_are == "weighted"
    # Which label a leaf lacks shows whatever people weigh.
    first = forest.trees[0]
    lacking = first.counts[first.leaves] == 0
    assert lacking.tolist() == (np.array(_real(first, Y)) == 0).tolist()
    boosted = HistGradientBoostingClassifier(l2_regularization=1.0)
    assert ta.load(boosted.fit(X, Y, sample_weight=weight)).counts_are == "absent"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", [GradientBoostingClassifier, HistGradientBoostingClassifier])
def test_of_three_classes_each_tree_tells_one_from_the_others(kind, tmp_path) -> None:
    labels = np.digitize(X[:, 0] + RANDOM.normal(size=N) * 0.5, [-0.6, 0.5])
    forest = ta.load(kind().fit(X, np.array(["a", "b", "c"])[labels]))
    assert forest.tree_classes[:3] == (
        ("a", "not a", "(none)"), ("not b", "b", "(none)"), ("not c", "(none)", "c"),
    )  # fmt: skip
    for i, tree in enumerate(forest.trees[:3]):
        there = np.bincount(tree.apply(X), labels == i, tree.n_nodes)[tree.leaves]
        assert tree.counts[tree.leaves, i].tolist() == there.tolist()
        assert tree.counts[0].sum() == N
    ta.save(forest, tmp_path / "m.json")
    again = ta.load(tmp_path / "m.json")
    assert again.tree_classes == forest.tree_classes
    assert ta.scan(again)["TA102"].details == ta.scan(forest)["TA102"].details
    assert not any(name.startswith("label=") for name in ta.reconstruct(forest).to_frame())
    text = (tmp_path / "m.json").read_text()
    (tmp_path / "forged.json").write_text(text.replace("not a", "Ann, 4 May"))
    with pytest.raises(ta.ReadError, match="labels of trees"):
        ta.load(tmp_path / "forged.json")


def test_where_nothing_is_told_nothing_is_counted() -> None:
    leaf = Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf], n_records=[4], value=[0.0])
    assert with_people(leaf, Step(p=0.5, curvature=0.25)) is None
    assert with_people(leaf, None) is None
    start = GradientBoostingClassifier(init=DummyClassifier().fit(X, Y)).fit(X, Y)
    assert ta.load(start).counts_are == "likely"
    start = GradientBoostingClassifier(init=LogisticRegression()).fit(X, Y)
    assert ta.load(start).counts_are == "absent"
    # What nobody could read is not called needless.
    check = {one.name: one.status for one in ta.scan(start).checks}
    assert check["max-certain-share"] == check["max-nearly-certain-share"] == "skipped"


def test_exponential_loss_tells_the_labels_of_its_first_round() -> None:
    # From odds of 3 a leaf of four of whom three are of the class: (3 - 3) / (3 + 3) = 0; of two
    # of whom none is, -1; of two who both are, 1.
    step = Step(p=0.75, curvature=0.1875, odds=3.0, learnt=False)
    value = np.array([0.0, -1.0, 1.0])
    assert people_of_class(step, np.array([4.0, 2.0, 2.0]), value).tolist() == [3, 0, 2]
    x, y = np.repeat(np.arange(4.0), 50)[:, None], np.repeat([0, 1, 0, 1], 50)
    y[150:175] = 0
    model = GradientBoostingClassifier(loss="exponential", n_estimators=1).fit(x, y)
    found = ta.load(model)
    assert found.counts_are == "likely"
    leaves = found.trees[0].is_leaf
    held = [np.bincount(y[x[:, 0] == v], minlength=2).tolist() for v in range(4)]
    assert sorted(found.trees[0].counts[leaves].tolist()) == sorted(held)
    checks = {one.name: one.measured for one in ta.scan(model).checks}
    assert checks["max-certain-share"] == 0.75


def test_the_attacks_on_labels_run_on_the_first_tree() -> None:
    # 30 people of one label behind x <= 0, ten of nine to one behind it: read off the first tree.
    x = np.r_[np.full(30, -1.0), np.full(30, 1.0), np.full(40, 3.0)]
    y = np.r_[np.zeros(30), np.ones(3), np.zeros(27), np.ones(39), [0]].astype(int)
    model = GradientBoostingClassifier(n_estimators=3, max_depth=2).fit(x[:, None], y)
    report = ta.scan(model)
    labels = report["TA102"].details
    assert labels.homogeneous_people == 30
    assert labels.certain_share == 0.3
    assert labels.nearly_certain_people == 70
    assert labels.smallest_cell == 1
    assert report["TA102"].looked == ("class counts of the leaves of the first tree",)
    assert not report["TA102"].unseen
    assert report["TA103"].details.people_disclosed_by_known[:2] == (30, 69)
    assert "In the first tree" in report["TA102"].summary
    failed = {check.name for check in report.checks if check.status == "fail"}
    assert failed == {"max-certain-share", "max-nearly-certain-share"}
    # With the people at hand the counts are held against them.
    assert ta.scan(model, train=(x[:, None], y))["TA102"].details.homogeneous_people == 30
    with pytest.raises(ta.DataError, match="labels it was trained with"):
        ta.scan(model, train=(x[:, None], np.roll(y, 30)))
