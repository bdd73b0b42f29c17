"""XGBoost models of all versions: JSON, UBJSON, the older binary form, and each in a pickle.

``Booster.save_model`` writes one object, ``learner`` and ``version``; a pickled
Booster holds ``Config`` and ``Model``, the second of which is the same object.
Routing is bit for bit XGBoost's: inputs are 32-bit floats and go left where
``x < threshold``; of a categorical split the listed codes go right.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.forest import Boosting, Forest, LazyTrees, RecordsAre
from treeaudit.model.schema import Label
from treeaudit.model.source import KINDS, Extra, Extras, Kind, Source
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters import StoredBooster, booster_in, each_tree, reading, with_wrapper
from treeaudit.readers.first_round import FIRST_ROUND, SINGLE, counted, labels_of_first_round
from treeaudit.readers.json_text import parse_json
from treeaudit.readers.limits import LIMITS, Limits
from treeaudit.readers.open import Content
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.residual.column_statistics import category_names
from treeaudit.readers.residual.extra_content import few
from treeaudit.readers.residual.seeds import row_seed
from treeaudit.readers.residual.targets import targets_in
from treeaudit.readers.xgboost import binary, ubjson
from treeaudit.readers.xgboost.fields import unknown_in
from treeaudit.readers.xgboost.schema import (
    Booster,
    read_booster,
    schema_of,
    seeds_of_draws,
)
from treeaudit.readers.xgboost.trees import (
    StoredTree,
    class_counts,
    people,
    rate_and_penalty,
    read_tree,
)

_JSON = re.compile(
    rb'\s*\{\s*(?:"(?:learner|Config|Model)"\s*:\s*\{|"version"\s*:\s*\[\s*\d+\s*,\s*\d+\s*,)'
)
_UBJSON = re.compile(
    rb"\{(?:[iU]|I\0|l\0{3}|L\0{7})(?:\x07(?:learner|version)|\x06Config|\x05Model)[\[{]"
)
_HEAD = 512
_MANY_TREES = 10
_COVER = "cover (sum_hessian) is a sum of second derivatives, not of people"
_FEW = (
    ", and the leaves of the first round are too few to show people by whole numbers, or show that "
    "rows had weights"
)
_IF_UNWEIGHTED = (
    "people per leaf are XGBoost's cover: they are people if the rows had no weights "
    "(sample_weight) in training, which the file cannot show"
)


def matches(content: Content) -> bool:
    """Tell whether the content is an XGBoost model: JSON, UBJSON or the older binary form."""
    head = bytes(content.data[:_HEAD])
    if _JSON.match(head) is not None or is_ubjson(head):
        return True
    return binary.matches(head)


def is_ubjson(data: bytes | bytearray | memoryview) -> bool:
    """Tell whether a model begins as the UBJSON that XGBoost writes since 1.6."""
    return _UBJSON.match(data) is not None


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the forest that an XGBoost model file describes; see `treeaudit.readers.Reader`."""
    return from_blob(memoryview(content.data), source, limits)


def from_inert(value: Inert, source: Source) -> Forest | None:
    """Return the XGBoost model that an object of a pickle is or wraps, None where it is none."""
    booster = booster_in(value, "xgboost", "XGB")
    if booster is None:
        return None
    handle = booster.get("handle")
    if not isinstance(handle, bytes | bytearray | memoryview):
        raise ReadError("the XGBoost Booster is damaged: it holds no model (handle)")
    forest = from_blob(memoryview(handle), source, LIMITS)
    forest = with_wrapper(forest, value, "classes_", source)
    missing = value.get("missing")
    if not isinstance(missing, int | float) or missing != missing:
        return forest
    remark = f"the wrapper treats {missing!r} as missing: it follows the edge of missing values"
    return replace(forest, warnings=(*forest.warnings, remark))


def from_blob(data: memoryview, source: Source, limits: Limits) -> Forest:
    """Return the forest of a model in one of XGBoost's own forms."""
    head = bytes(data[:_HEAD])
    if head.startswith(b"bs64"):
        raise UnsupportedModelError(
            "the XGBoost model is in the oldest text form: load it with the XGBoost that wrote it "
            "and save it with save_model('model.json')"
        )
    with reading("the XGBoost model is damaged", ""):
        if is_ubjson(head):
            document, form = ubjson.parse(data, limits), "xgboost-ubjson"
        elif head.lstrip()[:1] == b"{":
            document, form = _json(data, limits), "xgboost-json"
        elif binary.matches(head):
            document, form = binary.document_of(data, limits), "xgboost-binary"
        else:
            raise ReadError("it is neither JSON nor UBJSON, nor XGBoost's older binary form")
        return to_forest(_models(document), replace(source, format=form))


def _json(data: memoryview, limits: Limits) -> object:
    advice = "; save the model as UBJSON with save_model('model.ubj')"
    most = limits.objects(len(data))
    document = parse_json(data, most, (100, 100, 36), advice=advice, infinite=True)
    text = bytes(data)
    # Old versions write truth values, new ones numbers; both at once could spell something.
    if (b"true" in text or b"false" in text) and any(map(_is_mixed, _lists(document))):
        raise ReadError("a list of it holds truth values and numbers")
    return document


def _lists(value: object) -> Iterator[list[object]]:
    if isinstance(value, dict):
        for part in value.values():
            yield from _lists(part)
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        for part in value:
            yield from _lists(part)
    elif isinstance(value, list):
        yield value


def _is_mixed(values: list[object]) -> bool:
    kinds = set(map(type, values))
    return bool in kinds and len(kinds) > 1


def _models(document: object) -> Mapping[str, object]:
    """Return the model, with the training configuration of a pickled Booster beside it."""
    if not isinstance(document, dict):
        raise ReadError("it is no object")
    if "Model" not in document:
        return document
    model = document["Model"]
    if not isinstance(model, dict):
        raise ReadError("its Model is no object")
    if not document.keys() <= {"Model", "Config"}:
        raise ReadError("it holds something beside its Model and its Config")
    return {**model, **{name: part for name, part in document.items() if name == "Config"}}


def to_forest(document: Mapping[str, object], source: Source) -> Forest:
    """Return the forest of a model as `Booster.save_model` writes it."""
    booster = read_booster(document)
    trees = read_trees(booster)
    loss = booster.loss
    found = people(trees, booster.outputs, loss)
    schema, n_categories = schema_of(booster, trees)
    of_class = _first_counts(booster, trees, found)
    known = of_class if schema.classes is not None else {}
    n_classes = len(schema.classes or ())

    def build(i: int) -> Tree:
        tree = trees[i].tree(n_categories, found[i], booster.scale[i])
        if i not in known:
            return tree
        return counted(tree, known[i], booster.outputs[i] if n_classes > 2 else 1, n_classes)

    records_are, n_records = _records(booster, found)
    lazy = LazyTrees(build, len(trees))
    return Forest(
        trees=lazy,
        schema=schema,
        counts_are="likely" if known else "absent",
        counts_reason=_of_first(len(known), booster) if known else _reason(booster, found),
        answers="sum",
        records_are=records_are,
        n_records=n_records,
        single_precision=True,
        tree_classes=_tree_classes(booster, schema.classes) if known else None,
        boosting=_boosting(booster, trees, lazy) if known else None,
        source=replace(
            source,
            estimator=f"XGBoost {booster.loss.objective}".strip(),
            library="XGBoost",
            library_version=booster.version,
            parameters=booster.parameters,
            stored=StoredBooster(document=document),
        ),
        warnings=tuple(_warnings(booster, trees, found, n_categories)),
        extras=Extras(
            found=(
                *_extras(booster, trees, found, of_class),
                *category_names("learner.gradient_booster.model.cats", booster.categories.values()),
                *(seed for at in seeds_of_draws(document) for seed in row_seed(at, True)),
                *few(unknown_in(document, booster)),
            ),
            looked_for=KINDS if schema.classes is not None else KINDS - _targets(trees, found),
        ),
    )


def read_trees(booster: Booster) -> list[StoredTree]:
    """Check every tree of the file."""
    return each_tree(
        booster.trees, lambda raw: read_tree(raw, booster.n_features, booster.leaf_width)
    )


def _records(booster: Booster, found: Sequence[object]) -> tuple[RecordsAre, int | None]:
    """Tell whether every tree saw all rows: subsampling makes the sums differ."""
    roots = {int(n[0]) for n in found if isinstance(n, np.ndarray)}
    if len(roots) != 1:
        return "unknown", None
    stated = booster.parameters.get("subsample")
    no_subsample = stated == 1.0 if stated is not None else len(found) >= _MANY_TREES
    n_known = sum(n is not None for n in found)
    if no_subsample and (stated is not None or n_known >= _MANY_TREES):
        return "all", roots.pop()
    return "unknown", None


def _reason(booster: Booster, found: Sequence[object]) -> str:
    n_known = sum(n is not None for n in found)
    if n_known == 0:
        few = _FEW if booster.loss.probability(0) is not None else ""
        return f"the file holds no counts: {_COVER}{few}"
    whose = "every tree" if n_known == len(found) else f"{n_known:,} of {len(found):,} trees"
    return f"the file holds no class counts; in {whose} the cover gives the people per leaf"


def _warnings(
    booster: Booster,
    trees: Sequence[StoredTree],
    found: Sequence[object],
    n_categories: Mapping[int, int],
) -> list[str]:
    said = []
    if any(n is not None for n in found):
        said.append(_IF_UNWEIGHTED)
    cut_off = sum(tree.links.cut_off for tree in trees)
    if cut_off:
        said.append(
            f"{cut_off:,} nodes are pruned from their trees but still in the file, with cover "
            "and threshold"
        )
    if booster.leaf_width > 1:
        said.append(
            f"every leaf holds {booster.leaf_width} numbers (multi_output_tree): "
            "leaf values and people are not read"
        )
    if set(n_categories) - set(booster.categories):
        said.append(
            "the file does not list the categories of every categorical column: codes beyond "
            "those that its splits name are put into one last category"
        )
    if any(not name.isascii() or "\\x" in name for c in booster.categories.values() for name in c):
        said.append(
            "XGBoost cuts category names at the wrong place where they are not plain ASCII: they "
            "are shown as the file holds them"
        )
    if booster.out_of_turn:
        said.append(
            "the trees do not take turns between the outputs, as XGBoost writes them: "
            "somebody has rearranged the model"
        )
    return said


def _first_counts(
    booster: Booster, trees: Sequence[StoredTree], found: Sequence[Wide | None]
) -> dict[int, Wide]:
    """Return how many people of its class are in the leaves of each tree of the first round."""
    counts = {}
    for i in range(min(booster.loss.n_first_round, len(trees))):
        n, p = found[i], booster.loss.probability(booster.outputs[i])
        # Fractions as labels, which reg:logistic allows, are no people of a class.
        if n is None or p is None or booster.loss.objective == "reg:logistic":
            continue
        of_class = class_counts(trees, i, n, p)
        if of_class is not None:
            counts[i] = of_class
    return counts


def _tree_classes(
    booster: Booster, classes: tuple[Label, ...] | None
) -> tuple[tuple[Label, ...], ...] | None:
    """Return what the trees count that tell one class from all others."""
    if classes is None or len(classes) < 3:
        return None
    each = labels_of_first_round(classes, len(classes))
    return tuple(each[output] for output in booster.outputs)


def _targets(trees: Sequence[StoredTree], found: Sequence[Wide | None]) -> frozenset[Kind]:
    pairs = zip(trees, found, strict=True)
    return targets_in(None if n is None else n[tree.links.is_leaf] for tree, n in pairs)


def _of_first(known: int, booster: Booster) -> str:
    """Say where the class counts are from."""
    if booster.loss.n_first_round == 1:
        return FIRST_ROUND
    return (
        f"the class counts of {known:,} trees of the first round follow from their leaf values, "
        "whole in every leaf: they are people unless rows had weights of their own"
    )


def _extras(
    booster: Booster,
    trees: Sequence[StoredTree],
    found: Sequence[Wide | None],
    of_class: Mapping[int, Wide],
) -> tuple[Extra, ...]:
    """Return what the leaf weights of the first round say about labels."""
    extras = []
    for i, second in of_class.items():
        n = found[i]
        if n is not None:
            size = n[trees[i].links.is_leaf]
            pure = int(np.count_nonzero((second == 0) | (second == size)))
            extras.append(_first_round_extra(i, booster, size, pure))
    return tuple(extras)


def _first_round_extra(tree: int, booster: Booster, size: Wide, pure: int) -> Extra:
    label = booster.outputs[tree] if booster.loss.n_outputs > 1 else 1
    return Extra(
        kind="first-round-counts",
        where=f"learner.gradient_booster.model.trees[{tree}].base_weights",
        n=int(size.sum()),
        says=(
            "unless rows had weights, the leaf weights of the first round give the exact number "
            f"of people of class {label} in each of {len(size):,} leaves: {pure:,} leaves hold "
            "nobody else, or none of them"
        ),
    )


def _boosting(
    booster: Booster, stored: Sequence[StoredTree], trees: Sequence[Tree]
) -> Boosting | None:
    """Return how the trees follow from labels; None where the file does not tell all of it."""
    loss, stated = booster.loss, booster.parameters
    k = loss.n_outputs
    shares = [p for i in range(k) if (p := loss.probability(i)) is not None and 0 < p < 1]
    sigmoid = loss.objective == "binary:logistic" and loss.scale_pos_weight == 1.0 and k == 1
    softmax = loss.objective in ("multi:softprob", "multi:softmax") and k > 2
    plain = (sigmoid or softmax) and stated.get("booster") == "gbtree"
    plain = plain and loss.n_first_round == k and not booster.out_of_turn
    plain = plain and booster.leaf_width == 1
    whole = stated.get("subsample", 1.0) == 1.0 and stated.get("alpha", 0.0) == 0.0
    if not plain or not whole or len(shares) < k:
        return None
    if any(tree.cover is None or tree.value is None for tree in stored):
        return None
    rounded = rate_and_penalty(stored)
    if rounded is None:
        return None
    rate, penalty = (float(np.float32(one)) for one in rounded)
    shares = [float(np.float32(p)) for p in shares]
    base = [float(np.float32(x)) for x in loss.base_score]
    start = base * (k // len(base)) if softmax else [math.log(p / (1 - p)) for p in shares]
    return Boosting(
        trees=trees,
        start=tuple(start),
        shift=(0.0,) * k,
        curve=2.0 if softmax else 1.0,
        rate=rate,
        penalty=penalty,
        mass=lambda i: stored[i].cover,
        single=True,
        derivatives=SINGLE,
        stored=SINGLE,
        assumptions=(
            f"learning rate {rounded[0]:g} and penalty {rounded[1]:g}, near to which the numbers "
            "of the first tree are",
            "nobody was left out of a tree",
            "rows had no weights of their own",
        ),
    )
