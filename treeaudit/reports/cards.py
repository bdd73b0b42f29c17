"""One card per attack: what was found, in numbers and in rules."""

from collections.abc import Iterator
from dataclasses import dataclass

from treeaudit.attacks.control import explained, memory
from treeaudit.findings.details import Score
from treeaudit.findings.findings import About, Control, Figure, Finding, Skipped, View, Words
from treeaudit.findings.report import Report, view_of
from treeaudit.model.words import number_of
from treeaudit.reports.plain_text import plain
from treeaudit.reports.plots import Chart, Drawing, Row, draw_curve, draw_plot, share_row
from treeaudit.reports.wording import SEVERITY, in_words, rate
from treeaudit.stats import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """One claim, and how many people it holds of beyond what unseen people would show."""

    verdict: str
    tone: str
    text: str


def _control_plots(finding: Finding) -> tuple[Drawing, ...]:
    """Return a plot per control of a finding."""
    return tuple(
        Drawing(
            title=f"{control.of[:1].upper()}{control.of[1:]}",
            lines=tuple(_lines(control)),
            sentences=(control.sentence,),
        )
        for control in finding.controls
    )


def _lines(control: Control) -> Iterator[Row]:
    yield share_row("File claims", "claim", control.claim)
    if control.verified is not None:
        yield share_row("Training people", "seen", control.verified)
    if control.control is not None:
        yield share_row("Unseen people", "unseen", control.control)
    for name, guess in control.baselines.items():
        plain = name if name.startswith("guess") else f"guess: {name}"
        yield share_row(f"{plain[:1].upper()}{plain[1:]}", "guess", guess)


def _memorised(found: Estimate) -> str:
    said = in_words(memory(found))
    return f"{said[:1].upper()}{said[1:]}"


def control_claims(report: Report) -> list[_Held]:
    """Return what the verdict card says of memory and fact, claim by claim.

    Where no unseen people were given, that nobody can tell; nothing where there
    is no such claim.
    """
    views = [view_of(report, result) for result in report.results]
    if "test" not in report.people and any(view.asks_control for view in views):
        text = "Only unseen people (--test) tell what of this is memory and what a fact of "
        text += "the population"
        return [_Held(verdict="Not decided", tone="skip", text=text)]
    if "test" not in report.people:
        return []
    told: dict[object, Control] = {}
    for control in (control for view in views for control in view.held):
        # Where every small leaf has one label, two claims are about the same people.
        told.setdefault((control.claim, control.verified, control.control), control)
    return [_control_card(report, control) for control in told.values()]


def _control_card(report: Report, control: Control) -> _Held:
    found = control.memorised
    certain = control.excess is not None and control.excess.low > 0
    return _Held(
        verdict="Not decided" if found is None else _memorised(found),
        tone="info" if explained(control) else "bad" if certain else "skip",
        text=_claim_text(report, control),
    )


def _claim_text(report: Report, control: Control) -> str:
    over = ", counted in every tree" if report.forest.n_trees > 1 else ""
    where = f"In {control.of} ({number_of(control.claim.n, 'person', 'people')}{over})"
    if control.control is None:
        return f"{where} no unseen person fits"
    return (
        f"{where} the label fits {rate(control.control)} of unseen people, "
        f"against {rate(control.verified or control.claim)} in training"
    )


def _control_text(report: Report, finding: Finding, about: About) -> str:
    """Return what the row "Control" of a card says: what was given, or what to give."""
    if about == "file":
        return "none needed: this is read off the file, not inferred"
    given = [
        f"{rows:,} {what} people of {name}"
        for role, what in (("test", "unseen"), ("train", "training"))
        if role in report.people
        for name, rows in (report.people[role],)
    ]
    if not given:
        return (
            "not measured: this is the claim of the file alone; give people who were not in the "
            "training data with --test"
        )
    text = " and ".join(given)
    if "test" not in report.people:
        return f"{text} verify the claim; only unseen people (--test) tell memory from fact"
    if not finding.controls and about == "table":
        return f"{text} were given, but this claim is not about labels that could be compared"
    return text


_NO_WORDS = Words(attacker="", assumes="", remedy="", limit="", reference="")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proof:
    """One leaf that shows a finding."""

    where: str
    people: str
    says: str
    rule: str
    row: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An attack as the page shows it."""

    id: str
    title: str
    words: Words
    word: str = "SKIPPED"
    tone: str = "skip"
    gist: str = ""  # What was found in one line
    # number, unit, summary: the number that matters, what it counts, and the sentence about it
    number: str = ""
    unit: str = ""
    summary: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    control: str = ""  # What the claims were held against, or what is needed to do so
    held: tuple[Drawing, ...] = ()
    plots: tuple[Drawing, ...] = ()  # Further shares on a common scale
    proofs: tuple[_Proof, ...] = ()  # The worst leaves
    charts: tuple[Chart, ...] = ()
    # clear, skipped: whether nothing was found, and why it was not run
    clear: bool = False
    # The title where it stands among those that found nothing, with how far they looked
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
        control=_control_text(report, result, about),
        held=() if about == "people" else _control_plots(result),
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


def _proofs(report: Report, finding: Finding, rows: frozenset[str]) -> tuple[_Proof, ...]:
    if finding.status == "clear":
        return ()
    many = report.forest.n_trees > 1
    proofs = []
    for leaf in finding.evidence[: 3 if many else 5]:
        row = f"t{leaf.tree}-{leaf.leaf}"
        proofs.append(
            _Proof(
                where=f"Tree {leaf.tree}, leaf {leaf.leaf}" if many else f"Leaf {leaf.leaf}",
                people=number_of(leaf.people, "person", "people"),
                says=plain(leaf.says, 160),
                rule=plain(leaf.rule, 600),
                row=row if row in rows else "",
            )
        )
    return tuple(proofs)
