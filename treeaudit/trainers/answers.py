"""What a trained model answers with, a class or a number, by the contract of scikit-learn."""

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from treeaudit.arrays import Float
from treeaudit.people.predict.predictions import predict_numbers, predict_shares
from treeaudit.trainers.private_trees import PrivateTrees
from treeaudit.trainers.training_rows import CLASSES, NUMBERS, Targets


class PrivateClassifier(ClassifierMixin, PrivateTrees):  # type: ignore[misc]
    """Private trees that answer with a class.

    Attributes
    ----------
    classes_
        The classes of the schema.
    """

    _targets: ClassVar[Targets] = CLASSES

    classes_: npt.NDArray[Any]

    def predict_proba(self, X: Any) -> Float:  # noqa: ANN401  # scikit-learn's contract
        """Return the share of every class among the trees, columns as in ``classes_``.

        Parameters
        ----------
        X
            Shape ``(n_rows, n_features)``. Numbers beyond the public bounds
            are compared as they are; unknown categories count as missing.

        Returns
        -------
        numpy.ndarray
            Shape ``(n_rows, n_classes)``; rows sum to 1.
        """
        check_is_fitted(self, "forest_")
        return predict_shares(self.forest_, self._coded(X), self.n_jobs)

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: ANN401  # scikit-learn's contract
        """Return the class with the largest share, the first of several; see `predict_proba`."""
        shares = self.predict_proba(X)
        labels: npt.NDArray[Any] = self.classes_[np.argmax(shares, axis=1)]
        return labels

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401  # a class of scikit-learn from 1.6 on
        tags = super().__sklearn_tags__()
        # Noise may cost any accuracy on the few records of an estimator check.
        tags.classifier_tags.poor_score = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """Return the same for scikit-learn before 1.6, which asks for all labels even so."""
        told = "noise, or few trees, may answer no one of thirty records with some label"
        return {"_xfail_checks": {"check_classifiers_classes": told}}


class PrivateRegressor(RegressorMixin, PrivateTrees):  # type: ignore[misc]
    """Private trees that answer with a number; the schema bounds it."""

    _targets: ClassVar[Targets] = NUMBERS

    def predict(self, X: Any) -> Float:  # noqa: ANN401  # scikit-learn's contract
        """Return the mean over the trees of the value of the leaf.

        Parameters
        ----------
        X
            As in `PrivateClassifier.predict_proba`.

        Returns
        -------
        numpy.ndarray
            Shape ``(n_rows,)``, within the public bounds of the target.
        """
        check_is_fitted(self, "forest_")
        return predict_numbers(self.forest_, self._coded(X), self.n_jobs)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401  # a class of scikit-learn from 1.6 on
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags
