"""Tables of people fitted to models: what is found, and what is said when it is not."""

import gzip

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.people.input.table_input import read_table
from treeaudit.people.records import read_records, target_of

JOBS = ["Sales", "Tech", "Farm"]


def people(n=300, seed=0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(18, 90, n),
            "job": rng.choice(JOBS, n),
            "sex": rng.choice(["f", "m"], n),
        }
    )
    score = frame["age"] / 40 + (frame["job"] == "Tech") + rng.normal(0, 0.3, n)
    return frame.assign(income=np.where(score > 1.6, ">50K", "<=50K"))


def pipeline(frame):
    made = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["job", "sex"]), (StandardScaler(), ["age"])
    )
    model = make_pipeline(made, DecisionTreeClassifier(max_depth=5, random_state=0))
    return model.fit(frame.drop(columns="income"), frame["income"])


@pytest.fixture(scope="module")
def fitted():
    frame = people()
    model = pipeline(frame)
    return frame, model, ta.load(model)


def test_people_end_where_the_model_puts_them(fitted) -> None:
    frame, model, forest = fitted
    shuffled = frame[["income", "sex", "age", "job"]].assign(note="unused")
    records = read_records(shuffled, forest, target="income")
    ends = model[-1].apply(model[:-1].transform(frame.drop(columns="income")))
    assert np.array_equal(records.node[:, 0], ends)
    assert [forest.schema.classes[i] for i in records.labels] == frame["income"].tolist()
    assert "note" in records.frame


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "parquet"])
def test_every_kind_of_file(fitted, tmp_path, suffix) -> None:
    frame, _, forest = fitted
    path = tmp_path / f"people.{suffix}"
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    records = read_records(path, forest)
    assert records.origin == path.name
    assert np.array_equal(records.node, read_records(frame, forest).node)


def test_indicator_columns_are_read_off_the_column_they_come_from() -> None:
    frame = people()
    columns = pd.get_dummies(frame.drop(columns="income"), dtype=float)
    forest = ta.load(DecisionTreeClassifier(random_state=0).fit(columns, frame["income"]))
    made = read_records(columns.assign(income=frame["income"]), forest)
    plain = read_records(frame, forest)
    assert np.array_equal(plain.node, made.node)


def test_a_model_without_names_takes_columns_in_order() -> None:
    frame = people()
    x, y = frame[["age"]].to_numpy(), frame["income"]
    forest = ta.load(DecisionTreeClassifier(max_depth=3).fit(x, y))
    by_pair = read_records((x, y), forest)
    by_table = read_records(frame[["age", "income"]], forest)
    assert np.array_equal(by_pair.node, by_table.node)
    assert np.array_equal(by_pair.labels, by_table.labels)
    with pytest.raises(ta.DataError, match="0 columns beside the labels, the model 1"):
        read_records(frame[["income"]], forest, target="income")


def test_numbers_to_predict() -> None:
    frame = people().assign(hours=lambda f: f["age"] / 2)
    forest = ta.load(DecisionTreeRegressor(max_depth=2).fit(frame[["age"]], frame["hours"]))
    records = read_records(frame[["age", "hours"]], forest)
    assert records.labels is None
    assert np.allclose(records.targets, frame["hours"])


def test_missing_values_follow_the_tree_or_are_refused(fitted) -> None:
    frame, _, forest = fitted
    holed = frame.copy()
    holed.loc[7, "age"] = np.nan
    if all(tree.missing is None for tree in forest.trees):
        with pytest.raises(ta.DataError, match="row 8: 'age' has no value"):
            read_records(holed, forest)
    else:
        assert len(read_records(holed, forest)) == len(frame)


class TestWhatIsSaid:
    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (lambda f: f.drop(columns="age"), "has no column 'age'"),
            (lambda f: f.rename(columns={"age": "aeg"}), "did you mean 'aeg'"),
            (lambda f: f.assign(job=["Clown", *f["job"][1:]]), "row 1: the model does not know"),
            (lambda f: f.assign(age=["old", *f["age"][1:]]), "row 1: 'old' is not a number"),
            (lambda f: f.assign(age=np.inf), "row 1 is infinite, or too large"),
            (lambda f: f.assign(income="rich"), "the model has no label 'rich'; it knows <=50K"),
            (lambda f: f.assign(income=None), "row 1 has no value"),
            (lambda f: f[:0], "holds no rows"),
        ],
    )
    def test_one_sentence(self, fitted, change, says) -> None:
        frame, _, forest = fitted
        with pytest.raises(ta.DataError, match=says) as caught:
            read_records(change(frame), forest, target="income", origin="test.csv")
        assert "\n" not in str(caught.value)
        assert str(caught.value).startswith("test.csv")

    def test_which_column_holds_the_labels(self, fitted) -> None:
        frame, _, forest = fitted
        assert target_of(frame, forest, None) == "income"
        assert target_of(frame.drop(columns="income"), forest, None) is None
        with pytest.raises(ta.DataError, match="2 columns that the model does not use"):
            target_of(frame.assign(note=1), forest, None)
        with pytest.raises(ta.DataError, match="no column 'incme'; did you mean 'income'"):
            target_of(frame, forest, "incme")

    def test_files_that_are_no_tables(self, tmp_path) -> None:
        with pytest.raises(ta.DataError, match="there is no file"):
            read_table(tmp_path / "nothing.csv")
        (tmp_path / "empty.csv").touch()
        with pytest.raises(ta.DataError, match="is empty"):
            read_table(tmp_path / "empty.csv")
        (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 999)[:30])
        with pytest.raises(ta.DataError, match="cannot be read as a table"):
            read_table(tmp_path / "cut.csv.gz")
        (tmp_path / "binary.csv").write_bytes(bytes(range(128, 256)))
        with pytest.raises(ta.DataError, match=r"no text in UTF-8; save the table as CSV"):
            read_table(tmp_path / "binary.csv")
        with pytest.raises(ta.DataError, match="two columns named 'a'"):
            read_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
        with pytest.raises(ta.DataError, match="2 rows, but 1 labels"):
            read_table(([[1], [2]], [0]))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda text: text.replace(",", ";"), "people.csv"),
        (lambda text: text.replace(",", "\t"), "people.txt"),
        (lambda text: text.replace(",", " , "), "people.csv"),
        (lambda text: "\ufeff" + text, "people.csv"),
        (lambda text: "\n".join(f"{i},{line}" for i, line in enumerate(text.split())), "i.csv"),
    ],
    ids=["semicolons", "tabs", "spaces", "mark of Excel", "index"],
)
def test_tables_as_programs_write_them(fitted, tmp_path, change, name) -> None:
    frame, _, forest = fitted
    text = frame.to_csv(index=False)
    text = change(text)
    path = tmp_path / name
    path.write_text(text.replace("0,age", ",age"), encoding="utf-8")
    expected = read_records(frame, forest)
    records = read_records(path, forest)
    assert np.array_equal(records.node, expected.node)
    assert np.array_equal(records.labels, expected.labels)


@pytest.mark.parametrize("fill", [None, {"strategy": "most_frequent"}, {"strategy": "constant"}])
@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "with gaps"])
@pytest.mark.parametrize("kind", ["texts", "numbers"])
def test_unknown_and_missing_categories_go_where_the_pipeline_sends_them(
    fill, gaps, kind, tmp_path
) -> None:
    """What ``handle_unknown="ignore"`` and an imputer answer, without running them."""
    rng = np.random.default_rng(7)
    jobs = ["Army", "Sales", "Tech"] if kind == "texts" else [1.0, 2.0, 5.0]
    train = pd.DataFrame({"job": rng.choice(jobs, 300), "age": rng.integers(18, 80, 300)})
    label = (train["job"] == jobs[0]) ^ (train["age"] > 40) | (train["job"] == jobs[2])
    if gaps:
        train["job"] = train["job"].where(rng.random(300) > 0.2)
    filler = [] if fill is None else [SimpleImputer(**fill)]
    encode = make_pipeline(*filler, OneHotEncoder(handle_unknown="ignore"))
    columns = make_column_transformer((encode, ["job"]), remainder="passthrough")
    model = make_pipeline(columns, DecisionTreeClassifier(random_state=0)).fit(train, label)
    other = ["Diver", "Tech", np.nan] if kind == "texts" else [9.0, 5.0, np.nan]
    test = pd.DataFrame({"job": rng.choice(np.array(other, object), 60), "age": range(20, 80)})
    test["job"] = test["job"].astype(object if kind == "texts" else float)
    ends = model[-1].apply(model[:-1].transform(test))
    path = ta.save(ta.load(model), tmp_path / "model.json")
    for form in (model, path):
        assert (read_records(test, ta.load(form)).node[:, 0] == ends).all()
