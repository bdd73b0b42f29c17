"""Who is in one of two tables alone: what the difference of two releases gives away.

For certain: whoever must be in a cell of one table where the other has room for fewer. If of each
label people only left or only came, as many as the sizes differ by, both files are one system.
Whoever is in either table is in both, in the old alone, or in the new alone: one more variable.
A tree of the old release says nothing of those who came, one of the new nothing of those who
left, so each becomes a branch of a tree on both tables, beside a leaf with all others. Where two
trees begin alike, what their nodes differ by are people who moved, and a third tree says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.errors import DataError
from treeaudit.inference.cells import Cells, refine
from treeaudit.inference.coding import Coded, Layout, coded
from treeaudit.inference.domain import Domain, Variable, domain_of
from treeaudit.inference.exact import Progress, Solution, infer_exact
from treeaudit.inference.questions import nodes_of
from treeaudit.inference.scope import Budget, assumptions_of
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.model.tree import CategorySets, Tree

BOTH, OLD, NEW = range(3)
"""Codes of who is where."""
_WHERE = ("in both", "in the old alone", "in the new alone")


def align_schemas(old: Forest, new: Forest) -> tuple[Forest, Forest]:
    """Return both with the same columns and labels, those of both; DataError if that cannot be."""
    schemas = old.schema, new.schema
    named = all(one.named for one in schemas)
    if not named and len(old.schema.features) != len(new.schema.features):
        raise DataError("the models have other columns, and no names to match them by")
    features: dict[str, Feature] = {}
    for schema in schemas:
        for i, one in enumerate(schema.features):
            known = features.setdefault(one.name if named else str(i), one)
            if known.categories != one.categories:
                raise DataError(f"column {one.name!r} has other categories in the other model")
    labels = dict.fromkeys(label for one in schemas for label in one.classes or ())
    schema = replace(old.schema, features=tuple(features.values()), classes=tuple(labels))
    first, second = (_on(forest, schema, [*features], [*labels], named) for forest in (old, new))
    return first, second


def _on(
    forest: Forest, schema: Schema, names: Sequence[str], labels: Sequence[Label], named: bool
) -> Forest:
    own, classes = forest.schema, forest.schema.classes or ()
    column = [names.index(one.name) if named else i for i, one in enumerate(own.features)]
    place = [labels.index(label) for label in classes]
    if column == [*range(len(column))] and place == [*range(len(labels))]:
        return replace(forest, schema=schema)

    def build(i: int) -> Tree:
        tree = forest.trees[i]
        counts = np.zeros((tree.n_nodes, len(labels)))
        counts[:, place] = 0 if tree.counts is None else tree.counts
        feature = np.where(tree.feature < 0, -1, np.array(column, dtype=np.int32)[tree.feature])
        return replace(tree, feature=feature, counts=counts)

    return replace(forest, schema=schema, trees=LazyTrees(build, forest.n_trees))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Releases:
    """An old and a new release, on the same terms, where of each label some left or some came."""

    # The models
    old: Forest
    new: Forest
    domain: Domain  # Of both
    # Shape ``(n_classes,)``: how many of each label; one of both is 0
    left: Float
    came: Float

    def joined(self) -> tuple[Forest, Domain]:
        """Return the forest on both tables, and its domain; the last variable is who is where."""
        where = len(self.old.schema.features)
        layout = Layout.of(self.domain)
        feature = Feature(name="moved", categories=_WHERE)
        schema = replace(self.old.schema, features=(*self.old.schema.features, feature))
        variable = Variable(name="moved", features=(where,), kind="categories", values=_WHERE)
        n, m = self.old.n_trees, self.new.n_trees
        # First what trees of both have alike: it leaves the fewest cells.
        order = [(BOTH, i) for i in range(min(n, m))]
        order += [one for i in range(max(n, m)) for one in ((OLD, i), (NEW, i))]
        order = [(kind, i) for kind, i in order if i < (m if kind == NEW else n)]

        def build(at: int) -> Tree:
            kind, i = order[at]
            if kind == OLD:
                return _joined(where, ((BOTH, OLD), self.old.trees[i]), ((NEW,), _leaf(self.came)))
            if kind == NEW:
                return _joined(where, ((BOTH, NEW), self.new.trees[i]), ((OLD,), _leaf(self.left)))
            return self._alike(i, layout, where)

        forest = replace(self.old, schema=schema, trees=LazyTrees(build, len(order)))
        return forest, replace(self.domain, variables=(*self.domain.variables, variable))

    def _alike(self, i: int, layout: Layout, where: int) -> Tree:
        """Return the tree on who moved: as far as trees of both releases ask the same."""
        trees = self.old.trees[i], self.new.trees[i]
        total = _totals(trees)
        first, second, parent = _same(coded(trees, layout))
        fewer = total[first] - total[second]
        gone = np.where(self.came > 0, 0.0, fewer)
        more = np.where(self.came > 0, -fewer, 0.0)
        if min(gone.min(), more.min()) < 0:
            raise DataError("people of one label both left and came")
        both = total[first[0]] - self.left
        shape = _part(trees[0], first, parent)
        return _joined(
            where,
            ((BOTH,), _leaf(both)),
            ((OLD,), replace(shape, counts=gone)),
            ((NEW,), replace(shape, counts=more)),
        )


def _leaf(counts: Float) -> Tree:
    above = np.full(1, -1, np.int32)
    open_end = np.full(1, np.inf)
    return Tree(parent=above, feature=above, low=-open_end, high=open_end, counts=counts[None])


def _joined(feature: int, *branches: tuple[tuple[int, ...], Tree]) -> Tree:
    """Return the tree that asks first about one more column, whose codes lead to a tree each."""
    root_counts = np.sum([_counts(tree)[0] for _, tree in branches], axis=0)
    parts = [_leaf(root_counts), *(tree for _, tree in branches)]
    parents, asked = [parts[0].parent], [parts[0].feature]
    sizes, codes, n = [np.zeros(1, np.int64)], [np.zeros(0, np.int32)], 1
    for leads, tree in branches:
        root = tree.parent < 0
        parents.append(np.where(root, 0, tree.parent + n))
        asked.append(np.where(root, feature, tree.feature))
        own = tree.categories
        sizes.append(np.where(root, len(leads), 0 if own is None else np.diff(own.start)))
        codes += [np.array(leads, np.int32), np.zeros(0, np.int32) if own is None else own.codes]
        n += tree.n_nodes
    return Tree(
        parent=np.concatenate(parents),
        feature=np.concatenate(asked),
        low=np.concatenate([one.low for one in parts]),
        high=np.concatenate([one.high for one in parts]),
        counts=np.concatenate([_counts(one) for one in parts]),
        categories=_sets(np.concatenate(sizes), codes),
    )


def _sets(size: Wide, codes: Sequence[Int]) -> CategorySets:
    start = np.concatenate([[0], np.cumsum(size)])
    return CategorySets(start=start, codes=np.concatenate(codes))


def _counts(tree: Tree) -> Float:
    if tree.counts is None:
        raise DataError("a tree holds no class counts")
    return tree.counts


def _totals(trees: Sequence[Tree]) -> Float:
    """Return the class counts of the nodes of all trees, added up from their leaves."""
    nodes = nodes_of(trees)
    total = nodes.counts.copy()
    total[nodes.parent[nodes.parent >= 0]] = 0
    for level in reversed(nodes.levels):
        np.add.at(total, nodes.parent[level], total[level])
    return total


def _same(code: Coded) -> tuple[Wide, Wide, Wide]:
    """Return the nodes of two trees that hold the same boxes, from the roots on, and parents."""
    a, b = code.start[:1], code.start[1:2]
    first, second, parent = [a], [b], [np.array([-1])]
    n = 0
    while len(a):
        x, y = code.child[:, a], code.child[:, b]
        equal = ((x < 0) == (y < 0)) & (code.low[:, x] == code.low[:, y]).all(axis=0)
        equal &= (code.high[:, x] == code.high[:, y]).all(axis=0)
        equal &= (code.sets[:, x] == code.sets[:, y]).all(axis=(0, 3))
        on = equal.all(axis=0) & (x[0] >= 0)
        here = np.broadcast_to(n + np.arange(len(a)), x.shape)[:, on]
        n += len(a)
        x, y = x[:, on], y[:, on]
        present = x >= 0
        a, b = x[present].astype(np.int64), y[present].astype(np.int64)
        first.append(a)
        second.append(b)
        parent.append(here[present])
    return np.concatenate(first), np.concatenate(second), np.concatenate(parent)


def _part(tree: Tree, node: Wide, parent: Wide) -> Tree:
    """Return some nodes of a tree, the root first, with other parents."""
    sets = None
    if tree.categories is not None:
        codes = [tree.categories.of(one) for one in node.tolist()]
        sets = _sets(np.array([*map(len, codes)]), [np.array(one, np.int32) for one in codes])
    return Tree(
        parent=parent.astype(np.int32),
        feature=tree.feature[node],
        low=tree.low[node],
        high=tree.high[node],
        categories=sets,
    )


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
        together=_solve_both(both, Budget(seconds=seconds / 3), progress),
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


def _solve_both(both: Releases, budget: Budget, progress: Progress | None) -> JointSolution | None:
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
