"""A small private forest labels public records, from which a large one learns without noise.

References
----------
Jagannathan, Monteleoni & Pillaipakkamnatt (2013), A semi-supervised learning approach to
differential privacy. Fletcher & Islam (2019), a survey, section 3.7 and table I.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from treeaudit.arrays import Float, Int, Wide
from treeaudit.dp.curator import Curator
from treeaudit.dp.subsampling import Entropy, below, unit
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.people.predict.predictions import predict_shares
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.columns import code_columns, columns_of, names_of
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.random_trees import counted, leaves_within, random_trees
from treeaudit.trainers.training_rows import TrainingRows, column_order

_DEEPEST = 64
_DRAWN = 2000
"""How many public records are drawn from the schema where none are given."""


@dataclass(kw_only=True, eq=False, repr=False)
class SemiSupervisedForestClassifier(PrivateClassifier):
    """Five private random trees, and two hundred on public records that the five have labelled.

    Notes
    -----
    Trees split at random; a number is cut between public records, so that they spread evenly over
    the leaves: at the quantile of the public values where an even value would be drawn. The
    class counts of the leaves of a private tree are disjoint parts of the private records and
    cost epsilon / 5 each (section 3.7 and table I), which add up to epsilon. The labels of
    public records, and all that is learned from them, are post-processing of noisy counts.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> schema = Schema(features=(Feature(name="age", low=0, high=120),), classes=("no", "yes"))
    >>> public = [[age] for age in range(18, 100)]
    >>> model = SemiSupervisedForestClassifier(
    ...     epsilon=50.0, schema=schema, public_records=public, max_depth=5, n_public_trees=20)
    >>> model = model.fit([[20], [25], [90], [95]] * 500, ["no", "no", "yes", "yes"] * 500)
    >>> model.predict([[22], [92]]).tolist(), model.forest_.n_trees
    (['no', 'yes'], 25)
    """

    algorithm: ClassVar[str] = "semi-supervised-forest"
    listed: ClassVar[Listed] = Listed(
        paper="Jagannathan, Monteleoni & Pillaipakkamnatt 2013",
        query="β/τ",
        tree="random",
        depth="m/2",
        trees="5, then 200 on public records",
        numbers="public quantiles",
        published="β, public records not protected",
        sound="β, public records not protected",
    )

    public_records: Any = None
    n_estimators: int = 5
    n_public_trees: int = 200
    max_depth: int | None = None
    max_leaves: int | None = 4096

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        # What is wrong with public records is said before anything is spent.
        self._public(rows.schema)
        return epsilon / int(self.n_estimators)

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        each, entropy = epsilon / int(self.n_estimators), curator.entropy
        given = self._public(rows.schema)
        known = _draw_records(rows.schema, entropy) if given is None else given
        depth = self.max_depth or min(_DEEPEST, (len(rows.schema.features) + 1) // 2)

        def grown(n: int, on: TrainingRows, ask: Callable[[str, Wide], Wide]) -> tuple[Tree, ...]:
            bare = random_trees(rows.schema, n, depth, leaves_within(self.max_leaves, n), entropy)
            return counted(_spread(bare, known, rows.schema), on, ask, self.n_jobs)

        private = grown(int(self.n_estimators), rows, lambda name, c: curator.count(name, c, each))
        teacher = Forest(trees=private, schema=rows.schema, counts_are="noisy", answers="mean")
        labels = predict_shares(teacher, known, self.n_jobs).argmax(axis=1)
        public = TrainingRows(schema=rows.schema, values=known, labels=labels.astype(np.int64))
        taught = grown(int(self.n_public_trees), public, lambda _, counts: counts)
        return Grown(
            trees=(*private, *taught),
            counts_reason=(
                f"discrete Laplace noise for an epsilon of {each} on the leaves of the first "
                f"{len(private)} trees; the others hold public records that these have labelled"
            ),
            answers="mean",
            noise=None,
            records_are="unknown",
            public=("unlabelled records",),
        )

    def _public(self, schema: Schema) -> Float | None:
        if self.public_records is None:
            return None
        if isinstance(self.public_records, str | bytes | os.PathLike):
            raise DataError(
                f"public_records is {str(self.public_records)[:60]!r}: give the records "
                "themselves, a table with the columns of the schema (from Python alone)"
            )
        table = columns_of(self.public_records, type(self).__name__, finite=False)
        names = names_of(self.public_records)
        values = np.array(code_columns(table, schema, column_order(names, table, schema), None))
        for i, feature in enumerate(schema.features):
            if feature.categories is None:
                values[:, i] = np.clip(values[:, i], feature.low, feature.high)
        return values

    def __getstate__(self) -> dict[str, Any]:
        """Return plain data, without the public records once they have been used."""
        state = super().__getstate__()
        return {**state, "public_records": None} if "forest_" in state else state


def _draw_records(schema: Schema, entropy: Entropy) -> Float:
    """Draw records evenly from a public schema."""
    columns = []
    for f in schema.features:
        if f.categories is not None:
            columns.append(below(entropy, len(f.categories), _DRAWN).astype(np.float64))
        else:
            share = unit(entropy, _DRAWN)
            columns.append(float(f.low or 0) * (1 - share) + float(f.high or 0) * share)
    return np.column_stack(columns)


def _spread(trees: tuple[Tree, ...], known: Float, schema: Schema) -> tuple[Tree, ...]:
    """Move every point at which a number is cut to the same quantile of the public records."""
    low = np.array([f.low or 0.0 for f in schema.features])
    high = np.array([f.high or 0.0 for f in schema.features])
    # By halves, which cannot overflow.
    width = np.where(high > low, high / 2 - low / 2, 1.0)
    held = [np.sort(column[~np.isnan(column)]) / 2 for column in known.T]
    return tuple(
        replace(
            tree,
            low=_moved(tree.low, tree.feature, low, width, held),
            high=_moved(tree.high, tree.feature, low, width, held),
        )
        for tree in trees
    )


def _moved(bound: Float, feature: Int, low: Float, width: Float, held: list[Float]) -> Float:
    moved = np.array(bound, dtype=np.float64)
    for column, values in enumerate(held):
        at = np.flatnonzero((feature == column) & np.isfinite(moved))
        if len(at) and len(values):
            share = np.clip((moved[at] / 2 - low[column] / 2) / width[column], 0, 1)
            moved[at] = np.quantile(values, share) * 2
    return moved
