"""A model of the benchmark."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.private_tables.folds import Split

__all__ = ["Answers", "Model"]

Answers = tuple[np.ndarray, np.ndarray]
"""Predicted classes, and the shares of all classes, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """How one is fitted and asked.

    Attributes
    ----------
    answers
        Answers for the unseen people of a split.
    title
        What the page calls it.
    private
        Whether it is fitted for every epsilon.
    most_classes
        What it can learn; None for any number.
    """

    answers: Callable[[Split, float | None], Answers]
    title: str
    private: bool = True
    most_classes: int | None = None
