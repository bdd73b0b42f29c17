"""A model as a skops file of the scikit-learn estimator."""

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.writers.scikit_learn import to_estimator

__all__ = ["to_skops"]


def to_skops(forest: Forest) -> bytes:
    """Return the skops file of the estimator.

    Raises
    ------
    UnsupportedModelError
        If skops is not installed, or the model cannot be written.
    """
    try:
        from skops.io import dumps
    except ImportError:
        raise UnsupportedModelError(
            "a skops file is written by the library skops: pip install skops, or write a pickle "
            "(-o model.pkl)"
        ) from None
    data: bytes = dumps(to_estimator(forest))
    return data
