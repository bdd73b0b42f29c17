"""What the JSON and the text of boosted models hold beside their trees.

Every name that XGBoost, LightGBM and CatBoost write is listed with what reads
it; whatever else stands in a file is named as unseen.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from mmap import mmap
from typing import Any

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.leftovers.documents import ANY, Keys, is_plain, unexplained
from treeaudit.readers.leftovers.unexplained import not_explained
from treeaudit.readers.limits import clean

__all__ = [
    "CATBOOST",
    "NUMBER",
    "category_names",
    "in_lightgbm_json",
    "in_lightgbm_text",
    "is_name",
    "row_seed",
    "setting",
]

NUMBER = r"-?(?:[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?|inf|nan)"
"""A number as text."""

_SETTING = re.compile(rf"(?=.{{1,26}}\Z){NUMBER}")
_LONGEST_NAME = 200


def _names(text: str) -> dict[str, None]:
    return dict.fromkeys(text.split())


_LIGHTGBM_NODE = _names(
    "split_index split_feature split_gain threshold decision_type default_left missing_type "
    "internal_value internal_weight internal_count leaf_index leaf_value leaf_weight leaf_count "
    "leaf_parent leaf_const leaf_features leaf_coeff left_child right_child"
)
_LIGHTGBM: Keys = {
    **_names(
        "name version num_class num_tree_per_iteration label_index max_feature_idx objective "
        "average_output feature_names monotone_constraints feature_importances pandas_categorical"
    ),
    "feature_infos": {ANY: _names("min_value max_value values")},
    "tree_info": _names("tree_index num_leaves num_cat shrinkage tree_structure"),
}
CATBOOST: Keys = {
    **_names("ctr_data oblivious_trees trees scale_and_bias"),
    "features_info": _names(
        "float_features categorical_features cat_features_hash ctrs text_features "
        "embedding_features estimated_features"
    ),
    "model_info": {
        **_names(
            "catboost_version_info model_guid output_options train_finish_time training "
            "class_params"
        ),
        "params": {ANY: None, "metadata": {}},
    },
}
_TEXT = frozenset(
    (
        "tree version num_class num_tree_per_iteration label_index max_feature_idx objective "
        "feature_names feature_infos tree_sizes monotone_constraints average_output Tree "
        "num_leaves num_cat split_feature split_gain threshold decision_type left_child "
        "right_child leaf_value leaf_weight leaf_count internal_value internal_weight "
        "internal_count cat_boundaries cat_threshold is_linear shrinkage leaf_const num_features "
        "leaf_features leaf_coeff"
    ).split()
)
_TEXT_BYTES = frozenset(name.encode() for name in _TEXT)
_LINE = re.compile(rb"^([^=\r\n]+)", re.MULTILINE)
_REST = re.compile(
    r"end of trees|(?:pandas_categorical|loaded_parameter):.*|\[[a-z_0-9]{1,60}: [^\]]{0,2000}\]"
)
_IMPORTANCES = re.compile(r"feature[_ ]importances:")
_IMPORTANCE = re.compile(r"[^=]{1,2000}=[0-9][0-9.e+-]{0,30}")


def setting(value: object) -> bool:
    """Tell whether a value is a number, as text too, or a truth value.

    Examples
    --------
    >>> [setting(value) for value in (0.5, "0.5", True, "33;yes;54;no", [1])]
    [True, True, True, False, False]
    """
    if isinstance(value, str):
        return _SETTING.fullmatch(value) is not None
    return is_plain(value, 0)


def is_name(text: object) -> bool:
    """Tell whether a text is short enough for the name of a column, a class or a category."""
    return len(str(text)) <= _LONGEST_NAME


def category_names(where: str, columns: Iterable[Sequence[object]]) -> Iterator[Leftover]:
    """Yield the lists of categories, which name all that occur in the training data."""
    sizes = [len(names) for names in columns if names]
    if sizes:
        says = f"every category that occurred in {len(sizes):,} columns is named"
        yield Leftover(kind="column-values", where=where, n=sum(sizes), says=says)


def row_seed(where: str, sampled: bool) -> Iterator[Leftover]:
    """Yield the seed of a model whose trees each saw a part of the rows."""
    if sampled:
        says = "the seed from which the rows of each tree were drawn; not drawn again"
        yield Leftover(kind="seeds", where=where, n=1, says=says)


def in_lightgbm_json(document: object) -> Iterator[Leftover]:
    """Yield what the JSON of a LightGBM model holds beside its trees."""
    yield from unexplained(document, _LIGHTGBM)
    trees = document.get("tree_info") if isinstance(document, dict) else None
    for i, entry in enumerate(trees if isinstance(trees, list) else ()):
        waiting: list[Any] = [entry.get("tree_structure") if isinstance(entry, dict) else None]
        while waiting:
            node = waiting.pop()
            if isinstance(node, dict):
                for name in (name for name in node if name not in _LIGHTGBM_NODE):
                    where = f"tree_info[{i}].tree_structure.{clean(str(name)[:80])}"
                    yield not_explained(where, node[name])
                waiting += [node.get("left_child"), node.get("right_child")]


def in_lightgbm_text(data: bytes | mmap, end: int) -> Iterator[Leftover]:
    """Yield the lines of a LightGBM text that its reader does not know.

    Parameters
    ----------
    data
        The whole text.
    end
        Where the trees end.
    """
    for match in _LINE.finditer(data, 0, end):
        if match[1] in _TEXT_BYTES:
            continue
        name = match[1].decode("utf-8", "backslashreplace").strip()
        if name and name not in _TEXT:
            yield not_explained(f"the line at byte {match.start():,}", name)
    rest = bytes(data[end:]).decode("utf-8", "backslashreplace")
    known = _REST
    for line in map(str.strip, rest.split("\n")):
        if _IMPORTANCES.fullmatch(line):
            known = _IMPORTANCE
        elif line in ("parameters:", "end of parameters"):
            known = _REST
        elif line and known.fullmatch(line) is None and _REST.fullmatch(line) is None:
            yield not_explained("a line behind the trees", line)
