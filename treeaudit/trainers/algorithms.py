"""Every trainer, in one visible tuple: a trainer is a module, its name here, and its tests."""

from treeaudit.trainers.bootstrap_forest import BootstrapForestClassifier
from treeaudit.trainers.diffpid3 import DiffPID3Classifier
from treeaudit.trainers.dpdf import DPDFClassifier
from treeaudit.trainers.exponential_id3 import ExponentialID3Classifier
from treeaudit.trainers.private_additive_tree import PrivateAdditiveTreeClassifier
from treeaudit.trainers.private_forest import PrivateForestClassifier
from treeaudit.trainers.private_regressors import PrivateForestRegressor, PrivateTreeRegressor
from treeaudit.trainers.private_tree import PrivateTreeClassifier
from treeaudit.trainers.private_trees import PrivateTrees
from treeaudit.trainers.random_count_forest import RandomCountForestClassifier
from treeaudit.trainers.semi_supervised_forest import SemiSupervisedForestClassifier
from treeaudit.trainers.signal_to_noise_forest import SignalToNoiseForestClassifier
from treeaudit.trainers.smooth_sensitivity_forest import SmoothSensitivityForestClassifier
from treeaudit.trainers.sulq_id3 import SulqID3Classifier
from treeaudit.trainers.threshold_forest import ThresholdForestClassifier

__all__ = [
    "ALGORITHMS",
    "BootstrapForestClassifier",
    "DPDFClassifier",
    "DiffPID3Classifier",
    "ExponentialID3Classifier",
    "PrivateAdditiveTreeClassifier",
    "PrivateForestClassifier",
    "PrivateForestRegressor",
    "PrivateTreeClassifier",
    "PrivateTreeRegressor",
    "RandomCountForestClassifier",
    "SemiSupervisedForestClassifier",
    "SignalToNoiseForestClassifier",
    "SmoothSensitivityForestClassifier",
    "SulqID3Classifier",
    "ThresholdForestClassifier",
]

ALGORITHMS: tuple[type[PrivateTrees], ...] = (
    PrivateTreeClassifier,
    PrivateForestClassifier,
    PrivateAdditiveTreeClassifier,
    DPDFClassifier,
    DiffPID3Classifier,
    SmoothSensitivityForestClassifier,
    SulqID3Classifier,
    ExponentialID3Classifier,
    BootstrapForestClassifier,
    RandomCountForestClassifier,
    SemiSupervisedForestClassifier,
    SignalToNoiseForestClassifier,
    ThresholdForestClassifier,
    PrivateTreeRegressor,
    PrivateForestRegressor,
)
"""The first is what `train` uses unless told otherwise."""
