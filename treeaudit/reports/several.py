"""The reports of all models of one file, one after the other: what they share is said once."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from treeaudit.errors import DataError
from treeaudit.files import same_file, write_file
from treeaudit.findings.report import Report, Reports
from treeaudit.reports.formats import check_one, listed, render, suffix_of
from treeaudit.reports.plain_text import printed
from treeaudit.reports.provenance import made, made_from, model_name, shown_name
from treeaudit.reports.release_safe import statement, verdict_word
from treeaudit.reports.summary import pill
from treeaudit.reports.terminal import print_report
from treeaudit.reports.to_json import HEAD, as_json
from treeaudit.reports.to_json import to_dict as report_to_dict
from treeaudit.reports.wording import VERDICT
from treeaudit.version import __version__

if TYPE_CHECKING:
    from rich.console import Console


_HEIGHT = 900


def to_dict(found: Reports) -> dict[str, Any]:
    """Return the reports as plain data; each is what the report of one model is."""
    return {
        **HEAD,
        "verdict": found.worst.verdict,
        "reports": [report_to_dict(one) for one in found.reports],
    }


def dumps(found: Reports) -> str:
    """Return the reports as JSON text."""
    return as_json(to_dict(found))


def to_text(found: Reports, width: int = 80, *, verbose: bool = False) -> str:
    """Return the terminal reports without colours."""
    return printed(lambda console: print_reports(found, console, verbose=verbose), width)


def print_reports(found: Reports, console: "Console", *, verbose: bool = False) -> None:
    """Print one report after the other, and then the verdict on the file."""
    for one in found.reports:
        print_report(one, console, verbose=verbose)
        console.print()
    print_worst(found, console)


def print_worst(found: Reports, console: "Console") -> None:
    """Print the verdict on the file: that of its worst model."""
    from rich.text import Text

    word = found.worst.verdict if found.worst.checks else "observed"
    console.print(Text.assemble((f" {word.upper()} ", VERDICT[word].style), "  ", _said(found)))


def _said(found: Reports) -> str:
    words = [one.verdict for one in found.reports]
    counts = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    return f"the file holds {len(words):,} models: {counts}"


def to_html(found: Reports, *, release_safe: bool = False) -> str:
    """Return one page with the page of each model in it; that of the worst is open."""
    from treeaudit.reports.html import environment

    word = verdict_word if release_safe else pill
    pages = [
        {
            "name": shown_name(one),
            "pill": word(one)[0],
            "tone": word(one)[1],
            "open": one is found.worst,
            "frame": _frame(one, release_safe=release_safe),
        }
        for one in found.reports
    ]
    return (
        environment()
        .get_template("several.html.j2")
        .render(
            name=model_name(found.worst.forest),
            pill=word(found.worst)[0],
            tone=word(found.worst)[1],
            said=_said(found),
            pages=pages,
            made_from=made_from(found.worst),
            made=made(found.worst),
            version=__version__,
        )
    )


def _frame(report: Report, *, release_safe: bool) -> Markup:
    from treeaudit.reports.html import framed

    page = framed(render(report, "html", release_safe=release_safe), _HEIGHT)
    return Markup(page)  # noqa: S704  # escaped by `framed`


def save(
    found: Reports, path: str | os.PathLike[str], *, force: bool = False, release_safe: bool = False
) -> Path:
    """Write the reports in the format that the suffix of the path tells."""
    check_one([path])
    form = suffix_of(path)
    model = found.worst.forest.source.path
    if model is not None and same_file(path, model):
        raise DataError(f"{path} is the model itself; choose another name for the report")
    if form == "html":
        text = to_html(found, release_safe=release_safe)
    elif form in ("sarif", "xml"):
        text = listed(found.reports, form, release_safe=release_safe)
    elif release_safe or form not in ("json", "txt"):
        text = released(found, form) if release_safe else _each(found, form)
    else:
        text = dumps(found) if form == "json" else to_text(found)
    return write_file(path, text, force=force, private=not release_safe)


def released(found: Reports, form: str) -> str:
    """Return the statements that may leave the room, one after the other."""
    if form == "json":
        each = [statement(one) for one in found.reports]
        return as_json({**HEAD, "verdict": found.worst.verdict, "reports": each})
    return _each(found, form, release_safe=True)


def _each(found: Reports, form: str, *, release_safe: bool = False) -> str:
    between = "" if form == "jsonl" else "\n"
    return between.join(render(one, form, release_safe=release_safe) for one in found.reports)


def in_notebook(found: Reports) -> str:
    """Return the HTML page in a frame."""
    from treeaudit.reports.html import framed

    return framed(to_html(found))
