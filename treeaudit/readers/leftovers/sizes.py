"""The public sizes and names of the models in a file: what may be as long as what."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from treeaudit.dataclass import dataclass
from treeaudit.later import later, pattern
from treeaudit.model.forest import Forest
from treeaudit.readers.limits import Most
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.together import in_rows
from treeaudit.readers.types import Table

if TYPE_CHECKING:
    from treeaudit.readers.leftovers.category_lists import list_of_categories
else:
    list_of_categories = later("treeaudit.readers.leftovers.category_lists", "list_of_categories")

__all__ = ["Facts", "length", "own_sizes", "tree_sizes", "width_of"]

_WIDTHS = ("n_features_in_", "n_features_", "_n_features_in", "_n_features", "n_features")
_COUNTED = (
    *("estimators_", "_predictors", "steps", "transformers_", "transformers", "categories_"),
    *("transformer_list", "calibrated_classifiers_", "estimators"),
)
_STATED = ("n_components_", "_n_components", "n_outputs_", "n_classes_", "_n_classes", "n_tasks_")
_ROUNDS = ("n_iter_", "n_estimators_")
_NAMED = ("feature_names_in_", "classes_", "categories_", "_feature_names_in")
_NOTED = frozenset({*_NAMED, "estimators_", "_predictors"})
_MOST_ROUNDS = 2_000


def tree_sizes(tree: object) -> tuple[int, int, int] | None:
    """Return columns, outputs and the most classes of one of a stored `Tree`."""
    if not isinstance(tree, Inert) or tree.kind != "Tree" or len(tree.args) != 3:
        return None
    width, classes, outputs = tree.args[0], arrived(tree.args[1]), tree.args[2]
    if not isinstance(width, int) or not isinstance(outputs, int):
        return None
    if not isinstance(classes, np.ndarray) or classes.dtype.kind not in "iu" or not classes.size:
        return None
    # One number alone is there sooner than the largest.
    return width, outputs, int(classes.item() if classes.size == 1 else classes.max())


# What a model gets and what its trees see are not as wide; all others are no wider than those.
_OTHER_WIDTHS = pattern(
    r"PCA|\w+PCA|TruncatedSVD|Select\w+|VarianceThreshold|RFE(CV)?|OneHotEncoder|ColumnTransformer"
    r"|FeatureUnion|FeatureAgglomeration|\w+Projection|\w+Selector|Bagging\w+|IsolationForest"
    r"|\w+Chain|FactorAnalysis|FastICA|NMF|\w+NMF|\w*Discriminant\w*|Booster|(XGB|LGBM|Hist)\w+"
)
_MOST_DROPPED = 64
_FEW_COLUMNS = 64


@lru_cache(1024)
def _has_other_width(kind: str) -> bool:
    return _OTHER_WIDTHS.fullmatch(kind) is not None


def _state_of(model: Inert) -> Mapping[Any, object]:
    return model.state if isinstance(model.state, dict) else model.attributes


def length(value: object) -> int:
    """Return how long a list or an array is; 0 for anything else, and for one without an axis."""
    one = isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim > 0)
    return len(value) if one else 0  # type: ignore[arg-type]


def width_of(model: Inert) -> int | None:
    """Return how many columns a model sees: that of its tree, else what it states.

    A `ColumnTransformer` that drops nearly all of them states nothing that can be seen in it.
    """
    state = _state_of(model)
    inner = tree_sizes(arrived(state.get("tree_")))
    if inner is not None:
        return inner[0]
    members = arrived(state.get("estimators_"))
    if isinstance(members, np.ndarray) and members.dtype == object:
        members = members.ravel()[:1].tolist()
    whole = state.get("estimators_features_") is None and "Chain" not in model.kind
    if whole and isinstance(members, list) and members:
        first = arrived(members[0])
        inner = tree_sizes(arrived(first.get("tree_"))) if isinstance(first, Inert) else None
        if inner is not None:
            return inner[0]
    for name in _WIDTHS:
        stated = state.get(name)
        if type(stated) is int and 0 < stated <= Most.features:
            used = _used(state) if model.kind == "ColumnTransformer" else None
            return stated if used is None or stated <= 2 * used + _MOST_DROPPED else None
    # A selection sees what the model that it goes by sees.
    by = arrived(state.get("estimator_")) if model.kind == "SelectFromModel" else None
    nested = not isinstance(by, Inert) or by.kind == "SelectFromModel"
    return None if nested or not isinstance(by, Inert) else width_of(by)


def _used(state: Mapping[Any, object]) -> int | None:
    """Return how many columns the parts of a `ColumnTransformer` take."""
    parts = arrived(state.get("transformers_"))
    total = 0
    for part in parts if isinstance(parts, list) else ():
        step, columns = (*part, None, None)[1:3] if isinstance(part, tuple) else (None, None)
        columns = arrived(columns)
        if isinstance(columns, Inert):
            return None
        if not isinstance(step, str) or step != "drop":
            total += length(columns) if isinstance(columns, list | np.ndarray) else 1
    return total


@dataclass(slots=True)
class Facts:
    """What is known of the models of a file before its values are explained.

    Attributes
    ----------
    n_records
        Training records, where known.
    sizes
        Columns, outputs and classes of the trees.
    classes
        How many classes a model may have.
    texts
        Names of columns, categories and labels.
    rounds
        How many rounds a boosted model may be of.
    columns
        The categories of single columns, in the order in which models state them.
    """

    n_records: int | None = None
    sizes: set[int] = field(default_factory=lambda: {0, 1, 2})
    classes: set[int] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    rounds: set[int] = field(default_factory=set)
    columns: set[tuple[str, ...]] = field(default_factory=set)
    _tested: dict[int, set[int]] = field(default_factory=dict)
    _stacks: list[tuple[set[int], int]] = field(default_factory=list)

    @property
    def n_tested(self) -> float:
        """Columns that the trees test, those of few columns all; infinite where nobody knows."""
        if not self._tested:
            return np.inf
        return sum(max(len(tested), min(n, _FEW_COLUMNS)) for n, tested in self._tested.items())

    @property
    def told(self) -> tuple[int, ...]:
        """How much is known of all but the columns that are tested: it is the same or more."""
        named = len(self.texts), len(self.columns)
        return len(self.sizes), len(self.classes), *named, len(self._tested)

    def note(self, value: Inert) -> None:
        """Take in one object of the file."""
        inner = tree_sizes(value)
        if inner is not None:
            self.sizes.update(inner)
            self.classes.add(inner[2])
            self._test(inner[0], [value.get("nodes")], "feature")
            return
        if value.kind == "TreePredictor":
            self._test(_FEW_COLUMNS + 1, [value.get("nodes")], "feature_idx")
            return
        state = _state_of(value)
        if _has_other_width(value.kind):
            self.sizes.add(width_of(value) or 0)
        elif value.kind.startswith("Stacking"):
            self._stacked(value, state)
        for name in _COUNTED:
            members = state.get(name)
            for part in members[:_MOST_DROPPED] if isinstance(members, list) else ():
                if isinstance(part, tuple) and part and isinstance(part[0], str):
                    self.texts.add(part[0][:40])
        if _NOTED.isdisjoint(state):
            return
        for name in ("estimators_", "_predictors"):
            members = arrived(state.get(name))
            if isinstance(members, np.ndarray) and members.ndim == 2:
                self.classes.add(members.shape[1])
            elif n := length(members):
                first = members[0]  # type: ignore[index]
                if name == "_predictors" and isinstance(first, list | tuple):
                    self.classes.add(len(first))
                # One against one: a member for each pair of classes.
                self.classes |= {n, int((1 + (1 + 8 * n) ** 0.5) / 2)}
        for name in _NAMED:
            self._add(arrived(state.get(name)))
        learned = arrived(state.get("categories_"))
        self._list(learned if isinstance(learned, list) else ())

    def note_boosted(self, model: Forest) -> None:
        """Take in the columns, labels and rounds of a model that is kept as a document."""
        schema, stated = model.schema, model.source.parameters.get("num_parallel_tree")
        n_classes, n_parallel = len(schema.classes or ()), stated if type(stated) is int else 1
        for each in (1, n_classes, n_parallel, n_classes * n_parallel):
            self.rounds |= {model.n_trees // each} if each and not model.n_trees % each else set()
        self.sizes |= {len(schema.features), n_classes}
        self.classes |= {n_classes} if n_classes else set()
        self.texts.update(schema.names)
        for one in schema.features:
            self.texts.update(one.categories or ())
        self._list(one.categories for one in schema.features)
        self.texts.update(label for label in schema.classes or () if isinstance(label, str))

    def _list(self, columns: Iterable[object]) -> None:
        listed = (list_of_categories(arrived(one)) for one in columns)
        self.columns.update(one for one in listed if one)

    def _test(self, width: int, tables: Iterable[object], name: str) -> None:
        """Take in which columns some trees test."""
        tested = self._tested.setdefault(width, set())
        if width <= _FEW_COLUMNS:
            return
        columns = []
        for nodes in map(arrived, tables):
            if not isinstance(nodes, np.ndarray) or name not in (nodes.dtype.names or ()):
                continue
            if nodes.dtype[name].kind in "iu":
                columns.append(nodes[name].ravel())
        if columns:
            tested.update(np.unique(np.concatenate(columns)).tolist())

    def note_tested(self, estimators: Iterable[object]) -> None:
        """Take in which columns are tested by trees of the usual form, of which all else is known.

        Parameters
        ----------
        estimators
            Each holds one.
        """
        # Beside the answers, a stack may hand the columns on that its members see.
        widest = max(self.sizes)
        for answers, wide in self._stacks:
            self.sizes |= {n + wide for n in answers} if wide <= widest else set()
        tables: dict[tuple[int, np.dtype[Any]], list[Table]] = {}
        for one in estimators:
            tree = arrived(one.get("tree_")) if isinstance(one, Inert) else None
            width = tree.args[0] if isinstance(tree, Inert) and tree.args else None
            if not isinstance(tree, Inert) or not isinstance(width, int) or width <= _FEW_COLUMNS:
                continue
            nodes = arrived(tree.get("nodes"))
            if isinstance(nodes, np.ndarray):
                tables.setdefault((width, nodes.dtype), []).append(nodes)
        for (width, _), some in tables.items():
            for part in in_rows([len(nodes) for nodes in some]):
                self._test(width, some[part], "feature")

    def _stacked(self, model: Inert, state: Mapping[Any, object]) -> None:
        """Take in what the last model of a stack sees: an answer of each member."""
        stored, classes = arrived(state.get("estimators_")), arrived(state.get("classes_"))
        members = stored if isinstance(stored, list) else []
        n = len(members)
        k = len(classes) if isinstance(classes, np.ndarray) and classes.ndim == 1 else 1
        if k <= 20 or k in self.classes:
            answers = {n, n * k, n * (k - 1)}
            self.sizes |= answers
            widths = [width_of(one) for one in map(arrived, members) if isinstance(one, Inert)]
            self._stacks.append((answers, max((wide or 0 for wide in widths), default=0)))

    def _add(self, stored: object) -> None:
        if isinstance(stored, np.ndarray) and stored.dtype.kind in "OUS":
            stored = stored.ravel().tolist()
        for part in stored if isinstance(stored, list | tuple) else ():
            part = arrived(part)
            if isinstance(part, str):
                self.texts.add(part)
            elif isinstance(part, np.ndarray) and part.dtype.kind in "OU":
                self.texts.update(t for t in part.ravel().tolist() if isinstance(t, str))


def own_sizes(model: Inert, facts: Facts) -> frozenset[int]:
    """Return how long the rows of a model's own arrays may be."""
    sizes: set[int] = set()
    width = width_of(model)
    if width is not None and width <= max(facts.sizes):
        sizes |= {width, width + 1}
    state = _state_of(model)
    for name in _COUNTED:
        members = arrived(state.get(name))
        if isinstance(members, np.ndarray):
            sizes.update(members.shape, (n + 1 for n in members.shape))
        elif isinstance(members, list | tuple):
            sizes |= {len(members), len(members) + 1}
            if name == "categories_":
                columns = [arrived(part) for part in members]
                sizes |= {part.size for part in columns if isinstance(part, np.ndarray)}
    for name in ("support_vectors_", "_fit_X"):
        told = arrived(state.get(name))
        if isinstance(told, np.ndarray) and told.ndim:
            # They are records: whatever goes with them does not make the file worse.
            sizes.add(len(told))
    for name in _ROUNDS:
        stated = state.get(name)
        if type(stated) is int and 0 < stated <= _MOST_ROUNDS and "estimators_" not in state:
            sizes |= {stated, stated + 1}
    for name in _STATED:
        stated = state.get(name)
        if type(stated) is int and 0 < stated <= max(width or 0, *facts.sizes):
            sizes.add(stated)
    classes = arrived(state.get("classes_"))
    if isinstance(classes, np.ndarray) and (classes.size in facts.classes or classes.size <= 20):
        sizes.add(classes.size)
    return frozenset(sizes)
