"""Who answers: a module for each environment, with ``MODELS`` by name and ``version()``.

A module imports its library when it is asked for an answer, so that all names are known everywhere.
"""

from importlib import import_module
from types import ModuleType

__all__ = ["PEERS", "RUNNERS", "module_of"]

PEERS = ("diffprivlib", "interpret", "privatree")
"""Those that need an environment of their own."""

RUNNERS = {name: f"with_{name}" for name in ("treeaudit", "baselines", *PEERS)}
"""Module by the name of the runner."""


def module_of(name: str) -> ModuleType:
    """Import one of them."""
    return import_module(f"benchmarks.private_tables.models.{name}")
