"""TA201: row numbers and IDs among the features."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.attacks.identifiers import _gaps, _thresholds, named_like_identifier


@pytest.mark.parametrize(
    "name",
    ["ID", "id", "customer_id", "CustomerID", "Unnamed: 0", "row_number", "Row No", "index",
     "e-mail", "email", "SSN", "ssn_number", "patientId", "last name", "UUID", "passport"],
)  # fmt: skip
def test_names_of_identifiers(name) -> None:
    assert named_like_identifier(name)


@pytest.mark.parametrize(
    "name",
    ["age", "hours-per-week", "idle", "humid", "identity_politics", "education-num", "income",
     "mean radius", "native-country", "body_mass_index", "id_type",
     "email_opens", "3SsnPorch", "idea", "number of rooms", "rows", "x0", "", "valid"],
)  # fmt: skip
def test_names_that_are_not(name) -> None:
    assert not named_like_identifier(name)


def frame(n=400):
    import pandas as pd

    rng = np.random.default_rng(0)
    return pd.DataFrame({"row": np.arange(n), "age": rng.integers(18, 80, n)})


def test_a_row_number_that_is_cut_once_per_person() -> None:
    x = frame()[["row"]]
    y = np.arange(len(x)) % 2
    report = ta.scan(DecisionTreeClassifier(random_state=0).fit(x, y))
    finding = report["TA201"]
    (entry,) = finding.details.features
    assert entry.feature == "row"
    assert entry.nearly_every_value
    assert entry.thresholds == 399
    assert finding.severity == "high"
    assert any("'row'" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    ("cuts", "trees", "gaps"),
    [
        ([0.5, 1.5, 2.5], 1, 3),
        ([0.5, 1.0, 1.5, 2.0, 2.5], 2, 3),
        ([0.5, 0.5 + 1e-9, 1.5, 1.5 - 1e-9, 2.5], 1, 3),
        ([0.1, 0.27, 0.3141, 1.7], 9, 4),
        ([3.0], 9, 1),
    ],
)
def test_gaps_between_values(cuts, trees, gaps) -> None:
    assert _gaps(np.array(cuts), trees) == gaps


@pytest.mark.parametrize("by", [1.0, 9.0531])
@pytest.mark.parametrize(("column", "severity"), [("age", "none"), ("row", "high")])
def test_a_forest_counts_values_and_not_thresholds(column, severity, by) -> None:
    """An age of 36 values among 240 people has 219 thresholds once it is standardised."""
    rng = np.random.default_rng(0)
    values = rng.permutation(240) if column == "row" else rng.integers(30, 66, 240)
    x = np.column_stack([(values - 47.3) / by, rng.normal(size=240).round(1)])
    y = rng.integers(0, 2, 240)
    forest = RandomForestClassifier(100, random_state=0).fit(x, y)
    assert ta.scan(forest, attacks=["TA201"])["TA201"].severity == severity
    train = ta.scan(forest, train=(x, y), attacks=["TA201"])
    assert train["TA201"].severity == severity


def test_an_ordinary_model_is_clear(cancer_tree) -> None:
    assert ta.scan(cancer_tree)["TA201"].status == "clear"


def test_without_people_nobody_can_say_that_no_column_is_given_away() -> None:
    x, y = np.arange(400.0)[:, None], np.arange(400) % 2
    tree = ta.load(DecisionTreeClassifier(random_state=0).fit(x, y))
    bare = dataclasses.replace(
        tree,
        trees=tuple(dataclasses.replace(t, n_records=None, counts=None) for t in tree.trees),
        n_records=None,
        counts_are="absent",
    )
    assert ta.scan(tree)["TA201"].severity == "high"
    with pytest.raises(KeyError, match="does not tell how many people"):
        ta.scan(bare)["TA201"]
    found = ta.scan(bare, train=(x, y))["TA201"]
    assert (found.severity, found.details.people) == ("high", 400)


def dummies(name, n=400):
    import pandas as pd

    rng = np.random.default_rng(1)
    return pd.DataFrame({name: rng.integers(0, 2, n), "age": rng.integers(18, 80, n)})


@pytest.mark.parametrize("name", ["contact_telephone", "customer_id", "email"])
def test_a_column_of_yes_and_no_identifies_nobody(name) -> None:
    x = dummies(name)
    y = (x[name] + (x["age"] > 40)) % 2
    report = ta.scan(DecisionTreeClassifier(max_depth=3, random_state=0).fit(x, y))
    assert report["TA201"].status == "clear"


def test_a_policy_can_ask_for_no_identifiers() -> None:
    import pandas as pd

    n = 2000
    x = pd.DataFrame({"customer_id": np.arange(n)})
    y = np.random.default_rng(0).integers(0, 2, n)
    model = DecisionTreeClassifier(min_samples_leaf=100, random_state=0).fit(x, y)
    for policy in ("default", "strict"):
        checks = {check.name: check for check in ta.scan(model, policy=policy).checks}
        assert checks["max-identifying-features"].status == "fail"


@given(st.integers(0, 2**32 - 1))
def test_what_is_cut_is_counted_tree_by_tree_and_edge_by_edge(seed) -> None:
    """Uses, distinct thresholds and columns of yes and no, against one edge after the other."""
    rng = np.random.default_rng(seed)
    values = np.column_stack([rng.integers(0, 2, 60), rng.normal(size=60), rng.integers(0, 9, 60)])
    forest = ta.load(RandomForestClassifier(3, random_state=0).fit(values, rng.integers(0, 2, 60)))
    used, cuts, yes_no = [0] * 3, [set(), set(), set()], [True] * 3
    for tree in forest.trees:
        edges = (x.tolist() for x in (tree.feature, tree.low, tree.high))
        for feature, low, high in zip(*edges, strict=True):
            if feature < 0:
                continue
            used[feature] += 1
            yes_no[feature] &= 0 < (high if np.isfinite(high) else low) < 1
            cuts[feature] |= {high} if np.isfinite(high) else set()
    found, many, plain = _thresholds(forest, 1)
    assert found.tolist() == used
    gaps = {i: _gaps(np.array(list(cuts[i])), 3) for i in range(3) if cuts[i]}
    assert many == gaps
    assert plain == {i for i in range(3) if used[i] and yes_no[i]}
