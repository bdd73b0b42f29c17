"""LightGBM models: text (`save_model`), JSON (`dump_model`), and inside a pickle."""

import json
import re
from collections.abc import Callable
from dataclasses import replace

from treeaudit.errors import DataError, ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.boosters.damage import reason
from treeaudit.readers.boosters.lightgbm_dump import booster_of
from treeaudit.readers.boosters.lightgbm_forest import to_forest
from treeaudit.readers.boosters.lightgbm_text import Booster, parse
from treeaudit.readers.boosters.wrapper_classes import stored_classes
from treeaudit.readers.pickles.inert import LIMITS, Inert, Limits, show
from treeaudit.readers.unpack import Content

__all__ = ["from_inert", "matches", "read"]

_TEXT = re.compile(rb"tree\r?\n(?:[^\n]*\n){0,2}(?:version|num_class)=")
_JSON = re.compile(rb'\s*\{\s*"(?:name"\s*:\s*"tree"\s*,|average_output"\s*:)')
_HEAD = 512
_LIST_COST, _COMMA_COST = 230, 100


def matches(content: Content) -> bool:
    """Tell whether the content is a LightGBM model as text or JSON."""
    head = bytes(content.data[:_HEAD])
    return _TEXT.match(head) is not None or _JSON.match(head) is not None


def read(
    content: Content, source: Source, select: str | None = None, limits: Limits = LIMITS
) -> Forest:
    """Return the forest that a LightGBM model file describes.

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
        If it has no trees.
    ModelTooLargeError
        If it would take too much memory.
    ReadError
        If the file is damaged.
    """
    del select
    data = content.data
    if _JSON.match(bytes(data[:_HEAD])):
        return _forest(
            lambda: booster_of(_json(bytes(data), limits)), replace(source, format="lightgbm-json")
        )
    return _forest(lambda: parse(data), replace(source, format="lightgbm-text"))


def from_inert(value: Inert, source: Source) -> Forest | None:
    """Return the LightGBM model in the inert record of a pickled object.

    Parameters
    ----------
    value
        What would have been a ``Booster``, or a wrapper that holds one.
    source
        What is known of the file; its format is kept.

    Returns
    -------
    Forest or None
        None where the record is no LightGBM model.

    Raises
    ------
    UnsupportedModelError
        If the model was never fitted.
    ReadError
        If it is damaged.
    """
    booster = value if _is_booster(value) else value.get("_Booster")
    if not isinstance(booster, Inert) or not _is_booster(booster):
        if value.cls.module.partition(".")[0] == "lightgbm" and value.kind.startswith("LGBM"):
            raise UnsupportedModelError(
                f"the {show(value.cls)} was never fitted: call fit before saving it"
            )
        return None
    text = booster.get("_handle")
    if not isinstance(text, str):
        text = booster.get("handle")
    if not isinstance(text, str):
        raise ReadError("the LightGBM Booster is damaged: it holds no model text (handle)")
    forest = _forest(lambda: parse(text.encode("utf-8", "backslashreplace")), source)
    classes = stored_classes(value.get("_classes"), forest.schema.classes)
    return replace(
        forest,
        schema=replace(forest.schema, classes=classes),
        source=replace(
            forest.source,
            estimator=forest.source.estimator.replace("LightGBM", value.kind, 1),
        ),
    )


def _is_booster(value: Inert) -> bool:
    return value.kind == "Booster" and value.cls.module.partition(".")[0] == "lightgbm"


def _forest(booster: Callable[[], Booster], source: Source) -> Forest:
    try:
        return to_forest(booster(), source)
    except (UnsupportedModelError, ModelTooLargeError):
        raise
    except (DataError, ReadError, ValueError, TypeError, OverflowError) as error:
        raise ReadError(f"the LightGBM model is damaged: {reason(error)}") from None


def _json(text: bytes, limits: Limits) -> object:
    cost = _LIST_COST * (text.count(b"[") + text.count(b"{")) + _COMMA_COST * text.count(b",")
    if cost > 4 * len(text) + limits.containers:
        raise ModelTooLargeError(
            "the JSON holds more nodes than treeaudit takes in; "
            "save the model as text with booster.save_model('model.txt')"
        )
    try:
        return json.loads(text)
    except UnicodeDecodeError as error:
        raise ReadError(f"the JSON is no UTF-8 at byte {error.start:,}") from None
    except json.JSONDecodeError as error:
        raise ReadError(f"the JSON breaks off at character {error.pos:,}") from None
    except RecursionError:
        raise ReadError(
            "the JSON is nested too deeply; save the model as text with "
            "booster.save_model('model.txt')"
        ) from None
    except ValueError:
        raise ReadError("the JSON holds a number of too many digits") from None
