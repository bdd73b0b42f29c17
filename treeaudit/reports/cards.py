"""One card per attack: what was found, in numbers and in rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treeaudit.findings import Finding, Skipped, Words
from treeaudit.report import Report
from treeaudit.reports.block import Blocks, Chart
from treeaudit.reports.blocks import blocks
from treeaudit.reports.controls import control_plots, control_text
from treeaudit.reports.masking import Numbers, percent
from treeaudit.reports.plain_text import plain
from treeaudit.reports.summary import worst
from treeaudit.reports.whiskers import Plot

__all__ = ["Card", "Proof", "cards"]

_TONE = {"high": "bad", "medium": "warn", "low": "info", "none": "ok"}
_WORD = {"high": "HIGH", "medium": "MEDIUM", "low": "LOW", "none": "CLEAR"}
_OWN_PLOTS = ("TA104", "TA105")
"""Attacks that draw their controls themselves."""
_NO_WORDS = Words(attacker="", assumes="", remedy="", limit="", reference="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One leaf that shows a finding."""

    where: str
    people: str
    says: str
    rule: str
    row: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An attack as the page shows it.

    Attributes
    ----------
    id, title, words
        Of the attack.
    word, tone
        The severity.
    number, unit, summary
        The number that matters, what it counts, and the sentence about it.
    facts
        Further measures, name and text.
    control
        What the claims were held against, or what is needed to do so.
    held
        The claims beside the same claims on people.
    plots
        Further shares on a common scale.
    proofs
        The worst leaves.
    charts
        Drawings.
    withheld
        Whether groups that show this are left out of a safe copy.
    clear, skipped
        Whether nothing was found and there is nothing to compare, and why it
        was not run.
    """

    id: str
    title: str
    words: Words
    word: str = "SKIPPED"
    tone: str = "skip"
    number: str = ""
    unit: str = ""
    summary: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    control: str = ""
    held: tuple[Plot, ...] = ()
    plots: tuple[Plot, ...] = ()
    proofs: tuple[Proof, ...] = ()
    charts: tuple[Chart, ...] = ()
    withheld: bool = False
    clear: bool = False
    skipped: str = ""


def cards(report: Report, numbers: Numbers, rows: frozenset[str]) -> list[Card]:
    """Return a card per attack.

    Parameters
    ----------
    report
        The audit.
    numbers
        How numbers are written.
    rows
        Ids of the rows of the table that the page shows.
    """
    return [_card(report, result, numbers, rows) for result in report.results]


def _card(
    report: Report, result: Finding | Skipped, numbers: Numbers, rows: frozenset[str]
) -> Card:
    words = report.words.get(result.id, _NO_WORDS)
    if isinstance(result, Skipped):
        reason = numbers.text(result.reason)
        return Card(id=result.id, title=result.title, words=words, skipped=reason)
    number, unit = _figure(report, result, numbers) if result.status == "found" else ("", "")
    tested = bool(result.controls)
    drawn = blocks(result, numbers) if tested or result.status == "found" else Blocks()
    return Card(
        id=result.id,
        title=result.title,
        words=words,
        word=_WORD[result.severity],
        tone=_TONE[result.severity],
        number=number,
        unit=unit,
        summary=_summary(result, numbers),
        facts=(*(() if numbers.safe else _facts(result.id, result.details)), *drawn.facts),
        control=control_text(report, result, numbers),
        held=() if result.id in _OWN_PLOTS else control_plots(result, numbers),
        plots=drawn.plots,
        proofs=_proofs(report, result, numbers, rows),
        charts=drawn.charts,
        withheld=numbers.safe and bool(result.evidence),
        clear=result.status == "clear" and not tested,
    )


def _summary(finding: Finding, numbers: Numbers) -> str:
    """Return the sentence of a finding.

    A safe copy drops those about people, whose numbers it shows rounded: the
    exact ones beside them would undo the rounding.
    """
    if not numbers.safe or finding.status == "clear":
        return numbers.text(finding.summary)
    return numbers.text(finding.summary) if finding.id.startswith("TA2") else ""


def _figure(report: Report, finding: Finding, numbers: Numbers) -> tuple[str, str]:
    if finding.id == "TA105" and "auc" in finding.details:
        return _area(finding, numbers)
    if finding.id == "TA201":
        n = len(finding.details["features"])
        return f"{n:,}", "feature that identifies" if n == 1 else "features that identify people"
    if finding.id not in _FIGURES:
        n = finding.people or finding.leaves
        return (numbers.count(n), "people" if finding.people else "leaves") if n else ("", "")
    counted = [
        (worst(report, finding.id, key) if key else finding.people, unit)
        for key, unit in _FIGURES[finding.id]
    ]
    n, unit = next((pair for pair in counted if pair[0]), counted[-1])
    text = numbers.count(n)
    where = ""
    if report.forest.n_trees > 1:
        where = " in the worst tree" if finding.per_tree else ", summed over all trees"
    person = "person" if text == "1" else "people"
    return text, unit.format(people=person, k=numbers.k) + where


def _area(finding: Finding, numbers: Numbers) -> tuple[str, str]:
    details = finding.details
    if numbers.safe:
        return f"{details['auc']:.1f}", "AUC, rounded; a coin has 0.5"
    interval = f"{details['auc_low']:.3f}–{details['auc_high']:.3f}"
    return f"{details['auc']:.3f}", f"AUC, 95 % interval {interval}; a coin has 0.5"


_FIGURES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "TA101": (
        ("unique_people", "{people} alone in a leaf"),
        ("below_k_people", "{people} in leaves of fewer than {k}"),
    ),
    "TA102": (("homogeneous_people", "{people} whose label is certain"),),
    "TA103": (("", "more {people} disclosed once one other in the leaf is known"),),
    "TA110": (("", "{people} whose value in a named column everybody in their leaf has"),),
    "TA104": (("", "{people} of whom the file gives away a hidden value"),),
}
"""Where the number of a card is found, and what it counts."""


def _facts(attack: str, details: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    if attack == "TA101" and "risks" not in details:
        text = (
            f"{percent(details['prosecutor_risk'])} for the most exposed person, "
            f"{percent(details['marketer_risk'])} on average"
        )
        return (("Re-identified", text),)
    if attack == "TA102":
        text = (
            f"at least {details['distinct_l']} distinct per group, entropy l "
            f"{details['entropy_l']:.2f}, t-closeness {details['t_closeness']:.2f}"
        )
        return (("Diversity", text),)
    return ()


def _proofs(
    report: Report, finding: Finding, numbers: Numbers, rows: frozenset[str]
) -> tuple[Proof, ...]:
    # To be listed here tells something about a leaf, whatever its size.
    if numbers.safe or finding.status == "clear":
        return ()
    many = report.forest.n_trees > 1
    proofs = []
    for leaf in finding.evidence[: 3 if many else 5]:
        row = f"t{leaf.tree}-{leaf.leaf}"
        proofs.append(
            Proof(
                where=f"Tree {leaf.tree}, leaf {leaf.leaf}" if many else f"Leaf {leaf.leaf}",
                people=numbers.people(leaf.people),
                says=plain(leaf.says, 160),
                rule=plain(leaf.rule, 600),
                row=row if row in rows else "",
            )
        )
    return tuple(proofs)
