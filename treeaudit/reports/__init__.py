"""A `Report` in, text out. Renderers never compute a number of the audit."""

import os
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from treeaudit.errors import DataError
from treeaudit.findings.report import Report
from treeaudit.output import check_free, write_file
from treeaudit.reports.terminal import to_text
from treeaudit.reports.to_json import as_line, dumps, to_dict

__all__ = [
    "FORMATS",
    "MASKED",
    "check_output",
    "in_notebook",
    "listed",
    "render",
    "save",
    "suffix_of",
    "to_dict",
    "to_text",
]

FORMATS = ("html", "json", "txt", "jsonl", "sarif", "xml")
"""The suffixes that `save` knows: ``jsonl`` has a report a line, ``xml`` is JUnit's."""
MASKED = ("html", "sarif", "xml")
"""Those in which small counts can be masked."""


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Return the format that a path asks for.

    Raises
    ------
    DataError
        If it is none of `FORMATS`.

    Examples
    --------
    >>> suffix_of("audit/report.HTML")
    'html'
    """
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        known = ", ".join(f".{name}" for name in FORMATS)
        raise DataError(f"{path}: the report can be written as {known}")
    return suffix


def check_output(path: Path, *, force: bool) -> None:
    """Refuse a file that no report can be written to, before long work begins.

    Raises
    ------
    DataError
        If its format is unknown, the file exists, or there is no such folder.
    """
    suffix_of(path)
    check_free(path, force=force)


def render(report: Report, form: str, *, release_safe: bool = False) -> str:
    """Return the report as text of one of the `FORMATS`; those `MASKED` can be release-safe.

    Raises
    ------
    DataError
        If another format is to be masked.
    """
    if form == "html":
        from treeaudit.reports.html import to_html

        return to_html(report, release_safe=release_safe, created=date.today())
    if form in ("sarif", "xml"):
        return listed([report], form, release_safe=release_safe)
    if release_safe:
        raise DataError(f"only the HTML report can be made release-safe, not .{form}")
    if form == "jsonl":
        return as_line(to_dict(report))
    return dumps(report) if form == "json" else to_text(report)


def listed(reports: Sequence[Report], form: str, *, release_safe: bool = False) -> str:
    """Return reports as SARIF or JUnit XML."""
    from treeaudit.reports.fleet_rows import row_of
    from treeaudit.reports.junit import to_junit
    from treeaudit.reports.sarif import to_sarif

    rows = [row_of(one, release_safe=release_safe) for one in reports]
    return to_sarif(rows) if form == "sarif" else to_junit(rows)


def save(
    report: Report, path: str | os.PathLike[str], *, force: bool = False, release_safe: bool = False
) -> Path:
    """Write the report in the format that the suffix of the path tells.

    Raises
    ------
    DataError
        If the suffix is unknown, the file exists already, or it is the model.
    """
    form = suffix_of(path)
    model = report.forest.source.path
    if model is not None and Path(path).resolve() == Path(model).resolve():
        raise DataError(f"{path} is the model itself; choose another name for the report")
    content = render(report, form, release_safe=release_safe)
    return write_file(path, content, force=force, private=not release_safe)


def in_notebook(report: Report) -> str:
    """Return the HTML report in a frame."""
    from treeaudit.reports.notebook import framed

    return framed(render(report, "html"))
