"""What is released is what was audited: nothing smuggled survives, and it answers alike."""

import base64
import copy
import json
import os
import pickle
import subprocess
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.writers.test_nothing_survives import layers
from treeaudit.repair.release import left_out, own_suffix
from treeaudit.repair.suggestion import with_fix

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2000, 4))
Y = np.where(RNG.random(2000) < 0.3, 1 - (X[:, 0] > 0), X[:, 0] > 0).astype(int)
TREE = DecisionTreeClassifier(max_leaf_nodes=8, min_samples_leaf=100, random_state=0).fit(X, Y)
OTHER = DecisionTreeClassifier(random_state=0).fit(X[:300], Y[:300])
TABLE = pd.DataFrame(X, columns=list("abcd"))
CSV = TABLE.to_csv()


class Own(DecisionTreeClassifier):
    """A class that only this file knows."""


def attribute(value, name="note_"):
    made = copy.deepcopy(TREE)
    setattr(made, name, value)
    return made


def piped(**settings):
    made = make_pipeline(StandardScaler(), copy.deepcopy(TREE)).fit(X, Y)
    for name, value in settings.items():
        setattr(made.steps[0][1], name, value)
    return made


def forest(**settings):
    made = RandomForestClassifier(3, min_samples_leaf=100, random_state=1).fit(X, Y)
    for name, value in settings.items():
        setattr(made.estimators_[1], name, value)
    return made


def remembering():
    made = piped()
    made.memory = CSV
    return made


SMUGGLED = {
    "rows": attribute(X[:1999]),
    "columns": attribute(X.T),
    "text": attribute(CSV),
    "documentation": attribute(CSV, "__doc__"),
    "pickle": attribute(pickle.dumps(X)),
    "base64": attribute(base64.b64encode(X.tobytes()).decode()),
    "packed": attribute(zlib.compress(X.tobytes())),
    "halves": attribute(X.astype("f2")),
    "bits": attribute(np.unpackbits(X.view(np.uint8))),
    "set": attribute({tuple(row) for row in X.tolist()}),
    "weights of classes": attribute({i: float(v) for i, v in enumerate(X.ravel())}, "class_weight"),
    "criterion": attribute(CSV, "criterion"),
    "tree": attribute(OTHER),
    "neighbours": attribute(KNeighborsClassifier().fit(X, Y)),
    "step": piped(note_=X),
    "setting of a step": piped(copy=X.tolist()),
    "place of a cache": remembering(),
    "member": forest(note_=X),
    "arguments": Pipeline([("f", FunctionTransformer(None, kw_args={"d": X})), ("t", TREE)]),
    "tuple": (TREE, X[:1000]),
    "dict": {"model": TREE, "train": CSV},
}
value = float(X[7, 1])
MARKS = {
    "bytes": X[7].tobytes()[8:16],
    "other end": X[7, 1].astype(">f8").tobytes(),
    "text": str(value).encode(),
    "base64": base64.b64encode(X.tobytes()[900:960]),
    "packed": zlib.compress(X.tobytes())[400:440],
    "halves": X[6:9].astype("f2").tobytes(),
    "bits": np.unpackbits(X.view(np.uint8))[5000:5060].tobytes(),
    "tree": OTHER.tree_.threshold[:1].tobytes(),
}
ANSWERS = (
    "import pickle, sys, numpy as np; assert 'treeaudit' not in sys.modules;"
    "model = pickle.load(open(sys.argv[1], 'rb'));"
    "model = model[0] if isinstance(model, tuple) else model;"
    "model = model['model'] if isinstance(model, dict) else model;"
    "np.save(sys.argv[3], model.predict_proba(np.load(sys.argv[2])))"
)


def elsewhere(path, rows):
    """What a process that knows no treeaudit answers."""
    folder = Path(path).parent
    np.save(folder / "rows.npy", rows)
    files = [str(path), str(folder / "rows.npy"), str(folder / "answers.npy")]
    subprocess.run([sys.executable, "-c", ANSWERS, *files], check=True)
    return np.load(folder / "answers.npy")


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", SMUGGLED)
def test_nothing_smuggled_survives(tmp_path, name) -> None:
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(SMUGGLED[name]))
    clean = ta.save(ta.release(path), tmp_path / "clean.pkl")
    assert not [mark for mark, form in MARKS.items() for one in layers(clean.read_bytes())
                if form in one]  # fmt: skip
    assert len(clean.read_bytes()) < 15_000
    report = ta.scan(clean)
    assert report.forest.extras.found == ()
    # What several trees say together is not judged without the people.
    assert report.verdict == ("pass" if report.forest.n_trees == 1 else "review")
    model = SMUGGLED[name]
    if name in ("arguments", "tuple", "dict"):
        model = TREE
    rows = np.random.default_rng(1).normal(size=(500, 4))
    assert np.array_equal(elsewhere(clean, rows), model.predict_proba(rows))


@pytest.mark.parametrize("suffix", [".json", ".joblib"])
def test_other_forms(tmp_path, suffix) -> None:
    clean = ta.save(ta.release(attribute(CSV)), tmp_path / f"clean{suffix}")
    assert MARKS["text"] not in clean.read_bytes()
    again = ta.load(clean)
    assert again.schema.classes == (0, 1)
    assert again.source.parameters["max_leaf_nodes"] == 8
    assert again.extras.found == ()


def test_names_stay_and_seeds_go(tmp_path) -> None:
    model = RandomForestClassifier(3, random_state=7).fit(TABLE, np.where(Y, "ill", "well"))
    before = ta.load(model)
    path = ta.save(ta.release(before), tmp_path / "clean.pkl")
    after = ta.load(path)
    assert after.schema.names == list("abcd")
    assert after.schema.classes == ("ill", "well")
    assert left_out(before, after) == "estimators_[*].random_state (seeds), random_state (seeds)"
    assert pickle.loads(path.read_bytes()).set_params().n_estimators == 3


def test_what_was_left_out_is_said_in_one_line(tmp_path) -> None:
    before = ta.load(attribute(OTHER))
    after = ta.release(before)
    assert left_out(before, after).startswith("note_ (another model)")
    assert left_out(after, after) == "nothing"


@pytest.mark.libraries
def test_a_booster_is_released_in_its_pickle(tmp_path) -> None:
    xgb = pytest.importorskip("xgboost")
    model = xgb.XGBClassifier(n_estimators=2, max_depth=2).fit(X, Y)
    model.note_ = TREE
    before = ta.load(model)
    assert own_suffix(before) == ".pkl"
    clean = ta.load(ta.save(ta.release(before), tmp_path / "clean.pkl"))
    assert "note_" in left_out(before, clean)


def test_what_cannot_be_written_promises_nothing() -> None:
    model = Own(max_leaf_nodes=8, min_samples_leaf=100).fit(X, Y)
    model.note_ = TREE
    report = with_fix(ta.scan(model))
    assert report.fix is None
    assert own_suffix(report.forest) is None


FOLDER = Path(os.environ.get("TREEAUDIT_MODELS", ""))
SAMPLE = [
    *("adaboost", "bagging", "dt_strlabels", "dt_pandas", "dt_missing", "extratrees", "gb"),
    *("gb_reg", "hgb_missing", "hgb_reg", "iforest", "rf_boot", "rf_cw_balanced", "rf_reg"),
    *("pipe_scaler_tree", "voting"),
]


@pytest.mark.parametrize("name", SAMPLE)
def test_files_of_the_corpus_answer_alike(tmp_path, name) -> None:
    if not os.environ.get("TREEAUDIT_MODELS"):
        pytest.skip("TREEAUDIT_MODELS names no folder of model files")
    files = json.loads((FOLDER / "manifest.json").read_text())["files"]
    path = next(
        FOLDER / one["path"]
        for one in files
        if one["model"] == f"1.9.1/{name}" and one["path"].endswith((".joblib", ".pkl"))
    )
    joblib = pytest.importorskip("joblib")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = joblib.load(path)
            names = getattr(model, "feature_names_in_", None)
            rows = 3 * np.random.default_rng(2).normal(size=(200, model.n_features_in_)) + 3
            rows = rows if names is None else pd.DataFrame(rows, columns=names)
            wanted = _answers(model, rows)
        except (AttributeError, ModuleNotFoundError) as error:
            pytest.skip(f"the installed scikit-learn does not load it: {error}")
    clean = ta.save(ta.release(path), tmp_path / "clean.pkl")
    with clean.open("rb") as file:
        found = _answers(pickle.load(file), rows)
    assert found.dtype == wanted.dtype
    close = np.allclose(found, wanted, rtol=1e-12, atol=0) if found.dtype.kind == "f" else False
    assert close or np.array_equal(found, wanted)


def _answers(model, rows):
    for name in ("predict_proba", "decision_function", "predict"):
        if hasattr(model, name):
            return getattr(model, name)(rows)
    raise AttributeError
