"""The formats of a report: by suffix, what writes it and its releasable statement."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from treeaudit.errors import DataError
from treeaudit.files import check_free, same_file, write_file
from treeaudit.files import suffix_of as known_suffix
from treeaudit.findings.report import Report
from treeaudit.reports.advice import verdict_line
from treeaudit.reports.plain_text import plain
from treeaudit.reports.provenance import made
from treeaudit.reports.release_safe import released, statement
from treeaudit.reports.terminal import to_text
from treeaudit.reports.to_json import as_line, dumps, to_dict

if TYPE_CHECKING:
    import pandas as pd


_COLUMNS = {
    "findings": ("id", "title", "status", "severity", "leaves", "people", "summary", "reason"),
    "checks": ("name", "status", "threshold", "measured", "reason", "accepted"),
}


def brief(report: Report) -> str:
    """Return the verdict, and a line for each attack that found something."""
    word = report.verdict.upper() if report.checks else "OBSERVED"
    lines = [f"Report of a {plain(report.forest.source.estimator, 60)}: {word}",
             f"  {verdict_line(report)}"]  # fmt: skip
    lines += [
        f"  {one.id} {plain(one.title, 60)}: {one.severity}, {one.people:,} people"
        for one in report.findings
        if one.status == "found"
    ]
    return "\n".join(lines)


def to_frame(report: Report, of: Literal["findings", "checks"]) -> "pd.DataFrame":
    """Return a row per attack, or per check of the policy."""
    import pandas as pd

    names = _COLUMNS[of]
    rows: list[dict[str, Any]] = report.to_dict()[of]
    return pd.DataFrame([[row[name] for name in names] for row in rows], columns=list(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    """A format that a report can be written in."""

    render: Callable[[Report], str]
    release: Callable[[Report], str]


def _html(report: Report, *, release_safe: bool = False) -> str:
    from treeaudit.reports.html import to_html

    return to_html(report, release_safe=release_safe)


def _text(report: Report) -> str:
    return f"{to_text(report)}made  {made(report)}\n"


def _markdown(report: Report) -> str:
    from treeaudit.reports.markdown import to_markdown

    return to_markdown(report)


def _safe_markdown(report: Report) -> str:
    from treeaudit.reports.markdown import fenced

    return fenced(released(report, "txt"))


def listed(reports: Sequence[Report], form: str, *, release_safe: bool = False) -> str:
    """Return reports as SARIF or JUnit XML."""
    from treeaudit.reports.fleet import row_of
    from treeaudit.reports.sarif import to_junit, to_sarif

    rows = [row_of(one, release_safe=release_safe) for one in reports]
    return to_sarif(rows) if form == "sarif" else to_junit(rows)


def _as_list(form: str) -> _Format:
    return _Format(
        render=lambda report: listed([report], form),
        release=lambda report: listed([report], form, release_safe=True),
    )


def _bom(report: Report) -> str:
    from treeaudit.reports.beside_model import to_bom

    return to_bom(report)


def _card(report: Report) -> str:
    from treeaudit.reports.beside_model import to_card

    return to_card(report)


FORMATS = {
    "html": _Format(render=_html, release=partial(_html, release_safe=True)),
    "md": _Format(render=_markdown, release=_safe_markdown),
    "json": _Format(render=dumps, release=lambda report: released(report, "json")),
    "txt": _Format(render=_text, release=lambda report: released(report, "txt")),
    "jsonl": _Format(
        render=lambda report: as_line(to_dict(report)),
        release=lambda report: as_line(statement(report)),
    ),
    "sarif": _as_list("sarif"),
    "xml": _as_list("xml"),
    "cdx.json": _Format(render=_bom, release=_bom),
    "card.md": _Format(render=_card, release=_card),
}
"""What `save` knows, by suffix: ``jsonl`` has a report a line, ``xml`` is JUnit's."""

OF_ONE = ("cdx.json", "card.md")
"""Those that go out with one model, and tell nothing of people."""


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Return the format that a path asks for."""
    name = os.fspath(path).lower()
    beside = next((one for one in OF_ONE if name.endswith(f".{one}")), None)
    return beside or known_suffix(path, FORMATS, "the report")


def check_one(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse, beside several models, what tells of one alone."""
    for path in paths:
        if (form := suffix_of(path)) in OF_ONE:
            raise DataError(f"{path}: .{form} tells of one model; name one file, or --select NAME")


def check_output(path: Path, *, force: bool) -> None:
    """Refuse a file that no report can be written to, before long work begins."""
    if suffix_of(path) == "cdx.json":
        from treeaudit.reports.beside_model import check_installed

        check_installed()
    check_free(path, force=force)


def render(report: Report, form: str, *, release_safe: bool = False) -> str:
    """Return the report, or the statement that may leave the room, in one of the `FORMATS`.

    ``text`` is ``txt``.
    """
    known = FORMATS[suffix_of(f"report.{'txt' if form == 'text' else form}")]
    return known.release(report) if release_safe else known.render(report)


def save(
    report: Report, path: str | os.PathLike[str], *, force: bool = False, release_safe: bool = False
) -> Path:
    """Write the report in the format that the suffix of the path tells."""
    form = suffix_of(path)
    model = report.forest.source.path
    if model is not None and same_file(path, model):
        raise DataError(f"{path} is the model itself; choose another name for the report")
    content = render(report, form, release_safe=release_safe)
    goes_out = release_safe or form in OF_ONE
    return write_file(path, content, force=force, private=not goes_out)


def in_notebook(report: Report) -> str:
    """Return the HTML report in a frame."""
    from treeaudit.reports.html import framed

    return framed(render(report, "html"))
