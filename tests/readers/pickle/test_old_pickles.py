"""Genuine files of old libraries that were once taken for forged ones."""

from pathlib import Path

import pytest

from tests.outcome import read_whole

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
