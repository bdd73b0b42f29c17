"""What the JSON of a LightGBM model holds beside its trees."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.boosters.lightgbm_beside import (
    PLAIN,
    VERSION,
    are_categories,
    is_importance,
    splits_of,
)
from treeaudit.readers.boosters.lightgbm_names import OBJECTIVE
from treeaudit.readers.boosters.lightgbm_tree import RawTree
from treeaudit.readers.leftovers.booster_parts import is_name, setting
from treeaudit.readers.leftovers.documents import ANY, Keys, unexplained
from treeaudit.readers.leftovers.extra import extra, name_in_path

__all__ = ["INNER", "LEAF", "in_lightgbm_json", "in_nodes"]

_KINDS = frozenset({"<=", "==", "None", "Zero", "NaN"})
_SET = re.compile(r"[0-9]{1,10}(?:\|\|[0-9]{1,10})*")
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


def in_lightgbm_json(
    document: Mapping[str, Any], names: Sequence[str], categorical: int, trees: Sequence[RawTree]
) -> Iterator[Leftover]:
    """Yield what the JSON of a LightGBM model holds beside its trees.

    Parameters
    ----------
    document
        The object.
    names
        Of its columns.
    categorical
        How many of them may have lists of categories.
    trees
        Its trees, as they were read.
    """
    columns, splits = set(names), splits_of(trees, names)

    def of_columns(part: object, explained: Callable[[object], bool]) -> bool:
        return (
            isinstance(part, dict) and part.keys() <= columns and all(map(explained, part.values()))
        )

    keys: Keys = {
        "name": re.compile("tree"),
        "version": VERSION,
        **dict.fromkeys(
            "num_class num_tree_per_iteration label_index max_feature_idx".split(), setting
        ),
        "objective": OBJECTIVE,
        "average_output": setting,
        "feature_names": lambda part: all(map(is_name, part)),
        "monotone_constraints": lambda part: (
            isinstance(part, list) and len(part) in (0, len(names)) and {-1, 0, 1}.issuperset(part)
        ),
        "feature_importances": lambda part: (
            of_columns(part, setting)
            and all(is_importance(value, splits[name]) for name, value in part.items())
        ),
        "pandas_categorical": lambda part: are_categories(part, categorical),
        "feature_infos": lambda part: of_columns(part, lambda info: isinstance(info, dict)),
        "tree_info": {
            **dict.fromkeys("tree_index num_leaves num_cat shrinkage".split(), setting),
            "tree_structure": None,
        },
    }
    yield from unexplained(document, keys)
    infos = document.get("feature_infos")
    info = {"min_value": setting, "max_value": setting, "values": _are_plain}
    yield from unexplained(infos if isinstance(infos, dict) else {}, {ANY: info}, "feature_infos")


def _are_plain(part: object) -> bool:
    return isinstance(part, list) and set(map(type, part)) <= PLAIN


def in_nodes(
    where: str, splits: Sequence[Mapping[str, Any]], ends: Sequence[Mapping[str, Any]]
) -> Iterator[Leftover]:
    """Yield what the nodes of a tree hold beside its questions and answers.

    Parameters
    ----------
    where
        The way to the tree.
    splits, ends
        Its inner nodes and its leaves.
    """
    for nodes, known in ((splits, INNER), (ends, LEAF)):
        shapes = list(dict.fromkeys(map(tuple, nodes)))
        if len(set(map(frozenset, shapes))) < len(shapes):
            # The order of names could spell something.
            odd = [node for node in nodes if tuple(node) != shapes[0]]
            yield extra(f"{where}: the order of names", [0] * len(odd))
        for name in dict.fromkeys(chain.from_iterable(shapes)):
            whole = all(name in shape for shape in shapes)
            having = nodes if whole else [node for node in nodes if name in node]
            kinds = set(map(type, map(itemgetter(name), having)))
            if name in known and kinds <= PLAIN and (name != "default_left" or kinds <= {bool}):
                continue
            for value in map(itemgetter(name), having):
                if not (name in known and _explains_itself(name, value)):
                    yield extra(f"{where}.{name_in_path(name)}", value, name)

    if any("leaf_parent" in node for node in ends):
        for split in splits:
            above = split["split_index"]
            for leaf in (split["left_child"], split["right_child"]):
                if "leaf_index" in leaf and leaf.get("leaf_parent", above) != above:
                    yield extra(f"{where}.leaf_parent", leaf["leaf_parent"])


def _is_set(text: str) -> bool:
    """Tell whether a text lists codes, each once and in order."""
    codes = [int(word) for word in text.split("||")] if _SET.fullmatch(text) else [-1]
    return "||".join(map(str, sorted(set(codes)))) == text


def _explains_itself(name: str, value: object) -> bool:
    if type(value) in PLAIN:
        return name != "default_left" or value is True or value is False
    if name in ("decision_type", "missing_type"):
        return isinstance(value, str) and value in _KINDS
    if name in ("left_child", "right_child"):
        return isinstance(value, dict)
    if name == "threshold":
        return isinstance(value, str) and (value == "" or _is_set(value))
    return name in ("leaf_features", "leaf_coeff") and _are_plain(value)
