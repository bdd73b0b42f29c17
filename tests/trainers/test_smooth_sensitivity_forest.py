"""The smooth-sensitivity forest: what it asks, what it releases, what it stores."""

import pickle
import pickletools

import numpy as np
import pytest

import treeaudit as ta
from tests.trainers.people import SCHEMA, people
from treeaudit.dp import curator as curator_module
from treeaudit.errors import PrivacyWarning
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers import smooth_sensitivity_forest as module
from treeaudit.trainers.smooth_sensitivity_forest import SmoothSensitivityForestClassifier

NUMBERS = Schema(
    features=tuple(Feature(name=f"x{i}", low=0.0, high=1.0) for i in range(5)), classes=(0, 1)
)


def forest(**parameters) -> SmoothSensitivityForestClassifier:
    return SmoothSensitivityForestClassifier(**({"schema": SCHEMA, "n_estimators": 5} | parameters))


@pytest.fixture
def asked(monkeypatch):
    """The scores and rates that permute-and-flip is asked with."""
    calls = []
    answer = curator_module.permute_and_flip

    def spy(scores, rate, entropy):
        calls.append((np.asarray(scores), rate))
        return answer(scores, rate, entropy)

    monkeypatch.setattr(curator_module, "permute_and_flip", spy)
    return calls


@pytest.mark.parametrize(("neighbours", "rate"), [("add-remove", 0.5), ("replace-one", 0.25)])
def test_the_leaves_are_asked_once_and_everybody_is_in_one(asked, neighbours, rate) -> None:
    X, y = people(300)
    model = forest(epsilon=0.5, neighbours=neighbours).fit(X, y)
    ((scores, used),) = asked
    assert float(used) == rate
    assert scores.sum(axis=0).tolist() == [(y == "no").sum(), (y == "yes").sum()]
    n_leaves = sum(len(tree.leaves) for tree in model.forest_.trees)
    (query,) = model.privacy_.queries
    assert len(scores) == query.asked == n_leaves
    assert (query.mechanism, query.composition) == ("permute-and-flip", "parallel")
    assert float(model.privacy_.epsilon) == 0.5


def test_each_record_goes_to_a_tree_of_its_own_choice(monkeypatch) -> None:
    """Independently and uniformly: the parts have the sizes of a multinomial draw."""
    drawn = []
    source = module.below

    def spy(entropy, bound, n):
        drawn.append(source(entropy, bound, n))
        return drawn[-1]

    monkeypatch.setattr(module, "below", spy)
    X, y = people(1000)
    sizes = []
    for seed in range(40):
        forest(n_estimators=4, random_state=seed).fit(X, y)
        sizes.append(np.bincount(drawn[-1], minlength=4))
    assert np.mean(sizes) == 250
    # A fixed size would have no spread; a binomial one has 13.7.
    assert np.std(np.array(sizes)[:, 0]) == pytest.approx(13.7, rel=0.4)


def test_nothing_exact_is_stored() -> None:
    X, y = people(311)
    model = forest(random_state=123_456_789).fit(X, y)
    for tree in model.forest_.trees:
        assert tree.n_records is None
        assert tree.counts is None
    assert model.forest_.n_records is None
    stored = pickle.dumps(model)
    numbers = [argument for _, argument, _ in pickletools.genops(stored)]
    assert 123_456_789 not in numbers
    assert 311 not in numbers
    assert pickle.loads(stored).random_state is None
    assert "random_state" not in model.forest_.source.parameters


def test_the_paper_s_defaults() -> None:
    defaults = SmoothSensitivityForestClassifier().get_params()
    assert defaults["n_estimators"] == 100
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 5)), rng.integers(0, 2, 200)
    sound = SmoothSensitivityForestClassifier(schema=NUMBERS).fit(X, y)
    assert {int(tree.depths.max()) for tree in sound.forest_.trees} == {4}
    with pytest.warns(PrivacyWarning, match=r"2\.131 at a claim of 1"):
        published = SmoothSensitivityForestClassifier(schema=NUMBERS, variant="published").fit(X, y)
    assert {int(tree.depths.max()) for tree in published.forest_.trees} == {4}
    of_table = SmoothSensitivityForestClassifier(schema=NUMBERS, depth_rule="table 4").fit(X, y)
    assert {int(tree.depths.max()) for tree in of_table.forest_.trees} == {5}
    assert published.privacy_.not_private
    assert published.forest_.privacy["not_private"]


def test_saved_read_and_scanned(tmp_path) -> None:
    X, y = people(200)
    model = forest(epsilon=0.5).fit(X, y)
    ta.save(model.forest_, tmp_path / "model.json")
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    for name, kind in (("model.json", "treeaudit-json"), ("model.pkl", "treeaudit-pickle")):
        read = ta.load(tmp_path / name)
        assert read.source.format == kind
        assert read.source.estimator == "SmoothSensitivityForestClassifier"
        assert (read.counts_are, read.privacy["epsilon"]) == ("label-only", 0.5)
        assert read.schema == model.forest_.schema
        for one, other in zip(read.trees, model.forest_.trees, strict=True):
            assert np.array_equal(one.label, other.label)
            assert np.array_equal(one.high, other.high)
        report = ta.scan(tmp_path / name)
        with pytest.raises(KeyError, match="TA101 was skipped"):
            _ = report["TA101"]
        assert report.verdict == "review"
        assert report.to_dict()["model"]["privacy"]["queries"][0]["name"] == "leaf labels"
        report.save(tmp_path / f"{name}.html")
