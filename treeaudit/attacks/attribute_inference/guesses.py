"""Candidate values of a hidden column, and guesses from the leaves they may lead to (TA104).

`fredrikson` is the published rule for one tree or several: the value that most people in the leaf
may have. It infers what is frequent, not what was memorised: a baseline to be above.
A candidate that passes all edges on the way of a person leads to the same leaf: `Paths` routes
people again only with other candidates.

References
----------
Fredrikson, Jha and Ristenpart (2015), Model inversion attacks that exploit
confidence information and basic countermeasures, section 4, "white-box with
counts".
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.membership_inference.scores import Groups, leaf_scores
from treeaudit.model.forest import Forest
from treeaudit.model.routing import Walk, router_of
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.model.words import cell, label_text
from treeaudit.people.predict.imputation import guess
from treeaudit.people.records import Records

_Hidden = tuple[Sequence[int], Float]
"""Features of a column, and what may be in them: shape ``(n_candidates, len(features))``."""


class Paths:
    """A tree and the columns whose values are hidden."""

    def __init__(self, tree: Tree, schema: Schema, columns: Sequence[_Hidden]) -> None:
        self.tree, self._columns = tree, columns
        self._router = router_of([tree], schema)
        self._reach = [_reachable(tree, *column) for column in columns]

    def what_if(self, values: npt.NDArray[np.floating[Any]], node: Int) -> Int:
        """Return where each person would end with each candidate.

        Shape ``(n, n_candidates)``, those of all columns side by side.
        """
        # Who stopped on the way may go on, and of edges that overlap the first is taken.
        open_ = ~self.tree.is_leaf[node] | (not isinstance(self._router.trees[0], Walk))
        found = [np.empty((len(node), 0), dtype=node.dtype)]
        for (features, candidates), reach in zip(self._columns, self._reach, strict=True):
            ends = np.repeat(node[:, None], len(candidates), axis=1)
            rows, other = np.nonzero(~reach[node] | open_[:, None])
            if len(rows):
                changed = values[rows].astype(np.float64)
                changed[:, list(features)] = candidates[other]
                ends[rows, other] = self._router.ends(changed)[:, 0]
            found.append(ends)
        return np.hstack(found)

    def people_with(self) -> Float:
        """Return how many people are in leaves that a person with each candidate can reach.

        Shape ``(n_candidates,)``. 0 if the tree does not count people.
        """
        leaves, people = self.tree.leaves, self.tree.n_records
        size = np.zeros(len(leaves)) if people is None else people[leaves].astype(np.float64)
        return np.concatenate([np.zeros(0), *(size @ reach[leaves] for reach in self._reach)])


def _reachable(tree: Tree, features: Sequence[int], candidates: Float) -> Flag:
    """Return which candidates pass all edges on the way to each node."""
    reach = np.ones((tree.n_nodes, len(candidates)), dtype=np.bool_)
    for place, feature in enumerate(features):
        nodes = np.flatnonzero(tree.feature == feature)
        pairs = np.repeat(nodes, len(candidates)).astype(np.int32)
        passed = tree.passes(pairs, np.tile(candidates[:, place], len(nodes)))
        reach[nodes] = passed.reshape(len(nodes), len(candidates))
    levels = np.split(np.argsort(tree.depths, kind="stable"), np.cumsum(np.bincount(tree.depths)))
    for nodes in levels[1:]:
        reach[nodes] &= reach[tree.parent[nodes]]
    return reach


_Table = npt.NDArray[np.floating[Any]]

_MOST_INTERVALS, _MOST_CANDIDATES = 16, 64
_ENOUGH_THRESHOLDS = 4_096


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """One column as the attacker sees it: a feature, or all indicators of a category."""

    name: str
    features: tuple[int, ...]  # Positions of its features in the model
    values: Float  # Shape `(n_candidates, len(features))`: what the model is asked with
    says: tuple[str, ...]  # The candidates in words
    # Ends of the intervals of a numeric column, ascending; None otherwise
    cuts: Float | None = None

    def truth(self, values: _Table) -> Int:
        """Return which candidate people have; -1 where it is none of them."""
        own = np.asarray(values[:, list(self.features)], dtype=np.float64)
        if self.cuts is not None:
            interval = np.searchsorted(self.cuts, own[:, 0], side="left")
            return np.where(np.isnan(own[:, 0]), -1, interval).astype(np.int32)
        found = np.full(len(own), -1, dtype=np.int32)
        for code, candidate in enumerate(self.values):
            found[(own == candidate).all(axis=1)] = code
        return found


def columns_of(forest: Forest, reference: _Table) -> list[Column]:
    """Return the columns that the model uses, with what may be in them."""
    thresholds = _thresholds(forest)
    names = forest.schema.names
    groups = indicator_groups(names, reference)
    grouped = {i for members in groups.values() for i in members}
    found = [
        _indicators(name, names, members, reference)
        for name, members in groups.items()
        if any(i in thresholds for i in members)
    ]
    for i, feature in enumerate(forest.schema.features):
        if i in grouped or i not in thresholds:
            continue
        if feature.categories is not None:
            found.append(_categories(i, feature.name, feature.categories, reference[:, i]))
        else:
            found.append(_intervals(i, feature.name, thresholds[i], reference[:, i]))
    return sorted(
        (column for column in found if len(column.says) > 1), key=lambda column: column.features
    )


def indicator_groups(names: Sequence[str], values: _Table) -> dict[str, list[int]]:
    """Return features that are indicators of one column, by the name of that column.

    ``kind_a``, ``kind_b``: the same beginning, only 0 and 1, and never more than
    one of them 1.
    """
    binary = ((values == 0) | (values == 1)).all(axis=0)
    left = [i for i in range(len(names)) if binary[i] and "_" in names[i]]
    found: dict[str, list[int]] = {}
    for cut in (str.partition, str.rpartition):
        begun: dict[str, list[int]] = {}
        for i in left:
            begun.setdefault(cut(names[i], "_")[0], []).append(i)
        found |= {
            name: members
            for name, members in begun.items()
            if len(members) > 1 and (values[:, members].sum(axis=1) <= 1).all()
        }
        taken = {i for members in found.values() for i in members}
        left = [i for i in left if i not in taken]
    return found


def _thresholds(forest: Forest) -> dict[int, Float]:
    """Return where the model cuts each feature it uses; empty for sets of categories."""
    found: dict[int, Float] = {}
    for tree in forest.trees:
        cut = np.isfinite(tree.high) & (tree.feature >= 0)
        for i in np.unique(tree.feature[1:]).tolist():
            known = found.get(i, np.empty(0))
            if len(known) < _ENOUGH_THRESHOLDS:
                found[i] = np.unique(np.concatenate([known, tree.high[cut & (tree.feature == i)]]))
    return found


def _indicators(name: str, names: Sequence[str], members: list[int], reference: _Table) -> Column:
    says = [names[i][len(name) + 1 :] for i in members]
    rows = np.eye(len(members))
    if (reference[:, members].sum(axis=1) == 0).any():
        rows, says = np.vstack([rows, np.zeros(len(members))]), [*says, "none of these"]
    keep = _most_frequent(
        np.array([(reference[:, members] == row).all(axis=1).sum() for row in rows])
    )
    return Column(
        name=name, features=tuple(members), values=rows[keep], says=tuple(says[i] for i in keep)
    )


def _categories(i: int, name: str, categories: Sequence[str], reference: _Table) -> Column:
    codes = reference[~np.isnan(reference)].astype(np.int64)
    keep = _most_frequent(np.bincount(codes, minlength=len(categories)))
    return Column(
        name=name,
        features=(i,),
        values=np.array(keep, dtype=np.float64)[:, None],
        says=tuple(label_text(categories[code]) for code in keep),
    )


def _most_frequent(people: Wide) -> list[int]:
    return sorted(np.argsort(-people, kind="stable")[:_MOST_CANDIDATES].tolist())


def _intervals(i: int, name: str, thresholds: Float, reference: _Table) -> Column:
    known = np.sort(reference[~np.isnan(reference)]).astype(np.float64)
    cuts = thresholds
    if len(cuts) >= _MOST_INTERVALS and len(known):
        wanted = np.quantile(known, np.arange(1, _MOST_INTERVALS) / _MOST_INTERVALS)
        at = np.minimum(np.searchsorted(cuts, wanted), len(cuts) - 1)
        before = np.maximum(at - 1, 0)
        nearer = np.abs(cuts[before] - wanted) <= np.abs(cuts[at] - wanted)
        cuts = np.unique(cuts[np.where(nearer, before, at)])
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    pairs = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    return Column(
        name=name,
        features=(i,),
        values=np.array([_inside(known, low, high) for low, high in pairs])[:, None],
        says=tuple(cell(low, high) for low, high in pairs),
        cuts=cuts,
    )


def _inside(known: Float, low: float, high: float) -> float:
    """Return a value that people in an interval have, or any in it."""
    first, last = np.searchsorted(known, [low, high], side="right")
    if first < last:
        return float(known[(first + last) // 2])
    if np.isfinite(low) and np.isfinite(high):
        return (low + high) / 2
    # One step in single precision, in which the model may compare.
    return high if np.isfinite(high) else float(np.nextafter(np.float32(low), np.float32(np.inf)))


def fredrikson(people: npt.ArrayLike, prior: npt.ArrayLike, phi: npt.ArrayLike) -> Float:
    """Return the probability of each candidate value."""
    prior, phi = np.asarray(prior, dtype=np.float64), np.asarray(phi, dtype=np.float64)
    weight = np.asarray(people) * np.divide(prior, phi, out=np.zeros_like(prior), where=phi > 0)
    total = weight.sum(axis=1, keepdims=True)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return np.asarray(np.where(total > 0, share, prior / prior.sum()))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Targets:
    """The people one of whose values is to be inferred, members first."""

    # As in `treeaudit.people.records.Records`
    values: npt.NDArray[np.floating[Any]]
    node: Int
    labels: Int | None
    known: Float  # Shape `(n,)`: the label or the number to predict, which the attacker knows too
    is_member: Flag  # Shape `(n,)`


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weighed:
    """What the trees say for each candidate of one column."""

    # Shape `(n, n_candidates)`: log likelihood ratio of the counts, summed over the trees; minus
    # infinity where somebody with that value is certainly not in the training data
    score: Float
    people: Float  # Shape `(n, n_candidates)`: people in the leaves, summed over the trees
    phi: Float  # Shape `(n_candidates,)`: people in all leaves the candidate can reach


def target_people(people: Groups) -> Targets:
    """Return members and control people as one table."""
    parts = ((people.train, people.members), (people.test, people.control))
    labelled = people.train.labels is not None and people.test.labels is not None
    return Targets(
        values=np.concatenate([records.values[rows] for records, rows in parts]),
        node=np.concatenate([records.node[rows] for records, rows in parts]),
        labels=np.concatenate([r.labels[rows] for r, rows in parts if r.labels is not None])
        if labelled
        else None,
        known=np.concatenate([_answer(records)[rows] for records, rows in parts]),
        is_member=np.repeat([True, False], [len(people.members), len(people.control)]),
    )


def _answer(records: Records) -> Float:
    """Return the label or the number to predict; nothing where there is neither."""
    given = records.labels if records.labels is not None else records.targets
    if given is None:
        return np.full(len(records), np.nan)
    return np.asarray(given, dtype=np.float64)


def weigh(case: Case, people: Groups, asked: Targets, columns: Sequence[Column]) -> list[Weighed]:
    """Ask every tree about every candidate of every column.

    Trees come one after another, so that a large forest is read once and
    never held as a whole.
    """
    shape = len(asked.values), sum(len(column.says) for column in columns)
    score, met, phi = np.zeros(shape), np.zeros(shape), np.zeros(shape[1])
    hidden = [(column.features, column.values) for column in columns]
    population = people.population(case)
    for i, tree in enumerate(case.forest.trees):
        table = leaf_scores(case.forest, i, tree, population)
        if table is None or tree.n_records is None:
            continue
        paths, width = Paths(tree, case.forest.schema, hidden), table.shape[1]
        every = paths.what_if(asked.values, asked.node[:, i]).astype(np.intp)
        met += tree.n_records.take(every)
        phi += paths.people_with()
        if width > 1:
            every *= width
            if asked.labels is not None:
                every += (asked.labels % width)[:, None]
        score += table.take(every)
        case.step("attribute inference", i + 1, case.forest.n_trees)
    ends = np.cumsum([len(column.says) for column in columns])
    parts = (np.split(one, ends, axis=-1)[:-1] for one in (score, met, phi))
    return [Weighed(score=s, people=p, phi=f) for s, p, f in zip(*parts, strict=True)]


def guesses(case: Case, people: Groups, asked: Targets, column: Column) -> Float:
    """Return the probability of each candidate without the model, learnt on unseen people.

    Shape ``(n, n_candidates)``. Everything but the column is known, the label
    or the number to predict included.
    """
    values = people.test.values[people.reference].astype(np.float64)
    truth = column.truth(values)
    labels = _answer(people.test)[people.reference]
    hidden = list(column.features)

    def known(table: Float, answer: Float) -> Float:
        return np.column_stack([np.delete(table, hidden, axis=1), answer])

    there = np.flatnonzero(truth >= 0)
    return guess(
        known(values, labels)[there],
        truth[there],
        len(column.says),
        known(asked.values.astype(np.float64), asked.known),
        seed=case.seed,
    )


def tempering(n_trees: int) -> float:
    """Return how much the score of a forest counts beside the guess.

    The trees share their people, so that their scores are not independent and
    their sum is too sure of itself: it is divided by the root of their number,
    at most by ten. A single tree counts in full.
    """
    return max(0.1, 1 / math.sqrt(n_trees))


def answers(score: Float, probability: Float, alpha: float) -> Int:
    """Return the most likely candidate of each person.

    ``alpha * score + log(probability)``. Where the counts exclude all
    candidates they say nothing, and the guess decides.
    """
    chance = np.log(probability)
    total = alpha * score + chance
    nothing = score.max(axis=1, keepdims=True) == -np.inf
    return np.asarray(np.where(nothing, chance, total).argmax(axis=1), dtype=np.int32)
