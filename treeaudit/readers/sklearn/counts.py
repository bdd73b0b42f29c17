"""Decide what the class numbers of a scikit-learn tree mean, and prove it.

Let ``n`` be the distinct training rows of a node (``n_node_samples``), ``w``
their weight (``weighted_n_node_samples``) and ``V`` the stored ``value``.

1. scikit-learn 1.4 changed ``V`` from class weights to class fractions. The
   numbers decide: rows that sum to ``w`` are weights, rows that sum to 1 are
   fractions and are multiplied by ``w``. (Where both hold, ``w`` is 1 and they
   mean the same.) Call the result ``C``: weight per class.
2. Without bootstrap and ``class_weight``, ``w = n`` in every leaf and whole ``C``
   mean that every row weighed 1: ``C`` is people. *Exact.*
3. Without bootstrap and with one weight per class, ``C[:, c] = weight_c *
   people_c`` and the people of a node sum to ``n``. So ``C @ u = n`` with
   ``u_c = 1 / weight_c``. If this overdetermined system has one solution that
   is positive, holds in every node and turns all ``C * u`` into whole numbers,
   these are the people. *Exact* if the ``class_weight`` that the file states
   weighs them so; otherwise *likely*, where three leaves more than the system
   needs agree: weights of single rows (sample_weight) can look like weights of
   classes, and without leaves to spare they do one time in ten. Weights that
   are stated as numbers need no solution. A class of weight 0 leaves no trace.
4. With bootstrap, ``w`` counts draws. If ``C`` is whole and every tree has the
   same total (the stated one, since 1.4), ``C`` is draws per class. *Exact*, but
   draws and not people, since 1.9; before, when weights of rows still weighed
   the draws, *likely* unless many trees agree.
5. Anything else stays *weighted*. A leaf with one class still holds exactly
   ``n`` people of it, whatever they weigh.

Checked on 749 trees of 13 versions: never wrong (notes on formats, section 4).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Wide
from treeaudit.errors import ReadError
from treeaudit.model.forest import CountsAre
from treeaudit.readers.limits import Most
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.model_ref import Bootstrap, ModelRef, TrainingContext, label_of
from treeaudit.readers.sklearn.node_table import NodeTable

_SLACK = 1e-6
_TO_SPARE = 3
"""Leaves that have to agree beside those that the weights of classes are worked out from."""
_NOT_APART = (
    "rows have weights of their own (sample_weight or class_weight), and the file does not tell "
    "them apart"
)
_MANY_TREES = 10
_DRAWS = "class counts are bootstrap draws: a person drawn twice counts twice"
_LATER = (
    "boosting weighs rows by how often they were wrong before; only the first tree saw all "
    "alike: --select it for its counts"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Meaning:
    """What class numbers are, why, and the factor that turns them into people."""

    # As in `treeaudit.Forest`.
    counts_are: CountsAre
    reason: str
    # Shape ``(n_classes,)``: people per unit of weight, where known.
    per_weight: Float | None = None


def class_weights(value: Float, weight: Float) -> Float:
    """Return weight per class from ``value`` as stored before or since 1.4.

    ``value`` has shape ``(n_nodes, n_classes)``; ``weight`` is ``weighted_n_node_samples``.
    """
    if value.min(initial=0) < 0:
        raise ReadError("the tree is damaged: a class has a negative count")
    with np.errstate(over="ignore", invalid="ignore"):
        # A product with ones: numpy sums short rows slowly.
        total = value @ np.ones(value.shape[1])
        if np.all(np.abs(total - weight) <= _SLACK * (1 + weight)):
            return value
    if np.all(np.abs(total - 1.0) <= _SLACK):
        weights = value * weight[:, None]
        # A fraction times its weight misses the whole number by rounding only; and however
        # little somebody weighs, it is not nothing.
        near = np.rint(weights)
        return np.where(np.abs(weights - near) <= 1e-9 * near, near, weights)
    raise ReadError(
        "the class numbers of the tree are neither counts nor fractions: the file is inconsistent"
    )


def people_per_class(
    weights: Float, n: Wide, weight: Float, class_weight: Mapping[int, float] | str | None = None
) -> Meaning:
    """Decide for a tree that saw every training row once (rules 2, 3 and 5).

    ``weights``, ``n`` (people) and ``weight`` are those of leaves: inner nodes are sums of leaves
    and would prove nothing more. ``class_weight`` is as the file states it: the weight of each
    class by its position, ``balanced``, or None.
    """
    classes = weights.shape[1]
    used = np.flatnonzero(weights.max(axis=0, initial=0) > 0)
    if _all_one(class_weight, used) and np.array_equal(weight, n) and _whole(weights, _SLACK):
        return Meaning(
            counts_are="exact", reason="every training row weighs 1", per_weight=np.ones(classes)
        )
    system = weights[:, used]
    stated = _of_numbers(class_weight, used)
    if stated is not None and _fits(system / stated, n):
        return _told_apart(1 / stated, used, classes, proved=True)
    if system.size * len(used) > Most.work:
        return _weighted("there are too many classes to tell the weights of the rows apart")
    found, _, rank, _ = np.linalg.lstsq(system, n.astype(np.float64), rcond=None)
    solution: Float = np.asarray(found, np.float64)
    people = system * solution
    if rank < len(used) or not np.all(solution > 0) or not _fits(people, n):
        return _weighted(_NOT_APART)
    balanced = _balanced(class_weight, np.rint(people).sum(axis=0), classes)
    proved = balanced is not None and np.allclose(balanced * solution, 1, rtol=0, atol=_SLACK)
    if not proved and len(np.unique(system, axis=0)) < len(used) + _TO_SPARE:
        return _weighted(_NOT_APART)
    return _told_apart(solution, used, classes, proved=proved)


def _fits(people: Float, n: Wide) -> bool:
    """Tell whether numbers are whole and add up to the people of each leaf."""
    return np.allclose(people.sum(axis=1), n, rtol=0, atol=1e-4) and _whole(people, 1e-4)


def _told_apart(
    solution: Float, used: npt.NDArray[np.intp], classes: int, *, proved: bool
) -> Meaning:
    per_weight = np.zeros(classes)
    per_weight[used] = solution
    return Meaning(
        counts_are="exact" if proved else "likely",
        reason="each class has one weight, which the totals of the nodes give away",
        per_weight=per_weight,
    )


def _all_one(class_weight: Mapping[int, float] | str | None, used: npt.NDArray[np.intp]) -> bool:
    """Whether ``class_weight`` is as good as none."""
    if isinstance(class_weight, str):
        return False
    return class_weight is None or all(class_weight.get(int(c), 1) == 1 for c in used)


def _of_numbers(
    class_weight: Mapping[int, float] | str | None, used: npt.NDArray[np.intp]
) -> Float | None:
    """Return what one person of each class weighs, if the file states it as numbers."""
    if class_weight is None or isinstance(class_weight, str):
        return None
    stated = np.array([class_weight.get(int(c), 1.0) for c in used], dtype=np.float64)
    return stated if np.all((stated > 0) & np.isfinite(stated)) else None


def _balanced(
    class_weight: Mapping[int, float] | str | None, people: Float, classes: int
) -> Float | None:
    """Return what one person of each class weighs, if the file states that by a word."""
    if not isinstance(class_weight, str) or not np.all(people > 0):
        return None
    balanced: Float = people.sum() / (classes * people)
    return balanced


def _weighted(reason: str) -> Meaning:
    return Meaning(counts_are="weighted", reason=reason)


def _whole(array: Float, slack: float) -> bool:
    return bool(np.all(np.abs(array - np.rint(array)) <= slack))


def absent(reason: str) -> Meaning:
    """Say that there are no class counts."""
    return Meaning(counts_are="absent", reason=reason)


def weakest(meaning: Sequence[Meaning]) -> Meaning:
    """Return the meaning that claims least."""
    order = ("exact", "likely", "weighted", "label-only", "absent")
    return max(meaning, key=lambda m: order.index(m.counts_are))


def meanings(
    found: ModelRef,
    trees: Sequence[Inert],
    records: Sequence[NodeTable],
    seen: Sequence[TrainingContext],
    *,
    classifier: bool,
) -> list[Meaning]:
    """Return what the class numbers of each tree are, given what the tree was trained on."""
    if reason := _why_absent(found, trees[0], records[0], classifier):
        return [absent(reason)] * len(records)
    if all(record.stripped for record in records):
        return [_stripped(records)] * len(records)
    rows = {one.rows for one in seen}
    if rows == {"bootstrap"}:
        return [_meaning_of_bootstrap(records, seen[0].draw or Bootstrap())] * len(records)
    if "later" in rows:
        return [Meaning(counts_are="weighted", reason=_LATER)] * len(records)
    class_weight = _class_weight(found, trees[0])
    every: list[Meaning] = []
    for record, one in zip(records, seen, strict=True):
        every.append(_of_rows(record, one, class_weight))
        if len(records) > 1:
            record.forget()
    return every


def _why_absent(found: ModelRef, tree: Inert, record: NodeTable, classifier: bool) -> str:
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
    record: NodeTable, seen: TrainingContext, class_weight: Mapping[int, float] | str | None
) -> Meaning:
    """Decide for a tree that was handed each row once, or copies of it."""
    leaves = record.leaves
    n, weight = record.n_records[leaves], record.weight[leaves]
    weights = class_weights(record.value[leaves], weight)
    if seen.rows == "first":
        return _of_first(weights, n, weight, record.people)
    found = people_per_class(weights, n, weight, class_weight)
    if seen.rows != "repeated":
        return found
    if found.counts_are == "exact" and np.all(found.per_weight == 1):
        return Meaning(counts_are="exact", reason=_DRAWS, per_weight=found.per_weight)
    return Meaning(counts_are="weighted", reason="bootstrap draws with weights")


def _of_first(weights: Float, n: Wide, weight: Float, people: int) -> Meaning:
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


def _class_weight(found: ModelRef, tree: Inert) -> dict[int, float] | str | None:
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


def _meaning_of_bootstrap(records: Sequence[NodeTable], draw: Bootstrap) -> Meaning:
    """Decide for trees that each saw a bootstrap sample."""
    totals, whole, ones = set[float](), True, False
    for record in records:
        leaves = record.leaves
        weights = class_weights(record.value[leaves], record.weight[leaves])
        whole = whole and _whole(weights, _SLACK)
        ones = ones or bool(np.any(weights == 1))
        # A leaf of nobody is left where a repair took people out.
        if record.n_records[leaves].all():
            totals.add(record.total)
        if len(records) > 1:
            record.forget()
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
            reason=_DRAWS,
            per_weight=np.ones(records[0].width),
        )
    return Meaning(
        counts_are="weighted", reason="bootstrap draws with weights (class_weight or sample_weight)"
    )
