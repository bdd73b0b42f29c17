"""What a genuine file may hold: attributes of the usual classes, plain values and their sizes.

`tools/inventory.py` writes ``attributes.txt``: a line per class of the usual libraries, in all
their versions, each attribute with the forms of its values. What an object states of its sizes is
taken as it is: the readers prove it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from treeaudit.model.forest import Forest
from treeaudit.readers.limits import Most
from treeaudit.readers.pickle.arrays import DType, arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.tables import index_names

LONGEST_TEXT = 200
"""Of a setting, a name or a note, in characters."""
STANDARD = frozenset(
    "numpy pandas collections functools datetime decimal pathlib builtins __builtin__ copyreg "
    "copy_reg _codecs fractions uuid scipy sklearn _loss".split()
)
"""Libraries whose objects are judged by what they hold, if their class is not listed."""
_LISTED = frozenset(
    "sklearn _loss imblearn xgboost lightgbm treeaudit scipy builtins __builtin__".split()
)
_OPTIONS = "words"
_TEXT = Path(__file__).with_name("attributes.txt").read_text(encoding="utf-8")

_LONGEST_BYTES = 16  # a date and its time zone
_MOST_BITS = 64
_MANY = 16
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


@cache
def _lines() -> dict[str, str]:
    """Return the line of each class; that of ``words`` lists the options."""
    parts = (line.partition(" ") for line in _TEXT.splitlines())
    return {kind: names for kind, _, names in parts}


@cache
def _options() -> frozenset[str]:
    """Return the options of all classes; a blank within one is written as "␣"."""
    return frozenset(word.replace("␣", " ") for word in _lines()[_OPTIONS].split())


@cache
def _names() -> frozenset[str]:
    kinds = map(attributes_of, _lines())
    return frozenset(name for names in kinds if names is not None for name in names)


@lru_cache(maxsize=1024)
def attributes_of(kind: str) -> Mapping[str, str] | None:
    """Return the attributes of a class with the forms of their values, or None if unknown.

    Any value may be a number or an option. Letters and the digit say what else:
    ``o`` objects, ``s`` a small list or dictionary of settings, ``d`` a dictionary,
    ``n`` texts in a row, ``b`` bytes, and an array or nested list of so many axes.

    Examples
    --------
    >>> attributes_of("DecisionTreeClassifier")["feature_names_in_"]
    'n1'
    >>> attributes_of("MyTree") is None
    True
    """
    line = None if kind == _OPTIONS else _lines().get(kind)
    if line is None:
        return None
    return {name: forms for name, _, forms in (one.partition(":") for one in line.split())}


def listed(model: Inert) -> Mapping[str, str] | None:
    """Return the attributes that an object of the file may have, or None if its class is unknown.

    A subclass of the user's own has the attributes of its base.
    """
    if library_of(model) in _LISTED or model.base:
        return attributes_of(model.cls.name) or attributes_of(model.kind)
    tree = arrived(model.get("tree_"))
    if isinstance(tree, Inert) and tree.kind == "Tree":
        kinds = (attributes_of(f"DecisionTree{what}") or {} for what in ("Regressor", "Classifier"))
        return {name: forms for kind in kinds for name, forms in kind.items()}
    return None


def is_name(text: str) -> bool:
    """Tell whether a text names an attribute or an option, as in a grid of a search."""
    return text in _names() or text in _options()


def library_of(value: Inert) -> str:
    """Return the library of the class of an object."""
    return value.cls.module.partition(".")[0]


def is_note(value: object, most: int) -> bool:
    """Tell whether a value is a number, a date, a short text, or so many of them.

    Examples
    --------
    >>> is_note({"auc": 0.9, "folds": [0.8, 0.9]}, 3), is_note([1, 2, 3, 4], 3)
    (True, False)
    """
    n = n_parts = 0
    todo = [value]
    while todo:
        part = arrived(todo.pop())
        n_parts += 1
        if n > most or n_parts > _MANY * (most + 1):
            return False
        match part:
            case np.ndarray() if part.dtype.kind in "OUS" and part.ndim <= 1 and part.size <= most:
                todo += part.ravel().tolist()
            case np.ndarray():
                n += part.size
                if part.ndim > 1 or part.dtype.kind not in "biufmM" or part.itemsize > 8:
                    return False
            case dict() | list() | tuple() | set() | frozenset() if len(part) > most:
                return False
            case dict():
                todo += part.values()
                todo += (key for key in part if not is_short(key))
            case list() | tuple() | set() | frozenset():
                todo += part
            case Inert() if library_of(part) in STANDARD and listed(part) is None:
                todo += (*part.args, part.state, *part.items, *part.pairs, *part.pairs.values())
            case bytes() if len(part) <= _LONGEST_BYTES:
                n += 1
            case _ if is_short(part):
                n += not isinstance(part, Global | DType | None)
            case _:
                return False
    return n <= most


def is_short(value: object) -> bool:
    """Tell whether a value is a number, the name of a class, nothing, or a short text."""
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT
    if isinstance(value, int):
        return value.bit_length() <= _MOST_BITS
    if isinstance(value, DType):
        return not value.n_fields  # the type of a record may name the columns of a table
    return isinstance(value, float | Global | None)


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
    """The largest sizes of the models in a file: no array of them is longer than that.

    ``longest`` is the most columns, outputs, classes, categories, trees, steps, rounds or
    candidates, ``columns`` the most columns, ``nodes`` those of the largest tree, and ``classes``
    how many classes the trees have, and ``names`` those of its columns that a model holds.
    """

    longest: int = _SHORTEST
    columns: int = 0
    nodes: int = 0
    classes: frozenset[int] = frozenset()
    names: set[tuple[str, ...]] = field(default_factory=set)

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
        if own := index_names(arrived(state.get("feature_names_in_"))):
            self.names.add(tuple(own))
        sizes = [0]
        for name in _STATED.intersection(state):
            stated = state[name]
            if isinstance(stated, int) and 0 < stated <= Most.features:
                sizes.append(stated)
                self.columns = max(self.columns, stated if name in _COLUMNS else 0)
        for name in _COUNTED.intersection(state):
            whole = arrived(state[name])
            parts = whole if isinstance(whole, list | tuple) else ()
            if isinstance(whole, np.ndarray) and whole.dtype == object:
                parts = whole.ravel().tolist()
            sizes += (length(whole), *(length(arrived(part)) for part in parts))
        layers = state.get("hidden_layer_sizes")
        layers = layers if isinstance(layers, list | tuple) else (layers,)
        sizes += (n for n in layers if isinstance(n, int) and n <= Most.features)
        search = arrived(state.get("cv_results_"))
        search = search.pairs if isinstance(search, Inert) else search
        if isinstance(search, dict):
            sizes += (length(arrived(search.get(name))) for name in ("params", "n_features"))
        self.longest = max(self.longest, *sizes)

    def note_boosted(self, model: Forest) -> None:
        """Take in the columns, labels and rounds of a model that is stored as a document."""
        schema = model.schema
        self._note_columns(len(schema.features))
        self.names |= {tuple(map(str, schema.names))} if schema.named else set()
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
