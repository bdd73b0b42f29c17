"""treeaudit: what a decision tree gives away about the people it was trained on.

The public names load on first use, so that ``treeaudit --help`` need not wait
for numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treeaudit.rendered import bind
from treeaudit.version import __version__

if TYPE_CHECKING:
    from treeaudit.audit.scan import scan
    from treeaudit.comparison.compare import Comparison, compare
    from treeaudit.comparison.differencing import Difference, difference
    from treeaudit.errors import (
        DataError,
        MalformedModelError,
        MissingFileError,
        ModelTooLargeError,
        PolicyError,
        PrivacyError,
        PrivacyWarning,
        ReadError,
        TreeauditError,
        UnsafeModelError,
        UnsupportedModelError,
    )
    from treeaudit.findings.findings import Check, Control, Evidence, Finding, Skipped
    from treeaudit.findings.policy import Policy
    from treeaudit.findings.report import Report
    from treeaudit.model.forest import Forest
    from treeaudit.model.schema import Feature, Schema
    from treeaudit.model.source import Source
    from treeaudit.model.tree import Tree
    from treeaudit.readers import load
    from treeaudit.repair.defend import defend
    from treeaudit.repair.release import release
    from treeaudit.reports.display import RiskDisplay, TradeDisplay
    from treeaudit.stats import Estimate
    from treeaudit.table.reconstruction import reconstruct
    from treeaudit.table.table import Table
    from treeaudit.trainers.train import train
    from treeaudit.writers import save

__all__ = [
    "Check",
    "Comparison",
    "Control",
    "DataError",
    "Difference",
    "Estimate",
    "Evidence",
    "Feature",
    "Finding",
    "Forest",
    "MalformedModelError",
    "MissingFileError",
    "ModelTooLargeError",
    "Policy",
    "PolicyError",
    "PrivacyError",
    "PrivacyWarning",
    "ReadError",
    "Report",
    "RiskDisplay",
    "Schema",
    "Skipped",
    "Source",
    "Table",
    "TradeDisplay",
    "Tree",
    "TreeauditError",
    "UnsafeModelError",
    "UnsupportedModelError",
    "__version__",
    "compare",
    "defend",
    "difference",
    "load",
    "reconstruct",
    "release",
    "save",
    "scan",
    "train",
]

_HOME = {
    "audit.scan": "scan",
    "comparison.compare": "Comparison compare",
    "comparison.differencing": "Difference difference",
    "errors": "DataError MalformedModelError MissingFileError ModelTooLargeError PolicyError "
    "PrivacyError PrivacyWarning ReadError TreeauditError UnsafeModelError UnsupportedModelError",
    "findings.findings": "Check Control Evidence Finding Skipped",
    "findings.policy": "Policy",
    "findings.report": "Report",
    "model.forest": "Forest",
    "model.schema": "Feature Schema",
    "model.source": "Source",
    "model.tree": "Tree",
    "readers": "load",
    "repair.defend": "defend",
    "repair.release": "release",
    "reports.display": "RiskDisplay TradeDisplay",
    "stats": "Estimate",
    "table.reconstruction": "reconstruct",
    "table.table": "Table",
    "trainers.train": "train",
    "writers": "save",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}


bind("Report", "treeaudit.reports.formats")
bind("Reports", "treeaudit.reports.several")
bind("Comparison", "treeaudit.reports.comparison")
bind("Difference", "treeaudit.reports.difference")
bind("Changes", "treeaudit.reports.changes")
bind("Forest", "treeaudit.writers")


def __getattr__(name: str) -> Any:  # noqa: ANN401  # the module protocol wants Any
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'treeaudit' has no attribute {name!r}")
    return getattr(import_module(f"treeaudit.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
