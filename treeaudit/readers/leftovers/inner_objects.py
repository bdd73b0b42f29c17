"""Objects inside models without attributes of their own: trees, distributions, slices."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from treeaudit.later import later
from treeaudit.model.leftovers import Leftover
from treeaudit.readers.leftovers.distributions import strange_parts
from treeaudit.readers.leftovers.extra import masked
from treeaudit.readers.leftovers.fitted_values import FittedValues
from treeaudit.readers.leftovers.forms import NAME, Sizes
from treeaudit.readers.leftovers.sizes import width_of
from treeaudit.readers.leftovers.values import FEW
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.walk import Place

if TYPE_CHECKING:
    from treeaudit.readers.leftovers.predictors import unused_in_predictor
else:
    unused_in_predictor = later("treeaudit.readers.leftovers.predictors", "unused_in_predictor")

__all__ = ["InnerObjects"]

# What the reader of a stored tree takes of its state.
_TABLES = {
    "Tree": ("nodes", "values"),
    "TreePredictor": ("nodes", "binned_left_cat_bitsets", "raw_left_cat_bitsets"),
}
_COUNTS = {"Tree": ("max_depth", "node_count")}


class InnerObjects(FittedValues):
    """Explains the objects that libraries put into their models."""

    def distribution(self, place: Place, model: Inert) -> None:
        """Explain a distribution of scipy: it holds its settings alone."""
        self._seen.add(id(model))
        for name, part in strange_parts(model):
            if isinstance(part, Inert) and part.cls.module.startswith("numpy.random"):
                self.generator(part, place, name)
            elif name == "__doc__" and isinstance(part, str):
                says = f"{len(part):,} characters about a distribution, not of the installed scipy"
                self._more.append(Leftover(kind="unseen", where=place.at(name), n=1, says=says))
            else:
                self.leave(place, name, part)

    def inner_object(self, place: Place, value: Inert, sizes: Sizes) -> None:
        """Explain an object that has no attributes of its own."""
        kind, module = value.kind, value.cls.module
        held = (*value.items, *value.pairs, *value.pairs.values())
        if kind == "Tree" and module.startswith("sklearn."):
            self._tree(place, value)
            self._trees.append((place, value))
        elif kind == "TreePredictor" and module.startswith("sklearn."):
            self._tree(place, value)
            self.unused(place, unused_in_predictor(value, _bins_of(place)))
        elif module.endswith(("_kd_tree", "_ball_tree", "kd_tree", "ball_tree")):
            # The records in it are told by `named_rows`.
            state = value.state
            first = arrived(state[0]) if isinstance(state, tuple) and state else None
            if isinstance(first, np.ndarray) and first.ndim and len(first):
                self._seen.add(id(value))
            else:
                self.leave(place, "", value)
        elif kind == "_new_Index" and place.step in ("_df_columns", "columns"):
            self._seen.add(id(value))
            width = next((width_of(owner) for owner in place.owners()), None)
            for part in value.args:
                self.check(part, "dn", place, "()", frozenset({width or 0}), "feature_names_in_")
        elif kind in ("slice", "partial") or (
            module.partition(".")[0] in ("sklearn", "_loss", "scipy") and not held
        ):
            self._seen.add(id(value))
            if kind == "slice" and not all(isinstance(part, int | None) for part in value.args):
                self.leave(place, "(…)", value.args)
            self.arguments(place, value.args, "s", frozenset())
            if not isinstance(value.state, dict):
                self.check(value.state, "s", place, "(…)", frozenset(), "")
                return
            for i, (key, part) in enumerate(value.state.items()):
                if i < FEW and NAME.fullmatch(str(key)) and self.takes_key(str(key)):
                    self.check(part, "s", place, "(…)", frozenset(), "")
                else:
                    self.leave(place, masked(str(key)), part, key)
        else:
            self.leave(place, "", value)

    def arguments(
        self, place: Place, args: tuple[object, ...], forms: str, sizes: Sizes, most: int = 3
    ) -> None:
        """Explain what an object is made of: only what has no state is made of values."""
        if len(args) > most:
            self.leave(place, "(…)", args)
            return
        for i, part in enumerate(args):
            self.check(part, forms, place, f"({i})", sizes, "")

    def _tree(self, place: Place, tree: Inert) -> None:
        self._seen.add(id(tree))
        tables, counts = _TABLES[tree.kind], _COUNTS.get(tree.kind, ())
        nodes = arrived(tree.get("nodes"))
        most = 1 + (len(nodes) if isinstance(nodes, np.ndarray) and nodes.ndim else 0)
        for name, value in tree.state.items() if isinstance(tree.state, dict) else ():
            value = arrived(value)
            if name in tables and isinstance(value, np.ndarray):
                self._seen.add(id(value))
            elif name not in counts or not isinstance(value, int) or not 0 <= value < most:
                self.leave(place, masked(str(name)), value, name)
        for part in (*tree.items, *tree.pairs.items()):
            self.leave(place, "items", part)
        self.arguments(place, tree.args, "1", frozenset(self._facts.sizes))

    def unused(self, place: Place, unused: Iterable[tuple[str, int]]) -> None:
        """Name what no question and no answer of a tree uses, where there is any."""
        for what, n in unused:
            if n:
                where = place.at(what)
                says = "beyond the model: no question and no answer uses it"
                self._more.append(Leftover(kind="extra", where=where, n=n, says=says))


def _bins_of(place: Place) -> list[object]:
    """Return the bounds of the bins of every column, by the boosting that holds a tree."""
    for owner in place.owners():
        for name in ("_bin_mapper", "bin_mapper_"):
            mapper = arrived(owner.get(name))
            if isinstance(mapper, Inert):
                bins = arrived(mapper.get("bin_thresholds_"))
                return bins if isinstance(bins, list) else []
    return []
