"""A pickled trainer of `treeaudit.trainers`, read as data like any other file.

Its pickle holds the JSON form of the model with arrays in the place of lists,
so nothing of the class that wrote it is needed, nor run.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.limits import Deepest
from treeaudit.readers.native_json import checked_forest
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.sklearn.ensembles import steps_of
from treeaudit.readers.walk import Walk

_PROMISED = (
    "random_state",
    "variant",
    "schema",
    "epsilon",
    "delta",
    "neighbours",
    "rows_per_person",
)
"""Parameters of a trainer that its promise rests on."""
_STATELESS = frozenset(("FunctionTransformer", "Normalizer", "Binarizer"))
_TOLD = frozenset(("n_features_in_", "feature_names_in_"))
_OF_ONE_NUMBER = frozenset(
    (
        "abs absolute arcsinh cbrt ceil exp exp2 expm1 fabs floor log log10 log1p log2 negative "
        "positive reciprocal rint sign sqrt square tanh trunc"
    ).split()
)
"""Functions that make a number of each number."""
_COLUMN = 3
"""How deep a column of a tree stands in the form of a model."""


def is_trainer(value: Inert) -> bool:
    """Tell whether an object of the file was a trainer."""
    answers = value.kind.endswith(("Classifier", "Regressor"))
    return value.cls.module.startswith("treeaudit.trainers.") and answers


def from_inert(value: Inert, source: Source) -> Forest | None:
    """Return the model inside a trainer."""
    stored = arrived(value.get("forest_"))
    if stored is None:
        raise UnsupportedModelError(f"the {value.kind} was never fitted: call fit before saving it")
    what = f"the {value.kind}"
    data: Any = _plain(stored, 0, what)
    if not isinstance(data, dict):
        raise ReadError(f"{what} is damaged: it holds no model")
    forest = checked_forest(data, replace(source, format="treeaudit-pickle"), what)
    # Whoever loads the pickle reads what the estimator says itself.
    told = {name: value.get(name) for name in _PROMISED}
    plain = {name: part for name, part in told.items() if isinstance(part, int | float | str)}
    if told["random_state"] is not None:
        plain["random_state"] = True
    parameters = {**forest.source.parameters, **plain}
    return replace(forest, source=replace(forest.source, parameters=parameters))


def keeps_scores(root: object) -> bool:
    """Tell whether a file holds a search with the scores of what it tried, exact ones.

    A `treeaudit.trainers.PrivateSearch` keeps none: that it chose is in the ledger of its winner.
    """
    objects = (place.value for place in Walk(root) if isinstance(place.value, Inert))
    return any(
        arrived(one.get("best_estimator_")) is not None
        and not one.cls.module.startswith("treeaudit.trainers.")
        for one in objects
    )


def with_privacy_reasons(
    forest: Forest, before: Sequence[object], *, scores: bool = False
) -> Forest:
    """Return a private model with what the objects around it in the file give away."""
    if forest.privacy is None:
        return forest
    from treeaudit.dp.claims import FOUND_OUT  # which no model needs that claims nothing

    learned = any(isinstance(step, Inert) and not _learns_nothing(step) for step in before)
    reasons = [reason for reason, there in zip(FOUND_OUT, (learned, scores), strict=False) if there]
    if not reasons:
        return forest
    stated = [*forest.privacy.get("reasons", ()), *reasons]
    return replace(
        forest,
        privacy={**forest.privacy, "not_private": True, "reasons": stated},
        warnings=(*forest.warnings, *(f"not private: {reason}" for reason in reasons)),
    )


def _learns_nothing(step: Inert, depth: int = 4) -> bool:
    """Tell whether a step makes something of each row alone, and holds only its settings."""
    if step.kind == "Pipeline" and step.cls.module == "sklearn.pipeline" and depth:
        stored = arrived(step.get("steps"))
        inner = [arrived(part) for _, part in steps_of(step)]
        whole = isinstance(stored, list) and len(inner) == len(stored)
        return whole and all(
            _learns_nothing(one, depth - 1) for one in inner if isinstance(one, Inert)
        )
    held = {name: arrived(part) for name, part in step.attributes.items()}
    own = step.cls.module.startswith("sklearn.preprocessing.") and step.kind in _STATELESS
    bare = not (step.args or step.items or step.pairs)
    told = {name for name in held if isinstance(name, str) and name.endswith("_")}
    if not (own and bare and told <= _TOLD):
        return False
    if any(isinstance(part, Inert | np.ndarray) for name, part in held.items() if name not in told):
        return False
    # A function gets the rows of everybody at once: those of numpy take each number alone.
    func = held.get("func")
    single = isinstance(func, Global) and func.module == "numpy" and func.name in _OF_ONE_NUMBER
    return func is None or (single and not held.get("kw_args"))


def _plain(value: object, depth: int, what: str, *, tree: bool = False) -> object:
    """Return containers with their arrays in them: those are the columns of trees."""
    value = arrived(value)
    if depth > Deepest.form:
        raise ReadError(f"{what} is damaged: it is nested too deeply")
    if isinstance(value, dict):
        return {
            key: _plain(part, depth + 1, what, tree=tree or key == "trees")
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [_plain(part, depth + 1, what, tree=tree) for part in value]
    if isinstance(value, np.ndarray) and (not tree or depth < _COLUMN):
        raise ReadError(f"{what} is damaged: an array stands in the place of another part")
    return value
