"""Every check of a policy by the numbers of the route, its status and the verdict by the rule."""

from collections.abc import Iterator, Mapping
from math import gcd
from typing import Any

import numpy as np

from tests.route.expected import Expected

__all__ = ["THRESHOLDS", "disagreements"]

THRESHOLDS = {
    "min-leaf": (2, 5, 9),
    "max-unique-people": (0, 3),
    "max-small-leaf-people": (0, 20),
    "max-small-leaf-share": (0.0, 0.3),
    "max-marketer-risk": (0.05, 0.3),
    "min-degrees-of-freedom": (10, 100),
    "max-certain-share": (0.0, 0.4),
    "max-nearly-certain-share": (0.05, 0.6),
    "min-distinct-l": (2, 3),
    "min-entropy-l": (1.2, 2.0),
    "max-t-closeness": (0.3, 0.6),
    "max-dominant-share": (0.8, 0.99),
    "min-cell": (2, 5),
    "max-absent-label-people": (0, 50),
    "max-disclosed-by-one-known": (0, 40),
    "max-joint-label-excess": (0.0, 0.1),
    "max-joint-one-label-excess": (0.1, 0.5),
    "max-training-rows-inside": (0, 1),
    "max-calls": (0, 1),
    "max-extra-bytes": (0, 1),
    "round-to": (1, 2),
    "max-epsilon": (1.0, 5.0),
}
"""What a policy asks here, by check."""

_OF_LABELS = (
    "max-certain-share max-nearly-certain-share min-distinct-l min-entropy-l max-t-closeness "
    "max-dominant-share min-cell max-absent-label-people max-disclosed-by-one-known"
).split()
_JOINT = ("max-joint-label-excess", "max-joint-one-label-excess")
_OF_PEOPLE = ("min-entropy-l", "max-t-closeness", "max-dominant-share")


def disagreements(report: Mapping[str, Any], expected: Expected) -> Iterator[str]:
    """Yield what the checks or the verdict say otherwise, a line each."""
    details = {one["id"]: one["details"] for one in report["findings"]}
    unseen = {one["id"]: one["unseen"] for one in report["findings"]}
    for check in report["checks"]:
        name, status, measured = check["name"], check["status"], check["measured"]
        found = _measured(name, expected, details)
        if found is None:
            continue
        if isinstance(found, str):
            wanted = None if found == "skipped" else 0.0
            if (status, measured) != (found, wanted):
                yield f"check {name}: {status}, {measured}; it has to be {found}"
            continue
        holds = _holds(name, found, check["threshold"])
        right = "pass" if holds else "fail"
        if holds and name == "max-nearly-certain-share" and expected.weighed:
            # Of weights nobody knows how many people are the others.
            right = "skipped"
        if holds and any(unseen[one] for one in _OF.get(name.split("-")[1], ()) if one in unseen):
            right = "skipped"
        if status != right:
            yield f"check {name}: {status} at {measured}; {found} is {right} ({check['reason']})"
        if measured is not None and not np.isclose(measured, found, rtol=1e-6, atol=1e-9):
            yield f"check {name}: measured {measured}, not {found}"
        if measured is None and status == "fail" and np.isfinite(found):
            yield f"check {name}: fails without a number"
    states = {check["status"] for check in report["checks"]}
    verdict = "fail" if "fail" in states else "review" if "skipped" in states else "pass"
    if report["verdict"] != verdict:
        yield f"verdict {report['verdict']}, not {verdict}"


_OF = {"joint": ("TA106",), "disclosed": ("TA103",), "nearly": ("TA109", "TA110")}
"""Whose finding may not have seen everything, by a word of the check."""


def _holds(name: str, measured: float, threshold: float) -> bool:
    if name == "round-to":
        return threshold == 0 or measured % threshold == 0
    return measured >= threshold if name.startswith("min-") else measured <= threshold


def _measured(name: str, expected: Expected, details: Mapping[str, Any]) -> float | str | None:
    """Return what has to be measured, or the status where nothing can be; None: not known here."""
    drawn, findings = expected.drawn, expected.findings
    if name == "max-epsilon":
        return float("inf")
    if name in ("max-training-rows-inside", "max-calls", "max-extra-bytes"):
        # scikit-learn keeps the weight of every row, which tells the labels; of numbers the
        # leaves themselves tell targets.
        kept = getattr(drawn.model, "_sample_weight", None) is not None
        return None if drawn.answer == "number" or kept or drawn.rest else 0.0
    if name == "round-to":
        return _common_divisor(expected)
    if name in _JOINT:
        return _together(name, expected, details)
    if name in _OF_LABELS:
        return _of_labels(name, expected, details)
    if "TA101" not in findings:
        return "skipped"
    said, real = details["TA101"], findings["TA101"]
    once, share = said["below_k_in_any_tree"], real["below_k_share"]
    if name == "min-degrees-of-freedom" and real["residual_degrees_of_freedom"] is None:
        return "skipped"
    if expected.loose:
        share = said["below_k_share"]
    return {
        "min-leaf": real["min_leaf"],
        "max-unique-people": said["unique_in_any_tree"]["high"],
        "max-small-leaf-people": once["high"],
        "max-small-leaf-share": max(share, min(1.0, once["high"] / once["among"])),
        "max-marketer-risk": real["risks"]["prosecutor"]["average"],
        "min-degrees-of-freedom": real["residual_degrees_of_freedom"],
    }[name]


def _together(name: str, expected: Expected, details: Mapping[str, Any]) -> float | str | None:
    drawn = expected.drawn
    if len(drawn.trees) == 1 or drawn.joint == "path":
        return "not-applicable"
    apart = drawn.joint in ("boosted", "weighed")
    if apart and not expected.train:
        return "skipped"
    if apart:
        # The least squares of its steps are solved elsewhere.
        return None
    if drawn.sized_only or drawn.answer == "number" or expected.named:
        return None
    if "TA106" not in expected.findings or not details["TA106"]:
        return "skipped"
    key = "excess" if name == _JOINT[0] else "excess_of_one_label"
    # Equations that hold several answers are solved one way here, another there.
    return max(0.0, expected.findings["TA106"].get(key, details["TA106"][key]))


def _of_labels(name: str, expected: Expected, details: Mapping[str, Any]) -> float | str | None:
    drawn, findings = expected.drawn, expected.findings
    if drawn.joint == "outputs":
        return "skipped"
    if drawn.sized_only:
        return None
    if drawn.answer in ("number", ""):
        return _of_numbers(name, expected, details)
    if drawn.joint == "boosted":
        # The labels of the first tree follow from its steps, which is computed elsewhere.
        return None
    if name == "max-disclosed-by-one-known":
        if not details["TA103"]:
            return "skipped"
        return details["TA103"]["disclosed_by_one_in_any_tree"]["high"]
    said, real = details["TA102"], findings["TA102"]
    if name == "min-cell" and real["smallest_cell"] is None:
        return "skipped"
    if name in _OF_PEOPLE and real["measured_on"] != "people":
        return "skipped"
    shares = said if expected.loose else real

    def share(key: str, once: Mapping[str, Any]) -> float:
        return max(shares[key], min(1.0, once["high"] / once["among"]))

    return {
        "max-certain-share": share("certain_share", said["homogeneous_in_any_tree"]),
        "max-nearly-certain-share":
            share("nearly_certain_share", said["nearly_certain_in_any_tree"]),
        "min-distinct-l": real["distinct_l"],
        "min-entropy-l": real["entropy_l"],
        "max-t-closeness": real["t_closeness"],
        "max-dominant-share": real["largest_share"],
        "min-cell": real["smallest_cell"],
        "max-absent-label-people": said["absent_class_in_any_tree"]["high"],
    }[name]  # fmt: skip


def _of_numbers(name: str, expected: Expected, details: Mapping[str, Any]) -> float | str | None:
    """Return what has to be measured where a model holds no labels: of its target, with people."""
    if name == "max-nearly-certain-share" and expected.drawn.answer == "number":
        if not details["TA109"]:
            return "skipped"
        return max(
            max(one["nearly_certain_share"], min(1.0, once["high"] / once["among"]))
            for one in (details["TA109"], details["TA110"])
            if one
            for once in (one["nearly_certain_in_any_tree"],)
        )
    said = details["TA110"]
    if not said:
        return "not-applicable"
    once = said["homogeneous_in_any_tree"]
    return {
        "max-certain-share": max(said["certain_share"], min(1.0, once["high"] / once["among"])),
        "min-distinct-l": said["distinct_l"],
        "min-entropy-l": said["entropy_l"],
        "max-t-closeness": said["t_closeness"],
        "max-dominant-share": said["largest_share"],
    }.get(name, "not-applicable")


def _common_divisor(expected: Expected) -> float:
    common = 0
    for each in expected.in_records:
        for group in each:
            common = gcd(common, len(group.members)) if expected.drawn.tells_sizes else common
            if (group.counts % 1 > 0).any():
                return 1.0
            common = gcd(common, *group.counts.astype(int).tolist())
    return float(common)
