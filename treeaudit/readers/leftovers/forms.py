"""What writers keep of settings: words that an option is, versions, weights of classes."""

import math

import numpy as np

from treeaudit.later import pattern
from treeaudit.readers.leftovers.attributes import is_option

__all__ = ["DATE", "is_setting", "is_weight"]

_VERSION = pattern(r"\d{1,4}(\.\w{1,8}){1,4}")
DATE = pattern(r"(19|20)\d\d-(0[1-9]|1[0-2])-[0-3]\d")
"""A day."""
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
    return "version" in name and len(text) <= 20 and _VERSION.fullmatch(text) is not None


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
