"""Write a model in the version-free JSON form; `treeaudit.readers.native_json` reads it."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.people.checks.leaf_values import changed_target
from treeaudit.people.coding.columns import made_by
from treeaudit.readers.native_json import FORMAT, VERSION


def to_json(forest: Forest) -> str:
    """Return a model as version-free JSON.

    A child that was taken out is missing here too: records that would reach it
    are not answered. Boosted trees are kept, but not what their library adds to them.
    A parameter that is no finite number is null, as JSON has no other word for it.
    """
    form = to_dict(forest)
    try:
        return json.dumps(form, separators=(",", ":"), allow_nan=False) + "\n"
    except ValueError:
        where = next((part for part in form if not _is_json(form[part])), "form")
        raise UnsupportedModelError(
            f"the model holds a number that is not finite (among its {where}), which JSON cannot "
            "hold: save it anew with its library"
        ) from None


def to_dict(forest: Forest) -> dict[str, Any]:
    """Return the JSON form of a model as plain data."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "schema": _schema(forest.schema, made=bool(made_by(forest))),
        "counts_are": forest.counts_are,
        "counts_reason": forest.counts_reason,
        "answers": forest.answers,
        **_values(forest),
        "noise": None if forest.noise is None else asdict(forest.noise),
        "records_are": forest.records_are,
        "n_records": forest.n_records,
        "single_precision": forest.single_precision,
        "privacy": forest.privacy,
        "class_weights": forest.class_weights and [w and list(w) for w in forest.class_weights],
        **({} if forest.tree_weights is None else {"tree_weights": list(forest.tree_weights)}),
        **({"tree_classes": forest.tree_classes} if _of_first_round(forest) else {}),
        "source": {
            "estimator": forest.source.estimator,
            "library": forest.source.library,
            "library_version": forest.source.library_version,
            "parameters": _finite(dict(sorted(forest.source.parameters.items()))),
        },
        "trees": [_tree(tree) for tree in forest.trees],
    }


def _values(forest: Forest) -> dict[str, str]:
    """Return what is to be known of numbers in leaves that are no means of what is predicted."""
    if forest.schema.classes is not None:
        return {}
    if changed_target(forest):
        return {"values_are": "changed"}
    medians = any(tree.spread_is == "absolute" for tree in forest.trees)
    return {"values_are": "medians"} if medians else {}


def _finite(value: Any) -> Any:  # noqa: ANN401  # JSON
    """Return a parameter with null for every number that is none."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _of_first_round(forest: Forest) -> bool:
    return forest.answers == "sum" and forest.tree_classes is not None


def _schema(schema: Schema, *, made: bool) -> dict[str, Any]:
    features: list[dict[str, Any]] = []
    for feature in schema.features:
        entry: dict[str, Any] = {"name": feature.name}
        if feature.categories is not None:
            entry["categories"] = list(feature.categories)
        for side in ("low", "high"):
            if (bound := getattr(feature, side)) is not None:
                entry[side] = bound
        if feature.ignores_unknown:
            entry["ignores_unknown"] = True
        if feature.fill is not None:
            entry["fill"] = feature.fill
        features.append(entry)
    bounds = {"target_low": schema.target_low, "target_high": schema.target_high}
    return {
        "features": features,
        "classes": None if schema.classes is None else list(schema.classes),
        "target": schema.target,
        **{side: float(bound) for side, bound in bounds.items() if bound is not None},
        # Read again, no other columns are taken for what steps made.
        "named": schema.named or made,
    }


def _tree(tree: Tree) -> dict[str, Any]:
    form: dict[str, Any] = {
        "parent": tree.parent.tolist(),
        "feature": tree.feature.tolist(),
        "low": [v if math.isfinite(v) else None for v in tree.low.tolist()],
        "high": [v if math.isfinite(v) else None for v in tree.high.tolist()],
    }
    if tree.categories is not None:
        form["categories"] = [tree.categories.of(i) or None for i in range(tree.n_nodes)]
    for name in ("missing", "n_records", "counts", "label", "value"):
        array = getattr(tree, name)
        if array is not None:
            form[name] = array.tolist()
    return form
