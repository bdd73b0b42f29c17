"""CatBoost models in their JSON form."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from mmap import mmap
from typing import Any

import numpy as np

from treeaudit.arrays import Float
from treeaudit.errors import DataError, ReadError, UnsupportedModelError
from treeaudit.model.forest import CountsAre, Forest, LazyTrees
from treeaudit.model.schema import Label, Schema
from treeaudit.model.source import KINDS, Extra, Extras, Kind, Source
from treeaudit.model.tree import Tree
from treeaudit.model.words import number_of
from treeaudit.readers.catboost.columns import ColumnTable, nested
from treeaudit.readers.catboost.fields import unknown_in
from treeaudit.readers.catboost.trees import (
    StoredTree,
    first_counts,
    people_of,
    read_trees,
    reason_of,
)
from treeaudit.readers.json_text import parse_json
from treeaudit.readers.limits import Limits, clean
from treeaudit.readers.open import Content
from treeaudit.readers.residual.extra_content import few
from treeaudit.readers.sklearn.model_ref import labels_of

_BINARY = b"CBM1"
_DIGITS = 20
_MOST = 1 << 53
_MARKS = (b'"oblivious_trees"', b'"features_info"', b'"catboost_version_info"', b'"ctr_data"')
_ARRAYS = ("leaf_values", "leaf_weights", "borders")
_VERSION = re.compile(r"(?:tags/v|release )(\d+(?:\.\d+)+)")


def matches(content: Content) -> bool:
    """Tell whether the content is a CatBoost model, in JSON or binary."""
    head = bytes(content.data[:4096])
    if head.startswith(_BINARY):
        return True
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and any(mark in head for mark in _MARKS)


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the model that a CatBoost JSON file describes; see `treeaudit.readers.Reader`."""
    if select is not None:
        raise UnsupportedModelError(f"--select {clean(select)}: the file holds one CatBoost model")
    if bytes(content.data[:4]) == _BINARY:
        raise UnsupportedModelError(
            "a CatBoost model in binary form is not read: load it with CatBoost and write it with "
            "model.save_model('model.json', format='json')"
        )
    source = replace(source, format="catboost-json")
    try:
        return _forest(_parse(content.data, limits.objects(len(content.data))), source)
    except DataError as error:
        raise ReadError(f"the CatBoost model is damaged: {error}") from None


def _parse(text: bytes | mmap, most: int) -> dict[str, Any]:
    what = "the JSON of the CatBoost model"
    data = parse_json(text, most, (150, 150, 50), what=what, made=_compact)
    if not isinstance(data, dict):
        raise ReadError("the JSON file does not hold a CatBoost model")
    return data


def _compact(found: dict[str, Any]) -> dict[str, Any]:
    """Turn long lists into arrays as soon as they are read."""
    for name in _ARRAYS:
        if isinstance(found.get(name), list):
            found[name] = _array(name, found[name])
    if isinstance(found.get("hash_map"), list):
        if not all(map(_is_count, found["hash_map"])):
            raise ReadError("the CatBoost model is damaged: a table of statistics holds no numbers")
        found["hash_map"] = len(found["hash_map"])
    return found


def _is_count(one: object) -> bool:
    """Tell whether an entry is a number, which 64 bits hold; large ones are written as text."""
    if isinstance(one, str):
        return one.isascii() and one.isdecimal() and len(one) <= _DIGITS
    return isinstance(one, float) or (isinstance(one, int) and one.bit_length() <= 64)


def _array(name: str, stored: list[Any]) -> Float:
    if not stored:
        return np.zeros(0)
    # CatBoost takes nothing for a logical value, or for a whole number that no float is.
    whole = (one for one in stored if not isinstance(one, float))
    plain = {int, float}.issuperset(map(type, stored)) and max(map(abs, whole), default=0) <= _MOST
    array = np.array(stored, dtype=np.float64) if plain else np.array([np.nan])
    if not np.all(np.isfinite(array)):
        raise ReadError(f"the CatBoost model is damaged: {name} holds something else than numbers")
    return array


def _forest(data: dict[str, Any], source: Source) -> Forest:
    if not isinstance(data.get("features_info"), dict):
        raise ReadError("the CatBoost model is damaged: it does not describe its features")
    columns = ColumnTable(data["features_info"])
    stored = read_trees(data, columns)
    params = nested(data, "model_info", "params")
    classes = _classes(data)
    people = people_of(stored, params)
    told = [people.known and not tree.asks_statistics(columns) for tree in stored]
    first = first_counts(stored[0], params, classes) if told[0] else None
    warnings = []
    if columns.derived:
        many = number_of(len(columns.derived), "statistic", "statistics")
        warnings.append(
            f"the trees ask about {many} that CatBoost computes from categories and labels of the "
            "training rows, which cannot be undone and stand in columns of their own; in trees "
            "that ask, people were counted by what their statistic was at that moment of training, "
            "so leaf weights are not taken as people"
        )

    def build(i: int) -> Tree:
        return stored[i].build(columns, people=told[i], class_counts=None if i else first)

    counts_are: CountsAre = "absent" if first is None else "likely"
    return Forest(
        trees=LazyTrees(build, len(stored)),
        schema=Schema(features=columns.features, classes=classes, named=columns.named),
        counts_are=counts_are,
        counts_reason=reason_of(people, first),
        answers="sum",
        records_are="all" if any(told) else "unknown",
        n_records=people.total,
        single_precision=True,
        source=_source(data, params, source),
        warnings=tuple(warnings),
        extras=Extras(
            found=(
                *_first_round(stored[0], first),
                *_extras(data),
                *few(unknown_in(data, columns, len(stored))),
            ),
            looked_for=KINDS - _not_examined(classes),
        ),
    )


def _classes(data: Mapping[str, Any]) -> tuple[Label, ...] | None:
    stored = nested(data, "model_info", "class_params").get("class_names")
    if not isinstance(stored, list) or not stored:
        return None
    if (labels := labels_of(stored)) is None:
        raise ReadError("the CatBoost model is damaged: a class name is no label")
    return labels


def _source(data: Mapping[str, Any], params: Mapping[str, Any], source: Source) -> Source:
    info = nested(data, "model_info")
    version = _VERSION.search(str(info.get("catboost_version_info", ""))[:2000])
    loss = nested(params, "loss_function").get("type")
    plain = {
        clean(name): clean(value) if isinstance(value, str) else value
        for name, value in nested(params, "flat_params").items()
        if isinstance(value, bool | int | float | str)
    }
    return replace(
        source,
        estimator=f"CatBoost {clean(loss)[:60]}" if isinstance(loss, str) else "CatBoost",
        library="CatBoost",
        library_version=version.group(1) if version else None,
        parameters=plain,
    )


def _not_examined(classes: tuple[Label, ...] | None) -> frozenset[Kind]:
    """Return the kinds that nobody looks for: whether its seed repeats a draw, and others."""
    if classes is None:
        return frozenset({"seeds", "targets"})
    return frozenset({"seeds", "first-round-counts"} if len(classes) > 2 else {"seeds"})


def _first_round(tree: StoredTree, first: Float | None) -> list[Extra]:
    if first is None:
        return []
    held = first[first.sum(axis=1) > 0]
    pure = int(np.count_nonzero(held.min(axis=1) == 0))
    says = (
        "unless rows had weights, the leaf values of the first tree give the exact number of "
        f"people of each class in {len(held):,} of its {len(tree.leaf):,} leaves: {pure:,} hold "
        "one class alone"
    )
    where, n = "leaf values of the first tree", int(first.sum())
    return [Extra(kind="first-round-counts", where=where, n=n, says=says)]


def _extras(data: Mapping[str, Any]) -> Iterator[Extra]:
    info = nested(data, "features_info")
    says = "each border lies between two values of the column in the training data"
    for i, entry in enumerate(info.get("float_features") or []):
        borders, where = entry.get("borders"), f"features_info.float_features[{i}].borders"
        if isinstance(borders, np.ndarray) and len(borders):
            yield Extra(kind="column-values", where=where, n=len(borders), says=says)
    if hashes := info.get("cat_features_hash"):
        where = "features_info.cat_features_hash"
        says = "every category that occurs in the training data is named"
        yield Extra(kind="column-values", where=where, n=len(hashes), says=says)
    says = "for every category, how many training rows have it and each label"
    for name, table in nested(data, "ctr_data").items():
        stated = table if isinstance(table, dict) else {}
        size, stride = stated.get("hash_map"), stated.get("hash_stride")
        if isinstance(size, int) and isinstance(stride, int) and 0 < stride <= size:
            where, n = f"ctr_data[{clean(name)[:80]}]", size // stride
            yield Extra(kind="category-counts", where=where, n=n, says=says)
    scale = data.get("scale_and_bias")
    # True is 1 for us, and not for CatBoost.
    if isinstance(scale, list) and scale and (scale[0] != 1 or isinstance(scale[0], bool)):
        says = "what all answers are multiplied with, which the audit leaves out"
        yield Extra(kind="unseen", where="scale_and_bias", n=1, says=says)
