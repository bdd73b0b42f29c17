"""Which values of a file its models account for, and which they do not.

Every object whose class is listed (`attributes_of`) has the attributes of its
class; a value is explained where it has a form that the attribute has, and no
more rows than the model has columns, classes, trees or steps (`sizes`). All
else is weighed and named by its place, masked.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.leftovers.attributes import attributes_of, is_option
from treeaudit.readers.leftovers.nodes import is_path_length, unused_in_predictor, unused_in_tree
from treeaudit.readers.leftovers.sizes import Facts, own_sizes, width_of
from treeaudit.readers.leftovers.weights import mask, not_explained, weigh
from treeaudit.readers.limits import Deepest
from treeaudit.readers.pickles.arrays import DType, arrived
from treeaudit.readers.pickles.inert import Global, Inert
from treeaudit.readers.types import Array
from treeaudit.readers.walk import Place

__all__ = ["Account"]

_LIBRARIES = frozenset(
    "sklearn _loss imblearn xgboost lightgbm treeaudit scipy builtins __builtin__".split()
)
_NAME = re.compile(r"[A-Za-z_][\w .:-]{0,39}")
_VERSION = re.compile(r"\d{1,4}(\.\w{1,8}){1,4}")
_GENERATORS = frozenset("random_state _random_state random_state_ _rng rng".split())
_COMMON = {"_sklearn_output_config": "d", "_metadata_request": "o", "feature_names_in_": "n1"}
_OWN_GENERATORS = frozenset({"_rng", "_feature_subsample_rng"})
_PHRASE = re.compile(
    r"You are accessing a training score \('\w{1,40}'\), which will not be available by default any "
    r"more in 0\.21\. If you need training scores, please set return_train_score=True"
)
_OBJECTIVE = re.compile(r"[a-z]{3,8}:[a-z_]{2,24}")
_RESULT = re.compile(
    r"params|iter|n_resources|param_\w{1,60}|(mean|std)_(fit|score)_time"
    r"|(mean|std|rank|split\d{1,4})_(test|train)_\w{1,40}"
)
_FREE = frozenset("fill_value missing_values".split())
_LONGEST = {"feature_names_in_": 100}
_LONGEST_LABEL = 64
_FEW = 16
_MOST_OBJECTS = 64
# Values of single columns, sorted: TA204 tells of them.
_SORTED = frozenset(
    "quantiles_ references_ bin_thresholds_ bin_edges_ X_thresholds_ y_thresholds_".split()
)
_MEMBERS = frozenset(
    "estimators_ calibrated_classifiers_ _predictors calibrators _calibrators".split()
)
_NAMING = frozenset("feature_names_in_ _feature_names_in feature_names_in".split())
_ANY_FORM = "osdn3"
_Sizes = frozenset[int]


class Account:
    """Goes through a file along what its classes are known to hold.

    Parameters
    ----------
    facts
        Sizes and names of its models.
    told
        The ids of values that another finding tells of.
    """

    def __init__(self, facts: Facts, told: set[int]) -> None:
        self._facts = facts
        self._seen = told
        self._left: list[tuple[Place, object, int]] = []
        self._todo: list[tuple[Place, _Sizes]] = []
        self._more: list[Leftover] = []
        self._generators = 2
        self._plain = _FEW
        self._objects = _MOST_OBJECTS

    def __call__(self, root: object) -> Iterator[Leftover]:
        """Yield what nothing explains."""
        self._bundle(Place(arrived(root)), frozenset(self._facts.sizes), 3)
        while self._todo:
            place, sizes = self._todo.pop()
            self._object(place, sizes)
        yield from self._more
        alike: dict[tuple[str, str], Leftover] = {}
        for place, value, n_name in self._left:
            n = weigh((value,), self._seen)
            if n:
                one = not_explained(place.path or "the file itself", value, n + n_name)
                before = alike.get((one.where, one.says))
                alike[one.where, one.says] = replace(one, n=one.n + before.n) if before else one
        yield from alike.values()

    # -- objects ---------------------------------------------------------------

    def _object(self, place: Place, sizes: _Sizes) -> None:
        model = place.value
        if not isinstance(model, Inert) or id(model) in self._seen:
            return
        listed = _listed(model)
        if listed is None:
            self._helper(place, model, sizes)
            return
        self._seen.add(id(model))
        sizes |= own_sizes(model, self._facts)
        self._attributes(place, model, listed, sizes)
        if model.kind in ("Bunch", "DeprecationDict", "_DictWithDeprecatedKeys"):
            self._check(model.pairs, "osd1", place, "", sizes, "")
        elif model.pairs:
            self._leave(place, "items", model.pairs)
        for i, part in enumerate(model.args):
            self._check(part, "s", place, f"({i})", sizes, "")
        if model.items:
            self._leave(place, "items", model.items)

    def _attributes(
        self, place: Place, model: Inert, listed: Mapping[str, str], sizes: _Sizes
    ) -> None:
        state = model.state
        parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
        for part in parts:
            if not isinstance(part, dict):
                self._check(part, "", place, "__state__", sizes, "")
                continue
            self._seen.add(id(part))
            for name, value in part.items():
                forms = _COMMON.get(name, listed.get(name)) if isinstance(name, str) else None
                if forms is None:
                    shown = name if isinstance(name, str) and _NAME.fullmatch(name) else mask(name)
                    self._leave(place, shown, value, name)
                else:
                    self._attribute(value, forms, place, model, name, sizes)

    def _attribute(
        self, value: object, forms: str, place: Place, model: Inert, name: str, sizes: _Sizes
    ) -> None:
        value, self._objects = arrived(value), _MOST_OBJECTS
        if isinstance(value, Inert) and value.cls.module.startswith("numpy.random"):
            self._generator(value, place, name)
        elif name in ("_fit_X", "_sample_weight") and id(value) in self._seen:
            return
        elif name in ("categories_", "known_categories"):
            given = model.get("categories")
            auto = given is None or (isinstance(given, str) and given == "auto")
            self._categories(value, place, name, auto, sizes)
        elif name == "classes_" and not isinstance(value, dict):
            self._classes(value, place)
        elif name in _NAMING:
            width = width_of(model)
            self._check(value, "n", place, name, frozenset({width or 0}), name)
        elif name == "class_weight" and isinstance(value, dict | list):
            self._class_weight(value, place, sizes)
        elif name == "cv_results_" and isinstance(value, dict | Inert):
            self._results(value, place)
        elif name in ("_average_path_length_per_tree", "_decision_path_lengths"):
            self._path_lengths(value, model, place, name)
        elif model.kind == "Booster" and name in ("handle", "_handle", "model_str", "_model_str"):
            # The reader of its format goes through it.
            self._seen.add(id(value))
        elif model.kind == "Booster":
            self._check(value, forms, place, name, sizes | {64}, name)
        elif name == "forest_" and model.cls.module.startswith("treeaudit."):
            # The reader of our own form goes through it.
            self._seen.add(id(value))
        else:
            self._check(value, forms, place, name, sizes, name)

    def _helper(self, place: Place, value: Inert, sizes: _Sizes) -> None:
        """Explain an object that has no attributes of its own."""
        kind, module = value.kind, value.cls.module
        held = (*value.items, *value.pairs, *value.pairs.values())
        if kind == "Tree" and module.startswith("sklearn."):
            self._tree(place, value, unused_in_tree(value))
        elif kind == "TreePredictor" and module.startswith("sklearn."):
            self._tree(place, value, unused_in_predictor(value))
        elif module.endswith(("_kd_tree", "_ball_tree", "kd_tree", "ball_tree")):
            # The records in it are told by `named_rows`.
            state = value.state
            first = arrived(state[0]) if isinstance(state, tuple) and state else None
            if isinstance(first, np.ndarray) and len(first):
                self._seen.add(id(value))
            else:
                self._leave(place, "", value)
        elif kind == "_new_Index" and place.step in ("_df_columns", "columns"):
            self._seen.add(id(value))
            width = next((width_of(owner) for owner in place.owners()), None)
            for part in value.args:
                self._check(part, "dn", place, "()", frozenset({width or 0}), "feature_names_in_")
        elif kind in ("slice", "partial") or (
            module.partition(".")[0] in ("sklearn", "_loss", "scipy") and not held
        ):
            self._seen.add(id(value))
            bounds = value.state.values() if isinstance(value.state, dict) else (value.state,)
            for part in (*value.args, *bounds):
                if kind == "slice" and not isinstance(part, int | None):
                    self._leave(place, "(…)", part)
                else:
                    self._check(part, "s", place, "(…)", frozenset(), "")
        else:
            self._leave(place, "", value)

    def _tree(self, place: Place, tree: Inert, unused: Iterator[tuple[str, int]]) -> None:
        self._seen.add(id(tree))
        known = {"max_depth", "node_count", "nodes", "values"}
        known |= {"binned_left_cat_bitsets", "raw_left_cat_bitsets"}
        for name, value in tree.state.items() if isinstance(tree.state, dict) else ():
            value = arrived(value)
            if name in known and isinstance(value, np.ndarray):
                self._seen.add(id(value))
            elif name not in known or not isinstance(value, int):
                self._leave(place, mask(name), value, name)
        for part in (*tree.items, *tree.pairs.items()):
            self._leave(place, "items", part)
        for i, part in enumerate(tree.args):
            self._check(part, "1", place, f"({i})", frozenset(self._facts.sizes), "")
        for what, n in unused:
            if n:
                where = place.at(what)
                says = "no audited model accounts for it: no question and no answer uses it"
                self._more.append(Leftover(kind="unexplained", where=where, n=n, says=says))

    def _generator(self, value: Inert, place: Place, name: str) -> None:
        """A generator belongs where a seed belongs, and only to whole models."""
        if id(value) in self._seen:
            return
        own = name in _OWN_GENERATORS
        known = own or (name in _GENERATORS and self._generators > 0)
        if weigh((value,), set()) > 6_000 or not known:
            self._leave(place, name, value)
            return
        weigh((value,), self._seen)
        self._generators -= not own
        # Boosting hands its own to each of its trees.
        if not own and not place.step.startswith("estimators_["):
            says = "the state of a generator of random numbers: it repeats what it drew"
            self._more.append(Leftover(kind="seeds", where=place.at(name), n=1, says=says))

    # -- values ----------------------------------------------------------------

    def _check(
        self,
        value: object,
        forms: str,
        place: Place,
        step: str,
        sizes: _Sizes,
        name: str,
        depth: int = 0,
    ) -> None:
        value = arrived(value)
        match value:
            case None | bool() | float() | Global():
                return
            case int():
                if value.bit_length() > 64:
                    self._leave(place, step, value)
            case str():
                if not self._is_text(value, name):
                    self._leave(place, step, value)
            case DType():
                if isinstance(value.state, tuple) and len(value.state) > 8:
                    self._leave(place, step, value.state)
            case Inert() if value.cls.module == "collections" and value.state is None:
                if id(value) not in self._seen and forms:
                    self._seen.add(id(value))
                    for part in (*value.args, value.items):
                        self._check(part, forms, place, step, sizes, name, depth + 1)
                    self._check(value.pairs, f"d{forms}", place, step, sizes, name, depth)
                elif not forms:
                    self._leave(place, step, value)
            case Inert():
                helper = _listed(value) is None
                if name not in _MEMBERS and value.get("tree_") is None:
                    self._objects -= id(value) not in self._seen
                if self._objects < 0:
                    self._leave(place, step, value)
                elif "o" in forms or (helper and value.kind in ("slice", "partial")):
                    self._todo.append((Place(value, step, place), sizes))
                else:
                    self._leave(place, step, value)
            case _ if id(value) in self._seen:
                return
            case np.ndarray():
                self._array(value, forms, place, step, sizes, name, depth)
            case dict() if {"d", "s", "o"} & set(forms):
                self._dict(value, forms, place, step, sizes, name, depth)
            case list() | tuple() if forms and depth < 6:
                self._list(value, forms, place, step, sizes, name, depth)
            case _:
                self._leave(place, step, value)

    def _is_text(self, text: str, name: str) -> bool:
        if is_option(text) or text in self._facts.texts or not text:
            return len(text) <= 200
        if name in _FREE:
            return len(text) <= 40
        if _PHRASE.fullmatch(text) or (name == "objective" and _OBJECTIVE.fullmatch(text)):
            return True
        return len(text) <= 20 and _VERSION.fullmatch(text) is not None and "version" in name

    def _array(
        self, a: Array, forms: str, place: Place, step: str, sizes: _Sizes, name: str, depth: int
    ) -> None:
        axes = _axes(forms)
        if a.dtype == object or a.dtype.kind == "U":
            parts = [arrived(part) for part in a.ravel().tolist()]
            if any(isinstance(part, Inert) for part in parts[:1]) and "o" in forms:
                self._seen.add(id(a))
                for index, part in zip(np.ndindex(a.shape), parts, strict=True):
                    where = f"{step}[{', '.join(map(str, index))}]"
                    self._check(part, forms, place, where, sizes, name, depth + 1)
            elif a.ndim <= 1 and "n" in forms and a.size in sizes | {0, 1}:
                self._seen.add(id(a))
                self._texts(parts, place, step, name)
            elif axes and a.ndim <= axes and _fits(a.shape, sizes):
                self._seen.add(id(a))
                self._list(parts, forms, place, step, frozenset({a.size}) | sizes, name, depth)
            else:
                self._leave(place, step, a)
            return
        fits = a.dtype.kind in "biuf" and a.ndim + depth <= max(axes, "s" in forms)
        if fits and (_fits(a.shape, sizes) or _is_constant(a) or _is_choice(a, sizes)):
            self._seen.add(id(a))
        elif fits and a.ndim == 1 and _ends_alike(a, sizes):
            self._seen.add(id(a))
        elif fits and name in _SORTED and _is_sorted(a, sizes):
            self._seen.add(id(a))
        elif a.ndim == 1 and _is_choice(a, sizes):
            self._seen.add(id(a))
        else:
            self._leave(place, step, a)

    def _texts(self, parts: list[object], place: Place, step: str, name: str) -> None:
        longest = _LONGEST.get(name, _LONGEST_LABEL)
        for i, part in enumerate(parts):
            if isinstance(part, str):
                if len(part) > longest:
                    self._leave(place, f"{step}[{i}]", part[longest:])
            else:
                self._check(part, "", place, f"{step}[{i}]", frozenset(), name)

    def _dict(
        self, value: dict[object, object], forms: str, place: Place, step: str,
        sizes: _Sizes, name: str, depth: int,
    ) -> None:  # fmt: skip
        few = len(value) <= max(_FEW, *sizes, 0)
        if not (few or all(isinstance(k, str) and is_option(k) for k in value)) or depth > 4:
            self._leave(place, step, value)
            return
        self._seen.add(id(value))
        for key, part in value.items():
            named = isinstance(key, str) and _NAME.fullmatch(key)
            shown = f"{step}['{key}']" if named else f"{step}['{mask(key)}']"
            if not named:
                self._check(key, "", place, shown, sizes, name)
            self._check(part, forms, place, shown, sizes, name, depth + 1)

    def _list(
        self, value: list[object] | tuple[object, ...], forms: str, place: Place, step: str,
        sizes: _Sizes, name: str, depth: int,
    ) -> None:  # fmt: skip
        n = len(value)
        if n > max(_MOST_OBJECTS, *sizes, 0):
            self._leave(place, step, value)
            return
        parts = [arrived(part) for part in value]
        kinds = set(map(type, parts))
        if kinds <= {int, float, bool, type(None)}:
            many = n > max(_FEW if "s" in forms else 1, *sizes, 0) or any(
                type(part) is int and part.bit_length() > 64 for part in parts
            )
            fits = n in sizes or n <= (_FEW if "s" in forms else 3)
            if (many or not fits) and not (
                kinds <= {int, bool} and _is_choice(np.array(parts), sizes)
            ):
                self._leave(place, step, value)
            else:
                self._seen.add(id(value))
            return
        objects = "o" in forms and Inert in kinds
        if not objects and n not in sizes and n > max(_FEW, 3):
            self._leave(place, step, value)
            return
        self._seen.add(id(value))
        texts = all(isinstance(part, str) for part in parts)
        if texts and "n" in forms and n in sizes:
            self._texts(parts, place, step, name)
            return
        for i, part in enumerate(parts):
            where = f"{step}[{i}]"
            if i == 0 and "o" in forms and isinstance(part, str) and isinstance(value, tuple):
                # The name of a step.
                if not (_NAME.fullmatch(part) or self._is_text(part, name)):
                    self._leave(place, where, part)
                continue
            self._check(part, forms, place, where, sizes, name, depth + 1)

    # -- values of their own kind ------------------------------------------------

    def _categories(
        self, stored: object, place: Place, name: str, auto: bool, sizes: _Sizes
    ) -> None:
        stored = stored.ravel().tolist() if isinstance(stored, np.ndarray) else stored
        if not isinstance(stored, list | tuple) or (sizes and len(stored) > max(sizes)):
            self._check(stored, "n1", place, name, sizes, name)
            return
        self._seen.add(id(stored))
        for i, part in enumerate(stored):
            if part is not None:
                self._values(arrived(part), place, f"{name}[{i}]", auto)

    def _values(self, part: object, place: Place, step: str, auto: bool) -> None:
        """Explain the list of the values of one column."""
        if not isinstance(part, np.ndarray) or part.ndim != 1 or part.dtype.kind not in "OUSbiuf":
            self._leave(place, step, part)
            return
        people = self._facts.n_records
        if auto and people is not None and len(part) > max(20, people // 5):
            says = f"{len(part):,} categories of {people:,} people, of whom fewer than 5 share one"
            where = place.at(step)
            self._more.append(Leftover(kind="records", where=where, n=len(part), says=says))
            self._seen.add(id(part))
        elif len(part) > (256 if not auto or people is None else people):
            self._leave(place, step, part)
        else:
            self._seen.add(id(part))
            if part.dtype.kind in "OUS":
                self._texts([arrived(one) for one in part.tolist()], place, step, "categories_")
            elif not _is_sorted(part, frozenset()):
                self._leave(place, step, part.copy())

    def _classes(self, value: object, place: Place) -> None:
        if isinstance(value, list) and len(value) <= max(self._facts.sizes):
            self._seen.add(id(value))
            for i, part in enumerate(value):
                self._labels(arrived(part), place, f"classes_[{i}]")
        else:
            self._labels(value, place, "classes_")

    def _labels(self, value: object, place: Place, step: str) -> None:
        if isinstance(value, np.ndarray) and value.ndim == 1:
            if len(value) in self._facts.classes or len(value) <= 20:
                self._seen.add(id(value))
                self._texts([arrived(one) for one in value.tolist()], place, step, "classes_")
                return
            self._values(value, place, step, auto=True)
            return
        self._check(value, "", place, step, frozenset(), "classes_")

    def _class_weight(self, value: object, place: Place, sizes: _Sizes) -> None:
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict) and len(one) <= max(20, *self._facts.classes):
                self._dict(one, "s", place, "class_weight", sizes, "class_weight", 4)
            else:
                self._check(one, "", place, "class_weight", sizes, "class_weight")
        if isinstance(value, list):
            self._seen.add(id(value))

    def _path_lengths(self, value: object, model: Inert, place: Place, name: str) -> None:
        """Explain what an isolation forest works out beforehand: it follows from its trees."""
        members = arrived(model.get("estimators_"))
        if not isinstance(value, list | tuple) or not isinstance(members, list):
            self._check(value, "", place, name, frozenset(), name)
            return
        self._seen.add(id(value))
        for i, part in enumerate(value):
            part = arrived(part)
            tree = arrived(members[i]) if i < len(members) else None
            if (
                isinstance(part, np.ndarray)
                and isinstance(tree, Inert)
                and is_path_length(tree, part)
            ):
                self._seen.add(id(part))
            else:
                self._leave(place, f"{name}[{i}]", part)

    def _results(self, value: dict[object, object] | Inert, place: Place) -> None:
        """Explain the table of a search: a row per candidate."""
        if isinstance(value, Inert):
            self._seen.add(id(value))
            self._check(value.state, "osd2", place, "cv_results_", frozenset(range(64)), "")
            value = value.pairs
        tried = arrived(value.get("params"))
        n = len(tried) if isinstance(tried, list) else 0
        if not 0 < n <= 1_000:
            self._leave(place, "cv_results_", value)
            return
        self._seen.add(id(value))
        for key, part in value.items():
            part, shown = arrived(part), f"cv_results_['{mask(key)}']"
            if not isinstance(key, str) or not _RESULT.fullmatch(key):
                self._leave(place, shown, (key, part))
                continue
            if isinstance(part, Inert) and part.kind in ("_mareconstruct", "MaskedArray"):
                if weigh((part,), set()) <= 64 * (n + 8):
                    self._seen.add(id(part))
                    continue
            if part is tried:
                self._seen.add(id(part))
                for i, one in enumerate(part):
                    self._check(one, "osd", place, f"{shown}[{i}]", frozenset(), "", 1)
            else:
                self._check(part, "osn1", place, shown, frozenset({n}), "")

    # -- what lies around ----------------------------------------------------------

    def _bundle(self, place: Place, sizes: _Sizes, depth: int) -> None:
        """Explain a model, or a small container with one and what belongs to it."""
        value = place.value
        if not isinstance(value, int | float | str | None) and id(value) in self._seen:
            return
        if isinstance(value, Inert) and value.cls.module == "collections":
            pairs, items = value.pairs, [*value.items, *value.args]
        elif isinstance(value, Inert):
            if (place.above is None or _listed(value) is not None) and self._objects:
                self._objects -= 1
                self._todo.append((place, sizes))
            else:
                self._leave(place, "", value)
            return
        else:
            pairs = value if isinstance(value, dict) else {}
            items = list(value) if isinstance(value, list | tuple) else []
        if depth == 0 or not isinstance(value, Inert | dict | list | tuple):
            self._beside(place, place.step, value, sizes)
            return
        texts = [arrived(one) for one in items]
        if place.above is not None and self._are_names(texts):
            self._seen.add(id(value))
            return
        self._seen.add(id(value))
        for key, part in pairs.items():
            named = isinstance(key, str) and _NAME.fullmatch(key)
            step = f"['{key}']" if named else f"['{mask(key)}']"
            if not named:
                self._beside(place, step, key, sizes)
            self._bundle(Place(arrived(part), step, place), sizes, depth - 1)
        for i, part in enumerate(items):
            self._bundle(Place(arrived(part), f"[{i}]", place), sizes, depth - 1)

    def _are_names(self, parts: list[object]) -> bool:
        texts = [part for part in parts if isinstance(part, str)]
        if not texts or len(texts) < len(parts):
            return False
        if len(texts) in (self._facts.classes | self._facts.sizes) and max(map(len, texts)) <= 64:
            return True
        return self._facts.texts.issuperset(texts)

    def _beside(self, place: Place, step: str, value: object, sizes: _Sizes) -> None:
        above = place if place.above is None else place.above
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "OU":
            if self._are_names(value.tolist()):
                self._seen.add(id(value))
                return
        word = isinstance(value, str) and (value.isalpha() or _VERSION.fullmatch(value))
        plain = isinstance(value, int | float) and not (
            isinstance(value, int) and value.bit_length() > 64
        )
        if value is None or (isinstance(value, str) and value in self._facts.texts):
            return
        if (plain or (word and len(str(value)) <= 20)) and self._plain:
            self._plain -= 1
            return
        self._leave(above, step, value)

    def _leave(self, place: Place, step: str, value: object, name: object = "") -> None:
        self._left.append((Place(None, step, place) if step else place, value, len(str(name))))


def _listed(model: Inert) -> Mapping[str, str] | None:
    if model.cls.module.partition(".")[0] in _LIBRARIES:
        return attributes_of(model.kind)
    tree = arrived(model.get("tree_"))
    if isinstance(tree, Inert) and tree.kind == "Tree":
        # A subclass of the user's own has what its base has.
        kinds = (attributes_of(f"DecisionTree{what}") or {} for what in ("Classifier", "Regressor"))
        return {name: forms for kind in kinds for name, forms in kind.items()}
    return None


def _axes(forms: str) -> int:
    return int(forms[-1]) if forms[-1:].isdigit() else 0


def _fits(shape: tuple[int, ...], sizes: _Sizes) -> bool:
    return all(n in sizes or n < 2 for n in shape)


def _is_constant(a: Array) -> bool:
    return a.size > 0 and bool(np.all(a == a.flat[0]))


def _ends_alike(a: Array, sizes: _Sizes) -> bool:
    """Tell whether everything behind as many entries as there are members is the same."""
    other = np.flatnonzero(a != a[-1])
    return bool(len(other)) and int(other[-1]) < max(sizes, default=0)


def _is_choice(a: Array, sizes: _Sizes) -> bool:
    """Tell whether these are the numbers of some columns, each once."""
    most = max(sizes, default=0)
    if a.ndim != 1 or a.dtype.kind not in "iu" or not 0 < len(a) <= most:
        return False
    return bool(a.min() >= -most and a.max() < most) and len(np.unique(a)) == len(a)


def _is_sorted(a: Array, sizes: _Sizes) -> bool:
    if a.ndim == 0 or a.ndim > 2 or (a.ndim == 2 and not _fits(a.shape[1:], sizes)):
        return False
    if a.dtype.kind not in "iuf":
        return a.dtype.kind == "b"
    up = ~(a[1:] < a[:-1])
    return bool(np.all(up)) or bool(np.all(~(a[1:] > a[:-1])))
