"""``python -m benchmarks``: every section of ``RESULTS.md``, one after the other.

``--size full`` writes the committed file (hours, and 4 GB of disk); ``short`` takes about five
minutes and ``quick`` one, and both print only.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.sections import RESULTS

__all__ = ["SECTIONS", "Section"]

_ROOT = Path(__file__).parents[1]


class Section(NamedTuple):
    """A module that measures and writes a section of its own (`benchmarks.sections`).

    Attributes
    ----------
    module
        Its name below `benchmarks`; run as ``python -m benchmarks.MODULE``.
    full, short, quick
        What stands behind it, by size; None where it has nothing of that size.
    data
        Whether it needs ``TREEAUDIT_DATA``.
    """

    module: str
    full: tuple[str, ...] = ()
    short: tuple[str, ...] | None = None
    quick: tuple[str, ...] | None = None
    data: bool = False


SECTIONS: tuple[Section, ...] = (
    Section("costs", ("--size", "full"), ("--size", "short"), ("--size", "quick")),
    Section("reading", short=("--only", "pickle"), quick=("--only", "pickle, tree", "--runs", "1")),
    Section("coverage", short=()),
    Section("paper_tables", data=True),
    Section("defended", ("--rows", "2000"), data=True),
    Section("ensembles", data=True),
    Section("private_regression", data=True),
)
"""All of them, in the order of the file: one line to add one."""


def main() -> None:
    """Run the sections of a size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=("full", "short", "quick"), default="full")
    parser.add_argument("--only", action="append", metavar="MODULE", help="these sections alone")
    options = parser.parse_args()
    environment, beside = dict(os.environ), _ROOT.parent / "shared" / "data"
    if "TREEAUDIT_DATA" not in environment and beside.is_dir():
        environment["TREEAUDIT_DATA"] = str(beside)
    missed = []
    for section in SECTIONS:
        words = getattr(section, options.size)
        if words is None or (options.only and section.module not in options.only):
            continue
        if section.data and "TREEAUDIT_DATA" not in environment:
            missed.append(f"{section.module}: set TREEAUDIT_DATA to the folder of the tables")
            continue
        command = [sys.executable, "-m", f"benchmarks.{section.module}", *words]
        if subprocess.run(command, env=environment, cwd=_ROOT, check=False).returncode:
            missed.append(f"{section.module}: it failed")
    if missed:
        sys.exit(f"not every section of {RESULTS.name} was measured:\n" + "\n".join(missed))


if __name__ == "__main__":
    main()
