"""From a forest to what it gives away: the whole way, within a budget."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.errors import DataError
from treeaudit.inference.bounds import (
    Bounds,
    System,
    propagate,
    system_of,
    tightest_bounds,
)
from treeaudit.inference.cells import Cells, refine
from treeaudit.inference.coding import Layout, coded
from treeaudit.inference.domain import Domain, domain_of
from treeaudit.inference.scope import ANYBODY, Budget, OutOfBudgetError, with_gaps
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree

Progress = Callable[[str, int, int], None]

_QUIET = 2
"""Rounds of pairs without news after which trees that others are missing from tell no more."""
_MOST_TREES = 16
"""Taken together once trees hardly cut cells any more."""
_READING, _LOOKING, _CUTTING = 0.2, 0.4, 0.6
"""Shares of the time until when trees are read, the curve is drawn, and cells are cut."""
_CURVE = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassSolution:
    """What is known of the people of one class."""

    n_people: int  # All people of the class; no fewer, where leaves were taken out
    cell: Wide  # Shape ``(n_unknowns,)``: the cell of each unknown, in `Answer.cells`
    system: System  # The equations
    bounds: Bounds  # No fewer and no more than so many people in each cell
    finished: bool = True  # Whether time did not end the search for bounds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """What a forest gives away of the table it was trained on."""

    domain: Domain  # What a record is, with the assumptions
    cells: Cells  # What the trees tell apart and may hold somebody
    labels: tuple[ClassSolution, ...]  # One entry per class
    n_trees: int  # The first so many trees were used
    stopped: str | None  # What kept it from an end, in words; None where nothing did
    # After so many trees: people who were certain, and those with every value, from single
    # equations alone; the last entry is the answer
    curve: tuple[tuple[int, int, int], ...]
    # Whether leaves were taken out of the trees, so that there are more people than these
    gaps: bool = False

    @property
    def tables(self) -> tuple[tuple[Wide, Bounds], ...]:
        """Cells, and how many people must and may be in each; by class."""
        return tuple((one.cell, one.bounds) for one in self.labels)

    @property
    def certified(self) -> int:
        """People of whom it is certain in which cell they are."""
        return self.curve[-1][1]

    @property
    def exact(self) -> int:
        """Those of them whose every value that a tree asks about is certain."""
        return self.curve[-1][2]

    @property
    def bits(self) -> float:
        """Bits that the file gives away of the records, no fewer (labels apart).

        Whoever is certain may be any record of their cell, whoever is not any record of the cells
        that are open. For one tree this is the measure of Gambs et al. (2012) and Ferry et al.
        (2024) in bits. Numbers count by their intervals.
        """
        size, left = self.cells.n_codes, 0.0
        for one in self.labels:
            bounds, records = one.bounds, size[one.cell]
            open_records = float(records[bounds.open].sum())
            unsettled = max(one.n_people - float(bounds.low.sum()), 0.0)
            left += float(bounds.low @ np.log2(records))
            left += unsettled * float(np.log2(open_records)) if open_records else 0.0
        return self.n_people * self.domain.bits - left

    @property
    def n_people(self) -> int:
        """All people in the table."""
        return sum(one.n_people for one in self.labels)


def infer_exact(
    forest: Forest,
    public: Schema | None = None,
    budget: Budget | None = None,
    *,
    curve: bool = False,
    domain: Domain | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Return what a forest gives away of the people it was trained on.

    Every tree must have been trained on all of them and hold how many of each class are in its
    leaves: `treeaudit.inference.scope.not_usable` tells.

    Raises DataError if the leaves contradict each other or what is assumed.
    """
    budget = Budget() if budget is None else budget
    forest = with_gaps(forest)
    n_trees = 0

    def counted() -> Iterator[Tree]:
        nonlocal n_trees
        for tree in budget.trees(forest.trees, _READING):
            n_trees += 1
            yield tree

    if domain is None:
        domain = domain_of(forest, counted(), public)
    else:
        n_trees = forest.n_trees
    stopped = None if n_trees == forest.n_trees else budget.ended
    layout = Layout.of(domain)
    cells = Cells.whole(layout, len(forest.schema.classes or ()))
    certain: list[tuple[int, int, int]] = []
    counts: list[Float] = []
    people: Float | None = None
    gaps = False
    batch = 1
    most = min(budget.cells, budget.entries // n_trees)

    def check(n: int) -> None:
        budget.check(_CUTTING)
        if n > most:
            raise OutOfBudgetError(f"{most:,} cells")

    while (done := len(counts)) < n_trees:
        stops = [n for n in _CURVE if n > done] if curve else []
        trees = forest.trees[done : min([n_trees, done + batch, *stops])]
        before = len(cells)
        try:
            budget.check(_CUTTING)
            code = coded(trees, layout)
            cells = refine(cells, code, check=check)
        except OutOfBudgetError as ended:
            if len(trees) == 1:
                stopped = str(ended)
                break
            batch = 1
            continue
        if code.gaps:
            raise DataError("leaves were taken out of a tree, and who was in them is not told")
        counts += [tree.counts for tree in trees if tree.counts is not None]
        gaps = gaps or bool((code.counts >= ANYBODY).any())
        people = code.people[0] if people is None else people
        if not gaps and (code.people != people).any():
            raise DataError("the trees were not trained on the same people")
        people = np.maximum(people, code.people.max(axis=0))
        batch = min(2 * batch, _MOST_TREES) if len(cells) <= 1.1 * before else 1
        if progress is not None:
            progress("putting trees together", len(counts), forest.n_trees)
        if len(counts) in stops and len(counts) < n_trees and not budget.over(_LOOKING):
            labels_so_far = _labels(cells, counts, people, _propagated)
            certain.append((len(counts), *_certain(cells, labels_so_far)))
            cells = _without_empty(cells, labels_so_far)
    quiet = None if stopped is None else _QUIET
    solve = partial(tightest_bounds, over=budget.over, quiet_rounds=quiet)
    labels = _labels(cells, counts, people, solve)
    if stopped is None and gaps and any(one.bounds.open.any() for one in labels):
        stopped = "one equation at a time"
    if stopped is None and not all(one.finished for one in labels):
        stopped = budget.ended
    certain.append((len(counts), *_certain(cells, labels)))
    return Solution(
        domain=domain,
        cells=cells,
        labels=labels,
        n_trees=len(counts),
        stopped=stopped,
        curve=tuple(certain),
        gaps=gaps,
    )


def _labels(
    cells: Cells,
    counts: Sequence[Float],
    people: Float | None,
    solve: Callable[[System], tuple[Bounds, bool]],
) -> tuple[ClassSolution, ...]:
    """Return what is known of each class; worked out first where fewest cells may hold people."""
    solutions = {}
    order = np.argsort(cells.alive.sum(axis=0), kind="stable").tolist()
    if people is None:
        return ()
    for label in order:
        system, at = system_of(cells, label, counts)
        bounds, finished = solve(system)
        solutions[label] = ClassSolution(
            n_people=int(max(people[label], bounds.low.sum())),
            cell=at,
            system=system,
            bounds=bounds,
            finished=finished,
        )
    return tuple(solutions[label] for label in sorted(solutions))


def _propagated(system: System) -> tuple[Bounds, bool]:
    return propagate(system), True


def _certain(cells: Cells, labels: Sequence[ClassSolution]) -> tuple[int, int]:
    """Count the people who are certain, and those with every value."""
    single = cells.n_records == 1
    low = sum(float(one.bounds.low.sum()) for one in labels)
    exact = sum(float(one.bounds.low[single[one.cell]].sum()) for one in labels)
    return int(low), int(exact)


def _without_empty(cells: Cells, labels: Sequence[ClassSolution]) -> Cells:
    """Drop cells that certainly hold nobody."""
    alive = cells.alive.copy()
    for label, one in enumerate(labels):
        alive[one.cell, label] = one.bounds.high > 0
    return replace(cells, alive=alive).part(np.flatnonzero(alive.any(axis=1)))
