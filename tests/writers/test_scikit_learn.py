"""What is written is a scikit-learn estimator that answers like the model it came from."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.strategies import examples
from tests.writers.kinds import (
    AVERAGING,
    DIABETES,
    IRIS,
    NAMED,
    NUMBERS,
    VOTING_NUMBERS,
    cases,
    fit,
    id_of,
    others,
)
from treeaudit.defenses import (
    Coarsen,
    LabelsOnly,
    MergeDiverse,
    MergeSiblings,
    PruneLeaves,
    RoundCounts,
    Strip,
)
from treeaudit.people.predict.predictions import class_shares
from treeaudit.people.records import read_records
from treeaudit.writers import to_estimator

CASES = list(cases())
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)

# scikit-learn 1.2 with pandas 2.
pytestmark = pytest.mark.filterwarnings("ignore:is_sparse")


@pytest.mark.slow
@pytest.mark.parametrize(("model", "data"), CASES, ids=[id_of(*c) for c in CASES])
def test_class_and_parameters_are_those_of_the_model(model, data) -> None:
    fitted = fit(model, data)
    again = pickle.loads(pickle.dumps(to_estimator(ta.load(fitted))))
    assert type(again) is type(fitted)
    stated, given = again.get_params(deep=False), fitted.get_params(deep=False)
    changed = {k: v for k, v in stated.items() if given.get(k) != v}
    # No seed stays, the columns that a member did not draw are there, and voters are clones.
    picked = getattr(model, "max_features", 1) == 0.5
    assert changed.pop("max_features", None) == (1.0 if picked else None)
    assert changed.pop("random_state", None) is None
    assert changed.keys() <= {"estimators"}
    assert clone(again).get_params().keys() == fitted.get_params().keys()
    left = {one.kind for one in ta.load(again).extras.found}
    assert left <= {"targets", "first-round-counts"}


@pytest.mark.parametrize("model", [TREE, RandomForestClassifier(2)], ids=str)
def test_several_outputs(model) -> None:
    x, y = IRIS
    with pytest.raises(ta.UnsupportedModelError, match=r"of 2 outputs .*-o model\.treeaudit\.json"):
        to_estimator(ta.load(fit(model, (x, np.column_stack([y, y % 2])))))


REPAIRS = [
    MergeSiblings(min_leaf=8),
    PruneLeaves(min_leaf=8, unanswered="parent"),
    MergeDiverse(),
    RoundCounts(base=5),
    Strip(),
    LabelsOnly(),
    Coarsen(digits=2),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("model", AVERAGING, ids=str)
@pytest.mark.parametrize("repair", REPAIRS, ids=lambda one: one.id)
def test_after_a_repair_as_the_forest(model, repair) -> None:
    for data in (NAMED,) if repair.id == "coarsen" else (IRIS,):
        forest = ta.load(fit(model, data))
        if repair.id == "round-counts" and forest.counts_are == "weighted":
            continue
        if repair.id == "round-counts":
            forest = MergeSiblings(min_leaf=5).apply(forest)
        safe = repair.apply(forest)
        rows = others(data, 1000)
        estimator = to_estimator(safe)
        shares, answered = class_shares(safe, read_records(rows, safe))
        assert answered.all()
        assert np.allclose(estimator.predict_proba(rows), shares, atol=1e-12)
        clear = np.diff(np.sort(shares, axis=1)[:, -2:], axis=1)[:, 0] > 1e-9
        said = estimator.classes_[shares.argmax(axis=1)]
        assert np.array_equal(estimator.predict(rows)[clear], said[clear])
        # What is read back says what was written.
        back = ta.load(pickle.loads(pickle.dumps(estimator)))
        for one, other in zip(safe.trees, back.trees, strict=True):
            assert np.array_equal(one.high, other.high)
            if one.n_records is not None:
                assert np.array_equal(one.n_records, other.n_records)


@pytest.mark.parametrize("model", [*NUMBERS[:6], VOTING_NUMBERS], ids=lambda m: type(m).__name__)
def test_leaves_of_numbers_tell_nobody_s(model) -> None:
    safe = MergeSiblings(min_leaf=8).apply(ta.load(fit(model, DIABETES)))
    made = to_estimator(safe)
    assert ta.load(made).extras.found == ()
    if hasattr(made, "feature_importances_"):
        assert np.isnan(made.feature_importances_).any()


def frame():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 400
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "job": rng.choice(["clerk", "nurse", "baker", "smith"], n),
            "town": rng.choice(["A", "B", "C"], n),
            "pay": rng.integers(1, 50, n).astype(float),
        }
    )
    label = np.where((table["age"] > 40) & (table["job"] != "baker"), "sick", "well")
    label = np.where(rng.random(n) < 0.2, "well", label)
    return table, label


def columns() -> ColumnTransformer:
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(StandardScaler()), ["age"]),
            ("job", OneHotEncoder(handle_unknown="ignore"), ["job"]),
            ("town", OrdinalEncoder(), ["town"]),
            ("rest", "passthrough", ["pay"]),
        ]
    )


@pytest.mark.parametrize(
    "last",
    [
        DecisionTreeClassifier(max_depth=6, random_state=0),
        RandomForestClassifier(4, random_state=0),
        GradientBoostingClassifier(n_estimators=3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3, random_state=0),
    ],
    ids=str,
)
def test_in_the_same_pipeline(last) -> None:
    table, label = frame()
    model = Pipeline([("prep", columns()), ("clf", clone(last))]).fit(table, label)
    forest = ta.load(model)
    again = to_estimator(forest)
    assert [name for name, _ in again.steps] == ["prep", "clf"]
    assert np.array_equal(again.predict_proba(table), model.predict_proba(table))
    for repair in (MergeSiblings(min_leaf=20), PruneLeaves(min_leaf=20, unanswered="parent")):
        safe = repair.apply(forest)
        made = pickle.loads(pickle.dumps(to_estimator(safe)))
        back = ta.load(made)
        for one, other in zip(safe.trees, back.trees, strict=True):
            assert np.array_equal(one.low, other.low)
            assert np.array_equal(one.n_records, other.n_records)
        if forest.counts_are == "absent" or forest.answers == "sum":
            continue
        shares, _ = class_shares(safe, read_records(table, safe))
        assert np.allclose(made.predict_proba(table), shares, atol=1e-12)


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_a_vote_in_the_same_pipeline(voting: str) -> None:
    table, label = frame()
    wood = RandomForestClassifier(3, max_depth=4, random_state=0)
    inner = Pipeline([("scale", StandardScaler()), ("tree", TREE)])
    both = VotingClassifier([("wood", wood), ("one", TREE)], voting=voting)
    model = Pipeline([("prep", columns()), ("vote", both)]).fit(table, label)
    made = pickle.loads(pickle.dumps(to_estimator(ta.load(model))))
    assert [name for name, _ in made.steps] == ["prep", "vote"]
    assert [type(one) for one in made[-1].estimators_] == [type(wood), type(TREE)]
    assert np.array_equal(made.predict(table), model.predict(table))
    fitted = VotingClassifier([("wood", wood), ("one", inner)], voting=voting).fit(*NAMED)
    made = to_estimator(ta.load(fitted))
    assert [name for name, _ in made.estimators_[1].steps] == ["scale", "tree"]
    assert np.array_equal(made.predict(others(NAMED)), fitted.predict(others(NAMED)))


def test_pipelines_that_cannot_be_rebuilt() -> None:
    table, label = frame()
    odd = Pipeline(
        [("log", FunctionTransformer(np.log1p)), ("clf", DecisionTreeClassifier(max_depth=2))]
    ).fit(table[["age", "pay"]], label)
    with pytest.raises(ta.UnsupportedModelError, match="log1p, which is not rebuilt"):
        to_estimator(ta.load(odd))
    scaled = Pipeline([("prep", columns()), ("clf", DecisionTreeClassifier(max_depth=3))])
    forest = Coarsen(digits=1).apply(ta.load(scaled.fit(table, label)))
    with pytest.raises(ta.UnsupportedModelError, match="conditions were changed"):
        to_estimator(forest)


def test_steps_of_another_version() -> None:
    from dataclasses import replace

    table, label = frame()
    model = Pipeline([("prep", columns()), ("clf", DecisionTreeClassifier(max_depth=3))])
    forest = ta.load(model.fit(table, label))
    old = replace(forest, source=replace(forest.source, library_version="0.24.1"))
    with pytest.raises(ta.UnsupportedModelError, match=r"install scikit-learn 0\.24\.1"):
        to_estimator(old)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (
            VotingClassifier([("a", TREE), ("b", LogisticRegression(max_iter=500))]),
            "with LogisticRegression, which has no trees",
        ),
        (StackingClassifier([("a", TREE), ("b", TREE)]), "StackingClassifier cannot be written"),
        (OneVsRestClassifier(TREE), "OneVsRestClassifier cannot be written"),
        (OneVsOneClassifier(TREE), "OneVsOneClassifier cannot be written"),
        (OutputCodeClassifier(TREE, random_state=0), "OutputCodeClassifier cannot be written"),
        (CalibratedClassifierCV(TREE), "CalibratedClassifierCV cannot be written"),
        (BaggingClassifier(make_pipeline(StandardScaler(), TREE)), "its answers are more than"),
        (
            GradientBoostingClassifier(n_estimators=2, init=DecisionTreeClassifier(max_depth=1)),
            "starts from DecisionTreeClassifier",
        ),
    ],
    ids=lambda one: one.split()[-1] if isinstance(one, str) else type(one).__name__,
)
def test_what_is_not_written_names_what_is(model, says) -> None:
    with pytest.raises(ta.UnsupportedModelError, match=says) as caught:
        to_estimator(ta.load(fit(model, IRIS)))
    assert "-o model.treeaudit.json" in str(caught.value)


def test_trees_that_scikit_learn_does_not_know(figure_3) -> None:
    from dataclasses import replace

    inf = np.inf
    three = ta.Tree(
        parent=[-1, 0, 0, 0],
        feature=[-1, 0, 0, 0],
        low=[-inf, -inf, 1, 2],
        high=[inf, 1, 2, inf],
        counts=np.ones((4, 2)),
    )
    wide = replace(
        figure_3,
        trees=(three,),
        schema=replace(figure_3.schema, classes=("no", "yes")),
        source=ta.Source(estimator="DecisionTreeClassifier"),
    )
    with pytest.raises(ta.UnsupportedModelError, match="branches more than twice or by categories"):
        to_estimator(wide)
    with pytest.raises(ta.UnsupportedModelError, match="a Tree cannot be written"):
        to_estimator(figure_3)
    gap = replace(
        PruneLeaves(min_leaf=2, unanswered="reject").apply(figure_3),
        schema=replace(figure_3.schema, classes=("no", "yes")),
        source=ta.Source(estimator="DecisionTreeClassifier"),
    )
    with pytest.raises(ta.UnsupportedModelError, match="--unanswered parent"):
        to_estimator(gap)


@examples(40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_any_tree_any_k(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 6, (80, 3)).astype(np.float32)
    y = rng.integers(0, 3, 80)
    safe = MergeSiblings(min_leaf=k).apply(ta.load(DecisionTreeClassifier().fit(x, y)))
    made = to_estimator(safe)
    tree = safe.trees[0]
    node = tree.apply(x)
    assert np.array_equal(made.apply(x), node)
    assert np.array_equal(made.predict(x), made.classes_[tree.counts[node].argmax(axis=1)])
    assert made.tree_.n_node_samples[made.tree_.children_left < 0].min() >= k
