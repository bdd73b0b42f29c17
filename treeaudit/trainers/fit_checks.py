"""Before a fit: parameters that every trainer has, and whether a search of scikit-learn fits.

An estimator that is cloned and fitted again is told nothing of who does it. What a search of
scikit-learn does shows in the calls that lead to a fit, in its own processes too; its exact
scores are in no ledger. After it: the forest as plain data, for the pickle of a trainer, so that
no class of ours is needed to read it.
"""

import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from numbers import Real
from types import FrameType, NoneType
from typing import Any, Literal, get_args, get_origin

import numpy as np
from sklearn.utils import check_random_state

from treeaudit.arrays import Array, Float
from treeaudit.dp.budget import Budget
from treeaudit.dp.ledger import Ledger, Query
from treeaudit.dp.subsampling import Entropy, OperatingSystem, Seeded
from treeaudit.errors import PrivacyError, PrivacyWarning
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.schema_file import read_schema
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.native_json import forest_of
from treeaudit.writers.native_json import to_dict

FROM_DATA = "from-data"
_MOST_THREADS = 1024
WITH_DELTA = "a budget counts fits that are private by epsilon alone, and this one has a delta"


def refuse_extras(given: Mapping[str, Any]) -> None:
    """Refuse what ``fit`` does not take, weights of records above all."""
    names = [name for name, value in given.items() if value is not None]
    if "sample_weight" in names:
        raise PrivacyError(
            "sample_weight is refused: a weight multiplies what one person can change, and the "
            "epsilon would no longer hold; fit without it"
        )
    if names:
        raise TypeError(f"fit takes X, y and person, and no {names[0]!r}")


def check_unit(person: object, rows_per_person: int | None) -> None:
    """Refuse persons without a bound on their rows, and a bound without persons."""
    if person is not None and rows_per_person is None:
        raise PrivacyError(
            "person tells whose each row is: say with rows_per_person how many rows of one person "
            "may count; the most that anybody has is private itself"
        )
    if person is None and rows_per_person is not None:
        raise PrivacyError(
            "rows_per_person bounds the rows of a person, and fit was not told whose each row is: "
            "fit(X, y, person=...), one name or number a row"
        )


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Refuse a value that is none of the choices."""
    if value not in choices:
        known = " or ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} is {value!r}: it must be {known}")


def check_delta(delta: object) -> None:
    """Refuse a delta that is no chance; None is none."""
    number = isinstance(delta, int | float) and not isinstance(delta, bool)
    if delta is not None and not (number and 1e-100 <= delta < 1):  # type: ignore[operator]
        raise ValueError(f"delta is {delta!r}: it must be above 0 and below 1")


def check_share(name: str, value: object, *, none: bool = False) -> None:
    """Refuse what is no share of a whole, or all of it; ``none`` is one where that is told."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not (0 < value < 1 or (none and value == 0)):  # type: ignore[operator]
        least = "at least 0" if none else "above 0"
        raise ValueError(f"{name} is {value!r}: it must be {least} and below 1")


def check_jobs(n_jobs: object) -> None:
    """Refuse what is no number of threads; whether there are any to start hangs on the rows."""
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and 1 <= abs(int(n_jobs)) <= _MOST_THREADS):  # type: ignore[call-overload]
        raise ValueError(
            f"n_jobs is {n_jobs!r}: it must be None, a whole number from 1 to {_MOST_THREADS}, or "
            "-1 for all processors"
        )


_MOST_ROWS = 1_000_000
SIZES: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("n_estimators", "n_public_trees"), (1, 10_000)),
    **dict.fromkeys(("max_leaves", "max_records"), (1, 2**31)),
    "max_depth": (1, 64),
    "min_records": (0, 2**31),
    "n_bins": (2, 1000),
    "n_records": (1, 2**40),
    "n_specializations": (1, 1000),
    "rows_per_person": (1, _MOST_ROWS),
}
"""Bounds of the parameters that are whole numbers."""


def check_parameters(trainer: Any, sizes: Mapping[str, tuple[int, int]] = SIZES) -> None:  # noqa: ANN401  # a dataclass
    """Refuse flags, choices and whole numbers that are none, by the types of the parameters."""
    for one in fields(trainer):
        value = getattr(trainer, one.name) if one.init else None
        if one.type is bool and not isinstance(value, bool):
            raise ValueError(f"{one.name} is {value!r}: it must be True or False")
        if get_origin(one.type) is Literal:
            check_choice(one.name, value, get_args(one.type))
        if one.name in sizes and not (value is None and NoneType in get_args(one.type)):
            check_whole(one.name, value, *sizes[one.name])


def plain_numbers(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as numbers of Python's own, whose whole numbers do not end."""
    return {name: _plain_number(name, value) for name, value in parameters.items()}


def _plain_number(name: str, value: object) -> object:
    if isinstance(value, Fraction) and name != "epsilon":
        return float(value)
    return value.item() if isinstance(value, np.generic) else value


def check_whole(name: str, value: object, least: int, most: int) -> None:
    """Refuse what is no whole number within bounds."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not least <= int(value) <= most:  # type: ignore[call-overload]
        raise ValueError(f"{name} is {value!r}: it must be a whole number from {least} to {most}")


def public_schema(schema: object) -> Schema | str:
    """Return a schema, read if it is a path, or the wish to take it from the data; refuse none."""
    if isinstance(schema, Schema):
        return schema
    if isinstance(schema, str) and schema == FROM_DATA:
        return FROM_DATA
    if isinstance(schema, str | os.PathLike):
        return read_schema(schema)
    if schema is None:
        raise PrivacyError(
            "a private fit needs a public schema, the bounds, categories and classes that "
            "everybody may know: schema=Schema.from_public(public_table, target=...), or the path "
            "of a confirmed schema file; schema='from-data' takes them from the data and marks "
            "the model as not private"
        )
    raise TypeError(
        f"schema must be a treeaudit.Schema, the path of a schema file or {FROM_DATA!r}, "
        f"not a {type(schema).__name__}"
    )


def reasons_not_private(schema: Schema | str, random_state: object) -> tuple[str, ...]:
    """Return why the parameters alone already undo the claim."""
    reasons = []
    if not isinstance(schema, Schema):
        reasons.append("bounds, categories and classes were taken from the private data")
    if random_state is not None:
        reasons.append("random_state was set: whoever guesses it can subtract the noise")
    return tuple(reasons)


def entropy_of(random_state: Any) -> Entropy:  # noqa: ANN401  # as in scikit-learn
    """Return the source of all noise: the operating system, unless there is a seed."""
    if random_state is None:
        return OperatingSystem()
    state = check_random_state(random_state)
    return Seeded(state.randint(0, 1 << 32, size=4, dtype=np.uint32))


def answering(schema: Schema) -> Schema:
    """Return the schema of a model that takes categories it does not know as missing."""
    named = (replace(f, ignores_unknown=f.categories is not None) for f in schema.features)
    return replace(schema, features=tuple(named))


_SEARCH = "sklearn.model_selection._search"
_ELIMINATION = "sklearn.feature_selection._rfe"
_FIT_OFTEN = (
    *("sklearn.model_selection._validation", _SEARCH),
    *("sklearn.calibration", "sklearn.feature_selection._sequential", _ELIMINATION),
)
_MADE_FOR = "_made_for_search"
_FOLDS = ("_fit_and_score_over_thresholds",)
_TRIALS = ("_run_search", "evaluate_candidates")

_CHOSEN = (
    "a search chose its parameters by exact scores on private people, which no ledger counts; "
    "treeaudit.trainers.PrivateSearch chooses privately"
)


class Searched:
    """A part of every estimator that asks private people: its clones know what they are made for.

    What a search chose may be fitted inside another estimator, in processes of its own, where the
    calls that lead to the fit no longer tell of the search. It was cloned by it, though.
    """

    def __sklearn_clone__(self) -> Any:  # noqa: ANN401  # one of its own class
        made = super().__sklearn_clone__()  # type: ignore[misc]
        if _of_winner(_callers()) or _MADE_FOR in vars(self):
            vars(made)[_MADE_FOR] = True
        return made


def warn_of_search(estimator: Searched) -> bool:
    """Warn where a search or cross-validation of scikit-learn fits; tell whether of its winner."""
    callers = _callers()
    made_for = vars(estimator).pop(_MADE_FOR, False)
    if any(module.startswith(_FIT_OFTEN) or function in _FOLDS for module, function in callers):
        warnings.warn(
            "a search or cross-validation of scikit-learn fits a private model: every fit costs "
            "its epsilon again, and scores on private people are exact; "
            "treeaudit.trainers.PrivateSearch chooses for one epsilon",
            PrivacyWarning,
            stacklevel=3,
        )
    return _of_winner(callers) or bool(made_for)


def _callers() -> list[tuple[str, str]]:
    """Return the modules and functions that led here, the innermost first."""
    callers: list[tuple[str, str]] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        callers.append((str(frame.f_globals.get("__name__")), frame.f_code.co_name))
        frame = frame.f_back
    return callers


def _of_winner(callers: Iterable[tuple[str, str]]) -> bool:
    """Tell whether a fit is of what was chosen, by the modules and functions around it.

    A search that is itself fitted in folds, or in another search, hands its winner out all the
    same: every search in which the fit is not one of its trials has chosen.
    """
    trial = False
    for module, function in callers:
        if module == _ELIMINATION:
            return True
        if module == _SEARCH and function in _TRIALS:
            trial = True
        elif module == _SEARCH and function == "fit":
            if not trial:
                return True
            trial = False
    return False


def chosen(ledger: Ledger, before: Fraction) -> Ledger:
    """Return the ledger of a model that a search chose, with all that was paid before."""
    earlier = Query(
        name="earlier fits of the same account",
        mechanism="as in their own ledgers",
        epsilon=before,
        sensitivity=Fraction(1),
        neighbours=ledger.neighbours,
    )
    return replace(
        ledger,
        queries=(*([earlier] if before else []), *ledger.queries),
        budget=ledger.budget + before,
        reasons=(*ledger.reasons, _CHOSEN),
    )


_NARROW = {"i": (np.int8, np.int16, np.int32)}
_ARRAYS = ("parent", "feature", "missing", "counts", "label", "value")


def pickled_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator as its pickle holds them, without seed and account."""
    held = dict(state)
    if "forest_" in held:
        held = plain_numbers(held)
        held["forest_"] = pack(held["forest_"])
        held["random_state"] = None
        if isinstance(held["epsilon"], Fraction):
            # A pickle of plain numbers; the ledger has it exactly.
            held["epsilon"] = float(held["epsilon"])
        if not isinstance(held["schema"], Schema) and held["schema"] != FROM_DATA:
            # The file stands on the machine of the fit.
            held["schema"] = None
        if held["budget"] is not None:
            held["budget"] = held["budget"].epsilon
    return held


def restored_state(held: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator from those in its pickle."""
    state = dict(held)
    if "forest_" in state:
        state["forest_"] = unpack(state["forest_"])
    if isinstance(state.get("budget"), float):
        state["budget"] = Budget.elsewhere(state["budget"])
    return state


def pack(forest: Forest) -> dict[str, Any]:
    """Return the JSON form of a forest, with arrays in the place of lists."""
    return {**to_dict(replace(forest, trees=())), "trees": [_tree(tree) for tree in forest.trees]}


def _tree(tree: Tree) -> dict[str, Any]:
    held = {name: getattr(tree, name) for name in _ARRAYS}
    form: dict[str, Any] = {n: _small(array) for n, array in held.items() if array is not None}
    form |= {"low": _bounds(tree.low), "high": _bounds(tree.high)}
    if tree.categories is not None:
        start, codes = tree.categories.start, tree.categories.codes
        form["categories"] = {"start": _small(start), "codes": _small(codes)}
    return form


def _bounds(bound: Float) -> Any:  # noqa: ANN401  # an array, or two where most are open
    closed = np.flatnonzero(np.isfinite(bound))
    if 2 * len(closed) > len(bound):
        return bound
    return {"at": _small(closed), "is": bound[closed]}


def _small(array: Array) -> Array:
    """Return an array in the smallest numbers that hold it exactly."""
    narrow: Array
    for kind in _NARROW.get(array.dtype.kind, ()):
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = array.astype(kind)
        if narrow.dtype.itemsize < array.dtype.itemsize and np.array_equal(narrow, array):
            return narrow
    return array


def unpack(data: Mapping[str, Any]) -> Forest:
    """Return the forest that `pack` took apart."""
    return forest_of(data, Source())
