"""The version-free JSON form of a model: what `treeaudit.save` writes.

One object: ``format`` (always ``treeaudit-model``), ``version`` (1), ``schema``,
``counts_are``, ``counts_reason``, ``answers``, ``noise``, ``records_are``, ``n_records``,
``single_precision``, ``privacy``, ``class_weights``, ``tree_weights``, ``source``, ``trees`` and,
where its trees count classes of their own, ``tree_classes``. A tree is one list
per array of `treeaudit.Tree`; an open bound is null; ``categories`` holds, per
node, null or the list of codes that lead into it.
"""

import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from treeaudit.arrays import Float, Int
from treeaudit.dp.ledger import Ledger
from treeaudit.errors import DataError, ReadError
from treeaudit.model.forest import Answers, CountsAre, Forest, Noise, RecordsAre
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.model.source import Source
from treeaudit.model.tree import CategorySets, SpreadIs, Tree
from treeaudit.readers.json_text import parse_json
from treeaudit.readers.limits import Limits, Most, clean, show
from treeaudit.readers.links import category_sets
from treeaudit.readers.open import Content
from treeaudit.readers.residual.native_fields import extra_fields
from treeaudit.readers.sklearn.model_ref import labels_of

FORMAT = "treeaudit-model"
VERSION = 1
_WHOLE, _NUMBER = "iu", "iuf"
_MOST_RATE, _MOST_NOISY = 2.0**60, 2.0**90
_CHANGED = "the numbers in its leaves are in units of the changed target"
_EXPECTED = {_WHOLE: "whole numbers", _NUMBER: "numbers", "b": "true or false"}

# Answers and noise of models whose JSON is older than those fields. No new name comes here.
_OLD_ANSWERS: Mapping[str, Answers] = {
    **dict.fromkeys(
        "Tree DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor "
        "RandomForestClassifier RandomForestRegressor ExtraTreesClassifier ExtraTreesRegressor "
        "BaggingClassifier BaggingRegressor".split(),
        "mean",
    ),
    "DPDFClassifier": "confidence",
    "SmoothSensitivityForestClassifier": "vote",
}
_GREEDY = ("leaf counts", Noise(rate=1, counts="leaves", afterwards=("shrunk", "clipped")))
_SCALED = Noise(rate=1, counts="leaves", afterwards=("clipped", "scaled"))
_OLD_NOISE: Mapping[str, tuple[str, Noise]] = {
    "PrivateTreeClassifier": _GREEDY,
    "PrivateForestClassifier": _GREEDY,
    "DiffPID3Classifier": ("leaf counts", _SCALED),
    "DPDFClassifier": ("tree 1: classes of level 1", Noise(rate=1, counts="nodes")),
}
"""The query that the counts of the leaves came from, and their noise, whose rate it gives."""


def matches(content: Content) -> bool:
    """Return whether the content is JSON in our own form."""
    head = bytes(content.data[:256])
    return head.lstrip()[:1] == b"{" and f'"{FORMAT}"'.encode() in head


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the model that a JSON file describes; see `treeaudit.readers.Reader`."""
    # Counts are lists of two numbers: text of thirty bytes, objects of two hundred.
    most = min(Most.form, limits.objects(len(content.data), times=8))
    data = parse_json(content.data, most, (100, 100, 36))
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ReadError("the JSON file does not hold treeaudit's form of a model")
    if data.get("version") != VERSION:
        raise ReadError(
            f"the model has JSON form {show(data.get('version'))}; this treeaudit reads 1"
        )
    return checked_forest(data, replace(source, format="treeaudit-json"), "the JSON model")


def checked_forest(data: Mapping[str, Any], source: Source, what: str) -> Forest:
    """Return the model that the data of a file describes."""
    try:
        return forest_of(data, source)
    except IndexError:
        # What has no keys was asked for one: an array of a pickle.
        raise ReadError(
            f"{what} is damaged: an array stands in the place of another part"
        ) from None
    except (DataError, KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ReadError(f"{what} is damaged: {clean(str(reason))}") from None


def forest_of(data: Mapping[str, Any], source: Source) -> Forest:
    """Return the model that plain data describes; arrays may stand for lists of numbers."""
    schema = _schema(data["schema"])
    counts_are, records_are = data["counts_are"], data["records_are"]
    values_are = data.get("values_are")
    if values_are not in (None, "changed", "medians"):
        raise ReadError("the JSON model does not say what its values are")
    kind: SpreadIs = "absolute" if values_are == "medians" else "deviation"
    trees = tuple(_tree(tree, schema, kind) for tree in data["trees"])
    if not trees:
        raise ReadError("the JSON model has no trees")
    if counts_are not in get_args(CountsAre) or records_are not in get_args(RecordsAre):
        raise ReadError("the JSON model does not say what its counts are")
    if counts_are != "noisy" and any(_below_zero(tree) for tree in trees):
        raise ReadError("the JSON model has negative counts")
    if counts_are == "noisy" and any(_beyond(tree) for tree in trees):
        raise ReadError("the JSON model has noisy counts of more people than there are anywhere")
    given = data.get("source") or {}
    n_records = data.get("n_records")
    if n_records is not None and not (isinstance(n_records, int) and 0 <= n_records < Most.people):
        raise ReadError("the JSON model has an impossible number of records")
    privacy = _privacy(data.get("privacy"))
    version = given.get("library_version")
    estimator = clean(given.get("estimator", "Tree"))
    library = clean(given.get("library", ""))
    answers = data["answers"] if "answers" in data else _old_answers(estimator, library)
    noise = _noise(data["noise"]) if "noise" in data else _old_noise(estimator, privacy)
    if answers not in get_args(Answers):
        raise ReadError("the JSON model answers in a way that treeaudit does not know")
    forest = Forest(
        trees=trees,
        schema=schema,
        counts_are=counts_are,
        counts_reason=clean(data.get("counts_reason", "")),
        answers=answers,
        noise=noise if counts_are == "noisy" else None,
        records_are=records_are,
        n_records=n_records,
        single_precision=bool(data.get("single_precision", False)),
        privacy=privacy,
        warnings=(*_not_private(privacy), *([_CHANGED] if values_are == "changed" else [])),
        class_weights=_class_weights(data.get("class_weights"), len(trees), schema),
        tree_weights=_tree_weights(data.get("tree_weights"), len(trees)),
        tree_classes=_tree_classes(data.get("tree_classes"), len(trees), schema),
        source=replace(
            source,
            estimator=estimator,
            library=library,
            library_version=None if version is None else clean(version),
            parameters=dict(given.get("parameters", {})),
        ),
    )
    return replace(forest, extras=extra_fields(data, forest))


def _class_weights(
    given: object, n_trees: int, schema: Schema
) -> tuple[tuple[float, ...] | None, ...] | None:
    if given is None:
        return None
    width = 0 if schema.classes is None else len(schema.classes)
    if not isinstance(given, list) or len(given) != n_trees:
        raise ReadError("the JSON model has weights of classes that do not fit its trees")
    weights = [None if each is None else _column(each, _NUMBER) for each in given]
    if any(each is not None and (len(each) != width or np.any(each < 0)) for each in weights):
        raise ReadError("the JSON model has weights of classes that cannot be")
    return tuple(None if each is None else tuple(map(float, each)) for each in weights)


def _tree_weights(given: object, n_trees: int) -> tuple[float, ...] | None:
    if given is None:
        return None
    weights = _column(given, _NUMBER)
    if len(weights) != n_trees or not (np.isfinite(weights).all() and np.all(weights >= 0)):
        raise ReadError("the JSON model has weights of votes that do not fit its trees")
    return tuple(map(float, weights))


def _tree_classes(
    given: object, n_trees: int, schema: Schema
) -> tuple[tuple[Label, ...], ...] | None:
    if given is None:
        return None
    each = [tuple(names) for names in given] if isinstance(given, list) else []
    classes = schema.classes or ()
    known = {"(none)", *map(str, classes), *(f"not {label}" for label in classes)}
    fits = all(len(names) == len(classes) and known.issuperset(names) for names in each)
    if len(each) != n_trees or not fits:
        raise ReadError("the JSON model has labels of trees that do not fit its classes")
    return tuple(each)


def _privacy(given: object) -> dict[str, Any] | None:
    """Return the ledger of a private model, if its rows sum to its claim."""
    if given is None:
        return None
    if not isinstance(given, dict):
        raise ReadError("the JSON model has a privacy ledger that is none")
    if "queries" in given and float(Ledger.from_plain(given).epsilon) != given.get("epsilon"):
        raise ReadError("the rows of the privacy ledger do not sum to the epsilon it claims")
    return given


def _noise(given: Mapping[str, Any] | None) -> Noise | None:
    if given is None:
        return None
    rate = float(given["rate"])
    if rate > 0 and not 1 / _MOST_RATE <= rate <= _MOST_RATE:
        raise ReadError("the JSON model has noise of a rate that nobody draws")
    return Noise(
        rate=rate,
        counts=given["counts"],
        afterwards=tuple(given["afterwards"]),
        mechanism=given["mechanism"],
    )


def _old_answers(estimator: str, library: str) -> Answers:
    """Return how a model answers; private models did so by the mean unless listed."""
    return _OLD_ANSWERS.get(estimator, "mean" if library == "treeaudit" else "unknown")


def _old_noise(estimator: str, privacy: Mapping[str, Any] | None) -> Noise | None:
    """Return the noise in the counts of a private model, None if its ledger does not give it."""
    if estimator not in _OLD_NOISE or "queries" not in (privacy or {}):
        return None
    name, noise = _OLD_NOISE[estimator]
    for query in Ledger.from_plain(privacy or {}).queries:
        if query.name == name:
            used = query.epsilon if query.used is None else query.used
            # The sensitivity of a query already counts what a replaced person moves.
            return replace(noise, rate=float(used / query.sensitivity))
    return None


def _not_private(privacy: Mapping[str, Any] | None) -> tuple[str, ...]:
    reasons = (privacy or {}).get("reasons", ())
    return tuple(f"not private: {clean(reason)}" for reason in reasons)


def _schema(data: Mapping[str, Any]) -> Schema:
    features = []
    for entry in data["features"]:
        categories = entry.get("categories")
        features.append(
            Feature(
                name=clean(entry["name"]),
                categories=None if categories is None else tuple(clean(c) for c in categories),
                low=_bound(entry.get("low")),
                high=_bound(entry.get("high")),
                ignores_unknown=entry.get("ignores_unknown") is True,
                fill=None if entry.get("fill") is None else clean(entry["fill"]),
            )
        )
    stored = data.get("classes")
    classes = labels_of(stored)
    if classes is None and stored is not None:
        raise ReadError("the JSON model has classes that are no labels")
    return Schema(
        features=tuple(features),
        classes=classes,
        target=clean(data.get("target", "label")),
        target_low=_bound(data.get("target_low")),
        target_high=_bound(data.get("target_high")),
        named=bool(data.get("named", True)),
    )


def _bound(value: float | None) -> float | None:
    return None if value is None else float(value)


def _tree(data: Mapping[str, Any], schema: Schema, spread_is: SpreadIs) -> Tree:
    tree = Tree(
        parent=_column(data["parent"], _WHOLE, Most.nodes),
        feature=_column(data["feature"], _WHOLE, Most.nodes),
        low=_bounds(data["low"], -math.inf, len(data["parent"])),
        high=_bounds(data["high"], math.inf, len(data["parent"])),
        categories=_categories(data.get("categories")),
        missing=_column(data.get("missing"), "b"),
        n_records=_column(data.get("n_records"), _WHOLE, Most.people),
        counts=_column(data.get("counts"), _NUMBER, ndim=2),
        label=_column(data.get("label"), _WHOLE, Most.nodes),
        value=_column(data.get("value"), _NUMBER),
        spread_is=spread_is,
    )
    width = 0 if schema.classes is None else len(schema.classes)
    if tree.counts is not None and tree.counts.shape[1] != width:
        raise ReadError(f"the JSON model has counts that do not fit its {width} classes")
    if tree.label is not None and np.any((tree.label < 0) | (tree.label >= width)):
        raise ReadError(f"the JSON model has labels that are none of its {width} classes")
    if np.any(tree.feature >= len(schema.features)):
        raise ReadError("the JSON model tests a feature that does not exist")
    if tree.categories is not None:
        _check_codes(tree.feature, tree.categories, schema)
    return tree


def _check_codes(feature: Int, sets: CategorySets, schema: Schema) -> None:
    """Refuse category codes that the feature on their edge does not have."""
    codes, most = sets.codes, Most.nodes
    known = [most if f.categories is None else len(f.categories) for f in schema.features]
    # The root, whose feature is -1, has no category to lead into it.
    limit = np.append(np.asarray(known, dtype=np.int64), 0)
    owner = np.repeat(feature, np.diff(sets.start))
    if np.any((codes < 0) | (codes >= limit[owner])):
        raise ReadError("the JSON model names a category that does not exist")
    edge = np.repeat(np.arange(len(feature)), np.diff(sets.start))
    if len(np.unique(edge * (1 + codes.max(initial=0)) + codes)) < len(codes):
        raise ReadError("the JSON model names a category of an edge twice")


def _below_zero(tree: Tree) -> bool:
    given = [column for column in (tree.n_records, tree.counts) if column is not None]
    return any(bool(np.any(column < 0)) for column in given)


def _beyond(tree: Tree) -> bool:
    return tree.counts is not None and bool(np.any(np.abs(tree.counts) > _MOST_NOISY))


def _column(values: object, kinds: str, most: float = sys.float_info.max, ndim: int = 1) -> Any:  # noqa: ANN401  # None where absent
    if values is None:
        return None
    array = np.asarray(values)
    fits = array.ndim == ndim and array.dtype.kind in kinds
    # Written so that what is not a number fails.
    if not fits or not (kinds == "b" or np.all((array >= -most) & (array <= most))):
        raise ReadError(f"the JSON model is damaged: {_EXPECTED[kinds]} expected")
    return array


def _bounds(values: Any, when_open: float, n_nodes: int) -> Float:  # noqa: ANN401  # checked here
    if isinstance(values, dict):
        at = _column(values["at"], _WHOLE, n_nodes - 1)
        if np.any(at < 0):
            raise ReadError("the JSON model is damaged: a bound of no node")
        bounds = np.full(n_nodes, when_open)
        bounds[at] = _column(values["is"], _NUMBER)
        return bounds
    if isinstance(values, np.ndarray):
        return values.astype(np.float64)
    return np.asarray([when_open if v is None else float(v) for v in values], dtype=np.float64)


def _categories(values: Any) -> CategorySets | None:  # noqa: ANN401  # checked here
    if values is None:
        return None
    if isinstance(values, dict):
        return CategorySets(
            start=_column(values["start"], _WHOLE, Most.nodes),
            codes=_column(values["codes"], _WHOLE, Most.nodes),
        )
    return category_sets([[int(code) for code in codes or ()] for codes in values])
