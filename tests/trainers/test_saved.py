"""What is saved passes the policy it was trained for: no file holds anything unexplained."""

import math
import pickle

import numpy as np
import pytest

import treeaudit as ta
from tests.trainers.people import PURE, people_for, schema_for
from tools.inventory import stated_by
from treeaudit.dp import Budget
from treeaudit.errors import PrivacyError
from treeaudit.model.schema_file import schema_text
from treeaudit.readers.residual.allow_list import attributes_of, is_name
from treeaudit.trainers import PrivateSearch, save_trained
from treeaudit.trainers.algorithms import ALGORITHMS
from treeaudit.trainers.private_tree import PrivateTreeClassifier


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
        failed = {check.name for check in checks if check.status != "pass"}
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
