"""People in the training data of a forest whose bootstrap samples are known, row by row.

The samples are drawn again from the seeds in the file. Row k of the training table was drawn
``times[k, t]`` times for tree t. A record of class c in row k lies in leaves that hold at least so
many draws of that class, and every leaf is one equation on all rows: ``sum of times[k, t] over the
people of class c in the leaf = draws of class c in it``. Unknown is for each row in which cell it
is, with which class: 0 or 1, one of them 1.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import DataError
from treeaudit.inference.bounds import Bounds, System, propagate
from treeaudit.inference.cells import Cells, refine
from treeaudit.inference.coding import Coded, Layout, coded
from treeaudit.inference.domain import Domain, domain_of
from treeaudit.inference.scope import Budget, OutOfBudgetError, not_usable
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.people.checks.leaf_values import bootstrap_draws

_MOST_TREES = 16
OF_SEEDS = (
    "the seeds are those of the draws: for every tree they draw as many people as its root holds"
)
_CUTTING = 0.6
"""Share of the time until when cells are cut."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BootstrapSolution:
    """What a forest gives away of the table it was trained on, row by row."""

    domain: Domain  # What a record is, with the assumptions
    cells: Cells  # What the trees tell apart and may hold somebody
    n_people: int  # Rows of the training table
    n_trees: int  # All trees: with fewer, nothing is told
    # Shape ``(n_unknowns,)``: the row, -1 if no draws tell, the cell and the class of each unknown
    person: Wide
    cell: Wide
    label: Wide
    bounds: Bounds  # Whether the row must be, and may be, in the cell with the class
    stopped: str | None  # What kept it from an end, in words; None where nothing did
    numbers: Float | None = None  # The numbers that labels stand for; None for classes

    @property
    def certain(self) -> Flag:
        """Which unknowns are certain: this row is in this cell and has this class."""
        sure: Flag = self.bounds.low > 0
        return sure

    @property
    def exact(self) -> Flag:
        """Those of them whose every value that a tree asks about is certain."""
        one: Flag = self.certain & (self.cells.n_records[self.cell] == 1)
        return one

    @property
    def tables(self) -> tuple[tuple[Wide, Bounds], ...]:
        """Cells, and how many people must and may be in each, whatever their rows; by class."""
        result, n = [], len(self.cells)
        for label in range(int(self.label.max(initial=-1)) + 1):
            mine = self.label == label
            low, high = (
                np.bincount(self.cell[mine], one[mine], n).astype(np.float64)
                for one in (self.bounds.low, self.bounds.high)
            )
            cell = np.flatnonzero(high)
            result.append((cell, Bounds(low=low[cell], high=high[cell])))
        return tuple(result)

    @property
    def bits(self) -> float:
        """Bits that the file gives away of the records, no fewer (labels apart)."""
        if (self.person < 0).any():
            size = np.log2(self.cells.n_codes[self.cell])
            return float(self.bounds.low @ (self.domain.bits - size))
        may = self.bounds.high > 0
        place = np.unique(np.stack([self.person[may], self.cell[may]]), axis=1)
        records = np.bincount(place[0], self.cells.n_codes[place[1]], self.n_people)
        return self.n_people * self.domain.bits - float(np.log2(records).sum())


def infer_bootstrap(
    forest: Forest,
    times: Wide,
    public: Schema | None = None,
    budget: Budget | None = None,
) -> BootstrapSolution:
    """Return what a forest gives away of each row of the table it was trained on.

    Raises OutOfBudgetError if it ended before all trees were put together: nothing is known then.
    Raises DataError if the leaves contradict each other, the draws or what is assumed.

    ``times``: shape ``(n_people, n_trees)``: how often each row was drawn for each tree, see
    `treeaudit.inference.bootstrap.sample_counts`. ``public``: what is known of the columns besides
    the file. ``budget``: as `Budget` says unless told.
    """
    budget = Budget() if budget is None else budget
    n_classes = len(forest.schema.classes or ())
    check_room(forest, len(times), budget)
    domain = domain_of(forest, budget.trees(forest.trees, _CUTTING), public)
    budget.check(_CUTTING)
    cells = _cells(forest, times, Cells.whole(Layout.of(domain), len(times) * n_classes), budget)
    cell, place = np.nonzero(cells.alive)
    order = np.argsort(place, kind="stable")
    cell, place = cell[order], place[order]
    person, label = place // n_classes, place % n_classes
    if len(np.unique(person)) < len(times):
        raise DataError("some rows that were drawn fit into no leaves")
    n = int((times > 0).sum(axis=1)[person].sum())
    budget.check(_CUTTING)
    if 2 * n > budget.entries:
        raise OutOfBudgetError(f"{budget.entries:,} equation terms")
    system = _system(forest, times, cells.leaf[:, cell].T.astype(np.int64), person, label)
    bounds = propagate(system, budget.over)
    stopped = budget.ended if budget.over() else "one equation at a time"
    return BootstrapSolution(
        domain=replace(domain, assumptions=(OF_SEEDS, *domain.assumptions)),
        cells=cells,
        n_people=len(times),
        n_trees=forest.n_trees,
        person=person,
        cell=cell,
        label=label,
        bounds=bounds,
        stopped=stopped if bounds.open.any() else None,
    )


def check_room(forest: Forest, n_people: int, budget: Budget) -> None:
    """Refuse so many people that the nodes of the first tree alone are too many for each of them.

    Raises OutOfBudgetError as `infer_bootstrap`, which would begin with it.
    """
    columns = n_people * len(forest.schema.classes or ())
    _check_size(forest.trees[0].n_nodes, columns, budget)


def _cells(forest: Forest, times: Wide, cells: Cells, budget: Budget) -> Cells:
    """Return the cells that some row may be in; ``alive`` tells it per row and class."""
    done, batch, columns = 0, 1, cells.alive.shape[1]

    def check(n: int) -> None:
        budget.check(_CUTTING, n)
        _check_size(n, columns, budget)

    while done < forest.n_trees:
        before = len(cells)
        trees = forest.trees[done : done + batch]
        n_nodes = sum(tree.n_nodes for tree in trees)
        if n_nodes * columns > budget.entries or n_nodes > cells.layout.most:
            trees, batch = trees[:1], 1
        check(max(before, trees[0].n_nodes))
        code = coded(trees, cells.layout)
        cells = refine(cells, code, partial(_may_be, code, times[:, done : done + batch]), check)
        if not len(cells):
            raise DataError("no people fit what the leaves of all trees say")
        done += batch
        batch = min(2 * batch, _MOST_TREES) if len(cells) <= 1.1 * before else 1
    return cells


def _check_size(n: int, columns: int, budget: Budget) -> None:
    if n * columns > budget.entries:
        raise OutOfBudgetError(f"{budget.entries // columns:,} cells per person")


def _may_be(code: Coded, times: Wide, counts: Float) -> Flag:
    """Tell of each node, row and class whether the node holds as many draws as the row has."""
    drawn = times.T.astype(np.int32)[code.tree]
    fits: Flag = counts[:, None, :] >= drawn[:, :, None]
    return fits.reshape(len(counts), -1)


def _system(forest: Forest, times: Wide, leaf: Wide, person: Wide, label: Wide) -> System:
    """Return the equations: draws per leaf and class, people per leaf, and each row once.

    ``leaf``: shape ``(n_unknowns, n_trees)``.
    """
    n_classes = len(forest.schema.classes or ())
    totals: list[Float] = []
    size = [tree.n_nodes for tree in forest.trees]
    first = np.concatenate([[0], np.cumsum(size)])
    node = leaf + first[:-1]
    draws = times[person]
    present = draws > 0
    for tree in forest.trees:
        if tree.counts is None or tree.n_records is None:
            raise DataError("a tree holds no class counts")
        totals.append(np.column_stack([tree.counts, tree.n_records]).astype(np.float64))
    # Rows: per node its draws of each class and its people; then the rows of the table.
    width, one = n_classes + 1, np.ones((len(person), 1), dtype=np.int64)
    row = np.hstack([node * width + label[:, None], node * width + n_classes,
                     (first[-1] * width + person)[:, None]])  # fmt: skip
    weight = np.hstack([draws, np.ones_like(draws), one])
    entries = np.hstack([present, present, one > 0])
    total = np.concatenate([np.concatenate(totals).ravel(), np.ones(len(times))])
    origin, place = np.unique(row[entries], return_inverse=True)
    start = np.concatenate([[0], np.cumsum(entries.sum(axis=1))])
    n = len(person)
    return System(
        start=start,
        row=place,
        weight=weight[entries].astype(np.float64),
        least=total[origin],
        most=total[origin],
        bounds=Bounds(low=np.zeros(n), high=np.ones(n)),
        origin=origin,
    )


MOST_DRAWS = 50_000_000


def not_reproducible(forest: Forest) -> str | None:
    """Say why it is not known who was drawn for the trees of a model, or why that says nothing."""
    if forest.records_are != "bootstrap":
        return "its trees were not trained on draws"
    if forest.seeds is None:
        return not_usable(forest)
    if (reason := not_bootstrap(forest)) is not None:
        return reason
    if (forest.n_records or 0) * forest.n_trees > MOST_DRAWS:
        return f"more than {MOST_DRAWS:,} draws are not made again"
    return None


def not_bootstrap(forest: Forest) -> str | None:
    """Say why the leaves of a model are no draws from so many people; None where they are."""
    if forest.records_are != "bootstrap":
        return "its trees were not trained on draws"
    if (reason := not_usable(replace(forest, records_are="all"))) is not None:
        return reason
    if forest.n_records is None:
        return "it does not tell of how many people its trees were drawn"
    return None


def sample_counts(forest: Forest) -> Wide:
    """Return how often each row was drawn for each tree, shape ``(n_people, n_trees)``.

    For each tree scikit-learn draws as many rows as its root holds, with replacement, from a
    generator that starts from the tree's seed. The draws are those of the file only where each
    tree holds as many distinct people as are drawn.

    Raises DataError if `not_reproducible` has a reason, or if they are not.
    """
    check_seeds(forest)
    n = forest.n_records or 0
    # By columns: what the first tree shows to be other draws has then not touched the others.
    times = np.zeros((n, forest.n_trees), dtype=np.int64, order="F")
    for t in range(forest.n_trees):
        times[:, t] = times_of(forest, t)
    return times


def check_seeds(forest: Forest) -> None:
    """Draw for the first tree alone: what shows other draws mostly shows there.

    Raises DataError as `sample_counts`.
    """
    if (reason := not_reproducible(forest)) is not None:
        raise DataError(reason)
    if len(forest.seeds or ()) != forest.n_trees:
        raise DataError(f"there are {len(forest.seeds or ()):,} seeds for {forest.n_trees:,} trees")
    times_of(forest, 0)


def times_of(forest: Forest, t: int) -> Wide:
    """Return how often each row was drawn for one tree; of numbers, as many draws as rows."""
    n, tree = forest.n_records or 0, forest.trees[t]
    if tree.n_records is None:
        raise DataError("a tree does not hold how many people it was trained on")
    leaves = tree.leaves
    draws = n if tree.counts is None else round(float(tree.counts[leaves].sum()))
    times = bootstrap_draws((forest.seeds or ())[t], n, draws)
    if np.count_nonzero(times) != tree.n_records[leaves].sum():
        raise DataError("its seeds do not draw the people whom its trees hold")
    return times
