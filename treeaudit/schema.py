"""What the columns are: names, categories, classes."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Feature", "Label", "Schema"]

Label = str | int | float | bool
"""A class label as the model knows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One column that a tree can ask about.

    Attributes
    ----------
    name
        Its name in the model. Untrusted text: escape it where it is shown.
    categories
        The values of a categorical column, in the order of their codes
        0, 1, …; None for a numeric column.
    """

    name: str
    categories: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The columns of a model and what it predicts.

    Attributes
    ----------
    features
        One entry per column, in the model's order.
    classes
        The labels in the order of the count columns, or None for a model that
        predicts a number.
    target
        What the labels are called in tables and rules.
    named
        Whether the feature names come from the model; otherwise they are
        ``x0``, ``x1``, …
    """

    features: tuple[Feature, ...]
    classes: tuple[Label, ...] | None = None
    target: str = "label"
    named: bool = True

    @property
    def names(self) -> list[str]:
        """The feature names in order."""
        return [feature.name for feature in self.features]

    @classmethod
    def numeric(
        cls,
        features: int | Sequence[str],
        classes: Sequence[Label] | None = None,
        target: str = "label",
    ) -> "Schema":
        """Describe a model whose columns are all numbers.

        Parameters
        ----------
        features
            The names, or how many columns there are.
        classes
            The labels, or None for a model that predicts a number.
        target
            What the labels are called.

        Examples
        --------
        >>> Schema.numeric(2, classes=["no", "yes"]).names
        ['x0', 'x1']
        """
        named = not isinstance(features, int)
        names = [f"x{i}" for i in range(features)] if isinstance(features, int) else features
        return cls(
            features=tuple(Feature(name=name) for name in names),
            classes=None if classes is None else tuple(classes),
            target=target,
            named=named,
        )
