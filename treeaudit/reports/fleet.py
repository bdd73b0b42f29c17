"""The list of many models: lines for a terminal, and JSON."""

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from treeaudit.reports.fleet_rows import VERDICTS, Row, exit_code, worst_first
from treeaudit.reports.html import environment
from treeaudit.reports.plain_text import plain
from treeaudit.reports.severity_styles import VERDICT
from treeaudit.reports.to_json import HEAD, as_line
from treeaudit.version import __version__

if TYPE_CHECKING:
    from rich.text import Text


_ROWS, _REPORTS, _OTHERS = 5_000, 1_000, 500
"""The most that a page shows; the rest is counted, and in the JSON lines."""


def to_html(
    rows: Sequence[Row],
    aside: Sequence[tuple[str, str]] = (),
    *,
    release_safe: bool = False,
    created: datetime.date | None = None,
) -> str:
    """Return the page.

    Examples
    --------
    >>> page = to_html([Row(path="<b>.pkl", verdict="unread", said="it is damaged")])
    >>> "&lt;b&gt;.pkl" in page, "<b>.pkl" in page, "NOT AUDITED" in page
    (True, False, True)
    """
    ordered = worst_first(rows)
    word, tone = _look_of(ordered[0])
    shown = [
        {
            "row": row,
            "number": number,
            "label": _look_of(row)[0],
            "tone": _look_of(row)[1],
            "report": row.about is not None and number <= _REPORTS,
        }
        for number, row in enumerate(ordered[:_ROWS], start=1)
    ]
    out = [row for row in ordered if row.verdict in ("fail", "unsafe", "unread")]
    policies = {row.about["policy"] for row in ordered if row.about}
    return (
        environment()
        .get_template("fleet.html.j2")
        .render(
            word=word,
            tone=tone,
            total=f"{len(ordered):,}",
            counted=counted(ordered),
            out=f"{len(out):,}",
            all_in=not out,
            shown=shown,
            hidden=f"{len(ordered) - _ROWS:,}" if len(ordered) > _ROWS else "",
            aside=list(aside[:_OTHERS]),
            more_aside=max(len(aside) - _OTHERS, 0),
            n_aside=f"{len(aside):,}",
            policies=sorted(policies),
            release_safe=release_safe,
            date=f"{created.day} {created:%B %Y}" if created is not None else "",
            version=__version__,
        )
    )


_WORDS = {
    "fail": "fail",
    "unsafe": "would run code when loaded",
    "unread": "could not be audited",
    "review": "to be decided",
    "accepted": "accepted",
    "pass": "pass",
}
_LABEL = {"unsafe": "UNSAFE", "unread": "NOT AUDITED"}
_WIDE = max(map(len, (*_LABEL.values(), *(verdict.upper() for verdict in _WORDS))))
_FEW, _MOST = 8, 200


def _look_of(row: Row) -> tuple[str, str]:
    """Return the verdict as a label, and the tone of the page."""
    if row.verdict in _LABEL:
        return _LABEL[row.verdict], "bad"
    verdict = row.verdict if row.checks or row.passed else "observed"
    return verdict.upper(), VERDICT[verdict].tone


def line(row: Row) -> "Text":
    """Return one line for one model."""
    from rich.text import Text

    label, _ = _look_of(row)
    style = VERDICT["fail" if row.verdict in _LABEL else label.lower()].plain
    said = (plain(row.said, 400), "dim")
    return Text.assemble((f"{label:<{_WIDE}}", style), f"  {plain(row.name, 200)}  ", said)


def counted(rows: Sequence[Row]) -> str:
    """Return how many there are of each verdict, the worst first.

    Examples
    --------
    >>> counted([Row(path=p, verdict=v, said="") for p, v in (("a", "pass"), ("b", "unread"))])
    '2 models: 1 could not be audited, 1 pass'
    """
    found = Counter(row.verdict for row in rows)
    each = [f"{found[verdict]:,} {_WORDS[verdict]}" for verdict in VERDICTS if verdict in found]
    return f"{len(rows):,} {'model' if len(rows) == 1 else 'models'}: {', '.join(each)}"


def others(aside: Sequence[tuple[str, str]]) -> str:
    """Name the first of what is no model.

    Examples
    --------
    >>> others([("data/people.csv", "a text file")])
    '1 other was not audited: data/people.csv (a text file)'
    """
    if not aside:
        return ""
    named = ", ".join(f"{plain(path, 120)} ({plain(what, 80)})" for path, what in aside[:_FEW])
    were = "other was" if len(aside) == 1 else "others were"
    more = f" and {len(aside) - _FEW:,} more" if len(aside) > _FEW else ""
    return f"{len(aside):,} {were} not audited: {named}{more}"


def to_markdown(rows: Sequence[Row]) -> str:
    """Return the worst in Markdown, for pull requests.

    Examples
    --------
    >>> print(to_markdown([Row(path="a|b.pkl", verdict="unread", said="it is damaged")]), end="")
    ### 1 model: 1 could not be audited
    <BLANKLINE>
    | verdict | model | who is exposed |
    |---|---|---|
    | NOT AUDITED | a&#124;b.pkl | it is damaged |
    """
    from treeaudit.reports.markdown import escaped

    lines = [
        f"### {escaped(counted(rows))}",
        "",
        "| verdict | model | who is exposed |",
        "|---|---|---|",
    ]
    for row in rows[:_MOST]:
        said = (plain(row.name, 200), plain(row.said, 400))
        lines.append(f"| {_look_of(row)[0]} | {' | '.join(map(escaped, said))} |")
    if len(rows) > _MOST:
        lines += ["", f"and {len(rows) - _MOST:,} more, none of them worse"]
    return "\n".join(lines) + "\n"


def json_lines(rows: Iterable[Row], reports: Iterable[dict[str, object]]) -> Iterator[str]:
    """Yield the JSON reports of a file, or what became of it, a line each."""
    failed = [row for row in rows if row.about is None]
    for one in (*reports, *map(_failed, failed)):
        yield as_line(one)


def _failed(row: Row) -> dict[str, object]:
    return {
        **HEAD,
        "model": {"path": row.path},
        "verdict": "not audited",
        "error": {"kind": row.verdict, "says": row.said},
    }


def whole_json(
    rows: Sequence[Row], lines: Iterable[str], aside: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Yield one JSON document of all lines."""
    worst = worst_first(rows)[0].verdict
    head = as_line(
        {
            **HEAD,
            "verdict": "not audited" if worst in _LABEL else worst,
            "exit_code": exit_code(rows),
            "others": [{"path": path, "is": what} for path, what in aside],
        }
    )
    yield head.rstrip()[:-1] + ', "reports": [\n'
    for number, text in enumerate(lines):
        yield ("," if number else "") + text
    yield "]}\n"
