"""Values that have rules of their own: categories, labels, weights of classes, searches, seeds."""

from typing import TYPE_CHECKING

import numpy as np

from treeaudit.later import later, pattern
from treeaudit.model.leftovers import Leftover
from treeaudit.readers.leftovers.extra import masked, size_of
from treeaudit.readers.leftovers.forms import Sizes, is_sorted, is_sound, is_weight
from treeaudit.readers.leftovers.nodes import is_path_length
from treeaudit.readers.leftovers.searches import follows_from_an_order
from treeaudit.readers.leftovers.values import FEW, Values
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Global, Inert
from treeaudit.readers.walk import Place

if TYPE_CHECKING:
    from treeaudit.readers.leftovers.category_lists import list_of_categories
    from treeaudit.readers.leftovers.search_columns import follows_from_splits, under_mask
else:
    _COLUMNS = "treeaudit.readers.leftovers.search_columns"
    list_of_categories = later("treeaudit.readers.leftovers.category_lists", "list_of_categories")
    follows_from_splits = later(_COLUMNS, "follows_from_splits")
    under_mask = later(_COLUMNS, "under_mask")

__all__ = ["CURVES", "FittedValues"]

CURVES = frozenset("evals_result_ _evals_result stopping_history best_scores".split())
"""Attributes of boosted models that hold scores round by round."""

_GENERATORS = frozenset("random_state _random_state random_state_ _rng rng".split())
_OWN_GENERATORS = frozenset({"_rng", "_feature_subsample_rng"})
_MOST_CANDIDATES = 1_000
_MOST_CURVES, _MOST_AFTER = 6, 100
_RESULT = pattern(
    r"params|iter|n_resources|param_\w{1,60}|(mean|std)_(fit|score)_time"
    r"|(mean|std|rank|split\d{1,4})_(test|train)_\w{1,40}"
    r"|n_features|split\d{1,4}_(ranking|support)"
)
_OF_ORDER = ("ranking", "support")
_ORDERED = pattern(rf"(split\d{{1,4}})_({'|'.join(_OF_ORDER)})")
_SCORED = pattern(r"[A-Za-z_]{2,40}(@[0-9.]{1,5}-?)?[0-9_]{0,3}")


def _is_drawn(generator: Inert) -> bool:
    """Tell whether the words of a Mersenne Twister look drawn: half of all bits, no word twice."""
    todo, seen = list[object]([generator]), set[int]()
    while todo:
        part = arrived(todo.pop())
        if isinstance(part, Inert | dict | tuple | list):
            # Some hold themselves.
            if id(part) in seen:
                continue
            seen.add(id(part))
        if isinstance(part, Inert):
            todo += [*part.args, part.state]
        elif isinstance(part, dict | tuple | list):
            todo += part.values() if isinstance(part, dict) else part
        elif isinstance(part, np.ndarray) and part.dtype.kind not in "iu":
            return False
        elif isinstance(part, np.ndarray) and part.size > 8:
            ones = np.unpackbits(np.ascontiguousarray(part).view(np.uint8)).mean()
            if abs(ones - 0.5) > 0.03 or len(np.unique(part)) < part.size - 2:
                return False
    return True


class FittedValues(Values):
    """Adds what fitting writes in a form of its own."""

    def generator(self, value: Inert, place: Place, name: str) -> None:
        """Explain a generator where a seed belongs; there are few of them in a file."""
        if id(value) in self._seen:
            return
        own = name in _OWN_GENERATORS
        known = own or (name in _GENERATORS and self._generators > 0)
        if size_of(value) > 6_000 or not known or not _is_drawn(value):
            self.leave(place, name, value)
            return
        size_of(value, self._seen)
        self._generators -= not own
        # Boosting hands its own to each of its trees.
        if not own and not place.step.startswith("estimators_["):
            says = "the state of a generator of random numbers: it repeats what it drew"
            self._more.append(Leftover(kind="seeds", where=place.at(name), n=1, says=says))

    def categories(self, stored: object, place: Place, name: str, auto: bool, sizes: Sizes) -> None:
        """Explain the values of each column, learned or given."""
        stored = stored.ravel().tolist() if isinstance(stored, np.ndarray) else stored
        if not isinstance(stored, list | tuple) or (sizes and len(stored) > max(sizes)):
            self.check(stored, "n1", place, name, sizes, name)
            return
        self._seen.add(id(stored))
        for i, part in enumerate(stored):
            if part is not None:
                self._values(arrived(part), place, f"{name}[{i}]", auto)

    def given_categories(
        self, value: object, forms: str, place: Place, name: str, sizes: Sizes
    ) -> None:
        """Explain lists of categories that a model states in just this order, or hold them to it.

        Parameters
        ----------
        value, forms, place, name, sizes
            As `check` takes them.
        """
        known = self._facts.columns
        parts = list(map(arrived, value)) if isinstance(value, list | tuple) else []
        told = all(list_of_categories(part) in known for part in parts)
        if told and 0 < len(parts) <= max(self._facts.sizes):
            self._seen.update(map(id, (value, *parts)))
        else:
            self.check(value, forms, place, name, sizes, name)

    def _values(self, part: object, place: Place, step: str, auto: bool) -> None:
        """Explain the list of the values of one column."""
        if id(part) in self._seen:
            return
        if not isinstance(part, np.ndarray) or part.ndim != 1 or part.dtype.kind not in "OUSbiuf":
            self.leave(place, step, part)
            return
        if part.dtype.kind not in "OUS" and not is_sound(part):
            self.leave(place, step, part)
            return
        people = self._facts.n_records
        if auto and people is not None and len(part) > max(20, people // 5):
            says = f"{len(part):,} categories of {people:,} people, of whom fewer than 5 share one"
            where = place.at(step)
            self._more.append(Leftover(kind="records", where=where, n=len(part), says=says))
            self._seen.add(id(part))
        elif len(part) > (256 if not auto or people is None else people):
            self.leave(place, step, part)
        else:
            self._seen.add(id(part))
            if part.dtype.kind in "OUS":
                self._texts([arrived(one) for one in part.tolist()], place, step, "categories_")
            elif is_sorted(part, frozenset()):
                self.categories_of_all += [part.itemsize] * part.size
            else:
                self.leave(place, step, part.copy())

    def classes(self, value: object, place: Place) -> None:
        """Explain labels: as many as the model has classes."""
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
        self.check(value, "", place, step, frozenset(), "classes_")

    def class_weight(self, value: object, place: Place, sizes: Sizes) -> None:
        """Explain a weight for each class."""
        self._settings = FEW * max({20, *self._facts.classes})
        each = value[:FEW] if isinstance(value, list) else [value]
        if isinstance(value, list) and len(value) > FEW:
            self.leave(place, "class_weight", value[FEW:])
        for one in each:
            if isinstance(one, dict) and not all(is_weight(arrived(n)) for n in one.values()):
                self.leave(place, "class_weight", one)
            elif isinstance(one, dict) and len(one) <= max({20, *self._facts.classes}):
                self._dict(one, "", place, "class_weight", sizes, "class_weight", 4)
            else:
                self.check(one, "", place, "class_weight", sizes, "class_weight")
        if isinstance(value, list):
            self._seen.add(id(value))

    def path_lengths(self, value: object, model: Inert, place: Place, name: str) -> None:
        """Explain what an isolation forest works out beforehand: it follows from its trees."""
        members = arrived(model.get("estimators_"))
        if not isinstance(value, list | tuple) or not isinstance(members, list):
            self.check(value, "", place, name, frozenset(), name)
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
                self.leave(place, f"{name}[{i}]", part)

    def curves(self, value: object, model: Inert, place: Place, name: str) -> None:
        """Explain scores of sets of people, one for each round that the model is of.

        Where LightGBM stopped by them it keeps no tree of the rounds after the best one, nor
        does XGBoost where it is told to, which keeps a list of those that were better than all
        before, too.
        """
        rounds, best, after = self._facts.rounds, model.get("_best_iteration"), _dropped(model)
        after = after if after <= max(_MOST_AFTER, *rounds, 0) else 0
        most = max(rounds, default=0) if name == "best_scores" else 0
        stopped = type(best) is int and best in rounds
        n = 0
        for step, of_set in self._named(value, place, name):
            for way, curve in self._named(of_set, place, step):
                n += 1
                scores = curve if isinstance(curve, list) and n <= _MOST_CURVES else [None]
                fits = not rounds.isdisjoint((len(scores), len(scores) - after))
                fits |= len(scores) <= most
                if stopped and isinstance(best, int):
                    fits |= 0 <= len(scores) - best <= max(_MOST_AFTER, best)
                if fits and all(type(one) is float for one in scores):
                    self._seen.add(id(curve))
                else:
                    self.leave(place, way, curve)

    def _named(self, value: object, place: Place, step: str) -> list[tuple[str, object]]:
        """Return what a dictionary holds under plain names, with the way to it; leave all else."""
        pairs = value.pairs if isinstance(value, Inert) else value
        if isinstance(value, Inert):
            made_of = all(isinstance(one, Global) for one in value.args) and len(value.args) < 2
            plain = value.cls.module == "collections" and made_of
            pairs = pairs if plain and not value.items and value.state is None else None
        if not isinstance(pairs, dict):
            self.leave(place, step, value)
            return []
        self._seen.add(id(value))
        held: list[tuple[str, object]] = []
        for key, part in pairs.items():
            if isinstance(key, str) and _SCORED.fullmatch(key) and self.takes_key(key):
                held.append((f"{step}['{key}']", arrived(part)))
            else:
                self.leave(place, f"{step}['{masked(str(key))}']", part, key)
        return held

    def results(self, value: dict[object, object] | Inert, place: Place) -> None:
        """Explain the table of a search: a row per candidate."""
        if isinstance(value, Inert):
            self._seen.add(id(value))
            self.check(value.state, "osd2", place, "cv_results_", frozenset(range(64)), "")
            value = value.pairs
        widths = arrived(value.get("n_features"))
        if isinstance(widths, np.ndarray) and 0 < widths.size <= max(self._facts.sizes):
            # Columns left out one after the other: no more candidates than columns.
            self._seen.add(id(value))
            lengths = frozenset({widths.size, *self._facts.sizes})
            for key, part in value.items():
                shown = f"cv_results_['{masked(str(key))}']"
                split = _ORDERED.fullmatch(key) if isinstance(key, str) else None
                both = [value.get(f"{split[1]}_{of}") for of in _OF_ORDER] if split else [None] * 2
                if follows_from_an_order(widths, *both):
                    part = arrived(part)
                    self._seen.add(id(part))
                    # Both tables tell one order of the columns.
                    self.spare += 4 * part.shape[1] if isinstance(part, np.ndarray) else 0
                elif isinstance(key, str) and _RESULT.fullmatch(key):
                    self.check(part, "2", place, shown, lengths, "")
                else:
                    self.leave(place, shown, (key, part))
            return
        tried = arrived(value.get("params"))
        if not isinstance(tried, list) or not 0 < len(tried) <= _MOST_CANDIDATES:
            self.leave(place, "cv_results_", value)
            return
        self._seen.add(id(value))
        n, self._mixed = len(tried), True
        for key, part in value.items():
            part, shown = arrived(part), f"cv_results_['{masked(str(key))}']"
            if not isinstance(key, str) or not _RESULT.fullmatch(key):
                self.leave(place, shown, (key, part))
                continue
            if isinstance(part, Inert) and part.kind in ("_mareconstruct", "MaskedArray"):
                stated = [arrived(one) for one in tried]
                if (under := under_mask(part, stated, key.removeprefix("param_"))) is None:
                    self.leave(place, shown, part)
                else:
                    self._seen.add(id(part))
                    self.spare += under
                continue
            if part is tried:
                self._seen.add(id(part))
                for i, one in enumerate(tried):
                    self._settings = FEW
                    self.check(one, "osd", place, f"{shown}[{i}]", frozenset(), "", 1)
            else:
                self.check(part, "osn1", place, shown, frozenset({n}), "")
                if isinstance(part, np.ndarray) and not follows_from_splits(key, part, value):
                    self.spare += part.nbytes


def _dropped(model: Inert) -> int:
    """Return how many rounds XGBoost says that it tried after the last one that it kept."""
    stops = [model] if model.kind == "EarlyStopping" else arrived(model.get("callbacks"))
    for stop in map(arrived, stops if isinstance(stops, list | tuple) else ()):
        if isinstance(stop, Inert) and stop.kind == "EarlyStopping" and stop.get("save_best"):
            after, most = stop.get("current_rounds"), stop.get("rounds")
            if type(after) is int and type(most) is int and 0 < after <= most:
                return after
    return 0
