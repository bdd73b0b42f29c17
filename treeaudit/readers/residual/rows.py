"""Rows of training data in a file: an entry per training record, or the records."""

from collections.abc import Iterator

import numpy as np

from treeaudit.arrays import Array
from treeaudit.model.source import FEWEST_RECORDS, Extra, Kind
from treeaudit.model.words import in_percent
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.residual.allow_list import is_name, library_of
from treeaudit.readers.walk import Place

CURVES = frozenset("evals_result_ _evals_result stopping_history best_scores".split())
"""Attributes of boosted models that hold scores round by round."""

_MOST_GROUPS = 100

_RECORDS = {
    "_fit_X": "the records among which neighbours are looked up",
    "X_fit_": "the records that the kernel compares with",
    "_X_fit": "the records that the kernel compares with",
    "X_train_": "the training records",
    "_X_train": "the training records",
    "X_train": "the training records",
    "y_train_": "the training targets",
    "y_train": "the training targets",
    "support_vectors_": "the records at the margin",
    "training_set_": "the training records",
    "core_sample_indices_": "the row numbers of records that are stored as they are (components_)",
    "component_indices_": "the row numbers of records that are stored as they are (components_)",
    "unique_times_": "the times at which something happened to somebody",
    "stop_words_": "words of training texts that were left out of the vocabulary (CVE-2024-5206)",
}
_OF_EXPLAINERS = {
    **dict.fromkeys(("data", "_masked_data"), "the people whom others are compared with"),
    "data_missing": "which values of these people are missing",
}
_OF_QUANTILES = ("the training targets", "the row numbers of the people in each leaf")
_PER_ROW = ("_sample_weight", "oob_decision_function_", "oob_prediction_")
_NAMES = frozenset((*_RECORDS, *_PER_ROW))
_SEARCH_TREES = ("kd_tree", "ball_tree")
# One entry per tree, per column, per candidate or for everybody the same: never per person.
_NOT_ROWS = frozenset(
    (
        "estimators_ estimators_features_ estimators_samples_ estimator_weights_ "
        "estimator_errors_ train_score_ validation_score_ oob_scores_ oob_improvement_ "
        "_predictors _seeds cv_results_ references_ bin_thresholds_ categories_ "
        "feature_names_in_ _average_path_length_per_tree _decision_path_lengths "
        "feature_importances_ classes_ quantiles_ vocabulary_ bin_edges_ "
        "feature_names feature_types forest_ sample_indices_"
    ).split()
)
# Columns of our own models: their reader explains every entry.
_EXPLAINED_ELSEWHERE = "treeaudit.model.schema"
# Sizes that are the number of records by right, or by chance.
_NO_SIZE = ("samples", "records", "rows", "random_state", "seed", "n_jobs", "verbose")


def named_rows(place: Place, claimed: set[int]) -> Iterator[Extra]:
    """Yield attributes that scikit-learn fills with a row per training record."""
    model = place.value
    if not isinstance(model, Inert):
        return
    attributes = model.state if isinstance(model.state, dict) else model.attributes
    search_tree = model.cls.module.endswith(_SEARCH_TREES)
    if model.kind == "QuantileForest" and model.args:
        held = [arrived(one) for one in model.args[:2]]
        targets = held[0] if isinstance(held[0], np.ndarray) and held[0].ndim else np.zeros(0)
        for i, says in enumerate(_OF_QUANTILES[: len(held)] if targets.size else ()):
            claimed.add(id(held[i]))
            n = targets.shape[-1]
            yield Extra(kind="records", where=place.at(f"({i})"), n=n, says=f"{says}: {n:,}")
    explainer = _OF_EXPLAINERS if library_of(model) == "shap" else {}
    if _NAMES.isdisjoint(attributes) and not search_tree and not explainer:
        return
    for name in _PER_ROW:
        array = arrived(attributes.get(name))
        if isinstance(array, np.ndarray) and array.ndim and len(array):
            claimed.add(id(array))
            if name == "_sample_weight":
                yield from _row_weights(place, model, array)
            else:
                yield _out_of_bag(place, name, array, attributes.get("oob_score_"))
    neighbours = {"_y": "the labels of the neighbours"} if "_fit_X" in attributes else {}
    for name, says in (_RECORDS | neighbours | explainer).items():
        value = arrived(attributes.get(name))
        n = _length(value)
        if n:
            claimed.add(id(value))
            yield Extra(kind="records", where=place.at(name), n=n, says=f"{says}: {n:,}")
    if search_tree and "_fit_X" not in next((owner.attributes for owner in place.owners()), {}):
        stored = model.state if isinstance(model.state, tuple) and model.state else (None,)
        n = _length(arrived(stored[0]))
        if n:
            says = f"the records among which neighbours are looked up: {n:,}"
            where = place.path or "the file itself"
            claimed.add(id(model))
            yield Extra(kind="records", where=where, n=n, says=says)


def _row_weights(place: Place, model: Inert, array: Array) -> Iterator[Extra]:
    """Tell labels from weights: a weight per class is the label of everybody."""
    n, where = len(array), place.at("_sample_weight")
    if array.ndim != 1 or array.dtype.kind not in "biuf" or _is_constant(array):
        return
    groups = len(np.unique(array))
    classes = arrived(model.get("classes_"))
    k = len(classes) if isinstance(classes, np.ndarray) and classes.ndim == 1 else 0
    kind: Kind = "labels" if groups <= _MOST_GROUPS else "records"
    says = f"a weight for each of {n:,} training records in row order"
    if groups <= _MOST_GROUPS:
        says += f", {groups:,} distinct values"
    if model.get("class_weight") is not None and groups == k:
        kind, says = "labels", f"{says} for {k:,} classes: the label of every record"
    elif groups <= _MOST_GROUPS:
        says += ": which records belong together, and their labels where weights follow them"
    yield Extra(kind=kind, where=where, n=n, says=says)


def _out_of_bag(place: Place, name: str, array: Array, score: object) -> Extra:
    says = f"a prediction for each of {len(array):,} training records in row order"
    if isinstance(score, float) and name == "oob_decision_function_" and 0 <= score <= 1:
        says += f", right for {in_percent(score, 0)} of them (oob_score_)"
    return Extra(kind="out-of-bag", where=place.at(name), n=len(array), says=says)


def _length(value: object) -> int:
    """Return how many rows a value has; 0 for what has none."""
    match value:
        case np.ndarray():
            return len(value) if value.ndim else 0
        case list() | tuple() | set() | frozenset() | dict():
            return len(value)
        case Inert():
            shape = value.get("_shape")
            rows = shape[0] if isinstance(shape, tuple) and shape else None
            return rows if isinstance(rows, int) and 0 < rows < 1 << 53 else 0
        case _:
            return 0


def rows(place: Place, n_records: int) -> Iterator[Extra]:
    """Yield a value that has an entry for every training record."""
    value = place.value
    frame = _frame(place)
    if n_records < FEWEST_RECORDS or not _has_rows(value, n_records, frame is not None):
        return
    if place.step in _NOT_ROWS or _is_size(place, n_records) or _are_parameters(value):
        return
    where = place if frame is None else frame
    says = f"an entry for each of {n_records:,} training records, {_form(value)}"
    yield Extra(kind="records", where=where.path or "the file itself", n=n_records, says=says)


def long_values(place: Place) -> Iterator[Extra]:
    """Yield a long value of a model of unknown people: it may have an entry per record or not."""
    value, owner = place.value, next(place.owners(), None)
    n = 0 if isinstance(value, Inert) and not _is_pandas(value) else _length(value)
    if n < FEWEST_RECORDS or not _has_rows(value, n, turned=False):
        return
    part = place.above is not None and isinstance(place.above.value, list | tuple | dict)
    if part or place.step in _NOT_ROWS or _is_size(place, n) or _are_parameters(value):
        return
    explained = owner is not None and owner.cls.module.startswith(_EXPLAINED_ELSEWHERE)
    if explained or _is_curve(place):
        return
    says = f"{_form(value)}, {n:,} entries long: the file does not tell whether they are records"
    yield Extra(kind="unseen", where=place.path or "the file itself", n=n, says=says)


def _is_curve(place: Place) -> bool:
    """Tell whether a list stands where scores do, round by round."""
    of_set = place.above
    return of_set is not None and of_set.above is not None and of_set.above.step in CURVES


def _are_parameters(value: object) -> bool:
    """Tell whether these are settings by their names, as LightGBM holds them of a training."""
    return isinstance(value, dict) and all(isinstance(key, str) and is_name(key) for key in value)


def _frame(place: Place) -> Place | None:
    """Return the data frame that a value is a part of."""
    frame: Place | None = None
    above: Place | None = place
    while above is not None:
        if isinstance(above.value, Inert) and _is_pandas(above.value):
            frame = above
        above = above.above
    return frame


def _is_pandas(value: Inert) -> bool:
    return library_of(value) == "pandas"


def _has_rows(value: object, n: int, turned: bool) -> bool:
    match value:
        case np.ndarray():
            fits = bool(value.ndim) and (len(value) == n or (turned and value.shape[-1] == n))
            return fits and not _is_constant(value)
        case set() | frozenset():
            return len(value) == n
        case list() | tuple():
            return len(value) == n and not any(isinstance(v, Inert) for v in value[:3])
        case dict():
            return len(value) == n and not isinstance(next(iter(value.values())), Inert)
        case Inert():
            return _length(value) == n and value.get("_shape") is not None
    return False


def _is_constant(array: Array) -> bool:
    if array.dtype.kind not in "biufSU" or not array.size:
        return not array.size
    return bool(np.all(array == array.flat[0]))


def _is_size(place: Place, n: int) -> bool:
    """Whether somebody on the way has that many of something else, such as columns."""
    for owner in place.owners():
        for name, value in owner.attributes.items():
            if type(value) is int and value == n and not any(part in name for part in _NO_SIZE):
                return True
    return False


def _form(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {' × '.join(f'{size:,}' for size in value.shape)}"
    return f"a {value.kind if isinstance(value, Inert) else type(value).__name__}"
