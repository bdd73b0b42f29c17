"""The report in Markdown, for pull requests: the verdict, who is exposed, what to do, a table.

Text from a model is untrusted. Every character that Markdown, HTML or a forge could take for
more than itself is written as an entity, and mentions are broken up.
"""

import html
import re
from functools import partial

from markupsafe import Markup

from treeaudit.findings.report import Report
from treeaudit.reports.advice import next_steps, verdict_line
from treeaudit.reports.annex import annex_of
from treeaudit.reports.annex.text import markdown_of
from treeaudit.reports.cards import Card, cards
from treeaudit.reports.plain_text import plain
from treeaudit.reports.provenance import made, made_from, shown_name
from treeaudit.reports.summary import (
    CheckLine,
    Glossary,
    check_lines,
    headline,
    pill,
    release,
)
from treeaudit.version import __version__

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~&$]|:(?=//)|(?<=w)\.")
_WHOLE = 1 << 20
"""Characters of a cell of an annex, which is filed."""
_MARK = {"fail": "✕", "accepted": "!", "pass": "✓", "skipped": "–", "not-applicable": "·"}


def to_markdown(report: Report) -> str:
    """Return the report as Markdown."""
    checks = check_lines(report)
    open_ = [line for line in checks if line.status not in ("pass", "not-applicable")]
    every = cards(report, frozenset())
    told = [card for card in every if not card.clear and not card.skipped]
    clear = [f"{card.clear_title} ({card.id})" for card in every if card.clear]
    annex = annex_of(report)
    skipped = [f"{card.title.lower()} ({card.id})" for card in every if card.skipped]
    blocks = [
        f"### {pill(report)[0]}: {escaped(shown_name(report))}",
        f"**{escaped(release(report))}** {_bold(headline(report))}",
        *_todo(report),
        _checks(open_),
        escaped(f"{verdict_line(report)}."),
        _findings(told),
        escaped(f"Looked, and found nothing: {', '.join(clear)}.") if clear else "",
        escaped(f"Not run: {', '.join(skipped)}.") if skipped else "",
        *(() if annex is None else markdown_of(annex, partial(escaped, most=_WHOLE))),
        f"<sub>{escaped(f'treeaudit {__version__}, {made_from(report)}, {made(report)}; ')}"
        "`treeaudit explain ID` explains an id</sub>",
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def escaped(text: str, most: int = 800) -> str:
    r"""Return text that Markdown shows as it stands, in one line."""
    shown = _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", plain(text, most))
    return shown.replace("@", "&#64;<!-- -->")


def fenced(text: str, language: str = "text") -> str:
    """Return text that Markdown shows line by line as it stands."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _bold(markup: Markup) -> str:
    """Return a sentence whose tags are all our own ``<b>``."""
    told = [escaped(html.unescape(part)) for part in re.split(r"</?b>", str(markup))]
    return "".join(f"**{part}**" if i % 2 else part for i, part in enumerate(told))


def _todo(report: Report) -> list[str]:
    steps = next_steps(report)
    blocks = ["**What to do**"] if steps else []
    for number, step in enumerate(steps[:3], start=1):
        blocks.append(f"{number}. {escaped(step.text[:1].upper() + step.text[1:])}")
        blocks += [fenced(step.command, "sh")] if step.command else []
    return blocks


def _checks(lines: list[CheckLine]) -> str:
    if not lines:
        return ""
    rows = ["|  | check | measured | policy |", "|---|---|---:|---|"]
    rows += [
        f"| {_MARK[line.status]} | {escaped(_with_id(line.title, line.attack))} | "
        f"{escaped(line.measured)} | {escaped(line.bound)} |"
        for line in lines
    ]
    return "\n".join(rows)


def _findings(told: list[Card]) -> str:
    gloss = Glossary()
    return "\n".join(
        f"- **{card.word}** {escaped(_with_id(card.title, card.id))}: "
        f"{escaped(gloss.words(card.gist))}"
        for card in told
    )


def _with_id(title: str, attack: str) -> str:
    return f"{title}, {attack}" if attack else title
