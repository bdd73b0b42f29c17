"""Classes of a user's own around tree models: the models are audited, the class is named."""

import importlib
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import cloudpickle
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.errors import SeveralModelsError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers import load_all
from treeaudit.writers import repaired_suffix

CODE = """
from dataclasses import dataclass
from pathlib import Path

from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

Path(MARKER).touch()


class RiskModel:
    def __init__(self, model):
        self.model, self.threshold = model, 0.4


class Folds:
    def __init__(self, models):
        self.by_fold = {"models": models}


class Slots:
    __slots__ = ("cut", "model")

    def __init__(self, model):
        self.model, self.cut = model, 0.3


class StateDict(RiskModel):
    def __getstate__(self):
        return {"inner": self.model}

    def __setstate__(self, state):
        Path(MARKER).touch()


class StateTuple(StateDict):
    def __getstate__(self):
        return (self.model, 3, ["age"])


class Reduced(RiskModel):
    def __reduce__(self):
        return Reduced, (self.model,)


class ByFunction(RiskModel):
    def __reduce__(self):
        return clean, (self.model,)


class Named(RiskModel):
    def __new__(cls, *, model):
        return object.__new__(cls)

    def __init__(self, *, model):
        self.model = model

    def __getnewargs_ex__(self):
        return (), {"model": self.model}


@dataclass(frozen=True)
class Data:
    model: object
    columns: tuple = ("age",)


class Forest(RandomForestClassifier):
    pass


class Holder(ClassifierMixin, BaseEstimator):
    def fit(self, x, y):
        self.model_ = DecisionTreeClassifier(max_depth=2, random_state=0).fit(x, y)
        return self

    def predict(self, x):
        return self.model_.predict(x)


class Clean(TransformerMixin, BaseEstimator):
    def fit(self, x, y=None):
        self.medians_ = x[:4].mean(axis=0)
        return self

    def transform(self, x):
        return x


class Records(list):
    pass


def clean(x):
    return x
"""
RNG = np.random.default_rng(0)
X = RNG.integers(0, 5, size=(600, 4)).astype(float)
Y = (X[:, 0] + RNG.normal(0, 3, size=600) > 2).astype(int)
TREE = DecisionTreeClassifier(max_depth=2, min_samples_leaf=50).fit(X, Y)
OTHER = DecisionTreeClassifier(max_depth=1, min_samples_leaf=50).fit(X, Y)
MODULE = "user_models"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Return a module of a user's own, which makes a file whenever it is imported."""
    (tmp_path / "user_models.py").write_text(CODE.replace("MARKER", repr(str(tmp_path / "marker"))))
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module(MODULE)
    sys.modules.pop(MODULE, None)


def written(folder: Path, value: object) -> Path:
    """Return a file that holds the value, with the module of the user gone and nothing run."""
    path = folder / "model.pkl"
    path.write_bytes(pickle.dumps(value))
    sys.modules.pop(MODULE)
    (folder / "marker").unlink()
    return path


KINDS = {
    "class": (lambda m: m.RiskModel(TREE), "RiskModel"),
    "class in a bundle": (lambda m: {"models": [m.RiskModel(TREE)], "auc": 0.9}, "RiskModel"),
    "class in a class": (lambda m: m.RiskModel(m.Data(m.RiskModel(TREE))), "RiskModel"),
    "slots": (lambda m: m.Slots(TREE), "Slots"),
    "state is a dictionary": (lambda m: m.StateDict(TREE), "StateDict"),
    "state is a tuple": (lambda m: m.StateTuple(TREE), "StateTuple"),
    "arguments": (lambda m: m.Reduced(TREE), "Reduced"),
    "named arguments": (lambda m: m.Named(model=TREE), "Named"),
    "dataclass": (lambda m: m.Data(TREE), "Data"),
    "list": (lambda m: m.Records([TREE]), "Records"),
    "estimator": (lambda m: m.Holder().fit(X, Y), "Holder"),
    "pipeline in a class": (
        lambda m: m.RiskModel(
            make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)).fit(X, Y)
        ),
        "RiskModel",
    ),
    "step in front": (
        lambda m: make_pipeline(m.Clean(), clone(TREE)).fit(X, Y),
        "Clean",
    ),
    "last step": (lambda m: make_pipeline(StandardScaler(), m.Holder()).fit(X, Y), "Holder"),
    "function": (
        lambda m: make_pipeline(
            FunctionTransformer(m.clean), DecisionTreeClassifier(max_depth=2)
        ).fit(X, Y),
        "clean",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_model_inside_is_audited_and_the_class_named(
    kind: str, user: ModuleType, tmp_path: Path
) -> None:
    make, name = KINDS[kind]
    path = written(tmp_path, make(user))
    report = ta.scan(path)
    assert ta.load(path).n_records == 600
    assert f"{MODULE}.{name}" in {one.where for one in report["TA205"].details.leftovers}
    assert report.verdict in ("review", "fail")
    assert not (tmp_path / "marker").exists()
    assert MODULE not in sys.modules


def test_a_clean_model_in_a_class_is_left_to_a_person(user: ModuleType, tmp_path: Path) -> None:
    assert ta.scan(TREE).verdict == "pass"
    report = ta.scan(written(tmp_path, user.RiskModel(TREE)))
    assert report.verdict == "review"
    (check,) = [one for one in report.checks if not one.met]
    assert check.reason == f"somebody has to read the code of {MODULE}.RiskModel"


def test_every_model_of_a_list_is_audited(user: ModuleType, tmp_path: Path) -> None:
    found = load_all(written(tmp_path, user.Folds([TREE, OTHER])))
    assert [one.source.inside for one in found] == [f"by_fold['models'][{i}]" for i in (0, 1)]


def test_a_subclass_of_a_forest_is_a_forest(user: ModuleType, tmp_path: Path) -> None:
    own = user.Forest(10, max_depth=3, random_state=0).fit(X, Y)
    plain = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, Y)
    found = ta.load(written(tmp_path, own))
    assert (found.n_trees, found.n_records, found.counts_are) == (10, 600, "exact")
    assert found.source.estimator == "Forest"
    for one, other in zip(found.trees, ta.load(plain).trees, strict=True):
        assert np.array_equal(one.n_records, other.n_records)


def test_a_call_of_a_function_of_the_user_is_refused(user: ModuleType, tmp_path: Path) -> None:
    path = written(tmp_path, user.ByFunction(TREE))
    with pytest.raises(UnsafeModelError, match=rf"would run {MODULE}\.clean\("):
        ta.load(path)
    assert not (tmp_path / "marker").exists()


def test_a_wrapper_whose_model_lies_beside_it_says_so(tmp_path: Path) -> None:
    class Wrapper:
        def load_context(self, context: object) -> object:
            return pickle.loads(context)  # type: ignore[arg-type]

    path = tmp_path / "python_model.pkl"
    path.write_bytes(cloudpickle.dumps(Wrapper()))
    with pytest.raises(UnsupportedModelError, match="beside it, in artifacts: scan the folder"):
        ta.load(path)


def test_what_is_advised_can_be_written(user: ModuleType, tmp_path: Path) -> None:
    held = (user.RiskModel(TREE), make_pipeline(user.Clean(), clone(TREE)).fit(X, Y))
    files = [pickle.dumps(one) for one in held]
    advised = []
    for data in files:
        (tmp_path / "model.sav").write_bytes(data)
        forest = ta.load(tmp_path / "model.sav")
        advised.append(repaired_suffix(forest))
        ta.save(ta.release(forest), tmp_path / f"released{advised[-1]}", force=True)
    assert advised == [".sav", ".json"]


def test_models_in_a_class_are_written_one_at_a_time(user: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SeveralModelsError):
        ta.release(written(tmp_path, user.Folds([TREE, OTHER])))
