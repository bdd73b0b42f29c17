"""One card per attack: what was found, in numbers and in rules."""

from dataclasses import dataclass

from treeaudit.findings.findings import Finding, Skipped, Words
from treeaudit.findings.numbers import Score
from treeaudit.findings.report import Report, view_of
from treeaudit.findings.view import Figure, View
from treeaudit.model.words import number_of
from treeaudit.reports.controls import control_plots, control_text
from treeaudit.reports.drawn import Chart, draw_curve, draw_plot
from treeaudit.reports.looks import SEVERITY
from treeaudit.reports.plain_text import plain
from treeaudit.reports.whiskers import Drawing
from treeaudit.reports.wording import in_words

__all__ = ["Card", "Proof", "cards"]

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
    gist
        What was found in one line.
    number, unit, summary
        The number that matters, what it counts, and the sentence about it.
    control
        What the claims were held against, or what is needed to do so.
    plots
        Further shares on a common scale.
    proofs
        The worst leaves.
    clear, skipped
        Whether nothing was found, and why it was not run.
    clear_title
        The title where it stands among those that found nothing, with how far they looked.
    """

    id: str
    title: str
    words: Words
    word: str = "SKIPPED"
    tone: str = "skip"
    gist: str = ""
    number: str = ""
    unit: str = ""
    summary: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    control: str = ""
    held: tuple[Drawing, ...] = ()
    plots: tuple[Drawing, ...] = ()
    proofs: tuple[Proof, ...] = ()
    charts: tuple[Chart, ...] = ()
    clear: bool = False
    clear_title: str = ""
    skipped: str = ""


def cards(report: Report, rows: frozenset[str]) -> list[Card]:
    """Return a card per attack; ``rows`` are the ids of the rows of the table that are shown."""
    return [_card(report, result, rows) for result in report.results]


def _card(report: Report, result: Finding | Skipped, rows: frozenset[str]) -> Card:
    page = report.pages.get(result.id)
    words = _NO_WORDS if page is None else page.words
    if isinstance(result, Skipped):
        return Card(id=result.id, title=result.title, words=words, skipped=result.reason)
    about = "file" if page is None else page.about
    view = view_of(report, result)
    found, tested = result.status == "found", bool(result.controls)
    number, unit = _figure(view.figure) if view.figure is not None and found else ("", "")
    shown = view if tested or found else View()
    drawn = [draw_plot(plot) for plot in shown.plots]
    charts = [draw_curve(curve) for curve in shown.curves]
    return Card(
        id=result.id,
        title=result.title,
        words=words,
        word=SEVERITY[result.severity].word,
        tone=SEVERITY[result.severity].tone,
        gist=_gist(view.figure, f"{number} {unit}".strip(), result.summary),
        number=number,
        unit=unit,
        summary=result.summary,
        facts=tuple((name, in_words(text)) for name, text in shown.facts),
        control=control_text(report, result, about),
        held=() if about == "people" else control_plots(result),
        plots=tuple(one for one in drawn if one is not None),
        proofs=_proofs(report, result, rows),
        charts=tuple(one for one in charts if one is not None),
        clear=not found,
        clear_title=result.title.lower()
        + (" (each tree alone)" if result.per_tree is not None else ""),
    )


def _gist(figure: Figure | None, shown: str, summary: str) -> str:
    """Return a line: the number, or the sentence where the number alone says little."""
    if figure is None or not shown:
        return summary
    tells = figure.counts and (isinstance(figure.number, Score) or figure.number)
    return shown if tells or not summary else summary


def _figure(figure: Figure) -> tuple[str, str]:
    """Return the number of a card and what it counts."""
    if isinstance(figure.number, Score):
        score = figure.number
        interval = f", 95 % interval {score.low:.3f}–{score.high:.3f}"
        return in_words(score), figure.counts.format(interval)
    return f"{figure.number:,}", f"{figure.number.noun} {figure.counts}".rstrip()


def _proofs(report: Report, finding: Finding, rows: frozenset[str]) -> tuple[Proof, ...]:
    if finding.status == "clear":
        return ()
    many = report.forest.n_trees > 1
    proofs = []
    for leaf in finding.evidence[: 3 if many else 5]:
        row = f"t{leaf.tree}-{leaf.leaf}"
        proofs.append(
            Proof(
                where=f"Tree {leaf.tree}, leaf {leaf.leaf}" if many else f"Leaf {leaf.leaf}",
                people=number_of(leaf.people, "person", "people"),
                says=plain(leaf.says, 160),
                rule=plain(leaf.rule, 600),
                row=row if row in rows else "",
            )
        )
    return tuple(proofs)
