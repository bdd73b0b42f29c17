"""How long and how large a reconstruction may be."""

import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from threading import Event, current_thread, main_thread

from treeaudit.model.tree import Tree

_INTERRUPTIBLE: ContextVar[bool] = ContextVar("interruptible", default=False)


class OutOfBudgetError(Exception):
    """A budget has ended; says which, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Seconds of the processor from when it was made, and cells at the same time.

    Examples
    --------
    >>> Budget(cells=10).check(cells=11)
    Traceback (most recent call last):
        ...
    treeaudit.inference.budget.OutOfBudgetError: 10 cells
    """

    seconds: float = 10.0
    cells: int = 2_000_000
    _begun: float = field(default_factory=time.process_time, repr=False)
    _interrupted: Event = field(default_factory=Event, repr=False)

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Let a first Ctrl-C meanwhile end the budget, within `stop_on_interrupt`."""
        if not _INTERRUPTIBLE.get() or current_thread() is not main_thread():
            yield
            return

        def ask(*_: object) -> None:
            self._interrupted.set()
            signal.signal(signal.SIGINT, before)

        before = signal.signal(signal.SIGINT, ask)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    @property
    def ended(self) -> str:
        """What ended the search, in words, where `over` says so."""
        return "it was interrupted" if self._interrupted.is_set() else f"{self.seconds:.3g} seconds"

    def over(self, share: float = 1.0) -> bool:
        """Tell whether a share of the seconds is gone, or it was interrupted."""
        return (
            self._interrupted.is_set() or time.process_time() - self._begun > share * self.seconds
        )

    def anew(self, share: float) -> "Budget":
        """Return a budget of a share of the seconds from now on; an interrupt ends both."""
        return replace(self, seconds=share * self.seconds, _begun=time.process_time())

    def check(self, share: float = 1.0, cells: int = 0) -> None:
        """Raise OutOfBudgetError if a share of the seconds is gone, or cells are too many."""
        if cells > self.cells:
            raise OutOfBudgetError(f"{self.cells:,} cells")
        if self.over(share):
            raise OutOfBudgetError(self.ended)

    def trees(self, trees: Iterable[Tree], share: float) -> Iterator[Tree]:
        """Yield trees until a share of the seconds is gone, one at least."""
        for i, tree in enumerate(trees):
            if i and self.over(share):
                return
            yield tree


@contextmanager
def stop_on_interrupt() -> Iterator[None]:
    """Let a first Ctrl-C end the search that it falls into, with what is certain so far.

    Searches end as if their time was over; a second Ctrl-C, or one beside them, is raised as ever.
    """
    token = _INTERRUPTIBLE.set(True)
    try:
        yield
    finally:
        _INTERRUPTIBLE.reset(token)
