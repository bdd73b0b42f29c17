"""Do the trees of a forest give labels back? Measured with numpy and scipy alone.

What `treeaudit` says of trees together is checked by a route that shares no code with it: the
estimator tells by its own ``apply`` where people end, its own arrays what a leaf says, and for
each label "the sum of the labels over a leaf = its share x the people in it" is solved by least
squares within 0 and 1, weights 1 / sqrt(people), with L-BFGS-B.
"""

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier

__all__ = ["excess"]

Float = npt.NDArray[np.float64]
_DOUBTS = (0.0, 0.3)
"""What staying near the answers of the model weighs: nothing, and what helps under bootstrap."""


def excess(forest: RandomForestClassifier, x: Float, y: npt.NDArray[np.integer]) -> float:
    """Return the share of labels given back less that of the model's own right answers.

    Parameters
    ----------
    y
        Positions in ``forest.classes_``.
    """
    ends, shares, start = forest.apply(x), [], 0
    rows, columns = [], []
    for i, tree in enumerate(forest.estimators_):
        value = tree.tree_.value[:, 0, :]
        shares.append(value / value.sum(axis=1, keepdims=True))
        rows.append(ends[:, i] + start)
        columns.append(np.arange(len(x)))
        start += len(value)
    member = csr_matrix(
        (np.ones(ends.size), (np.concatenate(rows), np.concatenate(columns))), (start, len(x))
    )
    people = np.asarray(member.sum(axis=1)).ravel()
    held = people > 0
    scale = np.sqrt(people[held])
    share = np.concatenate(shares)[held]
    left = csr_matrix(member[held].multiply((1 / scale)[:, None]))
    right = share * scale[:, None]
    own = np.stack([s[e] for s, e in zip(shares, ends.T, strict=True)]).mean(axis=0)
    answered = own.argmax(axis=1) == y
    found = []
    for doubt in _DOUBTS:
        x_of = np.stack(
            [_solved(left, right[:, c], own[:, c], doubt) for c in range(own.shape[1])], axis=1
        )
        found.append(float((x_of.argmax(axis=1) == y).mean() - answered.mean()))
    return max(found)


def _solved(left: csr_matrix, right: Float, own: Float, doubt: float) -> Float:
    def loss(x: Float) -> tuple[float, Float]:
        off, away = left @ x - right, x - own
        return float(off @ off + doubt * away @ away) / 2, left.T @ off + doubt * away

    done = minimize(
        loss, own, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * len(own),
        options={"maxiter": 500, "ftol": 1e-12, "gtol": 1e-8},
    )  # fmt: skip
    answer: Float = done.x
    return answer
