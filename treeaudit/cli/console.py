"""A console of rich that no text can steer, whatever it says."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console as _Console
from rich.segment import Segment
from rich.text import Text

from treeaudit.reports.plain_text import visible, visible_lines

__all__ = ["Console"]


class Console(_Console):
    r"""Print text as it stands: no markup, no emoji, and a picture for what steers a terminal.

    Examples
    --------
    >>> import sys
    >>> Console(file=sys.stdout).print("[b]a\x1b[2K")
    [b]a␛[2K
    """

    def __init__(self, **given: Any) -> None:  # noqa: ANN401  # as rich has it
        super().__init__(highlight=False, emoji=False, markup=False, **given)

    def render_str(self, text: str, **given: Any) -> Text:  # noqa: ANN401  # as rich has it
        """Return text that stands for itself: a line of it stays one line."""
        return super().render_str(visible(text), **given)

    def render(self, *asked: Any, **given: Any) -> Iterable[Segment]:  # noqa: ANN401  # as rich has it
        """Return the parts of what is printed."""
        for part in super().render(*asked, **given):
            shown = part.text if part.control else visible_lines(part.text)
            yield part if shown == part.text else Segment(shown, part.style)
