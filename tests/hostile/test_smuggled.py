# ruff: noqa: E501 -- a line per hiding place
"""A thousand rows hidden in a healthy model by ordinary Python: never a pass."""

import base64
import collections
import copy
import datetime
import decimal
import json
import pickle
import types
import zipfile
import zlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    LabelEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Bunch

import treeaudit as ta

ROWS, N = 1_200, 3_000
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4))
Y = np.where(RNG.random(N) < 0.3, 1 - (X[:, 0] > 0), X[:, 0] > 0).astype(int)
HIDDEN = X[:ROWS]
TEXTS = [";".join(f"{value:.3f}" for value in row) for row in HIDDEN]
CSV = "\n".join(TEXTS)
FRAME = pd.DataFrame(HIDDEN, columns=list("abcd"))


def tree():
    return DecisionTreeClassifier(max_leaf_nodes=6, min_samples_leaf=200).fit(X, Y)


@pytest.mark.parametrize(
    "held",
    [
        lambda model: {"classes_": model.classes_, "voting": None},
        lambda model: {"estimators_": model},
        lambda model: {"voting": "hard", "verbose": False},
        lambda model: [],
    ],
)
def test_what_is_no_seed_in_its_place_is_named(tmp_path, held) -> None:
    """Although each of its words is one that files hold: a seed is a number or a generator."""
    model = tree()
    model.random_state = held(model)
    report = verdict(model, tmp_path / "m.pkl")
    assert report.verdict != "pass"
    assert report["TA206"].details.extra_bytes > 0


@pytest.mark.parametrize("of", ["classes_", "estimator", "both"])
def test_tables_in_the_place_of_labels_end_in_a_sentence(tmp_path, of) -> None:
    """Whether two tables are the same has no single answer."""
    table = np.array([np.zeros((2, 3)), None], dtype=object)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=2).fit(X, Y)
    if of != "estimator":
        model.classes_ = table
    if of != "classes_":
        model.estimators_[0].classes_ = table.copy()
    with pytest.raises(ta.ReadError):
        verdict(model, tmp_path / "m.pkl")


def forest():
    small = {"max_leaf_nodes": 4, "min_samples_leaf": 300}
    return RandomForestClassifier(3, random_state=None, **small).fit(X, Y)


def piped(step):
    return Pipeline(
        [("step", step), ("tree", DecisionTreeClassifier(max_leaf_nodes=6, min_samples_leaf=200))]
    ).fit(X, Y)


def search():
    scorer = make_scorer(f1_score)
    base = DecisionTreeClassifier(max_leaf_nodes=6, min_samples_leaf=200)
    return GridSearchCV(base, {"max_depth": [2, 3]}, cv=2, scoring=scorer).fit(X, Y)


def verdict(model, path):
    path.write_bytes(pickle.dumps(model))
    return ta.scan(path)


Row = collections.namedtuple("Row", "data")
Row.__module__, Row.__qualname__ = __name__, "Row"

VALUES = {
    "transposed": X.T.copy(),
    "flat": HIDDEN.ravel(),
    "part": HIDDEN,
    "all but one": X[:-1],
    "cube": HIDDEN.reshape(2, -1, 4),
    "lists": HIDDEN.tolist(),
    "lists of parts": [HIDDEN[:600].tolist(), HIDDEN[600:].tolist()],
    "set": set(map(tuple, HIDDEN.tolist())),
    "frozenset": frozenset(map(tuple, HIDDEN.tolist())),
    "csv": CSV,
    "bytes": CSV.encode(),
    "bytearray": bytearray(HIDDEN.tobytes()),
    "pickle": pickle.dumps(HIDDEN),
    "base64": base64.b64encode(HIDDEN.tobytes()).decode(),
    "zlib": zlib.compress(HIDDEN.tobytes()),
    "integer": int.from_bytes(HIDDEN[:100].tobytes(), "little") | 1,
    "integers": [int.from_bytes(row.tobytes(), "little") for row in HIDDEN],
    "complex": [complex(a, b) for a, b, *_ in HIDDEN.tolist()],
    "complex array": HIDDEN.view(np.complex128),
    "structured": FRAME.to_records(),
    "objects": HIDDEN.astype(object),
    "half precision": HIDDEN.astype("f2"),
    "bits": np.unpackbits(HIDDEN.view(np.uint8)),
    "void": HIDDEN.view("V32"),
    "fixed text": np.array(TEXTS),
    "fixed bytes": np.array([text.encode() for text in TEXTS]),
    "dates": [datetime.datetime(2000, 1, 1) + datetime.timedelta(days=float(v)) for v in HIDDEN.ravel()],
    "date array": HIDDEN.view("M8[ns]"),
    "decimals": [decimal.Decimal(text.split(";")[0]) for text in TEXTS],
    "frame": FRAME,
    "series": FRAME["a"],
    "index": pd.Index(TEXTS),
    "dictionary of columns": FRAME.to_dict("list"),
    "dictionary keys": dict.fromkeys(TEXTS),
    "number keys": dict.fromkeys(HIDDEN.ravel().tolist(), 0),
    "records": FRAME.to_dict("records"),
    "ordered": collections.OrderedDict(enumerate(TEXTS)),
    "default": collections.defaultdict(list, {"a": TEXTS}),
    "deque": collections.deque(HIDDEN.ravel().tolist()),
    "bunch": Bunch(data=HIDDEN),
    "namespace": types.SimpleNamespace(data=HIDDEN),
    "named tuple": Row(HIDDEN),
    "masked": np.ma.array(HIDDEN),
    "slices": [slice(*row) for row in HIDDEN[:, :3].tolist()],
    "neighbours": KNeighborsClassifier().fit(HIDDEN, Y[:ROWS]),
    "scaler": None,
    "tree": DecisionTreeClassifier().fit(HIDDEN, Y[:ROWS]),
    "generator": [np.random.RandomState(row.view(np.uint32)) for row in HIDDEN[:50]],
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, value in VALUES.items() if value is not None])
@pytest.mark.parametrize("place", ["unknown", "listed", "bundle", "argument"])
def test_no_form_of_rows_passes_anywhere(name, place, tmp_path) -> None:
    model, value = tree(), VALUES[name]
    match place:
        case "unknown":
            model.notes_ = value
        case "listed":
            model.max_depth = value
        case "bundle":
            model = {"model": model, "notes": value}
        case "argument":
            model = piped(FunctionTransformer(kw_args=None))
            model.steps[0][1].kw_args = {"data": value}
    try:
        report = verdict(model, tmp_path / "m.pkl")
    except ta.ReadError:
        return
    assert report.verdict != "pass"


def test_the_healthy_models_pass(tmp_path) -> None:
    for model in (tree(), forest(), {"model": tree(), "accuracy": 0.9}):
        report = verdict(model, tmp_path / "m.pkl")
        # What several trees say together is not judged without the people.
        assert report.verdict == ("pass" if report.forest.n_trees == 1 else "review")
        assert report["TA206"].status == "clear"


def _set(model, names, value):
    *way, last = names.split(".")
    for name in way:
        model = model[int(name)] if name.isdigit() else getattr(model, name)
    model.__dict__[last] = value


PLACES = {
    "criterion": (tree, "criterion", CSV),
    "docstring": (tree, "__doc__", CSV),
    "class weights": (tree, "class_weight", dict(enumerate(HIDDEN.ravel().tolist()))),
    "names": (tree, "feature_names_in_", np.array(TEXTS, dtype=object)),
    "long names": (tree, "feature_names_in_", np.array([CSV, "b", "c", "d"], dtype=object)),
    "names and their number": (
        lambda: _with(tree(), n_features_in_=ROWS),
        "feature_names_in_",
        np.array(TEXTS, dtype=object),
    ),
    "labels": (tree, "classes_", np.array(TEXTS)),
    "one long label": (tree, "classes_", np.array(["no", CSV], dtype=object)),
    "number of classes": (tree, "n_classes_", HIDDEN.ravel()),
    "an excuse": (lambda: _with(tree(), n_anything=ROWS), "notes_", HIDDEN),
    "a listed excuse": (lambda: _with(tree(), max_leaf_nodes=ROWS), "notes_", HIDDEN),
    "maximum": (tree, "max_features_", HIDDEN[:, 0].tolist()),
    "monotonic": (tree, "monotonic_cst", HIDDEN.ravel().tolist()),
    "routing": (tree, "_metadata_request", {"fit": CSV}),
    "shown": (tree, "_repr_html_", CSV),
    "tags": (tree, "_sklearn_output_config", {"transform": CSV}),
    "seed": (tree, "random_state", CSV),
    "member": (forest, "estimators_.1.notes", HIDDEN),
    "member criterion": (forest, "estimators_.1.criterion", CSV),
    "template": (forest, "estimator.criterion", CSV),
    "parameters": (forest, "estimator_params", tuple(TEXTS)),
    "out of bag": (forest, "oob_score_", HIDDEN),
    "steps": (lambda: piped(StandardScaler()), "steps.0", None),
    "mean": (lambda: piped(StandardScaler()), "steps.0.1.mean_", HIDDEN.ravel()),
    "variance": (lambda: piped(StandardScaler()), "steps.0.1.var_", HIDDEN),
    "statistics": (lambda: piped(SimpleImputer()), "steps.0.1.statistics_", np.array(TEXTS, dtype=object)),
    "fill": (lambda: piped(SimpleImputer()), "steps.0.1.fill_value", CSV),
    "indicator": (lambda: piped(SimpleImputer()), "steps.0.1.indicator_", HIDDEN),
    "function": (lambda: piped(FunctionTransformer()), "steps.0.1.inv_kw_args", {"a": HIDDEN.tolist()}),
    "quantiles": (lambda: piped(QuantileTransformer(n_quantiles=50)), "steps.0.1.quantiles_", HIDDEN),
    "edges": (
        lambda: piped(KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf")),
        "steps.0.1.bin_edges_", np.array([HIDDEN[:, i].copy() for i in range(4)] + [None], dtype=object)[:4],
    ),
    "categories": (lambda: piped(OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)), "steps.0.1.categories_", [np.array(TEXTS, dtype=object)] * 4),
    "given categories": (lambda: _given(), "steps.0.1.categories_", [np.array(TEXTS, dtype=object)] * 4),
    "parameter categories": (lambda: _given(), "steps.0.1.categories", [TEXTS] * 4),
    "scorer": (search, "scorer_._kwargs", {"labels": HIDDEN.ravel().tolist()}),
    "results": (search, "cv_results_", {"params": [{}] * 2, "rows": HIDDEN.tolist()}),
    "candidates": (search, "cv_results_", {"params": [{"a": text} for text in TEXTS]}),
    "grid": (search, "param_grid", {"max_depth": TEXTS}),
    "numbers in the grid": (search, "param_grid", {"max_depth": HIDDEN.ravel().tolist()}),
    "best": (search, "best_params_", {"max_depth": CSV}),
    "folds": (search, "cv", [(HIDDEN, HIDDEN)]),
    "early": (lambda: _boosted(), "train_score_", HIDDEN.ravel()),
    "start": (lambda: _boosted(), "init_", KNeighborsClassifier().fit(HIDDEN, Y[:ROWS])),
    "bins": (lambda: _binned(), "_bin_mapper.bin_thresholds_", [row.copy() for row in HIDDEN.T]),
    "bin sizes": (lambda: _binned(), "_bin_mapper.n_bins_non_missing_", HIDDEN.ravel()),
    "baseline": (lambda: _binned(), "_baseline_prediction", HIDDEN),
    "known categories": (lambda: _binned(), "_bin_mapper.known_categories", [HIDDEN.ravel()] * 4),
    "columns of a bag": (lambda: BaggingClassifier(_small(), n_estimators=2).fit(X, Y), "estimators_features_", [HIDDEN.ravel(), HIDDEN.ravel()]),
    "path lengths": (lambda: IsolationForest(n_estimators=2, max_samples=1000).fit(X), "_average_path_length_per_tree", [HIDDEN.ravel()] * 2),
    "calibration": (lambda: CalibratedClassifierCV(_small(), cv=2).fit(X, Y), "calibrated_classifiers_.0.calibrators", [HIDDEN.ravel()]),
    "voters": (lambda: VotingClassifier([("a", _small())]).fit(X, Y), "named_estimators_", Bunch(rows=HIDDEN)),
    "weights of voters": (lambda: VotingClassifier([("a", _small())]).fit(X, Y), "weights", HIDDEN.ravel().tolist()),
    "columns": (lambda: _columns(), "steps.0.1._columns", [TEXTS]),
    "transformers": (lambda: _columns(), "steps.0.1.transformers", [("a", CSV, [0])]),
    "output": (lambda: _columns(), "steps.0.1.output_indices_", {text[:39]: slice(0, 1) for text in TEXTS}),
}  # fmt: skip


def _nested(values):
    while len(values) > 16:
        values = [values[i : i + 16] for i in range(0, len(values), 16)]
    return values


def _masked(first):
    column = np.empty(2, dtype=object)
    column[:] = [first, 3]
    return {"params": [{"max_depth": 2}, {"max_depth": 3}], "param_max_depth": np.ma.array(column)}


def _twister():
    words = np.frombuffer(np.packbits(Y[:2_000]).tobytes().ljust(2_496, b"\0"), "u4")
    generator = np.random.RandomState(0)
    generator.set_state(("MT19937", words, 624, 0, 0.0))
    return generator


_BITS = np.unpackbits(HIDDEN.view(np.uint8))
_WIDE = np.ones(len(HIDDEN), np.longdouble)
_WIDE.view(np.uint8).reshape(ROWS, -1)[:, 10:] = 65
_MISSING = (HIDDEN.view(np.uint64) >> 16 | 0x7FF8 << 48).view(np.float64)
_KEYS = [f"row {text.replace(';', ' ').replace('-', '_')}"[:39] for text in TEXTS]
# Lists in lists, keys, bits that no value shows: each a way that was once free.
FORMS = {
    "nested": ("kw_args", {"data": _nested(HIDDEN.ravel().tolist())}),
    "inverse": ("inv_kw_args", _nested(HIDDEN.ravel().tolist())),
    "nested keys": ("inv_kw_args", {f"a{i}": dict.fromkeys(_KEYS[16 * i : 16 * i + 16]) for i in range(16)}),
    "minus zero": ("inv_kw_args", np.where(_BITS, -0.0, 0.0).astype("f2")),
    "long doubles": ("inv_kw_args", _WIDE),
    "bytes of truth": ("inv_kw_args", np.maximum(1, HIDDEN.view(np.uint8)).ravel().view(bool)),
    "output": ("_sklearn_output_config", {f"k{i}": dict.fromkeys(_KEYS[16 * i : 16 * i + 16]) for i in range(16)}),
    "generator": ("random_state", _twister()),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_forms_that_hold_more_than_they_show(name, tmp_path) -> None:
    model = piped(FunctionTransformer())
    where, value = FORMS[name]
    setattr(model.steps[-1 if name == "generator" else 0][1], where, value)
    assert verdict(model, tmp_path / "m.pkl")["TA206"].details.extra_bytes > 500


@pytest.mark.parametrize("first", [CSV, HIDDEN.tobytes(), HIDDEN.tolist()])
def test_masked_columns_of_a_search(first, tmp_path) -> None:
    model = search()
    model.cv_results_ = _masked(first)
    assert verdict(model, tmp_path / "m.pkl")["TA206"].details.extra_bytes > 10_000


def test_scores_of_a_search(tmp_path) -> None:
    model, n = search(), 400
    splits = {f"split{i}_test_score": HIDDEN[:n, i].copy() for i in range(4)}
    more = {f"split{i}_train_score": HIDDEN[n : 2 * n, i].copy() for i in range(4)}
    model.cv_results_ = {"params": [{"max_depth": 3}] * n, **splits, **more}
    report = verdict(model, tmp_path / "m.pkl")
    assert report.verdict != "pass"
    assert report["TA206"].details.unread_parts == 1
    model.cv_results_ = {"params": [{"max_depth": 3}] * n, "rank_test_score": HIDDEN[:n, 0].copy()}
    assert verdict(search(), tmp_path / "m.pkl")["TA206"].status == "clear"


def test_missing_numbers_are_not_sorted(tmp_path) -> None:
    model = piped(QuantileTransformer(n_quantiles=50))
    model.steps[0][1].quantiles_ = _MISSING
    assert verdict(model, tmp_path / "m.pkl")["TA206"].details.extra_bytes == HIDDEN.nbytes


def test_keys_in_bundles_of_bundles(tmp_path) -> None:
    parts = {f"p{i}": dict.fromkeys(_KEYS[32 * i : 32 * i + 32]) for i in range(32)}
    labels = np.where(Y, "yes", "no")
    for hidden in (parts, {"rows": labels.tolist()}):
        model = DecisionTreeClassifier(max_leaf_nodes=4).fit(X, labels)
        report = verdict({"model": model, "more": hidden}, tmp_path / "m.pkl")
        assert report.verdict == "fail"
        if hidden is parts:
            assert report["TA206"].details.extra_bytes > 1_000
        else:
            assert report["TA202"].details.people > 1_000


def _with(model, **more):
    for name, value in more.items():
        setattr(model, name, value)
    return model


def _small():
    return DecisionTreeClassifier(max_leaf_nodes=4, min_samples_leaf=200)


def _given():
    step = OrdinalEncoder(
        categories=[[0, 1]] * 4, handle_unknown="use_encoded_value", unknown_value=-1
    )
    model = piped(StandardScaler())
    model.steps[0] = ("step", step.fit(np.zeros((2, 4)), None))
    return model


def _boosted():
    return GradientBoostingClassifier(n_estimators=2, max_leaf_nodes=4, min_samples_leaf=300).fit(
        X, Y
    )


def _binned():
    return HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=4, min_samples_leaf=300).fit(
        X, Y
    )


def _columns():
    return piped(ColumnTransformer([("a", StandardScaler(), [0, 1])], remainder="passthrough"))


@pytest.mark.parametrize("name", PLACES)
def test_no_place_takes_rows(name, tmp_path) -> None:
    make, way, value = PLACES[name]
    model = make()
    if name == "steps":
        model.steps = [(CSV, model.steps[0][1]), model.steps[1]]
    else:
        _set(model, way, value)
    shown = name in (
        "names",
        "long names",
        "names and their number",
        "labels",
        "one long label",
        "steps",
    )
    try:
        report = verdict(model, tmp_path / "m.pkl")
    except ta.ReadError:
        return
    assert report.verdict != "pass"
    assert shown or not any(text in str(report.to_dict()) for text in TEXTS[:20])


def _scaler(row):
    scaler = StandardScaler().fit(X)
    scaler.mean_ = row
    return scaler


def _with_scalers(where):
    match where:
        case "bundle":
            return {"model": tree(), "steps": [_scaler(row) for row in HIDDEN]}
        case "steps":
            model = piped(StandardScaler())
            model.steps = [(f"s{i}", _scaler(row)) for i, row in enumerate(HIDDEN)] + model.steps
        case _:
            model = VotingClassifier([("a", _small())]).fit(X, Y)
            setattr(model, where, getattr(model, where) + [_scaler(row) for row in HIDDEN])
    return model


@pytest.mark.parametrize("where", ["bundle", "steps", "estimators_", "estimators"])
def test_known_objects_of_a_row_each(where, tmp_path) -> None:
    assert verdict(_with_scalers(where), tmp_path / "m.pkl").verdict != "pass"


def test_a_width_that_is_stated_excuses_nothing(tmp_path) -> None:
    model = piped(StandardScaler())
    model.steps[0][1].n_features_in_, model.steps[0][1].mean_ = HIDDEN.size, HIDDEN.ravel()
    assert verdict(model, tmp_path / "m.pkl")["TA206"].details.extra_bytes == HIDDEN.nbytes


def test_names_of_columns_that_are_dropped(tmp_path) -> None:
    model = _columns()
    step = model.steps[0][1]
    step.n_features_in_, step.feature_names_in_ = ROWS, np.array(TEXTS, dtype=object)
    assert verdict(model, tmp_path / "m.pkl").verdict != "pass"


def test_keys_of_a_bundle_as_rows(tmp_path) -> None:
    keys = [f"row {text.replace(';', ' ').replace('-', '_')}"[:39] for text in TEXTS]
    report = verdict({"model": tree(), **dict.fromkeys(keys)}, tmp_path / "m.pkl")
    assert report["TA206"].details.extra_bytes > 20_000


def test_a_list_of_weights_of_classes(tmp_path) -> None:
    model = _with(tree(), class_weight=[dict(enumerate(row)) for row in HIDDEN.tolist()])
    assert verdict(model, tmp_path / "m.pkl").verdict != "pass"


@pytest.mark.parametrize(
    "weights",
    [{0: "gini", 1: "best"}, {0: None, 1: True}, {0: -1.0, 1: 1.0}, {0: np.inf, 1: 1.0}, {0: [1]}],
)
def test_weights_of_classes_that_are_no_weights(weights, tmp_path) -> None:
    finding = verdict(_with(tree(), class_weight=weights), tmp_path / "m.pkl")["TA206"]
    assert "class_weight" in {left.where.split(".")[-1] for left in finding.details.leftovers}


@pytest.mark.parametrize("one", [1, 1.5, np.float64(1.5), np.float32(2), np.int64(3)])
def test_weights_of_classes_that_are(one, tmp_path) -> None:
    found = verdict(_with(tree(), class_weight={0: one, 1: 2}), tmp_path / "m.pkl")["TA206"]
    assert found.status == "clear"


def test_many_attributes_of_a_row_each(tmp_path) -> None:
    model = tree()
    for i, row in enumerate(HIDDEN.tolist()):
        setattr(model, f"row_{i}", row)
    finding = verdict(model, tmp_path / "m.pkl")["TA206"]
    assert finding.details.extra_bytes >= 32 * ROWS
    assert len(finding.details.leftovers) <= 201


def test_rows_as_names_of_attributes(tmp_path) -> None:
    model = tree()
    model.__dict__.update(dict.fromkeys(TEXTS))
    finding = verdict(model, tmp_path / "m.pkl")["TA206"]
    assert finding.details.extra_bytes >= len(CSV) - ROWS
    assert not any(text[:6] in one.where for text in TEXTS for one in finding.details.leftovers)


def _nodes(change):
    """Change the state of the stored tree before it is written."""

    class Other:
        def __init__(self, tree):
            self.tree = tree

        def __reduce__(self):
            cls, args, state = self.tree.__reduce__()
            return cls, args, change(state)

    model = tree()
    model.__dict__["tree_"] = Other(model.tree_)
    return model


def _doubled(state):
    state["nodes"] = np.concatenate([state["nodes"], state["nodes"]])
    state["values"] = np.concatenate([state["values"], state["values"]])
    return state


def _padded(state):
    raw = state["nodes"].view(np.uint8).reshape(len(state["nodes"]), -1)
    raw[:, 57:] = 65
    return state


def _leaves(state):
    leaf = state["nodes"]["left_child"] < 0
    state["nodes"]["threshold"][leaf] = HIDDEN.ravel()[: leaf.sum()]
    return state


def _questions(state):
    leaf = state["nodes"]["left_child"] < 0
    state["nodes"]["feature"][leaf] = 123456789
    return state


def _more(state):
    return {**state, "note": CSV}


@pytest.mark.parametrize("change", [_doubled, _padded, _leaves, _questions, _more])
def test_room_in_the_nodes(change, tmp_path) -> None:
    try:
        report = verdict(_nodes(change), tmp_path / "m.pkl")
    except ta.ReadError:
        return
    assert report["TA206"].details.extra_bytes >= 40


def test_an_encoder_of_names_is_told(tmp_path) -> None:
    names = LabelEncoder().fit([f"person {i}" for i in range(N)])
    report = verdict({"model": tree(), "encoder": names}, tmp_path / "m.pkl")
    assert report["TA202"].people == N


def _in_schema(document):
    document["rows"] = TEXTS


def _in_node(document):
    document["content"]["rows"] = CSV


def _in_version(document):
    document["_skops_version"] = CSV


@pytest.mark.parametrize("where", ["comment", "member", "end", _in_schema, _in_node, _in_version])
def test_room_in_a_skops_file(where, tmp_path) -> None:
    skops = pytest.importorskip("skops.io")
    skops.dump(tree(), tmp_path / "plain.skops")
    path, hidden = tmp_path / "m.skops", CSV.encode()[:60_000]
    with zipfile.ZipFile(tmp_path / "plain.skops") as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.infolist():
            data, made = old.read(entry), zipfile.ZipInfo(entry.filename)
            if callable(where) and entry.filename == "schema.json":
                document = json.loads(data)
                where(document)
                data = json.dumps(document).encode()
            made.comment = hidden if where == "member" else b""
            new.writestr(made, data)
        new.comment = hidden if where == "comment" else b""
    if where == "end":
        path.write_bytes(path.read_bytes() + hidden)
    assert ta.scan(tmp_path / "plain.skops").verdict == "pass"
    try:
        report = ta.scan(path)
    except ta.ReadError:
        return
    assert report.verdict != "pass"
    assert report["TA206"].details.extra_bytes >= 20_000


# -- law -----------------------------------------------------------------------------

PLAIN = st.one_of(
    st.binary(min_size=64, max_size=90),
    st.text(min_size=64, max_size=90),
    st.lists(st.floats(allow_nan=False), min_size=20, max_size=30),
    st.lists(st.text(min_size=9, max_size=15), min_size=20, max_size=30, unique=True),
    st.integers(min_value=1 << 512),
    st.dictionaries(st.text(min_size=9, max_size=15), st.floats(), min_size=20, max_size=30),
)
WRAPPED = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=2),
        st.tuples(inner, st.none()),
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=2),
        inner.map(lambda value: np.array([value, None], dtype=object)),
    ),
    max_leaves=3,
)
MODELS = {
    "tree": tree(),
    "forest": forest(),
    "pipe": piped(StandardScaler()),
    "search": search(),
    "columns": _columns(),
    "binned": _binned(),
}


def _holders(model):
    """Return every dictionary, list and object of a model that takes one more."""
    found, todo = [], [model]
    while todo:
        one = todo.pop()
        if type(one).__module__.startswith("sklearn") and hasattr(one, "__dict__"):
            found.append(one.__dict__)
            todo += one.__dict__.values()
        elif isinstance(one, dict):
            found.append(one)
            todo += one.values()
        elif isinstance(one, list | tuple):
            todo += one
    return found


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_random_plants_never_pass(tmp_path, data) -> None:
    model = pickle.loads(pickle.dumps(MODELS[data.draw(st.sampled_from(sorted(MODELS)))]))
    holder = data.draw(st.sampled_from(range(len(_holders(model)))))
    place = _holders(model)[holder]
    keys = [*(key for key in place if isinstance(key, str)), "notes_"]
    key, value = data.draw(st.sampled_from(keys)), data.draw(WRAPPED)
    place[key] = copy.deepcopy(value)
    try:
        report = verdict(model, tmp_path / "m.pkl")
    except ta.ReadError:
        return
    assert report.verdict != "pass", (key, value)
