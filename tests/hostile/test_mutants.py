"""What `make fuzz` has found, each by the change that made it."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import Memory
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tests.hostile.build import (
    Code,
    built,
    call,
    dtype,
    joblib_array,
    late_array,
    model,
    named,
    new,
    stored,
    tree,
)
from treeaudit import ReadError, UnsafeModelError, load
from treeaudit.readers.pickle.pickle_vm import read_pickle

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(200, 3))
Y = (X[:, 0] > 0).astype(int)
TREE = DecisionTreeClassifier(max_depth=2)
STEPS = make_pipeline(StandardScaler(), TREE)


@pytest.mark.parametrize(
    "bag",
    [
        IsolationForest(n_estimators=2),
        BaggingClassifier(TREE, 2),
        BaggingClassifier(STEPS, 2, max_features=2),
    ],
)
@pytest.mark.parametrize("column", [3, 24_834, -1])
def test_a_member_that_saw_a_column_that_is_not_there(bag: Any, column: int) -> None:
    bag.fit(X, Y)
    load(bag)
    bag.estimators_features_[1] = bag.estimators_features_[1].copy()
    bag.estimators_features_[1][-1] = column
    with pytest.raises(ReadError, match="columns that cannot be"):
        load(bag)


def test_members_that_call_one_class_by_two_numbers() -> None:
    stack = StackingClassifier([("a", TREE)], TREE, cv=2).fit(X, np.array(["no", "yes"])[Y])
    assert load(stack).schema.classes == ("no", "yes")
    stack.estimators_[0].classes_ = np.array([0, -1])
    assert load(stack).schema.classes != ("no", "yes")


@pytest.mark.parametrize("classes", [[0, 0], [1, 1], ["a", "a"], [0, False]])
def test_a_class_that_stands_twice(classes: list[object]) -> None:
    """Its people would be counted in one column, and those of the other be lost."""
    vote = VotingClassifier([("a", TREE), ("b", TREE)]).fit(X, Y)
    vote.estimators_[1].classes_ = np.array(classes)
    for damaged in (vote, vote.estimators_[1]):
        with pytest.raises(ReadError, match="a class stands twice"):
            load(damaged)


F8 = np.dtype("f8")
NUMBERS = late_array((2,), F8, bytes(16))
RECONSTRUCT = named("numpy._core.multiarray", "_reconstruct")
EMPTY = call(RECONSTRUCT, named("numpy", "ndarray"), (0,), b"b")
STATE: list[Any] = [1, (1,), F8, False, bytes(8)]
PLAIN: list[Any] = [3, "<", None, None, None, -1, -1, 0]


@pytest.mark.parametrize(
    "place",
    [
        *(dtype("f8", (*PLAIN[:i], NUMBERS, *PLAIN[i + 1 :])) for i in (0, 1, 5, 6, 7)),
        *(built(EMPTY, (*STATE[:i], NUMBERS, *STATE[i + 1 :])) for i in range(5)),
        *(joblib_array(bytes(8), F8, (1,), order=order) for order in (NUMBERS, 0, None)),
        joblib_array(bytes(8), F8, NUMBERS),
    ],
)
def test_an_array_in_the_place_of_a_number(place: Code) -> None:
    with pytest.raises(ReadError):
        read_pickle(stored(place))


@pytest.mark.filterwarnings("error")
def test_python_warns_of_no_text() -> None:
    """It warns of what follows a backslash by mistake."""
    with pytest.raises(ReadError, match="damaged"):
        read_pickle(b"S'a\\mb'\n.")
    assert read_pickle(b"S'a\\\\mb'\n.").root == "a\\mb"


@pytest.mark.parametrize(
    "forged",
    [
        dtype(
            "V64",
            (3, order, None, ("a",), {"a": (dtype("f8", (3, "<", *PLAIN[2:])), 0)}, 64, 1, 16),
        )
        for order in "<>="
    ]
    + [
        dtype(code, (3, order, *PLAIN[2:]))
        for code, order in (("f8", "|"), ("f8", "="), ("u1", ">"))
    ]
    + [dtype("O8", (3, "|", None, None, None, -1, -1, flags)) for flags in (0, 3, 27)]
    + [dtype("f8", (*PLAIN[:-1], flags)) for flags in (8, 16, 144)],
)
def test_a_type_that_numpy_does_not_write(forged: Code) -> None:
    """By the order of a record joblib swaps all its numbers; by other flags texts are no texts."""
    with pytest.raises(ReadError, match="numpy"):
        read_pickle(stored(forged))


@pytest.mark.parametrize("by_column", [False, True])
def test_values_that_stand_column_by_column(by_column: bool, tmp_path: Path) -> None:
    values = np.array([[[0.4, 0.6]], [[1.0, 0.0]], [[0.0, 1.0]]])
    order = values.tobytes("F" if by_column else "C")
    path = tmp_path / "model"
    path.write_bytes(
        stored(model(tree(values=late_array(values.shape, dtype("f8"), order, by_column))))
    )
    (read,) = load(path).trees
    assert read.counts is not None
    assert read.counts.tolist() == [[2, 3], [2, 0], [0, 3]]


@pytest.mark.parametrize("protocol", range(6))
def test_a_cache_of_joblib_is_a_setting_that_is_named(protocol: int, tmp_path: Path) -> None:
    steps = make_pipeline(StandardScaler(), TREE, memory=Memory(tmp_path, verbose=0)).fit(X, Y)
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(steps, protocol))
    found = [one for one in load(path).extras.found if one.kind == "extra"]
    assert [one.where for one in found] == ["memory"]


@pytest.mark.parametrize(
    "forged",
    [
        call(named("joblib.memory", "Memory"), "folder"),
        new(named("joblib.memory", "Memory"), "folder"),
        call(named("functools", "partial"), named("joblib.memory", "Memory"), "folder"),
        new(named("joblib.memory", "MemorizedFunc")),
    ],
)
def test_a_cache_that_would_make_folders_is_refused(forged: Code) -> None:
    with pytest.raises(UnsafeModelError):
        read_pickle(stored(forged))


def test_what_a_library_keeps_under_its_own_name() -> None:
    """No method: nobody but networkx asks for it."""
    graph = new(named("networkx.classes.graph", "Graph"))
    read_pickle(stored(built(graph, {"__networkx_cache__": {}})))
    for key in ("__setstate__", "__other_cache__", "__array__"):
        with pytest.raises(UnsafeModelError, match="place of a method"):
            read_pickle(stored(built(graph, {key: {}})))


DILLS = named("dill._dill", "_create_array")
WHAT = (named("numpy", "ndarray"), (0,), b"b")
FULL = (1, (1,), F8, False, bytes(8))


def test_an_array_of_dill_is_an_array_of_numpy() -> None:
    assert read_pickle(stored(call(DILLS, RECONSTRUCT, WHAT, FULL, None))).root == np.zeros(1)
    bytes_ = call(named("dill._dill", "_load_type"), "bytes")
    assert read_pickle(stored(call(bytes_))).root == b""


@pytest.mark.parametrize(
    "forged",
    [
        call(DILLS, named("numpy", "log1p"), (1,), FULL, None),
        call(DILLS, named("numpy._core.multiarray", "scalar"), (F8, bytes(8)), FULL, None),
        call(DILLS, RECONSTRUCT, (named("posix", "system"), (0,), b"b"), FULL, None),
        call(DILLS, RECONSTRUCT, WHAT, FULL, {"rows": 1}),
        call(DILLS, RECONSTRUCT, WHAT, FULL),
        call(DILLS, RECONSTRUCT, WHAT, (1, (2,), F8, False, bytes(8)), None),
        built(call(DILLS, RECONSTRUCT, WHAT, FULL, None), FULL),
        call(call(named("dill._dill", "_load_type"), "FunctionType"), b"", {}),
        call(call(named("dill._dill", "_load_type"), "eval"), "1"),
        call(call(named("dill._dill", "_load_type"), "_create_code"), "1"),
        call(call(named("dill._dill", "_load_type"), "print"), "1"),
        call(named("dill._dill", "_import_module"), "posix.system"),
        call(named("dill._dill", "_eval_repr"), "1"),
    ],
)
def test_dill_is_followed_no_further(forged: Code) -> None:
    with pytest.raises(ReadError):
        read_pickle(stored(forged))


@pytest.mark.parametrize(
    ("made", "one", "other"),
    [
        (TREE, "left_child", "right_child"),
        (TREE, "threshold", "impurity"),
        (TREE, "feature", "n_node_samples"),
        (HistGradientBoostingClassifier(max_iter=2), "left", "right"),
        (HistGradientBoostingClassifier(max_iter=2), "num_threshold", "gain"),
    ],
)
def test_columns_that_are_called_by_the_names_of_others(
    made: Any, one: str, other: str, tmp_path: Path
) -> None:
    made.fit(X, Y)
    names = [b"\x8c" + bytes([len(name)]) + name.encode() for name in (one, other)]
    data = pickle.dumps(made)
    assert [data.count(name) for name in names] == [1, 1]
    swapped = names[1].join(part.replace(names[1], names[0]) for part in data.split(names[0]))
    # A loader goes by their place, and so is not misled.
    loaded = pickle.loads(swapped)
    assert np.array_equal(loaded.predict_proba(X), made.predict_proba(X))
    path = tmp_path / "model.pkl"
    path.write_bytes(swapped)
    with pytest.raises(ReadError, match="wrong type or place"):
        load(path)


@pytest.mark.parametrize("name", ["learning_rate", "l2_regularization"])
@pytest.mark.parametrize(
    "number",
    [10**400, -(10**400), 1e308, float("inf"), float("nan")],
    ids=["huge", "far below", "large", "infinite", "none"],
)
def test_a_boosting_whose_step_is_larger_than_any_number(name: str, number: float) -> None:
    boosted = HistGradientBoostingClassifier(max_iter=2).fit(X, Y)
    setattr(boosted, name, number)
    assert load(boosted).n_trees == 2
