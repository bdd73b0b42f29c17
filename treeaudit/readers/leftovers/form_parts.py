"""What our own form of a model, as JSON or inside a trainer, holds beside its trees."""

from collections.abc import Iterator, Mapping
from typing import Any

from treeaudit.model.forest import Forest
from treeaudit.model.leftovers import KINDS, Kind, Leftover, Leftovers
from treeaudit.readers.leftovers.booster_parts import row_seed
from treeaudit.readers.leftovers.documents import Keys, is_plain, unexplained
from treeaudit.readers.leftovers.single_targets import single_targets
from treeaudit.readers.leftovers.unexplained import few, not_explained
from treeaudit.readers.limits import clean

__all__ = ["beside_form", "is_seed"]

_MEANS = ("DecisionTreeRegressor", "ExtraTreeRegressor", "RandomForestRegressor")
_PUBLISHED = "as published: "
_SHORT, _LONG, _LONGEST_NAME, _MOST_PARAMETERS = 200, 2_000, 80, 200


def _each(names: str, inside: object) -> dict[str, Any]:
    return dict.fromkeys(names.split(), inside)


_KEYS: Keys = {
    **_each("format version counts_are records_are n_records single_precision answers", _SHORT),
    "counts_reason": _LONG,
    "class_weights": None,
    "noise": {**_each("rate counts mechanism", _SHORT), "afterwards": (_SHORT,)},
    "privacy": {
        **_each("epsilon delta budget neighbours variant not_private", _SHORT),
        **_each("reasons public", (_LONG,)),
        "queries": _each("name mechanism epsilon sensitivity composition asked", _SHORT),
    },
    "schema": {
        **_each("classes", None),
        **_each("target", _LONG),
        **_each("named", _SHORT),
        "features": {
            **_each("name fill", _LONG),
            **_each("categories", None),
            **_each("low high ignores_unknown", _SHORT),
        },
    },
    "source": {
        **_each("estimator library library_version", _LONG),
        "parameters": None,
    },
    "trees": _each("parent feature low high categories missing n_records counts label value", None),
}
"""Every entry that `treeaudit.writers.own_json` writes; whatever else a file holds is named."""

# The form keeps nothing that tells whether a category or a bound was public, nor what a
# first step of boosting started from.
_NOT_ASKED: frozenset[Kind] = frozenset({"column-values", "extremes", "first-round-counts"})


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

    Exact values of columns were not looked for, unless the model is private, or
    but for a flaw of the paper: then its schema was public.

    Parameters
    ----------
    data
        The form, as decoded from its file.
    forest
        The model that was read from it.
    """
    found = few([*unexplained(data, _KEYS), *_parameters(forest), *_seeds(forest)])
    privacy = forest.privacy or {}
    undone = [why for why in privacy.get("reasons", ()) if not str(why).startswith(_PUBLISHED)]
    public = bool(privacy.get("queries")) and not undone
    beside = Leftovers(found=found, looked_for=KINDS if public else KINDS - _NOT_ASKED)
    if forest.schema.classes is not None:
        return beside
    return beside.beside(single_targets(forest.trees, means=forest.source.estimator in _MEANS))


def _parameters(forest: Forest) -> Iterator[Leftover]:
    """Yield the parameters that are more than a setting."""
    for i, (name, value) in enumerate(forest.source.parameters.items()):
        # XGBoost starts from a number for each output.
        starts = name == "base_score" and isinstance(value, list) and len(value) <= forest.n_trees
        settings = value if starts else [value]
        short = len(name) <= _LONGEST_NAME and i < _MOST_PARAMETERS
        if not short or not all(is_plain(one, _SHORT) for one in settings):
            yield not_explained(f"source.parameters.{clean(name[:_LONGEST_NAME])}", value)


def _seeds(forest: Forest) -> Iterator[Leftover]:
    """Yield the seeds of a model whose trees did not all see all rows as they are."""
    draws = forest.records_are != "all" or forest.source.library == "CatBoost"
    for name, value in forest.source.parameters.items():
        if is_seed(name) and value is not None:
            yield from row_seed(f"source.parameters.{clean(name[:_LONGEST_NAME])}", draws)
