import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.private_tables.cells import Cell, Score, forget, keep, mend, scores_in
from benchmarks.private_tables.folds import split_of
from benchmarks.private_tables.models import RUNNERS, module_of
from benchmarks.private_tables.models.model import Model
from benchmarks.private_tables.run import fold, measure, wanted
from benchmarks.private_tables.scoring import accuracy_and_auc, in_order
from benchmarks.private_tables.summary import Results, contests, most_ahead
from benchmarks.private_tables.worker import measured
from benchmarks.private_trees_data import Table
from tests.trainers.people import CLASSIFIERS
from treeaudit.model.schema import Feature, Schema

SCORE = Score(accuracy=0.5, auc=0.5, seconds=0.1, by="us 1")


def tiny() -> Table:
    rng = np.random.default_rng(0)
    colour = rng.choice(["blue", "red"], 60)
    size = rng.random(60)
    features = (
        Feature(name="colour", categories=("blue", "red")),
        Feature(name="size", low=float(size.min()), high=float(size.max())),
    )
    y = np.where(colour == "red", "yes", np.where(size > 0.5, "no", "perhaps")).astype(object)
    schema = Schema(features=features, classes=("no", "perhaps", "yes"))
    return Table(pd.DataFrame({"colour": colour, "size": size}), y, schema)


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_without_repeating(tmp_path) -> None:
    scores = tmp_path / "scores.jsonl"
    classes = {"tiny": fold(tiny(), 2, tmp_path / "tiny.npz")}
    pythons = {"baselines": Path(sys.executable)}
    cells = wanted(classes, 2, pythons)
    assert len(cells) == 2 * (4 + 3)

    measure(cells[:9], pythons, tmp_path, scores, 2)
    lines = scores.read_bytes().splitlines(keepends=True)
    kept, cut = b"".join(lines[:-2]), lines[-2][:20]
    scores.write_bytes(kept + cut)

    measure(cells, pythons, tmp_path, scores, 2)
    assert scores.read_bytes().startswith(kept)
    assert len(scores.read_text().splitlines()) == len(cells)
    assert set(scores_in(scores)) == set(cells)
    assert not any(score.failed for score in scores_in(scores).values())

    whole = scores.read_bytes()
    measure(cells, pythons, tmp_path, scores, 1)
    assert scores.read_bytes() == whole


def test_every_trainer_is_measured_and_two_classes_are_kept_to() -> None:
    cells = wanted({"two": 2, "three": 3}, 1, RUNNERS)
    assert {trainer.algorithm for trainer in CLASSIFIERS} <= {cell.model for cell in cells}
    assert [c.epsilon for c in cells if (c.table, c.model) == ("two", "dp-ebm")] == [0.1, 0.5, 1, 2]
    assert not any((c.table, c.model) == ("three", "dp-ebm") for c in cells)
    assert len(set(cells)) == len(cells)


def test_ours_answer_in_the_order_of_the_classes(tmp_path) -> None:
    fold(tiny(), 1, tmp_path / "tiny.npz")
    split = split_of(tmp_path / "tiny.npz", 0)
    assert (len(split.X), len(split.unseen)) == (48, 12)
    for model in module_of(RUNNERS["treeaudit"]).MODELS.values():
        predicted, shares = model.answers(split, 100.0)
        assert shares.shape == (12, 3)
        assert set(predicted) <= {0, 1, 2}
    score = measured(module_of(RUNNERS["treeaudit"]).MODELS["private-tree"], split, 100.0, "us")
    assert score.failed is None
    assert score.auc > 0.6


def test_a_fit_that_fails_is_a_result_and_a_missing_library_is_none(tmp_path) -> None:
    fold(tiny(), 1, tmp_path / "tiny.npz")
    split = split_of(tmp_path / "tiny.npz", 0)

    def raises(error):
        def answers(split, epsilon):
            raise error

        return Model(answers=answers, title="x")

    assert measured(raises(ValueError("no")), split, 1.0, "x").failed == "ValueError: no"
    with pytest.raises(ImportError):
        measured(raises(ImportError("no")), split, 1.0, "x")
    nothing = Model(answers=lambda s, e: (s.truth, np.full((12, 3), np.nan)), title="x")
    assert measured(nothing, split, 1.0, "x").accuracy is None


def test_the_file_keeps_whole_lines_and_forgets_a_model(tmp_path) -> None:
    file = tmp_path / "scores.jsonl"
    a, b = Cell("t", 0, "a", 0.1), Cell("t", 0, "b", None)
    for cell in (a, b):
        keep(file, cell, SCORE)
    with file.open("a") as out:
        out.write('{"table": "t", "se')
    mend(file)
    assert scores_in(file) == {a: SCORE, b: SCORE}
    forget(file, ["a"])
    assert scores_in(file) == {b: SCORE}


def scored(by_model: dict[str, list[float | None]], epsilon: float) -> dict[Cell, Score]:
    """Give a model its accuracies by seed; the areas are the same. None is a fit that failed."""
    return {
        Cell("t", seed, model, epsilon): Score(accuracy=v, auc=v, seconds=0, by="x")
        for model, values in by_model.items()
        for seed, v in enumerate(values)
    }


def test_counting() -> None:
    results = Results(
        scored({"a": [0.5, 0.7, 0.6], "b": [0.9, 0.1, 0.2], "p": [0.6] * 3}, 0.1)
        | scored({"a": [0.5], "b": [0.8], "p": [0.7], "q": [0.9, 0.9]}, 0.5)
        | scored({"a": [0.9, 0.9, None], "b": [0.1] * 3, "p": [0.9]}, 1.0)
        | scored({"a": [None], "b": [0.4], "q": [0.3]}, 2.0)
    )
    single = {name: contests(results, ["t"], [name], ["p", "q"]) for name in "ab"}
    assert [c.won for c in single["a"] if c.metric == "auc"] == [True, False, True, False]
    assert [c.won for c in single["b"] if c.metric == "auc"] == [False, False, False, True]
    assert most_ahead(single) == "a"
    best = [c for c in contests(results, ["t"], ["a", "b"], ["p", "q"]) if c.metric == "accuracy"]
    assert [(c.ours, c.theirs, c.won) for c in best] == [
        ("a", "p", True),
        ("b", "q", False),
        ("a", "p", True),
        ("b", "q", True),
    ]
    assert best[1].to_reach - best[1].reached == pytest.approx(0.1)
    assert contests(results, ["t"], ["a"], ["nobody"]) == []


def test_areas_are_of_the_classes_that_are_met() -> None:
    shares = in_order(np.array([[0.7, 0.3], [0.2, 0.8], [0.6, 0.4]]), np.array([2, 0]), 4)
    assert shares.tolist() == [[0.3, 0, 0.7, 0], [0.8, 0, 0.2, 0], [0.4, 0, 0.6, 0]]
    truth = np.array([2, 0, 0])
    assert accuracy_and_auc(truth, truth, shares) == (1.0, 1.0)
