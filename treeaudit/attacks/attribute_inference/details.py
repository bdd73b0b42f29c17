"""What TA104 measures."""

from dataclasses import dataclass

from treeaudit.findings.details import Details
from treeaudit.findings.numbers import People, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class InferredColumn(Details):
    """How often the hidden values of one column are found.

    Attributes
    ----------
    column, candidates
        Its name, and how many values it may have.
    model_members, model_control
        Share of members and of control people whose value follows from the
        counts and the guess.
    imputation_members, imputation_control
        From the guess without the model.
    frequent_members, frequent_control
        From the most frequent value.
    fredrikson_members, fredrikson_control
        From the rule of Fredrikson et al. (2015).
    excess, excess_low, excess_high
        Members minus control people, both by the model, with its 95 % interval.
    beyond_imputation, beyond_imputation_low, beyond_imputation_high
        Members by the model minus members by the guess, with its 95 % interval.
    given_away
        Whether both are above 0 with 95 % confidence for all columns together.
    """

    column: str
    candidates: int
    model_members: Share
    model_control: Share
    imputation_members: Share
    imputation_control: Share
    frequent_members: Share
    frequent_control: Share
    fredrikson_members: Share
    fredrikson_control: Share
    excess: float
    excess_low: float
    excess_high: float
    beyond_imputation: float
    beyond_imputation_low: float
    beyond_imputation_high: float
    given_away: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributesDetails(Details):
    """Which columns the model gives away.

    Attributes
    ----------
    columns
        Those that were attacked, the most identifying first.
    given_away, not_attacked
        Names of those that are given away, and of those that were left out.
    alpha
        Weight of the counts against the guess.
    members, control, reference
        People who were asked about, unseen people who were, and unseen people
        from whom the population was learnt.
    """

    columns: tuple[InferredColumn, ...]
    given_away: tuple[str, ...]
    not_attacked: tuple[str, ...]
    alpha: float
    members: People
    control: People
    reference: People
