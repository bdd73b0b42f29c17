"""What a file holds beside a private model: no ledger accounts for it."""

import pickle

import pytest

import treeaudit as ta
from tests.trainers.people import SCHEMA, people
from treeaudit.trainers.private_tree import PrivateTreeClassifier

X, Y = people(300)
MODEL = PrivateTreeClassifier(schema=SCHEMA).fit(X, Y)


@pytest.mark.parametrize("beside", [{"n_train": 300}, {"counts": [151, 149]}], ids=str)
def test_the_private_policy_allows_no_notes(beside, tmp_path) -> None:
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps({"model": MODEL, **beside}))
    assert ta.scan(path, policy="private").verdict == "fail"


def test_the_model_alone_passes(tmp_path) -> None:
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(MODEL))
    assert ta.scan(path, policy="private").verdict == "pass"
    assert ta.scan(ta.save(ta.load(path), tmp_path / "m.json"), policy="private").verdict == "pass"
