"""The recipes of docs/people.md: what they import, and that parts add up to the table."""

import re
from importlib import import_module
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


@pytest.mark.parametrize("name", ["dask", "ray", "spark"])
def test_a_recipe_imports_what_there_is(name) -> None:
    for module, names in re.findall(r"from (treeaudit\S*) import (.+)", recipe(name)):
        for one in names.split(","):
            assert hasattr(import_module(module), one.strip())


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
