"""What the class numbers of stored trees are, given what each tree was trained on.

`treeaudit.readers.sklearn.counts` decides for one tree whose rows are known; here the
ensemble says what the rows were: all of them, a draw, or weighed by a boosting.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.readers.columns import unfilled
from treeaudit.readers.links import EDGE_TYPES
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.counts import (
    Meaning,
    class_weights,
    each_is_one,
    each_weighs_one,
    people_per_class,
)
from treeaudit.readers.sklearn.found import Draw, Found, Seen
from treeaudit.readers.sklearn.grove import Budget
from treeaudit.readers.sklearn.labels import label_of
from treeaudit.readers.sklearn.node_table import Early, NodeTable, Sight, looked_at
from treeaudit.readers.types import Float, Wide

Draws = Sight[tuple[bool, bool, bool] | ReadError]
"""What `draws_in` tells of tables."""

_MANY_TREES = 10
_NOT_ONE = 1.5
_PER_NODE = 33
"""Bytes of what is kept of each node beside its class weights."""
_EACH_ONCE = Seen()
_LATER = (
    "boosting weighs rows by how often they were wrong before; only the first tree saw all "
    "alike: --select it for its counts"
)


def absent(reason: str) -> Meaning:
    """Say that there are no class counts."""
    return Meaning(counts_are="absent", reason=reason)


def weakest(meaning: Sequence[Meaning]) -> Meaning:
    """Return the meaning that claims least."""
    order = ("exact", "likely", "weighted", "label-only", "absent")
    return max(meaning, key=lambda m: order.index(m.counts_are))


def meanings(
    found: Found,
    trees: Sequence[Inert],
    records: Sequence[NodeTable],
    seen: Sequence[Seen],
    draws: Draws | None,
    budget: Budget,
    *,
    classifier: bool,
) -> list[Meaning]:
    """Return what the class numbers of each tree are."""
    if reason := _why_absent(found, trees[0], records[0], classifier):
        return [absent(reason)] * len(records)
    if all(record.stripped for record in records):
        return [_stripped(records)] * len(records)
    rows = {one.rows for one in seen}
    if rows == {"bootstrap"} and draws is not None:
        return [_drawn(records, draws, seen[0].draw or Draw())] * len(records)
    if "later" in rows:
        return [Meaning(counts_are="weighted", reason=_LATER)] * len(records)
    weight_of = _class_weight(found, trees[0])
    every: list[Meaning] = []
    if rows <= {"all", "some"}:
        for meaning, some in looked_at(records, partial(_of_all, weight_of, budget)):
            every += [meaning] * len(some)
        return every
    for record, one in zip(records, seen, strict=True):
        every.append(_of_rows(record, one, weight_of, budget))
        if len(records) > 1:
            record.forget()
    return every


def _of_all(
    class_weight: dict[int, float] | str | None, budget: Budget, record: NodeTable
) -> Meaning:
    """Decide for a tree that saw every row once; for several, where each is a person in each."""
    found = _of_rows(record, _EACH_ONCE, class_weight, budget)
    alone = len(record.start) == 1
    if not alone and (found.counts_are != "exact" or not np.all(found.per_weight == 1)):
        raise ReadError("rows weigh something in some tree of the row")
    return found


def _why_absent(found: Found, tree: Inert, record: NodeTable, classifier: bool) -> str:
    kind = found.estimator.kind
    if kind in ("IsolationForest", "RandomTreesEmbedding"):
        return "the trees were grown at random and know no classes"
    if record.n_outputs != 1:
        return "the model predicts several outputs"
    if kind == "GradientBoostingClassifier":
        return "boosted trees predict a number each: the file holds no counts of classes"
    if not classifier:
        return "the model predicts a number, not a class"
    if any(each.get("monotonic_cst") is not None for each in (found.estimator, tree)):
        return "monotonicity constraints clip the class fractions"
    return ""


def _stripped(records: Sequence[NodeTable]) -> Meaning:
    """Decide for trees that were written without people, as `treeaudit.defenses` writes them."""
    shares = [record.shares[record.leaves] for record in records]
    if all(bool(np.isin(one, (0.0, 1.0)).all()) for one in shares):
        return Meaning(counts_are="label-only", reason="only a label is kept for each leaf")
    return Meaning(
        counts_are="weighted", reason="only the share of each class in each leaf is kept"
    )


def _of_rows(
    record: NodeTable, seen: Seen, class_weight: dict[int, float] | str | None, budget: Budget
) -> Meaning:
    """Decide for a tree that was handed each row once, or copies of it."""
    every, n, weight = _keep(record, budget), record.n_records, record.weight
    if (
        every is not None
        and seen.rows != "first"
        and each_weighs_one(every.weights, n, weight, class_weight)
    ):
        found = each_is_one(record.width)
    else:
        leaves = record.leaves
        weights, n, weight = _in_leaves(record, leaves), n.take(leaves), weight.take(leaves)
        if seen.rows == "first":
            return _of_first(weights, n, weight, record.people)
        found = people_per_class(weights, n, weight, class_weight)
    if seen.rows != "repeated":
        return found
    ones = found.counts_are == "exact" and bool(np.all(found.per_weight == 1))
    reason = "class counts are bootstrap draws: a person drawn twice counts twice"
    if ones:
        return Meaning(counts_are="exact", reason=reason, per_weight=found.per_weight)
    return Meaning(counts_are="weighted", reason="bootstrap draws with weights")


def _of_first(
    weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    n: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    weight: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    people: int,
) -> Meaning:
    """Decide for the first tree of a boosting, whose weights sum to 1."""
    near = np.rint(weights * people)
    alike = np.allclose(weight * people, n, rtol=0, atol=1e-6 * people)
    if alike and np.allclose(near, weights * people, rtol=0, atol=1e-6 * people):
        found = people_per_class(near, n, n.astype(np.float64))
        if found.counts_are == "exact" and found.per_weight is not None:
            reason = f"every training row weighs 1 of {people:,}"
            each = np.full(weights.shape[1], float(people))
            return Meaning(counts_are="exact", reason=reason, per_weight=each)
    return people_per_class(weights, n, weight)


def _class_weight(found: Found, tree: Inert) -> dict[int, float] | str | None:
    """Return the parameter, a mapping turned from labels to positions."""
    stated, classes = found.get("class_weight"), found.get("classes_")
    if stated is None:
        stated, classes = arrived(tree.get("class_weight")), arrived(tree.get("classes_"))
    if isinstance(stated, Inert):
        stated = stated.pairs
    if isinstance(stated, str):
        return stated
    if not isinstance(stated, dict) or not isinstance(classes, np.ndarray):
        return None
    labels: list[object] = classes.ravel().tolist()
    position = {label_of(label): i for i, label in enumerate(labels)}
    return {
        position[label_of(label)]: float(weight)
        for label, weight in stated.items()
        if isinstance(weight, int | float) and label_of(label) in position
    }


def _drawn(records: Sequence[NodeTable], draws_in_leaves: Draws, draw: Draw) -> Meaning:
    """Decide for trees that each saw a draw with replacement."""
    totals, whole, ones = _together(draws_in_leaves)
    most = draw.n if isinstance(draw.n, int) else max(record.total for record in records)
    draws = totals <= {most} and all(record.total <= most for record in records)
    if draw.steered:
        proved = True
    else:
        # Weights of rows would make the totals of many trees differ, and a weight that
        # all rows share divides every count.
        draws = draws and draw.class_weight is None
        proved = len(records) >= _MANY_TREES and ones
    if draws and whole:
        return Meaning(
            counts_are="exact" if proved else "likely",
            reason="class counts are bootstrap draws: a person drawn twice counts twice",
            per_weight=np.ones(records[0].width),
        )
    return Meaning(
        counts_are="weighted", reason="bootstrap draws with weights (class_weight or sample_weight)"
    )


def _together(draws: Draws) -> tuple[set[float], bool, bool]:
    """Tell whether all class weights are whole, and whether some leaf has a single draw.

    Before that, the totals of trees of which nothing was taken out: of others, leaves are left
    that hold nobody.
    """
    totals, whole, ones = set[float](), True, False
    for found, some in draws:
        if isinstance(found, ReadError):
            raise found
        own_whole, own_ones, full = found
        whole, ones = whole and own_whole, ones or own_ones
        totals.update(record.total for record in some if full)
    return totals, whole, ones


def draws_in(record: NodeTable, budget: Budget) -> tuple[bool, bool, bool] | ReadError:
    """Check a table, and tell of its leaves while it is at hand: see `_together`.

    What forbids to take their numbers for draws matters only where somebody takes them for some.
    What its tree is built from is made too, as long as the budget has room for it.
    """
    record.check()
    leaves = record.leaves
    _keep(record, budget)
    try:
        weights, full = _in_leaves(record, leaves), record.n_records[leaves].all()
    except ReadError as error:
        if len(record.start) > 1:
            raise
        return error.with_traceback(None)
    if len(record.start) > 1 and not full:
        raise ReadError("nobody is in some leaf of the row")
    whole = bool(np.all(np.abs(weights - np.rint(weights)) <= 1e-6))
    return whole, bool(np.any(weights == 1)), bool(full)


def _keep(record: NodeTable, budget: Budget) -> Early | None:
    """Make what a tree is built from, if it is clear what it holds and there is room."""
    # Leaves of weight 1 may hold weights where all nodes together hold fractions.
    if len(record.start) > 1 or not record.has_leaf_of(_NOT_ONE):
        return None
    weight, width = record.weight, record.width
    if not budget.keeps(len(weight) * (_PER_NODE + 8 * width)):
        return None
    *ways, n_records, room = unfilled(len(weight), (*EDGE_TYPES, np.int64, (np.float64, width)))
    n_records[...] = record.n_records
    with suppress(ReadError):
        weights = class_weights(record.value, weight, room)
        record.early = Early(record.edges(ways), weights, n_records)
    return record.early


def _in_leaves(record: NodeTable, leaves: Wide) -> Float:
    """Return the class weights of leaves."""
    if record.early is not None:
        return record.early.weights.take(leaves, axis=0)
    return class_weights(*record.value_of(leaves))
