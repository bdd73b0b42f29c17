"""The list of many models: a row for each, the terminal's lines, JSON, Markdown and the page."""

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from treeaudit.errors import TreeauditError, UnsafeModelError
from treeaudit.findings.findings import SEVERITIES, Check
from treeaudit.findings.report import Report
from treeaudit.reports.advice import next_steps, verdict_line
from treeaudit.reports.html import environment
from treeaudit.reports.plain_text import plain
from treeaudit.reports.provenance import shown_name
from treeaudit.reports.release_safe import measured, that_may_leave
from treeaudit.reports.summary import headline
from treeaudit.reports.to_json import HEAD, as_line
from treeaudit.reports.wording import VERDICT
from treeaudit.version import __version__

VERDICTS = ("unsafe", "fail", "unread", "review", "accepted", "pass")
"""From worst to best; an unsafe file would run code, and nobody could audit an unread one."""
_CODES = {"fail": 1, "unsafe": 2, "unread": 2, "review": 3, "accepted": 4, "pass": 0}
"""Exit codes; that of the first verdict in this order is the code of a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A model of a list, or a file that could not be audited."""

    # path, inside: the file as it was named, and the model in it, where it holds several
    path: str
    verdict: str  # One of `VERDICTS`
    # Who is exposed by what failed, how many checks passed or were not run, or why it
    # could not be audited: a sentence
    said: str
    inside: str = ""
    severity: str = "none"  # The worst of its findings
    # The checks that are no pass: ``name``, ``title``, ``status``, ``accepted``, ``bound``,
    # ``shown``, ``reason``, ``attack``.
    checks: Sequence[dict[str, Any]] = ()
    # The names of those that passed, and of those that do not apply
    passed: Sequence[str] = ()
    needless: Sequence[str] = ()
    # What was found: ``id``, ``title``, ``severity``, ``summary``, ``remedy``
    findings: Sequence[dict[str, Any]] = ()
    next: str = ""  # The command to run next, which can be pasted
    # What it is: ``estimator``, ``format``, ``sha256``, ``policy``
    about: dict[str, str] | None = None

    @property
    def name(self) -> str:
        """The file, and the model in it."""
        return f"{self.path} [{self.inside}]" if self.inside else self.path


def row_of(report: Report, *, release_safe: bool = False) -> Row:
    """Return what a list tells of a report."""
    if release_safe:
        report = that_may_leave(report)
    source = report.forest.source
    found = [one for one in report.findings if one.status == "found"]
    named = shown_name(report)
    told = Row(
        path=source.path or "model in memory",
        inside=named[named.rindex(" [") + 2 : -1] if report.several else "",
        verdict=report.verdict,
        said=_said(report),
        severity=max((one.severity for one in found), key=SEVERITIES.index, default="none"),
        checks=[_check(check) for check in report.checks if not check.met],
        passed=[check.name for check in report.checks if check.status == "pass"],
        needless=[check.name for check in report.checks if check.status == "not-applicable"],
        findings=[
            {
                "id": one.id,
                "title": one.title,
                "severity": one.severity,
                "summary": one.summary,
                "remedy": report.pages[one.id].words.remedy if one.id in report.pages else "",
            }
            for one in found
        ],
        next=_next_of(report),
        about={
            "estimator": source.estimator,
            "format": source.format,
            "sha256": source.sha256 or "",
            "policy": report.policy.title,
        },
    )
    return _that_may_leave(told, report) if release_safe else told


def _said(report: Report) -> str:
    """Return who is exposed if a check failed, else what became of the checks."""
    if report.verdict == "fail" or not report.checks:
        return headline(report).striptags()
    told = verdict_line(report)
    return f"{told[:1].upper()}{told[1:]}."


def _next_of(report: Report) -> str:
    """Return the first command that can be pasted; what it writes is named after its model."""
    command = next((step.command for step in next_steps(report) if step.command), "")
    path = Path(report.forest.source.path or "")
    stem = quote("-".join(filter(None, (path.parent.name, path.stem))))
    return re.sub(r" -o (?=(safer|clean)[.-])", lambda _: f" -o {stem}-", command)


def _that_may_leave(row: Row, report: Report) -> Row:
    """Return what the statement that may leave the room tells, too."""
    shares = measured(report)
    checks = [one | {"shown": shares.get(one["name"], ""), "reason": ""} for one in row.checks]
    return replace(
        row, said=verdict_line(report), severity="none", checks=checks, findings=[], next=""
    )


def _check(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "title": check.title,
        "status": check.status,
        "accepted": check.accepted,
        "bound": check.bound,
        "shown": check.shown,
        "reason": check.reason or "",
        "attack": check.attack or "",
    }


def failed_row(path: str, error: BaseException | str) -> Row:
    """Return the line of a file that could not be audited."""
    said = str(error)
    if isinstance(error, OSError):
        said = f"it could not be read: {(error.strerror or said).lower()}"
    elif not isinstance(error, TreeauditError | str):
        said = f"internal error ({type(error).__name__}: {error}): this is a bug of treeaudit"
    unsafe = isinstance(error, UnsafeModelError)
    shown = f"treeaudit inspect {quote(path)}" if unsafe and path.isprintable() else ""
    return Row(path=path, verdict="unsafe" if unsafe else "unread", said=said, next=shown)


def _fails(check: dict[str, Any]) -> bool:
    return check["status"] == "fail" and not check["accepted"]


def worst_first(rows: Iterable[Row]) -> list[Row]:
    """Return rows by verdict, severity, how many checks failed, and name."""

    def key(row: Row) -> tuple[int, int, int, str]:
        failed = sum(map(_fails, row.checks))
        return VERDICTS.index(row.verdict), -SEVERITIES.index(row.severity), -failed, row.name

    return sorted(rows, key=key)


def exit_code(rows: Iterable[Row]) -> int:
    """Return the code of the worst: that of its verdict, 2 of what was not audited."""
    return _CODES[_decisive(rows)]


def _decisive(rows: Iterable[Row]) -> str:
    """Return the verdict that decides a list."""
    return min((row.verdict for row in rows), key=[*_CODES].index, default="pass")


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
    """Return the page."""
    ordered = worst_first(rows)
    word, tone = _look_of(ordered[0])
    shown = [
        {
            "row": row,
            "number": number,
            "label": _look_of(row)[0],
            "tone": _look_of(row)[1],
            "report": row.about is not None and number <= _REPORTS,
            "failed": failed_checks(row),
            "next": Markup.escape(row.next),  # whole: a command is never cut
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


def failed_checks(row: Row) -> str:
    """Return the checks that failed by their names, or how many were not run."""
    failed = [check["name"] for check in row.checks if _fails(check)]
    n = sum(check["status"] == "skipped" for check in row.checks)
    return ", ".join(failed) or (f"{n} not run" if n else "")


def counted(rows: Sequence[Row]) -> str:
    """Return how many there are of each verdict, the worst first."""
    found = Counter(row.verdict for row in rows)
    each = [f"{found[verdict]:,} {_WORDS[verdict]}" for verdict in VERDICTS if verdict in found]
    return f"{len(rows):,} {'model' if len(rows) == 1 else 'models'}: {', '.join(each)}"


def others(aside: Sequence[tuple[str, str]]) -> str:
    """Name the first of what is no model."""
    if not aside:
        return ""
    named = ", ".join(f"{plain(path, 120)} ({plain(what, 80)})" for path, what in aside[:_FEW])
    were = "other was" if len(aside) == 1 else "others were"
    more = f" and {len(aside) - _FEW:,} more" if len(aside) > _FEW else ""
    return f"{len(aside):,} {were} not audited: {named}{more}"


def to_markdown(rows: Sequence[Row]) -> str:
    """Return the worst in Markdown, for pull requests."""
    from treeaudit.reports.markdown import escaped

    lines = [
        f"### {escaped(counted(rows))}",
        "",
        "| verdict | model | who is exposed | failed checks | next |",
        "|---|---|---|---|---|",
    ]
    for row in rows[:_MOST]:
        said = (plain(row.name, 200), plain(row.said, 400), failed_checks(row), row.next)
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
    worst = _decisive(rows)
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
