"""Every tree of every ensemble: routed, sized and counted as scikit-learn does."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from treeaudit import Forest, ModelTooLargeError, ReadError, UnsupportedModelError, load

X, NUMBERS = load_iris(return_X_y=True)
Y = np.array(["setosa", "versicolor", "virginica"])[NUMBERS]
NUMERIC, TARGET = load_diabetes(return_X_y=True)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
NUMBER_TREE = DecisionTreeRegressor(max_depth=3, random_state=0)
FOREST = RandomForestClassifier(3, max_depth=3, random_state=0)
LINEAR = LogisticRegression(max_iter=2000)

Trees = Sequence[tuple[Any, Sequence[int] | slice]]
ALL = slice(None)


def _whole(trees: Sequence[Any]) -> Trees:
    return [(tree, ALL) for tree in np.ravel(np.array(trees, dtype=object))]


def _bagged(model: Any) -> Trees:
    return list(zip(model.estimators_, model.estimators_features_, strict=True))


def _flat(models: Sequence[Any]) -> Trees:
    return _whole([t for m in models for t in np.ravel(getattr(m, "estimators_", [m]))])


def _held(model: Any) -> Trees:
    return _whole(model.estimators_)


CASES: list[tuple[str, Any, Any, Callable[[Any], Trees]]] = [
    ("forest", FOREST, Y, _held),
    ("embedding", RandomTreesEmbedding(3, random_state=0), None, _held),
    ("isolation", IsolationForest(n_estimators=5, max_features=0.5, random_state=0), None, _bagged),
    ("bag", BaggingClassifier(TREE, max_features=0.5, random_state=0), Y, _bagged),
    ("bag-repeats", BaggingClassifier(TREE, bootstrap_features=True, random_state=0), Y, _bagged),
    ("bag-of-few", BaggingClassifier(TREE, max_samples=8, random_state=0), Y, _bagged),
    ("paste", BaggingClassifier(TREE, bootstrap=False, max_samples=0.5), Y, _bagged),
    ("bag-of-forests", BaggingClassifier(FOREST, 3), Y, lambda m: _flat(m.estimators_)),
    ("adaboost", AdaBoostClassifier(TREE, n_estimators=3), Y, _held),
    ("boosting", GradientBoostingClassifier(n_estimators=2), Y, _held),
    ("boosting-half", GradientBoostingClassifier(n_estimators=2, subsample=0.5), Y, _held),
    ("one-vs-rest", OneVsRestClassifier(FOREST), Y, lambda m: _flat(m.estimators_)),
    ("one-vs-one", OneVsOneClassifier(TREE), Y, _held),
    (
        "code-book",
        OutputCodeClassifier(TREE, random_state=0),
        Y,
        lambda m: _whole([e for e in m.estimators_ if hasattr(e, "tree_")]),
    ),
    (
        "vote",
        VotingClassifier([("a", TREE), ("b", FOREST), ("c", LINEAR)]),
        Y,
        lambda m: _flat(m.estimators_[:2]),
    ),
    (
        "stack",
        StackingClassifier([("a", TREE), ("b", ExtraTreesClassifier(2))], FOREST, cv=2),
        Y,
        lambda m: _flat(m.estimators_),
    ),
    (
        "calibrated",
        CalibratedClassifierCV(TREE, cv=2),
        Y,
        lambda m: _whole([fold.estimator for fold in m.calibrated_classifiers_]),
    ),
    ("outputs", MultiOutputClassifier(TREE), np.c_[Y, Y == "setosa"], _held),
]


def _read(model: Any, select: str | None = None) -> Forest:
    return load(model, select=select)


@pytest.mark.parametrize(("model", "y", "trees"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_rows_go_where_scikit_learn_sends_them(
    model: Any, y: Any, trees: Callable[[Any], Trees]
) -> None:
    model.fit(X, y)
    forest, real = _read(model), trees(model)
    assert forest.n_trees == len(real)
    node = forest.apply(X)
    for i, (tree, columns) in enumerate(real):
        assert node[:, i].tolist() == tree.tree_.apply(X[:, columns].astype(np.float32)).tolist()
        assert forest.trees[i].n_records is not None
        assert forest.trees[i].n_records.tolist() == tree.tree_.n_node_samples.tolist()


@pytest.mark.parametrize(
    ("model", "trees"),
    [
        (BaggingRegressor(NUMBER_TREE, 3, max_features=0.5), _bagged),
        (GradientBoostingRegressor(n_estimators=2), _held),
        (AdaBoostRegressor(NUMBER_TREE, n_estimators=2), _held),
        (
            VotingRegressor([("a", NUMBER_TREE), ("b", RandomForestRegressor(2, max_depth=3))]),
            lambda m: _flat(m.estimators_),
        ),
        (
            TransformedTargetRegressor(NUMBER_TREE, func=np.log, inverse_func=np.exp),
            lambda m: _whole([m.regressor_]),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_models_of_numbers(model: Any, trees: Callable[[Any], Trees]) -> None:
    forest, real = _read(model.fit(NUMERIC, TARGET)), trees(model)
    assert forest.schema.classes is None
    node = forest.apply(NUMERIC)
    for i, (tree, columns) in enumerate(real):
        seen = NUMERIC[:, columns].astype(np.float32)
        assert node[:, i].tolist() == tree.tree_.apply(seen).tolist()
        assert forest.trees[i].value.tolist() == tree.tree_.value[:, 0, 0].tolist()


def _people(forest: Forest, tree: int, rows: np.ndarray, labels: np.ndarray) -> list[list[int]]:
    """Count training rows per leaf and class."""
    node = forest.trees[tree].apply(rows.astype(np.float32))
    classes = [str(c) for c in forest.classes_of(tree) or ()]
    leaves = forest.trees[tree].leaves
    return [[int(((node == n) & (labels == c)).sum()) for c in classes] for n in leaves]


def _counts(forest: Forest, tree: int) -> list[list[int]]:
    one = forest.trees[tree]
    return [[int(c) for c in row] for row in one.counts[one.leaves]]


def test_a_bag_counts_its_draws() -> None:
    few = np.r_[0:50, 50:53, 100:150]
    for bag in (
        BaggingClassifier(TREE, 6, max_samples=9, random_state=1),
        BaggingClassifier(TREE, 6, max_samples=9, bootstrap=False, random_state=1),
    ):
        forest = _read(bag.fit(X[few], Y[few]))
        assert forest.counts_are in ("exact", "likely")
        assert forest.n_records == len(few)
        for i, drawn in enumerate(bag.estimators_samples_):
            rows, labels = X[few][drawn], Y[few][drawn]
            assert _counts(forest, i) == _people(forest, i, rows, labels)
    assert forest.records_are == "unknown"


def test_a_member_that_never_saw_a_class_counts_none_of_it() -> None:
    few = np.r_[0:50, 50:53, 100:150]
    pipeline = make_pipeline(MinMaxScaler(), TREE)
    bag = BaggingClassifier(pipeline, 9, max_samples=20, random_state=1).fit(X[few], Y[few])
    assert len({len(member.classes_) for member in bag.estimators_}) > 1
    forest = _read(bag)
    assert forest.schema.classes == ("setosa", "versicolor", "virginica")
    for i, drawn in enumerate(bag.estimators_samples_):
        assert _counts(forest, i) == _people(forest, i, X[few][drawn], Y[few][drawn])


def test_rows_that_were_copied_are_no_people() -> None:
    pipeline = make_pipeline(MinMaxScaler(), TREE)
    bag = BaggingClassifier(pipeline, 4, max_features=3, random_state=0).fit(X, Y)
    forest = _read(bag)
    assert forest.schema.names == ["x0", "x1", "x2", "x3"]
    assert all(tree.n_records is None for tree in forest.trees)
    assert "draws and do not tell how many people" in forest.warnings[0]
    for i, drawn in enumerate(bag.estimators_samples_):
        assert _counts(forest, i) == _people(forest, i, X[drawn], Y[drawn])
    assert _read(AdaBoostRegressor(n_estimators=2).fit(NUMERIC, TARGET)).trees[0].n_records is None


def test_only_the_first_tree_of_a_boosting_that_weighs_rows_counts_people() -> None:
    model = AdaBoostClassifier(TREE, n_estimators=3, random_state=0).fit(X, Y)
    forest = _read(model)
    assert forest.counts_are == "weighted"
    assert np.allclose([tree.counts[0].sum() for tree in forest.trees], 1)
    first = _read(model, select="estimators_[0]")
    assert first.counts_are == "exact"
    assert _counts(first, 0) == _people(first, 0, X, Y)
    assert _read(model, select="estimators_[1]").counts_are == "weighted"
    uneven = AdaBoostClassifier(TREE, n_estimators=1)
    uneven.fit(X, Y, sample_weight=np.random.default_rng(0).random(len(X)))
    assert _read(uneven).counts_are == "weighted"


def test_boosting_holds_values_and_people_and_no_counts() -> None:
    forest = _read(GradientBoostingClassifier(n_estimators=2, init=TREE).fit(X, NUMBERS))
    assert (forest.counts_are, forest.records_are, forest.n_records) == ("absent", "all", 150)
    assert "no counts" in forest.counts_reason
    assert forest.warnings[0].startswith("not audited: DecisionTreeClassifier at init_;")
    model = GradientBoostingClassifier(n_estimators=2, subsample=0.5).fit(X, Y)
    forest = _read(model)
    assert (forest.records_are, forest.n_records) == ("unknown", None)
    assert forest.trees[0].value.tolist() == model.estimators_[0, 0].tree_.value[:, 0, 0].tolist()


def test_the_start_of_a_boosting_is_selected() -> None:
    model = GradientBoostingClassifier(n_estimators=2, init=TREE).fit(X, NUMBERS)
    start = _read(model, select="init_")
    assert (start.n_trees, start.counts_are) == (1, "exact")


def test_one_class_against_the_others_is_called_by_its_name() -> None:
    forest = _read(OneVsRestClassifier(TREE).fit(X, Y))
    assert forest.schema.classes == ("another", "its own")
    assert forest.tree_classes is not None
    assert forest.tree_classes[1] == ("not versicolor", "versicolor")
    for i, label in enumerate(("setosa", "versicolor", "virginica")):
        labels = np.where(label == Y, label, f"not {label}")
        assert _counts(forest, i) == _people(forest, i, X, labels)
    two = NUMBERS < 2
    assert _read(OneVsRestClassifier(TREE).fit(X[two], Y[two])).schema.classes == (
        "setosa",
        "versicolor",
    )


def test_pairs_and_code_books_name_their_sides() -> None:
    forest = _read(OneVsOneClassifier(TREE).fit(X, Y))
    assert forest.schema.classes == ("setosa", "versicolor", "virginica")
    for i, pair in enumerate(((0, 1), (0, 2), (1, 2))):
        rows = np.isin(NUMBERS, pair)
        assert _counts(forest, i) == _people(forest, i, X[rows], Y[rows])
    assert (forest.records_are, forest.n_records) == ("unknown", None)
    book = OutputCodeClassifier(TREE, code_size=2, random_state=0).fit(X, Y)
    forest = _read(book)
    for i in range(forest.n_trees):
        labels = np.array(
            [next(s for s in forest.classes_of(i) if y in s.split(" or ")) for y in Y]
        )
        assert _counts(forest, i) == _people(forest, i, X, labels)


def test_several_targets_each_have_their_labels() -> None:
    size = np.where(X[:, 0] > 5.5, "big", "small")
    forest = _read(MultiOutputClassifier(TREE).fit(X, np.c_[Y, size]))
    assert forest.classes_of(1) == ("output 1: big", "output 1: small", "(none)")
    named = np.char.add("output 1: ", size)
    assert _counts(forest, 1) == _people(forest, 1, X, named)
    numbers = MultiOutputRegressor(NUMBER_TREE).fit(NUMERIC, np.c_[TARGET, -TARGET])
    assert _read(numbers).n_trees == 2


def test_a_chain_also_sees_the_targets_before() -> None:
    targets = np.c_[X[:, 0] > 5.5, X[:, 1] > 3, NUMBERS == 1].astype(int)
    chain = ClassifierChain(TREE, order=[2, 0, 1]).fit(X[:, 2:], targets)
    forest = _read(chain)
    assert forest.schema.names == ["x0", "x1", "output 2", "output 0"]
    rows = np.c_[X[:, 2:], targets[:, 2], targets[:, 0]]
    node = forest.apply(rows)
    for i, tree in enumerate(chain.estimators_):
        assert node[:, i].tolist() == tree.apply(rows[:, : 2 + i]).tolist()


def test_each_calibrated_tree_saw_a_fold() -> None:
    forest = _read(CalibratedClassifierCV(TREE, cv=3).fit(X, Y))
    assert [m.n_trees for m in forest.members] == [1, 1, 1]
    assert (forest.records_are, forest.n_records) == ("unknown", None)
    assert forest.schema.classes == ("setosa", "versicolor", "virginica")
    alone = _read(CalibratedClassifierCV(TREE, cv=3, ensemble=False).fit(X, Y))
    assert (alone.records_are, alone.n_records) == ("all", 150)


@pytest.mark.parametrize("classes", [["anna 33", "bob 44", "eve 9"], [True, False], [[0], [1]]])
def test_a_calibrated_tree_answers_with_the_labels_that_are_stated(classes) -> None:
    model = CalibratedClassifierCV(TREE, cv=2).fit(X, Y)
    model.calibrated_classifiers_[1].classes = np.array(classes)
    with pytest.raises(ReadError, match="answers with other labels than it states"):
        _read(model)


def test_the_values_of_a_changed_target_say_so() -> None:
    model = TransformedTargetRegressor(NUMBER_TREE, func=np.log, inverse_func=np.exp)
    forest = _read(model.fit(NUMERIC, TARGET))
    assert "units of the changed target" in forest.warnings[0]


def test_names_of_columns_come_from_the_model_around() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    for model in (
        BaggingClassifier(TREE, 2, max_features=2),
        AdaBoostClassifier(TREE, n_estimators=2),
        GradientBoostingClassifier(n_estimators=1),
        VotingClassifier([("a", make_pipeline(MinMaxScaler(), TREE)), ("b", TREE)]),
        OneVsRestClassifier(TREE),
    ):
        forest = _read(model.fit(table, Y))
        assert forest.schema.names == ["a", "b", "c", "d"]
        assert forest.schema.named


def test_an_ensemble_without_trees_is_named_by_its_members() -> None:
    vote = VotingClassifier([("a", LINEAR)]).fit(X, Y)
    with pytest.raises(UnsupportedModelError, match="made of LogisticRegression"):
        _read(vote)


def test_a_vote_that_holds_itself_is_read_once() -> None:
    vote = VotingClassifier([("a", TREE), ("b", FOREST)]).fit(X, Y)
    vote.estimators_ = [vote, *vote.estimators_]
    assert _read(vote).n_trees == 4


def test_a_vote_that_holds_one_model_many_times_is_refused() -> None:
    vote = VotingClassifier([("a", TREE), ("b", FOREST)]).fit(X, Y)
    vote.estimators_ = vote.estimators_ * 1000
    with pytest.raises(ReadError, match="the same model twice"):
        _read(vote)


def test_votes_in_votes_end() -> None:
    for depth in (5, 60):
        vote: Any = TREE.fit(X, Y)
        for _ in range(depth):
            outer = VotingClassifier([("a", TREE)])
            outer.estimators_, outer.classes_ = [vote], np.array([0, 1, 2])
            vote = outer
        assert _read(vote).n_trees == 1


def test_trees_that_share_one_table_are_too_many() -> None:
    first = DecisionTreeClassifier(random_state=0).fit(X, Y)
    many = []
    for _ in range(500):
        copy = DecisionTreeClassifier()
        copy.__dict__.update(first.__dict__)
        many.append(copy)
    vote = VotingClassifier([("a", TREE)]).fit(X, Y)
    for holder in (vote, GradientBoostingRegressor(n_estimators=1).fit(NUMERIC, TARGET)):
        holder.estimators_ = many
        with pytest.raises(ModelTooLargeError, match="larger than the file"):
            _read(holder)


@pytest.mark.parametrize(
    "features",
    [[np.array([0, 1])], [np.array([9, -9])] * 2, [np.array([-1, 0])] * 2, [np.arange(3)] * 2],
    ids=str,
)
def test_a_bag_with_impossible_columns_ends_in_a_sentence(features: Any) -> None:
    bag = BaggingClassifier(TREE, 2, max_features=2).fit(X, Y)
    bag.estimators_features_ = features
    with pytest.raises(ReadError, match="the bag is damaged"):
        load(bag)
