"""The version-free JSON form of a model: what `treeaudit.save` writes.

One object: ``format`` (always ``treeaudit-model``), ``version`` (1), ``schema``,
``counts_are``, ``counts_reason``, ``records_are``, ``n_records``,
``single_precision``, ``privacy``, ``source`` and ``trees``. A tree is one list
per array of `treeaudit.Tree`; an open bound is null; ``categories`` holds, per
node, null or the list of codes that lead into it.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from treeaudit.errors import DataError, ReadError
from treeaudit.readers.inert import LIMITS, Limits
from treeaudit.readers.unpack import Content
from treeaudit.schema import Feature, Schema
from treeaudit.tree import CategorySets, CountsAre, Forest, RecordsAre, Source, Tree

__all__ = ["FORMAT", "VERSION", "matches", "read"]

FORMAT = "treeaudit-model"
VERSION = 1


def matches(content: Content) -> bool:
    """Tell whether the content is JSON in our own form."""
    head = bytes(content.data[:256])
    return head.lstrip()[:1] == b"{" and f'"{FORMAT}"'.encode() in head


def read(
    content: Content, source: Source, select: str | None = None, limits: Limits = LIMITS
) -> Forest:
    """Return the model that a JSON file describes.

    Raises
    ------
    ReadError
        If the file is damaged or of a version that is not known.
    """
    del select, limits
    try:
        data = json.loads(bytes(content.data))
    except (ValueError, RecursionError):
        raise ReadError("the JSON is damaged") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ReadError("the JSON file does not hold treeaudit's form of a model")
    if data.get("version") != VERSION:
        raise ReadError(f"the model has JSON form {data.get('version')!r}; this treeaudit reads 1")
    try:
        return _forest(data, replace(source, format="treeaudit-json"))
    except (
        DataError,
        KeyError,
        TypeError,
        ValueError,
        OverflowError,
        AttributeError,
    ) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ReadError(f"the JSON model is damaged: {reason}") from None


def _forest(data: Mapping[str, Any], source: Source) -> Forest:
    schema = _schema(data["schema"])
    trees = tuple(_tree(tree, schema) for tree in data["trees"])
    if not trees:
        raise ReadError("the JSON model has no trees")
    counts_are, records_are = data["counts_are"], data["records_are"]
    if counts_are not in get_args(CountsAre) or records_are not in get_args(RecordsAre):
        raise ReadError("the JSON model does not say what its counts are")
    stated = data.get("source") or {}
    n_records = data.get("n_records")
    return Forest(
        trees=trees,
        schema=schema,
        counts_are=counts_are,
        counts_reason=str(data.get("counts_reason", "")),
        records_are=records_are,
        n_records=None if n_records is None else int(n_records),
        single_precision=bool(data.get("single_precision", False)),
        privacy=data.get("privacy"),
        source=replace(
            source,
            estimator=str(stated.get("estimator", "Tree")),
            library_version=stated.get("library_version"),
            parameters=dict(stated.get("parameters", {})),
        ),
    )


def _schema(data: Mapping[str, Any]) -> Schema:
    features = []
    for entry in data["features"]:
        categories = entry.get("categories")
        features.append(
            Feature(
                name=str(entry["name"]),
                categories=None if categories is None else tuple(str(c) for c in categories),
            )
        )
    classes = data.get("classes")
    if classes is not None and not all(isinstance(c, str | int | float | bool) for c in classes):
        raise ReadError("the JSON model has classes that are no labels")
    return Schema(
        features=tuple(features),
        classes=None if classes is None else tuple(classes),
        target=str(data.get("target", "label")),
        named=bool(data.get("named", True)),
    )


def _tree(data: Mapping[str, Any], schema: Schema) -> Tree:
    tree = Tree(
        parent=_integers(data["parent"]),
        feature=_integers(data["feature"]),
        low=_bounds(data["low"], -math.inf),
        high=_bounds(data["high"], math.inf),
        categories=_categories(data.get("categories")),
        missing=data.get("missing"),
        n_records=_integers(data.get("n_records")),
        counts=data.get("counts"),
        label=_integers(data.get("label")),
        value=data.get("value"),
    )
    width = 0 if schema.classes is None else len(schema.classes)
    if tree.counts is not None and (tree.counts.ndim != 2 or tree.counts.shape[1] != width):
        raise ReadError(f"the JSON model has counts that do not fit its {width} classes")
    if np.any(tree.feature >= len(schema.features)):
        raise ReadError("the JSON model tests a feature that does not exist")
    return tree


def _integers(values: list[int] | None) -> Any:  # noqa: ANN401  # None where absent
    if values is None:
        return None
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu" or np.any(np.abs(array) >= 1 << 53):
        raise ReadError("the JSON model is damaged: whole numbers expected")
    return array


def _bounds(values: list[float | None], when_open: float) -> npt.NDArray[np.float64]:
    return np.asarray([when_open if v is None else float(v) for v in values], dtype=np.float64)


def _categories(values: list[list[int] | None] | None) -> CategorySets | None:
    if values is None:
        return None
    sizes = [0 if codes is None else len(codes) for codes in values]
    flat = [int(code) for codes in values if codes for code in codes]
    start = np.concatenate([[0], np.cumsum(sizes)])
    return CategorySets(start=start, codes=np.asarray(flat, dtype=np.int32))
