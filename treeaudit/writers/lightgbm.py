"""A repaired LightGBM model as the text that LightGBM reads: what answers hang on, and counts."""

import json
from collections.abc import Iterable, Iterator

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters import StoredBooster
from treeaudit.readers.lightgbm.fields import is_parameter
from treeaudit.readers.lightgbm.model import read_trees, to_forest
from treeaudit.readers.lightgbm.text import Booster
from treeaudit.readers.lightgbm.trees import StoredTree
from treeaudit.readers.sklearn.undo import over_data
from treeaudit.writers.canonical_record import is_seed
from treeaudit.writers.node_tables import JSON
from treeaudit.writers.tree_records import origins, rows_of

# Names of files and of machines; the directory of the training data is nobody's business.
_DRAWS = frozenset(("bagging_fraction", "bagging_freq"))
_UNSAID = frozenset("data valid machines output_model input_model".split())


def to_lightgbm_text(forest: Forest) -> str:
    """Return the text of a model that was read from LightGBM.

    Gains, second derivatives and the extremes of columns, which no answer hangs
    on, are not in it.
    """
    stored = forest.source.stored
    if not isinstance(stored, StoredBooster) or not isinstance(stored.document, Booster):
        raise TypeError("no text to write into")
    booster = stored.document
    whole = to_forest(booster, Source())
    if stored.found is not None:
        whole = over_data(whole, stored.found)
    origin = origins(forest, whole, range(forest.n_trees))
    if origin != list(range(len(origin))) or len(origin) % booster.n_outputs:
        raise UnsupportedModelError(
            f"a LightGBM model keeps its first rounds, {booster.n_outputs} trees each: {JSON}"
        )
    exact = stored.found is None or not stored.found.before
    trees = read_trees(booster)
    texts = [_tree(trees[i], i, forest.trees[i], whole.trees[i], exact=exact) for i in origin]
    head = "\n".join(_head(booster, [len(text.encode()) for text in texts]))
    return f"{head}\n\n{''.join(texts)}{_rest(booster, forest)}"


def _head(booster: Booster, sizes: Iterable[int]) -> Iterator[str]:
    yield "tree"
    yield f"version={booster.version or 'v4'}"
    several = booster.objective.startswith("multiclass")
    yield f"num_class={booster.n_outputs if several else 1}"
    yield f"num_tree_per_iteration={booster.n_outputs}"
    yield "label_index=0"
    yield f"max_feature_idx={len(booster.names) - 1}"
    if booster.objective:
        yield f"objective={booster.objective}"
    if booster.averaged:
        yield "average_output"
    yield f"feature_names={' '.join(booster.names)}"
    lists = (info if isinstance(info, np.ndarray) else () for info in booster.infos)
    yield f"feature_infos={' '.join(':'.join(map(str, codes)) or 'none' for codes in lists)}"
    yield f"tree_sizes={' '.join(map(str, sizes))}"


def _tree(stored: StoredTree, i: int, tree: Tree, whole: Tree, *, exact: bool) -> str:
    if tree.value is None or stored.raw.linear:
        raise UnsupportedModelError(f"leaves with models of their own are not written back: {JSON}")
    links, raw = stored.links, stored.raw
    left = np.full(links.n_nodes, -1, dtype=np.int64)
    left[links.inner] = links.left
    rows = rows_of(tree, whole, left, exact=exact)
    at = links.order[rows.place[rows.inner]]
    threshold, categorical = raw.threshold[at].copy(), raw.categorical[at]
    if rows.threshold is not None:
        threshold = np.where(np.isfinite(rows.threshold), rows.threshold, threshold)
    sets = [_words_of(raw.categories[node]) for node in at[categorical].tolist()]
    threshold[categorical] = np.arange(len(sets))
    leaves = np.flatnonzero(tree.is_leaf)
    number = np.zeros(tree.n_nodes, dtype=np.int64)
    number[rows.inner], number[leaves] = np.arange(len(rows.inner)), -1 - np.arange(len(leaves))
    decision = categorical + 2 * raw.default_left[at] + 4 * raw.missing_type[at]
    fields: dict[str, Iterable[object]] = {
        "num_leaves": [len(leaves)],
        "num_cat": [len(sets)],
        "split_feature": raw.feature[at].tolist(),
        "threshold": threshold.tolist(),
        "decision_type": decision.tolist(),
        "left_child": number[rows.left].tolist(),
        "right_child": number[rows.right].tolist(),
        "leaf_value": tree.value[leaves].tolist(),
    }
    if tree.n_records is not None:
        fields["leaf_count"] = tree.n_records[leaves].tolist()
        fields["internal_count"] = tree.n_records[rows.inner].tolist()
    if sets:
        fields["cat_boundaries"] = np.cumsum([0, *map(len, sets)]).tolist()
        fields["cat_threshold"] = [word for words in sets for word in words]
    fields |= {"is_linear": [0], "shrinkage": [1]}
    lines = (f"{name}={' '.join(map(_spelled, each))}" for name, each in fields.items())
    return "\n".join([f"Tree={i}", *lines, "", "", ""])


def _spelled(number: object) -> str:
    """Spell whole thresholds as LightGBM does, without a point."""
    text = repr(number)
    return text.removesuffix(".0")


def _words_of(codes: Wide) -> list[int]:
    """Return a set of codes as 32-bit words."""
    bits = np.zeros(32 * (int(codes.max(initial=0)) // 32 + 1), dtype=np.uint8)
    bits[codes] = 1
    words: list[int] = np.packbits(bits, bitorder="little").view("<u4").tolist()
    return words


def _rest(booster: Booster, forest: Forest) -> str:
    lines = ["end of trees", ""]
    if booster.parameters is not None:
        stated = {
            name: value
            for name, value in booster.parameters.items()
            if is_parameter(name, value, len(booster.names))
            and not (is_seed(name) or name in _UNSAID or "filename" in name)
        }
        # Steps that were computed anew are of draws; of an older file nothing else may say so.
        stated |= {name: str(forest.source.parameters[name]) for name in _DRAWS & stated.keys()}
        lines += ["parameters:", *(f"[{name}: {value}]" for name, value in sorted(stated.items()))]
        lines += ["", "end of parameters", ""]
    names = json.dumps(booster.pandas) if booster.pandas else "null"
    return "\n".join([*lines, f"pandas_categorical:{names}", ""])
