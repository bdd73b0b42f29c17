"""What the commands print with: safe lines and pages, a console of rich, grids, a progress bar.

Names come from files that nobody vouches for: no text that is printed here can
steer a terminal or add a line.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any

from rich.console import Console as _Console
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from treeaudit.reports.plain_text import plain, visible, visible_lines

if TYPE_CHECKING:
    import pandas as pd
    from rich.progress import Progress, TaskID


_PATIENCE = 0.5


def echo(line: str, *, err: bool = False) -> None:
    """Print a line to stdout, or to stderr, at once; it stays one line."""
    page(f"{visible(line)}\n", err=err)


def page(text: str, *, err: bool = False) -> None:
    """Print whole lines at once; none steers a terminal."""
    print(visible_lines(text), end="", file=sys.stderr if err else sys.stdout, flush=True)


class Console(_Console):
    r"""Print text as it stands: no markup, no emoji, and a picture for what steers a terminal."""

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


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Grid:
    """Return rows as a table without lines, numbers to the right."""
    shown = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for i, name in enumerate(head):
        shown.add_column(Text(name), justify="right" if i else "left")
    for row in rows:
        shown.add_row(*(Text(part) for part in row))
    return shown


def frame_grid(frame: "pd.DataFrame") -> Grid:
    """Return a table of columns as the terminal shows it."""
    shown = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in frame.columns:
        numeric = frame[name].dtype.kind in "if"
        title = Text(plain(str(name), 60))
        shown.add_column(title, justify="right" if numeric else "left", no_wrap=name != "rule")
    for row in frame.itertuples(index=False):
        shown.add_row(*(Text(_cell(value)) for value in row))
    return shown


def width_of(console: _Console, shown: Grid) -> int:
    """Return how wide a table is where nothing has to be left out."""
    return console.measure(shown, options=console.options.update(max_width=100_000)).maximum


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:,.6g}"
    return "" if value is None else plain(str(value), 1000)


class Bar:
    """Call it with what is being done, steps done and steps in all."""

    def __init__(self, what: str, *, visible: bool) -> None:
        self._what, self._steps = what, (0, 0)
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._timer = Timer(_PATIENCE, self.start)
        self._timer.daemon = True
        if visible:
            self._timer.start()

    def start(self) -> None:
        """Show the bar now."""
        from rich.console import Console
        from rich.progress import Progress

        progress = Progress(console=Console(stderr=True), transient=True)
        done, total = self._steps
        self._task = progress.add_task(self._what, completed=done, total=total or None)
        progress.start()
        self._progress = progress

    def stop(self) -> None:
        """Take the bar away."""
        self._timer.cancel()
        if self._timer.is_alive():
            self._timer.join()
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Move the bar; it appears once somebody has waited for half a second."""
        self._what, self._steps = what, (done, total)
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=what, completed=done, total=total)


@contextmanager
def progress_bar(what: str, *, quiet: bool = False) -> Iterator[Bar]:
    """Give a bar that is gone afterwards, and silent in pipes."""
    bar = Bar(what, visible=not quiet and sys.stderr.isatty())
    try:
        yield bar
    finally:
        bar.stop()
