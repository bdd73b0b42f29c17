"""Counts are called exact only where they are the people of the training table."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.ensemble._forest import _generate_sample_indices
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from tests.strategies import examples
from treeaudit import ReadError, load
from treeaudit.readers.sklearn.counts import class_weights, people_per_class

Float = npt.NDArray[np.float64]


def _decide(leaves: list[list[float]], n: list[int], class_weight: Any = None) -> Any:
    weights = np.array(leaves, dtype=float)
    found = people_per_class(weights, np.array(n), weights.sum(axis=1), class_weight)
    if found.per_weight is None:
        return found.counts_are, None
    return found.counts_are, np.rint(weights * found.per_weight).astype(int).tolist()


def test_fractions_are_multiplied_by_the_weight() -> None:
    value = np.array([[0.25, 0.75], [1 / 3, 2 / 3]])
    assert class_weights(value, np.array([8.0, 3.0])).tolist() == [[2, 6], [1, 2]]


def test_counts_stay_as_they_are() -> None:
    value = np.array([[2.0, 6.0], [1.0, 2.0]])
    assert class_weights(value, np.array([8.0, 3.0])) is value


@pytest.mark.parametrize(
    "value", [[[0.5, 0.6]], [[7.0, 2.0]], [[-1.0, 2.0]], [[-1.0, 9.0]], [[0.0, 0.0]]]
)
def test_other_numbers_are_inconsistent(value: list[list[float]]) -> None:
    with pytest.raises(ReadError, match=r"neither counts nor fractions|negative count"):
        class_weights(np.array(value), np.array([8.0]))


def test_rows_of_weight_one_are_people() -> None:
    assert _decide([[2, 0], [1, 3]], [2, 4]) == ("exact", [[2, 0], [1, 3]])


def test_class_weights_can_look_like_none() -> None:
    # Four people of weight 0.5, one of weight 3 and two of weight 1 weigh seven.
    leaves = [[2, 0, 2], [0, 3, 0]]
    assert _decide(leaves, [4, 3])[0] == "exact"
    assert _decide([[2, 3, 2]], [7], {0: 0.5, 1: 3.0}) == ("exact", [[4, 1, 2]])
    assert _decide([[2, 3, 2]], [7], {0: 0.5, 1: 2.0})[0] == "weighted"
    assert _decide([[3, 3]], [6], "balanced")[0] != "exact"
    assert _decide([[2, 3, 2]], [7], {0: 1.0, 1: 1.0})[0] == "exact"
    assert _decide(np.diag([2, 3, 2]).tolist(), [4, 1, 2], {0: 0.5, 1: 3.0}) == (
        "exact",
        [[4, 0, 0], [0, 1, 0], [0, 0, 2]],
    )


def test_stated_class_weights_are_divided_out() -> None:
    # Two and one people of weight 3; four and two people of weight 0.5.
    leaves = [[6, 2], [3, 1]]
    assert _decide([*leaves, [9, 0]], [6, 3, 3], {0: 3.0, 1: 0.5}) == (
        "exact",
        [[2, 4], [1, 2], [3, 0]],
    )


def test_balanced_class_weights_are_checked_against_their_formula() -> None:
    # Six people of class 0 weigh 9 / (2 * 6), three of class 1 weigh 9 / (2 * 3).
    leaves = [[4 * 0.75, 1 * 1.5], [2 * 0.75, 2 * 1.5]]
    assert _decide(leaves, [5, 4], "balanced") == ("exact", [[4, 1], [2, 2]])
    doubled = [[2 * w for w in row] for row in leaves]
    assert _decide(doubled, [5, 4], "balanced")[0] == "weighted"


def test_weights_that_the_file_states_need_no_solution() -> None:
    # One leaf of 97 and 1, whose class weighs 30; three classes in two leaves.
    leaves = [[97, 30, 0], [30, 600, 104]]
    assert _decide(leaves, [98, 102], {0: 1, 1: 30, 2: 2}) == (
        "exact",
        [[97, 1, 0], [30, 20, 52]],
    )
    assert _decide(leaves, [98, 102], {0: 1, 1: 15, 2: 2}) == ("weighted", None)


SPARE = [[6, 2], [9, 0], [3, 1], [12, 0.5], [3, 2.5]]
PEOPLE = [[2, 4], [3, 0], [1, 2], [4, 1], [1, 5]]


def test_weights_that_the_file_does_not_state_are_likely_at_best() -> None:
    assert _decide(SPARE, [6, 3, 3, 5, 6]) == ("likely", PEOPLE)
    assert _decide(SPARE[:4], [6, 3, 3, 5]) == ("weighted", None)
    # The same leaf again tells nothing more.
    assert _decide([*SPARE[:4], SPARE[0]], [6, 3, 3, 5, 6]) == ("weighted", None)


def test_weights_other_than_stated_are_likely_at_best() -> None:
    assert _decide(SPARE, [6, 3, 3, 5, 6], {0: 1.0, 1: 0.5})[0] == "likely"


def test_weights_of_rows_that_look_like_weights_of_classes_are_not_people() -> None:
    # Truth: two people of class 0 (weights 1 and 3); three of class 1; and in the mixed
    # leaf two of class 0 (weight 1 each) and one of class 1 (weight 2).
    assert _decide([[4, 0], [0, 3], [2, 2]], [2, 3, 3]) == ("weighted", None)
    # Truth: twelve and one, who weigh 2 and 6; twelve and fourteen, who weigh 1 and 3. Weights of
    # 2.4 and 2 would make them ten and three, five and 21.
    assert _decide([[24, 6], [12, 42]], [13, 26]) == ("weighted", None)


def test_weights_that_differ_within_a_class_stay_weights() -> None:
    assert _decide([[2.5, 0], [1, 3.25]], [2, 4]) == ("weighted", None)


def test_a_class_of_which_nobody_is_seen_is_no_division_by_zero() -> None:
    assert _decide([[1e-9, 1.5], [1e-9, 3.0]], [1, 2], "balanced")[0] != "exact"


def test_a_class_of_weight_zero_leaves_no_trace() -> None:
    assert _decide([[2, 0], [4, 0]], [1, 2], {0: 2.0, 1: 0.0}) == ("exact", [[1, 0], [2, 0]])


def test_many_classes_are_not_solved_for() -> None:
    weights = np.eye(1200) * 2.5
    assert people_per_class(weights, np.ones(1200, int), weights.sum(axis=1)).counts_are == (
        "weighted"
    )


def _truth(
    model: Any, x: Float, y: npt.NDArray[np.int64], alive: npt.NDArray[np.bool_]
) -> list[Float]:
    """Count the draws of every class in every node, from the rows themselves."""
    members = getattr(model, "estimators_", [model])
    tables = []
    for member in members:
        if getattr(model, "bootstrap", False):
            rows = _indices(model, member, len(x))
        else:
            rows = np.arange(len(x))
        rows = rows[alive[rows]]
        path = member.decision_path(x[rows].astype(np.float32)).toarray().astype(bool)
        codes = np.searchsorted(model.classes_, y[rows])
        hot = np.eye(len(model.classes_))[codes]
        tables.append(path.T.astype(float) @ hot)
    return tables


def _indices(model: Any, member: Any, n: int) -> npt.NDArray[np.int64]:
    if hasattr(member, "_sample_indices_of_test"):
        return np.asarray(member._sample_indices_of_test)
    draws = getattr(model, "_n_samples_bootstrap", n)
    stated = getattr(model, "_sample_weight", None)
    try:
        return np.asarray(_generate_sample_indices(member.random_state, n, draws, stated))
    except TypeError:
        return np.asarray(_generate_sample_indices(member.random_state, n, draws))


MAKERS = (
    DecisionTreeClassifier,
    ExtraTreeClassifier,
    RandomForestClassifier,
    ExtraTreesClassifier,
)
WEIGHTS = st.sampled_from(["none", "whole", "zero", "zero-one", "random", "constant", "per-class"])
CLASS_WEIGHTS = st.sampled_from([None, None, "balanced", {0: 1, 1: 2}, {0: 0.5, 1: 3, 2: 1}])


@examples(250)
@given(
    st.sampled_from(MAKERS),
    WEIGHTS,
    CLASS_WEIGHTS,
    st.integers(0, 2**31 - 1),
    st.integers(4, 40),
    st.integers(2, 3),
    st.integers(1, 5),
)
def test_exact_counts_are_true(
    make: Any, kind: str, class_weight: Any, seed: int, n: int, k: int, depth: int
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 6, (n, 3)).astype(float)
    y = rng.integers(0, k, n)
    weights = {
        "none": None,
        "whole": rng.integers(1, 4, n).astype(float),
        "zero": rng.integers(0, 3, n).astype(float),
        "zero-one": rng.integers(0, 2, n).astype(float),
        "random": rng.uniform(0.1, 3, n),
        "constant": np.full(n, 2.0),
        "per-class": np.array([1.0, 2.0, 5.0])[y],
    }[kind]
    if weights is not None:
        # scikit-learn divides by the weight of a class.
        assume(len(np.unique(y[weights > 0])) == len(np.unique(y)))
    if isinstance(class_weight, dict):
        class_weight = {c: w for c, w in class_weight.items() if c in y} or None
    options = {"max_depth": depth, "random_state": seed % 1000, "class_weight": class_weight}
    if make in (RandomForestClassifier, ExtraTreesClassifier):
        options |= {"n_estimators": int(rng.integers(1, 4))}
    model = make(**options).fit(x, y, sample_weight=weights)
    forest = load(model)
    if kind == "none" and class_weight is None:
        # Before 1.9 a forest of a few trees could hide weights of rows.
        sure = hasattr(model, "_sample_weight") or not getattr(model, "bootstrap", False)
        assert forest.counts_are == ("exact" if sure else "likely")
    if forest.counts_are != "exact":
        return
    # Since 1.9 the weights of a bootstrap steer the draw; before, they weigh the rows drawn.
    alive = np.ones(n, bool) if weights is None else weights > 0
    for tree, truth in zip(forest.trees, _truth(model, x, y, alive), strict=True):
        assert tree.counts is not None
        assert tree.counts.tolist() == truth.tolist()


def test_a_forest_of_one_tree_with_doubled_weights_is_never_exact_and_double() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    model = RandomForestClassifier(1, random_state=0).fit(x, y, sample_weight=np.full(40, 2.0))
    forest = load(model)
    (tree,) = forest.trees
    assert tree.counts is not None
    assert forest.counts_are != "exact" or tree.counts[0].sum() == 40


def test_monotone_trees_have_no_class_counts() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    try:
        model = DecisionTreeClassifier(max_depth=3, monotonic_cst=[1, 0]).fit(x, y)
    except TypeError:
        pytest.skip("this scikit-learn has no monotonicity constraints")
    assert load(model).counts_are == "absent"


def test_several_outputs_have_no_class_counts() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)), rng.integers(0, 2, (60, 2))
    forest = load(DecisionTreeClassifier(max_depth=3).fit(x, y))
    assert forest.counts_are == "absent"
    assert forest.schema.classes is None
