"""AdaBoost: its vote as the library has it, and all that its leaves can say of labels."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.strategies import examples
from treeaudit.attacks.composition.certain import Certain, Truth, certain_of
from treeaudit.attacks.composition.equations import said_by, said_by_weighted
from treeaudit.model.schema import Feature, Schema
from treeaudit.people.predict.predictions import class_shares
from treeaudit.people.records import Records, read_records

JOINT = ta.Policy(
    name="joint", values={"max-joint-label-excess": 0.05, "max-joint-certain-people": 0}
)


def two_stumps(rows: pd.DataFrame) -> tuple[ta.Forest, Records]:
    """Return stumps that cut a and b at 0.5 and answer 1 above it, and the people in them."""
    stumps = tuple(
        ta.Tree(
            parent=[-1, 0, 0],
            feature=[-1, column, column],
            low=[-np.inf, -np.inf, 0.5],
            high=[np.inf, 0.5, np.inf],
            counts=[[1, 1], [0.6, 0.4], [0.3, 0.7]],
        )
        for column in (0, 1)
    )
    forest = ta.Forest(
        trees=stumps,
        schema=Schema(features=(Feature(name="a"), Feature(name="b")), target="y", classes=(0, 1)),
        counts_are="weighted",
        answers="weighted",
        tree_weights=(1.5, 0.5),
    )
    return forest, read_records(rows, forest, target="y")


CELLS = [(0, 0)] * 3 + [(0, 1)] * 2 + [(1, 0)] + [(1, 1)] * 4


def test_leaves_say_at_most_what_is_alike_before_them_by_hand() -> None:
    rows = pd.DataFrame(CELLS, columns=["a", "b"]).assign(y=[0, 0, 1, 0, 1, 0, 1, 1, 1, 0])
    forest, people = two_stumps(rows)
    # The heavier vote decides.
    assert class_shares(forest, people)[0].argmax(axis=1).tolist() == rows["a"].tolist()
    said = said_by_weighted(forest, people)
    # Of a: 2 of 5 and 3 of 5; of b among those of a: 1 of 3, 1 of 2, 0 of 1 and 3 of 4.
    assert said.mean.ravel().round(4).tolist() == [0.4, 0.6, 0.3333, 0.5, 0.0, 0.75]
    truth = Truth(real=people.known_labels, own=people.known_labels)
    plain = said_by(forest, people.node)
    # All four cells hold fewer than 5, and one is a person alone.
    assert certain_of(said, truth, 5, plain=plain) == Certain(people=10, alone=1)
    assert certain_of(said, truth, 2, plain=plain) == Certain(people=1, alone=1)


@given(cells=st.lists(st.tuples(*[st.integers(0, 1)] * 2), min_size=2, max_size=8))
@examples(20)
def test_the_file_follows_from_what_the_leaves_say_at_most(cells) -> None:
    """All labels that agree in it weigh everybody so that the leaves hold the same shares."""
    rows, known = pd.DataFrame(cells, columns=["a", "b"]), {}
    for labels in product((0, 1), repeat=len(cells)):
        y = np.array(labels)
        forest, people = two_stumps(rows.assign(y=y))
        said = tuple(said_by_weighted(forest, people).mean.ravel().round(9))
        weight, written = np.ones(len(y)), []
        for column, vote in zip("ab", forest.tree_weights or (), strict=True):
            for side in (0, 1):
                here = rows[column].to_numpy() == side
                written += [weight[here & (y == 1)].sum(), weight[here].sum()]
            weight = weight * np.exp(vote * (rows[column].to_numpy() != y))
        assert known.setdefault(said, written) == pytest.approx(written)


def test_adaboost_is_judged_and_passes_where_nothing_is_certain(tmp_path) -> None:
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(600, 4)), columns=list("abcd"))
    y = np.where(x["a"] + 2 * rng.normal(size=600) > 0, "yes", "no")
    people = x.assign(y=y)
    stump = DecisionTreeClassifier(max_depth=2, min_samples_leaf=50)
    model = AdaBoostClassifier(stump, n_estimators=2, random_state=0).fit(x, y)
    report = ta.scan(model, train=people, target="y", policy=JOINT)
    assert report.verdict == "pass"
    assert report["TA106"].details.own == pytest.approx(model.score(x, y))
    # As JSON, and with fewer trees as an estimator, it votes as before.
    ta.save(ta.load(model), tmp_path / "ada.json")
    again = ta.load(tmp_path / "ada.json")
    assert again.tree_weights == tuple(model.estimator_weights_)
    last = ta.Forest.to_sklearn(ta.defend(ta.load(model), method="keep-trees", trees=1))
    assert last.estimator_weights_.tolist() == [model.estimator_weights_[0]]
    # Leaves of one person and many trees: not a pass.
    grown = AdaBoostClassifier(DecisionTreeClassifier(max_depth=6), n_estimators=9).fit(x, y)
    assert ta.scan(grown, train=people, target="y", policy=JOINT).verdict == "fail"
