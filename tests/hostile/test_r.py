"""R files that were made to hurt: one sentence each, whatever they announce."""

import gzip
import os
import random
from contextlib import suppress
from pathlib import Path

import pytest

from tests.readers.r.build import NULL, X
from treeaudit import ModelTooLargeError, ReadError, TreeauditError, load
from treeaudit.readers.inspect import describe

HEAD = X.file(X.ints(NULL))[:-4]
FOLDER = Path(os.environ.get("TREEAUDIT_MODELS", "")) / "r"


@pytest.mark.parametrize(
    "step",
    [
        X.ints(19, 1),  # A list in a list
        X.ints(2),  # A pairlist in its own first cell
        X.ints(6),
        X.ints(3 | 1024),  # A function whose environment is a function
        X.ints(13 | 512, 0, 2),  # Attributes of attributes
        X.ints(4, 0),  # An environment in an environment
        X.ints(22),
        X.ints(238),
    ],
)
def test_a_million_objects_in_one_another(tmp_path, step: bytes) -> None:
    path = tmp_path / "m.rds"
    path.write_bytes(gzip.compress(HEAD + step * 1_000_000, 1))
    with pytest.raises(ModelTooLargeError, match="more than 10,000 R objects in one another"):
        load(path)


@pytest.mark.parametrize(
    "data",
    [
        X.ints(21, 1) + X.ints(NULL, 1, 21) * 20_000,  # Compiled code in compiled code
        X.ints(21, 1, NULL, 1) + X.ints(6, NULL) * 20_000,
        X.ints(21, 1, NULL, 1, 243, 7),
        X.ints(19, 2**31 - 1),
        X.ints(16, -1, 2**20, 0),
        X.ints(10, 2**31 - 1),
        X.ints(19, 1, 255, 2**31 - 1),
        X.ints(249, 1),
        X.ints(249, 0, -5),
        X.ints(7, 2**31 - 1),
        X.ints(0),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, data: bytes) -> None:
    path = tmp_path / "m.rds"
    path.write_bytes(HEAD + data)
    with pytest.raises(ReadError) as raised:
        load(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "data",
    [
        X.ints(19, 25_000_000) + X.ints(NULL) * 25_000_000,
        X.ints(16, 10_000_000) + X.text("a") * 10_000_000,
    ],
    ids=["list", "texts"],
)
@pytest.mark.slow
def test_a_bomb_is_refused(tmp_path, data: bytes) -> None:
    path = tmp_path / "m.rds"
    path.write_bytes(gzip.compress(HEAD + data, 1))
    with pytest.raises(ModelTooLargeError):
        load(path)


@pytest.mark.slow
def test_long_lists_and_deep_ones_are_shown(tmp_path) -> None:
    path = tmp_path / "m.rds"
    for data in ((X.ints(2) + X.of([1])) * 100_000 + X.ints(NULL), X.ints(19, 1) * 9_000):
        path.write_bytes(HEAD + data + X.ints(NULL) * (data[-4:] != X.ints(NULL)))
        assert describe(path).no_model is not None


def test_an_environment_that_holds_itself(tmp_path) -> None:
    path = tmp_path / "m.rds"
    path.write_bytes(X.file(X.environment({"self": X.ints(255 | 1 << 8)})))
    assert describe(path).outline is not None


SEEDS = ["rpart_min.rds", "party_cforest.rds", "model_ascii.RData", "closure_bytecode.rds"]


@pytest.mark.skipif(not FOLDER.is_dir(), reason="TREEAUDIT_MODELS names no files of R")
@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(40))
def test_mutants_are_read_or_refused(tmp_path, seed: int) -> None:
    draw = random.Random(seed)
    stored = (FOLDER / draw.choice(SEEDS)).read_bytes()
    data = bytearray(gzip.decompress(stored) if stored[:2] == b"\x1f\x8b" else stored)
    for _ in range(draw.choice((1, 1, 2, 8))):
        at = draw.randrange(len(data))
        match draw.randrange(4):
            case 0:
                data[at] = draw.randrange(256)
            case 1:
                data[at : at + 4] = X.ints(draw.choice((-1, 0, 1, 19, 255, 2**31 - 1, -(2**31))))
            case 2:
                del data[at : at + draw.choice((1, 4, 64))]
            case 3:
                data[at:at] = data[at : at + draw.choice((4, 64))]
    path = tmp_path / "m.rds"
    path.write_bytes(bytes(data))
    with suppress(TreeauditError):
        describe(path)
