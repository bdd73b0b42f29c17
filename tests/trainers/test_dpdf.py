"""DPDF: table 1, the flaw of the printed sensitivity, the sound choice, its rules."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from tests.dp.laws import exponential_mechanism_law
from tests.trainers.people import SCHEMA, people
from treeaudit.dp.mechanisms import discrete_laplace
from treeaudit.dp.scores import GINI, UNIT
from treeaudit.dp.subsampling import Seeded
from treeaudit.errors import PrivacyWarning
from treeaudit.people.predict.predictions import predict_shares
from treeaudit.trainers.dpdf import (
    DPDFClassifier,
    epsilon_of_a_question,
    gini_sensitivity,
    published_scores,
)

BETAS = (0.1, 0.25, 0.5, 1.0, 2.0)


def dpdf(**parameters) -> DPDFClassifier:
    return DPDFClassifier(**({"schema": SCHEMA, "n_estimators": 2} | parameters))


@pytest.mark.parametrize(
    ("n_trees", "printed"),
    [(1, (0.011, 0.028, 0.056, 0.111, 0.222)), (4, (0.003, 0.007, 0.014, 0.028, 0.056))],
)
def test_epsilon_of_a_question_in_table_1(n_trees, printed) -> None:
    for beta, expected in zip(BETAS, printed, strict=True):
        found = epsilon_of_a_question(Fraction(str(beta)), n_trees, 5)
        assert float(found) == pytest.approx(expected, abs=5.1e-4)


def test_local_sensitivity_of_theorem_1() -> None:
    n = np.arange(1, 200)
    assert np.allclose(gini_sensitivity(n), 2 * n / (n + 1) ** 2)
    assert gini_sensitivity([1, 100]).round(6).tolist() == [0.5, 0.019606]


def test_theorem_1_by_enumeration() -> None:
    """Adding one record to n moves the index by at most that, and reaches it."""
    for n in range(1, 6):
        worst = 0.0
        for cells in itertools.product(range(n + 1), repeat=4):
            if sum(cells) != n:
                continue
            before = GINI.of(np.reshape(cells, (2, 2))) / UNIT / n
            for i in range(4):
                more = np.array(cells)
                more[i] += 1
                after = GINI.of(more.reshape(2, 2)) / UNIT / (n + 1)
                worst = max(worst, abs(after - before))
        assert worst == pytest.approx(float(gini_sensitivity(n)), abs=1e-5)


def flaw(beta: str, n_trees: int, n_classes: int, n_columns: int, *, absolute: bool):
    """How likely the first tree splits on A1 with one record, and with two.

    The second record differs from the first in its class and in all columns
    but A1, so that only A1 keeps the two together.
    """
    epsilon = epsilon_of_a_question(Fraction(beta), n_trees, 5)
    noise = discrete_laplace(epsilon, 8000 * n_classes, Seeded(1)).reshape(8000, n_classes)
    one, two = np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes, dtype=np.int64)
    one[0] = two[0] = two[1] = 1
    together = np.array([0] * n_columns), np.array([-UNIT] + [0] * (n_columns - 1))
    chances = []
    for counts, scores, n in ((one, together[0], 1), (two, together[1], 2)):
        noisy = counts + noise
        size = (np.abs(noisy) if absolute else noisy).sum(axis=1)
        goes_on = (size >= 100) & (noisy < size[:, None]).all(axis=1)
        exponent = published_scores(
            np.tile(scores, (len(size), 1)),
            np.full(len(size), n),
            np.maximum(size, 1),
            epsilon,
        )
        # The law of the exponential mechanism, many rows at once.
        weight = np.exp((exponent - exponent.max(axis=1, keepdims=True)) / UNIT)
        chosen = weight[:, 0] / weight.sum(axis=1)
        law = np.exp(exponential_mechanism_law(exponent[0], Fraction(1, UNIT)))
        assert chosen[0] == pytest.approx(law[0])
        chances.append(float((chosen * goes_on).mean()))
    return chances


@pytest.mark.parametrize(
    ("case", "with_one", "with_two", "loss"),
    [
        (("0.1", 4, 18, 6, True), 0.1667, 0.0233, 1.968),
        (("1", 1, 18, 6, True), 0.1608, 0.0208, 2.044),
        (("2", 1, 18, 6, True), 0.0265, 0.0014, 2.954),
        (("0.1", 4, 2, 9, True), 0.1075, 0.0861, 0.222),
        (("0.1", 4, 18, 6, False), 0.0508, 0.0256, 0.683),
    ],
)
def test_the_published_choice_is_not_private(case, with_one, with_two, loss) -> None:
    """One more person changes the root of a tree by a loss that does not shrink with beta."""
    beta, n_trees, n_classes, n_columns, absolute = case
    one, two = flaw(beta, n_trees, n_classes, n_columns, absolute=absolute)
    assert one == pytest.approx(with_one, rel=0.1)
    assert two == pytest.approx(with_two, rel=0.1)
    assert np.log(one / two) == pytest.approx(loss, abs=0.12)


def test_the_sound_choice_has_a_sensitivity_of_two_people() -> None:
    X, y = people(3000)
    model = dpdf(epsilon=9.0, max_depth=3).fit(X, y)
    ledger = model.privacy_
    assert not ledger.not_private
    assert ledger.epsilon == 9
    each = Fraction(9, 2 * 5)
    asked = [q for q in ledger.queries if q.mechanism != "none"]
    assert {q.epsilon for q in asked} == {each}
    splits = [q for q in asked if "splits" in q.name]
    assert {q.mechanism for q in splits} == {"permute-and-flip"}
    assert {q.sensitivity for q in splits} == {2}
    # Three levels of nodes, two of splits, at most.
    assert len([q for q in asked if q.name.startswith("tree 1")]) <= 5
    assert "tree 1: splits of level 3" not in {q.name for q in asked}


def test_the_printed_loop_overspends() -> None:
    """2 delta + 1 questions of beta / (2 delta - 1): 7 / 5 of the budget at delta 3."""
    X, y = people(20_000)
    with pytest.warns(PrivacyWarning) as caught:
        printed = dpdf(epsilon=9.0, max_depth=3, variant="published", n_estimators=1).fit(X, y)
    said = " ".join(str(warning.message) for warning in caught)
    assert "loss of 1.968" in said
    assert "2 delta + 1 questions" in said
    assert printed.privacy_.epsilon == Fraction(9) * 7 / 5
    assert printed.privacy_.not_private
    assert len(printed.forest_.privacy["reasons"]) == 2
    with pytest.warns(PrivacyWarning):
        text = dpdf(epsilon=9.0, max_depth=3, variant="published", loop="d < delta").fit(X, y)
    assert text.privacy_.epsilon == 9
    assert len(text.privacy_.reasons) == 1


def test_an_attribute_is_asked_once_on_a_path_and_small_nodes_stop() -> None:
    X, y = people(4000)
    model = dpdf(epsilon=200.0, prune=False, min_records=300, n_estimators=1).fit(X, y)
    (tree,) = model.forest_.trees
    for node in range(1, tree.n_nodes):
        seen, here = [], node
        while here > 0:
            seen.append(int(tree.feature[here]))
            here = int(tree.parent[here])
        assert len(set(seen)) == len(seen)
    inner = ~tree.is_leaf
    assert (tree.counts[inner].sum(axis=1) >= 300).all()


def test_votes_are_weighed_by_confidence() -> None:
    X, y = people(2000)
    model = dpdf(epsilon=20.0).fit(X, y)
    values = model._coded(X)
    total = np.zeros((len(X), 2))
    for tree in model.forest_.trees:
        counts = np.maximum(tree.counts[tree.apply(values)], 0)
        share = counts / counts.sum(axis=1, keepdims=True)
        label = share.argmax(axis=1)
        total[np.arange(len(X)), label] += share.max(axis=1)
    expected = total / total.sum(axis=1, keepdims=True)
    assert np.allclose(predict_shares(model.forest_, values), expected)
    assert np.allclose(model.predict_proba(X), expected)
    assert model.score(X, y) > 0.9


def test_rules_and_sub_rules() -> None:
    X, y = people(4000)
    model = dpdf(epsilon=50.0, max_depth=3).fit(X, y)
    rules = model.rules_
    n_nodes = sum(tree.n_nodes - 1 for tree in model.forest_.trees)
    assert len(rules) == n_nodes
    leaves = sum(len(tree.leaves) for tree in model.forest_.trees if tree.n_nodes > 1)
    assert (~rules["sub_rule"]).sum() == leaves
    old = rules[rules["rule"] == "age > 90"].iloc[0]
    assert old["prediction"] == "yes"
    assert old["support"] == pytest.approx((X["age"] > 90).sum(), abs=15)
    assert old["confidence"] > 0.9
    assert {"ill=no", "ill=yes"} <= set(rules.columns)
    assert ((rules["confidence"] >= 0.5) & (rules["confidence"] <= 1)).all()
    assert len(dpdf(epsilon=50.0, max_depth=1).fit(X, y).rules_) == 0
