"""A few levels below some nodes of many trees, as complete trees of questions about numbers."""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.model.routing import Walk

_LEVELS = 4
"""Unless told."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lower:
    """What is below some starts.

    Attributes
    ----------
    asked
        By level the feature and the threshold at each place; those below place i are 2 i and
        2 i + 1 of the next level.
    node
        The node of each place of the last level.
    whole
        Whether all of these are leaves.
    """

    asked: tuple[tuple[Wide, Float], ...]
    node: Wide
    whole: bool

    def down(self, values: Float, start: Wide, out: Wide) -> None:
        """Write where records end that begin at starts of shape ``(n_starts, n_records)``.

        Parameters
        ----------
        values
            Shape ``(n_records, n_features)``; none is missing.
        start, out
            The number of a start, and the node.
        """
        flat = np.ascontiguousarray(values).ravel()
        row = np.arange(len(values)) * values.shape[1]
        at, cut = np.empty_like(start), np.empty(start.shape)
        x, over = np.empty(start.shape, flat.dtype), cut.view(np.int64)
        # Infinities may meet in leaves, where both ways lead to the same.
        with np.errstate(invalid="ignore", over="ignore"):
            for feature, threshold in self.asked:
                feature.take(start, out=at, mode="clip")
                at += row
                flat.take(at, out=x, mode="clip")
                threshold.take(start, out=cut, mode="clip")
                # The sign of the difference is exact: -1 above the threshold, and 0 else.
                np.subtract(cut, x, out=cut)
                np.right_shift(over, 63, out=over)
                start += start
                start -= over
        self.node.take(start, out=out, mode="clip")


def lower_of(walk: Walk, start: Wide, levels: int = _LEVELS) -> Lower:
    """Return the levels below nodes, as far down as all questions are about numbers.

    Examples
    --------
    >>> from treeaudit.model.schema import Schema
    >>> from treeaudit.model.tree import Tree
    >>> from treeaudit.model.routing import walk_of
    >>> inf = np.inf
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 1.5],
    ...              high=[inf, 1.5, inf])
    >>> lower = lower_of(walk_of([stump], Schema.numeric(1)), np.array([0]))
    >>> lower.down(np.array([[1.0], [2.0]]), np.array([[0, 0]]), out=(end := np.zeros((1, 2), int)))
    >>> end.tolist(), lower.whole
    ([[1, 2]], True)
    """
    node = start
    asked: list[tuple[Wide, Float]] = []
    while len(asked) < levels:
        inner = walk.feature[node] >= 0
        if not inner.any() or np.isnan(walk.threshold[node]).any():
            break
        # A leaf asks anything, and all go on to itself. A zero has no sign, as differences want.
        asked.append((np.where(inner, walk.feature[node], 0), walk.threshold[node] + 0.0))
        node = walk.child[np.stack([2 * node, 2 * node + 1], axis=1).ravel()]
    return Lower(asked=tuple(asked), node=node, whole=bool((walk.feature[node] < 0).all()))
