"""What is saved passes the policy it was trained for: no file holds anything unexplained."""

import math

import numpy as np
import pytest

import treeaudit as ta
from tests.trainers.people import PURE, people_for, schema_for
from tools.inventory import stated_by
from treeaudit.readers.leftovers.attributes import attributes_of, is_option
from treeaudit.trainers import ALGORITHMS, save_trained


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


@pytest.mark.parametrize("trainer", ALGORITHMS, ids=lambda t: t.algorithm)
def test_the_reader_knows_its_parameters_and_their_options(trainer) -> None:
    """``python tools/inventory.py own`` writes them."""
    params, options = stated_by(trainer)
    known = attributes_of(trainer.__name__)
    assert known is not None
    assert set(known) >= params | {"forest_", "n_features_in_", "feature_names_in_"}
    assert all(map(is_option, options))
