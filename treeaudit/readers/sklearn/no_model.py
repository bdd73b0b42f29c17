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
from treeaudit.readers.sklearn.model_ref import ModelRef
from treeaudit.readers.trained import is_trainer
from treeaudit.readers.walk import Place, Walk

_MOST_ATTRIBUTES = 200
# What the functions put together that libraries store in place of a class.
_MADE_BY = {
    "newObj": "an index of neighbours of scikit-learn",
    "_new_Index": "an index of pandas",
    "_new_DatetimeIndex": "an index of pandas",
    "_unpickle_timestamp": "a time of pandas",
    "_timedelta_unpickle": "a duration of pandas",
    "_mareconstruct": "a masked array",
    "_reconstruct_array": "an array of JAX",
    "_array_reconstructor": "an array",
    "_compile": "a regular expression",
    "getLogger": "a logger",
    "__randomstate_ctor": "a random generator of numpy",
    "__generator_ctor": "a random generator of numpy",
    "__bit_generator_ctor": "a random generator of numpy",
    "_rebuild_tensor_v2": "a tensor of PyTorch",
    "_rebuild_parameter": "a parameter of PyTorch",
    "_make_function": "a function carried by cloudpickle",
    "_make_skel_func": "a function carried by cloudpickle",
    "_make_skeleton_class": "a class carried by cloudpickle",
    "_builtin_type": "an object that only cloudpickle can put together",
    "_unpickle": "a time zone",
}


def what_it_is(root: object) -> str:
    """Say in one sentence what the file holds instead of a tree model."""
    reads = (
        "treeaudit reads decision trees, forests and boostings, of scikit-learn, XGBoost, "
        "LightGBM, CatBoost, ONNX, PMML and its own"
    )
    private = _around_private(root)
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
    library, foreign = _library(root), ""
    if judge(root.cls.module, root.cls.name) != "listed" and library:
        foreign = f"treeaudit does not read {library}: "
    where = _holds_trees(root)
    if where:
        return (
            f"{foreign}the file holds {an(name)}, an ensemble that treeaudit does "
            f"not know: save the models in its {where} one at a time to audit their trees"
        )
    if foreign:
        return (
            f"{foreign}the file holds {an(name)}, which is no tree model of those"
            f" that it reads; {reads}"
        )
    made = _MADE_BY.get(root.kind.rpartition(".")[2])
    if made is not None:
        return f"the file holds {made} ({name}), which is no tree model; {reads}"
    return f"the file holds {an(name)}, which is no tree model; {reads}"


def _library(root: Inert) -> str:
    """Name the library of a class, where it is none of those that are read or the program's own."""
    library = bare(root.cls.module.partition(".")[0])
    return "" if library in KNOWN or library == "__main__" else library


def _first(value: object) -> object:
    """Return the first element, without a look at the others; a value that has none itself."""
    match value:
        case list() | tuple() if value:
            return arrived(value[0])
        case dict() if value:
            return arrived(next(iter(value.values())))
        case np.ndarray() if value.dtype == object and value.size:
            return arrived(value.flat[0])
        case _:
            return value


def _holds_trees(root: Inert) -> str:
    """Return the attribute that holds trees; of a list or dictionary the first is looked at."""
    for name, value in itertools.islice(root.attributes.items(), _MOST_ATTRIBUTES):
        first = _first(arrived(value))
        fitted = isinstance(first, Inert) and (
            arrived(first.get("tree_")) is not None or first.kind == "Booster"
        )
        pipeline = isinstance(first, Inert) and first.kind == "Pipeline" and name == "estimators_"
        if name.isidentifier() and (fitted or pipeline):
            return clean(name[:40])
    return ""


_SEARCH = "PrivateSearch"
_SAVE = "treeaudit.trainers.save_trained"
_MOST_KINDS = 4


def _around_private(root: object) -> str | None:
    """Say in one sentence what holds private models, and what to do; None where there are none.

    Examples
    --------
    >>> from treeaudit.readers.pickle.inert import Global
    >>> tree = Inert(Global("treeaudit.trainers.private_tree", "PrivateTreeClassifier", 0, True))
    >>> tree.state = {"forest_": {}}
    >>> vote = Inert(Global("sklearn.ensemble", "VotingClassifier", 0, True))
    >>> vote.state = {"estimators_": [tree]}
    >>> _around_private(vote)  # doctest: +NORMALIZE_WHITESPACE
    "the file holds a VotingClassifier around private models (PrivateTreeClassifier), which
    treeaudit audits one at a time: save each with treeaudit.trainers.save_trained, or choose one
    with --select 'estimators_[0]'"
    """
    first: Place | None = None
    kinds: dict[str, None] = {}
    for place in Walk(root):
        one = place.value
        if not isinstance(one, Inert):
            continue
        if one.kind == _SEARCH and one.cls.module.startswith("treeaudit.trainers."):
            return _search(one)
        if is_trainer(one) and arrived(one.get("forest_")) is not None:
            first = first or place
            kinds[clean(one.kind[:60])] = None
    if first is None:
        return None
    return _around(first, list(kinds)[:_MOST_KINDS])


def _search(search: Inert) -> str:
    if arrived(search.get("best_estimator_")) is None:
        return f"the {_SEARCH} was never fitted: call fit, and save its best_estimator_"
    return (
        f"the file holds a {_SEARCH} around the model that it chose: save that alone, with "
        f"{_SAVE}(search.best_estimator_, 'model.json')"
    )


def _around(first: Place, kinds: list[str]) -> str:
    outer = [owner for owner in first.owners() if owner is not first.value]
    named = [owner for owner in outer if owner.kind != "Pipeline"] or outer
    holder = an(clean(named[-1].kind[:60])) if named else "containers"
    return (
        f"the file holds {holder} around private models ({', '.join(kinds)}), which treeaudit "
        f"audits one at a time: save each with {_SAVE}, or choose one with --select "
        f"{clean(first.path)!r}"
    )
