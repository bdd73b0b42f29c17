"""The value that the leaves predict for their people: the label, or that of another column."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.case import Case
from treeaudit.table.labels import Labels

Codes = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PredictedValue:
    """One column as the leaves tell it; arrays have an entry per leaf of the case.

    * ``name``: what the column is called.
    * ``value``: what one of its values is called.
    * ``leaves``: how leaves are called whose people are all alike, before how many they are.
    * ``labels``: what the leaves say.
    * ``size``: people in each.
    * ``ordered``: whether the order of the codes means anything.
    * ``train``, ``test``: the code of each person, -1 for a value that no leaf holds; None where
      nothing can be held against them.
    * ``guess``: gives the codes of some people of ``test``, by a flag each, as guessed without the
      model, or None.
    * ``values``: the values as text, by code; None where the class counts tell.
    """

    name: str
    value: str
    leaves: str
    labels: Labels
    size: npt.NDArray[np.int64]
    ordered: bool
    train: Codes | None
    test: Codes | None
    guess: Callable[[npt.NDArray[np.bool_]], Codes] | None = None
    values: tuple[str, ...] | None = None


def label_of(case: Case) -> PredictedValue:
    """Return the label as the file tells it by its class counts."""
    table, forest = case.table, case.forest
    classes = forest.schema.classes or ()
    numbers = all(isinstance(c, int | float) and not isinstance(c, bool) for c in classes)
    # Trees with classes of their own cannot be held against labels.
    people = [case.labelled("train"), case.labelled("test")]
    train, test = (
        None if one is None or forest.tree_classes is not None else one.known_labels
        for one in people
    )
    guess = case.guess
    return PredictedValue(
        name="label",
        value="label",
        leaves="one-label leaves of",
        labels=table.labels_of_people,
        size=table.size,
        ordered=numbers and list(classes) == sorted(classes),
        train=train,
        test=test,
        guess=None if guess is None else lambda asked: guess(asked).argmax(axis=1),
    )
