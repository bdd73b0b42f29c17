"""Forests of scikit-learn that nobody keeps: what they answer, grown tree after tree.

A forest makes, copies and checks every tree anew. Of a few thousand people that takes nearly half
as long as growing it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float

__all__ = ["grown_answers"]

Codes = npt.NDArray[np.integer[Any]]
Table = npt.NDArray[np.floating[Any]]

_MOST = 2**31 - 1


def grown_answers(
    forest: Any,  # noqa: ANN401  # an estimator of scikit-learn
    values: Table,
    answer: Codes,
    asked: Table,
) -> tuple[Codes, Float]:
    """Return what ``forest.fit(values, answer).predict_proba(asked)`` does, and its classes.

    Parameters
    ----------
    forest
        A forest of scikit-learn, or a tree, with a whole number as its ``random_state``. It is
        left untouched where its trees are grown here: where it sees every row or draws as many
        as there are, and no value is missing or out of range.
    """
    with np.errstate(over="ignore"):
        seen, shown = (np.ascontiguousarray(one, dtype=np.float32) for one in (values, asked))
    plain = getattr(forest, "max_samples", 0) is None and forest.class_weight is None
    if not plain or not np.isfinite(seen).all() or not np.isfinite(shown).all():
        forest.fit(values, answer)
        return forest.classes_, forest.predict_proba(asked)
    from sklearn.base import clone

    options = {name: getattr(forest, name) for name in forest.estimator_params}
    tree = clone(forest.estimator).set_params(**options)
    classes, code = np.unique(answer, return_inverse=True)
    total, n = np.zeros((len(shown), len(classes))), len(seen)
    seeds, draws = np.random.RandomState(forest.random_state), np.random.RandomState()
    for _ in range(forest.n_estimators):
        seed, drawn = seeds.randint(_MOST), None
        if forest.bootstrap:
            draws.seed(seed)
            drawn = np.bincount(draws.randint(0, n, n, dtype=np.int32), minlength=n)
            drawn = drawn.astype(np.float64)
        draws.seed(seed)
        tree.random_state = draws
        tree.fit(seen, code, sample_weight=drawn, check_input=False)
        total += tree.predict_proba(shown, check_input=False)
    return classes, total / forest.n_estimators
