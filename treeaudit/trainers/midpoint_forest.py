"""A large greedy forest that cuts numbers half way between the means of two classes.

As printed every tree spends the whole epsilon on a sample of all records, under a definition of its
own, which hides the values of a record and not whether it is there; and the noise of a mean follows
from exact counts. That is no epsilon. The sound variant gives every tree its own records.

References
----------
Rana, Gupta & Venkatesh (2016), Differentially private random forest with high utility. Fletcher &
Islam (2019), a survey, sections 3.2.2 (equation 10), 3.4 and 3.7 (equation 20).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.dp import subsampling
from treeaudit.dp.curator import Curator
from treeaudit.dp.scores import MAX
from treeaudit.dp.subsampling import unit
from treeaudit.model.forest import Noise
from treeaudit.model.schema import Schema
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.growth import (
    Choices,
    Growth,
    Split,
    grow_by_choice,
    note_unspent,
)
from treeaudit.trainers.histograms import Cells, code_rows, public_codes
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.splits import Candidates
from treeaudit.trainers.training_rows import TrainingRows

_TREES = (
    "its definition hides what the values of a record are and not whether it is there: by "
    "epsilon, every tree costs it again"
)
_MEANS = (
    "the noise of a mean is 3 / min(n_1, n_2) by the exact number of records of two classes, "
    "which one record more changes"
)


@dataclass(kw_only=True, eq=False, repr=False)
class MidpointForestClassifier(PrivateClassifier):
    """Greedy private trees that cut a number half way between the means of its classes.

    Notes
    -----
    On a path each of d - 1 levels asks for the people of a node, for the column that splits it
    and, where that is a number, for the sums of the values of the first class and of the others,
    with the people in them: 3 (d - 1) + 1 questions, or 2 (d - 1) + 1 without numbers, of an
    equal part of epsilon each (epsilon / 3d and epsilon / 2d in table I). A record adds at most
    one range to a sum and one person to a count, which is measured in ranges: 2 ranges together.
    The point half way is post-processing. Nodes are disjoint parts, and so are trees: every
    record goes to one, drawn independently of the others, so that all trees together cost epsilon.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> schema = Schema(features=(Feature(name="age", low=0, high=120),), classes=("no", "yes"))
    >>> model = MidpointForestClassifier(epsilon=10.0, schema=schema, n_estimators=3, max_depth=3)
    >>> model = model.fit([[20], [25], [90], [95]] * 500, ["no", "no", "yes", "yes"] * 500)
    >>> model.predict([[18], [99]]).tolist(), float(model.privacy_.epsilon)
    (['no', 'yes'], 10.0)
    """

    algorithm: ClassVar[str] = "midpoint-forest"
    listed: ClassVar[Listed] = Listed(
        paper="Rana, Gupta & Venkatesh 2016",
        query="β/2d, or β/3d with numbers",
        tree="greedy",
        depth="5, leaves included",
        trees="10; in print 500 and more",
        numbers="half way between class means",
        published="not epsilon-private: τβ at least, and noise by exact counts",
    )

    n_estimators: int = 10
    max_depth: int = 5
    n_bins: int = 32

    def _each(self, schema: Schema, epsilon: Fraction) -> Fraction:
        """Return what a question costs."""
        a_level = 3 if any(f.categories is None for f in schema.features) else 2
        return epsilon / (a_level * (int(self.max_depth) - 1) + 1)

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        return self._each(rows.schema, epsilon) / (2 * int(self.n_bins))

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        published, n_trees = self.variant == "published", int(self.n_estimators)
        choices = Choices(
            epsilon=self._each(rows.schema, epsilon),
            split_levels=int(self.max_depth) - 1,
            counted=True,
            score=MAX,
            mechanism="exponential mechanism" if published else "permute-and-flip",
            twice=published,
            splits=_splitter(curator, self._each(rows.schema, epsilon), printed=published),
        )
        cells = code_rows(rows, public_codes(rows.schema, int(self.n_bins)))
        trees = []
        mine = subsampling.tree_of_each(curator.entropy, n_trees, len(rows))
        for number in range(n_trees):
            if published:
                times = subsampling.poisson(curator.entropy, len(rows))
                own, part, name = replace(cells, weight=times), rows, f"tree {number + 1}: "
            else:
                part, name = rows.part(mine == number), ""
                own = Cells(
                    codes=cells.codes, n_classes=cells.n_classes, cell=cells.cell[:, mine == number]
                )
            trees.append(grow_by_choice(part, own, curator, choices, name))
        note_unspent(curator, epsilon * n_trees if published else epsilon)
        return Grown(
            trees=tuple(trees),
            counts_reason=f"discrete Laplace noise for an epsilon of {choices.epsilon} on leaves",
            answers="mean",
            noise=Noise(rate=float(curator.rate(choices.epsilon)), counts="leaves"),
            records_are="bootstrap" if published else "disjoint",
            flaws=(_TREES, _MEANS) if published else (),
        )


Splitter = Callable[[Growth, str, list[int], list[Wide], Candidates, Wide], list[Split]]


def _splitter(curator: Curator, epsilon: Fraction, *, printed: bool) -> Splitter:
    """Return what splits nodes: numbers half way between two means, others by their values."""

    def splits(
        growth: Growth,
        of: str,
        front: list[int],
        histograms: list[Wide],
        candidates: Candidates,
        chosen: Wide,
    ) -> list[Split]:
        found = growth.parts(front, candidates, chosen)
        codes = growth.cells.codes
        columns = candidates.feature[chosen].tolist()
        at = [i for i, column in enumerate(columns) if codes[column].edges is not None]
        if not at:
            return found
        most = max(c.n for c in codes if c.edges is not None) - 1
        sums = np.array([_sums(histograms[columns[i]][i], most) for i in at])
        if printed:
            sums = _printed(sums, most, curator, epsilon, f"midpoints of {of}")
        else:
            sums = curator.count(f"midpoints of {of}", sums, epsilon, most=2 * most)
        for i, row in zip(at, sums, strict=True):
            there = np.flatnonzero(growth.allowed[front[i]][columns[i]])
            point = int(np.clip(np.floor(_half_way(row, most, there)), there[0], there[-1] - 1))
            cut = Candidates(
                codes=codes,
                feature=np.array([columns[i]]),
                at=np.array([point]),
                lost=candidates.lost[chosen[i] : chosen[i] + 1] % 2,
            )
            found[i] = cut.parts(0, growth.allowed[front[i]][columns[i]])
        return found

    return splits


def _sums(histogram: Wide, most: int) -> Wide:
    """Return sum and people, in ranges, of the values of the first class and of the others."""
    known = histogram[:-1]
    two = np.stack([known[:, 0], known[:, 1:].sum(axis=1)], axis=1)
    sums = np.arange(len(known)) @ two
    result: Wide = np.stack([sums, most * two.sum(axis=0)], axis=1).ravel()
    return result


def _half_way(sums: Float | Wide, most: int, there: Wide) -> float:
    """Return the point between the means, in codes; the middle of what is left has to stand in."""
    middle = (there[0] + there[-1]) / 2
    means = [
        float(sums[i]) / (float(sums[i + 1]) / most) if sums[i + 1] > most / 2 else middle
        for i in (0, 2)
    ]
    return sum(means) / 2


def _printed(sums: Wide, most: int, curator: Curator, epsilon: Fraction, name: str) -> Float:
    """Move both means by the printed Laplace noise, of 3 / min(n_1, n_2) of the range."""
    people = sums[:, 1::2] / most
    curator.note(name, "Laplace by exact counts", epsilon, Fraction(1), len(sums))
    scale = most * 3 / (np.maximum(people.min(axis=1), 1) * float(epsilon / curator.factor))
    share = unit(curator.entropy, len(sums)) - 0.5
    noise = -scale * np.sign(share) * np.log1p(-2 * np.abs(share))
    moved: Float = sums.astype(np.float64)
    moved[:, 0::2] += noise[:, None] * people
    return moved


def most_trees(n_least: float, share: float, epsilon: float) -> int:
    """Return how many trees equation 20 allows under its weaker definition."""
    return int((n_least * (n_least + 1) + 1 / epsilon**2) / (share * (1 - share)))
