"""Strata of a public prior: which of them a person is in, and which can reach a leaf (TA103)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.errors import DataError
from treeaudit.model.rules import Rules, rules_of
from treeaudit.model.schema import Schema
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.people.prior import OTHERS, Prior, indicators_of, texts_of
from treeaudit.people.records import Records


def strata_of(prior: Prior, people: Records, schema: Schema) -> Wide:
    """Return of which kind everybody is, as a position in the prior."""
    if prior.column is None:
        return np.zeros(len(people), np.int64)
    found = np.full(len(people), -1, np.int64)
    values = _values_of(prior.column, people, schema)
    if np.isnan(prior.low).all():
        numeric = _takes_numbers(prior.column, schema)
        line = prior.finder(None if numeric else sorted({value for value in values if value}))
        at = {value: line(value) for value in set(values)}
        found = np.array([-1 if at[value] is None else at[value] for value in values], np.int64)
    else:
        import pandas as pd

        numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").to_numpy(float)
        for i, (low, high) in enumerate(zip(prior.low, prior.high, strict=True)):
            found[(low < numbers) & (numbers <= high)] = i
    none = np.flatnonzero(found < 0)
    if len(none) and prior.others is None:
        value = values[none[0]]
        meant = f"{value[:40]!r} of {prior.column!r}" if value else f"nothing in {prior.column!r}"
        raise DataError(
            f"{people.origin}, row {none[0] + 1}: {prior.origin} has no line for {meant}; "
            f"add a line {OTHERS!r} for everybody else"
        )
    return np.where(found < 0, -1 if prior.others is None else prior.others, found)


def _takes_numbers(column: str, schema: Schema) -> bool:
    return any(f.name == column and f.categories is None for f in schema.features)


def _values_of(column: str, people: Records, schema: Schema) -> list[str]:
    import pandas as pd

    columns = {str(name): name for name in people.frame.columns}
    if column in columns:
        return texts_of(people.frame[columns[column]])
    if column in schema.names:
        feature = schema.names.index(column)
        coded, categories = people.values[:, feature], schema.features[feature].categories
        if categories is None:
            return texts_of(pd.Series(coded))
        names = np.array([*categories, ""], dtype=object)
        return [str(n) for n in names[np.where(np.isnan(coded), -1, coded).astype(int)]]
    found = np.full(len(people), "", dtype=object)
    indicators = indicators_of(column, schema)
    if not indicators:
        raise DataError(f"{people.origin} has no column {column!r}, which the prior speaks of")
    for feature, value in indicators.items():
        found[people.values[:, feature] > 0.5] = value
    return [str(value) for value in found]


def strata_in_leaves(
    prior: Prior, schema: Schema, tree: Tree, leaves: npt.ArrayLike
) -> tuple[Flag, Wide]:
    """Return which kinds of people a leaf's rule lets in, and of which kind all of them are."""
    nodes = np.asarray(leaves)
    able = np.ones((len(nodes), len(prior.values)), np.bool_)
    only = np.full(len(nodes), -1, np.int64)
    if prior.column is None:
        return able, np.zeros(len(nodes), np.int64)
    rules = rules_of(tree, nodes)
    if prior.column in schema.names:
        feature = schema.names.index(prior.column)
        categories = schema.features[feature].categories
        asked = np.flatnonzero(rules.feature == feature)
        if categories is not None and rules.categories is not None:
            _by_category(prior, categories, rules, rules.categories, asked, able, only)
        elif categories is None:
            _by_number(prior, rules, asked, able, only)
        return able, only
    indicators = indicators_of(prior.column, schema)
    line = prior.finder(sorted(set(indicators.values())))
    for feature, value in indicators.items():
        asked = np.flatnonzero(rules.feature == feature)
        _by_indicator(prior, line(value), rules, asked, able, only)
    return able, only


def _by_category(
    prior: Prior,
    categories: Sequence[str],
    rules: Rules,
    sets: CategorySets,
    asked: Wide,
    able: Flag,
    only: Wide,
) -> None:
    names, others = [name.strip() for name in categories], prior.others
    lines = map(prior.finder(names), names)
    other = -1 if others is None else others
    kind = np.array([other if line is None else line for line in lines])
    for condition in asked.tolist():
        codes = [code for code in sets.of(condition) if code < len(kind)]
        kinds = set(kind[codes].tolist())
        row = rules.row[condition]
        able[row] = [i in kinds for i in range(len(prior.values))]
        if len(kinds) == 1 and -1 not in kinds:
            only[row] = kinds.pop()


def _by_number(prior: Prior, rules: Rules, asked: Wide, able: Flag, only: Wide) -> None:
    row, low, high = rules.row[asked], rules.low[asked], rules.high[asked]
    for i, value in enumerate(prior.values):
        if value == OTHERS:
            continue
        if np.isnan(prior.low[i]):
            try:
                number = float(value)
            except ValueError:
                continue
            able[row, i] = (low < number) & (number <= high)
        else:
            able[row, i] = (low < prior.high[i]) & (prior.low[i] < high)
            only[row[(prior.low[i] <= low) & (high <= prior.high[i])]] = i


def _by_indicator(
    prior: Prior, line: int | None, rules: Rules, asked: Wide, able: Flag, only: Wide
) -> None:
    row, low, high = rules.row[asked], rules.low[asked], rules.high[asked]
    with_it, without = (low < 1) & (high >= 1), (low < 0) & (high >= 0)
    listed = line is not None
    kind = line if listed else prior.others
    for i in range(len(prior.values)):
        if i != kind:
            able[row[~without], i] = False
        elif listed:
            able[row[~with_it], i] = False
    if kind is not None:
        only[row[with_it & ~without]] = kind


_CELLS = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixedLeaves:
    """Leaves of one tree with people of several labels left in them.

    * ``counts``: shape ``(n_leaves, n_classes)``: people who are not known yet.
    * ``people``: shape ``(n_leaves, n_kinds)``: the same people by kind; None where only the rules
      are known.
    * ``able``: shape ``(n_leaves, n_kinds)``: which kinds are there, or may be.
    * ``only``: shape ``(n_leaves,)``: the kind of all of them, -1 where it is not told.
    """

    node: Int
    counts: Wide
    people: Wide | None
    able: Flag
    only: Wide

    def parts(self, n_cells: int) -> list["MixedLeaves"]:
        """Cut many leaves into parts that fit into memory, given the cells of one."""
        most = max(1, _CELLS // max(n_cells, 1))
        cuts = [slice(begin, begin + most) for begin in range(0, len(self.node), most)]
        return [
            MixedLeaves(
                node=self.node[cut],
                counts=self.counts[cut],
                people=None if self.people is None else self.people[cut],
                able=self.able[cut],
                only=self.only[cut],
            )
            for cut in cuts
        ]


def _mixed(case: Case, index: int) -> tuple[Int, Wide]:
    """Return the leaves of a tree of which the people per class are known, and these."""
    table, mine = case.table, case.table.rows_of(index)
    if case.forest.tree_classes is not None:
        return table.leaf[:0], np.empty((0, 0), np.int64)
    people = table.people(np.arange(mine.start, mine.stop))
    known = ~np.isnan(people).any(axis=1)
    return table.leaf[mine][known], people[known].astype(np.int64)


def real_leaves(
    case: Case, tree: Tree, index: int, train: Records, kinds: Wide, n_kinds: int, label: Int | None
) -> MixedLeaves:
    """Return the leaves in which everybody who ends there is counted, by kind."""
    node, counts = _mixed(case, index)
    home = train.node[:, index].astype(np.int64)
    routed = np.bincount(home, minlength=tree.n_nodes)[node]
    left = np.ones(len(train), np.bool_) if label is None else label < 0
    cells = np.bincount(home[left] * n_kinds + kinds[left], minlength=tree.n_nodes * n_kinds)
    people = cells.reshape(tree.n_nodes, n_kinds)[node]
    whole = routed == counts.sum(axis=1)
    if label is not None and counts.size:
        n_classes = counts.shape[1]
        taken = np.bincount(
            home[~left] * n_classes + label[~left], minlength=tree.n_nodes * n_classes
        )
        counts = counts - taken.reshape(tree.n_nodes, n_classes)[node]
    chosen = whole & ((counts > 0).sum(axis=1) > 1)
    return MixedLeaves(
        node=node[chosen],
        counts=counts[chosen],
        people=people[chosen],
        able=people[chosen] > 0,
        only=np.full(int(chosen.sum()), -1),
    )


def claimed_leaves(case: Case, tree: Tree, index: int, prior: Prior) -> MixedLeaves:
    """Return the leaves of several labels, and which kinds their rules let in."""
    node, counts = _mixed(case, index)
    chosen = (counts > 0).sum(axis=1) > 1
    node, counts = node[chosen], counts[chosen]
    able, only = strata_in_leaves(prior, case.forest.schema, tree, node)
    return MixedLeaves(node=node, counts=counts, people=None, able=able, only=only)
