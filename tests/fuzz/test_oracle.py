"""A short run of the oracle, and what the oracle itself can see."""

import os
import pickle
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fuzz.genuine import seeds
from tests.fuzz.mutants import Mutator, joined, pieces_of, values_of
from tests.hostile import build
from tests.systems import POSIX
from treeaudit import load

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def stored() -> list[bytes]:
    return seeds()


@pytest.fixture(scope="module")
def small() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    x = np.arange(40.0).reshape(20, 2) % 11
    return DecisionTreeClassifier(max_depth=2, random_state=0).fit(x, x[:, 0] > 4)


def test_files_are_taken_apart_and_put_together(stored: list[bytes]) -> None:
    apart = [(data, pieces_of(data)) for data in stored]
    assert sum(bool(pieces) for _, pieces in apart) >= 7 * 8
    for data, pieces in apart:
        if pieces:
            assert b"".join(piece.raw + piece.rest for piece in pieces) == data
            assert len(joined(pieces)) == len(data)
            begin, end = values_of(pieces)[-1]
            assert end == len(pieces) - 1
            # joblib keeps an array of objects as a pickle within.
            joblib = any("NumpyArrayWrapper" in str(piece.arg) for piece in pieces)
            assert begin <= 2 or joblib


def test_mutants_are_repeated_by_their_seed(stored: list[bytes]) -> None:
    one, two = Mutator(stored, 5), Mutator(stored, 5)
    assert [one.make() for _ in range(15)] == [two.make() for _ in range(15)]


@POSIX
def test_a_difference_is_seen(small: Any) -> None:
    from tests.fuzz.oracle import compared

    data, forest = pickle.dumps(small), load(small)
    assert compared(data, forest) == "equal"
    tree = forest.trees[0]
    counts = np.array(tree.counts)[:, ::-1]
    for changed, said in (
        (replace(tree, high=np.array(tree.high) + 1), "an edge"),
        (replace(tree, counts=counts), "class counts"),
        (replace(tree, n_records=np.array(tree.n_records) + 1), "people per node"),
    ):
        assert said in compared(data, replace(forest, trees=(changed,)))
    assert "2 trees" in compared(pickle.dumps({"a": small, "b": pickle.loads(data)}), forest)
    other = replace(forest.schema, classes=("a", "b"))
    assert "classes" in compared(data, replace(forest, schema=other))
    small = pickle.loads(data)
    small.predict = "x"
    assert "the method predict" in compared(pickle.dumps(small), forest)


@POSIX
def test_an_array_of_joblib_that_ends_for_pickle_is_no_difference(tmp_path: Path) -> None:
    from tests.fuzz.oracle import compared

    texts, objects = np.array(["no", "yes"], object), np.dtype("O")
    inner = build.stored(build.late_array((2,), objects, texts.tolist()))
    array = build.joblib_array(inner, objects, (2,))
    data = build.PROTO + build.MARK + array + build.model() + b"t" + build.STOP
    assert pickle.loads(data).tolist() == ["no", "yes"]
    path = tmp_path / "model"
    path.write_bytes(data)
    forest = load(path)
    assert compared(data, forest) == "equal"
    other = replace(forest, trees=(replace(forest.trees[0], high=forest.trees[0].high + 1),))
    assert "joblib" in compared(data, other)


@POSIX
def test_a_classifier_whose_shares_are_not_told_is_asked_for_none(small: Any) -> None:
    from tests.fuzz.oracle import answers_differ

    alone = pickle.loads(pickle.dumps(small)).fit(np.zeros((20, 2)), np.full(20, 7))
    alone.monotonic_cst = False
    forest = load(alone)
    assert forest.counts_are == "absent"
    assert answers_differ(alone, forest, print) == ""


@POSIX
@pytest.mark.parametrize(
    "act",
    [
        lambda: os.system("true"),
        lambda: subprocess.run(["true"], check=False),
        lambda: Path("treeaudit-oracle").write_text("x"),
        lambda: socket.create_connection(("127.0.0.1", 9)),
        lambda: os.fork(),
        lambda: exec("1"),
        lambda: (sys.modules.pop("pluggy"), __import__("pluggy")),
    ],
)
def test_the_sandbox_stops(act: Callable[[], object]) -> None:
    from tests.fuzz.sandbox import sandboxed

    def tried(say: Callable[[str], None]) -> None:
        say("began")
        act()
        say("went on")

    said = sandboxed(tried)
    assert said[0] == "began"
    assert said[1].startswith("stopped")
    assert len(said) == 2


@POSIX
def test_a_crash_is_told() -> None:
    from tests.fuzz.sandbox import sandboxed

    assert sandboxed(lambda say: signal.raise_signal(signal.SIGKILL)) == ["died -9"]
    assert sandboxed(lambda say: [0] * (1 << 32)) == ["died 1"]


def _outcomes(module: str, mutants: int) -> Counter[str]:
    """Run in a process of its own: forks of one with threads may wait for each other."""
    command = (sys.executable, "-m", f"tests.fuzz.{module}", "--mutants", str(mutants))
    done = subprocess.run(
        [*command, "--seed", "20"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split(": ") for line in done.stdout.splitlines()[1:]]
    return Counter({name: int(n) for name, n in lines})


@pytest.mark.slow
@POSIX
def test_what_is_read_is_what_is_loaded() -> None:
    n = _outcomes("oracle", 60)
    assert {name for name in n if "genuine" in name} == {"genuine equal"}
    assert set(n) >= {"instruction equal", "instruction refused"}
    assert n.total() - n["genuine equal"] == 60


@pytest.mark.slow
@pytest.mark.libraries
@POSIX
def test_other_libraries_load_what_is_read() -> None:
    n = _outcomes("oracle_formats", 10)
    assert {name.split()[-1] for name in n if "genuine" in name} <= {"equal"}
    assert sum(count for name, count in n.items() if "genuine" not in name) % 10 == 0


def test_a_step_that_works_in_place_is_no_difference(tmp_path: Path) -> None:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    from tests.fuzz.oracle import answers_differ

    x = np.random.default_rng(0).uniform(0, 9, (60, 3))
    steps = make_pipeline(StandardScaler(copy=False), DecisionTreeClassifier(max_depth=2))
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(steps.fit(x.copy(), x[:, 0] > 4)))
    said: list[str] = []
    assert answers_differ(steps, load(path), said.append) == ""
    assert said == ["answering"]
