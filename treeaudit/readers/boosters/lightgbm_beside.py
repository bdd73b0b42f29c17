"""What a LightGBM model holds beside its trees, as text and as JSON.

Every line of the text is known by its name, says one thing once, and has as many
numbers as the tree has nodes, leaves or categories.
"""

import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import pairwise
from mmap import mmap

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.boosters.lightgbm_block import Block
from treeaudit.readers.boosters.lightgbm_names import OBJECTIVE, is_parameter
from treeaudit.readers.boosters.lightgbm_tree import RawTree
from treeaudit.readers.leftovers.booster_parts import NUMBER, is_name, setting
from treeaudit.readers.leftovers.extra import extra, name_in_path
from treeaudit.readers.leftovers.json_spelling import spelling
from treeaudit.readers.leftovers.spelled_numbers import odd_numbers

__all__ = ["PLAIN", "VERSION", "are_categories", "in_lightgbm_text", "is_importance", "splits_of"]

_LONGEST_NUMBER = 25
_BLANK_LINES = 4
_DIGITS = b"0123456789+-.einfa"
_SHAPE = bytes.maketrans(_DIGITS, b"0" * len(_DIGITS))
_PARAMETER = re.compile(r"\[([a-z_0-9]{1,60}): (.*)\]")
_INNER = frozenset(
    (
        b"split_feature split_gain threshold decision_type left_child right_child internal_value "
        b"internal_weight internal_count"
    ).split()
)
_LEAVES = frozenset(b"leaf_value leaf_weight leaf_count leaf_const num_features".split())
_LOOSE = frozenset((b"leaf_features", b"leaf_coeff"))
_LINEAR = _LOOSE | {b"leaf_const", b"num_features"}
_ONE = frozenset(b"Tree num_leaves num_cat is_linear shrinkage".split())
_RANGE = re.compile(rf"\[({NUMBER}):({NUMBER})\]")
_CODE = re.compile(r"-?[0-9]{1,10}")
_WHOLE = re.compile(r"-?[0-9]{1,9}")
VERSION = re.compile(r"v[0-9]{1,3}")
PLAIN = frozenset({int, float, bool})


def in_lightgbm_text(
    data: bytes | mmap,
    places: Sequence[int],
    end: int,
    names: Sequence[str],
    categorical: int,
    trees: Sequence[RawTree],
    left: Sequence[int],
) -> Iterator[Leftover]:
    """Yield what the text of a LightGBM model holds beside its trees.

    Parameters
    ----------
    data
        The whole text.
    places
        Where its trees begin.
    end
        Where they end.
    names
        Of its columns.
    categorical
        How many of them may have lists of categories.
    trees
        Its trees, as they were read.
    left
        Those of which not every sign was accounted for when they were read.
    """
    sizes = yield from _head(data[: places[0]], len(names))
    bounds = [*places, end]
    if left:
        yield from _numbers(data[places[0] : end])
    for i in left:
        yield from _section(i, data[places[i] : bounds[i + 1]], trees[i])
    found = [after - before for before, after in pairwise(bounds)]
    if sizes and sizes != found:
        yield extra("tree_sizes", [a for a, b in zip(sizes, found, strict=False) if a != b])
    rest = bytes(data[end:]).decode("utf-8", "backslashreplace")
    yield from _rest(rest.split("\n"), names, categorical, splits_of(trees, names))


def _numbers(text: bytes) -> Iterator[Leftover]:
    """Yield what is odd about the numbers in the text of the trees."""
    if n := odd_numbers(text, json=False):
        yield extra("the form of the numbers of the trees", b"0" * n)
    shape = text.translate(_SHAPE)
    if b"0" * (_LONGEST_NUMBER + 2) in shape:
        runs = re.findall(rb"0{%d,}" % (_LONGEST_NUMBER + 2), shape)
        yield extra("numbers of the trees", b"0" * sum(map(len, runs)))


def _head(text: bytes, n_columns: int) -> Generator[Leftover, None, list[int]]:
    """Yield what the lines before the trees say; return the sizes of the trees."""
    whole = _WHOLE.fullmatch
    known: dict[str, Callable[[str], object]] = {
        "tree": lambda value: not value,
        "average_output": lambda value: not value,
        "version": VERSION.fullmatch,
        **dict.fromkeys(
            "num_class num_tree_per_iteration label_index max_feature_idx".split(), whole
        ),
        "objective": OBJECTIVE.fullmatch,
        "feature_names": lambda value: all(map(is_name, value.split(" "))),
        "feature_infos": lambda value: _are_infos(value),
        "monotone_constraints": lambda value: (
            len(value.split(" ")) == n_columns and {"-1", "0", "1"}.issuperset(value.split(" "))
        ),
        "tree_sizes": lambda value: not value or all(map(whole, value.split(" "))),
    }
    seen: set[str] = set()
    sizes: list[int] = []
    blank = 0
    for line in text.decode("utf-8", "backslashreplace").split("\n"):
        line = line.removesuffix("\r")
        name, equals, value = line.partition("=")
        if not line and blank < _BLANK_LINES:
            blank += 1
        elif name not in known or name in seen or not known[name](value):
            yield extra(f"the head: {name_in_path(name)}", line if name not in known else value)
        elif bool(equals) == (name in ("tree", "average_output")):
            yield extra(f"the head: {name}", line)
        elif name == "tree_sizes":
            sizes = [int(word) for word in value.split()]
        seen.add(name)
    return sizes


def _are_infos(value: str) -> bool:
    """Tell whether a line has a range of numbers or a list of categories for each column."""
    if odd_numbers(re.sub(r"[\[\]:]", " ", f" {value}").encode("utf-8", "replace"), json=False):
        return False
    return all(map(_is_info, value.split(" ")))


def _is_info(word: str) -> bool:
    if match := _RANGE.fullmatch(word):
        return float(match[1]) <= float(match[2])
    if word == "none":
        return True
    codes = word.split(":")
    return all(map(_CODE.fullmatch, codes)) and len(set(codes)) == len(codes)


def _section(number: int, text: bytes, tree: RawTree) -> Iterator[Leftover]:
    """Yield the lines of a tree that do not fit it."""
    where = f"Tree={number}"
    fields: dict[bytes, bytes] = {}
    blank = 0
    for line in text.split(b"\n"):
        name, equals, value = line.removesuffix(b"\r").partition(b"=")
        if not name and not equals and blank < _BLANK_LINES:
            blank += 1
        elif not equals or name in fields:
            yield extra(where, line)
        else:
            fields[name] = value
    n_leaves, n_sets = (_count(fields.get(name, b"0")) for name in (b"num_leaves", b"num_cat"))
    loose = [*map(_count, fields.get(b"num_features", b"").split())]
    # Columns of a leaf stand on its way.
    n_loose = sum(loose) if max(loose, default=0) < n_leaves else -1
    asked = sorted(tree.threshold[tree.categorical].tolist()) if tree.categories else []
    if asked != list(range(len(asked))) or fields.get(b"num_cat", b"0") != b"%d" % len(asked):
        sets = [fields[name] for name in (b"num_cat", b"cat_threshold") if name in fields]
        yield extra(f"{where}: sets that no question asks for", sets)
    for name, value in fields.items():
        if name in _LINEAR and not tree.linear:
            n = 0
        elif name in _INNER:
            n = n_leaves - 1
        elif name in _LEAVES:
            n = n_leaves
        elif name in _ONE:
            n = 1
            if (name == b"Tree" and value != b"%d" % number) or (
                name == b"is_linear" and value not in (b"0", b"1")
            ):
                yield extra(f"{where}: {name.decode()}", value)
        elif name == b"cat_boundaries":
            n = n_sets + 1
        elif name == b"cat_threshold":
            n = _count((fields.get(b"cat_boundaries", b"").split() or [b"0"])[-1])
        elif name in _LOOSE:
            # The numbers of a leaf stand apart from those of the next by one more blank.
            n, value = (
                n_loose,
                b" ".join(value.split()) if len(value) < 30 * (n_loose + n_leaves) else value,
            )
        else:
            yield extra(f"{where}: {name_in_path(name.decode('latin-1'))}", value, name)
            continue
        found = value.count(b" ") + 1 if value else 0
        if found not in (0, n) or b"  " in value or value.translate(None, _DIGITS + b" "):
            yield extra(f"{where}: {name.decode()}", value)


def _count(word: bytes) -> int:
    return int(word) if word.isdigit() and len(word) < 10 else 0


def splits_of(trees: Sequence[RawTree], names: Sequence[str]) -> dict[str, tuple[int, float]]:
    """Return how many splits test each column, and what they gained, as importances say."""
    if isinstance(trees, Block):
        feature, gain = trees.all("split_feature"), trees.all("split_gain")
        gain = np.ones(len(feature)) if gain is None else gain
    else:
        feature = np.concatenate([tree.feature for tree in trees])
        gain = np.concatenate(
            [np.ones(len(tree.feature)) if tree.gain is None else tree.gain for tree in trees]
        )
    known = (feature >= 0) & (feature < len(names))
    feature, gain = feature[known], gain[known]
    n = np.bincount(feature[gain > 0], minlength=len(names)).tolist()
    total = np.bincount(feature, gain, minlength=len(names)).tolist()
    return dict(zip(names, zip(n, total, strict=True), strict=True))


def is_importance(value: object, told: tuple[int, float]) -> bool:
    """Tell whether a number is how often a column was tested, or what that gained.

    Gains are written with six digits.
    """
    number, (n, gain) = float(str(value)) if setting(value) else -1.0, told
    return number == n or abs(number - gain) <= 1 + 1e-5 * gain


def _rest(
    lines: list[str],
    names: Sequence[str],
    categorical: int,
    splits: Mapping[str, tuple[int, float]],
) -> Iterator[Leftover]:
    """Yield the lines behind the trees that nothing explains."""
    part, blank = "", 0
    seen: set[str] = set()
    for i, line in enumerate(lines):
        line = line.removesuffix("\r")
        if not line and blank < 2 * _BLANK_LINES:
            blank += 1
            continue
        known = False
        if line in ("end of trees", "feature_importances:", "feature importances:", "parameters:"):
            part, known = line[:11], i == 0 or line not in seen
        elif line == "end of parameters":
            part, known = "", line not in seen
        elif line.startswith("pandas_categorical:"):
            name, _, value = line.partition(":")
            known = name not in seen and _are_lists(value, categorical)
            line = name
        elif part == "feature_imp" or part == "feature imp":
            name, _, value = line.rpartition("=")
            known = name not in seen and is_importance(value, splits.get(name, (-1, -9)))
            line = name
        elif part == "parameters:" and (match := _PARAMETER.fullmatch(line)):
            line = match[1]
            known = line not in seen and is_parameter(line, match[2], len(names))
        if not known:
            yield extra("behind the trees", lines[i])
        seen.add(line)


def _are_lists(text: str, most: int) -> bool:
    """Tell whether a line holds lists of names, one for each column that has categories."""
    if next(spelling(text.encode("utf-8", "backslashreplace")), None) is not None:
        return False
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return are_categories(found, most)


def are_categories(found: object, most: int) -> bool:
    """Tell whether a value holds lists of names, one for each column that has categories."""
    if found is None:
        return True
    if not isinstance(found, list) or len(found) > most:
        return False
    return all(
        isinstance(each, list)
        and all(is_name(one) if isinstance(one, str) else type(one) in PLAIN for one in each)
        for each in found
    )
