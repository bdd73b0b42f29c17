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
HEADERS = {
    "attributes": {"external_attr": 0x33540000},
    "inside": {"internal_attr": 0x3354},
    "version": {"create_version": 33},
    "system": {"create_system": 7},
    "time": {"date_time": (2033, 5, 4, 1, 2, 4)},
}


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    path = tmp_path_factory.mktemp("skops") / "m.skops"
    small = {"max_leaf_nodes": 6, "min_samples_leaf": 200}
    io.dump(DecisionTreeClassifier(**small).fit(X, X[:, 0] > 0), path)
    with zipfile.ZipFile(path) as archive:
        return [(entry, archive.read(entry)) for entry in archive.infolist()]


def _unexplained(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for entry, data in members:
            archive.writestr(entry, data)
    try:
        found = ta.load(path).leftovers.found
    except ta.ReadError:
        return 1
    return sum(one.n for one in found if one.kind == "extra")


@pytest.mark.parametrize("plant", SCHEMA, ids=lambda plant: plant.__name__)
def test_the_schema(plant, members, tmp_path) -> None:
    assert _unexplained(tmp_path / "m.skops", members) == 0
    (entry, text) = members[-1]
    schema = json.loads(text)
    plant(schema)
    changed = json.dumps(schema, indent=2).encode()
    assert _unexplained(tmp_path / "m.skops", [*members[:-1], (entry, changed)]) > 0


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
    stored[-1] = stored[-1][0], json.dumps(schema, indent=2).encode()
    assert _unexplained(path, stored) > 0


@pytest.mark.parametrize(
    ("old", "new"),
    [('"content": ', '"contents": '), ('"__loader__": "DictNode"', '"__loader__": {}')],
)
def test_a_schema_without_what_every_entry_has(old, new, members, tmp_path) -> None:
    (entry, text) = members[-1]
    for i in range(text.count(old.encode())):
        parts = text.split(old.encode())
        changed = (
            old.encode().join(parts[: i + 1]) + new.encode() + old.encode().join(parts[i + 1 :])
        )
        assert _unexplained(tmp_path / "m.skops", [*members[:-1], (entry, changed)]) > 0


def test_blanks_of_the_schema(members, tmp_path) -> None:
    (entry, text) = members[-1]
    changed = text.replace(b": ", b":  ")
    assert _unexplained(tmp_path / "m.skops", [*members[:-1], (entry, changed)]) > 0


def test_blanks_of_the_schema_change_places(members, tmp_path) -> None:
    (entry, text) = members[-1]
    lines = text.split(b"\n")
    bits = np.unpackbits(np.frombuffer(b"Ann 33 ill", "u1"))
    for i, bit in enumerate(bits, 10):
        # One blank of the next line stands at the end of this one.
        if bit and lines[i + 1][:1] == b" ":
            lines[i], lines[i + 1] = lines[i] + b" ", lines[i + 1][1:]
    changed = b"\n".join(lines)
    assert len(changed) == len(text)
    assert json.loads(changed) == json.loads(text)
    assert _unexplained(tmp_path / "m.skops", [*members[:-1], (entry, changed)]) > 0


def test_names_of_members(members, tmp_path) -> None:
    old = members[0][0].filename
    new = "Ann 33 ill.npy"
    first = zipfile.ZipInfo(new, members[0][0].date_time)
    (entry, text) = members[-1]
    changed = text.replace(old.encode(), new.encode())
    kept = [(first, members[0][1]), *members[1:-1], (entry, changed)]
    assert _unexplained(tmp_path / "m.skops", kept) > 0


@pytest.mark.parametrize("name", HEADERS)
def test_the_headers_of_members(name, members, tmp_path) -> None:
    entry = zipfile.ZipInfo(members[0][0].filename, members[0][0].date_time)
    entry.external_attr = members[0][0].external_attr
    for field, value in HEADERS[name].items():
        setattr(entry, field, value)
    assert _unexplained(tmp_path / "m.skops", [(entry, members[0][1]), *members[1:]]) > 0
