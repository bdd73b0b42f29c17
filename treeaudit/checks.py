"""Every check that a policy can ask for: what is measured, and how it is worded.

A number that was measured on people counts with the unfavourable end of its
95 % interval, so that a check which passes has been shown to hold.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite

from treeaudit.measures import (
    Measure,
    attribute_advantage,
    code_inside,
    common_divisor,
    disclosed_by_one_known,
    epsilon,
    least,
    marketer_risk,
    memorised_excess,
    most,
    no_magnitudes,
    population_uniques,
    rows_inside,
)
from treeaudit.tree import Forest

__all__ = ["CHECKS", "Rule", "holds_at_least", "holds_at_most", "holds_multiple_of"]


def holds_at_most(measured: float, threshold: float) -> bool:
    """Tell whether a number is no more than its threshold."""
    return measured <= threshold


def holds_at_least(measured: float, threshold: float) -> bool:
    """Tell whether a number is no less than its threshold."""
    return measured >= threshold


def holds_multiple_of(measured: float, threshold: float) -> bool:
    """Tell whether a common divisor is a multiple of the threshold; 0 has no counts at all."""
    return threshold == 0 or measured % threshold == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How a check is measured and worded.

    Attributes
    ----------
    attacks
        Ids of the attacks it reads. The first has to have run, the others add
        to it where they have: the worst counts.
    title, bound
        What is measured, and its bound with a place for the threshold.
    measure
        The number, from the findings and the model; None where the findings do
        not hold it.
    missing
        Why they do not, in a few words with the next step.
    holds
        Whether a measured number fits a threshold.
    share
        Whether it is a share between 0 and 1.
    needless
        Says why there is nothing to measure in a model, where the attack was
        skipped for that reason; None where there is.
    """

    attacks: tuple[str, ...] = ()
    title: str
    bound: str
    measure: Measure
    missing: str = ""
    holds: Callable[[float, float], bool] = holds_at_most
    share: bool = False
    needless: Callable[[Forest], str | None] | None = None

    @property
    def attack(self) -> str | None:
        """The attack that has to have run; None for what the model itself tells."""
        return self.attacks[0] if self.attacks else None

    def show(self, measured: float) -> str:
        """Return a measured number in words."""
        if not isfinite(measured):
            return "unbounded"
        if self.share:
            return f"{measured:.1%}" if measured >= 0.001 or measured == 0 else f"{measured:.2g}"
        return f"{int(measured):,}" if measured.is_integer() else f"{measured:.4g}"


_NO_CONTROL = "needs unseen people for every claim (--test)"

CHECKS: Mapping[str, Rule] = {
    "min-leaf": Rule(
        attacks=("TA101",),
        title="Smallest group",
        bound="at least {:,.0f} people",
        measure=least("min_leaf"),
        holds=holds_at_least,
    ),
    "max-unique-people": Rule(
        attacks=("TA101",),
        title="People alone in a leaf",
        bound="at most {:,.0f}",
        measure=most("unique_people"),
    ),
    "max-small-leaf-people": Rule(
        attacks=("TA101",),
        title="People in leaves below k",
        bound="at most {:,.0f}",
        measure=most("below_k_people"),
    ),
    "max-small-leaf-share": Rule(
        attacks=("TA101",),
        title="Share of people in leaves below k",
        bound="at most {:.1%}",
        measure=most("below_k_share"),
        share=True,
    ),
    "max-marketer-risk": Rule(
        attacks=("TA101",),
        title="Average chance to find a person",
        bound="at most {:.1%}",
        measure=marketer_risk,
        share=True,
    ),
    "max-population-uniques": Rule(
        attacks=("TA101",),
        title="People alone in the population too (estimate)",
        bound="at most {:,.0f}",
        measure=population_uniques,
        missing="needs a share of the population that can be modelled (--sampling-fraction)",
    ),
    "min-degrees-of-freedom": Rule(
        attacks=("TA101",),
        title="Residual degrees of freedom",
        bound="at least {:,.0f}",
        measure=least("residual_degrees_of_freedom"),
        missing="the file does not tell how many people there are",
        holds=holds_at_least,
    ),
    "max-certain-share": Rule(
        attacks=("TA102", "TA110"),
        title="People whose label is certain",
        bound="at most {:.1%}",
        measure=most("certain_share"),
        share=True,
    ),
    "min-distinct-l": Rule(
        attacks=("TA102", "TA110"),
        title="Different labels in a leaf",
        bound="at least {:,.0f}",
        measure=least("distinct_l"),
        holds=holds_at_least,
    ),
    "min-entropy-l": Rule(
        attacks=("TA102", "TA110"),
        title="Entropy l-diversity",
        bound="at least {:g}",
        measure=least("entropy_l"),
        holds=holds_at_least,
    ),
    "max-t-closeness": Rule(
        attacks=("TA102", "TA110"),
        title="Distance of a leaf from everybody (t-closeness)",
        bound="at most {:g}",
        measure=most("t_closeness"),
        share=True,
    ),
    "max-dominant-share": Rule(
        attacks=("TA102", "TA110"),
        title="Share of one label in a leaf",
        bound="at most {:.1%}",
        measure=most("largest_share"),
        share=True,
    ),
    "min-cell": Rule(
        attacks=("TA102",),
        title="Fewest people of one label in a leaf",
        bound="at least {:,.0f}",
        measure=least("smallest_cell"),
        missing="the class counts of the file are not people",
        holds=holds_at_least,
    ),
    "max-absent-label-people": Rule(
        attacks=("TA102",),
        title="People of whom a label is ruled out",
        bound="at most {:,.0f}",
        measure=most("absent_class_people"),
    ),
    "max-disclosed-by-one-known": Rule(
        attacks=("TA103",),
        title="People disclosed by knowing one other",
        bound="at most {:,.0f}",
        measure=disclosed_by_one_known,
    ),
    "max-memorised-excess": Rule(
        attacks=("TA101", "TA102", "TA110"),
        title="Claims that hold less for unseen people (upper bound)",
        bound="at most {:.1%}",
        measure=memorised_excess,
        missing=_NO_CONTROL,
        share=True,
    ),
    "max-attribute-advantage": Rule(
        attacks=("TA104",),
        title="Hidden values found beyond the guess (upper bound)",
        bound="at most {:.1%}",
        measure=attribute_advantage,
        missing="not every column was attacked",
        share=True,
    ),
    "max-membership-auc": Rule(
        attacks=("TA105",),
        title="Membership inference, AUC (upper bound)",
        bound="at most {:g}",
        measure=most("auc_high"),
        share=True,
    ),
    "max-membership-tpr": Rule(
        attacks=("TA105",),
        title="Members recognised at 1 % false alarms (upper bound)",
        bound="at most {:.1%}",
        measure=most("tpr_at_1_percent_fpr_high"),
        missing="needs 1,000 or more unseen people (--test)",
        share=True,
    ),
    "max-nk-leaves": Rule(
        attacks=("TA110",),
        title="Leaves where two people hold 90 % of a total",
        bound="at most {:,.0f}",
        measure=most("nk_leaves"),
        needless=no_magnitudes,
    ),
    "max-p-percent-leaves": Rule(
        attacks=("TA110",),
        title="Leaves where a total gives one contribution away to within 10 %",
        bound="at most {:,.0f}",
        measure=most("p_percent_leaves"),
        needless=no_magnitudes,
    ),
    "max-training-rows-inside": Rule(
        attacks=("TA202",),
        title="People with a row of their own in the file",
        bound="at most {:,.0f}",
        measure=rows_inside,
        missing="the file holds something that was not understood (TA202)",
    ),
    "max-seeds": Rule(
        attacks=("TA203",),
        title="Seeds that repeat a draw",
        bound="at most {:,.0f}",
        measure=most("seeds"),
    ),
    "max-exact-values": Rule(
        attacks=("TA204",),
        title="Exact values of single columns",
        bound="at most {:,.0f}",
        measure=most("exact_values"),
    ),
    "max-calls": Rule(
        attacks=("TA205",),
        title="Code outside the usual libraries",
        bound="at most {:,.0f}",
        measure=code_inside,
    ),
    "round-to": Rule(
        title="Largest number that divides every count",
        bound="a multiple of {:,.0f}",
        measure=common_divisor,
        holds=holds_multiple_of,
    ),
    "max-epsilon": Rule(
        title="Differential privacy, epsilon",
        bound="at most {:g}",
        measure=epsilon,
    ),
}
"""Every check, by its name in a policy."""
