"""The recipes of docs/people.md, as they are printed, on the engines that are installed."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.people.test_streaming import people as made

PAGE = Path(__file__).parents[2] / "docs" / "people.md"


def recipe(name: str) -> str:
    return re.search(rf"<!-- recipe: {name} -->\n```python\n(.*?)```", PAGE.read_text(), re.S)[1]


@pytest.fixture
def frame(tmp_path, monkeypatch) -> pd.DataFrame:
    import joblib

    monkeypatch.chdir(tmp_path)
    frame = made()[["age", "code", "member", "ill"]]
    model = DecisionTreeClassifier(max_depth=8, random_state=0)
    joblib.dump(model.fit(frame.drop(columns="ill"), frame["ill"]), "model.joblib")
    return made(seed=1)[frame.columns]


def check(found: dict, frame: pd.DataFrame) -> None:
    report, held = found["report"], ta.scan("model.joblib", test=frame, target="ill")
    assert report.people["test"][1] == len(frame) == 900
    assert found["seen"].counts.n == 900
    for one, other in zip(report.results, held.results, strict=True):
        controls = [getattr(result, "controls", ()) for result in (one, other)]
        assert [c.control for c in controls[0]] == [c.control for c in controls[1]], one.id


def test_dask(frame) -> None:
    dask = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    found = {"people": dask.from_pandas(frame, npartitions=4)}
    exec(recipe("dask"), found)
    check(found, frame)
    assert sorted(found["seen"].sample.frame["age"]) == sorted(frame["age"])


@pytest.mark.filterwarnings("ignore")  # those of Ray itself
def test_ray(frame) -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    data = pytest.importorskip("ray.data", reason="Ray Data is not installed")
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        found = {"people": data.from_pandas([frame[:300], frame[300:500], frame[500:]])}
        exec(recipe("ray"), found)
        check(found, frame)
    finally:
        ray.shutdown()


@pytest.mark.filterwarnings("ignore")  # those of Spark itself
def test_spark(frame) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed")
    spark = sql.SparkSession.builder.master("local[2]").getOrCreate()
    try:
        found = {"people": spark.createDataFrame(frame).repartition(3)}
        exec(recipe("spark"), found)
        check(found, frame)
    finally:
        spark.stop()


def test_parts_in_memory_are_those_of_the_table(frame) -> None:
    """What every recipe does, without an engine: pandas and Arrow, pickled, in any order."""
    import pickle
    from functools import reduce
    from operator import add

    from treeaudit.people.streaming import counter_of

    arrow = pytest.importorskip("pyarrow")
    count = pickle.loads(
        pickle.dumps(counter_of(ta.load("model.joblib"), frame.columns, target="ill"))
    )
    whole = count.table([frame])
    tables = [frame[:100], arrow.Table.from_pandas(frame[100:500]), frame[500:]]
    tables += [arrow.RecordBatch.from_pandas(frame[:0])]
    seen = [pickle.loads(pickle.dumps(count.table([t], i))) for i, t in enumerate(tables)]
    total = reduce(add, seen[::-1])
    assert np.array_equal(total.counts.counts, whole.counts.counts)
    assert len(total.sample.key) == len(np.unique(total.sample.key)) == 900
