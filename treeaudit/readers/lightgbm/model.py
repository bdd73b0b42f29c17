"""LightGBM models: text (`save_model`), JSON (`dump_model`), and inside a pickle."""

import re
from dataclasses import replace

from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.boosters.damage import reading
from treeaudit.readers.boosters.wrappers import booster_in, handle_name, with_wrapper
from treeaudit.readers.lightgbm.forest import to_forest
from treeaudit.readers.lightgbm.text import parse
from treeaudit.readers.limits import Limits
from treeaudit.readers.open import Content
from treeaudit.readers.pickle.inert import Inert

_TEXT = re.compile(rb"tree\r?\n(?:[^\n]*\n){0,2}(?:version|num_class)=")
_JSON = re.compile(rb'\s*\{\s*"(?:name"\s*:\s*"tree"\s*,|average_output"\s*:)')
_HEAD = 512
_DAMAGED = "the LightGBM model is damaged"


def matches(content: Content) -> bool:
    """Tell whether the content is a LightGBM model as text or JSON."""
    head = bytes(content.data[:_HEAD])
    return _TEXT.match(head) is not None or _JSON.match(head) is not None


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the forest that a LightGBM model file describes; see `treeaudit.readers.Reader`."""
    data = content.data
    with reading(_DAMAGED):
        if not _JSON.match(bytes(data[:_HEAD])):
            return to_forest(parse(data), replace(source, format="lightgbm-text"))
        from treeaudit.readers.json_text import parse_json
        from treeaudit.readers.lightgbm.dump import booster_of

        advice = "; save the model as text with booster.save_model('model.txt')"
        most = limits.objects(len(data))
        document = parse_json(data, most, (230, 230, 100), advice=advice, infinite=True)
        return to_forest(booster_of(document), replace(source, format="lightgbm-json"))


def from_inert(value: Inert, source: Source) -> Forest | None:
    """Return the LightGBM model that an object of a pickle is or wraps, None where it is none."""
    booster = booster_in(value, "lightgbm", "LGBM")
    if booster is None:
        return None
    text = booster.get(handle_name(booster))
    if not isinstance(text, str):
        raise ReadError("the LightGBM Booster is damaged: it holds no model text (handle)")
    with reading(_DAMAGED):
        forest = to_forest(parse(text.encode("utf-8", "backslashreplace")), source)
    return with_wrapper(forest, value, "_classes", source)
