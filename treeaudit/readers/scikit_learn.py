"""Turn the inert record of a scikit-learn model into a `Forest`.

Reads what `sklearn.tree._tree.Tree` stores (node table and values), in every
layout from 0.18 to 1.9: fields are taken by name and unknown ones ignored.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.readers.arrays import arrived
from treeaudit.readers.counts import Meaning, class_weights, people_per_class
from treeaudit.readers.inert import Inert, clean, show
from treeaudit.readers.labels import label_of
from treeaudit.readers.models import FORESTS, Found
from treeaudit.readers.node_table import NodeTable, read_nodes
from treeaudit.readers.preprocessing import Plan, plan_of
from treeaudit.readers.undo import undo
from treeaudit.schema import Label, Schema
from treeaudit.tree import Forest, LazyTrees, Source, Tree

__all__ = ["to_forest"]

Float = npt.NDArray[np.float64]

_MOST_CODES = 1 << 22
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
    names = _names(attributes, records[0].n_features)
    plan = _plan(found, records, names, warnings)
    schema = Schema.numeric(records[0].n_features if names is None else names, classes)
    if plan is not None:
        schema = replace(schema, features=plan.features, named=plan.named)
    meaning = _meaning(records, attributes, classes is not None, bootstrap)
    n_records = _n_records(records, attributes, bootstrap)
    records[0].forget()
    _note_code(estimator, warnings)
    orphans = sum(record.cut_off for record in records)
    if orphans:
        warnings.append(
            f"{orphans:,} nodes are cut off from the root but still in the file, with their "
            "counts: whoever pruned this model left the people in"
        )
    version = attributes.get("_sklearn_version")
    return Forest(
        trees=LazyTrees(lambda i: _tree(records[i], meaning[i], plan), len(records)),
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
            library="scikit-learn",
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
        if len(members) > 1:
            record.forget()
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
    return tuple(label_of(value) for value in _elements(stored))


def _elements(stored: npt.NDArray[np.generic]) -> list[object]:
    elements: list[object] = stored.tolist()
    return elements


def _plan(
    found: Found, records: list[NodeTable], names: list[str] | None, warnings: list[str]
) -> Plan | None:
    """Return how to undo the steps before the tree, and say what cannot be undone."""
    if not found.before:
        return None
    plan = plan_of(found.before, records[0].n_features, names)
    if plan is not None and any(plan.n_codes(r.tested) > _MOST_CODES for r in records):
        plan = plan.without_sets()
    if plan is None:
        kinds = [s.kind if isinstance(s, Inert) else show(s) for s in found.before]
        warnings.append(
            f"the steps before the tree ({', '.join(kinds[:8])}) do not tell what its columns "
            "are: conditions are in transformed units"
        )
    elif plan.made:
        warnings.append(
            f"what {', '.join(plan.made[:8])} made of the columns cannot be undone: "
            "conditions on it are in transformed units"
        )
    return plan


def _names(attributes: Mapping[str, object], n_features: int) -> list[str] | None:
    stored = arrived(attributes.get("feature_names_in_"))
    if not isinstance(stored, np.ndarray) or stored.shape != (n_features,):
        return None
    return [str(label_of(name)) for name in _elements(stored)]


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
    position = {label_of(label): i for i, label in enumerate(_elements(classes))}
    return {
        position[label_of(label)]: float(weight)
        for label, weight in stated.items()
        if isinstance(weight, int | float) and label_of(label) in position
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
    whole, ones = _draws_in(records)
    draws = len(totals) == 1 and (not isinstance(stated, int) or totals == {stated})
    per_tree = isinstance(class_weight, str) and class_weight == "balanced_subsample"
    if "_sample_weight" in attributes and not per_tree:
        proved = True  # since 1.9 weights steer the draw and do not weigh what is drawn
    else:
        # Weights of rows would make the totals of many trees differ, and a weight that
        # all rows share divides every count.
        draws = draws and class_weight is None
        proved = len(records) >= _MANY_TREES and ones
    if draws and whole:
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


def _draws_in(records: list[NodeTable]) -> tuple[bool, bool]:
    """Tell whether all class weights are whole, and whether some leaf has a single draw."""
    whole, ones = True, False
    for record in records:
        weights = class_weights(*record.value_of(record.leaves))
        whole = whole and bool(np.all(np.abs(weights - np.rint(weights)) <= 1e-6))
        ones = ones or bool(np.any(weights == 1))
        record.forget()
    return whole, ones


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


def _tree(record: NodeTable, meaning: Meaning, plan: Plan | None) -> Tree:
    counts = value = None
    if meaning.counts_are == "absent":
        if record.n_outputs == 1 and record.width == 1:
            value = record.value[:, 0]
    else:
        counts = class_weights(record.value, record.weight)
        if meaning.per_weight is not None:
            counts = np.rint(counts * meaning.per_weight)
    edges = record.edges()
    tree = Tree(
        parent=edges.parent,
        feature=edges.feature,
        low=edges.low,
        high=edges.high,
        missing=edges.missing,
        n_records=record.n_records,
        counts=counts,
        value=value,
    )
    record.forget()
    return tree if plan is None else undo(tree, plan)


def _parameters(attributes: Mapping[str, object]) -> dict[str, Any]:
    """Return the hyper-parameters that are plain values."""
    return {
        clean(name): value if value is None else label_of(value)
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
