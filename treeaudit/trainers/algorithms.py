"""Every trainer, in one visible tuple."""

from treeaudit.trainers.private_trees import PrivateTrees
from treeaudit.trainers.smooth_sensitivity_forest import SmoothSensitivityForestClassifier

__all__ = ["ALGORITHMS"]

ALGORITHMS: tuple[type[PrivateTrees], ...] = (SmoothSensitivityForestClassifier,)
"""The first is what `train` uses unless told otherwise."""
