"""The text form of a LightGBM model, as `Booster.save_model` writes it."""

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise
from mmap import mmap

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.model.extras import Extra
from treeaudit.readers.boosters.damage import check_number, each_tree, whole
from treeaudit.readers.lightgbm.block import Block, joined_blocks
from treeaudit.readers.lightgbm.fields import PARAMETER, unknown_in_text, unread_lines
from treeaudit.readers.lightgbm.lines import (
    NAMES,
    fields_of,
    fields_of_tree,
    floats,
    integers,
    tree_of,
    words,
)
from treeaudit.readers.lightgbm.plain import in_parts, read_alike
from treeaudit.readers.lightgbm.tree import RawTree
from treeaudit.readers.limits import Most, clean
from treeaudit.readers.residual.extra_content import few
from treeaudit.readers.types import Wide

_BEGIN = b"Tree="
_TREE = re.compile(rb"Tree=\d+\r?$", re.MULTILINE)
_LINE = ord("\n")
_END = re.compile(rb"^end of trees\r?$", re.MULTILINE)


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
    unknown
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
    unknown: Sequence[Extra] = ()


def parse(data: bytes | mmap) -> Booster:
    """Return the model in the text; see `_parse`."""
    with warnings.catch_warnings():
        # What numpy only warns of is no number.
        warnings.simplefilter("error", DeprecationWarning)
        return _parse(data)


def _parse(data: bytes | mmap) -> Booster:
    """Return the model in the text."""
    places = [*islice(_begins(data), Most.trees + 1)]
    finish = _END.search(data, places[-1] if places else 0)
    end = finish.start() if finish else len(data)
    head = fields_of(data[: places[0] if places else end])
    sizes = head.get("tree_sizes")
    if (sizes is not None and len(words(sizes)) != len(places)) or (sizes and not finish):
        raise ReadError(f"it ends too early: it announces more than its {len(places):,} trees")
    check_number(len(places), "LightGBM")
    # A name may hold blanks but the one that stands between two.
    names = [clean(name) for name in head.get(NAMES, "").split(" ", Most.words) if name]
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
) -> tuple[Sequence[RawTree], list[Mapping[str, str]]]:
    """Return the trees, and the lines of each that nobody has read."""
    parts: list[Sequence[RawTree]] = []
    unread: list[Mapping[str, str]] = []

    def one_tree(text: bytes) -> RawTree:
        fields = fields_of_tree(text)
        tree = tree_of(fields)
        if lines := unread_lines(fields):
            unread.append(lines)
        return tree

    for part in in_parts(bounds):
        at = bounds[part.start : part.stop + 1]
        alike = read_alike(data[at[0] : at[-1]], part.start, len(at) - 1)
        if alike is None:
            sections = (data[begin:end] for begin, end in pairwise(at))
            parts.append(each_tree(sections, one_tree, part.start))
        else:
            parts.append(alike)
    blocks = [one for one in parts if isinstance(one, Block)]
    whole = joined_blocks(blocks) if len(blocks) == len(parts) else None
    return whole or [tree for one in parts for tree in one], unread


def _check_sizes(sizes: str | None, data: bytes | mmap, places: Sequence[int]) -> None:
    """Refuse sizes that lead LightGBM to other trees; it loads no file where they lead to none."""
    ends = accumulate(integers(sizes or "").tolist()[:-1], initial=places[0])
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
    for word in words(head["feature_infos"]):
        if word.startswith("[") and word.endswith("]"):
            low, _, high = word[1:-1].partition(":")
            found.append((_bound(low), _bound(high)))
        else:
            found.append(None if word == "none" else integers(word.replace(":", " ")))
    if len(found) != n_features:
        raise ReadError(f"it has feature_infos of {len(found)} of its {n_features} features")
    return found


def _bound(word: str) -> float:
    numbers = floats(word)
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
