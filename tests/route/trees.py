"""Trees and forests of scikit-learn."""

from typing import Any

import numpy as np

from tests.route.rows import Drawn, draws, limits, of_trees, people, values

__all__ = ["adaboost", "bagging", "forest", "outputs", "single"]


def single(rng: np.random.Generator, name: str) -> Drawn:
    from sklearn import tree

    rows = people(rng, gaps=name == "DecisionTreeClassifier" and rng.random() < 0.3)
    how = int(rng.integers(4))
    classes, code = np.unique(rows.label, return_inverse=True)
    balanced = "balanced" if how == 1 else None
    weight = rng.choice([1.0, 2.0, 0.5], len(code)) if how == 2 else np.ones(len(code))
    model = getattr(tree, name)(class_weight=balanced, random_state=how, **limits(rng))
    model.fit(rows.features, rows.label, sample_weight=weight if how == 2 else None)
    model.random_state = None
    told = "weights" if how == 2 else "draws"
    each = of_trees([model], rows.features, code, weight=[weight], counts=told)
    return Drawn(model=model, people=rows, trees=each, joint="single", classes=classes.tolist(),
                 class_weight=balanced)  # fmt: skip


def forest(rng: np.random.Generator, name: str, bootstrap: bool) -> Drawn:
    from sklearn import ensemble

    rows = people(rng, gaps=name == "RandomForestClassifier" and rng.random() < 0.2)
    classes, code = np.unique(rows.label, return_inverse=True)
    n, balance = len(code), [None, None, "balanced", "balanced_subsample"][int(rng.integers(4))]
    part = 0.6 if bootstrap and rng.random() < 0.3 else None
    model = getattr(ensemble, name)(
        int(rng.integers(2, 9)), bootstrap=bootstrap, max_samples=part, class_weight=balance,
        random_state=int(rng.integers(1000)), **limits(rng),
    ).fit(rows.features, rows.label)  # fmt: skip
    drawn = list(model.estimators_samples_) if bootstrap else [np.arange(n)] * len(model)
    times = draws(drawn, n)
    trees = of_trees(model.estimators_, rows.features, code, times=times, n_classes=len(classes))
    if forgotten := rng.random() < 0.6:
        _forget(model)
    return Drawn(
        model=model, people=rows, trees=trees, classes=classes.tolist(), joint="shares",
        sees="bootstrap" if bootstrap else "all", class_weight=balance,
        seeds=not forgotten,
    )  # fmt: skip


def _forget(model: Any) -> None:
    """Take the seeds out, of which the draws follow."""
    model.random_state = None
    for tree in model.estimators_:
        tree.random_state = None


def bagging(rng: np.random.Generator) -> Drawn:
    from sklearn.ensemble import BaggingClassifier
    from sklearn.tree import DecisionTreeClassifier

    rows = people(rng)
    classes, code = np.unique(rows.label, return_inverse=True)
    bootstrap = bool(rng.integers(2))
    model = BaggingClassifier(
        DecisionTreeClassifier(**limits(rng)), int(rng.integers(2, 7)), bootstrap=bootstrap,
        max_samples=float(rng.choice([0.5, 1.0])), max_features=float(rng.choice([0.7, 1.0])),
        random_state=int(rng.integers(1000)),
    ).fit(rows.features.to_numpy(), rows.label)  # fmt: skip
    times = draws(model.estimators_samples_, len(code))
    trees = of_trees(model.estimators_, rows.features, code, times=times,
                      features=model.estimators_features_, n_classes=len(classes))  # fmt: skip
    return Drawn(
        model=model, people=rows, trees=trees, classes=classes.tolist(), joint="shares",
        sees="bootstrap" if bootstrap else "unknown", seeds=True,
    )  # fmt: skip


def adaboost(rng: np.random.Generator) -> Drawn:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    rows = people(rng)
    classes, code = np.unique(rows.label, return_inverse=True)
    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=int(rng.integers(1, 4))), n_estimators=4,
        random_state=int(rng.integers(1000)),
    ).fit(rows.features, rows.label)  # fmt: skip
    weight, each = np.full(len(code), 1 / len(code)), []
    for tree, says in zip(model.estimators_, model.estimator_weights_, strict=False):
        each.append(weight)
        wrong = tree.predict(values(rows.features)) != rows.label
        weight = weight * np.exp(says * wrong)
        weight = weight / weight.sum()
    trees = of_trees(model.estimators_, rows.features, code, weight=each, counts="weights",
                      n_classes=len(classes))  # fmt: skip
    return Drawn(model=model, people=rows, trees=trees, classes=classes.tolist(), joint="weighed")


def outputs(rng: np.random.Generator) -> Drawn:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    rows = people(rng)
    second = np.where(rows.number > np.median(rows.number), "high", "low")
    both = np.column_stack([rows.label.astype(str), second])
    if rng.random() < 0.5:
        model = DecisionTreeClassifier(**limits(rng)).fit(rows.features, both)
        trees = of_trees([model], rows.features, None)
        return Drawn(model=model, people=rows, trees=trees, answer="", joint="outputs")
    model = RandomForestClassifier(3, random_state=1, **limits(rng)).fit(rows.features, both)
    times = draws(model.estimators_samples_, len(rows.label))
    trees = of_trees(model.estimators_, rows.features, None, times=times)
    return Drawn(model=model, people=rows, trees=trees, answer="", sees="bootstrap",
                 joint="outputs")  # fmt: skip
