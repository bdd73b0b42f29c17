"""From a forest to what it gives away: the whole way, within a budget."""

import time
from dataclasses import dataclass, field
from functools import partial

from treeaudit.arrays import Float, Wide
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.reconstruction.cells import Cells, TooManyCellsError, refine
from treeaudit.reconstruction.coding import Layout, coded
from treeaudit.reconstruction.domain import Domain
from treeaudit.reconstruction.recognition import domain_of
from treeaudit.reconstruction.settle import settle
from treeaudit.reconstruction.system import Bounds, System, system_of

__all__ = ["Answer", "Budget", "OfLabel", "reconstruct"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How long and how large a reconstruction may be.

    Attributes
    ----------
    seconds
        From when the budget was made.
    cells
        At the same time.
    """

    seconds: float = 10.0
    cells: int = 1_000_000
    _begun: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.seconds - (time.perf_counter() - self._begun)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OfLabel:
    """What is known of the people of one class.

    Attributes
    ----------
    cell
        Shape ``(n_unknowns,)``: the cell of each unknown, in `Answer.cells`.
    system
        The equations.
    bounds
        No fewer and no more than so many people in each cell.
    finished
        Whether time did not end the search for bounds.
    """

    cell: Wide
    system: System
    bounds: Bounds
    finished: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """What a forest gives away of the table it was trained on.

    Attributes
    ----------
    domain
        What a record is, with the assumptions.
    cells
        What the trees tell apart and may hold somebody.
    labels
        One entry per class.
    n_trees
        The first so many trees were used.
    stopped
        What kept it from an end, in words; None where nothing did.
    """

    domain: Domain
    cells: Cells
    labels: tuple[OfLabel, ...]
    n_trees: int
    stopped: str | None

    @property
    def certified(self) -> int:
        """People who are certain: of whom no fewer can be in their cells."""
        return int(sum(one.bounds.low.sum() for one in self.labels))

    @property
    def exact(self) -> int:
        """Those of them whose every value that a tree asks about is certain."""
        single = self.cells.n_records == 1
        return int(sum(one.bounds.low[single[one.cell]].sum() for one in self.labels))


def reconstruct(
    forest: Forest, public: Schema | None = None, budget: Budget | None = None
) -> Answer:
    """Return what a forest gives away of the people it was trained on.

    Every tree must have been trained on all of them and hold how many of each class are in its
    leaves: `treeaudit.reconstruction.scope.not_usable` tells.

    Parameters
    ----------
    public
        What is known of the columns besides the file.
    budget
        Ten seconds and a million cells unless told. Where it ends, what is certain until then
        stays certain.

    Raises
    ------
    DataError
        If the leaves contradict each other or what is assumed.
    """
    budget = Budget() if budget is None else budget
    classes = forest.schema.classes or ()
    domain = domain_of(forest, public=public)
    layout = Layout.of(domain)
    cells = Cells.whole(layout, len(classes))
    counts: list[Float] = []
    stopped, batch = None, 1
    while len(counts) < forest.n_trees:
        if budget.left < 0:
            stopped = f"{budget.seconds:g} seconds"
            break
        trees = forest.trees[len(counts) : len(counts) + batch]
        before = len(cells)
        try:
            cells = refine(cells, coded(trees, layout), most=budget.cells)
        except TooManyCellsError:
            if batch > 1:
                batch = 1
                continue
            stopped = f"{budget.cells:,} cells"
            break
        counts += [tree.counts for tree in trees if tree.counts is not None]
        batch = min(2 * batch, _MOST_TREES) if len(cells) <= 1.1 * before else 1
    labels = []
    for label in range(len(classes)):
        system, at = system_of(cells, label, counts)
        found = settle(system, partial(_left, budget))
        labels.append(OfLabel(cell=at, system=system, bounds=found.bounds, finished=found.finished))
    if stopped is None and not all(one.finished for one in labels):
        stopped = f"{budget.seconds:g} seconds"
    return Answer(
        domain=domain, cells=cells, labels=tuple(labels), n_trees=len(counts), stopped=stopped
    )


def _left(budget: Budget) -> float:
    return budget.left


_MOST_TREES = 16
"""Taken together once trees hardly cut cells any more."""
