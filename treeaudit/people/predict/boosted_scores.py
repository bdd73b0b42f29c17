"""What the steps of a boosting add up to, for people.

Every tree moves the score of one class: that of the second of two, or one of several in turn; or
the number that is predicted. Where scores begin is not in the trees.
"""

import numpy as np

from treeaudit.arrays import Float, Int, Wide
from treeaudit.model.forest import Forest
from treeaudit.people.records import Records

_LOGISTIC = ("binary:logistic", "binary:logitraw", "reg:logistic")
_SOFTMAX = ("multi:softprob", "multi:softmax")
_SQUARED = ("reg:squarederror", "reg:linear")
_ADDED_UP = ("squared_error", "ls", "least_squares", "regression", "regression_l2")
"""Losses of numbers by which steps add up to what is answered, and tell what numbers add up to."""


def column_of_each_tree(forest: Forest) -> Wide | None:
    """Return which score each tree moves, shape ``(n_trees,)``; None where that is not told.

    Examples
    --------
    >>> import treeaudit as ta
    >>> leaf = ta.Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf], value=[0.5])
    >>> schema = ta.Schema.numeric(1, ["a", "b", "c"])
    >>> column_of_each_tree(ta.Forest(trees=(leaf,) * 6, schema=schema, answers="sum")).tolist()
    [0, 1, 2, 0, 1, 2]
    """
    n_classes = len(forest.schema.classes or ())
    stated = forest.source.parameters
    width = max(n_classes, 1) if n_classes != 2 or stated.get("n_outputs") == 2 else 1
    parallel = stated.get("num_parallel_tree", 1) != 1
    if forest.n_trees % width or parallel or len(forest.members) > 1:
        return None
    if forest.trees[0].value is None:
        return None
    return np.arange(forest.n_trees) % width


def start_of(forest: Forest, each: Float | Int) -> Float | None:
    """Return the scores before the first tree; None where neither file nor people tell them.

    scikit-learn begins with what is most frequent among the people it is trained on.
    """
    column, stated = column_of_each_tree(forest), forest.source.parameters
    if column is None or not adds_up(forest):
        return None
    none: Float = np.zeros(int(column.max()) + 1)
    match forest.source.library:
        case "LightGBM":
            return none
        case "XGBoost":
            base = np.ravel(stated.get("base_score", 0.5)).astype(np.float64)
            if stated.get("objective") in _LOGISTIC and 0 < base[0] < 1:
                return none + float(np.log(base[0] / (1 - base[0])))
            if stated.get("objective") in (*_SOFTMAX, *_SQUARED):
                return none + (base if len(base) in (1, len(none)) else 0.0)
        case "scikit-learn" if stated.get("init") == "zero":
            return none
        case "scikit-learn" if "init" in stated or "max_iter" in stated:
            return begins_with(forest, each) if stated.get("loss") != "exponential" else None
    return None


def adds_up(forest: Forest) -> bool:
    """Tell whether steps are of numbers themselves: not of their logarithm, nor medians."""
    if forest.schema.classes is not None or forest.source.library == "XGBoost":
        return True
    stated = forest.source.parameters
    loss = stated.get("loss", stated.get("objective"))
    return loss is None or str(loss).split(" ")[0] in _ADDED_UP


def begins_with(forest: Forest, each: Float | Int) -> Float | None:
    """Return the scores that answer everybody with what is most frequent, or the mean."""
    classes = forest.schema.classes
    if classes is None:
        return np.array([float(np.mean(each))])
    held = np.bincount(each.astype(np.intp), minlength=len(classes)) / len(each)
    if (held == 0).any():
        return None
    score: Float = np.log(held)
    return score if len(classes) > 2 else np.array([score[1] - score[0]])


def rate_apart(forest: Forest) -> float:
    """Return what the values of a tree are multiplied with before they are added.

    Only GradientBoosting keeps the rate apart.
    """
    rate = forest.source.parameters.get("learning_rate", 1.0)
    apart = forest.source.library == "scikit-learn" and "subsample" in forest.source.parameters
    return float(rate) if apart and isinstance(rate, int | float) else 1.0


def told_of(people: Records) -> Float | Int | None:
    """Return the number that is predicted, or the labels, of people; None where not told."""
    return people.labels if people.targets is None else people.targets


def scores_of(forest: Forest, people: Records) -> Float | None:
    """Return the scores of people, shape ``(n_people, n_columns)``; None where not told."""
    each, column = told_of(people), column_of_each_tree(forest)
    start = None if each is None else start_of(forest, each)
    if start is None or column is None:
        return None
    total = np.tile(start, (len(people), 1))
    rate = rate_apart(forest)
    for i, tree in enumerate(forest.trees):
        if tree.value is not None:
            total[:, column[i]] += rate * tree.value[people.node[:, i]]
    return total


def shares_of(scores: Float) -> Float:
    """Return the share of each score's class: of the second of two, or of each of several."""
    if scores.shape[1] == 1:
        return 1 / (1 + np.exp(-np.clip(scores, -700, 700)))
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Float = raised / raised.sum(axis=1, keepdims=True)
    return shares


def called(scores: Float) -> Int:
    """Return the label of the largest score, as a position."""
    return scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.intp)
