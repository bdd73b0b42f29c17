# ruff: noqa: E501 -- a line per hiding place
"""A thousand rows hidden in a healthy model by ordinary Python: listed, or gone after release."""

import base64
import collections
import copy
import datetime
import decimal
import pickle
import types
import zlib

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
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
    OrdinalEncoder,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Bunch

import treeaudit as ta
from tests.hostile.planted import is_listed_or_gone

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
    "tree": DecisionTreeClassifier().fit(HIDDEN, Y[:ROWS]),
    "generator": [np.random.RandomState(row.view(np.uint32)) for row in HIDDEN[:50]],
}  # fmt: skip


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
# Lists in lists, keys, bits that no value shows.
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


def _nodes(model, change):
    """Change the state of the stored tree before it is written."""

    class Other:
        def __init__(self, tree):
            self.tree = tree

        def __reduce__(self):
            cls, args, state = self.tree.__reduce__()
            return cls, args, change(state)

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


CHANGES = {one.__name__.strip("_"): one for one in (_doubled, _padded, _leaves, _questions, _more)}


def _planted():
    """Yield each payload by its name, with the healthy model and the one that hides it."""
    for name, value in VALUES.items():
        clean = tree()
        yield f"unknown-{name}", clean, _with(copy.deepcopy(clean), notes_=value)
        yield f"listed-{name}", clean, _with(copy.deepcopy(clean), max_depth=value)
        yield f"bundle-{name}", {"model": clean}, {"model": clean, "notes": value}
        clean = piped(FunctionTransformer(kw_args=None))
        held = copy.deepcopy(clean)
        held.steps[0][1].kw_args = {"data": value}
        yield f"argument-{name}", clean, held
    for name, (make, way, value) in PLACES.items():
        clean = make()
        held = copy.deepcopy(clean)
        if way == "steps.0":
            held.steps = [(CSV, held.steps[0][1]), held.steps[1]]
        else:
            _set(held, way, value)
        yield f"place-{name}", clean, held
    for name, (where, value) in FORMS.items():
        clean = piped(FunctionTransformer())
        held = copy.deepcopy(clean)
        setattr(held.steps[-1 if name == "generator" else 0][1], where, value)
        yield f"form-{name}", clean, held
    for name, change in CHANGES.items():
        clean = tree()
        yield f"nodes-{name}", clean, _nodes(copy.deepcopy(clean), change)
    clean = forest()
    for name, value in MEMBERS.items():
        held = copy.deepcopy(clean)
        for i, member in enumerate(held.estimators_):
            member.__dict__[name] = value(i)
        yield f"member-{name}", clean, held


MEMBERS = {
    "ccp_alpha": lambda i: float(HIDDEN[i, 0]),
    "min_samples_leaf": lambda i: float(HIDDEN[i, 1]),
    "max_leaf_nodes": lambda i: int(abs(HIDDEN[i, 2]) * 1e9),
    "class_weight": lambda i: {0: float(HIDDEN[i, 0]), 1: float(HIDDEN[i, 1])},
    "monotonic_cst": lambda i: HIDDEN[i].tolist(),
}
PLANTED = {name: (clean, held) for name, clean, held in _planted()}


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_hidden_is_listed_or_gone_after_release(name, tmp_path) -> None:
    assert is_listed_or_gone(*PLANTED[name], tmp_path)


def test_the_healthy_models_pass(tmp_path) -> None:
    for model in (tree(), forest(), {"model": tree(), "accuracy": 0.9}):
        (tmp_path / "m.pkl").write_bytes(pickle.dumps(model))
        report = ta.scan(tmp_path / "m.pkl")
        # What several trees say together is not judged without the people.
        assert report.verdict == ("pass" if report.forest.n_trees == 1 else "review")
