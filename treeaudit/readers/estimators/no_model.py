"""Say what a file holds when it is no tree model."""

import itertools

import numpy as np

from treeaudit.readers.estimators.ensembles import SEARCHES, TREES, children, steps_of
from treeaudit.readers.estimators.found import Found
from treeaudit.readers.pickles.arrays import LateArray, arrived
from treeaudit.readers.pickles.inert import Inert, show

__all__ = ["what_it_is"]


def what_it_is(root: object) -> str:
    """Say in one sentence what the file holds instead of a tree model."""
    reads = "treeaudit reads decision trees, extra trees and ensembles of scikit-learn"
    match root:
        case Inert():
            return _what_estimator(root, reads)
        case np.ndarray() | LateArray():
            return f"the file holds a bare array, no model; {reads}"
        case dict() | list() | tuple():
            return f"the file holds a {type(root).__name__} without a tree model in it; {reads}"
        case _:
            return f"the file holds {show(root)}, no model; {reads}"


def _what_estimator(root: Inert, reads: str) -> str:
    kind = root.kind
    if kind in TREES:
        return f"the {kind} was never fitted: call fit before saving it"
    if kind == "Pipeline":
        steps = steps_of(root)
        if not steps:
            return "the Pipeline has no steps"
        last = arrived(steps[-1][1])
        if isinstance(last, Inert) and last.kind != "Pipeline":
            return f"a Pipeline whose last step is no tree: {what_it_is(last)}"
        return f"a Pipeline whose last step is no tree; {reads}"
    if kind in SEARCHES:
        if root.get("best_estimator_") is None:
            return f"the {kind} holds no best_estimator_: fit it with refit=True before saving"
        return f"the best_estimator_ of the {kind} is no tree model; {reads}"
    members = itertools.islice(children(Found(estimator=root, inside="")), 8)
    kinds = dict.fromkeys(show(member.estimator.kind).strip("'") for member in members)
    if kinds:
        return f"the {kind} is made of {', '.join(kinds)}, which are no tree models; {reads}"
    return f"the file holds a {show(root.cls)}, which is no tree model; {reads}"
