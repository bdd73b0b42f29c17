"""The record of a model without what no answer hangs on: what is written back in place.

Works on what an inert reader holds and makes the same kind of data. Attributes
that `treeaudit.writers.needed` lists are kept, and settings; seeds become None.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from treeaudit.errors import UnsupportedModelError
from treeaudit.readers.estimators.found import elements
from treeaudit.readers.leftovers.attributes import attributes_of, is_name
from treeaudit.readers.leftovers.documents import is_plain
from treeaudit.readers.leftovers.form_parts import is_seed
from treeaudit.readers.leftovers.forms import is_setting, is_weight
from treeaudit.readers.leftovers.settled import Settled
from treeaudit.readers.limits import show
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.dtypes import DType
from treeaudit.readers.pickles.inert import Global, Inert, Text
from treeaudit.writers.binary import JSON
from treeaudit.writers.needed import NEEDED, VERBATIM

__all__ = ["GONE", "Kept", "as_fitted"]

_LONGEST = 200
_DEEPEST = 40
_LIBRARIES = frozenset("sklearn _loss xgboost lightgbm".split())
_STANDARD = frozenset("builtins __builtin__ collections functools pandas".split())
# How protocols before 3 call them.
_MODULES = {"__builtin__": "builtins"}
_PYTHON_2 = {"unicode": "str", "long": "int"}
_FUNCTIONS = frozenset(
    "sklearn.utils.validation.check_array pandas.core.indexes.base.Index".split()
)
_LOSSES = frozenset("_loss sklearn._loss._loss sklearn._loss.loss sklearn._loss.link".split())

Changes = Mapping[int, Mapping[str, object]]
"""By the identity of a record: attributes that take the place of those that were stored."""


class Kept:
    """Copies records of fitted objects, each once.

    Parameters
    ----------
    changes
        What was repaired.
    settled
        What is known of the settings of other records that are written beside it.
    """

    def __init__(self, changes: Changes, settled: Settled | None = None) -> None:
        self._changes = changes
        self._made: dict[tuple[int, bool], object] = {}
        self._settled = Settled() if settled is None else settled
        # What was read stays as long as this, so that no identity is given twice.
        self._read: list[object] = []

    def __call__(self, value: object, *, fitted: bool = True, depth: int = 0) -> object:
        """Return what is written for a value.

        Parameters
        ----------
        fitted
            Whether what was learned is kept, and not the settings alone.

        Raises
        ------
        UnsupportedModelError
            If it holds what is not written back.
        """
        value = arrived(value)
        if depth > _DEEPEST:
            raise UnsupportedModelError(f"the model is nested too deeply to write it: {JSON}")

        def kept(one: object) -> object:
            return self(one, fitted=fitted, depth=depth + 1)

        match value:
            case Text():
                raise UnsupportedModelError(
                    f"the model was written by Python 2, whose files are not written back: {JSON}"
                )
            case None | bool() | int() | float() | str() | bytes() | DType():
                return value
            case Global():
                return self._name(value)
            case np.ndarray() if value.dtype.metadata:
                raise UnsupportedModelError(f"the model holds dates, which are not written: {JSON}")
            case np.ndarray() if value.dtype != object:
                return value
            case np.ndarray():
                made = np.empty(value.size, dtype=object)
                for i, one in enumerate(value.ravel().tolist()):
                    made[i] = kept(one)
                return made.reshape(value.shape)
            case list():
                return [kept(one) for one in value]
            case tuple():
                return tuple(kept(one) for one in value)
            case dict():
                return {kept(k): kept(v) for k, v in value.items()}
            case Inert():
                return self._object(value, fitted, depth)
        raise _refused(value)

    def _name(self, name: Global) -> Global:
        if name.module == "__builtin__":
            name = replace(name, module="builtins", name=_PYTHON_2.get(name.name, name.name))
        of_numpy = name.module.partition(".")[0] == "numpy"
        if of_numpy or str(name) in _FUNCTIONS or name.module in _LOSSES:
            return name
        if name.module == "builtins" and name.name in ("object", "str", "float", "int", "bool"):
            return name
        raise _refused(name)

    def _object(self, value: Inert, fitted: bool, depth: int) -> object:
        key = (id(value), fitted)
        if key in self._made:
            return self._made[key]
        library = value.cls.module.partition(".")[0]
        if value.cls.module.startswith(("numpy.random", "mtrand")):
            return None
        module = value.cls.module
        made = Inert(cls=replace(value.cls, module=_MODULES.get(module, module)))
        self._made[key] = made
        self._read.append(value)
        if library in _LIBRARIES and value.kind in NEEDED:
            made.state = self._attributes(value, fitted, depth)
        elif (library in _LIBRARIES | _STANDARD and value.kind in VERBATIM) or _is_loss(value):
            made.args = tuple(self(one, fitted=fitted, depth=depth + 1) for one in value.args)
            # A loss of a skops file has an empty state, which none of them takes.
            made.state = self(value.state, fitted=fitted, depth=depth + 1) or None
            made.pairs = {k: self(v, fitted=fitted, depth=depth + 1)
                          for k, v in value.pairs.items() if isinstance(k, str)}  # fmt: skip
            made.items = [self(v, fitted=fitted, depth=depth + 1) for v in value.items]
        elif not fitted and library in _LIBRARIES and attributes_of(value.kind) is not None:
            made.state = self._attributes(value, fitted, depth)
        else:
            raise _refused(value.cls)
        return made

    def _attributes(self, value: Inert, fitted: bool, depth: int) -> dict[str, object]:
        changed = self._changes.get(id(value), {}) if fitted else {}
        needed = NEEDED.get(value.kind, frozenset())
        known = attributes_of(value.kind) or {}
        state: dict[str, object] = {}
        for name, part in value.attributes.items():
            learned = name.startswith("_") or name.endswith("_")
            if name in changed:
                if changed[name] is not GONE:
                    state[name] = changed[name]
            elif name == "_sklearn_version":
                state[name] = part if is_setting(str(part), name) else None
            elif name == "_sklearn_output_config":
                if part in [{"transform": form} for form in ("default", "pandas", "polars")]:
                    state[name] = part
            elif name in needed and (fitted or not learned):
                state[name] = self._needed(value, name, part, fitted, depth + 1)
            elif not learned and name in known:
                state[name] = self._setting(value, name, arrived(part), depth + 1)
        return state

    def _needed(self, value: Inert, name: str, part: object, fitted: bool, depth: int) -> object:
        part = arrived(part)
        if name in ("estimators", "transformers"):
            # Templates: what was fitted stands elsewhere.
            part = as_fitted(value, part) if name == "transformers" else part
            return self(part, fitted=False, depth=depth)
        if name in ("estimator_", "base_estimator_") and value.get("estimators_") is not None:
            return self(part, fitted=False, depth=depth)
        if name == "named_estimators_" and isinstance(part, Inert):
            members = {id(one) for one in elements(value.get("estimators_"))}
            named = {k: one for k, one in part.pairs.items()
                     if one == "drop" or id(arrived(one)) in members}  # fmt: skip
            part = replace(part, pairs=named)
        if name == "estimator_params":
            return tuple(one for one in elements(part) if isinstance(one, str) and is_name(one))
        if name == "bin_thresholds_":
            return _category_bins(value, part)
        return self(part, fitted=fitted, depth=depth)

    def _setting(self, value: Inert, name: str, part: object, depth: int) -> object:
        """Return a setting, or None in the place of one that is more than a number or a word."""
        if is_seed(name):
            return None
        if isinstance(part, str):
            return part if is_setting(part, name) and not isinstance(part, Text) else None
        if is_plain(part, _LONGEST):
            return part if self._settled.takes(value.kind, name, part) else None
        if name == "class_weight" and isinstance(part, dict) and _by_class(value, part):
            return dict(part) if self._settled.takes(value.kind, name, repr(part)) else None
        if isinstance(part, Inert) and attributes_of(part.kind) and part.kind in NEEDED:
            return self(part, fitted=False, depth=depth)
        return None


GONE = object()
"""In `Changes`: the attribute is left out."""


def _by_class(value: Inert, weights: dict[object, object]) -> bool:
    """Tell whether these are weights of the classes of a model."""
    stored = arrived(value.get("classes_"))
    classes = stored.tolist() if isinstance(stored, np.ndarray) else []
    return set(weights) <= set(classes) and all(map(is_weight, map(arrived, weights.values())))


def _category_bins(mapper: Inert, bins: object) -> object:
    """Leave out the thresholds of numbers: an answer asks for the categories alone."""
    flags = arrived(mapper.get("is_categorical_"))
    if not isinstance(bins, list) or not isinstance(flags, np.ndarray) or len(flags) != len(bins):
        raise UnsupportedModelError(f"the bins of the boosting do not fit its columns: {JSON}")
    kept = [arrived(one) for one in bins]
    none = np.empty(0, dtype=np.float64)
    return [one if flag else none for one, flag in zip(kept, flags.tolist(), strict=True)]


def as_fitted(columns: Inert, stated: object) -> object:
    """Name the columns that were chosen instead of the function that chose them."""
    chosen = columns.get("_columns")
    if not isinstance(stated, list) or not isinstance(chosen, list) or len(chosen) != len(stated):
        return stated
    pairs = zip(stated, chosen, strict=True)
    return [(*one[:2], where) if isinstance(one, tuple) else one for one, where in pairs]


def _is_loss(value: Inert) -> bool:
    """Tell whether this is a loss function or a link, which hold settings alone."""
    module = value.cls.module
    return module.startswith(("_loss", "sklearn._loss", "sklearn.ensemble._gb_losses")) or (
        module in ("sklearn.ensemble.gradient_boosting", "sklearn.ensemble._gb",
                   "sklearn.ensemble._hist_gradient_boosting.loss")
        and value.kind.endswith(("Deviance", "Error", "Loss", "Function", "Entropy"))
    )  # fmt: skip


def _refused(value: object) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"the model holds {show(value)}, which is not written back: {JSON}"
    )
