"""The text form of a LightGBM model, as `Booster.save_model` writes it.

Some lines ``key=value``, then a section of such lines for every tree, then the parameters of
training. Everything that LightGBM would not write is refused, or listed as unknown.
"""

import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise
from mmap import mmap
from typing import Any, TypeVar

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import MalformedModelError, ModelTooLargeError, ReadError
from treeaudit.model.source import Extra
from treeaudit.readers.boosters import check_number, each_tree, whole
from treeaudit.readers.lightgbm.fields import PARAMETER, unknown_in_text, unread_lines
from treeaudit.readers.lightgbm.trees import Grown, RawTree
from treeaudit.readers.limits import Most, clean, show
from treeaudit.readers.residual.extra_content import few

_BEGIN = b"Tree="
_TREE = re.compile(rb"Tree=\d+\r?$", re.MULTILINE)
_LINE = ord("\n")
_END = re.compile(rb"^end of trees\r?$", re.MULTILINE)
_NAMES = "feature_names"
_LARGEST = 1 << 62

_Column = TypeVar("_Column", Wide, Float)

_WHOLE = (
    *("left_child", "right_child", "split_feature", "decision_type"),
    *("leaf_count", "internal_count"),
)
_REAL = (
    *("threshold", "leaf_value", "internal_value"),
    *("leaf_weight", "internal_weight", "split_gain", "shrinkage"),
)
_OF_A_TREE = frozenset(
    (
        *(*_WHOLE, *_REAL, "num_leaves", "num_cat", "cat_boundaries", "cat_threshold"),
        *("is_linear", "leaf_const", "num_features", "leaf_features", "leaf_coeff"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Booster:
    """One stored model."""

    version: str | None  # Of the text form, such as ``v4``
    objective: str  # The loss and its parameters, such as ``binary sigmoid:1``
    n_outputs: int  # Trees per round
    names: Sequence[str]  # Feature names
    # Per feature: its smallest and largest training value, its category codes, or None where it was
    # constant or unused
    infos: Sequence[tuple[float, float] | Wide | None]
    trees: Sequence[RawTree]  # The trees, not checked yet
    # Training parameters as text, or None where the file holds none
    parameters: Mapping[str, str] | None
    pandas: Sequence[Sequence[object]]  # Category names of the pandas columns, in their order
    averaged: bool  # Whether the prediction is a mean (random forest) and not a sum
    unknown: Sequence[Extra] = ()  # What else the file holds


def parse(data: bytes | mmap) -> Booster:
    """Return the model in the text."""
    with warnings.catch_warnings():
        # numpy only warns of text that is no number.
        warnings.simplefilter("error", DeprecationWarning)
        return _parse(data)


def _parse(data: bytes | mmap) -> Booster:
    """Return the model in the text."""
    places = [*islice(_begins(data), Most.trees + 1)]
    finish = _END.search(data, places[-1] if places else 0)
    end = finish.start() if finish else len(data)
    head = _fields_of(data[: places[0] if places else end])
    sizes = head.get("tree_sizes")
    if (sizes is not None and len(_words(sizes)) != len(places)) or (sizes and not finish):
        raise ReadError(f"it ends too early: it announces more than its {len(places):,} trees")
    check_number(len(places), "LightGBM")
    # A name may hold blanks but the one that stands between two.
    names = [clean(name) for name in head.get(_NAMES, "").split(" ", Most.words) if name]
    n_features = whole(head, "max_feature_idx", 0, Most.features) + 1
    if len(names) != n_features:
        raise ReadError(f"it has {len(names)} feature names for {n_features} features")
    bounds = [*places, end]
    trees, unread = _trees(data, bounds)
    _check_sizes(sizes, data, places)
    if len(data) - end > Most.rest:
        raise ModelTooLargeError(f"more than {Most.rest:,} bytes follow the trees")
    rest = bytes(data[end:]).decode("utf-8", "backslashreplace")
    return Booster(
        version=head.get("version"),
        objective=clean(head.get("objective", ""))[:200],
        n_outputs=_n_outputs(head),
        names=names,
        infos=_infos(head, n_features),
        trees=trees,
        parameters=_parameters(rest),
        pandas=_pandas(rest),
        averaged="average_output" in head,
        unknown=few(unknown_in_text(head, unread, rest, names)),
    )


def _begins(data: bytes | mmap) -> Iterator[int]:
    """Yield where lines are that begin a tree."""
    at = data.find(_BEGIN)
    while at >= 0:
        if (not at or data[at - 1] == _LINE) and _TREE.match(data, at):
            yield at
        at = data.find(_BEGIN, at + 1)


def _trees(
    data: bytes | mmap, bounds: Sequence[int]
) -> tuple[list[RawTree], list[Mapping[str, str]]]:
    """Return the trees, and the lines of each that nobody has read."""
    unread: list[Mapping[str, str]] = []

    def one_tree(text: bytes) -> RawTree:
        fields = _fields_of_tree(text)
        tree = _tree_of(fields)
        if lines := unread_lines(fields):
            unread.append(lines)
        return tree

    return each_tree((data[begin:end] for begin, end in pairwise(bounds)), one_tree), unread


def _check_sizes(sizes: str | None, data: bytes | mmap, places: Sequence[int]) -> None:
    """Refuse sizes that lead LightGBM to other trees; it loads no file where they lead to none."""
    ends = accumulate(_integers(sizes or "").tolist()[:-1], initial=places[0])
    found = [end for end in ends if end >= 0 and data[end : end + len(_BEGIN)] == _BEGIN]
    if len(found) == len(places) and found != [*places]:
        raise ReadError("its tree_sizes lead to other trees than those that it has")


def _n_outputs(head: dict[str, str]) -> int:
    n = whole(head, "num_tree_per_iteration", 1, Most.trees, head.get("num_class", "1"))
    inside = re.search(r"num_class:(\S*)", head.get("objective", ""))
    if {head.get("num_class", str(n)), inside[1] if inside else str(n)} != {str(n)}:
        raise ReadError(f"it does not have the number of classes of its {n} trees a round")
    return n


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


def _parameters(rest: str) -> dict[str, str] | None:
    start, stop = rest.find("\nparameters:"), rest.find("\nend of parameters")
    if start < 0 or not start < stop < start + Most.parameters:
        return None
    found: dict[str, str] = {}
    for line in rest[start:stop].split("\n"):
        if (match := PARAMETER.fullmatch(line.strip())) is not None:
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


def _fields_of_tree(text: bytes) -> dict[str, str]:
    """Return the lines ``key=value`` of a tree."""
    read, _, beyond = text.replace(b"\r\n", b"\n").strip(b"\n").partition(b"\n\n")
    fields, behind = _fields_of(read), _fields_of(beyond)
    if not fields.keys().isdisjoint(behind) or not _OF_A_TREE.isdisjoint(behind):
        raise ReadError("lines of it stand behind an empty one, where LightGBM stops reading")
    return {**fields, **behind}


def _fields_of(text: bytes) -> dict[str, str]:
    """Return the lines ``key=value`` of one section."""
    if text.count(b"\n") > Most.lines:
        raise ReadError("it has more lines than a LightGBM model")
    found: dict[str, str] = {}
    for line in text.decode("utf-8", "backslashreplace").split("\n"):
        key, _, value = line.partition("=")
        key = key.strip()
        if key in found:
            raise ReadError(f"it names {show(key)} twice")
        if not line.strip():
            continue
        # Names may begin or end with blanks of another kind.
        found[key] = value.removesuffix("\r") if key == _NAMES else value.strip()
    return found


def _words(text: str) -> list[str]:
    """Return the words of a line."""
    found = text.split(None, Most.words)
    if len(found) > Most.words:
        raise ModelTooLargeError(f"a line holds more than {Most.words:,} words")
    return found


def _integers(text: str) -> Wide:
    """Return the whole numbers of a line."""
    found: Wide = _numbers(text, np.int64)
    # numpy makes the largest number there is of those beyond 64 bits.
    if len(found) and not -_LARGEST < found.min() <= found.max() < _LARGEST:
        raise ReadError("a whole number is damaged")
    return found


def _floats(text: str) -> Float:
    """Return the numbers of a line."""
    found: Float = _numbers(text, np.float64)
    return found


def _numbers(text: str, kind: type[np.generic]) -> Any:  # noqa: ANN401  # an array of this kind
    if text.count(" ") >= Most.words:
        raise ModelTooLargeError(f"a line holds more than {Most.words:,} words")
    try:
        return np.fromstring(text, kind, sep=" ") if text else np.empty(0, kind)
    except (ValueError, DeprecationWarning):
        what = "a whole number" if kind is np.int64 else "a number"
        raise ReadError(f"{what} is damaged") from None


def _tree_of(fields: Mapping[str, str]) -> RawTree:
    """Return the tree that some lines tell of."""
    order = list(fields)
    behind = order[order.index("shrinkage") + 1 :] if "shrinkage" in fields else []
    if not {*_WHOLE, *_REAL, "cat_boundaries", "cat_threshold"}.isdisjoint(behind):
        # LightGBM stops after as many lines as it writes.
        raise ReadError("lines of a tree stand behind shrinkage, its last")
    n_leaves = whole(fields, "num_leaves", 1, Most.words)
    n_inner = n_leaves - 1

    def wholes(name: str) -> Wide:
        return _integers(fields.get(name, ""))

    def reals(name: str) -> Float:
        return _floats(fields.get(name, ""))

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
        inner_value=_optional_values("internal_value", reals, n_inner),
        leaf_count=_optional("leaf_count", wholes, n_leaves),
        inner_count=_optional("internal_count", wholes, n_inner),
        linear=fields.get("is_linear", "0") != "0",
        grown=_grown(fields, reals, n_inner),
    )


def _grown(fields: Mapping[str, str], reals: Callable[[str], Float], n: int) -> Grown | None:
    sizes = {"leaf_weight": n + 1, "internal_weight": n, "split_gain": n, "shrinkage": 1}
    leaf, inner, _, shrinkage = (_optional(name, reals, sizes[name]) for name in sizes)
    if not all(map(fields.get, sizes)) or leaf is None or inner is None or shrinkage is None:
        return None
    return Grown(leaf_weight=leaf, inner_weight=inner, shrinkage=float(shrinkage[0]))


def _sized(name: str, column: _Column, n: int) -> _Column:
    if len(column) != n:
        raise ReadError(f"its {name} has {len(column):,} entries instead of {n:,}")
    return column


def _optional(name: str, read: Callable[[str], _Column], n: int) -> _Column | None:
    column = read(name)
    return _sized(name, column, n) if len(column) or n == 0 else None


def _optional_values(name: str, reals: Callable[[str], Float], n: int) -> Float | None:
    column = _optional(name, reals, n)
    return column if column is not None and bool(np.all(np.isfinite(column))) else None


def _categories(fields: Mapping[str, str], categorical: Flag, threshold: Float) -> dict[int, Wide]:
    """Return the codes that go left, by node: bit sets of 32-bit words."""
    nodes = np.flatnonzero(categorical)
    if not len(nodes):
        return {}
    bounds = _integers(fields.get("cat_boundaries", ""))
    words = _integers(fields.get("cat_threshold", ""))
    if len(bounds) < 2 or np.any(np.diff(bounds) < 0) or bounds[0] < 0 or bounds[-1] > len(words):
        raise MalformedModelError("the category sets lie outside their list")
    if np.any((words < 0) | (words >= 1 << 32)):
        raise ReadError("a category set is no 32-bit number")
    bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
    found = {}
    for node in nodes.tolist():
        place = threshold[node]
        if not (0 <= place < len(bounds) - 1 and place == int(place)):
            raise MalformedModelError(f"node {node} splits by categories that are missing")
        first, last = int(bounds[int(place)]), int(bounds[int(place) + 1])
        found[node] = np.flatnonzero(bits[32 * first : 32 * last])
    return found
