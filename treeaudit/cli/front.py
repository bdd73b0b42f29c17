"""The first page of the help: what typer would show, without the wait for it."""

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from textwrap import wrap

__all__ = ["EPILOG", "HELP", "front_page"]

HELP = (
    "What does a decision tree give away about the people it was trained on? "
    "Reads the model file without running code from it."
)
EPILOG = (
    "Exit codes: 0 every check passed · 1 a check failed · 2 not audited · "
    "3 nothing failed, but a required check could not be made · 4 what fails was accepted by name."
)
_OPTIONS = {
    "--version": "Show the version and leave.",
    "--install-completion": "Install completion for the current shell.",
    "--show-completion": "Show completion for the current shell, to copy it or "
    "customize the installation.",
    "--help                -h": "Show this message and exit.",
}
_NARROW, _WIDE = 60, 160


def front_page(commands: Mapping[str, str]) -> str | None:
    """Return the first page for this terminal; None where it is too narrow for it.

    Parameters
    ----------
    commands
        The first paragraph about every command.
    """
    width = _width()
    if width < _NARROW:
        return None
    lines = ["", "Usage: treeaudit [OPTIONS] COMMAND [ARGS]...", "", *wrap(HELP, width - 2), ""]
    lines = [f" {line}" for line in lines]
    lines += [*_box("Options", _OPTIONS, width), *_box("Commands", commands, width)]
    lines += [f" {line}" for line in ("", *wrap(EPILOG, width - 2), "")]
    return "".join(f"{line:{width}}\n" for line in lines) + "\n"


def _width() -> int:
    told = os.environ.get("COLUMNS", "")
    if told.isascii() and told.isdecimal():
        return min(int(told), _WIDE)
    with suppress(OSError, ValueError):
        return min(os.get_terminal_size(sys.stdout.fileno()).columns, _WIDE)
    return 80


def _box(title: str, rows: Mapping[str, str], width: int) -> Iterable[str]:
    left = max(map(len, rows)) + 2
    yield f"╭─ {title} {'─' * (width - len(title) - 5)}╮"
    for name, said in rows.items():
        for i, line in enumerate(wrap(said, width - 4 - left)):
            yield f"│ {'' if i else name:{left}}{line:{width - 4 - left}} │"
    yield f"╰{'─' * (width - 2)}╯"
