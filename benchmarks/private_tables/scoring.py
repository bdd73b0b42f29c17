"""Accuracy and area under the ROC curve, the same for everybody."""

import numpy as np
from sklearn.metrics import roc_auc_score

__all__ = ["accuracy_and_auc", "in_order"]


def in_order(shares: np.ndarray, classes: np.ndarray, n_classes: int) -> np.ndarray:
    """Put the columns of a model, in the order of its ``classes_``, where the classes are.

    A class that the model does not know has a share of zero.

    Examples
    --------
    >>> in_order(np.array([[0.9, 0.1]]), np.array([2, 0]), 3).tolist()
    [[0.1, 0.0, 0.9]]
    """
    ordered = np.zeros((len(shares), n_classes))
    ordered[:, np.asarray(classes, dtype=int)] = shares
    return ordered


def accuracy_and_auc(
    truth: np.ndarray, predicted: np.ndarray, shares: np.ndarray
) -> tuple[float, float]:
    """Return both; the area is the mean, over the classes that were met, of class against rest.

    Parameters
    ----------
    truth, predicted
        Positions of classes.
    shares
        ``(n, n_classes)``, columns in the order of the classes.

    Examples
    --------
    >>> shares = np.array([[0.8, 0.2, 0], [0.4, 0.6, 0], [0.6, 0.4, 0]])
    >>> accuracy_and_auc(np.array([0, 1, 1]), np.array([0, 1, 0]), shares)
    (0.6666666666666666, 1.0)
    """
    if not np.isfinite(shares).all():
        raise ValueError("shares that are no numbers")
    met = [c for c in range(shares.shape[1]) if 0 < (truth == c).sum() < len(truth)]
    areas = [roc_auc_score(truth == c, shares[:, c]) for c in met]
    return float((truth == predicted).mean()), float(np.mean(areas))
