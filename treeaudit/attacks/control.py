"""The claim of some leaves beside the same claim on training and on unseen people.

In small leaves a model often remembers; in large leaves of one label it often
states a fact of the population. Only people who were not in the training data
can tell one from the other.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.case import Case
from treeaudit.findings.checks import Rule
from treeaudit.findings.findings import Control, Finding, Severity
from treeaudit.model.forest import Forest
from treeaudit.people.records import Records
from treeaudit.stats import Estimate, difference, fact, wilson

__all__ = ["MEMORY", "explained", "leaf_control", "lowered", "reading"]

Flag = npt.NDArray[np.bool_]
Float = npt.NDArray[np.float64]

SMALL_EXCESS = 0.1
"""An excess that is certainly below this is no memory worth the name."""


def leaf_control(case: Case, chosen: Flag, of: str) -> Control | None:
    """Test what some leaves say of the labels of the people in them.

    The claim is that whoever fits the leaf has its most frequent label. In a
    forest each person counts once, with the share of their leaves that are
    right.

    Parameters
    ----------
    case
        With ``train``, ``test`` or both.
    chosen
        Shape ``(n,)``: which leaves of ``case.table``.
    of
        What they are called, such as ``leaves of fewer than 5 people``.

    Returns
    -------
    Control or None
        None where there is nobody to test the claim on, or nothing is claimed.
    """
    table = case.table
    nobody = case.train is None and case.test is None
    comparable = table.tells_labels and case.forest.tree_classes is None
    if nobody or not comparable or not chosen.any():
        return None
    size, labels = table.size[chosen], table.labels
    right = np.where(np.isnan(labels.majority), labels.share * table.size, labels.majority)
    control = Control(of=of, claim=fact(float(right[chosen].sum() / size.sum()), int(size.sum())))
    train, test = case.labelled("train"), case.labelled("test")
    if train is not None:
        tested = _share(case, train, chosen)
        if tested is not None:
            share, people = tested
            control = replace(control, verified=fact(share, int(people.sum())))
    if test is not None:
        tested = _share(case, test, chosen)
        if tested is not None:
            share, people = tested
            n = int(people.sum())
            unseen = wilson(min(share * n, n), n)
            control = replace(
                control,
                control=unseen,
                baselines=_baselines(case, test, people),
                excess=difference(control.verified or control.claim, unseen),
            )
    return replace(control, sentence=_sentence(case, control))


def _share(case: Case, records: Records, chosen: Flag) -> tuple[float, Flag] | None:
    """Return how often the leaves are right for people, and which people fit them."""
    labels = case.table.labels
    fits, right = np.zeros(len(records)), np.zeros(len(records))
    for tree in range(case.forest.n_trees):
        position = case.table.positions(tree, records.node[:, tree])
        inside = (position >= 0) & chosen[position]
        fits += inside
        right += inside & (labels.top[position] == records.known_labels)
    people = fits > 0
    if not people.any():
        return None
    return float((right[people] / fits[people]).mean()), people


def _baselines(case: Case, test: Records, people: Flag) -> dict[str, Estimate]:
    """Return how well the same unseen people are guessed without the model."""
    answer, n = test.known_labels[people], int(people.sum())
    common = int(np.bincount(test.known_labels).argmax())
    found = {"most frequent label": wilson(int((answer == common).sum()), n)}
    if case.guess is not None:
        guessed = case.guess()[people].argmax(axis=1)
        found["guess without the model"] = wilson(int((guessed == answer).sum()), n)
    return found


def explained(control: Control | None) -> bool:
    """Tell whether unseen people fit as well, so that the claim is no memory."""
    return control is not None and control.excess is not None and control.excess.high < SMALL_EXCESS


def reading(control: Control) -> Literal["memory", "fact", "open"]:
    """Return what unseen people say of a claim."""
    if control.excess is None:
        return "open"
    if explained(control):
        return "fact"
    return "memory" if control.excess.low > 0 else "open"


def lowered(severity: Severity, controls: Sequence[Control | None]) -> Severity:
    """Return the severity, one step lower where every claim holds for unseen people as well."""
    if controls and all(explained(control) for control in controls):
        steps: dict[Severity, Severity] = {"high": "medium", "medium": "low"}
        return steps.get(severity, severity)
    return severity


def _sentence(case: Case, control: Control) -> str:
    test = case.labelled("test")
    if test is None:
        if control.verified is None:
            return ""
        return (
            f"Verified: in {control.of}, {control.verified.value:.1%} of the "
            f"{control.verified.n:,} training people who fit have the label that their leaf "
            "states. Without unseen people (--test) nobody can say whether that is memory."
        )
    if control.control is None or control.excess is None:
        return (
            f"None of the {len(test):,} unseen people fits {control.of}: nothing speaks for "
            "a fact of the population."
        )
    unseen, seen = control.control, control.verified or control.claim
    who = "person who fits" if unseen.n == 1 else "people who fit"
    text = (
        f"In {control.of}, {unseen.value:.0%} ({unseen.low:.0%}–{unseen.high:.0%}) of {unseen.n:,} "
        f"unseen {who} have the label that the leaf states, against {seen.value:.0%} of the "
        "training people: "
    )
    if explained(control):
        return text + "mostly a fact of the population, not memory."
    if control.excess.low > 0:
        return text + "the difference was memorised."
    return text + "too few unseen people fit to tell memory from fact."


def _memorised_excess(findings: Sequence[Finding], _: Forest) -> float | None:
    """Measure the largest excess of a claim over its control; every claim needs one."""
    claims = [finding for finding in findings if finding.status == "found"]
    controls = [control for finding in claims for control in finding.controls]
    if any(not finding.controls for finding in claims):
        return None
    excesses = [control.excess for control in controls]
    known = [excess.high for excess in excesses if excess is not None]
    return max(known, default=0.0) if len(known) == len(excesses) else None


MEMORY = Rule(
    name="max-memorised-excess",
    title="Claims that hold less for unseen people (upper bound)",
    bound="at most {:.1%}",
    measure=_memorised_excess,
    missing="needs unseen people for every claim (--test)",
    share=True,
)
"""The check of every attack whose claims are held against unseen people."""
