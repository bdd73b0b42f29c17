"""Numbers of another type than the library writes: refused, named, or what the library loads."""

import io
import pickle
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from tests.fuzz.oracle import compare
from tests.fuzz.runs import sift

N = 600
X = np.random.default_rng(0).normal(size=(N, 3)).round(2)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
MODELS = {
    "classes": DecisionTreeClassifier(max_depth=2).fit(X, Y),
    "numbers": DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0]),
    "boosting": HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=4).fit(X, Y),
}
TYPES = "u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 g ? c8 c16 M8[s] m8[s] m8".split()
TYPES += [f">{one}" for one in ("i4", "i8", "u4", "f4", "f8")]
SCALARS = (bool, float, complex, str, Decimal, Fraction)
SCALARS += (np.int8, np.int64, np.uint64, np.float32, np.float64, np.longdouble, np.bool_, np.array)
SCALARS += (lambda n: [n], lambda n: np.array([n]), lambda n: -n, lambda n: 10**30)


def _records(table):
    """Yield the table of nodes with each of its columns as each other type."""
    for name in table.dtype.names:
        for code in TYPES:
            if np.dtype(code) == table.dtype[name]:
                continue
            kinds = [(one, code if one == name else table.dtype[one]) for one in table.dtype.names]
            made = np.zeros(len(table), np.dtype(kinds, align=True))
            for one in table.dtype.names:
                made[one] = table[one].astype(made.dtype[one])
            yield f"{name} {code}", made
    yield "swapped", table.astype(table.dtype.newbyteorder(">"))


def _arrays(array):
    for code in TYPES:
        if np.dtype(code) != array.dtype:
            yield code, array.astype(code)
    yield "no axis", np.array(array.flat[0])
    yield "an axis more", array[None]
    yield "objects", array.astype(object)
    yield "fractions", np.frompyfunc(Decimal, 1, 1)(array.astype(float))


def _with(model, old, new):
    """Return a pickle of the model in which one array stands for another."""

    class Pickler(pickle._Pickler):
        def save(self, value, save_persistent_id=True) -> None:
            same = isinstance(value, np.ndarray) and value.dtype == old.dtype
            if same and value.shape == old.shape and value.tobytes() == old.tobytes():
                value = new
            super().save(value, save_persistent_id)

    sink = io.BytesIO()
    Pickler(sink, 4).dump(model)
    return sink.getvalue()


def _tables(model):
    if hasattr(model, "tree_"):
        yield from (model.tree_.__getstate__()[name] for name in ("nodes", "values"))
    else:
        yield model._predictors[0][0].nodes
        yield model._baseline_prediction
        yield model._bin_mapper.bin_thresholds_[0]
    if hasattr(model, "classes_"):
        yield model.classes_


def _ends(files):
    """Return how often mutants ended in what way, once none is a finding."""
    outcomes, findings = sift(files, compare)
    assert not findings, (findings, [said for said in outcomes if said.endswith("finding")])
    ends = Counter()
    for said, n in outcomes.items():
        ends[said.rpartition(" ")[2]] += n
    return ends


@pytest.mark.parametrize("name", MODELS)
def test_an_array_of_another_type(name) -> None:
    model = MODELS[name]
    ends = _ends(
        (_with(model, table, new), said)
        for table in _tables(model)
        for said, new in (_records if table.dtype.names else _arrays)(table)
    )
    assert ends["refused"] > 20, ends
    assert ends["equal"] > 0, ends


@pytest.mark.parametrize("name", MODELS)
def test_a_number_of_another_type(name) -> None:
    plain, files = MODELS[name].__getstate__(), []
    names = [key for key, value in plain.items() if isinstance(value, int | np.integer)]
    assert "n_features_in_" in names
    for key in names:
        for make in SCALARS:
            number = int(plain[key])
            if make is np.int8 and number > 127:
                continue
            model = type(MODELS[name])()
            model.__setstate__(plain | {key: make(number)})
            files.append((pickle.dumps(model), f"{key} {make(number)!r}"))
    ends = _ends(files)
    assert ends["refused"] + ends["named"] > 10, ends


@pytest.mark.parametrize("unit", ["M8[s]", "m8[s]", "M8[25ns]", "m8"])
def test_classes_that_are_dates(unit, tmp_path) -> None:
    model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    model.classes_ = model.classes_.astype(unit)
    (tmp_path / "m").write_bytes(pickle.dumps(model))
    with pytest.raises(ta.UnsupportedModelError, match="dates or durations: train it on them"):
        ta.load(tmp_path / "m")


def test_members_in_an_array_without_an_axis() -> None:
    bag = BaggingClassifier(DecisionTreeClassifier(max_depth=1), 2, max_features=2).fit(X, Y)
    bag._estimators_features = [np.array(1), np.array(0)]
    bag.estimators_features_ = bag._estimators_features
    boosting = GradientBoostingClassifier(n_estimators=1, max_depth=1).fit(X, Y)
    boosting.estimators_ = np.array(boosting.estimators_[0, 0], dtype=object)
    ends = _ends((pickle.dumps(model), "no axis") for model in (bag, boosting))
    assert ends["refused"] >= 1, ends
