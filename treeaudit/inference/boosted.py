"""Who must be in the training data of a boosted classifier.

`treeaudit.inference.boosted_equations` turns leaves into equations;
`treeaudit.inference.boosted_bounds` finds whole numbers of people that fulfil all of them, and
proves which others do.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.errors import DataError
from treeaudit.inference.boosted_bounds import (
    enclose,
    fulfils,
    nearest_solution,
    searched_solution,
)
from treeaudit.inference.boosted_equations import Equations, equations_of, own_and_others
from treeaudit.inference.bounds import Bounds, system_of, tightest_bounds
from treeaudit.inference.cells import Cells, people_per_place, refine
from treeaudit.inference.coding import Layout, coded
from treeaudit.inference.domain import Domain, domain_of
from treeaudit.inference.scope import Budget, OutOfBudgetError, not_boosted
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.people.records import Records

_CUTTING, _COUNTING, _MOST_TREES = 0.3, 0.5, 16
_PER_LEAF = 3
"""Equations of a leaf, no more."""
_SURPLUS, _SHARP = 20, 1e-3
_TOO_FEW = "too few leaves tell whether the trees were grown as assumed"
_HOPELESS = 20
"""Unknowns for an equation with which nobody was ever certain, where trees were left out."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoostedSolution:
    """What a boosted classifier gives away of the table it was trained on."""

    domain: Domain  # What a record is, with the assumptions
    cells: Cells  # What the trees tell apart
    # How many people of class c of K must, may and are likely to be in cell i, at K i + c
    bounds: Bounds
    likely: Float
    n_people: int  # All of them
    n_classes: int  # How many there are: K
    n_trees: int  # The first so many trees were used
    stopped: str | None  # What kept it from an end, in words; None where nothing did

    @property
    def certified(self) -> int:
        """People of whom it is certain in which cell they are, and with which label."""
        return int(self.bounds.low.sum())

    @property
    def exact(self) -> int:
        """Those of them whose every value that a tree asks about is certain."""
        single = np.repeat(self.cells.n_records == 1, self.n_classes)
        return int(self.bounds.low[single].sum())

    @property
    def tables(self) -> tuple[tuple[Wide, Bounds], ...]:
        """Cells, and how many people must and may be in each; by class."""
        cell = np.arange(len(self.cells))
        k = self.n_classes
        low, high = self.bounds.low.reshape(-1, k), self.bounds.high.reshape(-1, k)
        return tuple((cell, Bounds(low=low[:, c], high=high[:, c])) for c in range(k))

    @property
    def bits(self) -> float:
        """Bits that the file gives away of the records, no fewer (labels apart)."""
        size, bounds = np.repeat(self.cells.n_codes, self.n_classes), self.bounds
        open_records = float(size[bounds.open].sum())
        uncertain = max(self.n_people - float(bounds.low.sum()), 0.0)
        left = float(bounds.low @ np.log2(size))
        left += uncertain * float(np.log2(open_records)) if open_records else 0.0
        return self.n_people * self.domain.bits - left


def infer_boosted(
    forest: Forest,
    public: Schema | None = None,
    budget: Budget | None = None,
    known: Records | None = None,
) -> BoostedSolution:
    """Return what a boosted classifier gives away of the people it was trained on.

    Raises OutOfBudgetError if it ended before anything was known. Raises DataError if `not_boosted`
    has a reason, no people were found who fit all leaves, too few leaves show that it was trained
    as assumed, or some of the known were not in the training data.
    """
    from threadpoolctl import threadpool_limits

    if (reason := not_boosted(forest)) is not None or forest.boosting is None:
        raise DataError(reason or "")
    budget = Budget() if budget is None else budget
    n_scores = len(forest.boosting.start)
    n_classes = max(n_scores, 2)
    trees = list(_with_counts(forest, n_scores, budget))
    domain = domain_of(forest, trees, public)
    cells, stopped = _cells(trees, Layout.of(domain), n_classes, budget)
    if stopped is None and len(trees) < forest.n_trees:
        stopped = budget.ended
    budget.check()
    n_trees = len(cells.leaf)
    original = forest.trees[:n_trees]
    equations = equations_of(cells, original, forest.boosting)
    fewest = np.repeat(_largest_counts(cells, original, partial(budget.over, _COUNTING)), n_classes)
    equations = replace(equations, most=np.minimum(equations.most, fewest))
    if known is not None:
        equations = _without_known(known, cells, equations)
    budget.check()
    if stopped is not None and (equations.most > 0).sum() > _HOPELESS * len(equations.target):
        raise OutOfBudgetError(stopped)
    # Small systems are solved over and over: a second thread only waits.
    with threadpool_limits(limits=1, user_api="blas"):
        people = nearest_solution(equations, budget.over)
        if people is None:
            ended = budget.ended if budget.over() else "1,500 cells with people"
            raise OutOfBudgetError(ended)
        if not fulfils(equations, people):
            # However they are spread, somebody is in every leaf of a tree.
            leaves = max(len(np.unique(leaf)) for leaf in cells.leaf)
            if equations.informative.sum() < leaves + _SURPLUS:
                raise DataError(_TOO_FEW)
            people = searched_solution(equations, budget)
        if people is None or not fulfils(equations, people):
            besides = "" if known is None else f", besides those of {known.origin},"
            raise DataError(
                f"no people were found who fit all leaves{besides}: the search does not solve "
                "every model"
            )
        bounds, finished = enclose(equations, people, budget.over)
    if bounds.low.any() and not _confirmed(equations, people):
        raise DataError(_TOO_FEW)
    if stopped is None and bounds.open.any():
        stopped = "sums of equations" if finished else budget.ended
    return BoostedSolution(
        domain=replace(
            domain,
            assumptions=(*dict.fromkeys((*forest.boosting.assumptions, *domain.assumptions)),),
        ),
        cells=cells,
        bounds=bounds,
        likely=people,
        n_people=int(equations.n_people),
        n_classes=n_classes,
        n_trees=n_trees,
        stopped=stopped,
    )


def _with_counts(forest: Forest, n_scores: int, budget: Budget) -> Iterator[Tree]:
    """Yield the trees; those after the first with counts that let anybody be where somebody is."""
    of_class = np.arange(max(n_scores, 2))
    for i, tree in enumerate(budget.trees(forest.trees, _CUTTING)):
        if i < n_scores:
            first = own_and_others(tree, i, n_scores)
            own = of_class == (i if n_scores > 1 else 1)
            yield replace(tree, counts=np.where(own, first[:, :1], first[:, 1:]))
        else:
            people = np.ones(tree.n_nodes) if tree.n_records is None else tree.n_records
            yield replace(tree, counts=np.column_stack([people] * len(of_class)))


def _cells(
    trees: list[Tree], layout: Layout, n_classes: int, budget: Budget
) -> tuple[Cells, str | None]:
    """Return the cells that the first trees tell apart, and what kept others out."""
    cells, done, batch = Cells.whole(layout, n_classes), 0, 1
    while done < len(trees):
        some = trees[done : done + batch]
        before = len(cells)
        try:
            budget.check(_CUTTING)
            cut = refine(cells, coded(some, layout), check=partial(budget.check, _CUTTING))
            # These are kept several times, and with numbers beside them.
            most = budget.entries // 4
            if len(cut) * (done + len(some)) * n_classes * _PER_LEAF > most:
                raise OutOfBudgetError(f"{most:,} equation terms")
        except OutOfBudgetError as ended:
            if batch > 1:
                batch = 1
                continue
            if not done:
                raise
            return cells, str(ended)
        cells, done = cut, done + len(some)
        batch = min(2 * batch, _MOST_TREES) if len(cells) <= 1.1 * before else 1
    return cells, None


def _largest_counts(cells: Cells, trees: Sequence[Tree], over: Callable[[], bool]) -> Float:
    """Return how many people of any class are in each cell at most, by how many leaves hold."""
    counts = [tree.n_records[:, None] for tree in trees if tree.n_records is not None]
    if len(counts) < len(trees):
        return np.full(len(cells), np.inf)
    anybody = replace(cells, alive=np.ones((len(cells), 1), dtype=np.bool_))
    system, _ = system_of(anybody, 0, [one.astype(np.float64) for one in counts])
    return tightest_bounds(system, over, quiet_rounds=1)[0].high


def _without_known(known: Records, cells: Cells, equations: Equations) -> Equations:
    """Return the equations on the people who are not known."""
    n_classes = len(equations.most) // len(cells)
    cell, label = np.divmod(np.arange(len(equations.most)), n_classes)
    there = people_per_place(cells, cell, label, known)
    if there.sum() != len(known) or equations.too_many(there):
        raise DataError(f"{known.origin} holds people who were not in the training data")
    return equations.without(there)


def _confirmed(equations: Equations, people: Float) -> bool:
    """Tell whether many more equations hold than there are unknowns.

    By chance none would hold to a thousandth, had the trees been grown in another way.
    """
    size = abs(equations.middle).max(axis=1).toarray().ravel()
    sharp = equations.informative & (
        equations.errors(people) < _SHARP * size * (1 + equations.people)
    )
    return int(sharp.sum()) >= int((people > 0).sum()) + _SURPLUS
