"""What a check measures: one number from the findings and the model.

None where the findings do not hold it: such a check is skipped, never passed.
"""

from collections.abc import Callable, Sequence
from math import gcd, inf

import numpy as np

from treeaudit.findings import Finding
from treeaudit.tree import Forest

__all__ = [
    "Measure",
    "attribute_advantage",
    "code_inside",
    "common_divisor",
    "disclosed_by_one_known",
    "epsilon",
    "least",
    "marketer_risk",
    "memorised_excess",
    "most",
    "no_magnitudes",
    "population_uniques",
    "rows_inside",
]

Measure = Callable[[Sequence[Finding], Forest], float | None]


def most(name: str) -> Measure:
    """Measure the largest of a number in the details; None where one of them is not known."""
    return _worst(name, max)


def least(name: str) -> Measure:
    """Measure the smallest of a number in the details; None where one of them is not known."""
    return _worst(name, min)


def _worst(name: str, pick: Callable[[list[float]], float]) -> Measure:
    def measure(findings: Sequence[Finding], _: Forest) -> float | None:
        found = [finding.details.get(name) for finding in findings]
        known = [float(value) for value in found if value is not None]
        return pick(known) if len(known) == len(found) else None

    return measure


def epsilon(_: Sequence[Finding], forest: Forest) -> float:
    """Measure the claimed epsilon; infinite where the model claims none."""
    privacy = forest.privacy or {}
    claimed = privacy.get("epsilon")
    private = isinstance(claimed, int | float) and not privacy.get("not_private", False)
    return float(claimed) if private and claimed is not None else inf


def marketer_risk(findings: Sequence[Finding], _: Forest) -> float:
    """Measure the average chance to find a person, in the worst tree."""
    return float(findings[0].details["risks"]["prosecutor"]["average"])


def population_uniques(findings: Sequence[Finding], _: Forest) -> float | None:
    """Measure the estimated people who are alone in the data and in the population."""
    population = findings[0].details["population"]
    if population is None:
        return None
    estimate = population["alone_in_both"]["pitman"]
    return 0.0 if not population["alone_in_data"] else estimate


def memorised_excess(findings: Sequence[Finding], _: Forest) -> float | None:
    """Measure the largest excess of a claim over its control; every claim needs one."""
    claims = [finding for finding in findings if finding.status == "found"]
    controls = [control for finding in claims for control in finding.controls]
    if any(not finding.controls for finding in claims):
        return None
    excesses = [control.excess for control in controls]
    known = [excess.high for excess in excesses if excess is not None]
    return max(known, default=0.0) if len(known) == len(excesses) else None


def disclosed_by_one_known(findings: Sequence[Finding], _: Forest) -> float:
    """Measure the people who fall once the best other person is known."""
    return float(findings[0].details["people_disclosed_by_known"][1])


def attribute_advantage(findings: Sequence[Finding], _: Forest) -> float | None:
    """Measure how much more often a value is found than for unseen people and without the model.

    The smaller of the two, at its upper bound, for the column where that is
    largest; None where a column was left out.
    """
    details = findings[0].details
    if details["not_attacked"]:
        return None
    both = [min(row["excess_high"], row["beyond_imputation_high"]) for row in details["columns"]]
    return max(0.0, *map(float, both))


def rows_inside(findings: Sequence[Finding], _: Forest) -> float | None:
    """Measure the people who have a row in the file beside the trees."""
    people = float(findings[0].details["people"])
    # Something was found that is no row, such as a part that was not looked at.
    return None if not people and findings[0].status == "found" else people


def code_inside(findings: Sequence[Finding], _: Forest) -> float:
    """Measure the calls and code outside the usual libraries."""
    return float(findings[0].details["calls"] + findings[0].details["code"])


def no_magnitudes(forest: Forest) -> str | None:
    """Say that a classifier publishes no total of anything; None for other models."""
    return "the model publishes no magnitudes" if forest.schema.classes is not None else None


def common_divisor(_: Sequence[Finding], forest: Forest) -> float:
    """Measure the largest number that divides every count in the file; 0 without counts."""
    common = 0
    for tree in forest.trees:
        for counts in (tree.n_records, tree.counts):
            if counts is None:
                continue
            whole = np.unique(counts)
            if (whole != np.floor(whole)).any():
                return 1.0
            common = gcd(common, *whole.astype(np.int64).tolist())
    return float(common)
