"""One transient bar on stderr, only where somebody can see it and has to wait."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Bar", "progress_bar"]

_PATIENCE = 0.5
_LARGE = 50_000_000


class Bar:
    """Call it with what is being done, steps done and steps in all."""

    def __init__(self, *, visible: bool) -> None:
        self._visible = visible
        self._began = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def start(self, what: str) -> None:
        """Show the bar now."""
        if not self._visible or self._progress is not None:
            return
        from rich.console import Console
        from rich.progress import Progress

        self._progress = Progress(console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task(what, total=None)
        self._progress.start()

    def stop(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Move the bar; it appears once somebody has waited for half a second."""
        if self._progress is None and time.monotonic() - self._began > _PATIENCE:
            self.start(what)
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=what, completed=done, total=total)


@contextmanager
def progress_bar(model: Path, *, quiet: bool = False) -> Iterator[Bar]:
    """Give a bar that is gone afterwards; silent in pipes, at once for a large file."""
    bar = Bar(visible=not quiet and sys.stderr.isatty())
    with suppress(OSError):  # whoever reads it says why it cannot be read
        if model.is_file() and model.stat().st_size > _LARGE:
            bar.start("reading the file")
    try:
        yield bar
    finally:
        bar.stop()
