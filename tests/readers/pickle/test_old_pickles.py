"""Genuine files of old libraries that were once taken for forged ones."""

from pathlib import Path

import pytest

from tests.outcome import read_whole, refusal
from treeaudit import UnsafeModelError, UnsupportedModelError

GENUINE = Path(__file__).parents[1] / "genuine_tables"


@pytest.mark.parametrize(
    ("name", "n_trees"),
    [
        ("boosting-0.18-python2.joblib", 3),
        ("boosting-0.18-python3.pkl", 3),
        ("boosting-0.20-python2.pkl", 2),
        ("boosting-0.20-python3.pkl", 3),
    ],
)
def test_the_random_state_of_old_numpy_has_a_state_of_its_own(name: str, n_trees: int) -> None:
    """`GradientBoosting` of scikit-learn before 0.21 keeps its random generator."""
    assert read_whole(GENUINE / name).n_trees == n_trees


@pytest.mark.parametrize("kind", ["0.18", "0.19", "thirds", "tuples"])
def test_numbers_may_look_like_a_text_that_ends_behind_them(kind: str) -> None:
    """joblib of old wrote no number of bytes in front of an array, and a third is ``UUUU``."""
    assert read_whole(GENUINE / f"grid-{kind}-python2.joblib").n_trees


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("posix", "system"),
        ("os", "popen2"),
        ("commands", "getoutput"),
        ("__builtin__", "eval"),
        ("__builtin__", "execfile"),
        ("__builtin__", "apply"),
        ("__builtin__", "input"),
        ("urllib2", "urlopen"),
        ("popen2", "popen3"),
        ("cPickle", "loads"),
        ("copy_reg", "add_extension"),
        ("new", "function"),
    ],
)
def test_what_runs_code_in_python_2_is_unsafe(module: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(f"c{module}\n{name}\n(S'id'\ntR.".encode())
    assert type(refusal(path)) is UnsafeModelError


@pytest.mark.parametrize(
    "data",
    [
        b"(i__builtin__\nset\n.",
        b"c__builtin__\nset\n((lp0\nI1\natR.",
        b"c__builtin__\nxrange\n(I0\nI3\nI1\ntR.",
        b"ccopy_reg\n_reconstructor\n(cnumpy\nndarray\nc__builtin__\nobject\nNtR.",
        b"S'abc\\xe9'\np0\n.",
        b"(dp0\nS'a'\nL5L\ns.",
    ],
    ids=repr,
)
def test_other_things_of_python_2_are_named(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(data)
    assert type(refusal(path)) is UnsupportedModelError
