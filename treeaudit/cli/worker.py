"""One of the processes of `treeaudit.cli.workers`: a file in, a line of JSON out."""

import json
import os
import signal
import sys
import warnings
from dataclasses import asdict
from typing import Any

from treeaudit.audit.fleet import attempt
from treeaudit.cli.bounds import as_told, bounded
from treeaudit.errors import DataError
from treeaudit.findings.report import Report
from treeaudit.findings.request import Request
from treeaudit.reports.fleet_rows import failed_row, row_of
from treeaudit.reports.release_safe import statement
from treeaudit.reports.to_json import to_dict

__all__ = ["answer", "serve"]


def serve() -> None:
    """Answer lines until there are none.

    The first says what is asked of every file: ``request`` (fields of
    `treeaudit.findings.request.Request` but the model), ``release_safe``, whether ``reports``
    are wanted, and the ``limits`` of the shell.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks ends this one
    warnings.simplefilter("ignore")
    # What anything prints must not be taken for an answer.
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asked = json.loads(sys.stdin.readline())
    as_told(asked["limits"])
    print("ready", file=told, flush=True)
    for line in sys.stdin:
        place = json.loads(line)
        print(json.dumps(answer(asked, place["path"], named=place["named"])), file=told, flush=True)


def answer(asked: dict[str, Any], path: str, *, named: bool) -> dict[str, Any]:
    """Return what became of a file: ``rows``, ``reports`` where asked for, or what ``other``."""
    words = {**asked["request"], "model": path}
    for field in ("sensitive", "attacks"):
        words[field] = None if words[field] is None else tuple(words[field])
    found: tuple[Report, ...] | str
    try:
        with bounded(["scan", path, f"--max-bytes={words['max_bytes'] or 0}"]):
            found = attempt(Request(**words), named=named)
            if isinstance(found, str):
                return {"rows": [], "reports": [], "other": found}
            rows = [row_of(one, release_safe=asked["release_safe"]) for one in found]
            whole = statement if asked["release_safe"] else to_dict
            reports = [whole(one) for one in found] if asked["reports"] else []
    except Exception as error:  # noqa: BLE001  # a line, not the end
        # What is said of tables of people counts some of them.
        masked = asked["release_safe"] and isinstance(error, DataError)
        said = "the tables of people do not fit it" if masked else error
        rows, reports = [failed_row(path, said)], []
    return {"rows": [asdict(row) for row in rows], "reports": reports, "other": ""}
