"""A model with noisy counts is read, scanned, reconstructed and asked like any other."""

from fractions import Fraction

import numpy as np
import pytest

import treeaudit as ta
from treeaudit.dp.ledger import Ledger, Query
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.tree import Tree

INF = np.inf


@pytest.fixture
def noisy() -> Forest:
    tree = Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-INF, -INF, 50.0],
        high=[INF, 50.0, INF],
        missing=[False, True, False],
        counts=[[4, 5], [6, -2], [-1, -3]],
    )
    query = Query(
        name="leaf counts",
        mechanism="discrete Laplace",
        epsilon=Fraction(1, 2),
        sensitivity=Fraction(1),
        asked=2,
    )
    schema = Schema(features=(Feature(name="age", low=0, high=100),), classes=("no", "yes"))
    return Forest(
        trees=(tree, tree),
        schema=schema,
        counts_are="noisy",
        counts_reason="discrete Laplace noise of rate 1/2",
        records_are="disjoint",
        privacy=Ledger(queries=(query,), budget=Fraction(1, 2)).to_plain(),
    )


def test_scanned_without_a_claim_about_people(noisy) -> None:
    report = ta.scan(noisy)
    assert report.verdict == "review"
    assert "TA101" in {result.id for result in report.results}
    with pytest.raises(KeyError, match="was skipped"):
        _ = report["TA101"]
    assert report.to_dict()["model"]["counts_are"] == "noisy"


def test_a_category_that_the_schema_lacks_is_taken_as_missing_by_file_and_estimator() -> None:
    import pandas as pd

    from treeaudit.people.predict.predictions import class_shares
    from treeaudit.people.records import read_records
    from treeaudit.trainers.private_tree import PrivateTreeClassifier

    rng = np.random.default_rng(0)
    x = pd.DataFrame({"kind": rng.choice(["a", "b", "c"], 2000)})
    y = np.where((x["kind"] == "a") ^ (rng.random(2000) < 0.1), "yes", "no")
    schema = ta.Schema(
        features=(ta.Feature(name="kind", categories=("a", "b", "c")),), classes=("no", "yes")
    )
    model = PrivateTreeClassifier(epsilon=5.0, schema=schema, max_depth=1).fit(x, y)
    others = pd.DataFrame({"kind": ["a", "b", "z"]})
    forest = ta.load(model)
    records = read_records(others.assign(label="no"), forest, target="label")
    assert np.allclose(class_shares(forest, records)[0], model.predict_proba(others))
