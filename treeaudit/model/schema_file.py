"""A public schema as a TOML file that a person reads, corrects and confirms.

::

    confirmed = false
    target = "income"
    classes = ["<=50K", ">50K"]

    [[columns]]
    name = "age"
    low = 17.0
    high = 90.0

    [[columns]]
    name = "sex"
    categories = ["Female", "Male"]

A number that is to be predicted has ``target_low`` and ``target_high`` in the place of ``classes``.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from treeaudit.errors import DataError, MissingFileError, PrivacyError
from treeaudit.files import read_toml
from treeaudit.model.schema import Feature, Label, Schema

_TARGETS = ("classes", "target_low", "target_high")
_HEAD = """\
# What everybody may know about the columns. Bounds, categories and labels become part of
# every model that is trained with this file, so nothing here may have been learned from the
# people in the data. This is a draft: it was taken from the data. Replace every bound
# by what the code book, the law or common sense says, add categories and labels that could
# occur but do not, and only then set confirmed to true.
"""


def schema_text(schema: Schema, *, confirmed: bool = False) -> str:
    r"""Return a schema as a TOML file; ``confirmed`` by a person to be public knowledge."""
    lines = [
        f"confirmed = {'true' if confirmed else 'false'}",
        f"target = {_text(schema.target)}",
    ]
    if schema.target_low is None:
        lines.append(f"classes = {_list(schema.classes or ())}")
    else:
        lines += _bounds(schema, ("target_low", "target_high"))
    for feature in schema.features:
        lines += ["", "[[columns]]", f"name = {_text(feature.name)}"]
        if feature.categories is not None:
            lines.append(f"categories = {_list(feature.categories)}")
        lines += _bounds(feature, ("low", "high"))
    head = "" if confirmed else _HEAD
    return head + "\n".join(lines) + "\n"


def _bounds(described: Schema | Feature, sides: tuple[str, str]) -> list[str]:
    found = [(side, getattr(described, side)) for side in sides]
    return [f"{side} = {float(bound)!r}" for side, bound in found if bound is not None]


def _text(value: str) -> str:
    # A JSON string is a TOML basic string; what shows nothing is written as its number.
    text = json.dumps(value, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)


def _list(values: tuple[Label, ...]) -> str:
    return "[" + ", ".join(_label(value) for value in values) + "]"


def _label(value: Label) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def read_schema(path: str | os.PathLike[str]) -> Schema:
    """Read a schema that a person has confirmed to be public knowledge."""
    file = Path(path)
    try:
        data = read_toml(file, DataError)
    except FileNotFoundError:
        raise MissingFileError(file, "; treeaudit schema DATA drafts one") from None
    schema = _schema(data, file)
    if data.get("confirmed") is not True:
        raise PrivacyError(
            f"{file} is a draft: read it, replace what was learned from private data by public "
            "knowledge, and set confirmed = true"
        )
    return schema


def _schema(data: dict[str, Any], file: Path) -> Schema:
    columns = data.get("columns")
    unknown = set(data) - {"confirmed", "target", *_TARGETS, "columns"}
    if unknown:
        raise DataError(f"{file}: there is no setting {sorted(unknown)[0]!r}")
    if not isinstance(columns, list) or not columns:
        raise DataError(f"{file} describes no columns: add [[columns]] entries")
    features = tuple(_feature(entry, file) for entry in columns)
    names = [feature.name for feature in features]
    if len(set(names)) != len(names):
        raise DataError(f"{file} describes a column twice")
    target = data.get("target", "label")
    if not isinstance(target, str):
        raise DataError(f"{file}: target must be text")
    return Schema(features=features, target=target, **_target(data, file))


def _target(data: dict[str, Any], file: Path) -> dict[str, Any]:
    """Return the classes of the target, or the bounds of a number."""
    if "classes" not in data and ("target_low" in data or "target_high" in data):
        bounds = {side: _number(data.get(side)) for side in ("target_low", "target_high")}
        if None in bounds.values():
            raise DataError(f"{file}: a target that is a number needs target_low and target_high")
        return bounds
    if len(set(data) & set(_TARGETS)) > 1:
        raise DataError(f"{file} gives classes and bounds of the target: it has one or the other")
    classes = data.get("classes")
    if not isinstance(classes, list) or not classes:
        raise DataError(f"{file} lists no classes (or target_low and target_high, for a number)")
    if not all(isinstance(c, str | int | float | bool) for c in classes):
        raise DataError(f"{file}: classes must be text, numbers or true and false")
    if len(set(classes)) != len(classes):
        raise DataError(f"{file} lists a class twice")
    return {"classes": tuple(classes)}


def _feature(entry: object, file: Path) -> Feature:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise DataError(f"{file}: every [[columns]] entry needs a name")
    name = entry["name"]
    unknown = set(entry) - {"name", "low", "high", "categories"}
    if unknown:
        raise DataError(f"{file}, column {name!r}: there is no setting {sorted(unknown)[0]!r}")
    categories = entry.get("categories")
    if categories is not None:
        texts = isinstance(categories, list) and all(isinstance(c, str) for c in categories)
        if not texts or not categories or len(set(categories)) != len(categories):
            raise DataError(f"{file}, column {name!r}: categories must be different texts")
        return Feature(name=name, categories=tuple(categories))
    bounds = [_number(entry.get(side)) for side in ("low", "high")]
    if None in bounds:
        raise DataError(f"{file}, column {name!r} needs low and high, or categories")
    return Feature(name=name, low=bounds[0], high=bounds[1])


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= sys.float_info.max else None
