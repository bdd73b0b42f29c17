"""``treeaudit scan`` of many files: a line each as they finish, the worst first at the end."""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import IO, Any

from rich.console import Console as Plain
from rich.text import Text

from treeaudit.audit.fleet import find, no_model
from treeaudit.audit.paths import MatchedFiles
from treeaudit.cli.console import Console, echo, page
from treeaudit.cli.limits import restore_limits
from treeaudit.cli.workers import answers
from treeaudit.errors import DataError, ReadError
from treeaudit.files import same_file, write_file
from treeaudit.findings.record import now
from treeaudit.findings.request import Request
from treeaudit.reports.fleet import (
    Row,
    counted,
    exit_code,
    json_lines,
    line,
    others,
    to_html,
    to_markdown,
    whole_json,
    worst_first,
)
from treeaudit.reports.formats import check_one, suffix_of
from treeaudit.reports.plain_text import printed

_FEW = 20
"""Lines at the end on a terminal, which has seen them all already."""


def scan_all(
    paths: Sequence[Path],
    request: Request,
    output: Sequence[Path],
    *,
    jobs: int | None,
    form: str,
    release_safe: bool,
    force: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Audit every model that paths stand for, print and write what was found.

    Returns
    -------
    int
        The exit code of the worst.
    """
    _check(request)
    check_one(output)
    restore_limits()  # other processes read the files, each within limits of its own
    found = _without(output, find(paths))
    if not found.places:
        raise ReadError(f"there is no file in {', '.join(map(str, paths))}: name a model file")
    forms = {suffix_of(path) for path in output} | ({"json"} if form == "json" else set())
    asked = {
        "request": _plain(request),
        "release_safe": release_safe,
        "reports": bool(forms & {"json", "jsonl"}),
        "verbose": verbose,
    }
    with tempfile.TemporaryFile("w+", encoding="ascii") as lines:
        rows = _audited(found, asked, jobs or os.cpu_count() or 1, lines, quiet=quiet)
        if not rows:
            raise ReadError(f"no file is a model: {others(found.aside)}")
        ordered = worst_first(rows)
        written = [
            write_file(
                path,
                _content(suffix_of(path), ordered, found, lines, release_safe=release_safe),
                force=force,
                private=not release_safe,
            )
            for path in output
        ]
        if form == "json":
            for part in whole_json(rows, _again(lines), found.aside):
                page(part)
        else:
            _print(ordered, found, written, quiet=quiet, verbose=verbose)
    return exit_code(rows)


def _check(request: Request) -> None:
    """Refuse before the first file what would be refused for each."""
    from treeaudit.findings.policy import read_policy

    if request.model_name is not None:
        raise DataError("--model-name names one model: scan that file alone")
    if request.baseline is not None:
        raise DataError("--baseline is a report of one model: scan that file alone")
    read_policy(os.fspath(request.policy))  # type: ignore[arg-type]


def _without(output: Sequence[Path], found: MatchedFiles) -> MatchedFiles:
    """Leave out what is written again; a model is never overwritten."""
    mine = [path for path in output if path.exists()]
    for place in list(found.places) if mine else ():
        path = next((path for path in mine if same_file(path, place.path)), None)
        if path is None:
            continue
        if place.named or not no_model(place.path):
            raise DataError(f"{path} is one of the models; choose another name for the report")
        found.places.remove(place)
    return found


def _plain(request: Request) -> dict[str, Any]:
    told = {one.name: getattr(request, one.name) for one in fields(request) if one.name != "model"}
    return {k: os.fspath(v) if isinstance(v, os.PathLike) else v for k, v in told.items()}


def _audited(
    found: MatchedFiles, asked: dict[str, Any], jobs: int, lines: IO[str], *, quiet: bool
) -> list[Row]:
    """Return the rows of all files by name; what is no model is put aside."""
    console = Console(stderr=True)
    rows: list[tuple[Row, ...]] = [()] * len(found.places)
    waiting: dict[int, Iterator[str]] = {}
    following = 0
    for done, (number, answer) in enumerate(answers(found.places, asked, jobs), start=1):
        rows[number] = answer.rows
        if answer.other:
            found.aside.append((found.places[number].path, answer.other))
        if asked["reports"]:
            waiting[number] = json_lines(answer.rows, answer.reports)
            while following in waiting:
                lines.writelines(waiting.pop(following))
                following += 1
        if sys.stderr.isatty() and not quiet:
            for row in answer.rows:
                at = f"{done:>{len(str(len(rows)))}}/{len(rows)}  "
                told = Text.assemble((at, "dim"), line(row))
                console.print(told, no_wrap=True, overflow="ellipsis")
    found.aside.sort()
    return [row for each in rows for row in each]


def _again(lines: IO[str]) -> IO[str]:
    lines.seek(0)
    return lines


def _content(
    form: str, rows: Sequence[Row], found: MatchedFiles, lines: IO[str], *, release_safe: bool
) -> str | Iterator[bytes]:
    if form == "html":
        today = now().date()
        return to_html(rows, found.aside, release_safe=release_safe, created=today)
    if form == "sarif":
        from treeaudit.reports.sarif import to_sarif

        return to_sarif(rows)
    if form == "xml":
        from treeaudit.reports.sarif import to_junit

        return to_junit(rows)
    if form == "md":
        return to_markdown(rows)
    if form == "jsonl":
        return (text.encode() for text in _again(lines))
    if form == "json":
        return (text.encode() for text in whole_json(rows, _again(lines), found.aside))
    return printed(lambda console: _print_list(rows, found, console, len(rows)), 200)


def _print(
    rows: Sequence[Row], found: MatchedFiles, written: Sequence[Path], *, quiet: bool, verbose: bool
) -> None:
    console = Console()
    if quiet:
        console.print(counted(rows), soft_wrap=True)
        return
    seen = console.is_terminal and sys.stderr.isatty() and not verbose
    _print_list(rows, found, console, _FEW if seen else len(rows))
    for path in written:
        echo(f"report  {path}")


def _print_list(rows: Sequence[Row], found: MatchedFiles, console: Plain, most: int) -> None:
    for row in rows[:most]:
        console.print(line(row), soft_wrap=True)
    if len(rows) > most:
        console.print(f"and {len(rows) - most:,} more, none worse: --verbose tells all")
    console.print()
    console.print(counted(rows), soft_wrap=True)
    for text in filter(None, (others(found.aside), _next(rows))):
        console.print(text, soft_wrap=True)


def _next(rows: Sequence[Row]) -> str:
    """Return the first command of a shell for a file that failed."""
    commands = (row.next for row in rows if row.verdict == "fail")
    return next((f"next    {one}" for one in commands if one.startswith("treeaudit ")), "")
