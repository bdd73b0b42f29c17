"""Statistics per class, cluster or category beside the trees are groups, as leaves are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import AffinityPropagation, Birch, KMeans, MiniBatchKMeans
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder
from sklearn.tree import DecisionTreeClassifier

from tests.readers.damage import pickled
from treeaudit.audit.scan import audit_all
from treeaudit.findings.request import Request
from treeaudit.readers import load

N = 600
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.integers(0, 60, (N, 4)).astype(float), columns=list("abcd"))
TWO = np.where(X.a + RNG.normal(0, 20, N) > 30, "p", "q").astype(object)


def rare(n):
    """Return labels of which one is that of so many people."""
    labels = TWO.copy()
    labels[:n] = "rare"
    return labels


def tree(**given):
    return DecisionTreeClassifier(max_depth=2, min_samples_leaf=50, random_state=0, **given)


def vote(member, first=None):
    return VotingClassifier([("t", tree() if first is None else first), ("k", member)])


def left(tmp_path, model, kinds=("records", "unseen", "category-counts", "extra")):
    path = pickled(tmp_path, model)
    return path, [(one.kind, one.n) for one in load(path).extras if one.kind in kinds]


PER_CLASS = {
    "GaussianNB": GaussianNB,
    "MultinomialNB": MultinomialNB,
    "ComplementNB": ComplementNB,
    "BernoulliNB": BernoulliNB,
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis,
}


@pytest.mark.parametrize("n", [1, 4, 5, 60])
@pytest.mark.parametrize("kind", PER_CLASS)
def test_statistics_of_a_class_of_fewer_than_five_are_records(kind, n, tmp_path) -> None:
    path, found = left(tmp_path, vote(PER_CLASS[kind]()).fit(X, rare(n)))
    assert found == ([("records", n)] if n < 5 else [])
    if n == 1:
        assert audit_all(Request(model=path))[0].verdict == "fail"
    if n == 60:
        assert audit_all(Request(model=path))[0].verdict == "pass"


def test_of_classes_of_unknown_size_nobody_knows(tmp_path) -> None:
    drawn = RandomForestClassifier(3, max_depth=2, min_samples_leaf=50, random_state=0)
    model = vote(NearestCentroid(), drawn).fit(X, TWO)
    assert [kind for kind, _ in left(tmp_path, model)[1]] == ["unseen"]


@pytest.mark.parametrize("weight", [5.0, 300.0])
def test_rows_that_weigh_more_make_no_class_larger(weight, tmp_path) -> None:
    labels = rare(1)
    weights = np.where(labels == "rare", weight, 1.0)
    model = vote(GaussianNB()).fit(X, labels, sample_weight=weights)
    assert [kind for kind, _ in left(tmp_path, model)[1]] == ["unseen"]


def test_one_person_against_the_rest_is_a_class_of_one(tmp_path) -> None:
    model = vote(OneVsRestClassifier(GaussianNB())).fit(X, rare(1))
    assert left(tmp_path, model)[1] == [("records", 1)]


def test_shares_that_somebody_gave_are_no_sizes(tmp_path) -> None:
    labels = rare(1)
    given = LinearDiscriminantAnalysis(priors=[0.4, 0.3, 0.3])
    model = make_pipeline(given, tree()).fit(X, labels)
    assert [kind for kind, _ in left(tmp_path, model)[1]] == ["unseen"]


def test_clusters_and_components(tmp_path) -> None:
    far = X.copy()
    far.iloc[0] = 9000.0
    clusters = make_pipeline(KMeans(3, random_state=0), tree()).fit(far, TWO)
    assert ("records", 1) in left(tmp_path, clusters)[1]
    clusters[0].labels_ = None
    assert ("unseen", 1) in left(tmp_path, clusters)[1]
    centres = make_pipeline(AffinityPropagation(random_state=0), tree())
    centres[0].fit(far[:60])
    centres[1].fit(far, TWO)
    n = len(centres[0].cluster_centers_)
    assert ("records", n) in left(tmp_path, centres)[1]
    tree_of_them = make_pipeline(Birch(n_clusters=None, threshold=20.0), tree()).fit(far, TWO)
    assert ("records", 1) in left(tmp_path, tree_of_them)[1]
    mixed = vote(GaussianNB()).fit(X, TWO)
    mixed.note_ = GaussianMixture(2, random_state=0).fit(far)
    assert ("records", 1) in left(tmp_path, mixed)[1]
    # Its weights are drawn to the expected ones, and no shares.
    mixed.note_ = BayesianGaussianMixture(n_components=2, random_state=0).fit(far)
    assert ("unseen", 1) in left(tmp_path, mixed)[1]


TOWN = np.array([f"town {i}" for i in RNG.integers(0, 6, N)], dtype=object)
LIVES = pd.DataFrame({"age": RNG.integers(18, 90, N), "town": TOWN})


def test_an_encoding_by_the_mean_label_is_told_and_no_pass(tmp_path) -> None:
    columns = [("t", TargetEncoder(), ["town"]), ("a", "passthrough", ["age"])]
    model = make_pipeline(ColumnTransformer(columns), tree()).fit(LIVES, TWO)
    path, found = left(tmp_path, model)
    assert found == [("category-counts", 6)]
    assert audit_all(Request(model=path))[0].verdict == "review"


def test_isotonic_steps_are_means_of_labels(tmp_path) -> None:
    model = CalibratedClassifierCV(tree(), method="isotonic", cv=2).fit(X, TWO)
    found = left(tmp_path, model)[1]
    steps = [len(one.calibrators[0].y_thresholds_) for one in model.calibrated_classifiers_]
    assert found == [("category-counts", n) for n in steps]
    smooth = CalibratedClassifierCV(tree(), method="sigmoid", cv=2).fit(X, TWO)
    assert left(tmp_path, smooth)[1] == []


@pytest.mark.parametrize(("few", "told"), [(1, 1), (4, 1), (5, 0)])
def test_counts_of_labels_of_rare_categories(few, told, tmp_path) -> None:
    columns = np.column_stack([RNG.integers(0, 2, N), np.arange(N) < few])
    model = vote(CategoricalNB()).fit(columns, TWO)
    found = left(tmp_path, model, ("category-counts", "records"))[1]
    assert found == [("category-counts", told)] * told


ON_COLUMNS = PER_CLASS | {"CategoricalNB": CategoricalNB}
COUNTED = ("category-counts", "records", "unseen")


@pytest.mark.parametrize("kind", ON_COLUMNS)
@pytest.mark.parametrize(("few", "told"), [(1, 1), (4, 1), (5, 0), (200, 0)])
def test_a_column_of_zeros_and_ones_is_a_category(kind, few, told, tmp_path) -> None:
    """How often it is one in each class tells the label of the one person who has it."""
    columns = np.column_stack([np.arange(N) % 2, np.arange(N) % 3 > 0, np.arange(N) < few])
    path, found = left(tmp_path, vote(ON_COLUMNS[kind]()).fit(columns, TWO), COUNTED)
    assert found == [("category-counts", told)] * told
    assert audit_all(Request(model=path))[0].verdict == ("review" if told else "pass")


def test_few_who_do_not_have_it_are_a_category(tmp_path) -> None:
    columns = np.column_stack([np.arange(N) % 2, np.arange(N) >= 3])
    found = left(tmp_path, vote(BernoulliNB()).fit(columns, TWO), COUNTED)[1]
    assert found == [("category-counts", 1)]


@pytest.mark.parametrize("kind", ["BernoulliNB", "MultinomialNB", "CategoricalNB", "GaussianNB"])
def test_a_category_in_which_everybody_has_one_label(kind, tmp_path) -> None:
    columns = np.column_stack([np.arange(N) % 2, np.arange(N) < 40]).astype(float)
    labels = TWO.copy()
    labels[:40] = "p"
    found = left(tmp_path, vote(ON_COLUMNS[kind]()).fit(columns, labels), COUNTED)[1]
    assert found == [("category-counts", 1)]


def test_shares_of_labels_without_their_counts(tmp_path) -> None:
    model = vote(BernoulliNB()).fit(X, TWO)
    del model.estimators_[1].feature_count_
    assert left(tmp_path, model, COUNTED)[1] == [("category-counts", 8)]


OTHERS = {
    "mixture": lambda x, y: GaussianMixture(2, random_state=0).fit(x),
    "discriminant": lambda x, y: LinearDiscriminantAnalysis().fit(x, y),
    "centroids": lambda x, y: NearestCentroid().fit(x, y),
    "bayes": lambda x, y: GaussianNB().fit(x, y),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_shares_are_of_nobody_knows_how_many_where_no_tree_saw_the_same(kind, tmp_path) -> None:
    """A share of 1/60 of 60 people is one person, beside a tree of 600, too."""
    far, labels = X[:60].copy(), rare(2)[:60]
    far.iloc[0] = 9000.0
    other = OTHERS[kind](far, labels)
    told = [("records", 2)] if kind == "bayes" else [("unseen", 1)]
    fitted = tree().fit(X, rare(100))
    assert left(tmp_path, {"tree": fitted, "other": other})[1] == told
    frozen = VotingClassifier([("t", FrozenEstimator(fitted)), ("k", GaussianNB())])
    frozen.fit(X, rare(100))
    frozen.estimators_[1] = frozen.named_estimators_["k"] = other
    assert left(tmp_path, frozen)[1] == told


def test_a_bundle_of_models_of_the_same_people_is_explained(tmp_path) -> None:
    both = {"tree": tree().fit(X, TWO), "bayes": GaussianNB().fit(X, TWO)}
    assert left(tmp_path, both)[1] == []
    both["bayes"].fit(X[:500], TWO[:500])
    assert left(tmp_path, both)[1] == [("unseen", 1)]


@pytest.mark.parametrize(
    "first",
    [
        RandomForestClassifier(2, max_depth=2, min_samples_leaf=50),
        ExtraTreesClassifier(2, max_depth=2, min_samples_leaf=50),
        GradientBoostingClassifier(n_estimators=2, max_depth=2),
        AdaBoostClassifier(tree(), n_estimators=2),
        BaggingClassifier(tree(), 2),
    ],
    ids=lambda one: type(one).__name__,
)
def test_ensembles_tell_of_how_many_they_are(first, tmp_path) -> None:
    found = left(tmp_path, vote(LinearDiscriminantAnalysis(), first).fit(X, TWO))[1]
    assert found == []
    found = left(tmp_path, vote(LinearDiscriminantAnalysis(), first).fit(X, rare(3)))[1]
    assert found == [("records", 3)]


def test_in_a_draw_nobody_knows(tmp_path) -> None:
    """Of 60 drawn people 3 are as large a share as 30 of 600."""
    inside = vote(LinearDiscriminantAnalysis())
    bag = BaggingClassifier(inside, 2, max_samples=0.5, bootstrap=False, random_state=0)
    found = left(tmp_path, bag.fit(X, TWO))[1]
    assert found == [("unseen", 1), ("unseen", 1)]


def test_stacks_and_steps_hand_everybody_on(tmp_path) -> None:
    for model in (
        StackingClassifier([("t", tree()), ("k", LinearDiscriminantAnalysis())], cv=2),
        make_pipeline(ColumnTransformer([("k", LinearDiscriminantAnalysis(), ["a", "b"])]), tree()),
    ):
        assert left(tmp_path, model.fit(X, TWO))[1] == []
        assert left(tmp_path, model.fit(X, rare(2)))[1] == [("records", 2)]


@pytest.mark.parametrize("kind", [KMeans, MiniBatchKMeans])
def test_labels_that_are_none_of_the_clusters_count_nobody(kind, tmp_path) -> None:
    clusters = make_pipeline(kind(3, random_state=0), tree()).fit(X, TWO)
    clusters[0].labels_ = np.zeros(599, np.int32)
    assert ("unseen", 1) in left(tmp_path, clusters)[1]


@pytest.mark.parametrize(("n", "verdict"), [(9, "fail"), (10, "pass"), (60, "pass")])
def test_a_policy_asks_for_larger_groups(n, verdict, tmp_path) -> None:
    path, found = left(tmp_path, vote(GaussianNB()).fit(X, rare(n)))
    assert found == []
    name = "max-training-rows-inside"
    for policy, told in (("default", ("pass", 0)), ("strict", (verdict, n * (verdict == "fail")))):
        checks = audit_all(Request(model=path, policy=policy))[0].checks
        (row,) = (one for one in checks if one.name == name)
        assert (row.status, row.measured) == told


@pytest.mark.parametrize(("few", "status"), [(9, "skipped"), (10, "pass")])
def test_a_policy_asks_for_larger_categories(few, status, tmp_path) -> None:
    columns = np.column_stack([np.arange(N) % 2, np.arange(N) < few])
    path, found = left(tmp_path, vote(BernoulliNB()).fit(columns, TWO), COUNTED)
    assert found == []
    for policy, told in (("default", "pass"), ("strict", status)):
        checks = audit_all(Request(model=path, policy=policy))[0].checks
        assert [one.status for one in checks if one.name == "max-training-rows-inside"] == [told]
