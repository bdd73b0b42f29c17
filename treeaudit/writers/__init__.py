"""A `Forest` in, a file out."""

from treeaudit.writers.own_json import save

__all__ = ["save"]
