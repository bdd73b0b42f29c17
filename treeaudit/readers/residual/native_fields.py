"""Extra content of our own form of a model, as JSON or inside a trainer."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from treeaudit.dp.claims import bounded
from treeaudit.model.forest import Forest
from treeaudit.model.source import KINDS, Extra, Extras, Kind
from treeaudit.readers.limits import clean
from treeaudit.readers.residual.extra_content import extra, few, is_plain, name_in_path
from treeaudit.readers.residual.seeds import is_seed, row_seed
from treeaudit.readers.residual.targets import single_targets

_MEANS = ("DecisionTreeRegressor", "ExtraTreeRegressor", "RandomForestRegressor")
_OF_COUNTS = ("mean", "vote", "confidence", "product")
_SHORT, _NOTE, _SENTENCE, _LONGEST_NAME = 60, 200, 500, 60
_MOST_ENTRIES = 100
_MANY = 20
"""A list of categories that is longer, with one for ten people, is no public one."""


def _each(names: str, form: object) -> dict[str, Any]:
    return dict.fromkeys(names.split(), form)


# Every entry that `treeaudit.writers.native_json` writes, with its form: the entries of an object,
# or of each object of a list; how long a text may be in its place, for itself or in a list of few;
# None, if the reader takes in the whole of it.
_KEYS: Mapping[str, Any] = {
    **_each("format version counts_are records_are n_records answers values_are", _SHORT),
    "single_precision": 0,
    "counts_reason": _SENTENCE,
    **_each("class_weights tree_classes tree_weights", None),
    "noise": _each("rate counts mechanism afterwards", _SHORT),
    "privacy": {
        **_each("epsilon used delta rho conversion_delta budget neighbours unit", _SHORT),
        **_each("rows_per_person variant not_private", _SHORT),
        **_each("reasons public", _SENTENCE),
        "queries": {
            **_each("name mechanism", _NOTE),
            **_each("epsilon used sensitivity composition asked delta rho", _SENTENCE),
        },
    },
    "schema": {
        "classes": None,
        "target": _SENTENCE,
        **_each("target_low target_high named", 0),
        "features": {
            **_each("name fill", _SENTENCE),
            "categories": None,
            **_each("low high ignores_unknown", 0),
        },
    },
    "source": {**_each("estimator library library_version", _NOTE), "parameters": None},
    "trees": _each("parent feature low high categories missing n_records counts label value", None),
}
_LISTS = frozenset({"afterwards", "reasons", "public"})


def extra_fields(data: Mapping[str, Any], forest: Forest) -> Extras:
    """Return the unknown entries of the form, its seeds, and the targets that its leaves tell.

    It has two places for exact values of columns, the categories and the bounds of its schema,
    and cannot prove that these were public, as they are for a private model. What a first step
    of boosting started from is not stored: its class counts are known where they were written.
    """
    parts = (_unknown(data, _KEYS), _parameters(forest), _seeds(forest))
    found = few(chain(*parts, _columns(forest), _not_answered(forest)))
    steps = forest.answers == "sum" and forest.schema.classes is not None
    hidden: frozenset[Kind] = frozenset()
    if steps and forest.trees[0].counts is None:
        hidden = frozenset({"first-round-counts"})
    beside = Extras(found=found, looked_for=KINDS - hidden)
    silent = all(tree.n_records is None for tree in forest.trees)
    # Values that no person moves by more than an epsilon are nobody's target.
    if forest.schema.classes is not None or (silent and bounded(forest)):
        return beside
    return beside.beside(single_targets(forest.trees, means=forest.source.estimator in _MEANS))


def _unknown(part: object, form: Any, where: str = "", name: str = "") -> Iterator[Extra]:  # noqa: ANN401  # of `_KEYS`
    """Yield the entries that are not in the table of known ones, or of another form."""
    if form is None or part is None:
        return
    if isinstance(form, Mapping) and isinstance(part, list):
        for i, one in enumerate(part):
            yield from _unknown(one, form, f"{where}[{i}]")
    elif isinstance(form, Mapping) and isinstance(part, Mapping):
        for key, one in part.items():
            path = ".".join(filter(None, (where, key if key in form else name_in_path(key))))
            if key in form:
                yield from _unknown(one, form[key], path, key)
            else:
                yield _listed(path, one, key)
    elif name in _LISTS and isinstance(part, list):
        for i, one in enumerate(part):
            if not is_plain(one, form):
                yield _listed(f"{where}[{i}]", one)
    elif isinstance(form, Mapping) or not is_plain(part, form):
        yield _listed(where, part)


def _listed(where: str, part: object, name: object = "") -> Extra:
    """Return an entry beyond the model: notes where it is plain and short, else extra content."""
    one = extra(where, part, name)
    return replace(one, kind="notes") if _is_note(part) else one


def _is_note(part: object) -> bool:
    """Tell whether a value is a number, a short text, a few names, or a few of these by name."""
    if not isinstance(part, Mapping | list):
        return is_plain(part, _NOTE)
    if isinstance(part, Mapping):
        plain = all(is_plain(one, _NOTE) for pair in part.items() for one in pair)
    else:
        plain = all(isinstance(one, str) and is_plain(one, _NOTE) for one in part)
    return len(part) <= _MOST_ENTRIES and plain


def _parameters(forest: Forest) -> Iterator[Extra]:
    """Yield the parameters that are more than a setting."""
    for i, (name, value) in enumerate(forest.source.parameters.items()):
        # XGBoost starts from a number for each output.
        starts = name == "base_score" and isinstance(value, list) and len(value) <= forest.n_trees
        settings = value if starts else [value]
        short = len(name) <= _LONGEST_NAME and i < _MOST_ENTRIES
        if not (short and all(is_plain(one, _NOTE) for one in settings)):
            yield _listed(f"source.parameters.{name_in_path(name)}", value, name)


def _columns(forest: Forest) -> Iterator[Extra]:
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
        yield Extra(kind="column-values", where=where, n=sum(many), says=says)
    bounds = sum((one.low is not None) + (one.high is not None) for one in forest.schema.features)
    if bounds:
        says = f"{bounds:,} bounds of columns, which may be their smallest and largest values"
        yield Extra(kind="extremes", where="schema.features[*]", n=bounds, says=says)


def _not_answered(forest: Forest) -> Iterator[Extra]:
    """Yield values of leaves that no answer is made of, as classes are answered by counts."""
    if forest.schema.classes is None or forest.answers not in _OF_COUNTS:
        return
    for i, tree in enumerate(forest.trees):
        if tree.value is not None and (tree.counts is not None or tree.label is not None):
            yield extra(f"trees[{i}].value", tree.value)


def _seeds(forest: Forest) -> Iterator[Extra]:
    """Yield the seeds of a model whose trees did not all see all rows as they are."""
    draws = forest.records_are != "all" or forest.source.library == "CatBoost"
    for name, value in forest.source.parameters.items():
        if is_seed(name) and value is not None:
            yield from row_seed(f"source.parameters.{clean(name[:_LONGEST_NAME])}", draws)
