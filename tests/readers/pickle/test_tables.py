"""Tables of people beside a model are called that, whatever library wrote them."""

import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from tests.outcome import read_whole
from tests.readers.damage import pickled
from treeaudit import scan
from treeaudit.model.source import Extra
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.arrow_parts import stream
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.pickle.pickle_vm import read_pickle
from treeaudit.readers.pickle.tables import index_names, table_of

GENUINE = Path(__file__).parents[1] / "genuine_tables"
VERSIONS = ["pandas-1.5", "pandas-2.3", "pandas-3.1", "pandas-3.1-arrow"]
COLUMNS = ["age", "height", "weight", "pressure"]
WHOLE = {
    "frame": (4, ""),
    "with_text": (5, "town"),
    "with_dates": (6, "seen kind"),
    "with_nulls": (4, ""),
    "with_strings": (5, "town"),
    "categories": (4, ""),
    "indexed": (4, ""),
    "zoned": (6, "seen kind"),
}


def _told(path: Path) -> dict[str, Extra]:
    found = [one for one in read_whole(path).extras.found if one.kind in ("records", "labels")]
    assert len({one.where for one in found}) == len(found)
    return {one.where: one for one in found}


@pytest.mark.parametrize("version", VERSIONS)
def test_tables_of_pandas(version: str) -> None:
    told = _told(GENUINE / f"tables-{version}.pkl")
    for name, (columns, _) in WHOLE.items():
        one = told.pop(f"['{name}']")
        assert (one.kind, one.n) == ("records", 24)
        assert one.says == (
            f"a table of 24 rows and {columns} columns, 4 of them columns of the model "
            f"({', '.join(COLUMNS)})"
        )
    assert {where: (one.kind, one.n) for where, one in told.items()} == {
        "['labels']": ("labels", 120),
        "['text_labels']": ("labels", 120),
        "['predicted']": ("records", 120),
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_the_columns_of_pandas_are_read_inertly(version: str) -> None:
    held = read_pickle((GENUINE / f"tables-{version}.pkl").read_bytes()).root
    assert isinstance(held, dict)
    assert index_names(held["columns"]) == COLUMNS
    for name, (columns, more) in WHOLE.items():
        table = table_of(held[name])
        assert table is not None
        assert (table.rows, table.columns, list(table.names)) == (
            24,
            columns,
            [*COLUMNS, *more.split()],
        )
    assert list(table_of(held["importances"]).labels) == COLUMNS  # type: ignore[union-attr]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_usual_bundle_is_read_like_its_model(version: str) -> None:
    """The columns as an index of pandas, a date, and metrics."""
    path = GENUINE / f"notes-{version}.pkl"
    kinds = {one.kind for one in read_whole(path).extras.found}
    assert kinds <= {"seeds", "notes", "extra"}
    assert {check.name: check.status for check in scan(path).checks}["max-calls"] == "pass"


@pytest.mark.parametrize("file", ["polars-2.1.pkl", "arrow.pkl"])
def test_tables_of_polars_and_arrow(file: str) -> None:
    told = _told(GENUINE / file)
    whole = ("frame",) if "polars" in file else ("table", "batch", "with_text")
    for name in whole:
        assert told[f"['{name}']"].n == 24
        assert "4 of them columns of the model" in told.pop(f"['{name}']").says
    assert {one.n for one in told.values()} == {24}
    assert len(told) == 2


def test_a_stream_of_arrow_that_is_damaged_is_no_table() -> None:
    held = read_pickle((GENUINE / "polars-2.1.pkl").read_bytes()).root
    assert isinstance(held, dict)
    frame = arrived(held["frame"])
    assert isinstance(frame, Inert)
    data = bytes(frame.state)  # type: ignore[call-overload]
    assert stream(data) == (COLUMNS, 24)
    for at in range(0, 400, 3):
        for byte in (0, 127, 255):
            stream(data[:at] + bytes([byte]) + data[at + 1 :])
        stream(data[:at])
    assert stream(b"") is stream(bytes(100)) is None


# -- plain containers, numpy, scipy ---------------------------------------------------


X = np.random.default_rng(0).normal(size=(200, 7))
Y = (X[:, 0] > 0).astype(int)
NAMES = [f"column_{i}" for i in range(7)]
SOME = X[:30]
ROWS = SOME.tolist()


def _named() -> RandomForestClassifier:
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y)
    model.feature_names_in_ = np.array(NAMES, dtype=object)
    return model


def _sparse(kind: str) -> Any:
    return getattr(pytest.importorskip("scipy.sparse"), kind)(SOME)


NUMBERED = {
    "array": SOME,
    "with-target": np.column_stack([SOME, Y[:30]]),
    "with-two-more": np.column_stack([SOME, SOME[:, :2]]),
    "objects": SOME.astype(object),
    "masked": np.ma.array(SOME, mask=SOME > 1),
    "lists": ROWS,
    "tuples": [tuple(row) for row in ROWS],
    "arrays": list(SOME),
    "eight": X[:8],
}
WITH_NAMES = {
    "records": [dict(zip(NAMES, row, strict=True)) for row in ROWS],
    "columns": dict(zip(NAMES, SOME.T.tolist(), strict=True)),
    "columns-of-numpy": dict(zip(NAMES, SOME.T, strict=True)),
    "ordered": OrderedDict(zip(NAMES, SOME.T.tolist(), strict=True)),
    "structured": np.array([tuple(row) for row in ROWS], dtype=[(name, "f8") for name in NAMES]),
    "row-by-number": {i: dict(zip(NAMES, row, strict=True)) for i, row in enumerate(ROWS)},
    "column-by-name": {name: dict(enumerate(SOME[:, i])) for i, name in enumerate(NAMES)},
}


def _records(folder: Path, held: object) -> list[Extra]:
    found = read_whole(pickled(folder, held)).extras.found
    return [one for one in found if one.kind == "records"]


def _found(path: Path, **held: Any) -> list[Extra]:
    path.write_bytes(pickle.dumps({"model": _named(), **held}))
    kinds = ("records", "labels")
    return [one for one in read_whole(path).extras.found if one.kind in kinds]


@pytest.mark.parametrize("shape", NUMBERED)
def test_rows_as_wide_as_the_model(shape: str, tmp_path: Path) -> None:
    (one,) = _found(tmp_path / "m", X=NUMBERED[shape])
    assert (one.kind, one.where, one.n) == ("records", "['X']", len(NUMBERED[shape]))
    assert "rows and" in one.says
    assert "the model has" in one.says


@pytest.mark.parametrize("kind", "csr_matrix csc_array coo_matrix lil_matrix dok_matrix".split())
def test_sparse_rows(kind: str, tmp_path: Path) -> None:
    (one,) = _found(tmp_path / "m", X=_sparse(kind))
    assert one.says == "a table of 30 rows and 7 columns, as many as the model has"


@pytest.mark.parametrize("shape", WITH_NAMES)
def test_rows_with_the_names_of_the_model(shape: str, tmp_path: Path) -> None:
    (one,) = _found(tmp_path / "m", X=WITH_NAMES[shape])
    assert one.n == 30
    assert one.says.startswith("a table of 30 rows and 7 columns, 7 of them columns of the model")


def test_rows_and_what_lies_beside_them(tmp_path: Path) -> None:
    held = {"X": SOME, "y": Y[:30].tolist(), "scores": SOME[:, 0], "shares": SOME[:, :2]}
    found = {one.where: one.kind for one in _found(tmp_path / "m", data=held)}
    assert found == {
        "['data']['X']": "records",
        "['data']['y']": "labels",
        "['data']['scores']": "records",
        "['data']['shares']": "records",
    }


def test_rows_in_an_attribute_that_no_model_has(tmp_path: Path) -> None:
    model = _named()
    model.backup_ = SOME
    (one,) = _records(tmp_path, model)
    assert one.where == "backup_"


def test_rows_are_graded_high_and_fail(tmp_path: Path) -> None:
    _found(tmp_path / "m", X=SOME)
    report = scan(tmp_path / "m")
    assert report["TA202"].severity == "high"
    assert {check.name: check.status for check in report.checks}["max-training-rows-inside"] == (
        "fail"
    )


def test_names_of_the_file_are_no_commands_of_the_terminal(tmp_path: Path) -> None:
    model = DecisionTreeClassifier(max_depth=2).fit(X[:, :2], Y)
    names = ["\x1b[2Jage", "b" * 500]
    model.feature_names_in_ = np.array(names, dtype=object)
    held = {"model": model, "X": dict(zip(names, X[:, :2].T.tolist(), strict=True))}
    (one,) = _records(tmp_path, held)
    assert one.says.isprintable()
    assert len(one.says) < 200


@pytest.mark.libraries
@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_rows_beside_a_booster_which_tells_no_number(library: str, tmp_path: Path) -> None:
    module = pytest.importorskip(library)
    kind = module.XGBClassifier if library == "xgboost" else module.LGBMClassifier
    model = kind(n_estimators=3, n_jobs=1).fit(X, Y)
    assert [one.where for one in _records(tmp_path, {"model": model, "X": SOME})] == ["['X']"]


IMPORTANCES = np.linspace(0, 0.3, 7)
NO_PEOPLE: dict[str, Any] = {
    "coefficients": X[:2],
    "components": X[:3],
    "confusion": [[30, 2], [1, 40]],
    "importances": IMPORTANCES,
    "importances-by-name": dict(zip(NAMES, IMPORTANCES.tolist(), strict=True)),
    "importances-in-pairs": list(zip(NAMES, IMPORTANCES.tolist(), strict=True)),
    "importances-of-permutations": X[:7, :5],
    "correlations": np.corrcoef(X.T),
    "names": NAMES,
    "means": X.mean(axis=0),
    "ranges": {name: [0.0, 1.0] for name in NAMES},
    "statistics": {name: {"mean": 0.0, "std": 1.0, "min": -1.0, "max": 1.0} for name in NAMES},
    "described": {
        name: dict.fromkeys(["count", "mean", "std", "min", "25%", "50%", "75%", "max"], 1.0)
        for name in NAMES
    },
    "options": {name: ["never", "rarely", "at times", "often", "daily"] for name in NAMES[:3]},
    "history": [{"epoch": i, "loss": 0.1 * i} for i in range(30)],
    "roc": {"fpr": [*range(40)], "tpr": [*range(40)], "thresholds": [*range(40)]},
    "grid": {"max_depth": [1, 2, 3, 4, 5], "min_samples_leaf": [1, 2, 3, 4, 5]},
    "folds": [0.8, 0.9, 0.85, 0.8, 0.9],
    "report": {name: {"precision": 0.8, "recall": 0.7, "support": 30} for name in ("0", "1")},
}


@pytest.mark.parametrize("what", NO_PEOPLE)
def test_other_tables_are_no_people(what: str, tmp_path: Path) -> None:
    assert _found(tmp_path / "m", held=NO_PEOPLE[what]) == []


def test_scores_by_class_are_no_people(tmp_path: Path) -> None:
    """As many classes as columns: their labels in a list are no names of columns."""
    labels = np.array(["a", "b", "c"])[np.arange(200) % 3]
    model = DecisionTreeClassifier(min_samples_leaf=30).fit(X[:, :3], labels)
    scores = pd.DataFrame({name: [0.9, 0.8, 0.85, 66.0] for name in "abc"})
    held = {"model": model, "classes": ["a", "b", "c"], "report": scores}
    assert _records(tmp_path, held) == []
    names = ["age", "height", "weight"]
    people = pd.DataFrame(X[:4, :3], columns=names)
    assert _records(tmp_path, {"model": model, "features": names, "X": people})


def test_a_search_holds_no_table_of_people(tmp_path: Path) -> None:
    grid = {"max_depth": [1, 2, 3, 4], "min_samples_leaf": [5, 10, 20, 30, 40, 50]}
    search = GridSearchCV(DecisionTreeClassifier(), grid, cv=2).fit(X, Y)
    assert _records(tmp_path, {"model": search, "tried": search.cv_results_}) == []


@pytest.mark.parametrize(
    "value", [None, 5, "text", [], {}, [[]], np.zeros((2, 2, 2)), [1, [2]], {"a": [1], "b": [1, 2]}]
)
def test_what_is_no_table(value: object) -> None:
    assert table_of(value) is None
