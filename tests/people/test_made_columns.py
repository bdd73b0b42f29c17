"""Tables are never taken by place for what steps made of other columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.feature_selection import (
    GenericUnivariateSelect,
    SelectFdr,
    SelectFpr,
    SelectFromModel,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.people.records import read_records

COLUMNS = ["visits", "years", "age", "bmi"]


def people(n=400, seed=0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.normal(size=(n, 4)) * [3, 3, 10, 3] + [5, 5, 50, 10], columns=COLUMNS)
    ill = (x["bmi"] - 10) / 3 + (x["age"] - 50) / 10 + rng.normal(0, 0.3, n) > 0
    return x, np.where(ill, "yes", "no")


def tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(min_samples_leaf=10, random_state=0)


SELECTIONS = [
    SelectKBest(k=2),
    SelectPercentile(percentile=50),
    SelectFpr(alpha=1e-9),
    SelectFdr(alpha=1e-9),
    SelectFwe(alpha=1e-9),
    *(
        GenericUnivariateSelect(mode=mode, param=param)
        for mode, param in [("k_best", 2), ("percentile", 50), ("fpr", 1e-9), ("fdr", 1e-9)]
    ),
]


@pytest.mark.parametrize("selection", SELECTIONS, ids=lambda one: f"{one}")
def test_a_selection_by_scores_is_undone(selection) -> None:
    x, y = people()
    model = make_pipeline(StandardScaler(), selection, tree()).fit(x, y)
    forest = ta.load(model)
    assert forest.schema.names == ["age", "bmi"]
    assert not forest.warnings
    found = read_records((x, y), forest)
    assert (found.node[:, 0] == model[-1].apply(model[:-1].transform(x))).all()


class TestStepsThatDoNotTell:
    x, y = people()
    # What several trees of an AdaBoost hold important is not worked out.
    chooses = SelectFromModel(AdaBoostClassifier(n_estimators=3, random_state=0), max_features=2)
    model = make_pipeline(chooses, tree()).fit(x, y)
    forest = ta.load(model)
    made = pd.DataFrame(
        np.asarray(model[:-1].transform(x)), columns=["SelectFromModel 1", "SelectFromModel 2"]
    )

    @pytest.mark.parametrize("given", ["named", "array", "as many", "numbered"])
    def test_the_data_are_refused_with_what_to_give_instead(self, given) -> None:
        table = {
            "named": self.x,
            "array": self.x.to_numpy(),
            "as many": self.x[["visits", "years"]],
            "numbered": self.x.set_axis(["x0", "x1", "x2", "x3"], axis=1),
        }[given]
        with pytest.raises(
            ta.DataError,
            match=r"has no column 'SelectFromModel 1', which SelectFromModel made of those of the "
            r"data .*: add what this step returns \(its transform\), in columns named "
            "SelectFromModel 1, SelectFromModel 2$",
        ):
            read_records((table, self.y), self.forest)

    def test_what_the_steps_return_is_taken_by_its_names(self) -> None:
        table = self.made[["SelectFromModel 2", "SelectFromModel 1"]].assign(y=self.y)
        found = read_records(table, self.forest, target="y")
        assert (found.node[:, 0] == self.model[-1].apply(self.made.to_numpy())).all()
        assert ta.scan(self.model, train=table, target="y").warnings == self.forest.warnings


def test_columns_without_names_are_asked_for_as_they_were_trained_on() -> None:
    x, y = people()
    forest = ta.load(tree().fit(x.to_numpy(), y))
    with pytest.raises(
        ta.DataError,
        match="has 3 columns beside the labels, the model 4: give those that it was trained on, in "
        "their order, as they were after encoding",
    ):
        read_records((x[COLUMNS[:3]], y), forest)
    with pytest.raises(
        ta.DataError,
        match="row 1: 'Private' is not a number; the model takes numbers: give the columns as they "
        "were after encoding",
    ):
        read_records((x.assign(bmi="Private"), y), forest)
