"""What a pickled trainer says beside its model: whoever loads it is answered with these."""

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

import numpy as np

from treeaudit.dp.rational import exact
from treeaudit.later import pattern
from treeaudit.readers.estimators.labels import labels_of
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert

__all__ = ["contradicts"]

_MOST_JOBS = 256
_SCHEMA = ("features", "classes", "target", "named", "target_low", "target_high")
_FEATURE = ("name", "categories", "low", "high", "ignores_unknown", "fill")
_NEARLY = 1 - 1e-12
_CHOICE = pattern(r"the best of (\d{1,4}) candidates")
_ELSEWHERE = frozenset(("forest_", "random_state", "_metadata_request", "_sklearn_output_config"))
"""What others look at."""


def contradicts(model: Inert, name: object, value: object) -> bool:
    """Tell whether an attribute of a fitted trainer is not what its model says.

    Parameters
    ----------
    model
        The trainer. One that was never fitted contradicts nothing.
    name, value
        The attribute.
    """
    form, value = arrived(model.get("forest_")), arrived(value)
    if not isinstance(form, dict) or not isinstance(name, str) or name in _ELSEWHERE:
        return False
    schema, parameters = arrived(form.get("schema")), _parameters(form)
    if not isinstance(schema, dict) or not isinstance(schema.get("features"), list):
        return True
    match name:
        case "n_features_in_":
            return type(value) is not int or value != len(schema["features"])
        case "classes_":
            return not _are_classes(value, labels_of(schema.get("classes")))
        case "feature_names_in_":
            # By position, the names are those of the table.
            return bool(schema.get("named", True)) and not _are_names(value, schema["features"])
        case "schema":
            if isinstance(value, str | None):
                return value not in (None, "from-data")
            return not (isinstance(value, Inert) and _is_schema(value, schema))
        case "n_jobs":
            few = type(value) is int and abs(value) <= _MOST_JOBS
            return not (value is None or few)
        case "budget":
            return not (value is None or _is_account(value, form))
        case "public_records":
            return value is not None
        case "epsilon" if name not in parameters:
            return not _is_part_of(value, form)
    return name not in parameters or not _same(value, parameters[name])


def _parameters(form: Mapping[str, Any]) -> Mapping[str, object]:
    source = arrived(form.get("source"))
    stated = arrived(source.get("parameters")) if isinstance(source, dict) else None
    return stated if isinstance(stated, dict) else {}


def _same(one: object, other: object) -> bool:
    """Tell whether two plain values are one: 1 and 1.0 are, 1 and True are not."""
    plain = (int, float)
    if isinstance(one, plain) and isinstance(other, plain):
        return isinstance(one, bool) == isinstance(other, bool) and one == other
    return isinstance(one, str | None) and type(one) is type(other) and one == other


def _are_classes(value: object, stated: tuple[Any, ...] | None) -> bool:
    if not isinstance(value, np.ndarray) or value.ndim != 1 or stated is None:
        return False
    told = value.tolist()
    return len(told) == len(stated) and all(map(_same, told, stated))


def _are_names(value: object, features: list[Any]) -> bool:
    """Tell whether these are the names of the columns, in any order."""
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        return False
    told = [arrived(one) for one in value.tolist()]
    stated = [one.get("name") for one in features if isinstance(one, dict)]
    texts = all(isinstance(one, str) for one in (*told, *stated))
    return texts and sorted(told) == sorted(stated)  # type: ignore[type-var]


def _fields(value: object, names: tuple[str, ...]) -> dict[str, object] | None:
    """Return the fields of a stored object of ours; None where it holds anything else."""
    if not isinstance(value, Inert) or value.args or value.items or value.pairs:
        return None
    state = value.state
    if isinstance(state, tuple) and len(state) == 2 and state[0] is None:
        state = state[1]
    if isinstance(state, dict):
        held = {str(key): arrived(part) for key, part in state.items()}
    elif isinstance(state, list | tuple):
        # What follows the named ones is read off data, and False in a schema.
        padded = zip_longest(names, state)
        held = {n or f"{i}": arrived(part) for i, (n, part) in enumerate(padded)}
    else:
        return None
    beyond = (part for name, part in held.items() if name not in names)
    return None if any(part is not False and part is not None for part in beyond) else held


def _is_schema(value: Inert, stated: Mapping[str, Any]) -> bool:
    """Tell whether the schema of a trainer is that of its model."""
    told = _fields(value, _SCHEMA)
    features = arrived(told.get("features")) if told else None
    if told is None or not isinstance(features, list | tuple):
        return False
    if len(features) != len(stated["features"]):
        return False
    for one, other in zip(features, stated["features"], strict=True):
        held = _fields(arrived(one), _FEATURE)
        if held is None or not isinstance(other, dict):
            return False
        # The model takes categories that it does not know as missing.
        if not isinstance(held.pop("ignores_unknown", False), bool):
            return False
        if not all(_alike(held.get(name), other.get(name)) for name in _FEATURE if name in held):
            return False
    classes, labels = told.get("classes"), stated.get("classes") or []
    given = list(classes) if isinstance(classes, list | tuple) else []
    if len(given) != len(labels) or not all(any(_same(a, b) for b in labels) for a in given):
        return False
    rest = ("target", "named", "target_low", "target_high")
    defaults = {"target": "label", "named": True}
    return all(
        _alike(told.get(name, defaults.get(name)), stated.get(name, defaults.get(name)))
        for name in rest
    )


def _alike(one: object, other: object) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return _same(one, other)


def _is_account(value: object, form: Mapping[str, Any]) -> bool:
    """Tell whether an account can have paid for the model."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value < float("inf") and value >= _NEARLY * _budget(form)


def _budget(form: Mapping[str, Any]) -> float:
    """Return what was allowed altogether; infinite where the ledger does not tell."""
    return max(_allowed(form), default=float("inf"))


def _allowed(form: Mapping[str, Any]) -> set[float]:
    """Return the epsilons that a ledger states: of all, and of one candidate of a search."""
    privacy = arrived(form.get("privacy"))
    try:
        budget, rows = exact(privacy["budget"]), privacy["queries"]  # type: ignore[index]
        found = {float(budget)}
        for row in rows:
            choice = _CHOICE.fullmatch(row["name"])
            if choice:
                found.add(float((budget - exact(row["epsilon"])) / int(choice[1])))
    except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError):
        return set()
    return found


def _is_part_of(value: object, form: Mapping[str, Any]) -> bool:
    """Tell whether an epsilon that was exact, and is rounded in the file, is one of the ledger."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and value in _allowed(form)
