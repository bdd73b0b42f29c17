"""``treeaudit accept REPORT``."""

import shlex
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import echo
from treeaudit.errors import DataError
from treeaudit.files import check_free, well_formed, write_file
from treeaudit.reports.plain_text import plain

_SAYS = {"rich_help_panel": "Who accepts it", "show_default": False}


def accept(
    report: Annotated[
        Path, typer.Argument(help="The JSON report of a scan (-o report.json).", show_default=False)
    ],
    by: Annotated[str, typer.Option(help="Who answers for it.", metavar="NAME", **_SAYS)],
    until: Annotated[
        str, typer.Option(help="The last day on which that holds.", metavar="YYYY-MM-DD", **_SAYS)
    ],
    reason: Annotated[str, typer.Option(help="Why, in one line.", metavar="TEXT", **_SAYS)],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Write FILE, for --baseline of later scans.",
            metavar="FILE",
            rich_help_panel="Output",
            show_default=False,
        ),
    ],
    force: opt.Force = False,
) -> None:
    """Accept what failed in a report, by name and until a day: later scans fail what is worse.

    The file has no key: whoever can write it can sign it again in any name, so keep it where
    only those may write who may accept.

    treeaudit accept report.json --by "Ada Lovelace" --until 2027-06-30 --reason "inside
    the trust only" -o accepted.json

    treeaudit scan next.pkl --baseline accepted.json
    """
    from treeaudit.findings.baseline import accepted_report
    from treeaudit.findings.report_file import read_report
    from treeaudit.reports.to_json import as_json

    try:
        day = date.fromisoformat(until)
    except ValueError:
        raise DataError(f"--until {until}: write a day as YYYY-MM-DD, such as 2027-06-30") from None
    if output.suffix.lower() != ".json":
        raise DataError(f"{output}: an accepted report is written as .json")
    check_free(output, force=force)
    data = well_formed(read_report(report, "the report")[0])  # as it is written
    signed = accepted_report(data, by=by, until=day, reason=reason)
    failed = sum(check["status"] == "fail" for check in data["checks"])
    written = write_file(output, as_json(signed), force=force, private=True)
    echo(plain(f"ACCEPTED  {failed} failed checks, by {by.strip()} until {day}", 400))
    echo(plain(f"written  {written}", 1000))
    echo(plain(f"next  treeaudit scan MODEL --baseline {shlex.quote(str(written))}", 1000))
