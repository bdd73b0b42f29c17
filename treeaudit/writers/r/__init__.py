"""Models for R: what `predict` needs, from the audited model alone."""

from collections.abc import Callable, Mapping

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.readers.r.objects import RObject
from treeaudit.writers.r.encode import encode
from treeaudit.writers.r.forests import random_forest, ranger
from treeaudit.writers.r.rpart import rpart

R_FORMATS = ("r-rds", "r-rdata")
R_MODELS: Mapping[str, Callable[[Forest], RObject]] = {
    "rpart": rpart,
    "randomForest": random_forest,
    "ranger": ranger,
}
"""The classes of R that are written."""


def to_rds(forest: Forest) -> bytes:
    """Return the ``.rds`` file of a model that was read from R.

    Raises
    ------
    UnsupportedModelError
        If its class is not written; names what helps in R.
    """
    made = R_MODELS.get(forest.source.estimator)
    if made is None:
        raise UnsupportedModelError(
            f"a model of class {forest.source.estimator} is not written for R: train it with "
            "model = FALSE or keep.data = FALSE, or take out what it holds with butcher::butcher; "
            "treeaudit writes its trees as .json"
        )
    return encode(made(forest))
