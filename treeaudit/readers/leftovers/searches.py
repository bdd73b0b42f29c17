"""What searches and compositions were set to, and what follows from it: no room beside."""

import math
from collections.abc import Set
from itertools import pairwise

import numpy as np

from treeaudit.readers.leftovers.attributes import is_name, listed
from treeaudit.readers.leftovers.distributions import is_distribution
from treeaudit.readers.leftovers.forms import is_sound
from treeaudit.readers.leftovers.sizes import length
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.types import Array, Float

__all__ = [
    "TRIED",
    "are_scores_of_thresholds",
    "bears_tree",
    "follows_from_an_order",
    "follows_from_settings",
    "is_fitted_name",
    "is_own_method",
    "is_to_be_tried",
    "names_a_setting",
]

TRIED = frozenset("param_grid param_distributions best_params_".split())
"""Attributes of a search that hold what it tried, estimators among them."""

_HALVED = ("n_candidates_", "n_resources_")
_MOST_PARTS, _MOST_WORDS, _MOST_TIMES = 400, 5, 32
_MOST_THRESHOLDS, _USUAL_THRESHOLDS = 200, 100
_LARGEST, _MOST_FACTOR = 1 << 32, 1_000


def bears_tree(value: Inert) -> bool:
    """Tell whether an object is a tree, or ends in one."""
    for _ in range(8):
        if value.kind in ("Tree", "TreePredictor") or value.get("tree_") is not None:
            return True
        steps = arrived(value.get("steps"))
        last = steps[-1] if isinstance(steps, list) and steps else None
        inner = last[-1] if isinstance(last, tuple) and last else value.get("estimator")
        members = arrived(value.get("estimators_"))
        if isinstance(members, list | np.ndarray) and length(members):
            inner = members[0] if isinstance(members, list) else next(members.flat, None)
        inner = arrived(inner)
        if not isinstance(inner, Inert):
            return value.get("_predictors") is not None
        value = inner
    return False


def is_to_be_tried(value: Inert) -> bool:
    """Tell whether an object holds settings alone: it was not fitted, nor was any in it."""
    todo, seen = list[object]([value]), set[int]()
    while todo:
        part = arrived(todo.pop())
        if id(part) in seen or not isinstance(part, Inert | dict | list | tuple):
            continue
        seen.add(id(part))
        if len(seen) > _MOST_PARTS:
            return False
        if not isinstance(part, Inert):
            todo += part.values() if isinstance(part, dict) else part
            continue
        if is_distribution(part):
            # It is held against that of scipy.
            continue
        if listed(part) is None or any(is_fitted_name(name) for name in part.attributes):
            return False
        todo += [part.state, *part.args, *part.items, *part.pairs.values()]
    return True


def is_fitted_name(name: object) -> bool:
    """Tell whether an attribute of this name is written by fitting.

    Examples
    --------
    >>> is_fitted_name("classes_"), is_fitted_name("max_depth")
    (True, False)
    """
    return isinstance(name, str) and name.endswith("_") and not name.startswith("__")


def names_a_setting(text: str, names: Set[str]) -> bool:
    """Tell whether a text is the way to a parameter, by steps and words that are known.

    Examples
    --------
    >>> names_a_setting("clf__n_estimators", {"clf"}), names_a_setting("Ann__33", {"clf"})
    (True, False)
    """
    words = text.split("__")
    return len(words) <= _MOST_WORDS and all(word in names or is_name(word) for word in words)


def follows_from_settings(name: str, value: object, model: Inert) -> bool:
    """Tell whether an attribute holds numbers by the names of steps, or what a search counted.

    Parameters
    ----------
    name
        The attribute: the weights of steps, or how many candidates, or resources, were there
        each time.
    value
        What it holds.
    model
        Whose it is.
    """
    if name == "transformer_weights" and isinstance(value, dict):
        return _are_weights(value, model)
    if name not in _HALVED or not isinstance(value, list) or not 0 < len(value) <= _MOST_TIMES:
        return False
    told = [_whole(one) for one in value]
    factor = model.get("factor")
    if not isinstance(factor, int | float) or not 1 < factor < _MOST_FACTOR or 0 in told:
        return False
    if len(told) != model.get("n_iterations_"):
        return False
    if name == "n_candidates_":
        return all(later == math.ceil(one / factor) for one, later in pairwise(told))
    stated = ("min_resources_", "max_resources_", "n_required_iterations_")
    least, most, needed = (_whole(model.get(each)) for each in stated)
    possible = _whole(model.get("n_possible_iterations_"))
    if max(needed, possible) > _MOST_TIMES:
        return False
    waits = needed - possible if model.get("aggressive_elimination") else 0
    powers = [max(0, i - waits) for i in range(len(told))]
    return told == [min(int(factor**power * least), most) for power in powers]


def _whole(value: object) -> int:
    """Return a number of something; 0 for what is none."""
    return value if type(value) is int and 0 < value < _LARGEST else 0


def _is_number(value: object) -> bool:
    return type(value) is float or (type(value) is int and 0 <= value < _LARGEST)


def _are_weights(value: dict[object, object], model: Inert) -> bool:
    steps = [arrived(model.get(name)) for name in ("transformers", "transformer_list")]
    parts = [step for each in steps if isinstance(each, list) for step in map(arrived, each)]
    first = [step[0] for step in parts if isinstance(step, tuple) and step]
    names = {name for name in first if isinstance(name, str)}
    return names.issuperset(value) and all(map(_is_number, map(arrived, value.values())))


def are_scores_of_thresholds(value: object, model: Inert) -> bool:
    """Tell whether this is what a choice of a threshold went by, the best of which it states."""
    if not isinstance(value, dict) or value.keys() != {"thresholds", "scores"}:
        return False
    at, scores = _numbers(value["thresholds"]), _numbers(value["scores"])
    if at is None or scores is None or len(at) != len(scores):
        return False
    stated = arrived(model.get("thresholds"))
    if isinstance(stated, int | None):
        n = _USUAL_THRESHOLDS if stated is None else stated
        even = len(at) == n and np.array_equal(at, np.linspace(at[0], at[-1], n))
    else:
        given = stated.tolist() if isinstance(stated, np.ndarray) else stated
        even = isinstance(given, list | tuple) and list(given) == at.tolist()
    best = int(scores.argmax())
    said = model.get("best_threshold_"), model.get("best_score_")
    return even and said == (float(at[best]), float(scores[best]))


def _numbers(stored: object) -> Float | None:
    """Return few numbers in a row, or None."""
    row = arrived(stored)
    if not isinstance(row, np.ndarray) or row.dtype != np.float64 or row.ndim != 1:
        return None
    return row if 1 < len(row) <= _MOST_THRESHOLDS and np.isfinite(row).all() else None


def follows_from_an_order(widths: Array, ranking: object, support: object) -> bool:
    """Tell whether these say nothing but the order in which columns were left out.

    Parameters
    ----------
    widths
        How many columns each candidate has, ascending.
    ranking, support
        A row for each: the rank of each column, 1 for those that it has; and which these are.

    Examples
    --------
    >>> has = np.array([[False, True], [True, True]])
    >>> rank = np.array([[2, 1], [1, 1]])
    >>> follows_from_an_order(np.array([1, 2]), rank, has)
    True
    >>> follows_from_an_order(np.array([1, 2]), rank + 33, has)
    False
    """
    rank, has = arrived(ranking), arrived(support)
    if not isinstance(rank, np.ndarray) or not isinstance(has, np.ndarray) or rank.ndim != 2:
        return False
    if rank.dtype.kind not in "iu" or has.dtype.kind != "b" or not is_sound(has):
        return False
    if has.shape != rank.shape or len(has) != len(widths):
        return False
    nested = bool((has[:-1] <= has[1:]).all()) and bool((has.sum(axis=1) == widths).all())
    # What was left out last has rank 2.
    since = np.cumsum(~has[::-1], axis=0)[::-1]
    return nested and bool((rank == 1 + since).all())


def is_own_method(value: object, model: Inert, name: str) -> bool:
    """Tell whether a value is the method of this name of the object that holds it.

    scikit-learn leaves one behind where boosting stopped by a score.
    """
    if not isinstance(value, Inert) or len(value.args) != 1 or value.args[0] is not model:
        return False
    bare = value.state is None and not value.items and not value.pairs
    return bare and str(value.cls) == f"{model.cls}.{name}"
