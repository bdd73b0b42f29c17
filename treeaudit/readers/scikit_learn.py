"""Turn the inert record of a scikit-learn model into a `Forest`.

Reads what `sklearn.tree._tree.Tree` stores (node table and values), in every
layout from 0.18 to 1.9: fields are taken by name and unknown ones ignored.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.readers.arrays import arrived
from treeaudit.readers.counts import Meaning, class_weights, people_per_class
from treeaudit.readers.inert import Inert, clean, show
from treeaudit.readers.models import FORESTS, Found
from treeaudit.readers.node_table import NodeTable, read_nodes
from treeaudit.schema import Label, Schema
from treeaudit.tree import Forest, LazyTrees, Source, Tree

__all__ = ["to_forest"]

Float = npt.NDArray[np.float64]

# Steps that give back the columns they were given, in order.
_SAME_COLUMNS = frozenset(
    (
        "StandardScaler MinMaxScaler MaxAbsScaler RobustScaler Normalizer "
        "PowerTransformer QuantileTransformer SimpleImputer OrdinalEncoder"
    ).split()
)
_SAME_UNITS = frozenset({"SimpleImputer"})
_MOST_TREES = 50_000
_MANY_TREES = 10
_MOST_PEOPLE = 1 << 53


def to_forest(found: Found, source: Source, n_bytes: int) -> Forest:
    """Return the forest that a stored scikit-learn model describes.

    Parameters
    ----------
    found
        The model inside the file.
    source
        What is known of the file; estimator, version and parameters are added.
    n_bytes
        Size of the unpacked file. Its trees cannot take more.

    Raises
    ------
    ModelTooLargeError
        If the file repeats its trees to seem larger than it is.
    ReadError
        If the stored tree contradicts itself.
    UnsupportedModelError
        If it was never fitted.
    """
    estimator = found.estimator
    attributes = {name: arrived(value) for name, value in estimator.attributes.items()}
    members = _members(estimator, attributes)
    records = _records(members, n_bytes)
    classes = _classes(attributes, records[0])
    bootstrap = estimator.kind in FORESTS and attributes.get("bootstrap") is True
    warnings: list[str] = []
    schema = _schema(found, attributes, records[0], classes, warnings)
    meaning = _meaning(records, attributes, classes is not None, bootstrap)
    n_records = _n_records(records, attributes, bootstrap)
    _note_code(estimator, warnings)
    orphans = sum(record.cut_off for record in records)
    if orphans:
        warnings.append(
            f"{orphans:,} nodes are cut off from the root but still in the file, with their "
            "counts: whoever pruned this model left the people in"
        )
    version = attributes.get("_sklearn_version")
    return Forest(
        trees=LazyTrees(lambda i: _tree(records[i], meaning[i]), len(records)),
        schema=schema,
        counts_are=_weakest(meaning).counts_are,
        counts_reason=_weakest(meaning).reason,
        records_are="bootstrap" if bootstrap else "all",
        n_records=n_records,
        single_precision=True,
        source=replace(
            source,
            estimator=estimator.kind,
            inside=found.inside,
            library_version=clean(version) if isinstance(version, str) else None,
            parameters=_parameters(attributes),
        ),
        warnings=tuple(warnings),
    )


def _members(estimator: Inert, attributes: Mapping[str, object]) -> list[Inert]:
    """Return the fitted trees."""
    if estimator.kind not in FORESTS:
        return [estimator]
    stored = attributes.get("estimators_")
    members = [m for m in stored if isinstance(m, Inert)] if isinstance(stored, list) else []
    if not members:
        raise UnsupportedModelError(
            f"the {estimator.kind} was never fitted: call fit before saving it"
        )
    if len(members) > _MOST_TREES:
        raise ModelTooLargeError(f"the {estimator.kind} has more than {_MOST_TREES:,} trees")
    return members


def _records(members: list[Inert], n_bytes: int) -> list[NodeTable]:
    """Return the node tables; refuse those that are no forest together."""
    records: list[NodeTable] = []
    for member in members:
        record = read_nodes(arrived(member.get("tree_")))
        n_bytes -= record.n_bytes
        if n_bytes < 0:
            raise ModelTooLargeError("the trees together are larger than the file that holds them")
        records.append(record)
    if len({(r.n_features, r.n_outputs, r.width) for r in records}) > 1:
        raise ReadError("the model is inconsistent: its trees differ in features or classes")
    return records


def _classes(attributes: Mapping[str, object], record: NodeTable) -> tuple[Label, ...] | None:
    stored = attributes.get("classes_")
    if record.n_outputs != 1 or not isinstance(stored, np.ndarray) or stored.ndim != 1:
        return None
    if len(stored) != record.width:
        raise ReadError(
            f"the model is inconsistent: {len(stored):,} class labels for {record.width:,} classes"
        )
    return tuple(_label(value) for value in _elements(stored))


def _elements(stored: npt.NDArray[np.generic]) -> list[object]:
    elements: list[object] = stored.tolist()
    return elements


def _label(value: object) -> Label:
    match value:
        case float() if not math.isfinite(value):
            return show(value)
        case bool() | int() | float():
            return value
        case str():
            return clean(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case _:
            return show(value)


def _schema(
    found: Found,
    attributes: Mapping[str, object],
    record: NodeTable,
    classes: tuple[Label, ...] | None,
    warnings: list[str],
) -> Schema:
    names = _names(attributes, record.n_features)
    steps = [step for step in found.before if not _does_nothing(step)]
    kinds = [step.kind if isinstance(step, Inert) else show(step) for step in steps]
    if steps and names is None and all(kind in _SAME_COLUMNS for kind in kinds):
        first = steps[0]
        names = _names(first.attributes, record.n_features) if isinstance(first, Inert) else None
    if any(kind not in _SAME_UNITS for kind in kinds):
        warnings.append(
            f"the pipeline transforms the columns first ({', '.join(kinds[:8])}): "
            "conditions are in transformed units"
        )
    return Schema.numeric(record.n_features if names is None else names, classes)


def _does_nothing(step: object) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _names(attributes: Mapping[str, object], n_features: int) -> list[str] | None:
    stored = arrived(attributes.get("feature_names_in_"))
    if not isinstance(stored, np.ndarray) or stored.shape != (n_features,):
        return None
    return [str(_label(name)) for name in _elements(stored)]


def _meaning(
    records: list[NodeTable],
    attributes: Mapping[str, object],
    classifier: bool,
    bootstrap: bool,
) -> list[Meaning]:
    """Return what the class numbers of each tree are; see `counts`."""
    if records[0].n_outputs != 1:
        return [_absent("the model predicts several outputs")] * len(records)
    if not classifier:
        return [_absent("the model predicts a number, not a class")] * len(records)
    if attributes.get("monotonic_cst") is not None:
        return [_absent("monotonicity constraints clip the class fractions")] * len(records)
    if not bootstrap:
        class_weight = _class_weight(attributes)
        return [_leaf_meaning(record, class_weight) for record in records]
    return _bootstrap_meaning(records, attributes)


def _class_weight(attributes: Mapping[str, object]) -> dict[int, float] | str | None:
    """Return the parameter, a mapping turned from labels to positions."""
    stated, classes = attributes.get("class_weight"), attributes.get("classes_")
    if isinstance(stated, Inert):
        stated = stated.pairs
    if isinstance(stated, str):
        return stated
    if not isinstance(stated, dict) or not isinstance(classes, np.ndarray):
        return None
    position = {_label(label): i for i, label in enumerate(_elements(classes))}
    return {
        position[_label(label)]: float(weight)
        for label, weight in stated.items()
        if isinstance(weight, int | float) and _label(label) in position
    }


def _leaf_meaning(record: NodeTable, class_weight: dict[int, float] | str | None) -> Meaning:
    leaves = record.leaves
    value, weight = record.value_of(leaves)
    weights = class_weights(value, weight)
    return people_per_class(weights, record.n_records[leaves], weight, class_weight)


def _bootstrap_meaning(records: list[NodeTable], attributes: Mapping[str, object]) -> list[Meaning]:
    totals = {float(record.weight[0]) for record in records}
    stated = attributes.get("_n_samples_bootstrap")
    class_weight = attributes.get("class_weight")
    weights = [class_weights(*record.value_of(record.leaves)) for record in records]
    draws = len(totals) == 1 and (not isinstance(stated, int) or totals == {stated})
    per_tree = isinstance(class_weight, str) and class_weight == "balanced_subsample"
    if "_sample_weight" in attributes and not per_tree:
        proved = True  # since 1.9 weights steer the draw and do not weigh what is drawn
    else:
        # Weights of rows would make the totals of many trees differ, and a weight that
        # all rows share divides every count.
        draws = draws and class_weight is None
        proved = len(records) >= _MANY_TREES and _have_one(weights)
    if draws and all(_is_whole(w) for w in weights):
        found = Meaning(
            counts_are="exact" if proved else "likely",
            reason="class counts are bootstrap draws: a person drawn twice counts twice",
            per_weight=np.ones(records[0].width),
        )
    else:
        found = Meaning(
            counts_are="weighted",
            reason="bootstrap draws with weights (class_weight or sample_weight)",
        )
    return [found] * len(records)


def _have_one(weights: list[Float]) -> bool:
    """Whether some class has a single draw in some leaf."""
    return any(bool(np.any(w == 1)) for w in weights)


def _is_whole(weights: Float) -> bool:
    return bool(np.all(np.abs(weights - np.rint(weights)) <= 1e-6))


def _absent(reason: str) -> Meaning:
    return Meaning(counts_are="absent", reason=reason)


def _weakest(meaning: list[Meaning]) -> Meaning:
    order = ("exact", "likely", "weighted", "absent")
    return max(meaning, key=lambda m: order.index(m.counts_are))


def _n_records(
    records: list[NodeTable], attributes: Mapping[str, object], bootstrap: bool
) -> int | None:
    stated = attributes.get("_n_samples")
    most = max(int(record.n_records[0]) for record in records)
    if isinstance(stated, int) and most <= stated <= _MOST_PEOPLE:
        return stated
    if not bootstrap:
        return int(records[0].n_records[0])
    if attributes.get("max_samples") is None and attributes.get("class_weight") is None:
        total = records[0].weight[0]
        return int(total) if float(total).is_integer() and total <= _MOST_PEOPLE else None
    return None


def _tree(record: NodeTable, meaning: Meaning) -> Tree:
    counts = value = None
    if meaning.counts_are == "absent":
        if record.n_outputs == 1 and record.width == 1:
            value = record.value[:, 0]
    else:
        counts = class_weights(record.value, record.weight)
        if meaning.per_weight is not None:
            counts = np.rint(counts * meaning.per_weight)
    edges = record.edges()
    return Tree(
        parent=edges.parent,
        feature=edges.feature,
        low=edges.low,
        high=edges.high,
        missing=edges.missing,
        n_records=record.n_records,
        counts=counts,
        value=value,
    )


def _parameters(attributes: Mapping[str, object]) -> dict[str, Any]:
    """Return the hyper-parameters that are plain values."""
    return {
        clean(name): value if value is None else _label(value)
        for name, value in attributes.items()
        if not name.startswith("_")
        and not name.endswith("_")
        and (value is None or isinstance(value, bool | int | float | str))
    }


def _note_code(estimator: Inert, warnings: list[str]) -> None:
    if estimator.cls.module.partition(".")[0] != "sklearn":
        warnings.append(
            f"{show(estimator.cls)} is a class outside scikit-learn: when it is loaded for real, "
            "its own code may change the model that was audited"
        )
