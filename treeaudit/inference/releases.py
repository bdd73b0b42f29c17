"""Who is in one of two tables alone: what the difference of two releases gives away.

For certain: whoever must be in a cell of one table where the other has room for fewer. If of each
label people only left or only came, as many as the sizes differ by, both files are one system,
see `treeaudit.inference.joined_releases`, and it says more.
"""

from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.errors import DataError
from treeaudit.inference.budget import Budget
from treeaudit.inference.cells import Cells, refine
from treeaudit.inference.coding import Layout, coded
from treeaudit.inference.domain import Domain, domain_of
from treeaudit.inference.exact import Progress, Solution, infer_exact
from treeaudit.inference.joined_releases import NEW, OLD, Releases, align_schemas
from treeaudit.inference.scope import assumptions_of
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema

_BATCH = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MovedPeople:
    """People who are certainly in one table alone."""

    cells: Cells  # Boxes of the domain
    # Shape ``(n,)``: where they are, and their class
    cell: Wide
    label: Wide
    people: Wide  # No fewer than so many

    @property
    def n_people(self) -> int:
        """How many there are, all together."""
        return int(self.people.sum())

    @property
    def exact(self) -> int:
        """Those of whom every value that a tree asks about is certain."""
        return int(self.people[self.cells.n_records[self.cell] == 1].sum())

    @property
    def named(self) -> int:
        """Those of whom something but the label is certain."""
        every = np.prod([float(one.n_codes) for one in self.cells.layout.domain.variables])
        return int(self.people[self.cells.n_codes[self.cell] < every].sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointSolution:
    """What both files say if of each label people only left or only came."""

    answer: Solution  # Of both tables, see `Releases`
    # Who is in the old table alone, and in the new one
    left: MovedPeople
    came: MovedPeople

    @property
    def kept_exact(self) -> int:
        """People of the new table of whom every value that a tree asks about is certain."""
        return self.answer.exact - self.left.exact


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReleaseDifference:
    """What two releases give away beside each other."""

    domain: Domain  # Of both, with the assumptions
    schema: Schema  # The columns and labels of both
    # What each gives away alone
    old: Solution
    new: Solution
    # Who is for certain in the old table alone, and in the new one
    left: MovedPeople
    came: MovedPeople
    # The same where nobody moved but who had to; None where the files show that some did
    together: JointSolution | None

    @property
    def fewer(self) -> tuple[int, ...]:
        """How many fewer people of each class the new table holds; below 0 where it holds more."""
        pairs = zip(self.old.labels, self.new.labels, strict=True)
        return tuple(old.n_people - new.n_people for old, new in pairs)

    @property
    def stopped(self) -> str | None:
        """What kept it from an end, in words; None where nothing did."""
        answers = [self.old, self.new, *([self.together.answer] if self.together else [])]
        return next((one.stopped for one in answers if one.stopped is not None), None)


def infer_difference(
    old: Forest,
    new: Forest,
    public: Schema | None = None,
    seconds: float = 10.0,
    progress: Progress | None = None,
) -> ReleaseDifference:
    """Return whose records the difference of two releases gives away.

    Both must hold for `treeaudit.inference.scope.not_usable`.

    Raises DataError if one of them contradicts itself, or they have other columns.
    """
    old, new = align_schemas(old, new)
    domain = domain_of(old, public=public, again=new.trees)
    said = (*dict.fromkeys((*assumptions_of(new), *domain.assumptions)),)
    domain = replace(domain, assumptions=said)
    first, second = (
        infer_exact(one, budget=Budget(seconds=seconds / 3), domain=domain, progress=progress)
        for one in (old, new)
    )
    if first.gaps or second.gaps:
        raise DataError("leaves were taken out of one of the models, which tells of no others then")
    pairs = zip(first.labels, second.labels, strict=True)
    fewer = np.array([one.n_people - other.n_people for one, other in pairs], dtype=np.float64)
    both = Releases(
        old=old, new=new, domain=domain, left=np.maximum(fewer, 0), came=np.maximum(-fewer, 0)
    )
    return ReleaseDifference(
        domain=domain,
        schema=old.schema,
        old=first,
        new=second,
        left=_alone(first, second, new),
        came=_alone(second, first, old),
        together=_together(both, Budget(seconds=seconds / 3), progress),
    )


def _alone(here: Solution, there: Solution, forest: Forest) -> MovedPeople:
    """Return who must be in one table in cells where the other has room for fewer."""
    low = np.zeros((len(here.cells), len(here.labels)))
    for label, one in enumerate(here.labels):
        low[one.cell, label] = one.bounds.low
    at = np.flatnonzero(low.any(axis=1))
    room = _room(here.cells.part(at), low[at] > 0, there, forest)
    cell, which = np.nonzero(low[at] > room)
    return MovedPeople(
        cells=here.cells,
        cell=at[cell],
        label=which,
        people=(low[at] - room)[cell, which].astype(np.int64),
    )


def _room(cells: Cells, asked: Flag, answer: Solution, forest: Forest) -> Float:
    """Return how many people of each class an answer allows in cells of another forest, at most."""
    if not len(cells):
        return np.zeros(asked.shape)
    n = np.arange(len(cells), dtype=np.int32)
    parts = replace(cells, leaf=n[None], alive=asked)
    widest = max((forest.trees[i].n_nodes for i in range(answer.n_trees)), default=1)
    batch = max(min(_BATCH, cells.layout.most // widest), 1)
    for first in range(0, answer.n_trees, batch):
        trees = forest.trees[first : min(first + batch, answer.n_trees)]
        parts = refine(parts, coded(trees, cells.layout))
    place = _places(answer.cells.leaf, parts.leaf[1:])
    room = np.zeros(asked.shape)
    for label, one in enumerate(answer.labels):
        most = np.full(len(answer.cells) + 1, np.inf)
        most[:-1] = 0
        most[one.cell] = one.bounds.high
        np.add.at(room[:, label], parts.leaf[0], np.where(parts.alive[:, label], most[place], 0))
    return room


def _places(known: Int, asked: Int) -> Wide:
    """Return where columns of an array are among those of another; its width if nowhere."""
    both = np.ascontiguousarray(np.concatenate([known, asked], axis=1).T)
    if not both.shape[1]:
        return np.zeros(asked.shape[1], dtype=np.int64)
    rows = both.view(np.dtype((np.void, both.itemsize * both.shape[1])))[:, 0]
    rows_found, which = np.unique(rows, return_inverse=True)
    at = np.full(len(rows_found), known.shape[1], dtype=np.int64)
    at[which[: known.shape[1]]] = np.arange(known.shape[1])
    return at[which[known.shape[1] :]]


def _together(both: Releases, budget: Budget, progress: Progress | None) -> JointSolution | None:
    """Return what both files say if nobody moved but who had to; None if some did."""
    forest, domain = both.joined()
    try:
        answer = infer_exact(forest, budget=budget, domain=domain, progress=progress)
    except DataError:
        return None
    cells = answer.cells
    where = cells.sets[-1, :, 0]
    boxes = replace(cells, layout=Layout.of(both.domain), sets=cells.sets[:-1])
    left, came = (_only(answer, boxes, where == 1 << code) for code in (OLD, NEW))
    return JointSolution(answer=answer, left=left, came=came)


def _only(answer: Solution, boxes: Cells, here: Flag) -> MovedPeople:
    """Return who must be in some of the cells of an answer, as boxes without who is where."""
    places = [np.flatnonzero((one.bounds.low > 0) & here[one.cell]) for one in answer.labels]
    pairs = [*zip(answer.labels, places, strict=True)]
    return MovedPeople(
        cells=boxes,
        cell=np.concatenate([one.cell[at] for one, at in pairs]),
        label=np.repeat(np.arange(len(places)), [len(at) for at in places]),
        people=np.concatenate([one.bounds.low[at] for one, at in pairs]).astype(np.int64),
    )
