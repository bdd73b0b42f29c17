"""How long the arrays of the models in a file may be: as they have columns, classes, trees, steps.

What an object states is taken as it is: to prove it is the work of the readers.
"""

from dataclasses import dataclass

import numpy as np

from treeaudit.model.forest import Forest
from treeaudit.readers.limits import Most
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert

_SHORTEST = 64
_COLUMNS = ("n_features_in_", "n_features_", "_n_features_in", "_n_features", "n_features")
_STATED = frozenset(
    "n_classes_ _n_classes n_outputs_ _n_outputs n_tasks_ n_components n_components_ _n_components "
    "n_clusters n_bins n_estimators n_estimators_ n_iter_ n_output_features_ n_features_out_ "
    "_n_features_out n_quantiles n_alphas max_bins thresholds".split()
).union(_COLUMNS)
_COUNTED = frozenset(
    "estimators_ _predictors estimators steps transformers transformers_ transformer_list "
    "calibrated_classifiers_ classes_ categories_ known_categories encodings_ feature_names_in_ "
    "feature_names_ vocabulary_ Cs_ alphas_ _alphas cs_".split()
)


def columns_of(model: Inert) -> int | None:
    """Return how many columns a model sees, by its tree or what it states."""
    if model.kind == "Tree" and len(model.args) == 3:
        return model.args[0] if isinstance(model.args[0], int) else None
    state = model.state if isinstance(model.state, dict) else model.attributes
    stated = next((state[name] for name in _COLUMNS if type(state.get(name)) is int), None)
    return stated if isinstance(stated, int) and 0 < stated <= Most.features else None


def length(value: object) -> int:
    """Return how long a container or an array is; 0 for anything else."""
    if isinstance(value, np.ndarray):
        return max(value.shape, default=0)
    return len(value) if isinstance(value, list | tuple | dict) else 0


@dataclass(slots=True)
class Sizes:
    """The largest sizes of the models in a file.

    Attributes
    ----------
    longest
        The most columns, outputs, classes, categories, trees, steps, rounds or candidates.
    columns
        The most columns.
    nodes
        The nodes of the largest tree.
    classes
        How many classes the trees have.
    """

    longest: int = _SHORTEST
    columns: int = 0
    nodes: int = 0
    classes: frozenset[int] = frozenset()

    @property
    def most_notes(self) -> int:
        """How many plain values may stand beside the model under one name."""
        return max(_SHORTEST, self.columns)

    def note(self, value: Inert) -> None:
        """Take in one object of the file."""
        if value.kind in ("Tree", "TreePredictor"):
            self.nodes = max(self.nodes, length(arrived(value.get("nodes"))))
            if value.kind == "Tree" and len(value.args) == 3:
                self._note_columns(value.args[0])
                self._note_classes(arrived(value.args[1]))
            return
        state = value.state if isinstance(value.state, dict) else value.attributes
        for name in _STATED.intersection(state):
            stated = state[name]
            if isinstance(stated, int) and 0 < stated <= Most.features:
                self.longest = max(self.longest, stated)
                self.columns = max(self.columns, stated if name in _COLUMNS else 0)
        for name in _COUNTED.intersection(state):
            held = arrived(state[name])
            parts = held if isinstance(held, list | tuple) else ()
            if isinstance(held, np.ndarray) and held.dtype == object:
                parts = held.ravel().tolist()
            inner = max((length(arrived(one)) for one in parts), default=0)
            self.longest = max(self.longest, length(held), inner)
        layers = state.get("hidden_layer_sizes")
        for n in layers if isinstance(layers, list | tuple) else (layers,):
            self.longest = max(self.longest, n if isinstance(n, int) and n <= Most.features else 0)
        found = arrived(state.get("cv_results_"))
        found = found.pairs if isinstance(found, Inert) else found
        if isinstance(found, dict):
            self.longest = max(self.longest, length(arrived(found.get("params"))))
            self.longest = max(self.longest, length(arrived(found.get("n_features"))))

    def note_boosted(self, model: Forest) -> None:
        """Take in the columns, labels and rounds of a model that is kept as a document."""
        schema = model.schema
        self._note_columns(len(schema.features))
        n_classes = len(schema.classes or ())
        self.classes |= {n_classes}
        n_categories = max((len(one.categories or ()) for one in schema.features), default=0)
        self.longest = max(self.longest, model.n_trees, n_classes, n_categories)

    def _note_columns(self, n: object) -> None:
        if isinstance(n, int) and 0 < n <= Most.features:
            self.columns = max(self.columns, n)
            self.longest = max(self.longest, n)

    def _note_classes(self, classes: object) -> None:
        if isinstance(classes, np.ndarray) and classes.dtype.kind in "iu" and classes.size:
            n = int(classes.max())
            self.classes |= {n}
            self.longest = max(self.longest, min(n, Most.features), classes.size)
