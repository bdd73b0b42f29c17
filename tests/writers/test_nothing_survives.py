"""Nothing of what was removed is in the bytes that are written, packed or unpacked."""

import bz2
import gzip
import io
import lzma
import pickle
import struct
import zipfile
import zlib

import numpy as np
import pytest
from sklearn.ensemble import (
    IsolationForest,
    RandomForestClassifier,
    RandomTreesEmbedding,
    VotingClassifier,
)
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.systems import LINKS
from treeaudit.defenses import LabelsOnly, MergeSiblings, PruneLeaves, RoundCounts, Strip
from treeaudit.repair.attempts import applied
from treeaudit.writers import WRITERS

SKOPS = pytest.param(".skops", marks=pytest.mark.libraries)
THRESHOLD = 7391.53125
COUNT = 61657
SEED = 1_928_374_655
LABEL = "marked-label-of-one"


def layers(data: bytes) -> list[bytes]:
    """The bytes themselves, and all that unpacks out of them."""
    found = [data]
    for unpack in (gzip.decompress, zlib.decompress, bz2.decompress, lzma.decompress):
        try:
            found.append(unpack(data))
        except (OSError, zlib.error, lzma.LZMAError, EOFError):
            continue
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found += [archive.read(name) for name in archive.namelist()]
    return found


def marks(*values: object) -> list[bytes]:
    """How a value can stand in a file: as text, and as every number type."""
    forms: list[bytes] = []
    for value in values:
        forms.append(str(value).encode())
        if isinstance(value, int):
            forms += [struct.pack(code, value) for code in ("<i", ">i", "<q", ">q", "<d", ">d")]
        elif isinstance(value, float):
            forms += [struct.pack(code, value) for code in ("<d", ">d", "<f", ">f")]
    return forms


def holds(data: bytes, *values: object) -> list[bytes]:
    return [form for form in marks(*values) for layer in layers(data) if form in layer]


def model(kind: str):
    """A fitted tree or forest whose smallest leaf carries the marks."""
    rng = np.random.default_rng(0)
    x = np.zeros((400, 2))
    x[:, 0] = rng.normal(size=400)
    # One person beyond a threshold that nobody else is near.
    x[7] = [-1.0, 2 * THRESHOLD]
    label = np.where(x[:, 0] > 0, "a", "b").astype(object)
    label[7] = LABEL
    if kind == "tree":
        return DecisionTreeClassifier(random_state=SEED).fit(x, label)
    made = RandomForestClassifier(
        3, bootstrap=False, max_features=None, random_state=SEED, class_weight=None
    )
    return made.fit(x, label)


def stored_threshold(fitted) -> float:
    """The threshold that only the removed leaf needs."""
    tree = (fitted.estimators_[0] if hasattr(fitted, "estimators_") else fitted).tree_
    return float(tree.threshold.max())


@pytest.mark.parametrize("kind", ["tree", "forest"])
@pytest.mark.parametrize("suffix", [SKOPS if name == ".skops" else name for name in WRITERS])
def test_no_mark_of_a_merged_leaf_is_found(kind: str, suffix: str, tmp_path) -> None:
    if suffix == ".skops":
        pytest.importorskip("skops")
    fitted = model(kind)
    forest = ta.load(fitted)
    threshold = stored_threshold(fitted)
    assert threshold == THRESHOLD
    before = ta.save(forest, tmp_path / f"before{suffix}").read_bytes()
    assert holds(before, threshold), "the test must be able to find it"
    seeds = [SEED, *(e.random_state for e in getattr(fitted, "estimators_", []))]
    assert holds(pickle.dumps(fitted), *seeds)
    safe = ta.defend(forest, min_leaf=5)
    after = ta.save(safe, tmp_path / f"after{suffix}").read_bytes()
    assert not holds(after, threshold, *seeds)
    assert ta.scan(ta.load(tmp_path / f"after{suffix}"))["TA101"].details.min_leaf >= 5


def marked() -> ta.Forest:
    """A tree whose small leaf has a threshold, counts and a share of its own."""
    inf = np.inf
    tree = ta.Tree(
        parent=[-1, 0, 0, 2, 2],
        feature=[-1, 0, 0, 1, 1],
        low=[-inf, -inf, 1, -inf, THRESHOLD],
        high=[inf, 1, inf, THRESHOLD, inf],
        n_records=[200_000, 70_000, 130_000, 130_000 - COUNT, COUNT],
        counts=[
            [100_000, 100_000],
            [40_000, 30_000],
            [60_000, 70_000],
            [29_000, 130_000 - COUNT - 29_000],
            [31_000, COUNT - 31_000],
        ],
    )
    return ta.Forest(
        trees=(tree,),
        schema=ta.Schema.numeric(2, ["a", "b"]),
        source=ta.Source(
            estimator="DecisionTreeClassifier", parameters={"random_state": SEED, "max_depth": 9}
        ),
        n_records=200_000,
    )


@pytest.mark.parametrize("suffix", [".pkl", ".json", ".joblib", SKOPS])
@pytest.mark.parametrize(
    "repair",
    [
        MergeSiblings(min_leaf=COUNT + 1),
        PruneLeaves(min_leaf=COUNT + 1, unanswered="reject"),
        PruneLeaves(min_leaf=COUNT + 1, unanswered="parent"),
        Strip(),
        LabelsOnly(),
        RoundCounts(base=10),
    ],
    ids=lambda one: one.step,
)
def test_no_number_of_it_is_found(repair, suffix: str, tmp_path) -> None:
    if suffix == ".skops":
        pytest.importorskip("skops")
    rejects = isinstance(repair, PruneLeaves) and repair.unanswered == "reject"
    if rejects and suffix != ".json":
        pytest.skip("scikit-learn has no such tree")
    before = ta.save(marked(), tmp_path / f"before{suffix}").read_bytes()
    assert holds(before, COUNT)
    safe = applied(marked(), [repair])
    after = ta.save(safe, tmp_path / f"after{suffix}").read_bytes()
    assert not holds(after, COUNT, SEED)
    if isinstance(repair, MergeSiblings):
        assert not holds(after, THRESHOLD)
    if isinstance(repair, PruneLeaves):
        # Nor can it be told by subtraction: the numbers above are those of who is left.
        whole = 200_000 - COUNT
        tree = ta.load(tmp_path / f"after{suffix}").trees[0]
        assert tree.n_records[0] == whole
        assert not {200_000, 130_000} & set(tree.n_records.tolist())
        assert not holds(after, 200_000)


def test_a_label_of_nobody_is_still_a_class() -> None:
    """Which labels exist is part of what is predicted: it is said, and it stays."""
    safe = ta.defend(ta.load(model("tree")), min_leaf=5)
    assert LABEL in safe.schema.classes


def test_leftovers_beside_the_trees_are_gone(tmp_path) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    made = RandomForestClassifier(20, oob_score=True, random_state=SEED).fit(x, y)
    forest = ta.load(made)
    assert {one.kind for one in forest.extras.found} == {"out-of-bag", "seeds"}
    safe = ta.defend(forest, min_leaf=3)
    assert safe.extras.found == ()
    assert ta.load(ta.save(safe, tmp_path / "safe.pkl")).extras.found == ()


@LINKS
def test_the_input_is_never_written_over(tmp_path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model("tree")))
    safe = ta.defend(path, min_leaf=5)
    bytes_before = path.read_bytes()
    (tmp_path / "link.pkl").symlink_to(path)
    for target in (path, tmp_path / "link.pkl"):
        with pytest.raises(ta.DataError, match="is the model itself"):
            ta.save(safe, target, force=True)
    assert path.read_bytes() == bytes_before
    with pytest.raises(ta.DataError, match=r"written as \.json, \.pkl"):
        ta.save(safe, tmp_path / "model.txt")


@pytest.mark.parametrize(
    "made",
    [
        IsolationForest(n_estimators=3, random_state=SEED),
        RandomTreesEmbedding(3, random_state=SEED),
        VotingClassifier([("a", RandomForestClassifier(3, random_state=SEED))]),
    ],
    ids=lambda one: type(one).__name__,
)
def test_no_seed_of_a_forest_without_labels_or_of_a_voter(made, tmp_path) -> None:
    rng = np.random.default_rng(0)
    fitted = made.fit(rng.normal(size=(200, 3)), rng.integers(0, 2, 200))
    voters = fitted.estimators_ if isinstance(made, VotingClassifier) else [fitted]
    seeds = [SEED, *(tree.random_state for voter in voters for tree in voter.estimators_)]
    assert holds(pickle.dumps(fitted), *seeds)
    path = ta.save(ta.defend(ta.load(fitted), min_leaf=5), tmp_path / "safe.pkl")
    assert not holds(path.read_bytes(), *seeds)
    assert ta.load(path).extras.found == ()
