"""Columns that are read as indicators: which are, and what is said where none fits."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.people.input.sources import source_of
from treeaudit.people.records import read_records, target_of
from treeaudit.people.streaming import counter_of, stream_records


def people(n=300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"zone": rng.choice(["01", "02", "03"], n), "age": rng.integers(18, 90, n)}
    )
    return frame.assign(ill=np.where((frame["zone"] == "01") * 40 + frame["age"] > 75, "yes", "no"))


def model_of(frame, **told):
    columns = pd.get_dummies(frame.drop(columns="ill"), columns=["zone"], dtype=float, **told)
    return ta.load(DecisionTreeClassifier(max_depth=4, random_state=0).fit(columns, frame["ill"]))


def routes(frame, folder):
    """The same table read at once, and part by part."""
    for i, half in enumerate((frame[: len(frame) // 2], frame[len(frame) // 2 :])):
        half.to_csv(folder / f"{i}.csv", index=False)
    return (
        lambda forest: read_records(folder, forest, target="ill"),
        lambda forest: stream_records(source_of(folder), forest, target="ill"),
    )


def test_a_missing_column_is_no_indicator_of_another_feature() -> None:
    rng = np.random.default_rng(0)
    names = ["age", "age_group", "z"]
    frame = pd.DataFrame(rng.integers(0, 9, (200, 3)), columns=names)
    ill = np.where(frame["age_group"] > 4, "yes", "no")
    forest = ta.load(DecisionTreeClassifier(max_depth=3).fit(frame, ill))
    table = frame.drop(columns="age_group").assign(ill=ill)
    with pytest.raises(ta.DataError, match="has no column 'age_group'"):
        read_records(table, forest, target="ill")
    with pytest.raises(ta.DataError, match="has no column 'age_group'"):
        counter_of(forest, table.columns, target="ill")
    with pytest.raises(ta.DataError, match="has no column 'age_group'"):
        target_of(table.assign(note=1), forest, None)


def test_a_column_none_of_whose_values_the_model_knows_is_refused(tmp_path) -> None:
    frame = people()
    forest = model_of(frame)
    says = r"no value of 'zone', such as 'z01', is one .* \(01, 02, 03\); write them as before"
    for read in routes(frame.assign(zone="z" + frame["zone"]), tmp_path):
        with pytest.raises(ta.DataError, match=says):
            read(forest)
