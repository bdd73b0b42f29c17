"""Forms that a value of a fitted model can have, and that rows of data do not have."""

import math

import numpy as np

from treeaudit.later import pattern
from treeaudit.readers.leftovers.attributes import is_option
from treeaudit.readers.types import Array

__all__ = [
    "DATE",
    "NAME",
    "VERSION",
    "Sizes",
    "axes",
    "ends_alike",
    "fits",
    "is_choice",
    "is_constant",
    "is_identity",
    "is_setting",
    "is_sorted",
    "is_sound",
    "is_weight",
]

Sizes = frozenset[int]
"""How many rows a value may have."""

NAME = pattern(r"[A-Za-z_][\w .:-]{0,39}")
"""What people call a step, a key or an attribute."""

VERSION = pattern(r"\d{1,4}(\.\w{1,8}){1,4}")
DATE = pattern(r"(19|20)\d\d-(0[1-9]|1[0-2])-[0-3]\d")
_PHRASE = pattern(
    r"You are accessing a training score \('\w{1,40}'\), which will not be available by default "
    r"any more in 0\.21\. If you need training scores, please set return_train_score=True"
)
_OBJECTIVE = pattern(r"[a-z]{3,8}:[a-z_]{2,24}")
_METRIC = pattern(r"[a-z]{2,10}(-[a-z]{3,9})?@[0-9]{1,3}(\.[0-9]{1,3})?-?")
_SET = pattern(r"[A-Za-z_ ]{2,16}[0-9]{0,2}")
_THRESHOLD = pattern(r"(\d{1,3}(\.\d{0,4})?|\.\d{1,4}) ?\* ?(mean|median)")
_FREE = frozenset("fill_value missing_values".split())
_LONGEST_FREE = 40
_MOST_WORDS = 6


def is_setting(text: str, name: str) -> bool:
    """Tell whether a text is what an attribute of this name is set to.

    Examples
    --------
    >>> is_setting("gini", "criterion"), is_setting("1.9.1", "_sklearn_version")
    (True, True)
    >>> is_setting("33;yes", "criterion")
    False
    """
    if not text or is_option(text) or _PHRASE.fullmatch(text):
        return True
    if name in _FREE:
        return len(text) <= _LONGEST_FREE
    if name == "threshold":
        return _THRESHOLD.fullmatch(text) is not None
    if name == "objective":
        return _OBJECTIVE.fullmatch(text) is not None
    if name == "eval_metric":
        return _METRIC.fullmatch(text) is not None
    if name == "metric":
        words = text.split(",")
        return len(set(words)) == len(words) <= _MOST_WORDS and all(map(is_option, words))
    if name == "name_valid_sets":
        return _SET.fullmatch(text) is not None
    return "version" in name and len(text) <= 20 and VERSION.fullmatch(text) is not None


def axes(forms: str) -> int:
    """Return how many axes the forms of an attribute allow."""
    return int(forms[-1]) if forms[-1:].isdigit() else 0


def fits(shape: tuple[int, ...], sizes: Sizes) -> bool:
    """Tell whether every axis is a public size."""
    return all(n in sizes or n < 2 for n in shape)


def _bits(a: Array) -> Array:
    """Return a row of bytes per entry: 0.0 and -0.0 are equal, and say something."""
    return np.ascontiguousarray(a).view(np.uint8).reshape(a.size, a.itemsize)


def is_sound(a: Array) -> bool:
    """Tell whether the bytes of an array say no more than its values.

    A logical entry has 255 ways to be true, and a long double bytes that no value has.
    """
    if a.dtype.kind == "b":
        return not a.size or int(_bits(a).max()) <= 1
    return a.dtype.kind in "iuf" and a.dtype.itemsize <= 8


def is_constant(a: Array) -> bool:
    """Tell whether all entries are the same."""
    return a.size > 0 and bool(np.all(_bits(a) == _bits(a.ravel()[:1])))


def is_identity(a: Array) -> bool:
    """Tell whether this is the identity matrix, the first rows of which may come once more.

    Examples
    --------
    >>> [is_identity(np.eye(3)[rows]) for rows in ([0, 1, 2], [0, 1, 2, 0], [0, 1, 1])]
    [True, True, False]
    """
    if a.ndim != 2 or not 0 < a.shape[1] <= len(a) <= min(1_000, 2 * a.shape[1]):
        return False
    rows = np.arange(len(a)) % a.shape[1]
    return a.dtype == np.float64 and a.tobytes() == np.eye(a.shape[1])[rows].tobytes()


def ends_alike(a: Array, sizes: Sizes) -> bool:
    """Tell whether everything behind as many entries as there are members is the same."""
    if not a.size:
        return False
    other = np.flatnonzero((_bits(a) != _bits(a[-1:])).any(axis=1))
    return bool(len(other)) and int(other[-1]) < max(sizes, default=0)


def is_choice(a: Array, sizes: Sizes) -> bool:
    """Tell whether these are the numbers of some columns, each once."""
    most = max(sizes, default=0)
    if a.ndim != 1 or a.dtype.kind not in "iu" or not 0 < len(a) <= most:
        return False
    return bool(a.min() >= -most and a.max() < most) and len(np.unique(a)) == len(a)


def is_sorted(a: Array, sizes: Sizes) -> bool:
    """Tell whether every column goes up, or down: who had a value is not told by its place."""
    if a.ndim == 0 or a.ndim > 2 or (a.ndim == 2 and not fits(a.shape[1:], sizes)):
        return False
    if a.dtype.kind not in "iuf":
        return a.dtype.kind == "b"
    later, earlier = a[1:], a[:-1]
    missing = np.isnan(a[:-1] if a.ndim == 1 else a)
    if missing.any():
        # Nothing is above or below it; among categories it stands last.
        return False
    falls, rises = np.less(later, earlier), np.greater(later, earlier)
    return not bool(falls.any()) or not bool(rises.any())


def is_weight(one: object) -> bool:
    """Tell whether this is a number that a class may weigh.

    Examples
    --------
    >>> [is_weight(one) for one in (2, 0.5, -1.0, True, "gini", math.inf)]
    [True, True, False, False, False, False]
    """
    number = one.item() if isinstance(one, np.ndarray) and one.size == 1 else one
    if isinstance(number, bool) or not isinstance(number, int | float):
        return False
    return 0 <= number < math.inf
