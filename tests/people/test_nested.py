"""Lists and structures, as Parquet may hold them: told where they are used, else no matter."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta

N = 120
CELLS = {
    "list": lambda i: [i % 3, None],
    "long list": lambda i: [0] * 1500 + [i % 3],
    "list of lists": lambda i: [[i % 3], []],
    "struct": lambda i: {"x": i % 3, "y": [i]},
    "map": lambda i: [("x", i)],
}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    frame = pd.DataFrame({"a": np.arange(N) % 40, "b": np.arange(N) // 3})
    return frame.assign(ill=np.where(frame["a"] > 20, "yes", "no"))


@pytest.fixture(scope="module")
def model(table):
    return DecisionTreeClassifier(max_depth=3, random_state=0).fit(table[["a", "b"]], table["ill"])


def written(table, path, kind, name):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    cells = [CELLS[kind](i) for i in range(N)]
    told = pa.map_(pa.string(), pa.int64()) if kind == "map" else None
    held = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata()
    if name in table:
        held = held.drop_columns([name])
    parquet.write_table(held.append_column(name, pa.array(cells, told)), path)
    return path


@pytest.mark.parametrize("kind", CELLS)
def test_columns_that_are_not_used_do_not_matter(table, model, tmp_path, kind) -> None:
    path = written(table, tmp_path / "people.parquet", kind, "more")
    plain = ta.scan(model, train=table, target="ill")
    found = ta.scan(model, train=path, target="ill")
    assert [one.id for one in found.findings] == [one.id for one in plain.findings]


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ill", {}),
        ("who", {"person": "who"}),
        ("more", {"sensitive": ["more"]}),
    ],
)
def test_a_column_that_is_used_is_named(table, model, tmp_path, kind, name, told) -> None:
    path = written(table, tmp_path / "people.parquet", kind, name)
    says = f"people.parquet, column '{name}' holds lists or structures; give it a single value"
    with pytest.raises(ta.DataError, match=says):
        ta.scan(model, train=path, target="ill", **told)
