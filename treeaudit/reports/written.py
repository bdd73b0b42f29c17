"""Which questions of a tree are written into its drawing, and how much of each."""

import unicodedata
from collections.abc import Mapping

from treeaudit.reports.icicle import Layout

__all__ = ["fit", "written"]

_WORDS = 90
"""As many as a page has room for, whatever the columns are called."""


def fit(text: str, width: float, per_letter: float = 5.9) -> str:
    """Return as much of a text as fits into some pixels, or nothing.

    Examples
    --------
    >>> fit("capital-gain", 50), fit("age", 50), fit("age", 12)
    ('capital…', 'age', '')
    """
    room = int(width / per_letter)
    used = 0
    for i, letter in enumerate(text):
        used += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if used > room or (used == room and i + 1 < len(text)):
            return f"{text[:i].rstrip()}…" if i >= 3 else ""
    return text


def written(
    layout: Layout, questions: Mapping[int, tuple[str, str]], step: float
) -> Mapping[int, str]:
    """Return the text of inner nodes by their number: of the top rows first, so many words.

    Parameters
    ----------
    questions
        Label and tooltip of inner nodes.
    step
        How wide a column is, in pixels.
    """
    found: dict[int, str] = {}
    left = _WORDS
    for cell in sorted(layout.cells, key=lambda one: one.depth):
        text = questions.get(cell.node, ("", ""))[0] if cell.kind == "inner" else ""
        shown = fit(text, max(cell.width * step - 1, 0.5) - 10)
        left -= len(shown.split())
        if left < 0:
            break
        if shown:
            found[cell.node] = shown
    return found
