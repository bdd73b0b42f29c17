"""The forest of random trees that releases one label per leaf and nothing else.

As printed, the label of a leaf is drawn by an exponential mechanism that
divides by the smooth sensitivity ``exp(-j * epsilon)``, j being how far the
majority is ahead. That is not differentially private for any epsilon
(`smooth_label`). The sound variant draws it by permute-and-flip on the
counts: as accurate where it matters, and proved.

References
----------
Fletcher & Islam (2017), Differentially private random decision forests using
smooth sensitivity, algorithms 1 and 2, theorems 1 and 2.
McKenna & Sheldon (2020), Permute-and-flip.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.defenses.tree_edits import summed
from treeaudit.dp.curator import Curator
from treeaudit.dp.mechanisms import exponential_mechanism
from treeaudit.dp.subsampling import Entropy, below, permutation
from treeaudit.model.routing import walk_of
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.random_trees import last_nodes, leaves_within, random_trees
from treeaudit.trainers.training_rows import TrainingRows

_DEEPEST = 64
_FINE = 1 << 20
_MOST = 1 << 20
DepthRule = Literal["theorem 2", "table 4"]

_FLAW = (
    "the smooth sensitivity exp(-j * epsilon) in the exponential mechanism does not give "
    "differential privacy for any epsilon (one person more in a leaf of one: a loss of 2.131 "
    "at a claim of 1); variant='sound' does"
)


@dataclass(kw_only=True, eq=False, repr=False)
class SmoothSensitivityForestClassifier(PrivateClassifier):
    """Random trees, each on its own part of the records, that release majority labels only.

    Every record goes to one tree. Trees ask at random, from the public schema
    alone, so only the labels of the leaves cost epsilon, and as the leaves are
    disjoint they all cost it together once.

    Notes
    -----
    Sound variant: given which record is in which tree, one added record
    changes one count of one leaf by one, and permute-and-flip on counts,
    which are monotone, moves by epsilon. Records are assigned independently
    and uniformly, so the assignment of the others does not depend on whether
    somebody is there; averaging over it keeps the bound. Balanced parts would
    not do: there, one record moves others.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> schema = Schema(features=(Feature(name="age", low=0, high=120),), classes=("no", "yes"))
    >>> model = SmoothSensitivityForestClassifier(epsilon=1.0, schema=schema, n_estimators=5)
    >>> model.fit([[20], [25], [70], [80]] * 50, ["no", "no", "yes", "yes"] * 50).classes_
    array(['no', 'yes'], dtype='<U3')
    >>> float(model.privacy_.epsilon), model.forest_.counts_are
    (1.0, 'label-only')
    """

    algorithm: ClassVar[str] = "smooth-sensitivity-forest"
    listed: ClassVar[Listed] = Listed(
        paper="Fletcher & Islam 2017",
        query="β",
        tree="random",
        depth="theorem 2",
        trees="100",
        numbers="random points",
        published="no epsilon: smooth sensitivity in a choice",
    )

    n_estimators: int = 100
    max_depth: int | None = None
    max_leaves: int | None = 4096
    depth_rule: DepthRule = "theorem 2"

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        published = self.variant == "published"
        entropy = curator.entropy
        depth = self._depth(rows.schema)
        most = leaves_within(self.max_leaves, self.n_estimators)
        trees = random_trees(rows.schema, self.n_estimators, depth, most, entropy)
        if published:
            part = permutation(entropy, len(rows)) * self.n_estimators // max(1, len(rows))
        else:
            part = below(entropy, self.n_estimators, len(rows))
        walk = walk_of(trees, rows.schema)
        leaves = np.flatnonzero(walk.feature < 0)
        end = last_nodes(walk, rows, walk.root[part], self.n_jobs)
        counts = rows.by_node(end, len(walk.feature))[leaves]
        if published:
            claimed = Fraction(1)
            curator.note("leaf labels", "smooth exponential", epsilon, claimed, len(leaves))
            label = smooth_label(counts, float(epsilon / curator.factor), entropy)
        else:
            label = curator.choose("leaf labels", counts, epsilon)
        labels = np.zeros(len(walk.feature), dtype=np.int64)
        labels[leaves] = label
        return Grown(
            trees=tuple(
                replace(
                    tree,
                    label=_labels_up(tree, labels[first : first + tree.n_nodes], counts.shape[1]),
                )
                for tree, first in zip(trees, walk.root[:-1].tolist(), strict=True)
            ),
            counts_are="label-only",
            counts_reason="only one label per leaf is released, drawn with noise",
            answers="vote",
            noise=None,
            records_are="disjoint",
            flaws=(_FLAW,) if published else (),
        )

    def _depth(self, schema: Schema) -> int:
        if self.max_depth is not None:
            return self.max_depth
        named = sum(feature.categories is not None for feature in schema.features)
        rule = table_depth if self.depth_rule == "table 4" else theorem_depth
        return min(_DEEPEST, rule(len(schema.features) - named, named))


def theorem_depth(n_numeric: int, n_categorical: int) -> int:
    """Return the depth of theorem 2: half of the features are expected to be asked about.

    The smallest d with ``s ((s - 1) / s)^d < s / 2`` for s numeric features,
    plus half of the categorical ones, rounded down.
    """
    depth = n_categorical // 2
    if n_numeric:
        unasked, levels = float(n_numeric), 0
        while unasked >= n_numeric / 2:
            levels += 1
            unasked = n_numeric * ((n_numeric - 1) / n_numeric) ** levels
        depth += levels
    return max(1, depth)


def table_depth(n_numeric: int, n_categorical: int) -> int:
    """Return the depth of table 4, which differs: one more where there are numeric features."""
    return theorem_depth(n_numeric, n_categorical) + (n_numeric > 0)


def _labels_up(tree: Tree, label: Wide, n_classes: int) -> Int:
    """Give inner nodes the label of most leaves below them, which costs nothing."""
    votes = summed(tree, np.eye(n_classes)[label])
    majority: Int = np.argmax(votes, axis=1).astype(np.int32)
    return majority


def smooth_sensitivity(margin: npt.ArrayLike, epsilon: float) -> Float:
    """Return ``exp(-j * epsilon)`` for a margin j (Fletcher & Islam 2017, equation 8)."""
    return np.exp(-float(epsilon) * np.asarray(margin, dtype=np.float64))


def smooth_exponent(counts: npt.ArrayLike, epsilon: float) -> tuple[Flag, Float]:
    """Return which classes are largest, and how far their exponent is above the others'."""
    table = np.asarray(counts, dtype=np.int64)
    ordered = np.sort(table, axis=-1)
    second = ordered[..., -2] if table.shape[-1] > 1 else np.zeros(table.shape[:-1], np.int64)
    margin = ordered[..., -1] - second
    with np.errstate(over="ignore"):
        above = epsilon / (2 * smooth_sensitivity(margin, epsilon))
    return table == ordered[..., -1:], above


def smooth_label(counts: npt.ArrayLike, epsilon: float, entropy: Entropy) -> Wide:
    """Choose a class per leaf, as printed.

    The exponential mechanism with score 1 for the largest classes, 0 for the
    others, and the smooth sensitivity in the place of the sensitivity. It is
    not differentially private for any epsilon: one more person multiplies the
    exponent by ``exp(epsilon)``, so the loss grows without bound (2.131 at a
    claim of 1 between leaves of one and of two people). Counts are of shape
    ``(n_leaves, n_classes)``.
    """
    largest, above = smooth_exponent(counts, epsilon)
    units = np.floor(np.minimum(above, _MOST) * _FINE).astype(np.int64)
    return exponential_mechanism(
        np.where(largest, units[..., None], 0), Fraction(1, _FINE), entropy
    )
