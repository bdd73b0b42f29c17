"""XGBoost models of all versions: JSON, UBJSON, the older binary form, and each in a pickle.

``Booster.save_model`` writes one object, ``learner`` and ``version``; a pickled
Booster holds ``Config`` and ``Model``, the second of which is the same object.
Routing is bit for bit XGBoost's: inputs are 32-bit floats and go left where
``x < threshold``; of a categorical split the listed codes go right.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.boosters.damage import reading
from treeaudit.readers.boosters.wrappers import booster_in, with_wrapper
from treeaudit.readers.json_text import parse_json
from treeaudit.readers.limits import LIMITS, Limits
from treeaudit.readers.open import Content
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.xgboost import binary, ubjson
from treeaudit.readers.xgboost.forest import to_forest

_JSON = re.compile(
    rb'\s*\{\s*(?:"(?:learner|Config|Model)"\s*:\s*\{|"version"\s*:\s*\[\s*\d+\s*,\s*\d+\s*,)'
)
_UBJSON = re.compile(
    rb"\{(?:[iU]|I\0|l\0{3}|L\0{7})(?:\x07(?:learner|version)|\x06Config|\x05Model)[\[{]"
)
_HEAD = 512


def matches(content: Content) -> bool:
    """Tell whether the content is an XGBoost model: JSON, UBJSON or the older binary form."""
    head = bytes(content.data[:_HEAD])
    if _JSON.match(head) is not None or is_ubjson(head):
        return True
    return binary.matches(head)


def is_ubjson(data: bytes | bytearray | memoryview) -> bool:
    """Tell whether a model begins as the UBJSON that XGBoost writes since 1.6."""
    return _UBJSON.match(data) is not None


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the forest that an XGBoost model file describes; see `treeaudit.readers.Reader`."""
    return _from_blob(memoryview(content.data), source, limits)


def from_inert(value: Inert, source: Source) -> Forest | None:
    """Return the XGBoost model that an object of a pickle is or wraps, None where it is none."""
    booster = booster_in(value, "xgboost", "XGB")
    if booster is None:
        return None
    handle = booster.get("handle")
    if not isinstance(handle, bytes | bytearray | memoryview):
        raise ReadError("the XGBoost Booster is damaged: it holds no model (handle)")
    forest = _from_blob(memoryview(handle), source, LIMITS)
    forest = with_wrapper(forest, value, "classes_", source)
    missing = value.get("missing")
    if not isinstance(missing, int | float) or missing != missing:
        return forest
    remark = f"the wrapper treats {missing!r} as missing: it follows the edge of missing values"
    return replace(forest, warnings=(*forest.warnings, remark))


def _from_blob(data: memoryview, source: Source, limits: Limits) -> Forest:
    head = bytes(data[:_HEAD])
    if head.startswith(b"bs64"):
        raise UnsupportedModelError(
            "the XGBoost model is in the oldest text form: load it with the XGBoost that wrote it "
            "and save it with save_model('model.json')"
        )
    with reading("the XGBoost model is damaged"):
        if is_ubjson(head):
            document, form = ubjson.parse(data, limits), "xgboost-ubjson"
        elif head.lstrip()[:1] == b"{":
            document, form = _json(data, limits), "xgboost-json"
        elif binary.matches(head):
            document, form = binary.document_of(data, limits), "xgboost-binary"
        else:
            raise ReadError("it is neither JSON nor UBJSON, nor XGBoost's older binary form")
        return to_forest(_models(document), replace(source, format=form))


def _json(data: memoryview, limits: Limits) -> object:
    advice = "; save the model as UBJSON with save_model('model.ubj')"
    most = limits.objects(len(data))
    document = parse_json(data, most, (100, 100, 36), advice=advice, infinite=True)
    text = bytes(data)
    # Old versions write truth values, new ones numbers; both at once could spell something.
    if (b"true" in text or b"false" in text) and any(map(_is_mixed, _lists(document))):
        raise ReadError("a list of it holds truth values and numbers")
    return document


def _lists(value: object) -> Iterator[list[object]]:
    if isinstance(value, dict):
        for part in value.values():
            yield from _lists(part)
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        for part in value:
            yield from _lists(part)
    elif isinstance(value, list):
        yield value


def _is_mixed(values: list[object]) -> bool:
    kinds = set(map(type, values))
    return bool in kinds and len(kinds) > 1


def _models(document: object) -> Mapping[str, object]:
    """Return the model, with the training configuration of a pickled Booster beside it."""
    if not isinstance(document, dict):
        raise ReadError("it is no object")
    if "Model" not in document:
        return document
    model = document["Model"]
    if not isinstance(model, dict):
        raise ReadError("its Model is no object")
    if not document.keys() <= {"Model", "Config"}:
        raise ReadError("it holds something beside its Model and its Config")
    return {**model, **{name: part for name, part in document.items() if name == "Config"}}
