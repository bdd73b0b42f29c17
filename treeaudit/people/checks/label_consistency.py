"""Permutation test: are these labels consistent with the leaves of the model?"""

from collections.abc import Iterator

import numpy as np

from treeaudit.arrays import Flag, Float, Int
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.people.checks.bootstrap_counts import draws_agree
from treeaudit.people.checks.leaf_values import changed_target, values_fit
from treeaudit.people.coding.codes import class_apart, own_classes
from treeaudit.people.records import Records

__all__ = ["beyond_chance", "labels_not_held", "rise_together"]


def rise_together(one: Float, other: Float) -> float:
    """Return by how many deviations two numbers rise together more than by chance.

    By their ranks, or by scores that tell the largest apart, or the smallest where the other
    numbers are skewed to that side: the larger of the two.

    Parameters
    ----------
    one, other
        Shape ``(n_people,)``; neither is the same for everybody.

    Examples
    --------
    >>> number = np.arange(101.0)
    >>> round(rise_together(number, number**9), 3), round(rise_together(number, -number), 3)
    (10.0, -6.645)
    """
    parts, to_tail = [_part_below(one), _part_below(other)], _upper_tail
    if np.mean(other) < np.median(other):
        to_tail = _lower_tail
    return max(_correlated(*parts), _correlated(*map(to_tail, parts)))


def _part_below(number: Float) -> Float:
    """Return for each which part of all is below it, of those that are the same half of them."""
    _, place, times = np.unique(number, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - times / 2)[place.reshape(-1)] / len(number))


def _upper_tail(part: Float) -> Float:
    return np.asarray(-np.log1p(-part))


def _lower_tail(part: Float) -> Float:
    return np.asarray(np.log(part))


def _correlated(one: Float, other: Float) -> float:
    one, other = one - one.mean(), other - other.mean()
    size = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float(one @ other) / size * float(np.sqrt(len(one) - 1))


_FAR, _OF_MOST = 3.5, 0.75
"""Deviations above labels that are dealt out anew; of very few people, a part of what is most."""
_OF_LEAST, _SLACK = 0.8, 3.0
"""Of what true labels reach at least, and by how many deviations they may miss it."""
_ROWS, _NOTHING = 50_000, 1e-9
_OF_VALUES = ("mean", "sum", "weighted")
_SOME = 2.0
"""Deviations from which labels go with the leaves better than most others would."""
_NO_BETTER = (
    "nothing shows that they are those of the training, since other {} would go with the leaves of "
    "the model as well; if it was trained with another column, name that (--target): nothing that "
    "rests on them was looked at"
)
_TOO_FEW = (
    "they are too few, or too noisy, to tell whether they are those of the training: nothing that "
    "rests on them was looked at"
)
_LESS = (
    "they go with the leaves of the model less than those of the training would: nothing that "
    "rests on them was looked at"
)
_TOLD_BY_COUNTS = 3
"""Leaves beyond one a tree: with fewer, counts that agree may do so by chance."""


def labels_not_held(forest: Forest, train: Records) -> str:
    """Say in one sentence why labels are not known to be those of the training; nothing if held.

    Parameters
    ----------
    train
        Of whom `treeaudit.people.checks.training_data.verify` found nothing that contradicts the file.

    Examples
    --------
    >>> from treeaudit.model.schema import Schema
    >>> from treeaudit.people.records import read_records
    >>> inf = np.inf
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 1.5],
    ...              high=[inf, 1.5, inf], n_records=[13, 6, 7], counts=[[10, 10], [9, 1], [1, 9]])
    >>> forest = Forest(trees=(stump,), schema=Schema.numeric(1, ["no", "yes"]),
    ...                 records_are="bootstrap", n_records=20)
    >>> x, y = [[1]] * 10 + [[2]] * 10, ["no"] * 9 + ["yes"] + ["no"] + ["yes"] * 9
    >>> labels_not_held(forest, read_records((x, y), forest))
    ''
    >>> y = ["no", "yes"] * 10
    >>> labels_not_held(forest, read_records((x, y), forest, origin="a.csv"))[:46]
    'the labels of a.csv could not be verified: not'
    """
    if train.targets is not None:
        return _numbers_not_held(forest, train, train.targets)
    apart = own_classes(forest)
    # A member alone knows its class and all others: two.
    own = apart if len(apart) > 1 else ()
    labels = train.members if own else train.labels
    if labels is None or forest.schema.classes is None:
        return ""
    # What noise leaves of the labels may be little.
    if forest.counts_are == "noisy" or forest.privacy is not None:
        return ""
    if _compared(forest, train):
        return ""
    said = f"the labels of {train.origin} could not be verified: "
    if forest.tree_classes is not None and not apart and not _steps(forest):
        return said + "every tree of the model counts labels of its own"
    rows = np.flatnonzero(labels >= 0)
    if len(rows) > _ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, _ROWS, replace=False))
    labels, node = labels[rows], train.node[rows]
    n_classes = len(own) or len(forest.schema.classes)
    if len(np.unique(labels)) < 2:
        return said + _NO_BETTER.format("labels") if n_classes > 1 else ""
    speaks, least, told = np.zeros((len(rows), n_classes)), 0.0, False
    for part, room in _spoken(forest, node, labels, own, n_classes):
        told = True
        speaks += part
        least += room * len(rows) / train.n_people
    if not told:
        return said + "the file does not tell of them"
    found, deviation = beyond_chance(speaks, labels)
    if deviation <= _NOTHING * float(np.abs(speaks).max()):
        # Leaves that speak for everybody alike tell nobody's label.
        return ""
    most = min(_FAR, _OF_MOST * float(np.sqrt(len(rows) - 1)))
    if found < most * deviation or found <= 0:
        return said + _why_not(found / deviation, "labels")
    return "" if found >= _OF_LEAST * least - _SLACK * deviation else said + _LESS


def _numbers_not_held(forest: Forest, train: Records, targets: Float) -> str:
    """Say the same of numbers that are predicted."""
    if forest.privacy is not None or len(forest.members) > 1 or forest.answers not in _OF_VALUES:
        return ""
    if values_fit(forest, train):
        return ""
    rows = np.arange(len(targets))
    if len(rows) > _ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, _ROWS, replace=False))
    total, numbers = np.zeros(len(rows)), targets[rows]
    for i, tree in enumerate(forest.trees):
        total += 0.0 if tree.value is None else tree.value[train.node[rows, i]]
    if np.ptp(total) <= _NOTHING * np.abs(total).max():
        return ""
    said = f"the numbers of {train.origin} could not be verified: "
    if np.ptp(numbers) == 0:
        return said + _NO_BETTER.format("numbers")
    found = rise_together(total, numbers)
    if forest.source.library != "scikit-learn" or changed_target(forest):
        # Of some targets the leaves hold what falls where they rise.
        found = max(found, rise_together(total, -numbers))
    if found >= min(_FAR, _OF_MOST * float(np.sqrt(len(rows) - 1))):
        return ""
    return said + _why_not(found, "numbers")


def _why_not(found: float, what: str) -> str:
    """Say why it is not shown, by how many deviations they go with the leaves beyond chance."""
    return _TOO_FEW if found >= _SOME else _NO_BETTER.format(what)


def _compared(forest: Forest, train: Records) -> bool:
    """Tell whether every label was compared, since it is known who is in trees that count them."""
    if draws_agree(forest, train):
        return True
    if forest.records_are != "all" or forest.counts_are not in ("exact", "likely"):
        return False
    if forest.tree_classes is not None and not own_classes(forest):
        counted = [class_apart(told) is not None for told in forest.tree_classes]
    else:
        counted = [True] * forest.n_trees
    leaves = [
        int(tree.is_leaf.sum()) - 1
        for tree, told in zip(forest.trees, counted, strict=True)
        if told and tree.counts is not None
    ]
    return len(leaves) == forest.n_trees or sum(leaves) >= _TOLD_BY_COUNTS


def _steps(forest: Forest) -> bool:
    """Tell whether leaves hold steps: counts of the first round alone say less."""
    return forest.trees[0].value is not None


def _spoken(
    forest: Forest, node: Int, labels: Int, own: tuple[str, ...], n_classes: int
) -> Iterator[tuple[Float, float]]:
    """Yield how far each tree speaks for each label of everybody, and what true labels reach."""
    steps, moved = _steps(forest), _moved(forest, own, n_classes)
    for i, tree in enumerate(forest.trees):
        at, only = node[:, i], moved[i]
        part = np.zeros((len(at), n_classes))
        if steps or (tree.counts is None and tree.label is None):
            if tree.value is not None:
                part[:, only] = tree.value[at]
                yield part, 0.0
        elif own:
            its = (labels == only).astype(np.int32)
            speaks, least = _of_counts(forest, tree, at, its, 2)
            part[:, only] = speaks[at, 1]
            yield part, least / 2
        else:
            speaks, least = _of_counts(forest, tree, at, labels, n_classes)
            yield speaks[at], least


def _moved(forest: Forest, own: tuple[str, ...], n_classes: int) -> list[int]:
    """Return for which class the steps of each tree speak: in turn, by model and round."""
    if own and forest.tree_classes is not None:
        return [own.index(str(told[1])) for told in forest.tree_classes]
    told = forest.source.parameters.get("num_parallel_tree", 1)
    parallel = told if isinstance(told, int) and told > 0 else 1
    models = [member.n_trees for member in forest.members] or [forest.n_trees]
    if n_classes == 2:
        return [1] * forest.n_trees
    return [i // parallel % n_classes for n_trees in models for i in range(n_trees)]


def _of_counts(
    forest: Forest, tree: Tree, at: Int, labels: Int, n_classes: int
) -> tuple[Float, float]:
    """Return how much more frequent each label is in each node than in the tree, and the least."""
    held = np.bincount(labels, minlength=n_classes).astype(np.float64)
    if tree.counts is None:
        counts = np.zeros((tree.n_nodes, n_classes))
        if tree.label is not None:
            counts[np.arange(tree.n_nodes), tree.label] = 1.0
            counts *= np.bincount(at, minlength=tree.n_nodes)[:, None]
    else:
        counts = np.maximum(tree.counts, 0.0)
    there: Flag = tree.is_leaf
    if tree.n_records is not None:
        there = there & (tree.n_records > 0)
    total = there.astype(np.float64) @ counts
    # Weights of classes are undone: each counts as often as there are people of it.
    frequent = np.where(total > 0, held, 0.0)
    shares = counts * np.divide(frequent, total, out=np.zeros(n_classes), where=total > 0)
    size = shares.sum(axis=1)
    told = there & (size > 0)
    shares /= np.where(told, size, 1.0)[:, None]
    base = frequent / max(frequent.sum(), 1.0)
    speaks = np.where(told[:, None], shares - base, 0.0)
    if forest.counts_are not in ("exact", "likely") or tree.counts is None:
        return speaks, 0.0
    people = tree.counts.sum(axis=1) if tree.n_records is None else tree.n_records
    if forest.n_records is None and tree.n_records is None:
        return speaks, 0.0
    drawn = float(tree.counts[there].sum()) / max(float(people[there].sum()), 1.0)
    return speaks, _kept(drawn) * float((people[there] * (speaks[there] ** 2).sum(axis=1)).sum())


def _kept(drawn: float) -> float:
    """Return which part of what a draw shows is in its people, of so many draws a person.

    Examples
    --------
    >>> round(_kept(1.582), 3), _kept(1.0)
    (0.792, 1.0)
    """
    # f / (1 - exp(-f)) = drawn, to the second order.
    each = float(np.sqrt(9 + 12 * max(drawn - 1, 0.0))) - 3
    return min(1.0, drawn / (1 + each))


def beyond_chance(speaks: Float, labels: Int) -> tuple[float, float]:
    """Return how far a sum over people is above that of labels dealt out anew, and its deviation.

    Parameters
    ----------
    speaks
        Shape ``(n_people, n_classes)``: what is added for each, by their label.
    labels
        Shape ``(n_people,)``; of two at least.

    Examples
    --------
    Of the six ways to deal out two labels each, the sums are 4, four times 0, and -4:

    >>> speaks = np.array([[1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, 1.0]])
    >>> found, deviation = beyond_chance(speaks, np.array([0, 0, 1, 1], dtype=np.int32))
    >>> found, round(deviation**2, 3), round((4**2 + 4 * 0 + 4**2) / 6, 3)
    (4.0, 5.333, 5.333)
    """
    n = len(labels)
    held = np.bincount(labels, minlength=speaks.shape[1])
    centred = speaks - speaks.mean(axis=0)
    centred -= (centred @ (held / n))[:, None]
    found = float(centred[np.arange(n), labels].sum())
    return found, float(np.sqrt((centred**2 @ held).sum() / (n - 1)))
