"""What our own form of a model, as JSON or inside a trainer, holds beside its trees."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from treeaudit.dp.bounded import bounded
from treeaudit.dp.forms import is_row
from treeaudit.model.forest import Forest
from treeaudit.model.leftovers import KINDS, Kind, Leftover, Leftovers
from treeaudit.readers.leftovers.attributes import attributes_of, is_option
from treeaudit.readers.leftovers.attributes import is_name as is_parameter
from treeaudit.readers.leftovers.booster_parts import is_name, row_seed
from treeaudit.readers.leftovers.documents import Keys, is_plain, unknown_fields
from treeaudit.readers.leftovers.extra import extra, few, name_in_path
from treeaudit.readers.leftovers.form_trees import beside_edges, untested_bounds
from treeaudit.readers.leftovers.single_targets import single_targets
from treeaudit.readers.leftovers.spare import spare_columns
from treeaudit.readers.leftovers.texts import reads_as_name
from treeaudit.readers.limits import clean

__all__ = ["beside_form", "is_seed"]

_MEANS = ("DecisionTreeRegressor", "ExtraTreeRegressor", "RandomForestRegressor")
_OF_COUNTS = ("mean", "vote", "confidence", "product")
_SHORT, _LONG, _LONGEST_NAME, _MOST_PARAMETERS = 60, 500, 60, 100
_MOST_DIGITS, _MOST_MARKS, _MOST_OTHER_LETTERS = 60, 4, 8
_MOST_UNKNOWN = 16

_QUERY = re.compile(r"(?=(?:[^0-9]*[0-9]){0,8}[^0-9]*\Z)[A-Za-z][\w ,:().-]{0,80}")
_WORDS = re.compile(r"[A-Za-z_][\w .:()+/-]{0,100}|")
_MOST_SENTENCES = 40
_VERSION = re.compile(r"[\w .+-]{0,60}")
_PARAMETER = re.compile(r"[A-Za-z_][\w.-]*")


def _is_name(part: object) -> bool:
    return part is None or (isinstance(part, str) and reads_as_name(part))


def _are_names(part: object) -> bool:
    """Tell whether these are labels or categories: names, or numbers."""
    return part is None or (isinstance(part, list) and all(map(is_name, part)))


def _each(names: str, inside: object) -> dict[str, Any]:
    return dict.fromkeys(names.split(), inside)


def _is_sentence(part: object) -> bool:
    """Tell whether a text can be one that the program says itself: words with a few numbers."""
    if not isinstance(part, str) or len(part) > _LONG or not part.isprintable():
        return False
    marks = sum(part.count(mark) for mark in ";|")
    few = marks <= _MOST_MARKS and sum(map(str.isdigit, part)) <= _MOST_DIGITS
    return few and len(part) - len(part.encode("ascii", "ignore")) <= _MOST_OTHER_LETTERS


def _is_query(part: object) -> bool:
    return isinstance(part, str) and _QUERY.fullmatch(part) is not None


def _are_words(part: object) -> bool:
    return isinstance(part, str) and _WORDS.fullmatch(part) is not None


def _are_sentences(part: object) -> bool:
    return isinstance(part, list) and len(part) <= _MOST_SENTENCES and all(map(_is_sentence, part))


def _is_version(part: object) -> bool:
    return isinstance(part, str) and _VERSION.fullmatch(part) is not None


def _is_flag(part: object) -> bool:
    return isinstance(part, bool)


_KEYS: Keys = {
    **_each("counts_are records_are n_records answers values_are", _SHORT),
    "format": lambda part: part == "treeaudit-model",
    "version": lambda part: type(part) is int and part == 1,
    "single_precision": _is_flag,
    "counts_reason": _is_sentence,
    "class_weights": None,
    "tree_classes": None,
    "noise": {**_each("rate counts mechanism", _SHORT), "afterwards": _SHORT},
    "privacy": {
        **_each(
            "epsilon used delta rho conversion_delta budget neighbours unit rows_per_person "
            "variant",
            _SHORT,
        ),
        "not_private": lambda part: part is None or _is_flag(part),
        **_each("reasons public", _are_sentences),
        "queries": {
            **_each("name mechanism", _is_query),
            **_each("epsilon used sensitivity composition asked delta rho", _SHORT),
        },
    },
    "schema": {
        "classes": _are_names,
        "target": _is_name,
        **_each("target_low target_high", _SHORT),
        "named": _is_flag,
        "features": {
            "name": _is_name,
            "fill": is_name,
            "categories": _are_names,
            **_each("low high", _SHORT),
            "ignores_unknown": _is_flag,
        },
    },
    "source": {
        **_each("estimator library", _are_words),
        "library_version": lambda part: part is None or _is_version(part),
        "parameters": None,
    },
    "trees": _each("parent feature low high categories missing n_records counts label value", None),
}
"""Every entry that `treeaudit.writers.own_json` writes; whatever else a file holds is named."""
_MANY = 20
"""A list of categories that is longer, with one for ten people, is no public one."""


def is_seed(name: str) -> bool:
    """Tell whether a parameter of this name is a seed.

    Examples
    --------
    >>> [is_seed(name) for name in ("random_state", "tree__random_state", "bagging_seed", "depth")]
    [True, True, True, False]
    """
    return name.endswith(("random_state", "seed"))


def beside_form(data: Mapping[str, Any], forest: Forest) -> Leftovers:
    """Return what the form has no place for, its seeds, and the targets that its leaves tell.

    It has two places for exact values of columns, the categories and the bounds of its schema,
    and cannot prove that these were public, as they are for a private model. What a first step
    of boosting started from is not kept: its class counts are known where they were written.

    Parameters
    ----------
    data
        The form, as decoded from its file.
    forest
        The model that was read from it.
    """
    found = few(
        [
            *unknown_fields(data, _keys(forest)),
            *_parameters(forest),
            *_seeds(forest),
            *_not_asked(forest),
            *_columns(forest),
            *beside_edges(forest),
            *_not_answered(forest),
        ]
    )
    steps = forest.answers == "sum" and forest.schema.classes is not None
    hidden: frozenset[Kind] = frozenset()
    if steps and forest.trees[0].counts is None:
        hidden = frozenset({"first-round-counts"})
    beside = Leftovers(found=found, looked_for=KINDS - hidden)
    silent = all(tree.n_records is None for tree in forest.trees)
    # Values that no person moves by more than an epsilon are nobody's target.
    if forest.schema.classes is not None or (silent and bounded(forest)):
        return beside
    return beside.beside(single_targets(forest.trees, means=forest.source.estimator in _MEANS))


def _keys(forest: Forest) -> Keys:
    """Return what the form of a model may hold; of the rows of its ledger those for its columns."""
    if forest.privacy is None:
        return _KEYS
    columns = forest.schema.names

    def is_asked(part: object) -> bool:
        return isinstance(part, str) and is_row(part, columns)

    ledger = _KEYS["privacy"]
    return {
        **_KEYS,
        "privacy": {**ledger, "queries": {**ledger["queries"], "name": is_asked}},
    }


def _parameters(forest: Forest) -> Iterator[Leftover]:
    """Yield the parameters that are more than a setting, or that no library has."""
    unknown = 0
    own = attributes_of(forest.source.estimator) or {}
    for i, (name, value) in enumerate(forest.source.parameters.items()):
        # XGBoost starts from a number for each output.
        starts = name == "base_score" and isinstance(value, list) and len(value) <= forest.n_trees
        settings = value if starts else [value]
        short = len(name) <= _LONGEST_NAME and i < _MOST_PARAMETERS
        known = short and _PARAMETER.fullmatch(name) is not None
        unknown += not all(map(is_parameter, name.split("__")))
        known &= unknown <= _MOST_UNKNOWN
        if forest.privacy is not None:
            # No ledger accounts for what is no setting of the trainer.
            known &= name in own and (not isinstance(value, str) or is_option(value))
        if not known or not all(_is_setting(one) for one in settings):
            yield extra(f"source.parameters.{name_in_path(name)}", value, name)


def _is_setting(value: object) -> bool:
    text = not isinstance(value, str) or _is_sentence(value)
    return text and is_plain(value, _SHORT)


def _not_asked(forest: Forest) -> Iterator[Leftover]:
    """Yield what columns hold that no tree asks about: bounds, and more texts than are usual.

    The bounds of a ledger are public.
    """
    asked = {int(feature) for tree in forest.trees for feature in np.unique(tree.feature)}
    features = forest.schema.features
    for i, feature in enumerate(features):
        bounds = [bound for bound in (feature.low, feature.high) if bound is not None]
        if i not in asked and bounds and forest.privacy is None:
            yield extra(f"schema.features[{i}]", bounds)
    categories = {
        i: one.categories for i, one in enumerate(features) if one.categories and i not in asked
    }
    names, more = [one.name for one in features], untested_bounds(forest, asked)
    yield from spare_columns("schema.features", names, categories, asked, more)


def _columns(forest: Forest) -> Iterator[Leftover]:
    """Yield the values of columns that the schema lists: that it was public is but a claim."""
    least = 5 * _MANY if forest.n_records is None else max(_MANY, forest.n_records // 10)
    sizes = [len(one.categories) for one in forest.schema.features if one.categories is not None]
    many = [size for size in sizes if size >= least]
    if many:
        says = (
            f"the categories of {len(many):,} columns, up to {max(many):,} of one: more than a "
            "public list has"
        )
        where = "schema.features[*].categories"
        yield Leftover(kind="column-values", where=where, n=sum(many), says=says)
    bounds = sum((one.low is not None) + (one.high is not None) for one in forest.schema.features)
    if bounds:
        says = f"{bounds:,} bounds of columns, which may be their smallest and largest values"
        yield Leftover(kind="extremes", where="schema.features[*]", n=bounds, says=says)


def _not_answered(forest: Forest) -> Iterator[Leftover]:
    """Yield numbers that no answer is made of: values of classes, and labels above the leaves.

    A label above the leaves that is that of most people tells no more than their counts.
    """
    if forest.schema.classes is None or forest.answers not in _OF_COUNTS:
        return
    for i, tree in enumerate(forest.trees):
        if tree.value is not None and (tree.counts is not None or tree.label is not None):
            yield extra(f"trees[{i}].value", tree.value.tolist())
        if tree.label is not None and tree.counts is not None:
            of_label = np.take_along_axis(tree.counts, tree.label[:, None], axis=1)[:, 0]
            other = ~tree.is_leaf & (of_label < tree.counts.max(axis=1))
            if other.any():
                yield extra(f"trees[{i}].label", tree.label[other].tolist())


def _seeds(forest: Forest) -> Iterator[Leftover]:
    """Yield the seeds of a model whose trees did not all see all rows as they are."""
    draws = forest.records_are != "all" or forest.source.library == "CatBoost"
    for name, value in forest.source.parameters.items():
        if is_seed(name) and value is not None:
            yield from row_seed(f"source.parameters.{clean(name[:_LONGEST_NAME])}", draws)
