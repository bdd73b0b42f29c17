"""What is asked of a table: nothing that a model does not have, and with a next step."""

import json
import pickle

import catboost as cb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.compose import make_column_transformer
from sklearn.ensemble import IsolationForest, RandomTreesEmbedding
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, TargetEncoder
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.cli.run import run
from treeaudit.people.records import read_records
from treeaudit.people.streaming import counter_of

RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame({
    "size": RNG.integers(1, 7, 300), "pay": RNG.integers(10, 99, 300),
    "job": RNG.choice(["clerk", "nurse", "cook"], 300),
})  # fmt: skip
ILL = pd.Series((PEOPLE.pay > 50).astype(int), name="ill")
NUMBERS = PEOPLE[["size", "pay"]]


def tree():
    return DecisionTreeClassifier(max_depth=2, min_samples_leaf=20, random_state=0)


def of_jobs(step):
    return make_pipeline(make_column_transformer((step, ["job"]), remainder="passthrough"), tree())


def sums(table):
    return np.cumsum(table, axis=1)


def both(table):
    return np.column_stack([table, sums(table)])


NAMES = "sums(size), sums(pay)"
MADE = {
    "function": (
        make_pipeline(FunctionTransformer(sums), tree()), NUMBERS,
        "'sums(size)', which FunctionTransformer made", NAMES,
    ),
    "wider": (
        make_pipeline(FunctionTransformer(both), tree()), NUMBERS,
        "'both 1', which FunctionTransformer made", "both 1, both 2, …, both 4",
    ),
    "means": (
        of_jobs(TargetEncoder()), PEOPLE, "'TargetEncoder(job)', which TargetEncoder made",
        "TargetEncoder(job)",
    ),
    "boosted": (
        make_pipeline(FunctionTransformer(sums), xgb.XGBClassifier(n_estimators=1, max_depth=2)),
        NUMBERS, "'sums(size)', which FunctionTransformer made", NAMES,
    ),
}  # fmt: skip


@pytest.mark.parametrize("spare", [False, True])
@pytest.mark.parametrize("name", MADE)
def test_a_made_column_comes_with_what_to_do(name, spare, tmp_path) -> None:
    pipe, X, begins, names = MADE[name]
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(pipe.fit(X, ILL)))
    forest = ta.load(tmp_path / "m.pkl")
    table = X.assign(ill=ILL) if not spare else X.assign(note=1, ill=ILL)
    for target in (None, "ill"):
        with pytest.raises(ta.DataError) as told:
            read_records(table, forest, target=target, origin="t.csv")
        assert str(told.value).startswith(f"t.csv has no column {begins} of those of the data")
        assert str(told.value).endswith(
            f": add what this step returns (its transform), in columns named {names}"
        )
        with pytest.raises(ta.DataError, match="add what this step returns"):
            counter_of(forest, table.columns, target=target)


def test_statistics_of_catboost_are_in_no_table(tmp_path) -> None:
    model = cb.CatBoostClassifier(
        iterations=3, depth=2, verbose=0, allow_writing_files=False, cat_features=["job"],
        one_hot_max_size=1,
    )  # fmt: skip
    seen = PEOPLE[["size"]].assign(job=PEOPLE.job.where(ILL == 0, "cook"))
    model.fit(seen, ILL).save_model(tmp_path / "m.json", format="json")
    assert json.loads((tmp_path / "m.json").read_text())["features_info"]["ctrs"]
    seen.assign(ill=ILL).to_csv(tmp_path / "t.csv", index=False)
    done = run("scan", tmp_path / "m.json", "--train", tmp_path / "t.csv")
    assert done.returncode == 2
    assert "so that no table holds it: scan it without --train, or train it with" in done.stderr


TABLES = {
    "numbers": NUMBERS.assign(y=1.5), "words": NUMBERS.assign(y=PEOPLE.job),
    "several": NUMBERS.assign(y=PEOPLE.job, z=3),
}  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("pandas", [True, False])
@pytest.mark.parametrize("kind", [IsolationForest, RandomTreesEmbedding])
def test_forests_without_labels_take_none(kind, pandas, table) -> None:
    X = NUMBERS if pandas else NUMBERS.to_numpy()
    forest = ta.load(kind(n_estimators=3, random_state=0).fit(X))
    plain = read_records(NUMBERS, forest)
    for target in (None, "y"):
        people = read_records(TABLES[table], forest, target=target)
        assert people.labels is people.targets is None
        assert (people.node == plain.node).all()
    seen = counter_of(forest, TABLES[table].columns).table([TABLES[table]])
    assert (seen.counts.in_tree(0)[:, 0] == plain.in_tree(0, forest.trees[0].n_nodes)).all()
    with pytest.raises(ta.DataError, match="has no column 'w'"):
        read_records(TABLES[table], forest, target="w")
