"""What TA110 measures."""

from dataclasses import dataclass
from typing import Literal

from treeaudit.attacks.homogeneous_groups import Diversity
from treeaudit.findings.numbers import People

__all__ = ["ColumnDetails", "SensitiveDetails"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDetails(Diversity):
    """One column inside the groups.

    Attributes
    ----------
    column
        Its name.
    named
        Whether somebody named it; otherwise it is the number that the model predicts.
    kind
        Whether it has few values, or is a magnitude.
    used_by_model
        Whether the model has it as a feature.
    distinct_values
        How many values it has.
    missing
        People without a value.
    nk_leaves, nk_people
        Leaves in which two people hold nearly all of a total; None for text.
    p_percent_leaves, p_percent_people
        Leaves in which a total gives a contribution away; None for text.
    """

    column: str
    named: bool
    kind: Literal["values", "numbers"]
    used_by_model: bool
    distinct_values: int
    missing: People
    nk_leaves: People | None
    nk_people: People | None
    p_percent_leaves: People | None
    p_percent_people: People | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveDetails(Diversity):
    """The worst over all columns; without a bound or an order where one of them has none.

    Attributes
    ----------
    nk_leaves, p_percent_leaves
        As of a column, the most; 0 where all are text.
    columns
        Each column.
    """

    nk_leaves: People
    p_percent_leaves: People
    columns: tuple[ColumnDetails, ...]
