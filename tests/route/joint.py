"""The labels that fit all leaves of a forest together, by plain projected gradients.

Unknown is the share of each label for everybody. What a leaf says is the mean over all who end
there; squared differences are added up over people and trees. Where it is not known who was
drawn, the distance from the mean of what one's leaves say is added, with a weight.
"""

from collections.abc import Sequence

import numpy as np

from tests.route.rows import Seen

__all__ = ["alone_together", "labels_given_back", "net_of_one_label"]

_STEPS = 2_000


def labels_given_back(trees: Sequence[Seen], doubt: float) -> tuple[np.ndarray, bool]:
    """Return the label of each row, as a position, that fits all trees best; whether no two do."""
    n, classes = len(trees[0].leaf), max(tree.n_classes for tree in trees)
    every, said = np.zeros((n, n)), np.zeros((n, classes))
    for tree in trees:
        same = tree.leaf[:, None] == tree.leaf[None, :]
        every += same / same.sum(axis=1, keepdims=True)
        weight = tree.times * tree.weight
        if doubt:
            # Where labels are drawn or weighed, they are as frequent again as they are known to be.
            mass = np.bincount(tree.label, weight, classes)
            frequent = np.bincount(tree.label, minlength=classes)
            weight = weight * (frequent / np.where(mass > 0, mass, 1))[tree.label]
        counts = same @ (np.eye(classes)[tree.label] * weight[:, None])
        said += counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    first = _on_simplex(said / len(trees))
    x, ahead, pace = first, first, 1.0
    for _ in range(_STEPS):
        moved = ahead - (every @ ahead - said) / len(trees)
        new = _on_simplex((len(trees) * moved + doubt * first) / (len(trees) + doubt))
        if np.vdot(ahead - new, new - x) > 0:
            pace = 1.0
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        if np.abs(new - x).max() < 1e-9:
            break
        x, ahead, pace = new, new + (pace - 1) / faster * (new - x), faster
    best = -np.sort(-x, axis=1)
    return x.round(9).argmax(axis=1), bool((best[:, 0] - best[:, 1]).min() > 1e-3)


def _on_simplex(rows: np.ndarray) -> np.ndarray:
    """Return the nearest shares, by looking for what has to be taken off each row."""
    low, high = rows.min(axis=1) - 1.0, rows.max(axis=1)
    for _ in range(32):
        off = (low + high) / 2
        more = np.maximum(rows - off[:, None], 0).sum(axis=1) > 1
        low, high = np.where(more, off, low), np.where(more, high, off)
    return np.maximum(rows - high[:, None], 0)


def net_of_one_label(answer: np.ndarray, own: np.ndarray, truth: np.ndarray) -> float:
    """Return what is found more of the people of a label, less false alarms, at most."""
    found = []
    for label in np.unique(truth):
        people = (truth == label).sum()
        gain = [2 * ((a == label) & (truth == label)).sum() - (a == label).sum()
                for a in (answer, own)]  # fmt: skip
        found.append((gain[0] - max(gain[1], 0)) / people)
    return float(max(found))


def alone_together(trees: Sequence[Seen], k: int) -> dict[str, int]:
    """Return who shares the leaves of all trees with nobody, and with fewer than k people."""
    where = np.column_stack([tree.leaf for tree in trees])
    size = np.unique(where, axis=0, return_counts=True)[1]
    return {
        "groups": len(size),
        "alone": int((size == 1).sum()),
        "below_k": int(size[size < k].sum()),
        "smallest": int(size.min()),
    }
