"""Categories end where the library that knows them puts them, whatever they are called."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.model.tree import CategorySets
from treeaudit.people.records import read_records


def workers(name: str, seed: int = 0, n: int = 300) -> tuple[pd.DataFrame, pd.Series]:
    """Return people some of whom have a job of this name, some another, and some none."""
    rng = np.random.default_rng(seed)
    job = pd.Series(rng.choice([name, "ok", "x"], n)).astype(object).where(rng.random(n) > 0.2)
    table = pd.DataFrame({"job": job, "age": rng.integers(18, 90, n)})
    return table, ((job == name) * 40 + table["age"] > 70).astype(int)


def held(table: pd.DataFrame, kind: str, folder) -> object:
    """Return a table as somebody gives it."""
    if kind == "frame":
        return table
    path = folder / f"people.{kind}"
    if kind == "csv":
        table.to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        table.to_parquet(path)
    return path


KINDS = pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
NAMES = pytest.mark.parametrize("name", ["missing", "nan", "zebra"])


class TestACategoryThatIsCalledLikeNothing:
    @NAMES
    @KINDS
    def test_of_lightgbm(self, name, kind, tmp_path) -> None:
        lightgbm = pytest.importorskip("lightgbm")
        table, label = workers(name)
        model = lightgbm.LGBMClassifier(n_estimators=3, num_leaves=8, verbose=-1)
        known = table.assign(job=pd.Categorical(table["job"]))
        model.fit(known, label)
        forest = ta.load(model)
        found = read_records(held(table, kind, tmp_path), forest)
        theirs = model.booster_.predict(known, pred_leaf=True)
        assert (found.node - [tree.n_nodes // 2 for tree in forest.trees] == theirs).all()

    @pytest.mark.parametrize("last", [["missing"], ["missing", None], [None], ["nan", None]])
    @KINDS
    def test_of_an_encoder(self, last, kind, tmp_path) -> None:
        """One that made a category of missing values has it, and others of any name."""
        rng = np.random.default_rng(0)
        jobs = np.array(["a", "b", *last], dtype=object)[rng.integers(0, 2 + len(last), 300)]
        table = pd.DataFrame({"job": jobs, "age": rng.integers(18, 90, 300)})
        encode = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
        model = make_pipeline(encode, DecisionTreeClassifier(random_state=0))
        model.fit(table, table["job"].isna() ^ (table["job"] == last[0]) ^ (table["age"] > 60))
        found = read_records(held(table, kind, tmp_path), ta.load(model))
        assert np.array_equal(found.node[:, 0], model[1].apply(model[0].transform(table)))


class TestIndicatorsOfMissingValues:
    """``pandas.get_dummies(dummy_na=True)`` makes one, behind those of the values."""

    @KINDS
    @pytest.mark.parametrize("job", ["zebra", "nan"])
    @pytest.mark.parametrize("dummy_na", [False, True])
    def test_are_set(self, job, dummy_na, kind, tmp_path) -> None:
        table, label = workers(job)
        features = pd.get_dummies(table, columns=["job"], dummy_na=dummy_na)
        features.columns = [f"x{i}" for i in range(features.shape[1])]
        model = DecisionTreeClassifier(random_state=0)
        model.fit(features, label ^ table["job"].isna())
        forest = ta.load(model)
        named = pd.get_dummies(table, columns=["job"], dummy_na=dummy_na).columns
        schema = ta.Schema.numeric(list(named), forest.schema.classes)
        forest = dataclasses.replace(forest, schema=schema)
        found = read_records(held(table, kind, tmp_path), forest)
        assert np.array_equal(found.node[:, 0], model.apply(features))


class TestCategoriesThatAFileOnlyHashes:
    @pytest.fixture
    def trained(self):
        catboost = pytest.importorskip("catboost")
        rng = np.random.default_rng(0)
        table = pd.DataFrame(
            {"job": rng.choice(list("abcd"), 400), "age": rng.integers(18, 90, 400)}
        )
        label = np.where((table["job"] == "a") * 40 + table["age"] > 70, "yes", "no")
        model = catboost.CatBoostClassifier(
            iterations=4, depth=3, verbose=0, one_hot_max_size=10, allow_writing_files=False
        )
        model.fit(table, label, cat_features=["job"])
        return model, table.assign(ill=label), catboost.Pool(table, label, cat_features=["job"])

    def test_is_said_of_the_file_and_not_of_the_people(self, trained, tmp_path) -> None:
        model, table, _ = trained
        model.save_model(tmp_path / "model.json", format="json")
        with pytest.raises(
            ta.DataError,
            match=r"^train: the file holds only hashes of the categories of 'job', so that nobody "
            r"can be placed in its leaves; save the model with save_model\(\.\.\., pool=",
        ):
            ta.scan(tmp_path / "model.json", train=table, target="ill")


def of_r(categories: tuple[str, ...] | None, missing: list[bool] | None = None) -> ta.Forest:
    """Return a tree of ranger that sends the first level to the left."""
    sets = CategorySets(start=[0, 0, 1, 2], codes=[0, 1]) if categories else None
    ends = (np.inf, -np.inf) if categories else (1, 1)
    tree = ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-np.inf, ends[0] if categories else -np.inf, ends[0]],
        high=[np.inf, ends[1], ends[1] if categories else np.inf],
        categories=sets,
        missing=missing,
        n_records=[3, 1, 2],
        counts=[[1, 2], [1, 0], [0, 2]],
    )
    schema = ta.Schema(
        features=(ta.Feature(name="sex", categories=categories),), classes=("no", "yes")
    )
    return ta.Forest(
        trees=(tree,),
        schema=schema,
        counts_are="exact",
        source=ta.Source(library="ranger"),
    )


@pytest.mark.parametrize(
    ("categories", "line"),
    [
        (None, 'd["sex"] <- data.matrix(d["sex"])'),
        (("level 1", "level 2"), 'd["sex"] <- paste("level", data.matrix(d["sex"]))'),
    ],
)
def test_levels_that_a_file_of_r_numbers_are_written_by_a_line_of_r(categories, line) -> None:
    table = pd.DataFrame({"sex": ["f", "m", "m"], "label": ["no", "yes", "yes"]})
    with pytest.raises(ta.DataError) as error:
        read_records(table, of_r(categories))
    assert line in str(error.value)


@pytest.mark.parametrize(
    ("levels", "follows", "node"), [(("f", "m"), [0, 0, 1], 2), (("NA", "m"), [0, 0, 1], 1)]
)
def test_na_is_a_missing_value_unless_it_is_a_category(levels, follows, node) -> None:
    """As ``write.csv`` of R writes it."""
    table = pd.DataFrame({"sex": ["NA", "m", "m"], "label": ["no", "yes", "yes"]})
    assert read_records(table, of_r(levels, follows)).node[:, 0].tolist() == [node, 2, 2]
