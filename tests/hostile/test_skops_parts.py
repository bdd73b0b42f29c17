"""What a skops file could hold beside its object, in its schema and in its archive."""

import json
import zipfile

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.hostile.planted import file_is_listed_or_gone

io = pytest.importorskip("skops.io")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2_000, 4))
ROWS = X[:200].ravel().tolist()
NOTE = " ".join(f"{value:.2f}" for value in ROWS)


def _state(schema):
    return schema["content"]["content"]


def _again(schema):
    """Give one value the identity of another: skops takes the first, and never looks at it."""
    state = _state(schema)
    first, other = (state[name] for name in ("max_depth", "max_features"))
    assert first["__id__"] == other["__id__"]
    other["content"] = json.dumps(NOTE)


def _numbers(schema):
    _state(schema)["tree_"]["content"]["rows"] = ROWS


def _truth(schema):
    _state(schema)["max_depth"]["is_json"] = NOTE


def _field(schema):
    _state(schema)["max_depth"]["data"] = NOTE


def _identity(schema):
    _state(schema)["splitter"]["__id__"] = int.from_bytes(X[:9].tobytes(), "little")


def _kind(schema):
    _state(schema)["classes_"]["type"] += NOTE


def _nested(schema):
    _state(schema)["max_depth"]["protocol"] = 33


def _spelled(schema):
    _state(schema)["min_samples_leaf"]["content"] = "200" + " \t" * 50


def _types_as_a_set(schema):
    """What has no type is not loaded, and a set has each type once."""
    schema["content"]["key_types"]["__class__"] = "set"


def _types_cut_short(schema):
    del schema["content"]["key_types"]["content"][-1]


def _type_of_another_key(schema):
    # The attribute is loaded as one without a name.
    schema["content"]["key_types"]["content"][0]["__class__"] = "bool"


def _type_told_twice(schema):
    other = {"module_path": "builtins", "function": "float"}
    schema["content"]["key_types"]["content"][0]["content"] = other


def _number_of_another_class(schema):
    _state(schema)["n_classes_"]["__class__"] = "bool"


def _identity_of_another_kind(schema):
    """A logical value, which is the number one to whoever compares it."""
    state = _state(schema)
    for name, key in (("max_depth", 1), ("max_features", True)):
        state[name]["__id__"] = key


SCHEMA = [
    _identity_of_another_kind,
    _types_as_a_set,
    _types_cut_short,
    _type_of_another_key,
    _type_told_twice,
    _number_of_another_class,
    _again,
    _numbers,
    _truth,
    _field,
    _identity,
    _kind,
    _nested,
    _spelled,
]


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    path = tmp_path_factory.mktemp("skops") / "m.skops"
    small = {"max_leaf_nodes": 6, "min_samples_leaf": 200}
    io.dump(DecisionTreeClassifier(**small).fit(X, X[:, 0] > 0), path)
    with zipfile.ZipFile(path) as archive:
        return [(entry, archive.read(entry)) for entry in archive.infolist()]


def _is_listed_or_gone(folder, members, text):
    for name, schema in (("clean", members[-1][1]), ("held", text)):
        with zipfile.ZipFile(folder / f"{name}.skops", "w") as archive:
            for entry, data in (*members[:-1], (members[-1][0], schema)):
                archive.writestr(entry, data)
    return file_is_listed_or_gone(folder / "clean.skops", folder / "held.skops")


@pytest.mark.parametrize("plant", SCHEMA, ids=lambda plant: plant.__name__)
def test_the_schema(plant, members, tmp_path) -> None:
    schema = json.loads(members[-1][1])
    plant(schema)
    assert _is_listed_or_gone(tmp_path, members, json.dumps(schema, indent=2).encode())


def _tables(schema):
    """Two rounds of three classes become three of two, where nobody counts the lists."""
    _state(schema)["estimators_"]["shape"]["content"].reverse()


def _function(schema):
    """A function that is told as the first protocol did: skops does not look there."""
    step = _state(schema)["steps"]["content"][0]["content"][1]
    other = {"module_path": "numpy", "function": "expm1"}
    _state(step)["func"]["content"] = other


MODELS = {
    _tables: lambda: GradientBoostingClassifier(n_estimators=2, max_depth=2),
    _function: lambda: make_pipeline(FunctionTransformer(np.log1p), DecisionTreeClassifier()),
}


@pytest.mark.parametrize("plant", MODELS, ids=lambda plant: plant.__name__)
def test_what_skops_loads_otherwise(plant, tmp_path) -> None:
    path = tmp_path / "m.skops"
    io.dump(MODELS[plant]().fit(np.abs(X), np.arange(len(X)) % 3), path)
    ta.load(path)
    with zipfile.ZipFile(path) as archive:
        stored = [(entry, archive.read(entry)) for entry in archive.infolist()]
    schema = json.loads(stored[-1][1])
    plant(schema)
    with zipfile.ZipFile(path, "w") as archive:
        for entry, data in stored[:-1]:
            archive.writestr(entry, data)
        archive.writestr(stored[-1][0], json.dumps(schema, indent=2))
    with pytest.raises(ta.ReadError):
        ta.load(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [('"content": ', '"contents": '), ('"__loader__": "DictNode"', '"__loader__": {}')],
)
def test_a_schema_without_what_every_entry_has(old, new, members, tmp_path) -> None:
    (_, text) = members[-1]
    for i in range(text.count(old.encode())):
        parts = text.split(old.encode())
        changed = (
            old.encode().join(parts[: i + 1]) + new.encode() + old.encode().join(parts[i + 1 :])
        )
        assert _is_listed_or_gone(tmp_path, members, changed)


@pytest.mark.parametrize("where", ["comment", "member", "end"])
def test_room_in_the_archive(where, members, tmp_path) -> None:
    path, hidden = tmp_path / "m.skops", NOTE.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for entry, data in members:
            made = zipfile.ZipInfo(entry.filename)
            made.comment = hidden if where == "member" else b""
            archive.writestr(made, data)
        archive.comment = hidden if where == "comment" else b""
    if where == "end":
        path.write_bytes(path.read_bytes() + hidden)
    try:
        found = ta.load(path).extras
    except ta.ReadError:
        return
    assert sum(one.n for one in found if one.kind == "extra") >= len(hidden)
