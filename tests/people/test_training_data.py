"""A training set is believed only where it fits the counts of the file."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.people.checks.training_data import verify
from treeaudit.people.records import read_records


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, np.where(x[:, 0] + rng.normal(0, 0.7, n) > 0, "yes", "no")


def check(model, x, y) -> None:
    forest = ta.load(model)
    verify(forest, read_records((x, y), forest, origin="train.csv"))


MODELS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "small tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "weighted": DecisionTreeClassifier(class_weight="balanced", random_state=0),
    "forest": RandomForestClassifier(10, random_state=0),
    "no bootstrap": ExtraTreesClassifier(10, random_state=0),
    "regressor": DecisionTreeRegressor(random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_people_it_was_trained_on_fit(name) -> None:
    x, y = people()
    if name == "regressor":
        y = x[:, 1]
    check(MODELS[name].fit(x, y), x, y)


@pytest.mark.parametrize("name", ["tree", "weighted", "forest", "no bootstrap"])
class TestAnotherTable:
    def test_fewer_people(self, name) -> None:
        x, y = people()
        with pytest.raises(ta.DataError, match=r"it has 399 rows, the model was trained on 400"):
            check(MODELS[name].fit(x, y), x[1:], y[1:])

    def test_other_people(self, name) -> None:
        x, y = people()
        with pytest.raises(ta.DataError, match=r"train\.csv is not the training data of the model"):
            check(MODELS[name].fit(x, y), *people(seed=1))

    def test_other_labels(self, name) -> None:
        x, y = people()
        wrong = np.where(y == "yes", "no", "yes")
        with pytest.raises(ta.DataError, match=r"holds .* in the file and"):
            check(MODELS[name].fit(x, y), x, wrong)


def test_leaves_that_a_repair_took_out_are_not_asked_about(tmp_path) -> None:
    x, y = people()
    tree = DecisionTreeClassifier(min_samples_leaf=3, random_state=0).fit(x, y)
    ta.save(ta.defend(tree, method="prune-leaves", min_leaf=10), tmp_path / "pruned.pkl")
    check(tmp_path / "pruned.pkl", x, y)
    assert ta.load(tmp_path / "pruned.pkl").n_records is None
    with pytest.raises(ta.DataError, match=r"train\.csv is not the training data of the model"):
        check(tmp_path / "pruned.pkl", *people(seed=1))


def test_a_file_without_counts_verifies_nothing() -> None:
    bare = ta.Forest(
        trees=(ta.Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf]),),
        schema=ta.Schema.numeric(1, ["no", "yes"]),
        counts_are="absent",
    )
    assert "could not be verified" in verify(bare, read_records(([[1.0]], ["no"]), bare))
    assert "could not be verified" in ta.scan(bare, train=([[1.0]], ["no"])).warnings[0]


def numbers(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, np.exp(x[:, 0] + rng.normal(0, 0.7, n)) * 1e5


REGRESSORS = {
    "tree": DecisionTreeRegressor(max_depth=4, random_state=0),
    "one leaf": DecisionTreeRegressor(max_depth=4, min_samples_leaf=400),
    "trees of all": RandomForestRegressor(3, max_depth=4, bootstrap=False, random_state=0),
    "random splits": ExtraTreesRegressor(3, max_depth=4, random_state=0),
    "behind a step": make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=3)),
    "a vote": VotingRegressor([("a", DecisionTreeRegressor(max_depth=3))]),
    "of medians": DecisionTreeRegressor(max_depth=3, criterion="absolute_error"),
}
OTHERS = {
    "of draws": RandomForestRegressor(3, max_depth=3, random_state=0),
    "of a boosting": GradientBoostingRegressor(n_estimators=3),
    "of a changed target": TransformedTargetRegressor(
        DecisionTreeRegressor(max_depth=3), func=np.log, inverse_func=np.exp
    ),
    "of several targets": MultiOutputRegressor(DecisionTreeRegressor(max_depth=2)),
    "with bounds": DecisionTreeRegressor(max_depth=4, monotonic_cst=[-1, 0, 0]),
}


class TestNumbersToPredict:
    @pytest.mark.parametrize("name", REGRESSORS)
    def test_those_it_was_trained_with_fit(self, name) -> None:
        x, y = numbers()
        check(clone(REGRESSORS[name]).fit(x, y), x, y)

    @pytest.mark.parametrize("name", REGRESSORS)
    @pytest.mark.parametrize("change", [lambda y: y[::-1] * 1.01, lambda y: y % 7, np.log])
    def test_others_are_refused(self, name, change) -> None:
        x, y = numbers()
        with pytest.raises(
            ta.DataError,
            match=r"holds a (mean|median) of .* are these the numbers it was trained with\?",
        ):
            check(clone(REGRESSORS[name]).fit(x, y), x, change(y))

    @pytest.mark.parametrize("name", OTHERS)
    @pytest.mark.parametrize("change", [lambda y: y, lambda y: y % 7])
    def test_values_that_are_no_means_of_them_tell_nothing(self, name, change) -> None:
        x, y = numbers()
        told = np.column_stack([y, -y]) if name == "of several targets" else y
        check(clone(OTHERS[name]).fit(x, told), x, change(y))


class TestOneVersusTheRest:
    """Each member knows one class apart: labels of a table are that class, or another."""

    @staticmethod
    def three(kind: str = "texts"):
        x, _ = people()
        place = np.digitize(x[:, 0] + 0.3 * x[:, 1], [-0.5, 0.5])
        return x, np.array(["u", "v", "w"])[place] if kind == "texts" else place * 2.0

    @pytest.mark.parametrize("kind", ["texts", "numbers"])
    @pytest.mark.parametrize("member", [DecisionTreeClassifier(max_depth=3), MODELS["forest"]])
    def test_the_labels_it_was_trained_with_fit(self, kind, member, tmp_path) -> None:
        x, y = self.three(kind)
        model = OneVsRestClassifier(member).fit(x, y)
        check(model, x, y)
        path = tmp_path / "people.csv"
        pd.DataFrame(x).assign(t=y).to_csv(path, index=False)
        report = ta.scan(model, train=path, target="t")
        assert not any("could not be verified" in said for said in report.warnings)

    def test_the_labels_of_every_member_are_told_apart(self) -> None:
        x, y = self.three()
        forest = ta.load(OneVsRestClassifier(DecisionTreeClassifier(max_depth=3)).fit(x, y))
        found = read_records((x, y), forest)
        assert found.labels is None
        assert [("u", "v", "w")[i] for i in found.members] == y.tolist()
        with pytest.raises(
            ta.DataError, match="row 3: the model has no label 'z'; it knows u, v, w"
        ):
            read_records((x, [*y[:2], "z", *y[3:]]), forest)
        with pytest.raises(ta.DataError, match="row 3 has no value"):
            read_records((x, [*y[:2], None, *y[3:]]), forest)


class TestWeightsOfRows:
    @staticmethod
    def boosted(library: str, weights, folder) -> tuple[ta.Forest, np.ndarray, np.ndarray]:
        x, _ = people()
        y = x[:, 0] * 3 + np.random.default_rng(1).normal(size=len(x))
        path = folder / "model.json"
        if library == "XGBoost":
            xgboost = pytest.importorskip("xgboost")
            data = xgboost.DMatrix(x, y, weight=weights)
            asked = {"objective": "reg:squarederror", "max_depth": 3, "verbosity": 0}
            xgboost.train(asked, data, 3).save_model(path)
        else:
            catboost = pytest.importorskip("catboost")
            model = catboost.CatBoostRegressor(
                iterations=3, depth=3, verbose=0, allow_writing_files=False
            )
            model.fit(x, y, sample_weight=weights).save_model(path, format="json")
        return ta.load(path), x, y

    @pytest.mark.parametrize("library", ["XGBoost", "CatBoost"])
    def test_sums_of_weights_are_named_where_they_may_explain(self, library, tmp_path) -> None:
        weights = np.random.default_rng(0).integers(1, 4, 400)
        forest, x, y = self.boosted(library, weights, tmp_path)
        with pytest.raises(
            ta.DataError, match=rf"; {library} adds up .*, which may explain it too"
        ):
            verify(forest, read_records((x, y), forest, origin="train.csv"))


class TestRowsPutAsideToStopEarly:
    @staticmethod
    def table(n: int = 1001) -> tuple[pd.DataFrame, pd.Series]:
        rng = np.random.default_rng(0)
        x = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
        return x, (x["a"] + rng.normal(size=n) > 0).astype(int)

    @pytest.mark.parametrize("kind", ["depth first", "of bins", "behind a step", "of numbers"])
    def test_the_rows_it_kept_are_named_and_fit(self, kind) -> None:
        x, y = self.table()
        asked = {"n_iter_no_change": 3, "random_state": 5}
        binned = {"early_stopping": True, "random_state": 5, "max_iter": 5}
        model = {
            "depth first": GradientBoostingClassifier(n_estimators=5, **asked),
            "of bins": HistGradientBoostingClassifier(**binned),
            "behind a step": make_pipeline(
                StandardScaler(), GradientBoostingClassifier(n_estimators=5, **asked)
            ),
            "of numbers": HistGradientBoostingRegressor(**binned),
        }[kind].fit(x, y)
        with pytest.raises(
            ta.DataError,
            match=r"it has 1,001 rows, the model was trained on 900; it stopped early, for which "
            r"101 rows were put aside \(validation_fraction=0\.1\): give the other 900, which "
            r"train_test_split of scikit-learn returns first with test_size=0\.1, random_state=",
        ) as error:
            check(model, x, y)
        seed = int(re.search(r"random_state=(\d+)", str(error.value))[1])
        strata = y if "stratify=labels" in str(error.value) else None
        assert (strata is None) == (kind == "of numbers")
        kept, _ = train_test_split(
            np.arange(1001), test_size=0.1, random_state=seed, stratify=strata
        )
        check(model, x.iloc[kept], y.iloc[kept])
