"""XGBoost models, versions 1.0 to 3.x: JSON, UBJSON, and both inside a pickle.

``Booster.save_model`` writes one object, ``learner`` and ``version``; a pickled
Booster holds ``Config`` and ``Model``, the second of which is the same object.
Routing is bit for bit XGBoost's: inputs are 32-bit floats and go left where
``x < threshold``; of a categorical split the listed codes go right.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from treeaudit.errors import DataError, ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.boosters import ubjson
from treeaudit.readers.boosters.damage import reason
from treeaudit.readers.boosters.wrapper_classes import stored_classes
from treeaudit.readers.boosters.xgboost_forest import to_forest
from treeaudit.readers.pickles.inert import LIMITS, Inert, Limits, show
from treeaudit.readers.unpack import Content

__all__ = ["from_inert", "matches", "read"]

_JSON = re.compile(
    rb'\s*\{\s*(?:"(?:learner|Config|Model)"\s*:\s*\{|"version"\s*:\s*\[\s*\d+\s*,\s*\d+\s*,)'
)
_UBJSON = re.compile(
    rb"\{(?:[iU]|I\0|l\0{3}|L\0{7})(?:\x07(?:learner|version)|\x06Config|\x05Model)[\[{]"
)
_HEAD = 512
_LIST_COST, _COMMA_COST = 100, 36


def matches(content: Content) -> bool:
    """Tell whether the content is an XGBoost model as JSON or UBJSON."""
    head = bytes(content.data[:_HEAD])
    return _JSON.match(head) is not None or _UBJSON.match(head) is not None


def read(
    content: Content, source: Source, select: str | None = None, limits: Limits = LIMITS
) -> Forest:
    """Return the forest that an XGBoost model file describes.

    Parameters
    ----------
    content
        The unpacked bytes.
    source
        What is known of the file; format, estimator and version are added.
    select
        Ignored: the file holds one model.
    limits
        What reading may cost.

    Raises
    ------
    UnsupportedModelError
        If the booster is linear.
    ModelTooLargeError
        If it would take too much memory.
    ReadError
        If the file is damaged.
    """
    del select
    return _from_blob(memoryview(content.data), source, limits)


def from_inert(value: Inert, source: Source) -> Forest | None:
    """Return the XGBoost model in the inert record of a pickled object.

    Parameters
    ----------
    value
        What would have been a ``Booster``, or a wrapper that holds one.
    source
        What is known of the file; its format is kept.

    Returns
    -------
    Forest or None
        None where the record is no XGBoost model.

    Raises
    ------
    UnsupportedModelError
        If the model was never fitted, is linear, or of a version before 1.0.
    ReadError
        If it is damaged.
    """
    booster = value if _is_booster(value) else value.get("_Booster")
    if not isinstance(booster, Inert) or not _is_booster(booster):
        if value.cls.module.partition(".")[0] == "xgboost" and value.kind.startswith("XGB"):
            raise UnsupportedModelError(
                f"the {show(value.cls)} was never fitted: call fit before saving it"
            )
        return None
    handle = booster.get("handle")
    if not isinstance(handle, bytes | bytearray | memoryview):
        raise ReadError("the XGBoost Booster is damaged: it holds no model (handle)")
    forest = _from_blob(memoryview(handle), source, LIMITS)
    classes = stored_classes(value.get("classes_"), forest.schema.classes)
    return replace(
        forest,
        schema=replace(forest.schema, classes=classes),
        source=replace(
            forest.source,
            format=source.format,
            estimator=forest.source.estimator.replace("XGBoost", value.kind, 1),
        ),
        warnings=(*forest.warnings, *_remarks(value)),
    )


def _is_booster(value: Inert) -> bool:
    return value.kind == "Booster" and value.cls.module.partition(".")[0] == "xgboost"


def _remarks(value: Inert) -> list[str]:
    missing = value.get("missing")
    if isinstance(missing, int | float) and missing == missing:
        return [f"the wrapper treats {missing!r} as missing: it follows the edge of missing values"]
    return []


def _from_blob(data: memoryview, source: Source, limits: Limits) -> Forest:
    head = bytes(data[:_HEAD])
    if head.startswith((b"CONFIG-offset:", b"binf", b"bs64")):
        raise UnsupportedModelError(
            "the XGBoost model is in the old binary form: load it with the XGBoost that wrote it "
            "and save it with save_model('model.json')"
        )
    try:
        if _UBJSON.match(head):
            document, form = ubjson.parse(data, limits), "xgboost-ubjson"
        elif head.lstrip()[:1] == b"{":
            document, form = _json(bytes(data)), "xgboost-json"
        else:
            raise ReadError("it is neither JSON nor UBJSON")
        return to_forest(_models(document), replace(source, format=form))
    except (UnsupportedModelError, ModelTooLargeError):
        raise
    except (DataError, ReadError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ReadError(f"the XGBoost model is damaged: {reason(error)}") from None


def _json(text: bytes) -> object:
    cost = _LIST_COST * (text.count(b"[") + text.count(b"{")) + _COMMA_COST * text.count(b",")
    if cost > 4 * len(text) + LIMITS.containers:
        raise ModelTooLargeError(
            "the JSON holds more numbers and lists than treeaudit takes in; "
            "save the model as UBJSON with save_model('model.ubj')"
        )
    try:
        return json.loads(text)
    except UnicodeDecodeError as error:
        raise ReadError(f"the JSON is no UTF-8 at byte {error.start:,}") from None
    except json.JSONDecodeError as error:
        raise ReadError(f"the JSON breaks off at character {error.pos:,}") from None
    except RecursionError:
        raise ReadError("the JSON is nested too deeply") from None
    except ValueError:
        raise ReadError("the JSON holds a number of too many digits") from None


def _models(document: object) -> Mapping[str, object]:
    """Return the model, with the training configuration of a pickled Booster beside it."""
    if not isinstance(document, dict):
        raise ReadError("it is no object")
    if "Model" not in document:
        return document
    model = document["Model"]
    if not isinstance(model, dict):
        raise ReadError("its Model is no object")
    return {**model, **{name: part for name, part in document.items() if name != "Model"}}
