"""Phrases and numbers of people in words, and the style of a severity or verdict."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from treeaudit.findings.details import Agreeing, Count, People, Phrase, Score, Share, Strong
from treeaudit.model.words import in_percent
from treeaudit.reports.plain_text import plain
from treeaudit.stats import Estimate

if TYPE_CHECKING:
    from markupsafe import Markup


class Style(NamedTuple):
    """A word or mark, the tone of the page, and the styles of a label and of a plain word."""

    word: str
    tone: str
    style: str
    plain: str = ""


SEVERITY = {
    "high": Style("HIGH", "bad", "bold red"),
    "medium": Style("MEDIUM", "warn", "bold yellow"),
    "low": Style("LOW", "info", "cyan"),
    "none": Style("CLEAR", "ok", "green"),
    "skipped": Style("SKIP", "skip", "dim"),
}
VERDICT = {
    "pass": Style("✓", "ok", "bold white on green", "bold green"),
    "fail": Style("✕", "bad", "bold white on red", "bold red"),
    "review": Style("–", "warn", "black on yellow", "bold yellow"),
    "accepted": Style("◇", "info", "bold white on blue", "bold blue"),
    "observed": Style("", "skip", "reverse", "dim"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Group sizes that share a colour."""

    # low, high: people, both inclusive; ``high`` is None where there is no bound
    low: int
    high: int | None
    shade: str  # Name of the colour: ``r4`` for the most exposed to ``r0``
    name: str


LEVELS = (
    Level(low=1, high=1, shade="r4", name="alone"),
    Level(low=2, high=4, shade="r3", name="2–4"),
    Level(low=5, high=9, shade="r2", name="5–9"),
    Level(low=10, high=49, shade="r1", name="10–49"),
    Level(low=50, high=None, shade="r0", name="50 or more"),
)
"""The colour scale of group sizes, the most exposed first."""


def percent(ratio: float, *beside: float) -> str:
    """Return a share in percent that never rounds to nobody, to everybody, or onto a threshold."""
    return f"{ratio:.0%}" if ratio in (0, 1) else in_percent(ratio, 1, *beside)


def rate(share: Estimate) -> str:
    """Return a share of people in percent, with a decimal where that tells something."""
    text = f"{share.value:.0%}"
    edge = text in ("0%", "100%") or share.value < 0.1 or share.value > 0.9
    return percent(share.value) if edge or share.n >= 1_000 else text


def interval(share: Estimate) -> str:
    """Return the 95 % interval of a share; nothing where it is counted."""
    if share.low == share.high:
        return ""
    places = 1 if share.high - share.low < 0.05 else 0
    return f"{in_percent(share.low, places)[:-1]}–{in_percent(share.high, places)}"


def in_words(part: object) -> str:
    """Return a phrase, or what stands in one, as text."""
    match part:
        case Phrase():
            return part.template.format(*map(in_words, part.parts))
        case Agreeing():
            return part.noun
        case Count():
            return f"{part:,} {part.noun}".rstrip()
        case Share():
            return percent(part)
        case Estimate():
            return rate(part)
        case Score():
            return f"{part.value:.3f}"
        case str():
            return plain(part, 600)
        case bool() | None:
            raise TypeError(f"{part!r} is nothing to tell")
        case int():
            return f"{part:,}"
    return f"{part:g}"


def in_bold(phrase: Phrase) -> "Markup":
    """Return a phrase as markup, numbers of people and words that matter in bold."""
    from markupsafe import Markup  # pages alone are marked up

    bold = Markup("<b>{}</b>")
    parts = [
        bold.format(text) if isinstance(part, People | Strong) else text
        for part, text in ((part, in_words(part)) for part in phrase.parts)
    ]
    return Markup(phrase.template).format(*parts)  # noqa: S704  # templates are our own
