"""The fields that LightGBM writes, of all versions, and what a file holds beyond them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from treeaudit.model.source import Extra
from treeaudit.readers.boosters import known_parameters
from treeaudit.readers.limits import Most
from treeaudit.readers.residual.extra_content import (
    ANY,
    NOTE,
    SETTING,
    Keys,
    is_plain,
    unknown_fields,
)

_PARAMETERS = known_parameters("lightgbm")
_HEAD = (
    "tree average_output version num_class num_tree_per_iteration label_index max_feature_idx "
    "objective"
)
_OF_A_TREE = frozenset(
    (
        "Tree num_leaves num_cat split_feature split_gain threshold decision_type left_child "
        "right_child leaf_value leaf_weight leaf_count internal_value internal_weight "
        "internal_count is_linear shrinkage cat_boundaries cat_threshold"
    ).split()
)
_OF_LINEAR_LEAVES = frozenset("leaf_const num_features leaf_features leaf_coeff".split())
INNER = frozenset(
    (
        "split_index split_feature split_gain threshold decision_type default_left missing_type "
        "internal_value internal_weight internal_count left_child right_child"
    ).split()
)
LEAF = frozenset(
    (
        "leaf_index leaf_value leaf_weight leaf_count leaf_parent leaf_const leaf_features "
        "leaf_coeff"
    ).split()
)
_HEADINGS = (
    "end of trees", "feature_importances:", "feature importances:", "parameters:",
    "end of parameters",
)  # fmt: skip
_PANDAS = "pandas_categorical:"
_NUMBER = 25  # characters of an importance
PARAMETER = re.compile(r"\[([a-z_0-9]{1,60}): (.{0,2000})\]")
_NUMBERS = re.compile(r"(?:name:|column:)?[\[\]0-9eE.,|+ -]*")


def is_parameter(name: str, value: str, n_columns: int) -> bool:
    """Tell whether LightGBM has a parameter of this name, and whether its value is a plain one."""
    return name in _PARAMETERS and _is_value(value, n_columns)


def _is_value(value: object, n_columns: int) -> bool:
    """Tell whether a value is plain and short, or a text of a number for each column."""
    if isinstance(value, str) and len(value) <= 26 * n_columns and _NUMBERS.fullmatch(value):
        return True
    return is_plain(value, SETTING)


def unread_lines(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the lines of a tree that LightGBM does not write, or that are too long for it."""
    n_leaves = int(fields["num_leaves"])
    linear = fields.get("is_linear", "0") != "0"
    each = [int(n) for n in fields.get("num_features", "").split()] if linear else []
    # Columns of a leaf stand on its path.
    n_loose = sum(each) if max(each, default=0) < n_leaves else 0
    room = {"leaf_const": n_leaves, "num_features": n_leaves}
    room |= dict.fromkeys(("leaf_features", "leaf_coeff"), n_loose)
    bounds = fields.get("cat_boundaries", "").split()
    n_sets = int(fields.get("num_cat", "0"))
    room["cat_boundaries"] = n_sets + 1 if n_sets else 0
    room["cat_threshold"] = int(bounds[-1]) if n_sets and bounds else 0
    if not linear:
        room |= dict.fromkeys(_OF_LINEAR_LEAVES, 0)
    # Of other lines of a tree the reader has counted the numbers.
    known = {*_OF_A_TREE, ""}
    return {
        name: value
        for name, value in fields.items()
        if (len(value.split()) > room[name] if name in room else name not in known)
    }


def unknown_in_text(
    head: Mapping[str, str], trees: Sequence[Mapping[str, str]], rest: str, names: Sequence[str]
) -> Iterator[Extra]:
    """Yield the lines of a text that LightGBM does not write."""
    known_head: Keys = {
        **dict.fromkeys(_HEAD.split(), SETTING),
        **dict.fromkeys(("feature_infos", "tree_sizes")),
        "feature_names": lambda part: max(map(len, part.split(" "))) <= SETTING,
        "monotone_constraints": lambda part: len(part.split()) <= len(names),
    }
    yield from unknown_fields(head, known_head, "the head")
    yield from unknown_fields(trees, {}, "Tree")
    lines: list[str] = []
    parameters: dict[str, str] = {}
    known, part = frozenset(names), ""
    found = [line.removesuffix("\r") for line in rest.split("\n")]
    # Of several lines the last one counts.
    pandas = max((i for i, one in enumerate(found) if one.startswith(_PANDAS)), default=-1)
    for i, line in enumerate(found):
        column, _, number = line.rpartition("=")
        if line in _HEADINGS:
            part = line
        elif (match := PARAMETER.fullmatch(line)) and part == "parameters:":
            same = parameters.setdefault(match[1], match[2])
            lines += [line] * (same != match[2])
        elif not (
            not line
            or (i == pandas and _are_lists(line.removeprefix(_PANDAS)))
            or (part.startswith("feature") and column in known and len(number) <= _NUMBER)
        ):
            lines.append(line)
    yield from unknown_fields(lines, {}, "behind the trees")
    keys = dict.fromkeys(_PARAMETERS, lambda part: _is_value(part, len(names)))
    yield from unknown_fields(parameters, {**keys, ANY: NOTE}, "parameters")


def _are_lists(text: str) -> bool:
    """Tell whether a text of JSON holds the categories of columns, which are read."""
    try:
        found = json.loads(text) if len(text) <= Most.category_text else 0
    except (ValueError, RecursionError):
        return False
    return found is None or (
        isinstance(found, list) and all(isinstance(column, list) for column in found)
    )


def unknown_in_json(document: Mapping[str, Any], n_columns: int) -> Iterator[Extra]:
    """Yield the fields of a JSON model that LightGBM does not write."""

    def few(part: object) -> bool:
        return (
            isinstance(part, list)
            and len(part) <= n_columns
            and {int, float}.issuperset(map(type, part))
        )

    node: dict[str, Any] = dict.fromkeys(INNER | LEAF, SETTING)
    node |= {"leaf_features": few, "leaf_coeff": few, "left_child": node, "right_child": node}
    node["threshold"] = lambda part: not isinstance(part, str) or bool(_NUMBERS.fullmatch(part))
    words = (
        "name version num_class num_tree_per_iteration label_index max_feature_idx objective "
        "average_output"
    )
    keys: Keys = {
        **dict.fromkeys(words.split(), SETTING),
        "feature_names": None,
        "monotone_constraints": few,
        "feature_importances": {ANY: SETTING},
        "pandas_categorical": None,
        "feature_infos": {ANY: {"min_value": SETTING, "max_value": SETTING, "values": None}},
        "tree_info": {
            **dict.fromkeys("tree_index num_leaves num_cat shrinkage".split(), SETTING),
            "tree_structure": node,
        },
    }
    yield from unknown_fields(document, keys)
