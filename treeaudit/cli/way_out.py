"""What `scan` shows: the report at once, and below it the way out when that has been found."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from treeaudit.cli import declared as typer

if TYPE_CHECKING:
    from treeaudit.cli.console import Console
    from treeaudit.findings.report import Report, Reports

__all__ = ["shown"]

Seek = Callable[["Report"], "Report"]


def shown(
    found: "Reports",
    form: str,
    seek: Seek | None,
    *,
    safe: bool = False,
    quiet: bool = False,
    verbose: bool = False,
) -> "Reports":
    """Show what was found, and return it with the ways out.

    On a terminal each report stands there before its repair is sought.

    Parameters
    ----------
    seek
        Returns a report with its repair; None where none is sought.
    safe
        Whether what is shown may leave the room.
    """
    if safe and not (quiet and form == "text"):
        found = _with_repairs(found, seek)
        typer.page(_released(found, "txt" if form == "text" else form))
        return found
    if form == "json":
        found = _with_repairs(found, seek)
        typer.page(_json(found))
        return found
    from treeaudit.reports.blocks import width_without_terminal

    if len(found.reports) == 1 and (width := width_without_terminal()):
        found = _with_repairs(found, seek)
        if text := _text(found.reports[0], width, safe=safe, quiet=quiet, verbose=verbose):
            typer.page(text)
            return found
        seek = None
    from treeaudit.cli.console import Console

    console = Console()
    if console.is_terminal and not quiet and seek is not None:
        return _one_after_the_other(found, console, seek, verbose=verbose)
    found = _with_repairs(found, seek)
    first, *others = found.reports
    if others:
        from treeaudit.reports import several

        if quiet:
            several.print_worst(found, console)
        elif console.is_terminal:
            several.print_reports(found, console, verbose=verbose)
        else:
            typer.page(several.to_text(found, console.width, verbose=verbose))
        return found
    from treeaudit.reports.terminal import print_report, print_verdict, to_text

    if quiet:
        from treeaudit.reports.release_safe import that_may_leave

        print_verdict(that_may_leave(first) if safe else first, console, quiet=True)
    elif console.is_terminal:
        print_report(first, console, verbose=verbose)
    else:
        typer.page(to_text(first, console.width, verbose=verbose))
    return found


def _text(report: "Report", width: int, *, safe: bool, quiet: bool, verbose: bool) -> str | None:
    """Return what is printed where no terminal is; None to print it as on one."""
    from treeaudit.reports.terminal import to_text, verdict_text

    if not quiet:
        return to_text(report, width, verbose=verbose)
    if safe:
        from treeaudit.reports.release_safe import that_may_leave

        report = that_may_leave(report)
    return verdict_text(report, width)


def _one_after_the_other(
    found: "Reports", console: "Console", seek: Seek, *, verbose: bool
) -> "Reports":
    from treeaudit.reports.terminal import print_report, print_way_out

    reports = []
    for one in found.reports:
        print_report(one, console, verbose=verbose, way_out=False)
        console.file.flush()
        reports.append(seek(one))
        print_way_out(reports[-1], console)
        if len(found.reports) > 1:
            console.print()
    found = type(found)(reports=tuple(reports))
    if len(reports) > 1:
        from treeaudit.reports.several import print_worst

        print_worst(found, console)
    return found


def _with_repairs(found: "Reports", seek: Seek | None) -> "Reports":
    return found if seek is None else type(found)(reports=tuple(map(seek, found.reports)))


def _released(found: "Reports", form: str) -> str:
    if len(found.reports) > 1:
        from treeaudit.reports import several

        return several.released(found, form)
    from treeaudit.reports import render

    return render(found.reports[0], form, release_safe=True)


def _json(found: "Reports") -> str:
    if len(found.reports) > 1:
        from treeaudit.reports import several

        return several.dumps(found)
    from treeaudit.reports.to_json import dumps

    return dumps(found.reports[0])
