"""People in the training data of regressors whose every leaf holds people of one number.

Trees that grow to the end leave one number in each leaf, a label that few people share. All cells
of one leaf of that number in each tree are few, and the people of a leaf are in its cells. Without
draws it is open how many are in each cell. With seeds, which repeat the draws, it is open for each
row in which cell it is, of the trees that drew it.
"""

from dataclasses import replace

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import DataError
from treeaudit.inference.bootstrap import MOST_DRAWS, OF_SEEDS, BootstrapSolution, times_of
from treeaudit.inference.bounds import Bounds, System, tightest_bounds
from treeaudit.inference.cells import Cells
from treeaudit.inference.coding import Coded, Layout, coded
from treeaudit.inference.domain import domain_of
from treeaudit.inference.scope import Budget, OutOfBudgetError, counts_everybody, without_labels
from treeaudit.model.forest import Forest
from treeaudit.readers.sklearn.tree_ensembles import BOUNDED

_ROUNDING = 1e-7
"""What a deviation may be off by rounding, as a part of the largest number."""
_STEPS, _LEAVES = 5_000, 2_000
"""Steps to all cells of a row, and leaves of a number: with more, the number is left out."""
_CHOOSING = 0.6
"""Share of the time until when cells are listed."""
_CLOSE, _NODES = 0.01, 100_000


def numbers_of(forest: Forest) -> Float | None:
    """Return the numbers of all leaves, ascending; None if not all are known to hold one each."""
    if forest.records_are == "bootstrap":
        known = forest.seeds is not None
    else:
        known = counts_everybody(forest) and forest.values_are != "unknown"
    known = known and 0 < (forest.n_records or 0) * forest.n_trees <= MOST_DRAWS
    known = known and forest.answers == "mean" and BOUNDED not in forest.warnings
    if not known or forest.schema.classes is not None or forest.privacy is not None:
        return None
    values, spreads, people = [np.zeros(0)], [np.zeros(0)], 1
    for tree in forest.trees:
        if tree.value is None or tree.n_records is None:
            return None
        at = tree.leaves
        values.append(tree.value[at])
        people = max(people, int(tree.n_records[at].max()))
        spread = np.full(tree.n_nodes, np.inf) if tree.spread is None else tree.spread
        spreads.append(spread[at[tree.n_records[at] > 1]])
    numbers = np.unique(np.concatenate(values))
    off = _ROUNDING * float(np.abs(numbers).max())
    if not np.isfinite(off) or not (np.concatenate(spreads) <= off).all():
        return None
    # Of so many people one may be so far from their mean.
    return np.asarray(numbers[np.diff(numbers, prepend=-np.inf) > 4 * off * np.sqrt(people)])


def infer_numbers(forest: Forest, numbers: Float, budget: Budget) -> BootstrapSolution:
    """Return what regressors with such numbers in their leaves give away, as `infer_bootstrap`."""
    drawn = None
    if forest.records_are == "bootstrap":
        drawn = np.stack([times_of(forest, t) > 0 for t in range(forest.n_trees)], axis=1)
    most = budget.entries // 4
    if len(forest.schema.features) * sum(tree.n_nodes for tree in forest.trees) > most:
        raise OutOfBudgetError(f"{most:,} bounds of nodes")
    layout, code = _coded(forest)
    leaf, size = np.flatnonzero(code.child[0] < 0), code.counts[:, 0]
    if code.gaps or not size[leaf].all():
        raise DataError("leaves were taken out of a tree, and who was in them is not told")
    values = np.concatenate([one.value for one in forest.trees if one.value is not None])
    label = np.searchsorted(numbers, values, "right") - 1
    held = np.zeros((forest.n_trees, len(numbers)))
    np.add.at(held, (code.tree[leaf], label[leaf]), size[leaf])
    if drawn is None and (held != held[0]).any():
        raise DataError("the trees were not trained on the same people")
    cells, complete = list[_Cell](), True
    # Numbers of few people first: they take least time.
    for number in np.argsort(held.max(axis=0), kind="stable").tolist():
        found = _cells(code, leaf[label[leaf] == number], drawn, budget)
        cells += found or ()
        complete &= found is not None
    once: Flag = np.zeros(0, np.bool_) if drawn is None else np.asarray(drawn.any(axis=1))
    bounds = _solved(cells, size, once & complete, budget)
    may = np.flatnonzero(bounds.high > 0)
    cells = [cells[i] for i in may.tolist()]
    ended = budget.ended if budget.over(_CHOOSING) else "one equation at a time"
    seeds = () if drawn is None else (OF_SEEDS,)
    return BootstrapSolution(
        domain=replace(layout.domain, assumptions=(*seeds, *layout.domain.assumptions)),
        cells=_boxes(layout, code, [cell for _, cell in cells]),
        n_people=int(size[0]) if drawn is None else len(drawn),
        n_trees=forest.n_trees,
        person=np.array([row for row, _ in cells], dtype=np.int64),
        cell=np.arange(len(cells)),
        label=np.array([label[cell[0]] for _, cell in cells], dtype=np.int64),
        bounds=Bounds(low=bounds.low[may], high=bounds.high[may]),
        stopped=ended if bounds.open.any() or not complete else None,
        numbers=numbers,
    )


def _coded(forest: Forest) -> tuple[Layout, Coded]:
    """Return the boxes of all nodes, which count everybody."""
    people = without_labels(forest)
    layout = Layout.of(domain_of(people))
    return layout, coded(people.trees, layout)


_Cell = tuple[int, Wide]
"""A row, -1 without draws, and the nodes of its leaves."""


def _cells(code: Coded, at: Wide, drawn: Flag | None, budget: Budget) -> list[_Cell] | None:
    """Return the cells of the leaves of one number; None if they are too many."""
    if len(at) > _LEAVES or budget.over(_CHOOSING):
        return None
    share, trees = _masks(code, at)
    todo = [(-1, list(trees.values()))]
    if drawn is not None:
        elsewhere = np.delete(drawn, list(trees), axis=1).any(axis=1)
        rows = np.flatnonzero(drawn.any(axis=1) & ~elsewhere).tolist()
        todo = [(i, [trees[t] for t in np.flatnonzero(drawn[i]).tolist()]) for i in rows]
    cells = list[_Cell]()
    for row, leaves in todo:
        if budget.over(_CHOOSING) or (found := _choices(leaves, share)) is None:
            return None
        cells += [(row, at[np.sort(cell)]) for cell in found]
    if len(np.unique(np.concatenate([at[:0], *(cell for _, cell in cells)]))) < len(at):
        raise DataError("no people fit what the leaves of all trees say")
    return cells


def _solved(cells: list[_Cell], size: Float, once: Flag, budget: Budget) -> Bounds:
    """Return how many people must and may be in each cell; ``once``: which rows must be in one."""
    if len({row for row, _ in cells}) < once.sum():
        raise DataError("some rows that were drawn fit into no leaves")
    most = np.concatenate([size, np.ones(len(once))])
    each = [cell if row < 0 else np.append(cell, len(size) + row) for row, cell in cells]
    start = np.cumsum([0, *map(len, each)])
    entry = np.concatenate([np.zeros(0, np.int64), *each])
    high = np.minimum.reduceat(most[entry], start[:-1]) if cells else np.zeros(0)
    system = System(
        start=start,
        row=entry,
        least=np.concatenate([size, once]),
        most=most,
        bounds=Bounds(low=np.zeros(len(cells)), high=high),
        origin=np.arange(len(most)),
        groups=0 if len(once) or not cells else len(cells[0][1]),
    )
    return tightest_bounds(system, budget.over)[0]


def _masks(code: Coded, at: Wide) -> tuple[list[int], dict[int, int]]:
    """Return as bits which of some leaves share a record with each, and are in each tree."""
    share = np.ones((len(at), len(at)), dtype=np.bool_)
    for low, high in zip(code.low[:, at], code.high[:, at], strict=True):
        share &= np.maximum(low[:, None], low) < np.minimum(high[:, None], high)
    for words in code.sets[:, at]:
        share &= (words[:, None] & words).any(axis=2)
    trees = np.unique(code.tree[at])
    flags = np.concatenate([share, trees[:, None] == code.tree[at]])
    packed = np.packbits(flags, axis=1, bitorder="little")
    bits = [int.from_bytes(one.tobytes(), "little") for one in packed]
    return bits[: len(at)], dict(zip(trees.tolist(), bits[len(at) :], strict=True))


def _choices(leaves: list[int], share: list[int]) -> list[list[int]] | None:
    """Return all choices of one leaf of each tree that share a record; None if too many."""
    found, todo = list[list[int]](), [(leaves, list[int]())]
    for _ in range(_STEPS):
        if not todo:
            return found
        rest, chosen = todo.pop()
        if not rest:
            found.append(chosen)
            continue
        fewest = min(rest, key=int.bit_count)
        rest.remove(fewest)
        while fewest:
            leaf = fewest.bit_length() - 1
            fewest ^= 1 << leaf
            left = [one & share[leaf] for one in rest]
            if all(left):
                todo.append((left, [*chosen, leaf]))
    return None


def _boxes(layout: Layout, code: Coded, chosen: list[Wide]) -> Cells:
    """Return cells of some nodes each; the leaf is -1 in trees that are not among them."""
    n = len(chosen)
    cells = Cells.whole(layout, 1).part(np.zeros(n, dtype=np.int64))
    at = np.repeat(np.arange(n), [len(one) for one in chosen])
    node = np.concatenate([np.zeros(0, np.int64), *chosen])
    for i in range(layout.n_numbers):
        np.maximum.at(cells.low[i], at, code.low[i, node])
        np.minimum.at(cells.high[i], at, code.high[i, node])
    for i in range(layout.n_sets):
        np.bitwise_and.at(cells.sets[i], at, code.sets[i, node])
    leaf = np.full((code.n_trees, n), -1, dtype=np.int32)
    leaf[code.tree[node], at] = node - code.start[code.tree[node]]
    return replace(cells, leaf=leaf)


def columns_known(cells: Cells) -> tuple[Wide, int]:
    """Return of how many columns each cell gives a number away, and how many there are.

    That is: within 1 % of the range of the column's thresholds, or of whole numbers one.
    """
    known, layout = np.zeros(len(cells), dtype=np.int64), cells.layout
    for variable, row in zip(layout.domain.variables, layout.row.tolist(), strict=False):
        if (cuts := variable.cuts) is not None:
            low, high = cells.low[row], cells.high[row]
            width = variable.edges[high] - variable.edges[low]
            known += (width <= _CLOSE * (cuts[-1] - cuts[0])) | (variable.n_values(low, high) == 1)
    return known, layout.n_numbers


def known_by_one_tree(forest: Forest) -> float | None:
    """Return the largest share of such numbers that one tree gives away; None if that is none."""
    n, nodes = forest.n_records, sum(tree.n_nodes for tree in forest.trees)
    try:
        if forest.counts_are == "noisy" or forest.privacy or not n or nodes > _NODES:
            return None
        layout, code = _coded(forest)
    except (DataError, OutOfBudgetError):
        return None
    leaf = np.flatnonzero(code.child[0] < 0)
    known, columns = columns_known(_boxes(layout, code, list(leaf[:, None])))
    told = float(np.bincount(code.tree[leaf], code.counts[leaf, 0] * known).max())
    return told / (n * columns) if told else None
