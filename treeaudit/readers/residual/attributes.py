"""Which attributes the classes of the usual libraries have, in all their versions.

`tools/inventory.py` writes the list: a line per class, each attribute with the
forms that its values were seen in.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert

_LIBRARIES = frozenset(
    "sklearn _loss imblearn xgboost lightgbm treeaudit scipy builtins __builtin__".split()
)

# Read at once: reading a model opens no file but the model.
_OPTIONS = "words"
_TEXT = Path(__file__).with_name("attributes.txt").read_text(encoding="utf-8")


@cache
def _lines() -> dict[str, str]:
    """Return the line of each class; that of ``words`` lists the options."""
    told = (line.partition(" ") for line in _TEXT.splitlines())
    return {kind: names for kind, _, names in told}


@cache
def _options() -> frozenset[str]:
    # A blank within an option is written as "␣".
    return frozenset(word.replace("␣", " ") for word in _lines()[_OPTIONS].split())


@lru_cache(maxsize=1024)
def attributes_of(kind: str) -> Mapping[str, str] | None:
    """Return the attributes of a class with the forms of their values, or None where unknown.

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
    """Return the attributes that an object of the file may have, or None where nobody knows."""
    if model.cls.module.partition(".")[0] in _LIBRARIES:
        return attributes_of(model.kind)
    tree = arrived(model.get("tree_"))
    if isinstance(tree, Inert) and tree.kind == "Tree":
        # A subclass of the user's own has what its base has.
        kinds = (attributes_of(f"DecisionTree{what}") or {} for what in ("Regressor", "Classifier"))
        return {name: forms for kind in kinds for name, forms in kind.items()}
    return None


@cache
def _names() -> frozenset[str]:
    kinds = map(attributes_of, _lines())
    return frozenset(name for names in kinds if names is not None for name in names)


def is_name(text: str) -> bool:
    """Tell whether a text names an attribute or an option, as in a grid of a search."""
    return text in _names() or text in _options()


def is_option(text: str) -> bool:
    """Tell whether a text is an option that an estimator or a scorer knows.

    Examples
    --------
    >>> is_option("gini"), is_option("33;yes")
    (True, False)
    """
    return text in _options()
