"""One transient bar on stderr, only where somebody can see it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


class Bar:
    """Call it with what is done; it shows nothing before `start`."""

    def __init__(self) -> None:
        self.progress: object | None = None
        self._task: int | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """Move the bar."""
        from rich.progress import Progress, TaskID

        if not isinstance(self.progress, Progress):
            return
        if self._task is None:
            self._task = int(self.progress.add_task(what, total=total))
        self.progress.update(TaskID(self._task), description=what, completed=done, total=total)


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Bar]:
    """Give a bar that is gone afterwards; silent in pipes and with ``quiet``."""
    bar = Bar()
    if quiet or not sys.stderr.isatty():
        yield bar
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar.progress = progress
        yield bar
