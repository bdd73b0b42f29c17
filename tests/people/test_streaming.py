"""Tables larger than memory: the same counts, whoever reads which rows, and in which order."""

import itertools

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.errors import DataError
from treeaudit.model.routing import router_of
from treeaudit.people.checks.training_data import MisfitError, verify
from treeaudit.people.coding.coder import coder_of
from treeaudit.people.input.sources import Batch, source_of
from treeaudit.people.input.table_input import read_table
from treeaudit.people.records import LeafCounts, read_records
from treeaudit.people.streaming import Counter, stream_records

N = 900


def people(n=N, seed=0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(18, 90, n).round(3),
            "job": rng.choice(["Sales", "Tech", "Farm"], n),
            "code": rng.choice([1, 2, 10], n),
            "member": rng.random(n) > 0.5,
            "note": rng.choice(["a", "b"], n),
        }
    )
    score = frame["age"] / 40 + (frame["job"] == "Tech") + frame["member"]
    return frame.assign(ill=(score + rng.normal(0, 0.5, n) > 2).astype(int))


USED = ["age", "job", "code", "member"]


def model_of(frame, classifier):
    made = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["job"]),
        (OrdinalEncoder(), ["code"]),
        remainder="passthrough",
    )
    return ta.load(make_pipeline(made, classifier).fit(frame[USED], frame["ill"]))


@pytest.fixture(scope="module")
def frame():
    return people()


@pytest.fixture(scope="module")
def forest(frame):
    return model_of(frame, DecisionTreeClassifier(max_depth=6, random_state=0))


@pytest.fixture(scope="module")
def trees(frame):
    return model_of(frame, RandomForestClassifier(5, max_depth=4, random_state=0))


def whole(frame, forest) -> LeafCounts:
    """Today's route: all rows at once."""
    records = read_records(frame, forest, target="ill")
    return LeafCounts.of(
        records.node, records.labels, router_of(forest.trees, forest.schema).root, 2
    )


@given(cuts=st.lists(st.integers(0, N), max_size=8), data=st.data())
@settings(max_examples=40, deadline=None)
def test_any_batches_in_any_order_give_the_same_counts(frame, trees, cuts, data) -> None:
    ends = [0, *sorted(cuts), N]
    batches = [
        Batch(frame=frame.iloc[a:b], first=a, at=dict(enumerate(range(frame.shape[1]))))
        for a, b in itertools.pairwise(ends)
    ]
    coder = coder_of(list(frame.columns), trees, target="ill")
    count = Counter(coder=coder, router=router_of(trees.trees, trees.schema), seed=3)
    order = data.draw(st.permutations(range(len(batches))))
    seen = [count.seen(coder, 0, [batches[i]]) for i in order]
    total = seen[0]
    for one in seen[1:]:
        total = total + one
    expected = whole(frame, trees)
    assert total.counts.n == expected.n == N
    assert np.array_equal(total.counts.counts, expected.counts)
    assert sorted(total.sample.row.tolist()) == list(range(N))


def written(frame, folder, form):
    """The table as one file, a folder, a pattern, in every format."""
    halves = [frame[:400], frame[400:]]
    if form in ("csv", "csv.gz"):
        frame.to_csv(folder / f"people.{form}", index=False)
        return folder / f"people.{form}"
    if form == "folder of csv":
        for i, half in enumerate(halves):
            # The same columns in another order.
            half[frame.columns[:: -1 if i else 1]].to_csv(folder / f"{i}.csv", index=False)
        (folder / "_SUCCESS").touch()
        return folder
    arrow = pytest.importorskip("pyarrow")
    if form == "arrow":
        with arrow.OSFile(str(folder / "people.arrow"), "wb") as file:
            table = arrow.Table.from_pandas(frame)
            with arrow.ipc.new_file(file, table.schema) as stream:
                stream.write_table(table, max_chunksize=250)
        return folder / "people.arrow"
    if form == "parquet":
        frame.set_index("note", append=True).reset_index("note").to_parquet(
            folder / "people.parquet", row_group_size=130
        )
        return folder / "people.parquet"
    if form == "dataset":
        from pyarrow import dataset

        return dataset.dataset(written(frame, folder, "parquet"))
    if form == "partitioned":
        for job, some in frame.groupby("job"):
            (folder / f"job={job}").mkdir()
            some.drop(columns="job").to_parquet(folder / f"job={job}" / "0.parquet")
        return folder
    for i, half in enumerate(halves):
        half.to_parquet(folder / f"{i}.parquet", index=False)
    return folder / "*.parquet"


FORMS = ["csv", "csv.gz", "folder of csv", "arrow", "parquet", "dataset", "partitioned", "pattern"]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_gives_the_same_counts(frame, trees, tmp_path, form) -> None:
    data = written(frame, tmp_path, form)
    source = source_of(data)
    assert not source.large
    found = stream_records(source, trees, target="ill")
    assert found.n_people == N
    assert np.array_equal(found.whole.counts, whole(frame, trees).counts)
    if form != "dataset":
        held = read_records(data, trees, target="ill")
        assert np.array_equal(np.sort(held.node, axis=0), np.sort(found.node, axis=0))
        assert len(read_table(data).frame) == N


@pytest.mark.parametrize("workers", ["loky", "threading"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_workers_change_nothing(frame, forest, tmp_path, form, workers, monkeypatch) -> None:
    if workers == "threading":
        # What is set here, other processes do not know.
        monkeypatch.setattr("treeaudit.people.streaming.MOST", 100)
    source = source_of(written(frame, tmp_path, form))
    one = stream_records(source, forest, target="ill", seed=5)
    with joblib.parallel_config(workers):
        two = stream_records(source, forest, target="ill", jobs=2, seed=5)
    assert np.array_equal(one.whole.counts, two.whole.counts)
    for field in ("values", "labels", "node"):
        assert np.array_equal(getattr(one, field), getattr(two, field), equal_nan=True)
    pd.testing.assert_frame_equal(one.frame, two.frame)
    assert len(one) == (100 if workers == "threading" else N)


class TestAnAuditOfManyPeople:
    @pytest.fixture
    def path(self, tmp_path):
        pytest.importorskip("pyarrow")
        people(seed=1).to_parquet(tmp_path / "others.parquet")
        return tmp_path / "others.parquet"

    @pytest.fixture
    def large(self, monkeypatch):
        monkeypatch.setattr("treeaudit.people.input.sources._LARGE_ROWS", 500)

    def test_controls_of_a_tree_count_everybody(self, forest, path, large, monkeypatch) -> None:
        held = ta.scan(forest, test=read_table(path), target="ill", fraction=0.1)
        monkeypatch.setattr("treeaudit.people.streaming.MOST", 300)
        counted = ta.scan(forest, test=path, target="ill", fraction=0.1, jobs=1)
        for one, other in zip(held.results, counted.results, strict=True):
            controls = [getattr(result, "controls", ()) for result in (one, other)]
            for mine, theirs in zip(*controls, strict=True):
                assert mine.control == theirs.control, one.id
                common = "most frequent label"
                assert mine.baselines.get(common) == theirs.baselines.get(common)
        assert held["TA101"].details == counted["TA101"].details
        assert counted.people["test"] == ("others.parquet", N)
        assert any("all 900 rows were counted" in said for said in counted.warnings)

    def test_controls_of_a_forest_say_whom_they_saw(self, trees, path, large) -> None:
        report = ta.scan(trees, test=path, target="ill")
        assert any("of 900 rows the control saw 900 of them" in said for said in report.warnings)


def test_the_training_people_are_verified_by_their_counts(frame, forest, tmp_path) -> None:
    path = written(frame, tmp_path, "parquet")
    verified = stream_records(source_of(path), forest, target="ill")
    held = read_records(frame, forest, target="ill")
    assert verify(forest, verified) == verify(forest, held) == ""
    for change in (frame[:-1], frame.assign(ill=frame["ill"].to_numpy()[::-1])):
        change.to_parquet(path)
        said = []
        for people in (
            stream_records(source_of(path), forest, target="ill"),
            read_records(path, forest, target="ill"),
        ):
            with pytest.raises(MisfitError) as told:
                verify(forest, people)
            said.append(str(told.value))
        assert said[0] == said[1]


def test_a_large_table_that_does_not_fit_is_refused(frame, forest, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("treeaudit.people.input.sources._LARGE_ROWS", 500)
    path = written(frame[:-1], tmp_path, "parquet")
    with pytest.raises(MisfitError, match="it has 899 rows, the model was trained on 900"):
        ta.scan(forest, train=path, target="ill")


class TestWhatIsSaid:
    def test_no_tables(self, tmp_path) -> None:
        with pytest.raises(DataError, match="folder without tables"):
            source_of(tmp_path)
        with pytest.raises(DataError, match="no file is named like"):
            source_of(tmp_path / "*.csv")
        (tmp_path / "a.csv").write_text("a\n")
        with pytest.raises(DataError, match="holds no rows"):
            stream_records(source_of(tmp_path / "a.csv"), ta.load(_stump()), target=None)
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        nobody = pa.schema([("a", pa.float64())])
        with pa.ipc.new_file(str(tmp_path / "none.arrow"), nobody):
            pass
        parquet.write_table(nobody.empty_table(), tmp_path / "none.parquet")
        for name in ("none.arrow", "none.parquet"):
            for jobs in (1, 2):
                with pytest.raises(DataError, match=f"^{name} holds no rows$"):
                    stream_records(source_of(tmp_path / name), ta.load(_stump()), jobs=jobs)
            (tmp_path / name).unlink()
        (tmp_path / "b.csv").write_text("b\n1\n")
        with pytest.raises(DataError, match="differ in column 'a'"):
            stream_records(source_of(tmp_path), ta.load(_stump()))
        (tmp_path / "c.parquet").touch()
        with pytest.raises(DataError, match="several kinds"):
            source_of(tmp_path)


def _stump():
    return DecisionTreeClassifier(max_depth=1).fit(pd.DataFrame({"a": [1, 2]}), [0, 1])
