"""treeaudit: what a decision tree gives away about the people it was trained on.

The public names load on first use, so that ``treeaudit --help`` need not wait
for numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treeaudit.rendered import bind
from treeaudit.version import __version__

if TYPE_CHECKING:
    from treeaudit.audit import scan
    from treeaudit.comparison import Comparison, compare
    from treeaudit.defending import defend
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
    from treeaudit.findings import Check, Control, Evidence, Finding, Skipped
    from treeaudit.policy import Policy
    from treeaudit.readers import load
    from treeaudit.reconstruction import reconstruct
    from treeaudit.report import Report
    from treeaudit.schema import Feature, Schema
    from treeaudit.stats import Estimate
    from treeaudit.table import Table
    from treeaudit.tree import Forest, Source, Tree
    from treeaudit.writers import save

__all__ = [
    "Check",
    "Comparison",
    "Control",
    "DataError",
    "Estimate",
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
    "compare",
    "defend",
    "load",
    "reconstruct",
    "save",
    "scan",
]

_HOME = {
    "audit": "scan",
    "comparison": "Comparison compare",
    "defending": "defend",
    "errors": "DataError ModelTooLargeError PolicyError PrivacyError PrivacyWarning ReadError "
    "TreeauditError UnsafeModelError UnsupportedModelError",
    "findings": "Check Control Evidence Finding Skipped",
    "policy": "Policy",
    "readers": "load",
    "reconstruction": "reconstruct",
    "report": "Report",
    "schema": "Feature Schema",
    "stats": "Estimate",
    "table": "Table",
    "tree": "Forest Source Tree",
    "writers": "save",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}


bind("Report", "treeaudit.reports")
bind("Comparison", "treeaudit.reports.comparison")


def __getattr__(name: str) -> Any:  # noqa: ANN401  # the module protocol wants Any
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'treeaudit' has no attribute {name!r}")
    return getattr(import_module(f"treeaudit.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
