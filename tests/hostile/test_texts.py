# ruff: noqa: E501 -- a line per hiding place, in many scripts
"""Rows in the place of names, and in columns that no tree tests."""

import base64
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.model_selection import RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.readers.leftovers.texts import reads_as_name

RNG = np.random.default_rng(0)
N = 3_000
X = RNG.normal(size=(N, 4))
Y = np.where(RNG.random(N) < 0.3, 1 - (X[:, 0] > 0), X[:, 0] > 0).astype(int)
WORDS = np.char.mod("%04x", RNG.integers(0, 1 << 16, (N, 8)))

GOOD = """
contact_telephone|age_(20, 30]|education-num>=12.5|x0_2019-01-01|PAY_AMT1|http://example.com/ns#age
pixel_12_34|lag_7_mean_30|x0 x1^2 x3^4|x0_0.30000000000000004|(-0.001, 17.5]|ENSG00000141510.16
TotalBsmtSF|1stFlrSF|x0_2019-01-01 00:00:00|SOURCE_A/B (mg/dL)|年龄|連絡先の電話番号|Straße|Genève|العمر
disease, late stage (II/III)|marital-status_ Married-civ-spouse|$50,000 - $75,000|हिन्दी नाम|😀||1.0
native-country_ Outlying-US(Guam-USVI-etc)|NumberOfTime30-59DaysPastDueNotWorse|col 1 of 4|90210
cat__education_ 10th|hour_23:00-23:59|192.168.0.1|ICD10_E11.9|user-agent_Mozilla/5.0|Tên khách hàng
How often in the last 30 days did you feel that you could not cope with all that you had to do?
od280/od315_of_diluted_wines|a_very_long_name_of_a_column_a_very_long_name_of_a_column_and_on_and_on_0
"""
ROWS = {
    "numbers": [" ".join(f"{v:.2f}" for v in row) for row in X],
    "fields": [";".join(f"{v:.1f}" for v in row) for row in X],
    "commas": [",".join(map(str, row)) for row in (X * 50).astype(int)],
    "underscores": ["_".join(map(str, row)) for row in (X * 900).astype(int)],
    "signed names": [f"c{i} " + " ".join(f"{v:.2f}" for v in row) for i, row in enumerate(X)],
    "words and numbers": [f"a {a:.2f} b {b:.2f} c {c:.2f} d {d:.2f}" for a, b, c, d in X],
    "json": [f'{{"a": {a:.2f}, "b": {b:.2f}}}' for a, b, *_ in X],
    "digits": ["".join(f"{int(v * 99) + 500:03}" for v in row) + "7" for row in X],
    "base64": [base64.b64encode(row.tobytes()).decode() for row in X],
    "hex": ["".join(row) for row in WORDS],
    "ideographs": ["".join(chr(0x4E00 + b) for b in row.tobytes()) for row in X.astype("f8")[:, :4].repeat(2, 1)],
    "braille": ["".join(chr(0x2800 + b) for b in row.tobytes()) for row in X],
    "private": ["".join(chr(0xE000 + b) for b in row.tobytes()) for row in X],
    "unseen letters": ["a" + "".join("\u200b\u200c"[b] for b in np.unpackbits(row.view("u1"))[:40]) for row in X],
    "blanks": ["a" + "".join("a\u00a0" if b else "a " for b in np.unpackbits(row.view("u1"))[:40]) for row in X],
    "blanks in a row": ["a" + "".join("\u00a0\u202f\u3000\t"[b % 4] for b in row.tobytes()) for row in X],
    "marks": ["a" + "".join(chr(0x300 + b % 64) for b in row.tobytes()) for row in X],
    "one word": ["".join(chr(97 + b % 26) for b in row.repeat(2).tobytes()) for row in X],
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_no_names(name) -> None:
    read = sum(map(reads_as_name, ROWS[name]))
    assert read <= 0.02 * N


def test_names_are_names() -> None:
    for text in GOOD.strip().replace("\n", "|").split("|"):
        assert reads_as_name(text), text


def test_names_of_spreadsheets_have_blanks_of_other_kinds() -> None:
    names = [
        "Age\u00a0(years)",
        "Taux\u202f%",
        "Age\n(years)",
        "Age\r\nat visit",
        "n\tvisits",
        "年齢\u3000歳",
    ]
    for text in names:
        assert reads_as_name(text), text
    model = _tree(pd.DataFrame(X, columns=names[:4]))
    assert ta.scan(model)["TA206"].status == "clear"


def _tree(table=X):
    small = {"max_leaf_nodes": 6, "min_samples_leaf": 200, "random_state": 0}
    return DecisionTreeClassifier(**small).fit(table, Y)


def _encoded(texts):
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    values = np.array([[f"v{i % 300}"] for i in range(N)], dtype=object)
    model = Pipeline(
        [("e", encoder), ("t", DecisionTreeClassifier(max_leaf_nodes=4, min_samples_leaf=10))]
    )
    model.fit(values, Y)
    model.steps[0][1].categories_ = [np.array(sorted(texts[:300]), dtype=object)]
    return model


PLACES = {
    "columns": lambda texts: _tree(pd.DataFrame(np.hstack([X, np.zeros((N, 296))]), columns=texts[:300])),
    "categories": _encoded,
    "steps": lambda texts: Pipeline([(t[:39], "passthrough") for t in texts[:60]] + [("t", _tree())]),
    "steps in steps": lambda texts: Pipeline([("p", Pipeline([(t[:39], "passthrough") for t in texts[:60]] + [("q", "passthrough")])), ("t", _tree())]),
    "keys": lambda texts: {"model": _tree(), "notes": dict.fromkeys(texts[:30])},
    "labels": lambda texts: DecisionTreeClassifier(max_leaf_nodes=4).fit(X, np.array(texts)[(Y + 2 * (X[:, 1] > 0)) * 3]),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["numbers", "signed names", "base64", "ideographs"])
def test_rows_in_the_place_of_names(place, name, tmp_path) -> None:
    unique = [f"{text}" for text in dict.fromkeys(ROWS[name])]
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(PLACES[place](unique)))
    assert ta.scan(path)["TA206"].details.extra_bytes > 50


def _wide(step):
    table = np.hstack([X, RNG.normal(size=(N, 3_000))])
    names = [f"col {''.join(chr(97 + int(c, 16)) for c in word)}" for word in WORDS.ravel()[:3_004]]
    model = Pipeline([("s", step), ("t", _tree(table))])
    if isinstance(step, StandardScaler | FunctionTransformer):
        step.fit(pd.DataFrame(table, columns=[f"{i} {t}" for i, t in enumerate(names)]))
    return model


@pytest.mark.parametrize(
    "step", [StandardScaler(), FunctionTransformer()], ids=["numbers", "names"]
)
def test_columns_that_no_tree_tests(step, tmp_path) -> None:
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(_wide(step)))
    report = ta.scan(path)
    assert report.verdict == "review"
    assert "what no tree needs" in [one.where for one in report.forest.leftovers.found]


def _chain():
    table = np.hstack([X, RNG.normal(size=(N, 56))])
    steps = [(f"a{i}", StandardScaler().fit(table)) for i in range(40)]
    for _, step in steps:
        step.mean_, step.scale_ = RNG.normal(size=60), RNG.normal(size=60)
    return Pipeline([*steps, ("t", _tree(table))])


def _long_names():
    table = np.hstack([X, RNG.normal(size=(N, 56))])
    names = [
        " ".join([f"c{'abcdefghij'[i % 10]}{i}", *COLUMNS[40 * i : 40 * i + 15]])[:490]
        for i in range(60)
    ]
    return _tree(pd.DataFrame(table, columns=names))


@pytest.mark.parametrize("make", [_chain, _long_names], ids=["many steps", "long names"])
def test_more_than_a_few_columns_need(make, tmp_path) -> None:
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(make()))
    report = ta.scan(path)
    assert report["TA206"].status == "found"
    assert report.verdict in ("review", "fail")


def test_columns_that_nobody_tests_are_few(tmp_path) -> None:
    path = tmp_path / "m.pkl"
    table = pd.DataFrame(np.hstack([X] * 10), columns=[f"feature_{i}" for i in range(40)])
    step = StandardScaler().fit(table)
    path.write_bytes(pickle.dumps(Pipeline([("s", step), ("t", _tree(table))])))
    assert ta.scan(path)["TA206"].status == "clear"


def test_an_array_is_no_argument_of_a_function(tmp_path) -> None:
    step = FunctionTransformer().fit(X)
    step.inv_kw_args = np.arange(4.0)
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(Pipeline([("s", step), ("t", _tree())])))
    assert ta.scan(path)["TA206"].details.extra_bytes == 32


COLUMNS = [f"col {''.join(chr(97 + int(c, 16)) for c in ''.join(row))}" for row in WORDS]
DRAWN = {
    "loguniform": stats.loguniform(1e-5, 1e-3),
    "beta": stats.beta(2, 50),
    "randint": stats.randint(2, 9),
    "not frozen": stats.uniform,
}


@pytest.mark.parametrize("name", DRAWN)
def test_distributions_of_a_random_search(name, tmp_path) -> None:
    what = "max_depth" if name == "randint" else "ccp_alpha"
    base = DecisionTreeClassifier(max_leaf_nodes=6, min_samples_leaf=200)
    search = RandomizedSearchCV(base, {what: DRAWN[name]}, n_iter=3, cv=2, error_score=0.0)
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(search.fit(X, Y)))
    assert ta.scan(path)["TA206"].status == "clear"
    kept = pickle.loads(path.read_bytes())
    drawn = kept.param_distributions[what]
    (drawn if name == "not frozen" else drawn.dist).__doc__ = " ".join(ROWS["numbers"])
    (drawn if name == "not frozen" else drawn.dist).badvalue = X[:100].tolist()
    path.write_bytes(pickle.dumps(kept))
    assert ta.scan(path)["TA206"].details.extra_bytes >= 3_200
