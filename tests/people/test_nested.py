"""Lists and structures, as Parquet may hold them: told where they are used, else no matter."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.people.input.files import readable
from treeaudit.people.input.sources import source_of
from treeaudit.people.persons import repeats_in
from treeaudit.people.records import read_records
from treeaudit.people.streaming import stream_records

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


@pytest.mark.parametrize("kind", CELLS)
def test_labels_are_named_where_they_are_read_part_by_part(table, model, tmp_path, kind) -> None:
    path = written(table, tmp_path / "people.parquet", kind, "ill")
    with pytest.raises(ta.DataError, match=r"people.parquet, column 'ill' holds lists"):
        stream_records(source_of(path), ta.load(model), target="ill")


@pytest.mark.parametrize("kind", CELLS)
def test_a_list_is_no_number(table, model, tmp_path, kind) -> None:
    path = written(table, tmp_path / "people.parquet", kind, "a")
    with pytest.raises(ta.DataError, match=r"column 'a', row 1: .* is not a number"):
        ta.scan(model, test=path, target="ill")
    one = table.assign(a=[np.array([i]) for i in range(N)])
    with pytest.raises(ta.DataError, match=r"column 'a', row 1: .* is not a number"):
        ta.scan(model, test=one, target="ill")


@pytest.mark.parametrize("name", ["a", "no"])
def test_a_prior_of_lists(model, name) -> None:
    prior = pd.DataFrame({"a": [1, 2], "no": [0.5, 0.5], "yes": [0.5, 0.5]})
    with pytest.raises(ta.DataError, match=f"the prior, column '{name}' holds lists"):
        ta.scan(model, prior=prior.assign(**{name: [[1], [2]]}))


def test_lists_are_compared_whole() -> None:
    """Rows that differ only in the middle of a long list are not the same."""
    long = [np.arange(3000) * (1 + (np.arange(3000) == 1500) * i) for i in (0, 1, 0)]
    frame = pd.DataFrame({"a": [1, 1, 1], "more": pd.Series(long)})
    assert repeats_in(frame)[1].tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", ["b", "ill"])
def test_no_schema_is_drafted_of_lists(table, name) -> None:
    with pytest.raises(ta.DataError, match=f"column '{name}' of the public table holds lists"):
        ta.Schema.from_public(table.assign(**{name: [[1]] * N}), target="ill")


@pytest.mark.parametrize("name", ["a", "ill", "more"])
def test_runs_of_equal_values_are_read(table, model, tmp_path, name) -> None:
    pa = pytest.importorskip("pyarrow")
    compute = pytest.importorskip("pyarrow.compute")
    if not hasattr(compute, "run_end_encode"):
        pytest.skip("this pyarrow has no runs")
    held = pa.Table.from_pandas(table.assign(more="x"), preserve_index=False)
    runs = compute.run_end_encode(held[name].combine_chunks())
    held = held.drop_columns([name]).append_column(name, runs)
    with pa.ipc.new_file(tmp_path / "people.arrow", held.schema) as file:
        file.write_table(held, max_chunksize=50)
    forest = ta.load(model)
    expected = read_records(table, forest, target="ill")
    found = read_records(tmp_path / "people.arrow", forest, target="ill")
    streamed = stream_records(source_of(tmp_path / "people.arrow"), forest, target="ill")
    for one in (found, streamed):
        assert np.array_equal(one.node, expected.node)
        assert np.array_equal(one.labels, expected.labels)


def test_what_pyarrow_does_not_do_is_said_in_a_sentence() -> None:
    with (
        pytest.raises(ta.DataError, match=r"a.arrow cannot be read as a table: no such cast; save"),
        readable("a.arrow"),
    ):
        raise NotImplementedError("no such cast.")
