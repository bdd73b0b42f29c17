"""The schema file: what is written is read back, and nothing is trained on a draft."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.errors import DataError, PrivacyError
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.schema_file import read_schema, schema_text

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
number = st.floats(-1e300, 1e300)
feature = st.one_of(
    st.builds(
        lambda name, a, b: Feature(name=name, low=min(a, b), high=max(a, b)), text, number, number
    ),
    st.builds(
        lambda name, c: Feature(name=name, categories=tuple(c)),
        text,
        st.lists(text, min_size=1, max_size=4, unique=True),
    ),
)
schemas = st.builds(
    Schema,
    features=st.lists(feature, min_size=1, max_size=4, unique_by=lambda f: f.name).map(tuple),
    classes=st.lists(
        st.one_of(text, st.integers(-(2**60), 2**60), number), min_size=1, max_size=4, unique=True
    ).map(tuple),
    target=text,
)


@given(schemas)
def test_written_and_read_back(tmp_path_factory, schema) -> None:
    path = tmp_path_factory.mktemp("schema") / "schema.toml"
    path.write_bytes(schema_text(schema, confirmed=True).encode())
    assert read_schema(path) == schema


def test_bounds_of_a_number_are_written_and_read_back(tmp_path) -> None:
    features = (Feature(name="x", low=0, high=1),)
    schema = Schema(features=features, target="cost", target_low=-1.5, target_high=1e6)
    path = tmp_path / "schema.toml"
    text = schema_text(schema, confirmed=True)
    assert "classes" not in text
    path.write_text(text)
    assert read_schema(path) == schema


def test_numbers_are_drafted_with_bounds() -> None:
    frame = pd.DataFrame({"age": [30, 40], "cost": [0.5, 9.0], "visits": [1, 7]})
    drawn = Schema.from_public(frame, target="cost")
    assert (drawn.classes, drawn.target_low, drawn.target_high) == (None, 0.5, 9.0)
    assert Schema.from_public(frame, target="visits").classes == (1, 7)
    told = Schema.from_public(frame, target="visits", bounds=(0, 99))
    assert (told.classes, told.target_low, told.target_high) == (None, 0, 99)


def test_a_draft_trains_nothing(tmp_path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(schema_text(Schema.numeric(1, [0, 1])))
    with pytest.raises(DataError, match="needs low and high"):
        read_schema(path)
    schema = Schema(features=(Feature(name="x", low=0, high=1),), classes=(0, 1))
    path.write_text(schema_text(schema))
    with pytest.raises(PrivacyError, match="set confirmed = true"):
        read_schema(path)


GOOD = 'confirmed = true\nclasses = [0, 1]\n[[columns]]\nname = "x"\nlow = 0\nhigh = 1\n'


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("low = 0\n", "", "needs low and high"),
        ("low = 0\n", "low = nan\n", "needs low and high"),
        ("low = 0\n", "low = 2\n", "low is above high"),
        ("low = 0\nhigh = 1", 'categories = ["a", "a"]', "different texts"),
        ("low = 0\nhigh = 1", "categories = []", "different texts"),
        ("low = 0\nhigh = 1", "categories = [1]", "different texts"),
        ("classes = [0, 1]", "classes = []", "lists no classes"),
        ("classes = [0, 1]", "classes = [0, 0]", "a class twice"),
        ("classes = [0, 1]", "target_low = 0", "needs target_low and target_high"),
        ("classes = [0, 1]", "target_low = 0\ntarget_high = '1'", "needs target_low and"),
        ("classes = [0, 1]", "target_low = 2\ntarget_high = 1", "target_low is above"),
        ("classes = [0, 1]", "target_low = 0\ntarget_high = inf", "needs target_low and"),
        ("classes = [0, 1]", "classes = [0, 1]\ntarget_low = 0", "one or the other"),
        ("classes = [0, 1]", "", "lists no classes .or target_low and target_high"),
        ("classes = [0, 1]", "classes = [[0]]", "must be text, numbers"),
        ("classes = [0, 1]", "classes = [0, 1]\ntarget = 3", "target must be text"),
        ("classes = [0, 1]", "classes = [0, 1]\nepsilon = 3", "no setting 'epsilon'"),
        ("high = 1", "high = 1\nmax = 2", "no setting 'max'"),
        ('name = "x"\n', "", "needs a name"),
        ('[[columns]]\nname = "x"\nlow = 0\nhigh = 1\n', "", "describes no columns"),
        ("confirmed", "confirmed = ", "cannot be read as TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, says) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(GOOD)
    assert read_schema(path).names == ["x"]
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(DataError, match=says):
        read_schema(path)


def test_from_public() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "age": [20, 70, None],
            "zone": [1, 2, 2],
            "sex": pd.Categorical(["f", "m", None]),
            "sick": [True, False, True],
        }
    )
    schema = Schema.from_public(frame, target="sick", categorical=["zone"])
    assert [f.categories for f in schema.features] == [None, ("1", "2"), ("f", "m")]
    assert (schema.features[0].low, schema.features[0].high) == (20.0, 70.0)
    assert schema.classes == (False, True)
    for change, says in [
        ({"target": "ill"}, "no column 'ill'"),
        ({"target": "sick", "categorical": ["zip"]}, "no column 'zip'"),
    ]:
        with pytest.raises(DataError, match=says):
            Schema.from_public(frame, **change)
    with pytest.raises(DataError, match="is empty"):
        Schema.from_public(frame.assign(age=None), target="sick")
    with pytest.raises(DataError, match="holds datetime"):
        Schema.from_public(frame.assign(age=pd.Timestamp("2020-01-01")), target="sick")
    with pytest.raises(DataError, match="no labels"):
        Schema.from_public(frame.assign(sick=None), target="sick")
