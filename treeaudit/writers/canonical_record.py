"""The canonical record of a model: the attributes that its predictions need, and its settings.

Works on the records of the inert reader and makes records of the same kind. It keeps attributes
on the list of `treeaudit.writers.attribute_allowlist`, and settings of the allow-list of a class
if they are a number or a word; any other setting becomes None, and so does a seed. Attributes and
entries are sorted, and nothing is shared but the models that were audited: the result depends on
the model alone, not on the program that saved it.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from treeaudit.errors import UnsupportedModelError
from treeaudit.readers.limits import show
from treeaudit.readers.pickle.arrays import DType, arrived
from treeaudit.readers.pickle.inert import Global, Inert, Text
from treeaudit.readers.pickle.names import FUNCTIONS
from treeaudit.readers.pickle.tables import index_names
from treeaudit.readers.residual.allow_list import attributes_of, is_name
from treeaudit.readers.residual.extra_content import is_plain
from treeaudit.readers.sklearn.model_ref import elements
from treeaudit.writers.attribute_allowlist import ALLOWED, VERBATIM
from treeaudit.writers.node_tables import JSON

_LONGEST = 40
_DEEPEST = 40
_MOST_PARTS = 50_000_000
"""So much is written: lists that hold one another several times say more than a file holds."""
_LIBRARIES = frozenset("sklearn _loss xgboost lightgbm".split())
_STANDARD = frozenset("builtins __builtin__ collections functools scipy".split())
# How protocols before 3 call them.
_PYTHON_2 = {"unicode": "str", "long": "int"}
_TYPES = frozenset("object str float int bool bytes str.split str.lower str.strip".split())
_LOSSES = frozenset("_loss sklearn._loss._loss sklearn._loss.loss sklearn._loss.link".split())
_TEMPLATES = ("estimator_", "base_estimator_")
_BY_MASK = frozenset("RFE RFECV SequentialFeatureSelector".split())
_TREES_OF_BOOSTERS = frozenset("handle _handle".split())

Change = Mapping[str, object] | Inert | None
"""Attributes that take the place of those that were stored; a record that takes the place of the
whole; None where it is left out."""
Changes = Mapping[int, Change]
"""What becomes of records, by their identity."""

REMOVED = object()
"""In `Changes`: the attribute is left out."""


def is_seed(name: str) -> bool:
    """Tell whether a parameter of this name is a seed."""
    return name.endswith(("random_state", "seed"))


def sorted_pairs(pairs: Mapping[object, object]) -> list[tuple[object, object]]:
    """Return the entries of a dictionary in an order that does not depend on its history."""
    return sorted(pairs.items(), key=lambda pair: (type(pair[0]).__name__, repr(pair[0])))


class RecordCopier:
    """Copies records of fitted objects."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._made: dict[int, Inert] = {}
        self._given: dict[int, dict[str, object]] = {}
        self._parts = _MOST_PARTS
        # What was read stays as long as this, so that no identity is given twice.
        self._read: list[object] = []

    def __call__(self, value: object, *, fitted: bool = True, depth: int = 0) -> object:
        """Return what is written for a value."""
        value = arrived(value)
        self._parts -= 1 + (value.nbytes // 64 if isinstance(value, np.ndarray) else 0)
        if depth > _DEEPEST or self._parts < 0:
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
                return {kept(k): kept(v) for k, v in sorted_pairs(value)}
            case Inert():
                return self._object(value, fitted, depth)
        raise _refused(value)

    def has(self, changes: Changes) -> bool:
        """Tell whether one of these records, which change, was copied."""
        return not self._made.keys().isdisjoint(changes)

    def member(self, ensemble: Inert, record: Inert, tree: Inert) -> Inert:
        """Return one tree of an ensemble, with the settings that the ensemble gives to all."""
        if id(ensemble) not in self._given:
            self._given[id(ensemble)] = self._settings_of(ensemble, record)
        state = dict(self._given[id(ensemble)])
        for name, part in record.attributes.items():
            if name != "tree_" and name in ALLOWED.get(record.kind, ()) and is_learned(name):
                state[name] = self._needed(record, name, part, True, 1)
        state["tree_"] = tree
        if "_sklearn_version" in record.attributes:
            state["_sklearn_version"] = _version(ensemble.get("_sklearn_version"))
        return Inert(record.cls, state=dict(sorted(state.items())))

    def _settings_of(self, ensemble: Inert, record: Inert) -> dict[str, object]:
        """Return what an ensemble gives its members: its own settings, and those of a template."""
        templates = [
            one for name in _TEMPLATES if isinstance(one := arrived(ensemble.get(name)), Inert)
        ]
        template = next((one for one in templates if one.kind == record.kind), None)
        stated = {*elements(ensemble.get("estimator_params"))}
        own, given = ensemble.attributes, {}
        known = attributes_of(record.kind) or {}
        for name in (record if template is None else template).attributes:
            if is_learned(name) or name not in known:
                continue
            if name in own and (template is None or name in stated):
                given[name] = self._setting(ensemble, name, arrived(own[name]), 1)
            elif template is not None:
                given[name] = self._setting(template, name, arrived(template.get(name)), 1)
            else:
                given[name] = "best" if name == "splitter" else None
        return given

    def _name(self, name: Global) -> Global:
        if name.module == "__builtin__":
            name = replace(name, module="builtins", name=_PYTHON_2.get(name.name, name.name))
        of_numpy = name.module.partition(".")[0] == "numpy"
        if of_numpy or str(name) in FUNCTIONS or name.module in _LOSSES:
            return name
        if name.module == "builtins" and name.name in _TYPES:
            return name
        raise _refused(name)

    def _object(self, value: Inert, fitted: bool, depth: int) -> object:
        shared = fitted and id(value) in self._changes
        if shared and id(value) in self._made:
            return self._made[id(value)]
        if shared and not isinstance(change := self._changes[id(value)], Mapping):
            if change is not None:
                self._made[id(value)] = change
            return change
        library = value.cls.module.partition(".")[0]
        if value.cls.module.startswith(("numpy.random", "mtrand")):
            return None
        names = texts_of_index(value)
        if names is not None:
            return np.array(names, dtype=object)
        module = "builtins" if value.cls.module == "__builtin__" else value.cls.module
        made = Inert(cls=replace(value.cls, module=module))
        if shared:
            self._made[id(value)] = made
        self._read.append(value)
        if library in _LIBRARIES and value.kind in ALLOWED:
            made.state = self._attributes(value, fitted, depth)
        elif (library in _LIBRARIES | _STANDARD and value.kind in VERBATIM) or _is_loss(value):
            made.args = tuple(self(one, fitted=fitted, depth=depth + 1) for one in value.args)
            # A loss of a skops file has an empty state, which none of them takes.
            made.state = self(value.state, fitted=fitted, depth=depth + 1) or None
            made.pairs = {k: self(v, fitted=fitted, depth=depth + 1)
                          for k, v in sorted_pairs(value.pairs) if isinstance(k, str)}  # fmt: skip
            made.items = [self(v, fitted=fitted, depth=depth + 1) for v in value.items]
        elif not fitted and library in _LIBRARIES and attributes_of(value.kind) is not None:
            made.state = self._attributes(value, fitted, depth)
        else:
            raise _refused(value.cls)
        return made

    def _attributes(self, value: Inert, fitted: bool, depth: int) -> dict[str, object]:
        change = self._changes.get(id(value)) if fitted else None
        changed = change if isinstance(change, Mapping) else {}
        needed = ALLOWED.get(value.kind, frozenset())
        known = attributes_of(value.kind) or {}
        state: dict[str, object] = {}
        for name, part in sorted(value.attributes.items()):
            learned = is_learned(name)
            if name in changed:
                if changed[name] is not REMOVED:
                    state[name] = changed[name]
            elif name in _TREES_OF_BOOSTERS and value.kind == "Booster":
                raise _refused(value.cls)
            elif name == "_sklearn_version":
                state[name] = _version(part)
            elif name == "_sklearn_output_config":
                if part in [{"transform": form} for form in ("default", "pandas", "polars")]:
                    state[name] = part
            elif name == "named_estimators_":
                if fitted:
                    state[name] = _by_name(value, part, state.get("estimators_"))
            elif name in needed and (fitted or not learned):
                state[name] = self._needed(value, name, part, fitted, depth + 1)
            elif not learned and name in known:
                state[name] = self._setting(value, name, arrived(part), depth + 1)
        return state

    def _needed(self, value: Inert, name: str, part: object, fitted: bool, depth: int) -> object:
        """Return an attribute that an answer hangs on."""
        part = arrived(part)
        if name in ("estimators", "transformers"):
            # Templates: what was fitted stands elsewhere.
            part = as_fitted(value, part) if name == "transformers" else part
            return self(part, fitted=False, depth=depth)
        if name in _TEMPLATES and value.get("estimators_") is not None:
            return self(part, fitted=False, depth=depth)
        if name == "estimator_params":
            names = {one for one in elements(part) if isinstance(one, str) and is_name(one)}
            return tuple(sorted(names))
        if name == "bin_thresholds_":
            return _category_bins(value, part)
        if value.kind in _BY_MASK and name == "estimator_":
            # Which columns stay is known; what chose them answers nothing.
            return self(part, fitted=False, depth=depth)
        if name == "kw_args" and part is not None:
            return self._arguments(value, part)
        return self(part, fitted=fitted, depth=depth)

    def _arguments(self, value: Inert, part: object) -> object:
        """Return what a function is called with: plain values."""
        if value.get("func") is None and value.get("inverse_func") is None:
            return None
        plain = isinstance(part, dict) and all(is_plain(one, _LONGEST) for one in part.values())
        if not plain:
            raise UnsupportedModelError(f"a step calls its function with more than numbers: {JSON}")
        return self(part)

    def _setting(self, value: Inert, name: str, part: object, depth: int) -> object:
        """Return a setting, or None in the place of one that is more than a number or a word."""
        if is_seed(name) or name == "memory":
            return None
        if isinstance(part, Text) or (isinstance(part, str) and not part.isprintable()):
            return None
        if is_plain(part, _LONGEST):
            return part
        if name == "class_weight" and isinstance(part, dict) and _by_class(value, part):
            return dict(sorted_pairs(part))
        if name == "monotonic_cst" and isinstance(part, list | np.ndarray):
            # Where leaves are clipped, their shares are none of people.
            signs = np.asarray(part).tolist()
            return signs if all(sign in (-1, 0, 1) for sign in signs) else None
        if isinstance(part, Global) and str(part) in FUNCTIONS:
            return part
        if isinstance(part, Inert) and attributes_of(part.kind) and part.kind in ALLOWED:
            return self(part, fitted=False, depth=depth)
        return None


def is_learned(name: str) -> bool:
    """Tell whether an attribute of this name is learned, and no setting."""
    return name.startswith("_") or name.endswith("_")


def _version(part: object) -> object:
    """Return the version of a library, or None in the place of anything else."""
    return part if isinstance(part, str) and len(part) <= 20 and part.isprintable() else None


def _by_name(value: Inert, part: object, members: object) -> object:
    """Return the members of an ensemble by their names: the objects of ``estimators_``."""
    if not isinstance(part, Inert) or not isinstance(members, list):
        return part if part == {} else None
    number = {id(one): i for i, one in enumerate(elements(value.get("estimators_")))}
    named: dict[object, object] = {
        name: "drop" if one == "drop" else members[number[id(arrived(one))]]
        for name, one in sorted_pairs(part.pairs)
        if isinstance(name, str) and (one == "drop" or id(arrived(one)) in number)
    }
    return Inert(part.cls, pairs=named)


def texts_of_index(value: object) -> list[str] | None:
    """Return the names in a column index of pandas, whose own form no two versions share."""
    if not isinstance(value, Inert) or value.cls.module.partition(".")[0] != "pandas":
        return None
    if value.kind not in ("_new_Index", "Index"):
        return None
    return index_names(value)


def _by_class(value: Inert, weights: dict[object, object]) -> bool:
    """Tell whether these are weights of the classes of a model."""
    stored = arrived(value.get("classes_"))
    classes = stored.tolist() if isinstance(stored, np.ndarray) else []
    if not all(isinstance(one, str | int | float) for one in (*classes, *weights)):
        return False
    return set(weights) <= set(classes) and all(map(_is_number, weights.values()))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and is_plain(value, 0)


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
    rows = isinstance(value, Global) and value.name.startswith(("KN", "Nearest", "Radius"))
    why = ", which keeps rows of its training data and" if rows else ", which"
    return UnsupportedModelError(f"the model holds {show(value)}{why} is not written back: {JSON}")
