"""Known people have to be training people: those who cannot be are an error."""

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.attacks.background.bounds import Bounds
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.rules import rules_of
from treeaudit.model.words import label_text, sentence
from treeaudit.people.records import Records

__all__ = ["check_fit", "matched"]


def matched(known: Records, train: Records) -> Wide:
    """Return which training person each known person is.

    Whoever is there twice is matched twice; the model cannot tell people with
    the same values and label apart.

    Returns
    -------
    numpy.ndarray
        Shape ``(n_known,)``: rows of ``train``, none of them twice.

    Raises
    ------
    DataError
        If a known person is not among the training people; names the row.
    """
    n = len(known)
    whole = np.column_stack([_plain(known, train), np.r_[known.labels, train.labels]])
    key = _same(whole)
    rank = _rank(key[:n]), _rank(key[n:])
    places = {
        pair: i for i, pair in enumerate(zip(key[n:].tolist(), rank[1].tolist(), strict=True))
    }
    pairs = zip(key[:n].tolist(), rank[0].tolist(), strict=True)
    found = np.array([places.get(pair, -1) for pair in pairs], np.int64)
    missing = np.flatnonzero(found < 0)
    if len(missing):
        row = int(missing[0])
        times = int((key[n:] == key[row]).sum())
        raise DataError(f"{known.origin}, row {row + 1}: {_why(known, train, row, times)}")
    return found


def _why(known: Records, train: Records, row: int, times: int) -> str:
    if times:
        once = "once" if times == 1 else f"{times} times"
        return f"this person is in {train.origin} only {once}"
    values = _same(_plain(known, train))
    if (values[len(known) :] == values[row]).any():
        return f"{train.origin} has this person with another label"
    return f"this person is not in {train.origin}; known people are training people"


def _plain(known: Records, train: Records) -> Float:
    values = np.concatenate([known.values, train.values]).astype(np.float64) + 0.0
    return np.where(np.isnan(values), np.inf, values)


def _same(table: Float) -> Wide:
    """Return a number for each row, the same for rows that are alike."""
    order = np.lexsort(table.T)
    new = np.r_[True, (table[order][1:] != table[order][:-1]).any(axis=1)]
    found = np.empty(len(table), np.int64)
    found[order] = np.cumsum(new) - 1
    return found


def _rank(key: Wide) -> Wide:
    """Return how often each entry has occurred before."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)])
    begin = np.repeat(first, np.diff(np.r_[first, len(ordered)]))
    rank = np.empty(len(key), np.int64)
    rank[order] = np.arange(len(key)) - begin
    return rank


def check_fit(forest: Forest, index: int, bounds: Bounds, known: Records) -> None:
    """Refuse known people whom a tree that has seen everybody cannot have seen.

    Raises
    ------
    DataError
        Names the first row that fits no leaf, or whose label its leaf no longer
        holds when the rows before it are taken out.
    """
    if known.labels is None:
        return
    node, n_classes = known.node[:, index].astype(np.int64), bounds.high.shape[1]
    label = known.labels.astype(np.int64)
    same_label, same_leaf = _rank(node * n_classes + label), _rank(node)
    wrong = np.flatnonzero(
        (same_label >= bounds.high[node, label]) | (same_leaf >= bounds.size[node])
    )
    if not len(wrong):
        return
    row, tree = int(wrong[0]), forest.trees[index]
    leaf = int(node[row])
    name = f"leaf {leaf} of tree {index}" if forest.n_trees > 1 else f"leaf {leaf}"
    rule = sentence(rules_of(tree, [leaf]), forest.schema)
    where = f"{known.origin}, row {row + 1}"
    if not bounds.size[leaf]:
        raise DataError(f"{where}: this person fits no leaf that holds people; they end at {rule}")
    wanted = label_text((forest.schema.classes or ())[int(label[row])])
    most = int(bounds.high[leaf, label[row]])
    if same_label[row] < most:
        holds = f"only {int(bounds.size[leaf]):,} people"
    else:
        holds = f"only {most:,} × {wanted}" if most else f"nobody with the label {wanted}"
    before = ", and the rows before are as many already" if most else ""
    raise DataError(
        f"{where}: {name} ({rule}) holds {holds}{before}; known people are training people, "
        "each of them once"
    )
