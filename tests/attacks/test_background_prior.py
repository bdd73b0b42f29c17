"""TA103 with a public prior: the paper's Umeko, with and without the people."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.attacks import Background, Case, run_attack
from treeaudit.model.tree import CategorySets
from treeaudit.people.prior import read_prior
from treeaudit.people.records import read_records

INF = np.inf

PRIOR = pd.DataFrame({"country": ["Japan", "*"], "heart": [0.05, 0.5], "flu": [0.95, 0.5]})


@pytest.fixture
def hospital() -> ta.Forest:
    """Two leaves by ZIP code: heart 2, flu 2 as in Figure 2, and three with heart disease."""
    tree = ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-INF, -INF, 13068],
        high=[INF, 13068, INF],
        categories=CategorySets(start=[0, 0, 0, 0], codes=[]),
        n_records=[7, 4, 3],
        counts=[[5, 2], [2, 2], [3, 0]],
    )
    schema = ta.Schema(
        features=(
            ta.Feature(name="zip"),
            ta.Feature(name="country", categories=("Japan", "USA", "India")),
        ),
        classes=("heart", "flu"),
        target="condition",
    )
    return ta.Forest(trees=(tree,), schema=schema)


PEOPLE = pd.DataFrame(
    {
        "zip": [13053] * 4 + [14850] * 3,
        "country": ["Japan", "USA", "USA", "India", "USA", "USA", "India"],
        "condition": ["flu", "heart", "heart", "flu", "heart", "heart", "heart"],
    }
)


def finding(forest, **options):
    return ta.scan(forest, attacks=["TA103"], policy="observe", **options)["TA103"]


def test_umeko_from_the_file_alone(hospital) -> None:
    found = finding(hospital, prior=PRIOR)
    prior = found.details.prior
    assert prior.whose == "one target among others"
    assert prior.method == "exact"
    assert (prior.leaves_because_of_prior, prior.people_because_of_prior) == (1, None)
    assert prior.people_because_of_prior_at_most == 4
    assert found.evidence[0].says == (
        "condition = flu for country = Japan: 95.0%, against 50.0% by the leaf alone"
    )
    assert found.severity in ("low", "medium")


def test_umeko_with_the_people(hospital) -> None:
    found = finding(hospital, prior=PRIOR, train=PEOPLE)
    prior = found.details.prior
    assert prior.whose == "the training people's own"
    assert (prior.people_because_of_prior, prior.leaves_looked_at) == (1, 1)
    control = found.controls[-1]
    assert control.claim.value == pytest.approx(0.95)
    assert (control.verified.value, control.verified.n) == (1, 1)
    assert control.verified.low < 0.5


def test_a_rule_that_pins_the_value_leaves_the_counts(hospital) -> None:
    """Everybody in the leaf is Japanese: the prior is the same for all and says nothing more."""
    tree = ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 1, 1],
        low=[-INF, -INF, -INF],
        high=[INF, INF, INF],
        categories=CategorySets(start=[0, 0, 1, 3], codes=[0, 1, 2]),
        n_records=[8, 4, 4],
        counts=[[4, 4], [2, 2], [2, 2]],
    )
    forest = ta.Forest(trees=(tree,), schema=hospital.schema)
    prior = finding(forest, prior=PRIOR).details.prior
    assert (prior.leaves_looked_at, prior.leaves_because_of_prior) == (2, 0)


def test_a_prior_that_the_counts_contradict_is_told(hospital) -> None:
    never = PRIOR.assign(heart=[0.0, 0.0], flu=[1.0, 1.0])
    prior = finding(hospital, prior=never, train=PEOPLE).details.prior
    assert prior.leaves_contradicting == 1
    assert prior.leaves == 0


def test_known_people_are_taken_out_first(hospital) -> None:
    """One with heart disease known: one is left among three; Umeko's flu is more likely still."""
    forest, known = hospital, PEOPLE.iloc[[1]]
    records = read_records(PEOPLE, forest)
    case = Case(
        forest=forest,
        table=ta.reconstruct(forest).groups,
        train=records,
        known=read_records(known, forest),
        prior=read_prior(PRIOR, forest),
    )
    found = run_attack(Background(certainty=0.97), case)
    says = [row.says for row in found.evidence if "country" in row.says]
    # 2 flu, 1 heart left; P(heart) = .05 · .25 / (.05 · .25 + .95 · .5) = 1/39.
    assert says == ["condition = flu for country = Japan: 97.4%, against 66.7% by the leaf alone"]


def test_three_labels_are_estimated_and_said_to_be(hospital) -> None:
    tree = ta.Tree(
        parent=[-1], feature=[-1], low=[-INF], high=[INF], n_records=[6], counts=[[2, 2, 2]]
    )
    schema = ta.Schema.numeric(["x"], ["a", "b", "c"])
    forest = ta.Forest(trees=(tree,), schema=schema)
    people = pd.DataFrame({"x": range(6), "label": list("aabbcc"), "sex": list("fmfmfm")})
    prior = pd.DataFrame({"sex": ["f", "m"], "a": [0.2, 0.4], "b": [0.4, 0.3], "c": [0.4, 0.3]})
    # A second column that is no feature: the labels have to be named.
    found = finding(forest, prior=prior, train=people, target="label").details.prior
    assert found.leaves_estimated == 1
    assert found.method == "the Ω-estimate in 1 leaf of three or more labels"


def test_indicator_columns_and_a_real_model() -> None:
    """A column that only its indicators are features of; precision holds what is claimed."""
    rng = np.random.default_rng(0)
    n = 4000
    job = rng.choice(["clerk", "cook", "judge"], n)
    chance = {"clerk": 0.5, "cook": 0.03, "judge": 0.98}
    age = rng.integers(20, 70, n)
    rich = rng.random(n) < np.vectorize(chance.get)(job)
    frame = pd.DataFrame({"age": age, "job": job, "income": np.where(rich, "high", "low")})
    coded = pd.get_dummies(frame[["age", "job"]], dtype=float)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(coded[["age"]], frame["income"])
    prior = pd.DataFrame({"job": list(chance), "high": list(chance.values())})
    prior["low"] = 1 - prior["high"]
    control = finding(model, prior=prior, train=frame, target="income").controls[-1]
    assert control.verified.low <= control.claim.value <= control.verified.high + 0.01
    full = DecisionTreeClassifier(max_depth=2, random_state=0).fit(coded, frame["income"])
    for people in ({}, {"train": frame}):
        found = finding(full, prior=prior, target="income", **people)
        assert found.details.prior.column == "job"


def test_a_tree_that_makes_no_guess_adds_nothing_to_what_is_claimed(hospital) -> None:
    """The second tree leaves Umeko in doubt: the claim stays the 95 % of the first."""
    (tree,) = hospital.trees
    root = ta.Tree(
        parent=[-1], feature=[-1], low=[-INF], high=[INF], n_records=[7], counts=[[5, 2]]
    )
    forest = ta.Forest(trees=(tree, root), schema=hospital.schema)
    control = finding(forest, prior=PRIOR, train=PEOPLE).controls[-1]
    assert control.claim.value == pytest.approx(0.95)
    assert control.verified.n == 1
