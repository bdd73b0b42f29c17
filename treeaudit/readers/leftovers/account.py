"""Which values of a file its models account for, and which they do not.

Every object whose class is listed (`attributes_of`) has the attributes of its
class; a value is explained where it has a form that the attribute has, and no
more rows than the model has columns, classes, trees or steps (`sizes`). All
else is weighed and named by its place, masked.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treeaudit.later import later
from treeaudit.model.leftovers import Leftover
from treeaudit.readers.alike import Quiet
from treeaudit.readers.leftovers.attributes import listed
from treeaudit.readers.leftovers.booster_settings import (
    CONSTRAINTS,
    is_boosted,
    is_parameters,
    odd_parameters,
    only_words,
)
from treeaudit.readers.leftovers.bundles import Bundles, is_shared
from treeaudit.readers.leftovers.constraints import is_constraint
from treeaudit.readers.leftovers.distributions import is_distribution
from treeaudit.readers.leftovers.extra import extra, masked, size_of
from treeaudit.readers.leftovers.fitted_values import CURVES
from treeaudit.readers.leftovers.forms import NAME, Sizes
from treeaudit.readers.leftovers.nodes import Sound, unused_in_trees
from treeaudit.readers.leftovers.searches import (
    are_scores_of_thresholds,
    follows_from_settings,
    is_own_method,
    names_a_setting,
)
from treeaudit.readers.leftovers.settled import is_one_setting
from treeaudit.readers.leftovers.sizes import own_sizes, width_of
from treeaudit.readers.leftovers.spare import spare
from treeaudit.readers.leftovers.values import FEW, MIXED, MOST_OBJECTS, NAMING
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Global, Inert
from treeaudit.readers.walk import Place

if TYPE_CHECKING:
    from treeaudit.readers.boosters.wrappers import handle_name
    from treeaudit.readers.leftovers.routing import said_by, stated_by, written_by_all
    from treeaudit.readers.leftovers.trained_values import contradicts
else:
    _ROUTING = "treeaudit.readers.leftovers.routing"
    stated_by, written_by_all = later(_ROUTING, "stated_by"), later(_ROUTING, "written_by_all")
    said_by = later(_ROUTING, "said_by")
    contradicts = later("treeaudit.readers.leftovers.trained_values", "contradicts")
    handle_name = later("treeaudit.readers.boosters.wrappers", "handle_name")

__all__ = ["Account"]

_WRITTEN_BY_ALL = ("_metadata_request", "_sklearn_output_config")
_COMMON = {"feature_names_in_": "n1"}
_NO_NUMBERS = NAMING | {"classes_", "_sklearn_version"}
_DEEPEST = 6
_LENT = (
    *("SearchCV", "StackingClassifier", "StackingRegressor"),
    *("VotingClassifier", "VotingRegressor", "TransformedTargetRegressor"),
)
# Their members are listed one by one, with the settings of each.
_OWN_MEMBERS = ("Voting", "Stacking", "FeatureUnion")
_PLAIN = (type(None), bool, float)
_WIDE = 1 << 63
_MOST_ALIKE = 256
# Of what there is more with each object, whatever is in it; and what is known beforehand.
_GROWING = frozenset(("_facts", "_seen", "_todo", "_trees"))
# Settings that hold a number for each class or column.
_BY_CLASS = frozenset(("class_weight", "monotonic_cst", *CONSTRAINTS))
# What a wrapper of a boosted model holds at most: attributes, entries of lists, ways to stop.
_MOST_SET, _MOST_LISTED, _MOST_CALLS = 64, 64, 2


def _is_plain(value: object) -> bool:
    return type(value) in _PLAIN or (type(value) is int and -_WIDE < value < _WIDE)


def _is_no_seed(value: object) -> bool:
    # A word may be one: "deprecated".
    held = isinstance(value, float | dict | list | tuple | Global | np.ndarray)
    return held or (isinstance(value, int) and not 0 <= value < 1 << 32)


class Account(Bundles):
    """Goes through a file along what its classes are known to hold."""

    def __call__(self, root: object, sound: Sound) -> Iterator[Leftover]:
        """Yield what nothing explains, given the trees that were looked at already."""
        self.bundle(Place(arrived(root)), frozenset(self._facts.sizes), _DEEPEST)
        n_around = len(self._left)
        quiet = Quiet(self._told, self._seen)
        while self._todo:
            place, sizes = self._todo.pop()
            kin = sound.alike.kin(place.value)
            where = kin and (_ensemble_of(place), id(place.above), sizes)
            if kin is not None and quiet.passes(kin, where):
                self._pass(place)
                continue
            quiet.begin(kin)
            self._object(place, sizes)
            quiet.end(kin, where)
        trees = [(one, list(at.owners())) for at, one in self._trees]
        for i, unused in unused_in_trees(trees, sound):
            self.unused(self._trees[i][0], unused)
        yield from self._more
        self.count_all()
        advice = (
            "train on the columns that are needed, and save the model without the search for it"
        )
        what = "names, categories, numbers and scores"
        yield from spare(self.spare, "what no tree needs", what, advice)
        alike: dict[tuple[str, str], Leftover] = {}
        explained = frozenset(self._seen)
        for i, (place, value, n_name) in enumerate(self._left):
            met, known = id(arrived(value)) in self._seen, id(arrived(value)) in explained
            if met and (i < n_around or not known or is_shared(place, value)):
                if known and i < n_around:
                    self.again(place)
                # Else it was named before.
                continue
            n = max(1, size_of(value, self._seen)) + n_name
            one = extra(place.path or "the file itself", value, n=n)
            before = alike.get((one.where, one.says))
            alike[one.where, one.says] = replace(one, n=one.n + before.n) if before else one
        yield from alike.values()
        yield from self.repeats()

    def _told(self) -> Hashable:
        """Return what was noted and used up so far, but for what trees that are alike differ in."""
        held = [one for name, one in vars(self).items() if name not in _GROWING]
        return tuple(one if isinstance(one, int | float | None) else len(one) for one in held)

    def _pass(self, place: Place) -> None:
        """Note the tree of an estimator that needs no look."""
        tree = arrived(place.value.get("tree_")) if isinstance(place.value, Inert) else None
        if isinstance(tree, Inert):
            self._trees.append((Place(tree, "tree_", place), tree))

    def _object(self, place: Place, sizes: Sizes) -> None:
        model = place.value
        if not isinstance(model, Inert) or id(model) in self._seen:
            return
        if is_distribution(model):
            self.distribution(place, model)
            return
        attributes = listed(model)
        if attributes is None:
            self.inner_object(place, model, sizes)
            return
        self._seen.add(id(model))
        sizes |= own_sizes(model, self._facts)
        self._mixed = isinstance(model.state, dict) and not MIXED.isdisjoint(model.state)
        self._attributes(place, model, attributes, sizes)
        if model.kind in ("Bunch", "DeprecationDict", "_DictWithDeprecatedKeys"):
            self.check(model.pairs, "osd1", place, "", sizes, "")
        elif model.pairs:
            self.leave(place, "items", model.pairs)
        # The model for a column of an `IterativeImputer` stands in a triplet.
        forms = "so1" if model.kind == "_ImputerTriplet" else "s"
        self.arguments(place, model.args, forms, sizes, 3 if model.state is None else 0)
        if model.items:
            self.leave(place, "items", model.items)

    def _attributes(
        self, place: Place, model: Inert, known: Mapping[str, str], sizes: Sizes
    ) -> None:
        state = model.state
        self._ensemble = _ensemble_of(place)
        parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
        for part in parts:
            if not isinstance(part, dict):
                self.check(part, "", place, "__state__", sizes, "")
                continue
            self._seen.add(id(part))
            # Nearly all that a forest of many trees holds: settings that a member before had too.
            alike = {name: value for name, value in part.items() if _is_plain(value)}
            alike.pop("random_state", None)
            width = self._settled.told(part.get("n_features_in_"))
            plain_parts = frozenset((name, repr(value)) for name, value in alike.items())
            settled = model.cls.module, model.kind, self._ensemble, width, plain_parts
            same = self._ensemble is None or self._runs.get(self._ensemble) == settled
            alike = alike if settled in self._alike and same else {}
            self._runs[self._ensemble] = settled
            n_left = len(self._left)
            boosted, trained = is_boosted(model), model.cls.module.startswith("treeaudit.")
            if boosted:
                self._listed = _MOST_LISTED
                for name, value in list(part.items())[_MOST_SET:]:
                    self.leave(place, masked(str(name)), value, name)
            for name, value in list(part.items())[:_MOST_SET] if boosted else part.items():
                if name in alike:
                    continue
                if trained and contradicts(stated_by(place), name, value):
                    self.leave(place, masked(str(name)), value)
                    continue
                if name in _WRITTEN_BY_ALL:
                    written = written_by_all(name, arrived(value), model, self._facts.texts)
                    for one in written:
                        if isinstance(one, Inert) and not one.kind.endswith("MetadataRequest"):
                            self._todo.append((Place(one, f"{name}.owner", place), sizes))
                        elif not isinstance(one, str):
                            self._seen.add(id(one))
                    if not written or not self._asks(model.kind, name, written):
                        self.leave(place, name, value)
                    continue
                plain = _is_plain(value)
                single = plain or is_one_setting(arrived(value))
                # It turns the answers of a wrapper into labels.
                asked = boosted and name == "n_classes_" and bool(self._facts.rounds)
                odd = asked and value not in self._facts.classes
                odd |= name == "random_state" and _is_no_seed(arrived(value))
                odd |= single and value is not None and name in _NO_NUMBERS and name in known
                if odd:
                    self.leave(place, name, value)
                    continue
                told = single or (self._ensemble is not None and isinstance(value, str))
                if name in known and told:
                    ensemble: Hashable = self._ensemble
                    if name == "max_features_" and ensemble is not None:
                        # A chain sees more columns each time.
                        ensemble = (ensemble, width)
                    if not self._settled.takes(model.kind, name, arrived(value), ensemble):
                        self.leave(place, name, value)
                        continue
                    if plain:
                        continue
                if name == "random_state" and value is None:
                    # Overwritten seeds, also of what never had one.
                    continue
                forms = _COMMON.get(name, known.get(name)) if isinstance(name, str) else None
                if forms is None:
                    named = isinstance(name, str) and NAME.fullmatch(name)
                    self.leave(place, name if named else masked(str(name)), value, name)
                else:
                    self._attribute(value, forms, place, model, name, sizes)
            if len(self._left) == n_left and len(self._alike) < _MOST_ALIKE:
                self._alike.add(settled)

    def _attribute(
        self, value: object, forms: str, place: Place, model: Inert, name: str, sizes: Sizes
    ) -> None:
        value, self._objects = arrived(value), MOST_OBJECTS
        self._shared = MOST_OBJECTS + max(sizes, default=0)
        self._settings = 4 * FEW if "param" in name else FEW
        odd = name in _BY_CLASS and not self._takes(model.kind, name, value)
        if odd or (is_boosted(model) and not self._is_told(value, model, name, sizes)):
            self.leave(place, name, value)
        elif is_parameters(model, name) and isinstance(value, dict):
            self._seen.add(id(value))
            wide = max(sizes, default=0)
            for key, part in odd_parameters(name, value, wide, self._facts.texts):
                self.leave(place, f"{name}['{masked(str(key))}']", part, key)
        elif isinstance(value, Inert) and value.cls.module.startswith("numpy.random"):
            self.generator(value, place, name)
        elif name in ("kw_args", "inv_kw_args") and not isinstance(value, dict | None):
            self.leave(place, name, value)
        elif name in ("_fit_X", "_sample_weight") and id(value) in self._seen:
            return
        elif name in ("categories_", "known_categories"):
            given = model.get("categories")
            auto = given is None or (isinstance(given, str) and given == "auto")
            self.categories(value, place, name, auto, sizes)
        elif name in ("categories", "pandas_categorical") and isinstance(value, list | tuple):
            self.given_categories(value, forms, place, name, sizes)
        elif name == "classes_" and not isinstance(value, dict):
            told = _labels_in(value, max(self._facts.classes, default=0))
            if self._settled.takes(model.kind, "labels", told):
                self.classes(value, place)
            else:
                self.leave(place, name, value)
        elif name in NAMING:
            width = width_of(model)
            # Searches, stacks and votes state none: their names are those of a model of the file.
            lent = width is None and model.kind.endswith(_LENT)
            self.check(value, "n", place, name, sizes if lent else frozenset({width or 0}), name)
        elif name in ("class_weight", "_class_weight") and isinstance(value, dict | list):
            self.class_weight(value, place, sizes)
        elif name in CURVES and isinstance(value, dict | Inert):
            self.curves(value, model, place, name)
        elif name == "cv_results_" and are_scores_of_thresholds(value, model):
            self.spare += size_of(value, self._seen)
        elif name == "cv_results_" and isinstance(value, dict | Inert):
            self.results(value, place)
        elif follows_from_settings(name, value, model):
            self._seen.add(id(value))
        elif name == "resource" and isinstance(value, str):
            if not names_a_setting(value, self._facts.texts):
                self.leave(place, name, value)
        elif name in ("_average_path_length_per_tree", "_decision_path_lengths"):
            self.path_lengths(value, model, place, name)
        elif name == "_raw_predict" and is_own_method(value, model, name):
            self._seen.add(id(value))
        elif name in CONSTRAINTS and is_constraint(value, max(sizes, default=0), self._facts.texts):
            size_of(value, self._seen)
        elif model.kind == "Booster" and name == handle_name(model):
            # The reader of its format goes through it.
            self._seen.add(id(value))
        elif model.kind == "Booster":
            self.check(value, forms, place, name, sizes, name)
        elif model.cls.module.startswith("treeaudit.") and (
            name == "forest_" or (name == "schema" and stated_by(place).get("forest_"))
        ):
            # The reader of our own form goes through it, and no schema contradicts it.
            self._seen.add(id(value))
        else:
            self.check(value, forms, place, name, sizes, name)

    def _is_told(self, value: object, model: Inert, name: str, sizes: Sizes) -> bool:
        """Tell whether a wrapper of a boosted model may hold a value of this kind, and as much."""
        if name == "callbacks" and isinstance(value, list | tuple):
            return len(value) <= _MOST_CALLS
        if isinstance(value, list | tuple) and name not in CONSTRAINTS and model.kind != "Booster":
            self._listed -= 0 if len(value) in sizes else len(value)
        return self._listed >= 0 and only_words(name, value)

    def _asks(self, kind: str, name: str, written: list[object]) -> bool:
        """Tell whether what scikit-learn wrote is one of the first few; weigh its names once."""
        said, weight = said_by(written)
        self.spare += 0 if said in self._counted else weight
        self._counted.add(said)
        return self._settled.takes(kind, name[1:], said, self._ensemble)

    def _takes(self, kind: str, name: str, value: object) -> bool:
        told = value if isinstance(value, str) else self._settled.told(value)
        return self._settled.takes(kind, name, told, self._ensemble)


def _ensemble_of(place: Place) -> int | None:
    """Name the ensemble that an object is a member of: a copy of the estimator of all."""
    above = place.above
    if above is None or not place.step.startswith("estimators_["):
        return None
    owner = above.value
    own = not isinstance(owner, Inert) or owner.kind.startswith(_OWN_MEMBERS)
    return None if own else id(owner)


def _labels_in(classes: object, n: int) -> bytes | None:
    """Return numbers that are labels of their own; None where they only number n classes."""
    if not isinstance(classes, np.ndarray) or classes.dtype.kind not in "iuf":
        return None
    numbered = (classes >= 0) & (classes < n) & (classes == np.floor(classes))
    return None if numbered.all() else classes.tobytes()
