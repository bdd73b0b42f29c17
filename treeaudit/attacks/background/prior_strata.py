"""Strata of a public prior: who is in which, which reach a leaf, how likely labels are (TA103).

People of a leaf with the same prior are exchangeable, so they are counted by
kind: a row of a public table of class shares. Given that exactly k people of a
leaf have a label, the probability that a certain one has it is a conditional
Bernoulli probability. It does not change when all odds are multiplied by the
same number; that number is chosen so that k is what one would expect, and then
the probability of k is never tiny and a Fourier transform gives it to twelve
digits, however large the leaf.

References
----------
Li, Li and Zhang (2010), Modeling and integrating background knowledge in data
anonymization, sections 3 and 4 (exact inference and the Ω-estimate).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int, Wide
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
    """Leaves of one tree with people of several labels left in them."""

    node: Int
    counts: Wide  # Shape `(n_leaves, n_classes)`: people who are not known yet
    # Shape `(n_leaves, n_kinds)`: the same people by kind; None where only the rules are known
    people: Wide | None
    able: Flag  # Shape `(n_leaves, n_kinds)`: which kinds are there, or may be
    only: Wide  # Shape `(n_leaves,)`: the kind of all of them, -1 where it is not told

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


_COMPLEX_CELLS = 1_000_000
"""How many complex numbers are held at a time."""


def posterior(
    counts: npt.ArrayLike, people: npt.ArrayLike, share: npt.ArrayLike
) -> tuple[Float, Flag, Flag]:
    """Return how likely each label is for each kind of person in each leaf.

    Shape ``(n_leaves, n_kinds, n_classes)``; 0 if nobody of the kind is in the leaf. Per leaf, if
    it is exact (else the Ω-estimate), and if the counts can be so if the prior is true.
    """
    table = np.asarray(counts, dtype=np.int64)
    kinds = np.asarray(people, dtype=np.int64)
    prior = np.asarray(share, dtype=np.float64)
    there = table > 0
    exact = there.sum(axis=1) <= 2
    found = np.zeros((*kinds.shape, table.shape[1]))
    possible = np.ones(len(table), np.bool_)
    many = np.flatnonzero(~exact)
    if len(many):
        found[many], possible[many] = omega_estimate(table[many], kinds[many], prior)
    first = there.argmax(axis=1)
    last = table.shape[1] - 1 - there[:, ::-1].argmax(axis=1)
    pairs = first * table.shape[1] + last
    for pair in np.unique(pairs[exact]).tolist():
        here = np.flatnonzero(exact & (pairs == pair))
        a, b = divmod(pair, table.shape[1])
        # Of one label alone everybody has it, whatever the odds.
        either = prior[:, a] + prior[:, b]
        odds = np.where(either > 0, prior[:, a] / np.where(either > 0, either, 1), np.nan)
        one, possible[here] = posterior_of_two(table[here, a], kinds[here], odds)
        found[here, :, a] = one
        if a != b:
            found[here, :, b] = np.where((kinds[here] > 0) & possible[here, None], 1 - one, 0)
    return found, exact, possible


def omega_estimate(counts: Wide, people: Wide, share: Float) -> tuple[Float, Flag]:
    """Return P(label) ∝ count · prior / (sum of the priors in the leaf)."""
    expected = people @ share
    possible: Flag = ((expected > 0) | (counts == 0)).all(axis=1)
    weight = counts / np.where(expected > 0, expected, 1)
    product = weight[:, None, :] * share[None, :, :]
    total = product.sum(axis=2, keepdims=True)
    possible &= ((total[:, :, 0] > 0) | (people == 0)).all(axis=1)
    here = (people > 0)[:, :, None] & possible[:, None, None] & (total > 0)
    return np.where(here, product / np.where(total > 0, total, 1), 0.0), possible


def among_others(counts: npt.ArrayLike, share: npt.ArrayLike, others: npt.ArrayLike) -> Float:
    """Return how likely each label is for one person among others who are all alike.

    P(label) ∝ count · prior of the person / prior of the others. It is exact
    for any number of classes. With the same prior for everybody it is the
    share of the label in the leaf.
    """
    table = np.asarray(counts, dtype=np.float64)
    prior = np.asarray(share, dtype=np.float64)
    rest = np.asarray(others, dtype=np.float64)
    ratio: Float = np.where(rest > 0, prior / np.where(rest > 0, rest, 1), 0.0)
    product: Float = table[:, None, :] * ratio[None, :, :]
    # Only one of them can have a label that the others cannot have.
    only: Flag = (table > 0) & (rest <= 0)
    forced = np.where(only & (table == 1), 1.0, 0.0)[:, None, :] * (prior > 0)
    some: Flag = np.asarray(only.any(axis=1))
    product = np.where(some[:, None, None], forced, product)
    twice: Flag = (only.sum(axis=1) > 1) | (only & (table > 1)).any(axis=1)
    product = np.where(twice[:, None, None], 0.0, product)
    total = product.sum(axis=2, keepdims=True)
    found: Float = np.where(total > 0, product / np.where(total > 0, total, 1), 0.0)
    return found


def posterior_of_two(
    having: npt.ArrayLike, people: npt.ArrayLike, share: npt.ArrayLike
) -> tuple[Float, Flag]:
    """Return how likely people of each kind have a label that ``having`` of them have."""
    k = np.asarray(having, dtype=np.int64)
    kinds = np.asarray(people, dtype=np.int64)
    prior = np.asarray(share, dtype=np.float64)
    neither, never, always = np.isnan(prior), prior == 0, prior == 1
    open_kinds = ~(neither | never | always)
    free, left = kinds[:, open_kinds], k - kinds[:, always].sum(axis=1)
    n = free.sum(axis=1)
    possible = (kinds[:, neither].sum(axis=1) == 0) & (left >= 0) & (left <= n)
    found = np.zeros(kinds.shape)
    found[:, always] = 1.0
    certain = np.where(left == n, 1.0, 0.0)[:, None] * np.ones(free.shape)
    mixed = np.flatnonzero(possible & (left > 0) & (left < n))
    for part in _blocks(mixed, n):
        certain[part] = _conditional(left[part], free[part], prior[open_kinds])
    found[:, open_kinds] = certain
    found[~possible] = 0
    return np.where(kinds > 0, found, 0.0), possible


def _blocks(leaves: Index, n: Wide) -> list[Index]:
    """Put leaves of similar size together, as many as fit into memory."""
    order = leaves[np.argsort(n[leaves], kind="stable")]
    blocks, begin = [], 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and (end + 1 - begin) * int(n[order[end]]) <= _COMPLEX_CELLS:
            if int(n[order[end]]) > 2 * int(n[order[begin]]) + 8:
                break
            end += 1
        blocks.append(order[begin:end])
        begin = end
    return blocks


def _conditional(having: Wide, people: Wide, share: Float) -> Float:
    """Return the conditional Bernoulli probabilities of leaves that hold both labels."""
    odds = np.log(share) - np.log1p(-share)
    tilted = _chance(odds + _tilt(having, people, odds)[:, None])
    # An odd number of points, so that no factor 1 - p + p·w is exactly 0.
    points = int(people.sum(axis=1).max()) // 2 * 2 + 3
    angle = 2 * np.pi * np.arange((points + 1) // 2) / points
    circle = np.exp(1j * angle)
    total = np.zeros((len(people), len(circle)), dtype=np.complex128)
    for kind in range(people.shape[1]):
        total += people[:, kind, None] * np.log1p(tilted[:, kind, None] * (circle - 1))
    twice = np.where(np.arange(len(circle)) > 0, 2.0, 1.0)
    total -= 1j * angle * having[:, None]
    whole = (np.exp(total).real * twice).sum(axis=1)
    found = np.zeros(people.shape)
    for kind in range(people.shape[1]):
        p = tilted[:, kind, None]
        without = np.exp(total - np.log1p(p * (circle - 1)) + 1j * angle)
        found[:, kind] = tilted[:, kind] * (without.real * twice).sum(axis=1) / whole
    return np.clip(found, 0.0, 1.0)


def _tilt(having: Wide, people: Wide, odds: Float) -> Float:
    """Return what to add to all log odds so that as many are expected as there are."""
    n = people.sum(axis=1)
    wanted = np.log(having) - np.log(n - having)
    low, high = wanted - odds.max(), wanted - odds.min()
    for _ in range(40):
        middle = (low + high) / 2
        few = (people * _chance(odds + middle[:, None])).sum(axis=1) < having
        low, high = np.where(few, middle, low), np.where(few, high, middle)
    tilt: Float = (low + high) / 2
    return tilt


def _chance(log_odds: Float) -> Float:
    return 1 / (1 + np.exp(-np.clip(log_odds, -700, 700)))
