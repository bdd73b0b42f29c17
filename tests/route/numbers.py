"""Models that add up or predict numbers, and trees that were grown without labels."""

import numpy as np

from tests.route.rows import Drawn, draws, limits, of_trees, people, seen, values

__all__ = ["boosting", "histogram", "isolation", "regressor"]


def boosting(rng: np.random.Generator, answer: str) -> Drawn:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    rows, classifies = people(rng), answer == "label"
    kind = GradientBoostingClassifier if classifies else GradientBoostingRegressor
    model = kind(
        n_estimators=int(rng.integers(1, 5)), max_depth=int(rng.integers(1, 6)),
        min_samples_leaf=int(rng.choice([1, 3, 8])), random_state=int(rng.integers(1000)),
    ).fit(rows.features, getattr(rows, answer))  # fmt: skip
    trees = of_trees(list(model.estimators_.ravel()), rows.features, None)
    classes = np.unique(rows.label).tolist() if classifies else []
    return Drawn(model=model, people=rows, trees=trees, answer=answer, joint="boosted",
                 classes=classes)  # fmt: skip


def histogram(rng: np.random.Generator, answer: str) -> Drawn:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    rows, classifies = people(rng, gaps=bool(rng.integers(2))), answer == "label"
    kind = HistGradientBoostingClassifier if classifies else HistGradientBoostingRegressor
    model = kind(
        max_iter=int(rng.integers(1, 5)), min_samples_leaf=int(rng.choice([1, 4, 12])),
        early_stopping=False, random_state=int(rng.integers(1000)),
    ).fit(rows.features, getattr(rows, answer))  # fmt: skip
    each = [tree.nodes for one in model._predictors for tree in one]
    trees = [
        seen(_walk(nodes, values(rows.features)), n_leaves=int(nodes["is_leaf"].sum()))
        for nodes in each
    ]
    classes = np.unique(rows.label).tolist() if classifies else []
    return Drawn(model=model, people=rows, trees=trees, answer=answer, joint="boosted",
                 classes=classes)  # fmt: skip


def _walk(nodes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Route rows through a tree of histogram boosting, which has no public way to."""
    at = np.zeros(len(rows), np.int64)
    while (inner := nodes["is_leaf"][at] == 0).any():
        value = rows[np.arange(len(rows)), nodes["feature_idx"][at]]
        left = np.where(
            np.isnan(value),
            nodes["missing_go_to_left"][at] == 1,
            value <= nodes["num_threshold"][at],
        )
        at = np.where(inner, np.where(left, nodes["left"][at], nodes["right"][at]), at)
    return at


def regressor(rng: np.random.Generator, forest: bool) -> Drawn:
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.tree import DecisionTreeRegressor

    rows, shape = people(rng), limits(rng)
    shape.pop("criterion", None)
    n = len(rows.number)
    if forest:
        model = RandomForestRegressor(4, random_state=int(rng.integers(1000)), **shape)
        model.fit(rows.features, rows.number)
        each, times = model.estimators_, draws(model.estimators_samples_, n)
    else:
        model = DecisionTreeRegressor(**shape).fit(rows.features, rows.number)
        each, times = [model], [np.ones(n, np.int64)]
    trees = of_trees(each, rows.features, None, times=times)
    return Drawn(model=model, people=rows, trees=trees, answer="number",
                 sees="bootstrap" if forest else "all",
                 joint="numbers" if forest else "single")  # fmt: skip


def isolation(rng: np.random.Generator) -> Drawn:
    from sklearn.ensemble import IsolationForest

    rows = people(rng)
    model = IsolationForest(
        n_estimators=int(rng.integers(2, 6)), max_samples=float(rng.choice([0.5, 1.0])),
        random_state=int(rng.integers(1000)),
    ).fit(rows.features)  # fmt: skip
    times = draws(model.estimators_samples_, len(rows.label))
    trees = of_trees(model.estimators_, rows.features, None, times=times)
    return Drawn(model=model, people=rows, trees=trees, answer="", sees="unknown", joint="path")
