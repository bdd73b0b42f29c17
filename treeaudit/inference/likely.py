"""From a forest whose counts are draws or noisy to who is likely in it: the whole way."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import DataError
from treeaudit.inference.bootstrap import not_bootstrap
from treeaudit.inference.cells import (
    Cells,
    independent_shares,
    likeliest_codes,
    people_per_place,
    refine,
)
from treeaudit.inference.coding import Layout, coded
from treeaudit.inference.domain import Domain, domain_of
from treeaudit.inference.evidence import (
    BootstrapEvidence,
    NoiseEvidence,
    bootstrap_evidence,
    drop_implausible,
    noise_evidence,
    not_noisy,
    paths,
)
from treeaudit.inference.posterior import (
    Posterior,
    affordable_rounds,
    likeliest_table,
    posterior,
    posterior_of_one,
)
from treeaudit.inference.scope import Budget, OutOfBudgetError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.people.records import Records

_MOST_TREES, _THINNING = 16, 10
"""Trees that are taken together, and after how many cells are thinned; doubled each time."""
_MOST_ENTRIES = 100_000_000
_CUTTING, _POINT, _CHAINS = 0.3, 0.4, 0.5
"""Shares of the time: until when cells are cut and the likeliest table is sought, for chains."""
_BY_MARGINS = 300.0
"""People imagined by the margins of a public table, beside those who are in it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LikelyTable:
    """Who is likely in the training data of a forest; nobody is certain."""

    domain: Domain  # What a record is, with the assumptions
    cells: Cells  # What the trees tell apart
    n_people: int  # People in the training data who are not known
    # Shape ``(n_places,)``: the places that people may be in
    cell: Wide
    label: Wide
    guess: Float  # Shape ``(n_places,)``: how many are in each in the likeliest table
    found: Posterior  # How likely people are
    noise: bool  # Whether counts are noisy; draws otherwise

    @property
    def people(self) -> Posterior:
        """The likeliest table: as many people as there are."""
        return self.found.first(self.n_people)


def not_likely(forest: Forest) -> str | None:
    """Say why nobody can be called likely in a model; None where it is worth trying."""
    if forest.n_trees == 1 and forest.counts_are != "noisy":
        return "a single tree says no more than its leaves"
    if all(tree.n_nodes == 1 for tree in forest.trees):
        return "no tree asks anything"
    return not_noisy(forest) if forest.counts_are == "noisy" else not_bootstrap(forest)


def infer_likely(
    forest: Forest,
    public: Schema | None = None,
    budget: Budget | None = None,
    *,
    known: Records | None = None,
    prior: Records | None = None,
    n_people: int | None = None,
    seed: int = 0,
) -> LikelyTable:
    """Return who is likely in the training data of a forest.

    Raises OutOfBudgetError if it ended before how likely people are had settled. Raises DataError
    if `not_likely` has a reason, or if what is known does not fit.
    """
    if (reason := not_likely(forest)) is not None:
        raise DataError(reason)
    budget = Budget() if budget is None else budget
    in_all = _people(forest) if n_people is None else n_people
    n = in_all - (0 if known is None else len(known))
    if n < 1:
        raise DataError("there is nobody besides the people who are known")
    _rounds(budget, n, forest.n_trees)
    noise = forest.counts_are == "noisy"
    trees = tuple(forest.trees)
    domain = domain_of(forest, trees, public)
    cells = _cells(trees, Layout.of(domain), forest, budget, None if noise else in_all)
    label, cell = np.nonzero(cells.alive.T)
    each = forest.noise is not None and forest.noise.counts == "nodes"
    if len(cell) * forest.n_trees > _MOST_ENTRIES:
        raise OutOfBudgetError(f"{_MOST_ENTRIES:,} equation terms")
    evidence: NoiseEvidence | BootstrapEvidence = (
        noise_evidence(forest) if noise else bootstrap_evidence(trees, in_all)
    )
    n_classes, estimate = len(forest.schema.classes or ()), evidence.estimate
    row = _rows(paths(trees, _leaves(cells, cell), every=each), label, n_classes, len(estimate))
    known_rows = _rows_of(known, trees, n_classes, len(estimate), every=each)
    guess = likeliest_table(
        row, np.maximum(estimate - known_rows, 0.0), n, partial(budget.over, _POINT)
    )
    weight = n * independent_shares(cells, cell, label, guess)
    if prior is not None:
        people = people_per_place(cells, cell, label, prior)
        weight = people + _BY_MARGINS * independent_shares(cells, cell, label, people + 1e-9)
    if n == 1:
        samples: Posterior | None = posterior_of_one(row, evidence, weight, known_rows)
    else:
        rounds = _rounds(budget, n, row.shape[1])
        start = guess + 1e-5
        if prior is not None:
            start = (start + n * weight / weight.sum()) / 2
        samples = posterior(
            row, evidence, weight, start, n, known=known_rows, rounds=rounds, over=budget.over,
            seed=seed,
        )  # fmt: skip
    if samples is None:
        raise OutOfBudgetError(budget.ended)
    return LikelyTable(
        domain=domain,
        cells=cells,
        n_people=n,
        cell=cell,
        label=label,
        guess=guess,
        found=samples,
        noise=noise,
    )


def _rounds(budget: Budget, n_people: int, n_equations: int) -> int:
    rounds = affordable_rounds(_CHAINS * budget.seconds, n_people, n_equations)
    if n_people > 1 and not rounds:
        raise OutOfBudgetError(budget.ended)
    return rounds


def _people(forest: Forest) -> int:
    """Return how many people the file tells of; from noise, as many as the trees do on average."""
    if forest.n_records is not None:
        return forest.n_records
    each = [tree.counts[tree.leaves].sum() for tree in forest.trees if tree.counts is not None]
    return max(round(float(np.mean(each))), 1)


def _everywhere(counts: Float) -> Flag:
    return np.ones(counts.shape, dtype=np.bool_)


def _cells(
    trees: Sequence[Tree], layout: Layout, forest: Forest, budget: Budget, drawn_from: int | None
) -> Cells:
    """Return what the trees tell apart, without what draws make implausible."""
    cells = Cells.whole(layout, len(forest.schema.classes or ()))
    done, batch, thin = 0, 1, _THINNING
    while done < len(trees):
        before = len(cells)
        if sum(tree.n_nodes for tree in trees[done : done + batch]) > layout.most:
            batch = 1
        code = coded(trees[done : done + batch], layout)
        cells = refine(cells, code, _everywhere, partial(budget.check, _CUTTING))
        done = min(done + batch, len(trees))
        batch = min(2 * batch, _MOST_TREES) if len(cells) <= 1.1 * before else 1
        if drawn_from is not None and done >= thin:
            cells, thin = _thinned(cells, trees[:done], drawn_from), 2 * done
    return cells


def _thinned(cells: Cells, trees: Sequence[Tree], n_people: int) -> Cells:
    """Return the cells without those that the first trees make implausible or very unlikely."""
    cells = drop_implausible(cells, trees, n_people)
    label, cell = np.nonzero(cells.alive.T)
    estimate, n_classes = bootstrap_evidence(trees, n_people).estimate, cells.alive.shape[1]
    row = _rows(paths(trees, _leaves(cells, cell), every=False), label, n_classes, len(estimate))
    alive = np.zeros_like(cells.alive)
    alive[cell, label] = (
        likeliest_table(row, estimate, n_people, rounds=min(len(trees) // 2, 10)) > 0
    )
    return replace(cells, alive=alive).part(np.flatnonzero(alive.any(axis=1)))


def _leaves(cells: Cells, cell: Wide) -> Wide:
    return cells.leaf[:, cell].T.astype(np.int64)


def _rows(node: Wide, label: Wide, n_classes: int, n_rows: int) -> Wide:
    """Return the rows of nodes and classes; the last row for what is no node."""
    row = node * n_classes + label[:, None]
    row[node < 0] = n_rows - 1
    return row


def _rows_of(
    known: Records | None, trees: Sequence[Tree], n_classes: int, n_rows: int, *, every: bool
) -> Wide:
    """Return how many known people are in each row."""
    if known is None or not len(known):
        return np.zeros(n_rows, dtype=np.int64)
    node = paths(trees, known.node.astype(np.int64), every=every)
    row = _rows(node, known.known_labels.astype(np.int64), n_classes, n_rows)
    return np.bincount(row.ravel(), minlength=n_rows).astype(np.int64)


def table_error(found: Float, people: Float) -> float:
    """Return the share of values that differ when records are paired as well as can be.

    Both have shape ``(n_records, n_features)`` and the same people in any order.
    """
    n = np.float32(found.shape[1])
    apart = np.zeros((len(found), len(people)), dtype=np.float32)
    for mine, theirs in zip(found.T, people.T, strict=True):
        apart += mine[:, None] != theirs
    from scipy.optimize import linear_sum_assignment

    pairs = linear_sum_assignment(apart)
    return float(apart[pairs].mean() / n)


def records_of(answer: LikelyTable, schema: Schema) -> Float | None:
    """Return the likeliest table as the model takes it; None where a column is a number.

    Of a cell of several records the likeliest one is taken; a column that no tree asks about is 0.
    """
    if any(one.cuts is not None for one in answer.domain.variables):
        return None
    codes = likeliest_codes(answer.cells, answer.cell, answer.guess, answer.people.place)
    records = np.zeros((len(codes), len(schema.features)))
    for variable, code in zip(answer.domain.variables, codes.T, strict=True):
        if variable.kind == "categories":
            records[:, variable.features[0]] = code
        else:
            for member, feature in enumerate(variable.features):
                records[:, feature] = code == member
    return records
