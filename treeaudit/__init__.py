"""treeaudit: what a decision tree gives away about the people it was trained on."""

from treeaudit.audit import scan
from treeaudit.errors import (
    DataError,
    ModelTooLargeError,
    PolicyError,
    PrivacyError,
    PrivacyWarning,
    ReadError,
    TreeauditError,
    UnsafeModelError,
    UnsupportedModelError,
)
from treeaudit.findings import Check, Evidence, Finding, Report, Skipped
from treeaudit.policy import Policy
from treeaudit.readers import load
from treeaudit.schema import Feature, Schema
from treeaudit.table import Table, reconstruct
from treeaudit.tree import Forest, Source, Tree
from treeaudit.version import __version__
from treeaudit.writers import save

__all__ = [
    "Check",
    "DataError",
    "Evidence",
    "Feature",
    "Finding",
    "Forest",
    "ModelTooLargeError",
    "Policy",
    "PolicyError",
    "PrivacyError",
    "PrivacyWarning",
    "ReadError",
    "Report",
    "Schema",
    "Skipped",
    "Source",
    "Table",
    "Tree",
    "TreeauditError",
    "UnsafeModelError",
    "UnsupportedModelError",
    "__version__",
    "load",
    "reconstruct",
    "save",
    "scan",
]
