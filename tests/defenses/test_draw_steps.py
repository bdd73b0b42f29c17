"""Steps of boosting from draws: what is left to solve, and what the file says of it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import nnls
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier

import treeaudit as ta
from treeaudit.defenses import DrawSteps, MergeSiblings, Strip
from treeaudit.errors import DataError
from treeaudit.inference.scope import draws_samples
from treeaudit.writers import to_estimator

RNG = np.random.default_rng(3)
X = RNG.integers(0, 2, (500, 6)).astype(float)
Y = (RNG.random(500) < 0.15 + 0.35 * X[:, 0] + 0.35 * X[:, 1] * X[:, 2]).astype(int)
CELLS = np.unique(X, axis=0)


def boosted(rounds: int = 40) -> GradientBoostingClassifier:
    return GradientBoostingClassifier(n_estimators=rounds, max_depth=3, random_state=0).fit(X, Y)


def safe(model: GradientBoostingClassifier) -> GradientBoostingClassifier:
    return to_estimator(DrawSteps(values=X, labels=Y).apply(ta.load(model)))


def given_back(model: GradientBoostingClassifier) -> tuple[float, float]:
    """Solve the leaves for how many people of each label are in each cell, without our code.

    Returns how far the best fit is off, and the share of the table that it is.
    """
    score = np.full(len(CELLS), float(model._raw_predict_init(CELLS[:1])[0, 0]))
    rows, told = [], []
    for (tree,) in model.estimators_:
        p, leaf = 1 / (1 + np.exp(-score)), tree.apply(CELLS)
        value = tree.tree_.value[:, 0, 0]
        for one in np.unique(leaf):
            here, h = leaf == one, p * (1 - p)
            # The step is the sum of residuals over the sum of curvatures.
            rows.append(np.r_[(-p - value[one] * h) * here, (1 - p - value[one] * h) * here])
            told.append(0.0)
        score = score + model.learning_rate * value[leaf]
    rows.append(np.ones(2 * len(CELLS)))
    told.append(500.0)
    found, off = nnls(np.array(rows), np.array(told), maxiter=20_000)
    cell = {tuple(one): i for i, one in enumerate(CELLS.tolist())}
    true = np.zeros(2 * len(CELLS))
    np.add.at(
        true, [cell[tuple(x)] + y * len(CELLS) for x, y in zip(X.tolist(), Y, strict=True)], 1
    )
    return float(off), float(np.minimum(np.rint(found), true).sum() / 500)


def test_least_squares_fits_the_leaves_no_more() -> None:
    model = boosted(120)
    off, right = given_back(model)
    assert off < 1e-6
    assert right > 0.7
    off, right = given_back(safe(model))
    assert off > 10
    assert right < 0.6


def test_the_answers_stay_nearly_as_right() -> None:
    model = boosted()
    assert safe(model).score(X, Y) > model.score(X, Y) - 0.05


def test_no_count_is_left_and_the_model_says_that_its_steps_are_of_draws() -> None:
    forest = DrawSteps(values=X, labels=Y, share=0.4).apply(ta.load(boosted(5)))
    assert all(tree.counts is None and tree.n_records is None for tree in forest.trees)
    assert draws_samples(forest)
    written = ta.load(to_estimator(forest))
    assert draws_samples(written)
    assert written.source.parameters["subsample"] == 0.4
    report = ta.scan(written, train=(X, Y))
    check = {one.name: one for one in report.checks}["max-certified-people"]
    assert "nobody tells who was drawn" in check.reason


def _newton():
    from treeaudit.people.predict.newton_steps import newton_of

    forest = ta.load(boosted(4))
    return newton_of(forest, forest.apply(X), Y)


def test_what_cannot_be_drawn_anew_is_refused() -> None:
    model = GradientBoostingClassifier(n_estimators=3, loss="exponential")
    with pytest.raises(DataError, match="do not follow"):
        ta.defend(model.fit(X, Y), method="draw-steps", train=(X, Y))


def test_it_asks_for_people() -> None:
    with pytest.raises(DataError, match="give it with --train"):
        ta.defend(boosted(3), method="draw-steps")


def test_a_file_that_only_says_so_is_found_out() -> None:
    model = boosted(20)
    model.subsample = 0.5
    checks = {one.name: one for one in ta.scan(model, train=(X, Y)).checks}
    assert checks["max-certified-people"].status != "not-applicable"
    report = ta.scan(model, train=(X, Y))
    assert any("but they follow from all of the training people" in one for one in report.warnings)
    drawn = GradientBoostingClassifier(n_estimators=20, subsample=0.5).fit(X, Y)
    report = ta.scan(drawn, train=(X, Y))
    checks = {one.name: one for one in report.checks}
    assert checks["max-certified-people"].status == "skipped"
    assert any("with all their digits" in one for one in report.warnings)


@pytest.mark.parametrize(
    ("stated", "drawn"),
    [
        ({"subsample": 0.5}, True),
        ({"subsample": 0.999}, False),
        ({"subsample": 1.0}, False),
        ({"bagging_fraction": "0.5", "bagging_freq": "1"}, True),
        # All trees may be of the same half.
        ({"bagging_fraction": "0.5", "bagging_freq": "100"}, False),
        ({"bagging_fraction": "0.5", "bagging_freq": "0"}, False),
        ({"subsample": "half"}, False),
        ({}, False),
    ],
)
def test_what_a_file_says_of_its_draws(stated, drawn) -> None:
    from dataclasses import replace

    forest = ta.load(boosted(3))
    source = replace(forest.source, parameters=stated)
    assert draws_samples(replace(forest, source=source)) is drawn


def few() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(80, 3))
    return x, (rng.random(80) < 0.5 + 0.2 * np.sign(x[:, 0])).astype(int)


def cases_that_fit() -> int:
    """Count leaves of the first tree of which a draw of so many people and labels fits the step."""
    x, y = few()
    model = GradientBoostingClassifier(
        n_estimators=2, max_depth=4, min_samples_leaf=4, random_state=0
    ).fit(x, y)
    (tree,), p, fit = safe_of(model, x, y).estimators_[0], y.mean(), 0
    leaf, value = tree.apply(x), tree.tree_.value[:, 0, 0]
    for one in np.unique(leaf):
        n, c = np.meshgrid(np.arange(1, (leaf == one).sum() + 1), np.arange(81))
        steps = (c - n * p) / (n * p * (1 - p))
        fit += bool((np.abs(steps - value[one]) < 1e-9).any())
    return fit


def safe_of(model, x, y):
    return to_estimator(DrawSteps(values=x, labels=y).apply(ta.load(model)))


def test_no_cover_of_xgboost_tells_what_steps_were(tmp_path) -> None:
    import json

    xgboost = pytest.importorskip("xgboost")
    xgboost.XGBClassifier(n_estimators=6, n_jobs=1).fit(X, Y).save_model(tmp_path / "model.json")
    forest = ta.load(tmp_path / "model.json")
    ta.save(DrawSteps(values=X, labels=Y).apply(forest), tmp_path / "safe.json")
    learner = json.loads((tmp_path / "safe.json").read_text())["learner"]
    for tree in learner["gradient_booster"]["model"]["trees"]:
        assert not any(tree["sum_hessian"])
        assert not any(tree["base_weights"])
        assert any(tree["split_conditions"])


def test_histogram_boosting_shows_its_draws_to_whoever_has_the_people(tmp_path) -> None:
    x = np.random.default_rng(0).normal(size=(600, 4))
    y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)
    grown = HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=20).fit(x, y)
    forest, people = ta.load(grown), pd.DataFrame(x).assign(y=y)
    joint = ta.Policy(name="joint", values={"max-certified-people": 0, "min-leaf": 5})

    def status(model) -> list[str]:
        report = ta.scan(model, train=people, target="y", policy=joint)
        return [one.status for one in report.checks]

    path = ta.save(DrawSteps(values=x, labels=y, trial=0).apply(forest), tmp_path / "safe.pkl")
    made = pickle.loads(path.read_bytes())
    for (one,) in made._predictors:
        assert not one.nodes["count"].any()
        assert not one.nodes["gain"].any()
    assert status(path) == ["not-applicable", "pass"]
    # Steps of everybody, or of merged leaves, are of no draws, though no leaf says how many it has.
    for repair in (Strip(), MergeSiblings(min_leaf=25), MergeSiblings(min_leaf=60)):
        changed = ta.save(Strip().apply(repair.apply(forest)), tmp_path / "none.pkl", force=True)
        assert status(changed)[0] == "skipped"
