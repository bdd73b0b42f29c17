"""Stumps and a tree that add up: what they ask, how they are weighed, what they answer."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trainers.people import SCHEMA, people
from treeaudit.dp import curator as curator_module
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.tree import Tree
from treeaudit.people.predict.predictions import predict_shares
from treeaudit.trainers.histograms import Cells, Codes
from treeaudit.trainers.private_additive_tree import (
    WEIGHTS,
    PrivateAdditiveTreeClassifier,
    right_answers,
    stump_of,
)

INF = np.inf
HALF = np.array([0.5, 0.5])


def additive(**parameters) -> PrivateAdditiveTreeClassifier:
    return PrivateAdditiveTreeClassifier(**({"schema": SCHEMA} | parameters))


@pytest.fixture
def weighing(monkeypatch):
    """Let the test say which pair of weights is chosen; keeps what it was chosen by."""
    told = {"chosen": 0}
    choose = curator_module.Curator.choose

    def spy(self, name, scores, *rest, **more):
        answer = choose(self, name, scores, *rest, **more)
        if name != "weights":
            return answer
        told["right"] = list(scores[0])
        return np.array([told["chosen"]])

    monkeypatch.setattr(curator_module.Curator, "choose", spy)
    return told


@pytest.mark.parametrize(("neighbours", "half"), [("add-remove", 1), ("replace-one", 2)])
def test_what_is_asked_stands_in_one_ledger(neighbours, half) -> None:
    X, y = people(300)
    ledger = additive(epsilon=0.5, max_depth=2, neighbours=neighbours).fit(X, y).privacy_
    costs = {query.name: query.cost for query in ledger.queries}
    # A fiftieth, nine tenths, a twentieth; of the 3 hundredths left 0.7 are for two levels.
    assert costs == {
        "people": Fraction(1, 100),
        "columns": Fraction(45, 100),
        "splits of level 1": Fraction(15, 1000) * Fraction(7, 10) / 3,
        "splits of level 2": Fraction(15, 1000) * Fraction(7, 10) * 2 / 3,
        "leaf counts": Fraction(45, 10000),
        "weights": Fraction(25, 1000),
    }
    assert ledger.epsilon == Fraction(1, 2)
    columns, weights = ledger.queries[1], ledger.queries[-1]
    assert (columns.composition, columns.asked, columns.sensitivity) == ("sequential", 3, half)
    assert (weights.mechanism, weights.asked) == ("permute-and-flip", 1)


def test_the_tree_has_more_where_there_are_more_people() -> None:
    share = additive()._share
    assert (share(0.0), share(4096.0)) == (Fraction(9, 10), Fraction(9, 10))
    assert share(2.0**13.5) == Fraction(65, 100)
    assert (share(32768.0), share(1e12)) == (Fraction(4, 10), Fraction(4, 10))
    assert additive(stump_share=0.25)._share(1.0) == Fraction(1, 4)


def test_a_product_by_hand() -> None:
    """Three quarters say no; the stump says that in its second leaf half of the people do."""
    edges = {"low": [-INF, -INF, 5.0], "high": [INF, 5.0, INF], "feature": [-1, 0, 0]}
    prior = Tree(parent=[-1], feature=[-1], low=[-INF], high=[INF], counts=[[30, 10]])
    stump = Tree(parent=[-1, 0, 0], counts=[[30, 10], [27, 9], [2, 2]], **edges)
    forest = Forest(
        trees=(prior, stump, stump),
        schema=Schema.numeric(1, ["no", "yes"]),
        counts_are="noisy",
        answers="product",
        class_weights=((1.0, 1.0), (4 / 3, 4.0), (4 / 3, 4.0)),
    )
    # One stump makes no from 3 : 1 to 1 : 1, the other to 1 : 3; the first leaf says nothing.
    answers = predict_shares(forest, np.array([[1.0], [9.0]]))
    assert np.allclose(answers, [[0.75, 0.25], [0.25, 0.75]])
    never = Tree(parent=[-1], feature=[-1], low=[-INF], high=[INF], counts=[[0, 7]])
    alone = Forest(trees=(never, never), schema=forest.schema, answers="product")
    assert predict_shares(alone, np.array([[1.0]]))[0] == pytest.approx([2.0**-104, 1.0], rel=1e-9)


def test_a_stump_by_hand() -> None:
    noisy = np.array([[6, 2], [1, 3], [-5, 0]])
    stump = stump_of(7, Codes(n=2), np.arange(2), noisy, HALF, 4.0)
    # Four people who are as all are join each part; missing values are most like the second.
    assert np.allclose(stump.shares, [[8 / 12, 4 / 12], [3 / 8, 5 / 8]])
    assert stump.people.tolist() == [8, 4]
    assert stump.part.tolist() == [0, 1, 1]
    tree = stump.tree(HALF, 1.0)
    assert tree.feature.tolist() == [-1, 7, 7]
    assert tree.missing.tolist() == [False, False, True]
    assert np.allclose(tree.counts, [[16 / 3 + 1.5, 8 / 3 + 2.5], [16 / 3, 8 / 3], [1.5, 2.5]])
    # Half the weight: odds of 2 : 1 become those of their root.
    root = math.sqrt(2)
    assert np.allclose(stump.tree(HALF, 0.5).counts[1], [8 * root / (root + 1), 8 / (root + 1)])


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(0, 20))
def test_one_person_more_is_one_right_answer_more_or_none(seed, n_classes, n) -> None:
    rng = np.random.default_rng(seed)
    codes = (Codes(n=3), Codes(n=4, edges=np.array([1.0, 2.0, 3.0])))
    of_all = rng.dirichlet(np.ones(n_classes)) + 1e-9
    stumps = [
        stump_of(i, c, np.arange(c.n), rng.integers(-9, 30, (c.n + 1, n_classes)), of_all, 2.0)
        for i, c in enumerate(codes)
    ]
    tree = rng.dirichlet(np.ones(n_classes), 5) + 1e-9
    label = rng.integers(0, n_classes, n + 1)
    cell = np.array([rng.integers(0, c.n + 1, n + 1) * n_classes + label for c in codes])
    node = rng.integers(0, 5, n + 1).astype(np.int32)
    counts = [
        right_answers(
            Cells(codes=codes, n_classes=n_classes, cell=cell[:, rows].astype(np.uint8)),
            *(node[rows], stumps, tree, of_all),
        )
        for rows in (slice(0, n), slice(0, n + 1))
    ]
    assert set((counts[1] - counts[0]).tolist()) <= {0, 1}


@pytest.mark.parametrize("chosen", range(len(WEIGHTS)))
def test_what_is_weighed_is_what_is_answered(weighing, chosen) -> None:
    X, y = people(500)
    X.loc[::7, "age"] = np.nan
    X.loc[::5, "sex"] = None
    y = np.where(np.arange(500) % 11 == 0, "no", y)
    weighing["chosen"] = chosen
    model = additive(epsilon=2.0).fit(X, y)
    assert np.sum(model.predict(X) == y) == weighing["right"][chosen]
    tree = model.forest_.trees[0]
    assert (tree.n_nodes == 1) == (WEIGHTS[chosen][1] == 0)


def test_what_several_columns_tell_together_is_learned_from_the_tree() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice(["x", "y"], 20_000), "b": rng.choice(["x", "y"], 20_000)})
    y = np.where((X["a"] == X["b"]) ^ (rng.random(20_000) < 0.1), 1, 0)
    named = ("x", "y")
    features = tuple(Feature(name=name, categories=named) for name in "ab")
    model = additive(schema=Schema(features=features, classes=(0, 1)), epsilon=2.0, max_depth=2)
    assert model.fit(X, y).score(X, y) > 0.88
