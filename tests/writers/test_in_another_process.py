"""Every kind that is written, loaded where there is no treeaudit, answers as its `Forest`.

``TREEAUDIT_ROWS`` says about how many people the models are asked.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostRegressor

import treeaudit as ta
from tests.writers.by_hand import answers
from tests.writers.kinds import cases, fit, id_of, others
from treeaudit.defenses import Defense, MergeSiblings, Strip
from treeaudit.writers import to_estimator

pytestmark = pytest.mark.slow

ROWS = int(os.environ.get("TREEAUDIT_ROWS", "300"))
CASES = list(cases())

PROGRAM = """
import pickle, sys
from pathlib import Path

sys.modules["treeaudit"] = None
import joblib
import numpy as np

folder = Path(sys.argv[1])
said = {}
for path in sorted(folder.glob("model-*")):
    model = joblib.load(path) if path.suffix == ".joblib" else pickle.loads(path.read_bytes())
    rows = np.load(folder / f"rows-{path.name.split('-')[1]}.npy")
    for method in sys.argv[2:]:
        if hasattr(model, method):
            answer = getattr(model, method)(rows)
            answer = answer.toarray() if hasattr(answer, "toarray") else answer
            said[f"{path.name} {method}"] = answer
np.savez(folder / "said.npz", **said)
"""
METHODS = ("predict", "predict_proba", "decision_function", "score_samples", "transform")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A model, and what its file said in the other process."""

    fitted: Any
    forest: ta.Forest
    rows: np.ndarray
    said: dict[str, np.ndarray]


def repair_of(model) -> Defense:
    # Rows that were drawn and copied are not people: there are no sizes to merge by.
    copied = isinstance(model, AdaBoostRegressor)
    return Strip() if copied else MergeSiblings(min_leaf=8)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    """Every model as it is in a pickle, and repaired in a joblib file; one process for all."""
    folder: Path = tmp_path_factory.mktemp("elsewhere")
    models = {}
    for i, (model, data) in enumerate(CASES):
        fitted = fit(model, data)
        forest = ta.load(fitted)
        rows = others(data, ROWS)
        np.save(folder / f"rows-{i}.npy", rows)
        for name, made in (
            (f"model-{i}-as-it-is.pkl", forest),
            (f"model-{i}-repaired.joblib", repair_of(model).apply(forest)),
        ):
            ta.save(made, folder / name)
            models[name] = (fitted, made, rows)
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", PROGRAM, str(folder), *METHODS],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    with np.load(folder / "said.npz") as file:
        every = {name: file[name] for name in file.files}
    return {
        name: Told(
            fitted=fitted,
            forest=forest,
            rows=rows,
            said={m: every[f"{name} {m}"] for m in METHODS if f"{name} {m}" in every},
        )
        for name, (fitted, forest, rows) in models.items()
    }


every_case = pytest.mark.parametrize("case", range(len(CASES)), ids=[id_of(*c) for c in CASES])
both = pytest.mark.parametrize("state", ["as-it-is.pkl", "repaired.joblib"])


def dense(answer) -> np.ndarray:
    return answer.toarray() if hasattr(answer, "toarray") else answer


@pytest.mark.sampled(2)
@every_case
@both
def test_as_the_forest(case: int, state: str, told) -> None:
    one = told[f"model-{case}-{state}"]
    method, expected = answers(one.forest, one.fitted, one.rows)
    if expected.dtype.kind not in "fc":
        assert np.array_equal(one.said[method], expected)
        return
    assert np.allclose(one.said[method], expected, rtol=1e-12, atol=1e-12)
    if method == "predict_proba":
        # Which of two equal shares is the answer hangs on the last bit.
        clear = np.diff(np.sort(expected, axis=1)[:, -2:], axis=1)[:, 0] > 1e-9
        labels = one.fitted.classes_[expected.argmax(axis=1)]
        assert np.array_equal(one.said["predict"][clear], labels[clear])


@pytest.mark.sampled(2)
@every_case
def test_as_the_model_that_was_fitted(case: int, told) -> None:
    one = told[f"model-{case}-as-it-is.pkl"]
    for method, answer in one.said.items():
        expected = dense(getattr(one.fitted, method)(one.rows))
        if method == "predict":
            assert np.array_equal(answer, expected)
        else:
            assert np.allclose(answer, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.sampled(2)
@every_case
@both
def test_as_in_this_process(case: int, state: str, told) -> None:
    one = told[f"model-{case}-{state}"]
    made = to_estimator(one.forest)
    for method, answer in one.said.items():
        expected = dense(getattr(made, method)(one.rows))
        if expected.dtype.kind == "f":
            assert np.allclose(answer, expected, rtol=1e-12, atol=1e-12)
        else:
            assert np.array_equal(answer, expected)
