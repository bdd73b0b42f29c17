"""Random trees that stop growing where the noise would drown what a leaf holds.

As printed it is private if the number of records is public, from which depth and number of trees
follow. The sound variant asks for that number, and spends the rest of epsilon as the paper does.

References
----------
Fletcher & Islam (2015b), A differentially private random decision forest using reliable
signal-to-noise ratios. Fletcher & Islam (2019), a survey, sections 3.4 (equation 16), 3.5
(equation 17) and 3.6.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide, sum_of_row
from treeaudit.defenses.tree_edits import compact
from treeaudit.dp.curator import Curator
from treeaudit.dp.subsampling import permutation
from treeaudit.model.forest import Noise
from treeaudit.model.schema import Schema
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.pruning import leaves_below, levels_of, prune_noise
from treeaudit.trainers.random_trees import (
    Support,
    branching,
    counted,
    fan_of,
    least_share,
    leaves_within,
    people_of,
    random_trees,
)
from treeaudit.trainers.training_rows import TrainingRows

_MOST_LEAVES = 100_000

_FLAW = (
    "depth and number of trees follow from the exact number of records, which one record more "
    "changes: it must be public (n_records), or be asked for with noise, as variant='sound' does"
)


@dataclass(kw_only=True, eq=False, repr=False)
class SignalToNoiseForestClassifier(PrivateClassifier):
    """Random trees, all on all records, each as deep as the noise of its leaves allows.

    Notes
    -----
    A record is in one leaf of each tree. The counts of the leaves of a tree are disjoint, one
    record changes one of them by one, so discrete Laplace noise at a rate of epsilon / tau costs
    that, and tau trees cost epsilon (sequential composition). What a node is expected to hold
    is what the node above is, by the number of its parts: that follows from the number of
    records, public or noisy, and from the schema; a node below sqrt(2) C / (epsilon / tau)
    (equation 16) is not split. Pruning, and the answer of a leaf, which is that of the most
    confident node on its path, are post-processing of the noisy counts.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> schema = Schema(features=(Feature(name="age", low=0, high=120),), classes=("no", "yes"))
    >>> model = SignalToNoiseForestClassifier(epsilon=5.0, schema=schema)
    >>> model = model.fit([[20], [25], [90], [95]] * 500, ["no", "no", "yes", "yes"] * 500)
    >>> model.predict([[20], [95]]).tolist(), float(model.privacy_.epsilon)
    (['no', 'yes'], 5.0)
    """

    algorithm: ClassVar[str] = "signal-to-noise-forest"
    listed: ClassVar[Listed] = Listed(
        paper="Fletcher & Islam 2015b",
        query="β/τ",
        tree="random",
        depth="by equation 16, each branch its own",
        trees="min(βn/(√2 C b²), m)",
        numbers="random points",
        published="β, if n is public",
    )

    n_estimators: int | None = None
    max_depth: int | None = None
    n_records: int | None = None
    prune: bool = True

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        return least_share(epsilon, self.n_records, max(1, len(_useful(rows.schema))))

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        printed = self.variant == "published"
        n, left = people_of(rows, curator, epsilon, self.n_records, printed=printed)
        useful = _useful(rows.schema)
        n_trees = self.n_estimators or most_trees(rows.schema, n, left / curator.factor)
        n_trees = max(1, min(n_trees, len(useful)))
        each = left / n_trees
        least = least_support(rows.n_classes, float(each / curator.factor))
        roots = useful[permutation(curator.entropy, len(useful))[:n_trees]]
        bare = random_trees(
            rows.schema,
            n_trees,
            self.max_depth or 64,
            leaves_within(_MOST_LEAVES, n_trees),
            curator.entropy,
            roots=roots if len(roots) else None,
            support=Support(people=float(n), least=least),
        )
        told = counted(bare, rows, lambda name, c: curator.count(name, c, each), self.n_jobs)
        trees = []
        for tree in told:
            held = np.asarray(tree.counts)
            keep = (
                prune_noise(tree.parent, held, least)
                if self.prune
                else np.ones(tree.n_nodes, dtype=np.bool_)
            )
            sure = _most_confident(tree.parent, held, keep, least)
            trees.append(compact(replace(tree, counts=sure), keep))
        return Grown(
            trees=tuple(trees),
            counts_reason=(
                f"discrete Laplace noise for an epsilon of {each} on every leaf, in shares of the "
                "most confident node above"
            ),
            answers="confidence",
            noise=Noise(
                rate=float(curator.rate(each)), counts="leaves", afterwards=("clipped", "shrunk")
            ),
            flaws=(_FLAW,) if printed and self.n_records is None else (),
            public=() if self.n_records is None else ("the number of records",),
        )


def least_support(n_classes: int, epsilon: float) -> float:
    """Return the support at which the signal is as large as the noise (equation 16)."""
    return math.sqrt(2) * n_classes / epsilon


def most_trees(schema: Schema, n_people: int, epsilon: Fraction) -> int:
    """Return min(beta n / (sqrt(2) C b^2), m), rounded down, and at least 1 (section 3.6)."""
    smallest = math.sqrt(2) * len(schema.classes or ()) * float(branching(schema)) ** 2
    return max(1, min(int(float(epsilon) * n_people / smallest), len(schema.features)))


def _useful(schema: Schema) -> Wide:
    """Return the columns that tell anybody apart."""
    return np.array([i for i, f in enumerate(schema.features) if _fan(schema, i) > 1], dtype=int)


def _fan(schema: Schema, column: int) -> int:
    feature = schema.features[column]
    return fan_of(feature.categories, feature.low, feature.high)


def _most_confident(parent: Int | Wide, counts: Float, keep: Flag, least: float) -> Float:
    """Give every node the shares of the surest node on its path whose signal exceeds its noise."""
    by_level = levels_of(parent)
    n_leaves, _ = leaves_below(parent, by_level)
    held = np.maximum(counts, 0.0)
    total = sum_of_row(held)
    shares = np.where(
        total[:, None] > 0, held / np.maximum(total, 1e-300)[:, None], 1 / counts.shape[1]
    )
    surest = shares.max(axis=1)
    heard = sum_of_row(counts) > least * np.sqrt(n_leaves)
    heard_of = np.arange(len(total))
    for own in by_level[1:]:
        above = parent[own]
        as_above = keep[own] & ~(heard[own] & (surest[own] >= surest[above]))
        surest[own] = np.where(as_above, surest[above], surest[own])
        heard_of[own] = np.where(as_above, heard_of[above], own)
    result: Float = shares[heard_of] * np.maximum(total, 0.5)[:, None]
    return result
