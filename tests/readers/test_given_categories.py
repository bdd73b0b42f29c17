"""Categories that are given as a setting are explained where the model states the same ones."""

import pickle
import struct

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta

SCHOOL = [f"year {i:02d}" for i in range(16)][::-1]
SIZE = ["S", "M", "L", "XL"]
TOWN = [f"town {i:02d}" for i in range(60)]
RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "school": RNG.choice(SCHOOL, 1500),
        "size": RNG.choice(SIZE, 1500),
        "age": RNG.integers(18, 80, 1500),
    }
)
ILL = (PEOPLE["school"] > "year 07") ^ (PEOPLE["age"] > 50)


@pytest.fixture
def found(tmp_path):
    return lambda model: told(tmp_path / "model.pkl", model)


def told(path, model):
    path.write_bytes(pickle.dumps(model))
    loaded = ta.load(path)
    return [one.where for one in loaded.leftovers.found if one.kind in ("extra", "unseen")]


def coded(categories, kind=OrdinalEncoder, table=PEOPLE, columns=("school", "size")):
    encoder = ("codes", kind(categories=categories), list(columns))
    both = ColumnTransformer([encoder], remainder="passthrough")
    return make_pipeline(both, DecisionTreeClassifier(min_samples_leaf=20)).fit(table, ILL)


@pytest.mark.parametrize("kind", [OrdinalEncoder, OneHotEncoder])
@pytest.mark.parametrize(
    "given",
    [
        [SCHOOL, SIZE],
        [tuple(SCHOOL), tuple(SIZE)],
        [np.array(SCHOOL), np.array(SIZE, dtype=object)],
    ],
    ids=["lists", "tuples", "arrays"],
)
def test_more_categories_than_settings(kind, given, found) -> None:
    assert found(coded(given, kind)) == []


def test_towns_and_years(found) -> None:
    towns = PEOPLE.assign(school=RNG.choice(TOWN, 1500))
    assert found(coded([TOWN, SIZE], OneHotEncoder, towns)) == []
    years = [list(range(18, 80))]
    assert found(coded(years, table=PEOPLE[["age"]], columns=["age"])) == []


NAN = struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_0033_0054))[0]
GIVEN = {
    "in another order": [[*SCHOOL[1:], SCHOOL[0]], SIZE],
    "one more": [[*SCHOOL, "Ann Lee, 33, ill"], SIZE],
    "one other": [["Ann Lee, 33, ill", *SCHOOL[1:]], SIZE],
    "a number among them": [[*SCHOOL[:15], 33.5], SIZE],
    "what is not a number": [[*SCHOOL, NAN], SIZE],
    "over and over": [SCHOOL] * 100,
    "people beside them": [SCHOOL, SIZE, [33.5, 54.25, 41.125] * 40],
    "numbers": [33.5 + i for i in range(40)],
}


@pytest.mark.parametrize("where", GIVEN)
def test_others_are_told(where, found) -> None:
    model = coded([SCHOOL, SIZE])
    model[0].transformers[0][1].categories = GIVEN[where]
    places = found(model)
    assert places
    assert all(".transformers['codes'].categories" in at for at in places)


def framed():
    types = {"school": SCHOOL, "size": SIZE}
    table = PEOPLE.astype({name: pd.CategoricalDtype(of) for name, of in types.items()})
    table["code"] = pd.Categorical(RNG.integers(100, 130, len(table)))
    return lgb.LGBMClassifier(n_estimators=4, n_jobs=1, verbose=-1).fit(table, ILL)


def test_categories_of_pandas(found) -> None:
    assert found(framed()) == []
    assert found(framed().booster_) == []


PANDAS = {
    "in another order": lambda told: [told[0][::-1], *told[1:]],
    "one more": lambda told: [[*told[0], "Ann Lee, 33, ill"], *told[1:]],
    "of one column": lambda told: [*told, [33.5, 54.25] * 20],
    "of two types": lambda told: [*told[:-1], [float(told[-1][0]), *told[-1][1:]]],
}


@pytest.mark.parametrize("where", PANDAS)
def test_others_of_pandas_are_told(where, monkeypatch, found) -> None:
    model, written = framed(), lgb.Booster.__getstate__

    def planted(booster):
        # The text of the model keeps what it was trained on.
        state = written(booster)
        return {**state, "pandas_categorical": PANDAS[where](state["pandas_categorical"])}

    monkeypatch.setattr(lgb.Booster, "__getstate__", planted)
    assert any("pandas_categorical" in at for at in found(model))
