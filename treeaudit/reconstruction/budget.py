"""How long and how large a reconstruction may be."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from treeaudit.model.tree import Tree

__all__ = ["Budget", "OutOfBudgetError"]


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
    treeaudit.reconstruction.budget.OutOfBudgetError: 10 cells
    """

    seconds: float = 10.0
    cells: int = 2_000_000
    _begun: float = field(default_factory=time.process_time, repr=False)

    def over(self, share: float = 1.0) -> bool:
        """Tell whether a share of the seconds is gone."""
        return time.process_time() - self._begun > share * self.seconds

    def check(self, share: float = 1.0, cells: int = 0) -> None:
        """Raise where a share of the seconds is gone, or cells are too many.

        Raises
        ------
        OutOfBudgetError
            With the budget that has ended.
        """
        if cells > self.cells:
            raise OutOfBudgetError(f"{self.cells:,} cells")
        if self.over(share):
            raise OutOfBudgetError(f"{self.seconds:g} seconds")

    def trees(self, trees: Iterable[Tree], share: float) -> Iterator[Tree]:
        """Yield trees until a share of the seconds is gone, one at least."""
        for i, tree in enumerate(trees):
            if i and self.over(share):
                return
            yield tree
