"""Several programs write `RESULTS.md`, each its own section."""

import re
import subprocess
from pathlib import Path

__all__ = ["RESULTS", "commit", "replace_section"]

RESULTS = Path(__file__).parent / "RESULTS.md"


def commit() -> str:
    """Return what was measured: the commit that is checked out."""
    told = subprocess.run(
        ["git", "-C", str(RESULTS.parent), "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip() or "unknown"


def replace_section(document: str, name: str, text: str) -> str:
    """Return the document with a section in the place of the one of that name, or at the end.

    Examples
    --------
    >>> both = replace_section(replace_section("", "a", "first"), "b", "second")
    >>> print(replace_section(both, "a", "changed"))
    <!-- a: begin -->
    changed
    <!-- a: end -->
    <BLANKLINE>
    <!-- b: begin -->
    second
    <!-- b: end -->
    <BLANKLINE>
    """
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    section = f"{begin}{text.strip()}\n{end}"
    there = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if there.search(document):
        return there.sub(lambda _: section, document)
    return f"{document.rstrip()}\n\n{section}" if document.strip() else section
