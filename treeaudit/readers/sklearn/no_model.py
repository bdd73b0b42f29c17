"""Say what a file holds when it is no tree model."""

import itertools

import numpy as np

from treeaudit.model.words import an
from treeaudit.readers.limits import bare, clean, show
from treeaudit.readers.pickle.arrays import LateArray, arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.known_names import KNOWN
from treeaudit.readers.pickle.names import judge
from treeaudit.readers.sklearn.ensembles import SEARCHES, TREES, children, steps_of
from treeaudit.readers.sklearn.model_ref import ModelRef, elements
from treeaudit.readers.trained import is_trainer
from treeaudit.readers.walk import Walk

_MOST_ATTRIBUTES = 200


def what_it_is(root: object) -> str:
    """Say in one sentence what the file holds instead of a tree model."""
    reads = (
        "treeaudit reads decision trees, forests and boostings, of scikit-learn, XGBoost, "
        "LightGBM, CatBoost, ONNX, PMML and its own"
    )
    private = _inner_private(root)
    if private is not None:
        return private
    match root:
        case Inert():
            return _what_estimator(root, reads)
        case Global() if judge(root.module, root.name) != "listed":
            # A class, or a value of an enumeration by its name.
            return _what_estimator(Inert(root), reads)
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
    members = itertools.islice(children(ModelRef(estimator=root, inside="")), 8)
    kinds = dict.fromkeys(show(member.estimator.kind).strip("'") for member in members)
    if kinds:
        return f"the {kind} is made of {', '.join(kinds)}, which are no tree models; {reads}"
    name = show(root.cls)
    # A library that is none of those that are read, nor the program's own.
    library, foreign = bare(root.cls.module.partition(".")[0]), ""
    known = library in KNOWN or library == "__main__"
    if library and not known and judge(root.cls.module, root.cls.name) != "listed":
        foreign = f"treeaudit does not read {library}: "
    where = _holds_trees(root)
    if where:
        return (
            f"{foreign}the file holds {an(name)}, an ensemble that treeaudit does "
            f"not know: save the models in its {where} one at a time to audit their trees"
        )
    of_those = " of those that it reads" if foreign else ""
    return f"{foreign}the file holds {an(name)}, which is no tree model{of_those}; {reads}"


def _holds_trees(root: Inert) -> str:
    """Return the attribute that holds trees; of a list or dictionary the first is looked at."""
    for name, stored in itertools.islice(root.attributes.items(), _MOST_ATTRIBUTES):
        value = arrived(stored)
        held = list(value.values())[:1] if isinstance(value, dict) else elements(value)[:1]
        first = held[0] if held else value
        if not isinstance(first, Inert) or not name.isidentifier():
            continue
        fitted = arrived(first.get("tree_")) is not None or first.kind == "Booster"
        if fitted or (first.kind == "Pipeline" and name == "estimators_"):
            return clean(name[:40])
    return ""


def _inner_private(root: object) -> str | None:
    """Name the first private model inside another object, which is read alone; None if none."""
    for place in Walk(root):
        one = place.value
        if isinstance(one, Inert) and is_trainer(one) and arrived(one.get("forest_")) is not None:
            return (
                f"the file holds a private model ({clean(one.kind[:60])}) inside another object, "
                "and treeaudit audits it alone: save it with treeaudit.trainers.save_trained, or "
                f"choose it with --select {clean(place.path)!r}"
            )
    return None
