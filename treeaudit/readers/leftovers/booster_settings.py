"""What the wrappers of XGBoost and LightGBM were told: few settings by their names, and no more."""

from collections.abc import Iterator, Set

from treeaudit.readers.leftovers.attributes import is_name
from treeaudit.readers.leftovers.constraints import is_constraint
from treeaudit.readers.leftovers.forms import is_setting
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert

__all__ = ["CONSTRAINTS", "is_boosted", "is_parameters", "odd_parameters", "only_words"]

CONSTRAINTS = ("monotone_constraints", "interaction_constraints", "interaction_cst")
_PARAMETERS = {"params": 48, "_other_params": 24, "kwargs": 24}
"""How many settings these hold at most: what people tune, and what a wrapper passes on."""
_MOST_LISTED, _MOST_WORDS = 32, 6
_WORDS = frozenset("eval_metric feature_types objective metric".split())
# Settings of answers, not of training.
_ANSWERS = (
    *("pred_", "predict_", "prediction_", "is_predict_", "start_iteration"),
    *("num_iteration_predict", "raw_score", "leaf_index", "contrib"),
)


def is_boosted(model: Inert) -> bool:
    """Tell whether an object is a wrapper of XGBoost or LightGBM."""
    return model.cls.module.partition(".")[0] in ("xgboost", "lightgbm")


def is_parameters(model: Inert, name: str) -> bool:
    """Tell whether an attribute holds parameters by their names."""
    return name in _PARAMETERS and is_boosted(model)


def odd_parameters(
    name: str, value: dict[object, object], width: int, names: Set[str]
) -> Iterator[tuple[object, object]]:
    """Yield the entries that are no setting of a training, or one too many.

    Parameters
    ----------
    name
        The attribute.
    value
        What it holds.
    width, names
        How many columns the model has, and what they may be called.

    Examples
    --------
    >>> told = {"lambda_l2": 0.5, "metric": "auc,l2", "Ann Lee": 33, "pred_early_stop": True}
    >>> [key for key, _ in odd_parameters("params", told, 3, set())]
    ['Ann Lee', 'pred_early_stop']
    """
    listed = _MOST_LISTED
    for i, (key, part) in enumerate(value.items()):
        part = arrived(part)
        known = isinstance(key, str) and is_name(key) and not key.startswith(_ANSWERS)
        if isinstance(part, list | tuple) and not (known and is_constraint(part, width, names)):
            listed -= len(part)
            fits = listed >= 0 and all(_is_plain(arrived(one), str(key)) for one in part)
        else:
            fits = isinstance(part, list | tuple) or _is_plain(part, str(key))
        if not (known and fits and i < _PARAMETERS[name]):
            yield key, part


def only_words(name: str, value: object) -> bool:
    """Tell whether an attribute that words are listed in holds anything else, or many.

    Examples
    --------
    >>> only_words("eval_metric", ["auc", "error"]), only_words("eval_metric", [33.5])
    (True, False)
    """
    if name not in _WORDS or not isinstance(value, list | tuple):
        return True
    parts = [arrived(one) for one in value]
    most = len(parts) if name == "feature_types" else _MOST_WORDS
    return len(parts) <= most and all(isinstance(one, str) for one in parts)


def _is_plain(part: object, name: str) -> bool:
    if isinstance(part, str):
        words = part.split(",")
        few = len(set(words)) == len(words) <= _MOST_WORDS
        return few and all(is_setting(word.strip(), name) for word in words)
    if isinstance(part, int):
        return part.bit_length() <= 64
    return part is None or isinstance(part, float)
