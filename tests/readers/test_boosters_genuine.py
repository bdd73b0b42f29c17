"""Small models of many versions of XGBoost and LightGBM hold no extra content.

All are of 240 people (160 where training was stopped early) and up to four rounds.
"""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

import treeaudit as ta
from tests.readers.damage import put as put_in
from tests.readers.damage import same_trees
from treeaudit.errors import ReadError, UnsupportedModelError

FOLDER = Path(__file__).with_name("boosters_genuine")
FILES = sorted(path.name for path in FOLDER.iterdir())
# Attributes of wrappers in a pickle are not those of a document.
OF_DOCUMENTS = ("learner", "Config", "the head", "Tree", "behind", "parameters", "tree_info")


def left_in(path, *kinds):
    found = ta.load(path).extras.found
    return [one for one in found if one.kind in kinds and one.where.startswith(OF_DOCUMENTS)]


@pytest.mark.parametrize("name", FILES)
def test_what_a_library_writes_is_known(name) -> None:
    forest = ta.load(FOLDER / name)
    assert left_in(FOLDER / name, "extra", "unseen") == []
    notes = ["learner.attributes.note"] if "noted" in name else []
    assert [one.where for one in left_in(FOLDER / name, "notes")] == notes
    outputs = 3 if any(word in name for word in ("three", "multi")) else 1
    rounds = {"early": 5 if "lgb" in name else 4, "stump": 1}
    (n,) = [n for word, n in rounds.items() if word in name] or [4]
    assert forest.n_trees == n * outputs
    numbers = ("reg", "noted", "hist", "gamma", "goss", "stump", "linear", "mono.txt", "inter")
    if any(word in name for word in (*numbers, "rank", "train-dart")):
        assert forest.schema.classes is None
    else:
        assert forest.schema.classes == tuple(range(max(outputs, 2)))
    if name.startswith("lgb") and forest.n_records is not None:
        assert forest.n_records == (160 if "early" in name else 240)


@pytest.mark.parametrize("name", [name for name in FILES if "reg-pois" in name or "bag" in name])
def test_seeds_of_draws_are_named(name) -> None:
    stated = [one.where for one in ta.load(FOLDER / name).extras.found if one.kind == "seeds"]
    assert bool(stated) == ("0.90" not in name)


PAIRS = [(FOLDER / name).with_suffix(".json") for name in FILES if name.endswith(".bin")]


@pytest.mark.parametrize("path", [path for path in PAIRS if path.exists()], ids=lambda p: p.stem)
def test_the_binary_form_is_the_json(path) -> None:
    binary, text = ta.load(path.with_suffix(".bin")), ta.load(path)
    same_trees(binary, text, rtol=1e-6)
    assert binary.source.format == "xgboost-binary"
    assert binary.schema == text.schema
    shown = {"objective", "base_score", "n_outputs"}
    assert {n: binary.source.parameters[n] for n in shown} == pytest.approx(
        {n: text.source.parameters[n] for n in shown}
    )


def test_the_binary_form_without_a_mark_stores_margins() -> None:
    scores = {
        name: ta.load(FOLDER / f"xgb-0.90-{name}.bin").source.parameters["base_score"]
        for name in ("clf-two", "clf-three", "reg-pois", "noted")
    }
    assert scores == pytest.approx(dict.fromkeys(scores, 0.5))
    stored = (ta.load(FOLDER / f"xgb-0.90-train-names.{end}") for end in ("bin", "pkl"))
    same_trees(*stored, rtol=1e-6)


def test_weights_of_dart_are_read_wherever_they_stand() -> None:
    for name in ("xgb-1.3.3-train-dart.json", "xgb-3.4.1-train-dart.ubj"):
        forest = ta.load(FOLDER / name)
        assert forest.source.parameters["booster"] == "dart"
    path = FOLDER / "xgb-3.4.1-dart.json"
    document = json.loads(path.read_text())
    document["learner"]["gradient_booster"]["model"]["weight_drop"][1] = 0.5
    before, after = ta.load(path), changed(path, document)
    np.testing.assert_allclose(2 * after.trees[1].value, before.trees[1].value)


def changed(path, document):
    from treeaudit.model.source import Source
    from treeaudit.readers.xgboost.model import to_forest

    return to_forest(document, Source())


BINARY = (FOLDER / "xgb-1.3.3-clf-three.bin").read_bytes()
DAMAGES = {
    "cut": lambda data: data[:-1000],
    "cut in a tree": lambda data: data[:600],
    "many trees": lambda data: put(data, 4 + 136 + 8 + 14 + 8 + 6, 900_000),
    "negative trees": lambda data: put(data, 4 + 136 + 8 + 14 + 8 + 6, -1),
    "many nodes": lambda data: put(data, 4 + 136 + 8 + 14 + 8 + 6 + 160 + 4, 1 << 30),
    "negative nodes": lambda data: put(data, 4 + 136 + 8 + 14 + 8 + 6 + 160 + 4, -5),
    "a child elsewhere": lambda data: put(data, 4 + 136 + 8 + 14 + 8 + 6 + 160 + 148 + 4, 99),
}


def put(data: bytes, at: int, number: int) -> bytes:
    return data[:at] + struct.pack("<i", number) + data[at + 4 :]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_binary_models_are_one_sentence(tmp_path, damage) -> None:
    path = tmp_path / "m.bin"
    path.write_bytes(DAMAGES[damage](BINARY))
    with pytest.raises(ReadError, match="XGBoost model"):
        ta.load(path)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("at", range(0, len(BINARY), 97))
def test_any_cut_of_a_binary_model_is_refused(tmp_path, at) -> None:
    path = tmp_path / "m.bin"
    path.write_bytes(BINARY[:at])
    with pytest.raises((ReadError, UnsupportedModelError)):
        ta.load(path)


def test_bytes_that_no_version_uses_are_listed(tmp_path) -> None:
    path = tmp_path / "m.bin"
    path.write_bytes(put(BINARY, 4 + 60, 33) + b"33,ill;54,well")
    (one,) = left_in(path, "extra")
    assert (one.where, one.n >= 15) == ("learner.attributes.unused_bytes", True)


def planted(name, tmp_path, *path, value="33;ill"):
    document = json.loads((FOLDER / name).read_text())
    (tmp_path / "m.json").write_text(json.dumps(put_in(document, *path, value)))
    return left_in(tmp_path / "m.json", "extra", "notes")


MODEL = ("learner", "gradient_booster", "model")


@pytest.mark.parametrize(
    ("path", "value", "listed"),
    [
        (("learner", "rows"), [33, 54], ("extra", "learner.rows", 20)),
        ((*MODEL, "trees", 1, "rows"), [33, 54],
         ("extra", ".".join((*MODEL, "trees[*].rows")), 20)),
        ((*MODEL, "trees", 1, "parents"), [33] * 90,
         ("extra", ".".join((*MODEL, "trees[*].parents")), 720)),
        ((*MODEL, "trees", 0, "tree_param", "note"), "33;ill",
         ("extra", ".".join((*MODEL, "trees[*].tree_param.note")), 10)),
        (("learner", "objective", "name"), "x" * 201, ("extra", "learner.objective.name", 201)),
        (("learner", "attributes"), {"by": "Ann"}, ("notes", "learner.attributes.by", 5)),
        (("learner", "attributes"), {"by": "Ann" * 99}, ("extra", "learner.attributes.by", 299)),
        (("learner", "attributes"), {"best_score": "0.5"}, None),
        (("learner", "attributes"), {"best_score": "33,yes" * 9},
         ("extra", "learner.attributes.best_score", 54)),
        ((*MODEL, "iteration_indptr"), [0] * 999,
         ("extra", ".".join((*MODEL, "iteration_indptr")), 7992)),
    ],
)  # fmt: skip
def test_unknown_fields_of_xgboost_are_listed_by_path_and_size(
    tmp_path, path, value, listed
) -> None:
    found = planted("xgb-2.1.4-clf-two.json", tmp_path, *path, value=value)
    assert [(one.kind, one.where, one.n) for one in found] == ([listed] if listed else [])


def test_a_field_of_many_trees_is_listed_once(tmp_path) -> None:
    document = json.loads((FOLDER / "xgb-2.1.4-clf-two.json").read_text())
    for tree in document["learner"]["gradient_booster"]["model"]["trees"]:
        tree["rows"] = [33, 54]
    (tmp_path / "m.json").write_text(json.dumps(document))
    (one,) = left_in(tmp_path / "m.json", "extra")
    assert one.n == 80
    assert "3 more" in one.says


TEXT = (FOLDER / "lgb-4.6.0-cat.txt").read_text()


@pytest.mark.parametrize(
    ("old", "new", "listed"),
    [
        ("version=v4\n", "version=v4\nrows=33;ill\n", ("extra", "the head.rows", 10)),
        ("\nnum_leaves=", "\nrows=33;ill\nnum_leaves=", ("extra", "Tree[*].rows", 10)),
        ("\nis_linear=0\n", "\nis_linear=0\nleaf_coeff=3 5\n", ("extra", "Tree[*].leaf_coeff", 13)),
        ("\nend of trees", "\nend of trees\n33;ill", ("extra", "behind the trees", 6)),
        ("\nparameters:", "\nparameters:\n[by: Ann]", ("notes", "parameters.by", 5)),
        ("\nparameters:", f"\nparameters:\n[by: {'Ann' * 99}]", ("extra", "parameters.by", 299)),
        ("\npandas_categorical:", "\npandas_categorical:33\npandas_categorical:",
         ("extra", "behind the trees", 21)),
    ],
)  # fmt: skip
def test_unknown_lines_of_lightgbm_are_listed_by_path_and_size(tmp_path, old, new, listed) -> None:
    assert old in TEXT
    (tmp_path / "m.txt").write_text(TEXT.replace(old, new, 1))
    assert [
        (one.kind, one.where, one.n) for one in left_in(tmp_path / "m.txt", "extra", "notes")
    ] == [listed]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("version=v4\n", "version=v4\nversion=v4\n", "'version' twice"),
        ("\nnum_leaves=", "\nnum_leaves=3\nnum_leaves=", "'num_leaves' twice"),
    ],
)
def test_lines_that_stand_twice_are_refused(tmp_path, old, new, why) -> None:
    (tmp_path / "m.txt").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(ReadError, match=why):
        ta.load(tmp_path / "m.txt")


def test_sizes_that_lead_to_other_trees_are_refused(tmp_path) -> None:
    """LightGBM reads its trees where the sizes say that they begin."""
    (line,) = (line for line in TEXT.split("\n") if line.startswith("tree_sizes="))
    first, *others = line.partition("=")[2].split()
    both = str(int(first) + int(others[0]))
    text = TEXT.replace(line, f"tree_sizes=0 {both} {' '.join(others[1:])}")
    (tmp_path / "m.txt").write_text(text)
    with pytest.raises(ReadError, match="other trees"):
        ta.load(tmp_path / "m.txt")


@pytest.mark.parametrize(
    ("path", "where"),
    [
        (("rows",), "rows"),
        (("tree_info", 0, "rows"), "tree_info[*].rows"),
        (("tree_info", 0, "tree_structure", "left_child", "rows"),
         "tree_info[*].tree_structure.left_child.rows"),
    ],
)  # fmt: skip
def test_unknown_fields_of_a_lightgbm_dump(tmp_path, path, where) -> None:
    planted("lgb-4.0.0-train.json", tmp_path, *path, value=[33, 54])
    found = [one for one in ta.load(tmp_path / "m.json").extras.found if one.kind == "extra"]
    assert [(one.where, one.n) for one in found] == [(where, 20)]
