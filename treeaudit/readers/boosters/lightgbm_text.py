"""The text form of a LightGBM model, as `Booster.save_model` writes it."""

import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, islice, pairwise
from mmap import mmap
from typing import Any, TypeVar

import numpy as np

from treeaudit.dataclass import dataclass
from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.model.leftovers import Leftover
from treeaudit.readers.boosters.damage import check_number, each_tree, whole
from treeaudit.readers.boosters.lightgbm_beside import in_lightgbm_text
from treeaudit.readers.boosters.lightgbm_tree import (
    Flag,
    Float,
    Grown,
    RawTree,
    Wide,
    may_have_categories,
)
from treeaudit.readers.leftovers.unexplained import few
from treeaudit.readers.limits import Most, clean

__all__ = ["Booster", "parse"]

_Column = TypeVar("_Column", Wide, Float)

_TREE = re.compile(rb"Tree=\d+\r?$", re.MULTILINE)
_WHOLE = (
    *("left_child", "right_child", "split_feature", "decision_type"),
    *("leaf_count", "internal_count"),
)
_REAL = (
    *("threshold", "leaf_value", "internal_value"),
    *("leaf_weight", "internal_weight", "split_gain", "shrinkage"),
)
_LEAST = -(1 << 62)
_LINE = ord("\n")
_END = re.compile(rb"^end of trees\r?$", re.MULTILINE)
_PARAMETER = re.compile(r"\[([a-z_0-9]{1,60}): ([^\]]{0,2000})\]")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Booster:
    """One stored model.

    Attributes
    ----------
    version
        Of the text form, such as ``v4``.
    objective
        The loss and its parameters, such as ``binary sigmoid:1``.
    n_outputs
        Trees per round.
    names
        Feature names.
    infos
        Per feature: its smallest and largest training value, its category
        codes, or None where it was constant or unused.
    trees
        The trees, not checked yet.
    parameters
        Training parameters as text, or None where the file holds none.
    pandas
        Category names of the pandas columns, in their order.
    averaged
        Whether the prediction is a mean (random forest) and not a sum.
    unseen
        What else the file holds.
    """

    version: str | None
    objective: str
    n_outputs: int
    names: Sequence[str]
    infos: Sequence[tuple[float, float] | Wide | None]
    trees: Sequence[RawTree]
    parameters: Mapping[str, str] | None
    pandas: Sequence[Sequence[object]]
    averaged: bool
    unseen: Sequence[Leftover] = ()


def parse(data: bytes | mmap) -> Booster:
    """Return the model in the text; see `_parse`."""
    with warnings.catch_warnings():
        # What numpy only warns of is no number.
        warnings.simplefilter("error", DeprecationWarning)
        return _parse(data)


def _parse(data: bytes | mmap) -> Booster:
    """Return the model in the text.

    Raises
    ------
    UnsupportedModelError
        If it has no trees.
    ReadError
        If it is damaged.
    """
    found = (match.start() for match in _TREE.finditer(data))
    places = [*islice((at for at in found if not at or data[at - 1] == _LINE), Most.trees + 1)]
    finish = _END.search(data, places[-1] if places else 0)
    end = finish.start() if finish else len(data)
    head = _fields(data[: places[0] if places else end])
    sizes = head.get("tree_sizes")
    if (sizes is not None and len(_words(sizes)) != len(places)) or (sizes and not finish):
        raise ReadError(f"it ends too early: it announces more than its {len(places):,} trees")
    check_number(len(places), "LightGBM")
    names = [clean(name) for name in _words(head.get("feature_names", ""))]
    n_features = whole(head, "max_feature_idx", 0, Most.features) + 1
    if len(names) != n_features:
        raise ReadError(f"it has {len(names)} feature names for {n_features} features")
    sections = zip(places, [*places[1:], end], strict=True)
    trees = each_tree(sections, lambda section: _tree(_fields(data[slice(*section)])))
    if len(data) - end > Most.rest:
        raise ModelTooLargeError(f"more than {Most.rest:,} bytes follow the trees")
    rest = bytes(data[end:]).decode("utf-8", "backslashreplace")
    infos, parameters = _infos(head, n_features), _parameters(rest)
    sets = may_have_categories(infos, trees, parameters)
    return Booster(
        version=head.get("version"),
        objective=clean(head.get("objective", ""))[:200],
        n_outputs=_n_outputs(head),
        names=names,
        infos=infos,
        trees=trees,
        parameters=parameters,
        pandas=_pandas(rest),
        averaged="average_output" in head,
        unseen=few(in_lightgbm_text(data, places, end, names, sets, trees)),
    )


def _n_outputs(head: dict[str, str]) -> int:
    n = whole(head, "num_tree_per_iteration", 1, Most.trees, head.get("num_class", "1"))
    inside = re.search(r"num_class:(\S*)", head.get("objective", ""))
    if {head.get("num_class", str(n)), inside[1] if inside else str(n)} != {str(n)}:
        raise ReadError(f"it does not have the number of classes of its {n} trees a round")
    return n


def _fields(text: bytes) -> dict[str, str]:
    """Return the lines ``key=value`` of one section."""
    if text.count(b"\n") > Most.lines:
        raise ReadError("it has more lines than a LightGBM model")
    found = {}
    for line in text.decode("utf-8", "backslashreplace").split("\n"):
        key, _, value = line.partition("=")
        found[key.strip()] = value.strip()
    return found


def _infos(head: Mapping[str, str], n_features: int) -> list[tuple[float, float] | Wide | None]:
    """Read what the file says of the values of each column."""
    if "feature_infos" not in head:
        return [None] * n_features
    found: list[tuple[float, float] | Wide | None] = []
    for word in _words(head["feature_infos"]):
        if word.startswith("[") and word.endswith("]"):
            low, _, high = word[1:-1].partition(":")
            found.append((_bound(low), _bound(high)))
        else:
            found.append(None if word == "none" else _integers(word.replace(":", " ")))
    if len(found) != n_features:
        raise ReadError(f"it has feature_infos of {len(found)} of its {n_features} features")
    return found


def _bound(word: str) -> float:
    numbers = _floats(word)
    if len(numbers) != 1:
        raise ReadError("its feature_infos are damaged")
    return float(numbers[0])


def _words(text: str) -> list[str]:
    words = text.split(None, Most.words)
    if len(words) > Most.words:
        raise ModelTooLargeError(f"a line holds more than {Most.words:,} words")
    return words


def _integers(text: str) -> Wide:
    found: Wide | None = _plain(text, np.int64)
    if found is not None:
        return found
    try:
        return np.asarray([int(word) for word in _words(text)], dtype=np.int64)
    except (ValueError, OverflowError):
        raise ReadError("a whole number is damaged") from None


def _floats(text: str) -> Float:
    found: Float | None = _plain(text, np.float64)
    if found is not None:
        return found
    try:
        return np.asarray([float(word) for word in _words(text)], dtype=np.float64)
    except ValueError:
        raise ReadError("a number is damaged") from None


def _plain(text: str, kind: type) -> Any:  # noqa: ANN401  # an array of a kind
    """Return the numbers of a line with one blank between them; None where it is not so."""
    n = text.count(" ") + 1
    if not text or n > Most.words:
        return None
    try:
        found: Any = np.fromstring(text, dtype=kind, sep=" ")
    except (ValueError, DeprecationWarning):
        return None
    # Numbers beyond 64 bits become the largest there is.
    if kind is np.int64 and len(found) and not _LEAST < found.min() <= found.max() < -_LEAST:
        return None
    return found if len(found) == n else None


def _columns(
    fields: Mapping[str, str], names: Sequence[str], kind: type, read: Callable[[str], _Column]
) -> Callable[[str], _Column]:
    """Return what reads a column of a tree: all in one go where single blanks stand between."""
    told = {name: fields[name] for name in names if fields.get(name)}
    text, found = " ".join(told.values()), None
    # So each run between two blanks has a number, and as many numbers as runs are one each.
    if "  " not in text and text.isprintable():
        found = _plain(text, kind)
    if found is None:
        return lambda name: read(fields.get(name, ""))
    ends = accumulate((part.count(" ") + 1 for part in told.values()), initial=0)
    columns = {name: found[b:e] for name, (b, e) in zip(told, pairwise(ends), strict=True)}
    return lambda name: columns.get(name, found[:0])


def _tree(fields: Mapping[str, str]) -> RawTree:
    order = list(fields)
    behind = order[order.index("shrinkage") + 1 :] if "shrinkage" in fields else []
    if not {*_WHOLE, *_REAL, "cat_boundaries", "cat_threshold"}.isdisjoint(behind):
        # LightGBM stops after as many lines as it writes.
        raise ReadError("lines of a tree stand behind shrinkage, its last")
    n_leaves = whole(fields, "num_leaves", 1, Most.words)
    n_inner = n_leaves - 1
    wholes: Callable[[str], Wide] = _columns(fields, _WHOLE, np.int64, _integers)
    reals: Callable[[str], Float] = _columns(fields, _REAL, np.float64, _floats)

    def column(name: str) -> Wide:
        return _sized(name, wholes(name), n_inner)

    decision = column("decision_type") if "decision_type" in fields else np.zeros(n_inner, np.int64)
    if np.any(decision & ~0xF):
        raise ReadError("a split has a decision type that does not exist")
    categorical = (decision & 1) != 0
    threshold = _sized("threshold", reals("threshold"), n_inner)
    return RawTree(
        left=column("left_child"),
        right=column("right_child"),
        feature=column("split_feature"),
        threshold=threshold,
        categorical=categorical,
        default_left=(decision & 2) != 0,
        missing_type=(decision >> 2) & 3,
        categories=_categories(fields, categorical, threshold),
        leaf_value=_sized("leaf_value", reals("leaf_value"), n_leaves),
        inner_value=_optional_values(reals("internal_value"), n_inner),
        leaf_count=_optional("leaf_count", wholes, n_leaves),
        inner_count=_optional("internal_count", wholes, n_inner),
        linear=fields.get("is_linear", "0") != "0",
        gain=_optional_values(reals("split_gain"), n_inner),
        grown=_grown(fields, reals, n_inner),
    )


def _grown(fields: Mapping[str, str], reals: Callable[[str], Float], n: int) -> Grown | None:
    names = ("leaf_weight", "internal_weight", "split_gain", "shrinkage")
    if not all(map(fields.get, names)):
        return None
    leaf, inner, gain, shrinkage = map(reals, names)
    if not (len(leaf) - 1 == len(inner) == len(gain) == n and len(shrinkage) == 1):
        return None
    return Grown(leaf_weight=leaf, inner_weight=inner, gain=gain, shrinkage=float(shrinkage[0]))


def _sized(name: str, column: _Column, n: int) -> _Column:
    if len(column) != n:
        raise ReadError(f"its {name} has {len(column):,} entries instead of {n:,}")
    return column


def _optional(name: str, wholes: Callable[[str], Wide], n: int) -> Wide | None:
    column = wholes(name)
    return _sized(name, column, n) if len(column) or n == 0 else None


def _optional_values(column: Float, n: int) -> Float | None:
    return column if len(column) == n and bool(np.all(np.isfinite(column))) else None


def _categories(fields: Mapping[str, str], categorical: Flag, threshold: Float) -> dict[int, Wide]:
    """Return the codes that go left, by node: bit sets of 32-bit words."""
    nodes = np.flatnonzero(categorical)
    if not len(nodes):
        return {}
    bounds = _integers(fields.get("cat_boundaries", ""))
    words = _integers(fields.get("cat_threshold", ""))
    if len(bounds) < 2 or np.any(np.diff(bounds) < 0) or bounds[0] < 0 or bounds[-1] > len(words):
        raise ReadError("the category sets lie outside their list")
    if np.any((words < 0) | (words >= 1 << 32)):
        raise ReadError("a category set is no 32-bit number")
    bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
    found = {}
    for node in nodes.tolist():
        place = threshold[node]
        if not (0 <= place < len(bounds) - 1 and place == int(place)):
            raise ReadError(f"node {node} splits by categories that are missing")
        first, last = int(bounds[int(place)]), int(bounds[int(place) + 1])
        found[node] = np.flatnonzero(bits[32 * first : 32 * last])
    return found


def _parameters(rest: str) -> dict[str, str] | None:
    start, stop = rest.find("\nparameters:"), rest.find("\nend of parameters")
    if start < 0 or not start < stop < start + Most.parameters:
        return None
    found: dict[str, str] = {}
    for line in rest[start:stop].split("\n"):
        if (match := _PARAMETER.fullmatch(line.strip())) is not None:
            found[match[1]] = clean(match[2])
    return found


def _pandas(rest: str) -> list[list[object]]:
    """Return the categories of pandas columns; nothing where the line is no list of lists."""
    place = rest.rfind("\npandas_categorical:")
    if place < 0:
        return []
    line = rest[place + len("\npandas_categorical:") :].split("\n")[0]
    if len(line) > Most.category_text:
        return []
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) and all(isinstance(c, list) for c in found) else []
