"""What a renderer knows of an attack: its words, and how it shows what it found."""

from collections.abc import Callable
from typing import ClassVar, Protocol

from treeaudit.findings import About, Finding, Report, Skipped, Words
from treeaudit.view import View

__all__ = ["Page", "Show", "view_of"]

Show = Callable[[Finding | Skipped, Report], View]


class Page(Protocol):
    """The part of an attack that is shown.

    Attributes
    ----------
    id, title
        Of the attack.
    words
        What there is to say about it.
    about
        What it is about.
    view
        Returns what there is to show of a result.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    words: ClassVar[Words]
    about: ClassVar[About]
    view: ClassVar[Show]


def view_of(report: Report, result: Finding | Skipped) -> View:
    """Return the view of a result; an empty one where its attack is not known."""
    page = report.pages.get(result.id)
    return View() if page is None else page.view(result, report)
