"""Model libraries other than scikit-learn, imported when a test first uses them."""

from typing import Any

import pytest

__all__ = ["library"]


class _Library:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", "pytest")) and name != "__version__":
            raise AttributeError(name)  # collecting tests asks everything for these
        return getattr(pytest.importorskip(self._name), name)


def library(name: str) -> Any:
    """Return something that stands for a module, and skips the test that uses a missing one.

    Importing them all costs seconds in every process that only collects tests.
    """
    return _Library(name)
