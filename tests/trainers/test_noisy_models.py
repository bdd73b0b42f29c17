"""A model with noisy counts is read, scanned, reconstructed and asked like any other."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import treeaudit as ta
from tests.trainers.people import PURE, people_for, schema_for
from tools.inventory import stated_by
from treeaudit.dp import Budget
from treeaudit.dp.ledger import Ledger, Query
from treeaudit.errors import PrivacyError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.schema_file import schema_text
from treeaudit.model.tree import Tree
from treeaudit.readers.residual.allow_list import attributes_of, is_name
from treeaudit.trainers import PrivateSearch, save_trained
from treeaudit.trainers.algorithms import ALGORITHMS
from treeaudit.trainers.private_tree import PrivateTreeClassifier


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("epsilon", "more"),
    [
        (1.0, {}),
        (1 / 3, {"neighbours": "replace-one"}),
        (math.pi / 4, {"rows_per_person": 3}),
        (1e-6, {"neighbours": "replace-one", "rows_per_person": 7}),
    ],
    ids=["decimal", "replaced", "persons", "tiny"],
)
@pytest.mark.parametrize("trainer", ALGORITHMS, ids=lambda t: t.algorithm)
def test_both_files_pass_the_private_policy(trainer, epsilon, more, tmp_path) -> None:
    X, y = people_for(trainer, 80)
    few = {"n_estimators": 3, "n_public_trees": 2}
    own = {name: few[name] for name in few if name in trainer().get_params()}
    model = trainer(epsilon=epsilon, schema=schema_for(trainer), **own, **more)
    model.fit(X, y, person=np.arange(len(y)) // 2 if "rows_per_person" in more else None)
    for suffix in (".json", ".pkl"):
        path = tmp_path / f"model{suffix}"
        save_trained(model, path)
        checks = ta.scan(ta.load(path), policy="private").checks
        failed = {check.name for check in checks if not check.met}
        assert failed == (set() if trainer in PURE else {"max-epsilon", "max-delta"})


def test_a_search_is_stored_without_seed_account_and_place(tmp_path) -> None:
    X, y = people_for(PrivateTreeClassifier, 80)
    place = tmp_path / "secret.toml"
    drafted = schema_text(schema_for(PrivateTreeClassifier))
    place.write_text(drafted.replace("confirmed = false", "confirmed = true"))
    given = {"candidates": [{"max_depth": 1}, {"max_depth": 2}]}
    seeded = PrivateTreeClassifier(schema=place, random_state=987654321)
    account = Budget(1, tmp_path / "people.budget")
    for search in (
        PrivateSearch(estimator=seeded, **given),
        PrivateSearch(estimator=PrivateTreeClassifier(schema=place), budget=account, **given),
    ):
        before = pickle.loads(pickle.dumps(search)).estimator
        assert before.random_state == search.estimator.random_state
        stored = pickle.dumps(search.fit(X, y))
        held = pickle.loads(stored)
        assert (held.estimator.random_state, held.estimator.schema) == (None, None)
        assert not any(text in stored for text in (b"secret.toml", b"people.budget"))
        assert (987654321).to_bytes(4, "little") not in stored
        assert held.predict(X).tolist() == search.predict(X).tolist()
        assert search.estimator.schema == place
    assert (held.budget.epsilon, search.budget.left) == (1.0, 0.0)
    with pytest.raises(PrivacyError):
        held.fit(X, y)


@pytest.mark.parametrize("trainer", ALGORITHMS, ids=lambda t: t.algorithm)
def test_the_reader_knows_its_parameters_and_their_options(trainer) -> None:
    """``python tools/inventory.py own`` writes them."""
    params, options = stated_by(trainer)
    known = attributes_of(trainer.__name__)
    assert known is not None
    assert set(known) >= params | {"forest_", "n_features_in_", "feature_names_in_"}
    assert all(map(is_name, options))


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
