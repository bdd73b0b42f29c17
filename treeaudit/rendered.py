"""A result says that it can be shown; who shows it is bound in `treeaudit/__init__`.

Data comes before renderers, so that it cannot import them; nor can a model its writers, which are
bound in the same way. The renderer of a result is a module with ``to_dict``, ``dumps``,
``to_text``, ``in_notebook`` and ``save``; it is imported when a result is first shown.
"""

import os
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


_RENDERERS: dict[str, str] = {}
_LINES = 20


def bind(kind: str, module: str) -> None:
    """Let a module render the results of a class, and of classes made from it."""
    _RENDERERS[kind] = module


def renderer_of(kind: type) -> ModuleType:
    """Return the module that renders results of a class."""
    for base in kind.__mro__:
        if base.__name__ in _RENDERERS:
            return import_module(_RENDERERS[base.__name__])
    raise LookupError(f"nothing renders {kind.__name__}")


class NotebookText:
    """What is shown in a notebook by its short text."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the text, escaped."""
        from html import escape  # notebooks alone show it

        return f"<pre>{escape(repr(self))}</pre>"


class Rendered:
    """What every result offers: plain data, text, a file, a frame in a notebook."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, ready for JSON."""
        data: dict[str, Any] = renderer_of(type(self)).to_dict(self)
        return data

    def to_json(self) -> str:
        """Return the result as JSON text."""
        text: str = renderer_of(type(self)).dumps(self)
        return text

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> "Path":
        """Write the result; ``.html``, ``.json`` or ``.txt`` by suffix."""
        written: Path = renderer_of(type(self)).save(self, path, force=force)
        return written

    def __repr__(self) -> str:
        """Return what matters on a few lines; `print` shows the whole."""
        renderer = renderer_of(type(self))
        text: str = getattr(renderer, "brief", renderer.to_text)(self)
        lines = text.splitlines()
        return "\n".join(lines if len(lines) <= _LINES else [*lines[: _LINES - 1], "…"])

    def __str__(self) -> str:
        """Return the result as for the terminal, without colours."""
        text: str = renderer_of(type(self)).to_text(self)
        return text

    def _repr_html_(self) -> str:
        """Return the page in a frame, for notebooks."""
        page: str = renderer_of(type(self)).in_notebook(self)
        return page
