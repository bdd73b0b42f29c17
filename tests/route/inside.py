"""Trees inside something else: pipelines, votes, stacks, calibration."""

from dataclasses import replace

import numpy as np
import pandas as pd

from tests.route.rows import Drawn, People, draws, limits, of_trees, people

__all__ = ["calibrated", "pipeline", "together"]


def pipeline(rng: np.random.Generator) -> Drawn:
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    rows = people(rng, text=True)
    classes, code = np.unique(rows.label, return_inverse=True)
    single = bool(rng.integers(2))
    kind = DecisionTreeClassifier if single else ExtraTreesClassifier
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]), remainder="passthrough"
    )
    model = make_pipeline(encode, kind(random_state=0, **limits(rng)).set_params(
        **({} if single else {"n_estimators": 4})))  # fmt: skip
    model.fit(rows.features, rows.label)
    dense = pd.DataFrame(np.asarray(model[0].transform(rows.features), dtype=np.float64))
    last = model[-1]
    trees = of_trees([last] if single else last.estimators_, dense, code, n_classes=len(classes))
    return Drawn(model=model, people=rows, trees=trees, classes=classes.tolist(),
                 joint="single" if single else "shares")  # fmt: skip


def _in_two(rows: People) -> People:
    """Return the people with labels that every fold has."""
    return replace(rows, label=np.where(rows.number > np.median(rows.number), "high", "low"))


def together(rng: np.random.Generator, name: str) -> Drawn:
    from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    rows = people(rng) if name == "VotingClassifier" else _in_two(people(rng))
    classes, code = np.unique(rows.label, return_inverse=True)
    members = [
        ("tree", DecisionTreeClassifier(**limits(rng))),
        ("forest", RandomForestClassifier(3, random_state=2, **limits(rng))),
    ]
    if name == "VotingClassifier":
        model = VotingClassifier(members)
    else:
        model = StackingClassifier(members, LogisticRegression(max_iter=5_000), cv=3)
    model.fit(rows.features, rows.label)
    tree, forest = model.estimators_
    times = [np.ones(len(code), np.int64), *draws(forest.estimators_samples_, len(code))]
    trees = of_trees([tree, *forest.estimators_], rows.features, code, times=times,
                      n_classes=len(classes))  # fmt: skip
    return Drawn(model=model, people=rows, trees=trees, classes=classes.tolist(), sees="unknown",
                 joint="unjudged", rest=name == "StackingClassifier")  # fmt: skip


def calibrated(rng: np.random.Generator) -> Drawn:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import KFold
    from sklearn.tree import DecisionTreeClassifier

    rows = people(rng)
    rows = _in_two(rows)
    classes, code = np.unique(rows.label, return_inverse=True)
    folds = KFold(3, shuffle=True, random_state=5)
    model = CalibratedClassifierCV(DecisionTreeClassifier(**limits(rng)), cv=folds)
    model.fit(rows.features, rows.label)
    times = draws([train for train, _ in folds.split(rows.label)], len(code))
    each = [one.estimator for one in model.calibrated_classifiers_]
    trees = of_trees(each, rows.features, code, times=times, n_classes=len(classes))
    return Drawn(model=model, people=rows, trees=trees, classes=classes.tolist(), sees="folds",
                 joint="unjudged")  # fmt: skip
