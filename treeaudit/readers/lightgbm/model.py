"""LightGBM models: text (`save_model`), JSON (`dump_model`), and inside a pickle.

``leaf_count`` and ``internal_count`` are training rows, whatever their weights:
they are counted where the rows are split. Only learners that spread the rows
over machines or run on CUDA estimate them from second derivatives; those are
not taken for people.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.model.forest import Forest, LazyTrees, RecordsAre
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.model.source import KINDS, Extra, Extras, Kind, Source
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters import (
    StoredBooster,
    booster_in,
    each_tree,
    reading,
    with_wrapper,
)
from treeaudit.readers.first_round import FIRST_ROUND, labels_of_first_round
from treeaudit.readers.json_text import parse_json
from treeaudit.readers.lightgbm.dump import booster_of
from treeaudit.readers.lightgbm.first_round import boosting_of, first_counts, first_round
from treeaudit.readers.lightgbm.text import Booster, parse
from treeaudit.readers.lightgbm.trees import NO_MISSING, StoredTree, add_up, read_tree
from treeaudit.readers.limits import Limits, Most, clean, show
from treeaudit.readers.open import Content
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.residual.attribute_walk import handle_name
from treeaudit.readers.residual.column_statistics import category_names
from treeaudit.readers.residual.seeds import row_seed
from treeaudit.readers.residual.targets import targets_in

_TEXT = re.compile(rb"tree\r?\n(?:[^\n]*\n){0,2}(?:version|num_class)=")
_JSON = re.compile(rb'\s*\{\s*"(?:name"\s*:\s*"tree"\s*,|average_output"\s*:)')
_HEAD = 512
_DAMAGED = "the LightGBM model is damaged"
_UNCHECKED = "LightGBM up to 4.7"  # its issues 7357, 7437 and 7438
_SAMPLED = (
    ("bagging_fraction", "bagging_freq"),
    ("pos_bagging_fraction", "bagging_freq"),
    ("neg_bagging_fraction", "bagging_freq"),
)
_SHOWN = (
    "boosting objective num_iterations learning_rate num_leaves min_data_in_leaf lambda_l1 "
    "lambda_l2 bagging_fraction bagging_freq tree_learner device_type linear_tree"
).split()


def matches(content: Content) -> bool:
    """Tell whether the content is a LightGBM model as text or JSON."""
    head = bytes(content.data[:_HEAD])
    return _TEXT.match(head) is not None or _JSON.match(head) is not None


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the forest that a LightGBM model file describes; see `treeaudit.readers.Reader`."""
    data = content.data
    with reading(_DAMAGED, _UNCHECKED):
        if not _JSON.match(bytes(data[:_HEAD])):
            return to_forest(parse(data), replace(source, format="lightgbm-text"))
        advice = "; save the model as text with booster.save_model('model.txt')"
        most = limits.objects(len(data))
        document = parse_json(data, most, (230, 230, 100), advice=advice, infinite=True)
        return to_forest(booster_of(document), replace(source, format="lightgbm-json"))


def from_inert(value: Inert, source: Source) -> Forest | None:
    """Return the LightGBM model that an object of a pickle is or wraps, None where it is none."""
    booster = booster_in(value, "lightgbm", "LGBM")
    if booster is None:
        return None
    text = booster.get(handle_name(booster))
    if not isinstance(text, str):
        raise ReadError("the LightGBM Booster is damaged: it holds no model text (handle)")
    with reading(_DAMAGED, _UNCHECKED):
        forest = to_forest(parse(text.encode("utf-8", "backslashreplace")), source)
    return with_wrapper(forest, value, "_classes", source)


def to_forest(booster: Booster, source: Source) -> Forest:
    """Return the forest of a LightGBM model."""
    trees = read_trees(booster)
    grown = (booster.parameters or {}).get("boosting")
    # Only random forests are averaged; a loader goes by the line, and not by how they were grown.
    if grown is not None and (grown == "rf") != booster.averaged:
        raise ReadError(f"it was boosted by {show(grown)}, and its trees are combined otherwise")
    estimated = _estimated(booster.parameters)
    odd = next((i for i, tree in enumerate(trees) if not add_up(tree)), None)
    if not estimated and odd is not None:
        raise ReadError(f"tree {odd} is inconsistent: its children do not add up to their parent")
    sampled = _sampled(booster.parameters)
    told = 0 if estimated else sum(tree.n_records is not None for tree in trees)
    records_are, n_records = _records(booster, trees, sampled, told)
    n_categories, names = _category_names(booster, trees)
    schema = _schema(booster, n_categories, names, _with_gaps(trees))

    def build(i: int) -> Tree:
        return trees[i].tree(n_categories, not estimated)

    # A mean of trees is a random forest: each is a first one, of other rows.
    plain = not (sampled or estimated or booster.averaged)
    asked, first = first_round(booster, trees, build) if plain else (False, [])
    classes = schema.classes or ()
    reason = _reason(told, len(trees), estimated, None if booster.parameters is None else sampled)
    lazy = LazyTrees(lambda i: first[i] if i < len(first) else build(i), len(trees))
    return Forest(
        trees=lazy,
        schema=schema,
        counts_are="likely" if first else "absent",
        counts_reason=FIRST_ROUND if first else reason,
        answers="sum",
        records_are=records_are,
        n_records=n_records,
        tree_classes=(
            labels_of_first_round(classes, len(trees)) if first and len(classes) > 2 else None
        ),
        boosting=boosting_of(booster, trees, lazy) if first else None,
        source=replace(
            source,
            estimator=f"LightGBM {booster.objective}".strip(),
            library="LightGBM",
            library_version=booster.version,
            parameters=_parameters(booster),
            stored=StoredBooster(document=booster),
        ),
        warnings=tuple(_warnings(booster, trees, names)),
        extras=Extras(
            found=(
                *_extras(booster),
                *first_counts(first),
                *category_names("pandas_categorical", booster.pandas),
                *row_seed("parameters.bagging_seed", sampled and _tells_seed(booster)),
                *booster.unknown,
            ),
            looked_for=KINDS - _not_examined(booster, asked or (sampled and not told), trees),
        ),
    )


def read_trees(booster: Booster) -> list[StoredTree]:
    """Check every tree of the file."""
    return each_tree(booster.trees, lambda raw: read_tree(raw, len(booster.names)))


def _not_examined(booster: Booster, asked: bool, trees: Sequence[StoredTree]) -> frozenset[Kind]:
    """Return what nobody has looked for in the steps of the trees: targets, or class counts."""
    if booster.objective.split(" ")[0] not in ("binary", "multiclass", "multiclassova"):
        return targets_in(
            None if tree.n_records is None else tree.n_records[tree.links.is_leaf] for tree in trees
        )
    return frozenset() if asked else frozenset({"first-round-counts"})


def _estimated(parameters: Mapping[str, str] | None) -> bool:
    stated = parameters or {}
    return (
        stated.get("tree_learner", "serial") not in ("serial", "feature")
        or stated.get("num_machines", "1") != "1"
        or stated.get("device_type", "cpu") == "cuda"
    )


def _sampled(parameters: Mapping[str, str] | None) -> bool:
    """Tell whether trees saw a part of the rows each."""
    stated = parameters or {}
    if "goss" in (stated.get("data_sample_strategy"), stated.get("boosting")):
        return True
    return any(
        stated.get(share, "1") not in ("1", "1.0") and stated.get(often, "0") != "0"
        for share, often in _SAMPLED
    )


def _tells_seed(booster: Booster) -> bool:
    return any(name.endswith("seed") for name in booster.parameters or ())


def _records(
    booster: Booster, trees: Sequence[StoredTree], sampled: bool, told: int
) -> tuple[RecordsAre, int | None]:
    roots = {int(tree.n_records[0]) for tree in trees if tree.n_records is not None}
    if booster.parameters is None or sampled or not told or len(roots) != 1:
        return "unknown", None
    return "all", roots.pop()


def _reason(told: int, n_trees: int, estimated: bool, sampled: bool | None) -> str:
    if estimated:
        return (
            "the file holds no class counts, and its leaf_count is estimated: the model was "
            "trained on several machines or on CUDA"
        )
    if not told:
        return "the file holds no counts: its leaf_count is missing"
    whose = "every tree" if told == n_trees else f"{told:,} of {n_trees:,} trees"
    which = {
        True: "the people per leaf, of those who were drawn for the tree",
        False: "the people per leaf",
        None: "the people per leaf, of those who were drawn for the tree if any were left out",
    }[sampled]
    return f"the file holds no class counts; leaf_count of {whose} gives {which}"


def _category_names(
    booster: Booster, trees: Sequence[StoredTree]
) -> tuple[dict[int, int], dict[int, tuple[str, ...]]]:
    """Return how many categories each categorical feature has, and their names."""
    most = {
        i: int(info.max(initial=-1))
        for i, info in enumerate(booster.infos)
        if isinstance(info, np.ndarray)
    }
    for tree in trees:
        for node, codes in tree.raw.categories.items():
            feature = int(tree.raw.feature[node])
            most[feature] = max(most.get(feature, -1), int(codes.max(initial=-1)))
    if sum(top + 2 for top in most.values()) > Most.categories:
        raise ModelTooLargeError(f"the model has more than {Most.categories:,} categories")
    columns = _categorical_columns(booster, most)
    names: dict[int, tuple[str, ...]] = {}
    # The names are in the order of the columns; they fit only if there is one list for each.
    if len(columns) == len(booster.pandas) and all(
        len(texts) > most.get(column, -1)
        for column, texts in zip(columns, booster.pandas, strict=True)
    ):
        names = {
            column: tuple(clean(text) for text in texts)
            for column, texts in zip(columns, booster.pandas, strict=True)
        }
    # Codes that no row had, the first of them included, go right.
    n = {feature: len(names.get(feature, ())) or top + 2 for feature, top in most.items()}
    return n, names


def _with_gaps(trees: Sequence[StoredTree]) -> frozenset[int]:
    """Return the columns in which the training data had NaN, as LightGBM notes in each split."""
    features = [tree.raw.feature[tree.raw.missing_type != NO_MISSING] for tree in trees]
    return frozenset(np.unique(np.concatenate(features)).tolist())


def _categorical_columns(booster: Booster, most: Mapping[int, int]) -> list[int]:
    stated = (booster.parameters or {}).get("categorical_feature", "")
    if stated and all(word.isdecimal() and len(word) < 9 for word in stated.split(",")):
        return sorted({int(word) for word in stated.split(",")})
    return sorted(most)


def _schema(
    booster: Booster,
    n_categories: Mapping[int, int],
    names: Mapping[int, tuple[str, ...]],
    gaps: frozenset[int],
) -> Schema:
    features = []
    for i, name in enumerate(booster.names):
        categories = names.get(i) if i in n_categories else None
        if i in n_categories and categories is None:
            n = n_categories[i]
            categories = (*map(str, range(n - 1)), f"{n - 1} and above")
        info = booster.infos[i] if i < len(booster.infos) else None
        beyond = isinstance(info, tuple) and (info[0] < 0 or info[1] > 1)
        features.append(
            Feature(name=name, categories=categories, had_missing=i in gaps, beyond_one=beyond)
        )
    classes: tuple[Label, ...] | None = None
    kind = booster.objective.split(" ")[0]
    if kind in ("multiclass", "multiclassova"):
        classes = tuple(range(booster.n_outputs))
    elif kind == "binary":
        classes = (0, 1)
    generic = all(name == f"Column_{i}" for i, name in enumerate(booster.names))
    return Schema(features=tuple(features), classes=classes, named=not generic)


def _parameters(booster: Booster) -> dict[str, str | int | bool]:
    stated = booster.parameters or {}
    shown: dict[str, str | int | bool] = {n: stated[n] for n in _SHOWN if n in stated}
    return {**shown, "n_outputs": booster.n_outputs, "average_output": booster.averaged}


def _warnings(
    booster: Booster, trees: Sequence[StoredTree], names: Mapping[int, tuple[str, ...]]
) -> list[str]:
    said = []
    misrouted = sum(tree.misrouted for tree in trees)
    if misrouted:
        said.append(
            f"{misrouted:,} splits treat zero as missing and send it away from its neighbours: "
            "rules with these splits are right for all numbers but zero"
        )
    linear = sum(tree.raw.linear for tree in trees)
    if linear:
        said.append(
            f"{linear:,} trees have a linear model in each leaf (leaf_coeff): "
            "their leaves are read, their predictions are not"
        )
    if booster.pandas and not names:
        said.append("the category names in the file cannot be told apart by column: codes are used")
    if len(trees) % booster.n_outputs:
        said.append(f"the last round has fewer than {booster.n_outputs} trees")
    return said


def _extras(booster: Booster) -> tuple[Extra, ...]:
    ranges = [
        info for info in booster.infos if isinstance(info, tuple) and np.all(np.isfinite(info))
    ]
    lists = [info for info in booster.infos if isinstance(info, np.ndarray)]
    parts = []
    if ranges:
        parts.append(f"the smallest and the largest training value of {len(ranges):,} columns")
    if lists:
        parts.append(f"every category that occurred in {len(lists):,} columns")
    if not parts:
        return ()
    n = 2 * len(ranges) + sum(len(info) for info in lists)
    says = "feature_infos gives " + " and ".join(parts)
    return (Extra(kind="column-values", where="feature_infos", n=n, says=says),)
