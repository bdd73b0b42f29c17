"""The ID3 of SuLQ: every column of every node is counted with noise, and the best one taken.

As printed the noise is Gaussian, which promises (epsilon, delta) and never epsilon alone. The sound
variant draws discrete Laplace noise, and asks for the people of a value no more, which are the
sum of its classes.

References
----------
Blum, Dwork, McSherry & Nissim (2005), Practical privacy: the SuLQ framework. Fletcher & Islam
(2019), a survey, section 3.2 (equation 4, queries 1 and 2) and table I.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.defenses.tree_edits import summed
from treeaudit.dp.curator import Curator
from treeaudit.dp.subsampling import Entropy, unit
from treeaudit.model.forest import Noise
from treeaudit.model.schema import Schema
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.fit_checks import check_share
from treeaudit.trainers.growth import Growth, note_unspent
from treeaudit.trainers.histograms import code_rows, public_codes
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.splits import Candidates, one_each
from treeaudit.trainers.training_rows import TrainingRows

_MOST_NODES = 200_000

_FLAW = (
    "Gaussian noise keeps an epsilon but for a chance of delta, and the ledger states both; "
    "variant='sound' needs no delta"
)


@dataclass(kw_only=True, eq=False, repr=False)
class SulqID3Classifier(PrivateClassifier):
    """The first private tree: ID3 on noisy counts of every column.

    Notes
    -----
    A record is in one node of each level, and there in one cell of the histogram of each column
    that its path has left: m - l of them in level l. A histogram has sensitivity 1. With the
    class counts of the leaf these are sum (m - l) + 1 histograms, each of an equal part of
    epsilon, which add up to it (sequential composition); levels are disjoint parts. Table I
    prints beta / 2^(md-1); by section 3.2 it is beta / (2 m d), since there are two queries per
    column (n_vc and n_v) and all columns in each of d levels. The gain by equation 4 skips what
    is not above 0. That, and where growth stops, follow from noisy counts.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> sex = Feature(name="sex", categories=("f", "m"))
    >>> model = SulqID3Classifier(schema=Schema(features=(sex,), classes=(0, 1)))
    >>> model = model.fit([["f"], ["m"]] * 300, [0, 1] * 300)
    >>> model.predict([["m"]]).tolist(), float(model.privacy_.epsilon)
    ([1], 1.0)
    """

    algorithm: ClassVar[str] = "sulq-id3"
    listed: ClassVar[Listed] = Listed(
        paper="Blum, Dwork, McSherry & Nissim 2005",
        query="β/(2md)",
        tree="greedy",
        depth="m",
        trees="1",
        numbers="public bins",
        published="(β, δ): Gaussian noise",
    )

    max_depth: int | None = None
    n_bins: int = 10
    printed_delta: float = 1e-6

    def _checked(self) -> Fraction:
        check_share("printed_delta", self.printed_delta)
        return super()._checked()

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        return epsilon / self._questions(rows.schema)

    def _levels(self, schema: Schema) -> tuple[int, int]:
        """Return how many columns tell anybody apart, and how many levels are split."""
        columns = sum(codes.n > 1 for codes in public_codes(schema, int(self.n_bins)))
        return columns, min(self.max_depth or columns, columns)

    def _questions(self, schema: Schema) -> int:
        columns, levels = self._levels(schema)
        if self.variant == "published":
            return max(1, 2 * columns * (levels + 1))
        return sum(columns - level for level in range(levels)) + 1

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        asked = self._questions(rows.schema)
        each, published = epsilon / asked, self.variant == "published"
        deviation = math.sqrt(2) * curator.factor / float(each)
        delta = Fraction(str(float(self.printed_delta))) / asked
        if published:
            rate = float(epsilon / curator.factor)
            deviation = math.sqrt(printed_variance(rate, float(self.printed_delta), asked))

        def ask(name: str, counts: Wide) -> Wide:
            if not published:
                return curator.count(name, counts, each)
            curator.note(name, "Gaussian noise", each, Fraction(1), len(counts), delta=delta)
            noise = gaussian(min(deviation, 2.0**40), counts.size, curator.entropy)
            return counts + noise.reshape(counts.shape)

        cells = code_rows(rows, public_codes(rows.schema, int(self.n_bins)))
        growth = Growth(cells=cells, node=np.zeros(len(rows), dtype=np.int32))
        front, nodes = [growth.plant()], growth.nodes
        columns, levels = self._levels(rows.schema)
        for level in range(levels):
            candidates = one_each(cells.codes, curator.entropy)

            def ask_column(rank: int, counts: Wide, level: int = level) -> tuple[Wide, Wide]:
                name = f"column {rank} of level {level + 1}"
                flat = counts.reshape(len(counts), -1)
                cells = ask(f"values and classes of {name}", flat).reshape(counts.shape)
                if published:
                    return cells, ask(f"values of {name}", counts.sum(axis=2))
                return cells, cells.sum(axis=2)

            gain, sizes = noisy_gains(growth, front, candidates, columns - level, ask_column)
            chosen = gain.argmax(axis=1)
            held = np.concatenate([sizes[c][i] for i, c in enumerate(chosen.tolist())])
            children = growth.split(front, growth.parts(front, candidates, chosen))
            # As many people in every part of the next split as the noise can be told from.
            parts = [max(int(there.sum()) for there in growth.allowed[i]) for i in children]
            enough = held / (np.array(parts) * rows.n_classes) >= deviation
            front = [c for c, p, e in zip(children, parts, enough, strict=True) if e and p > 1]
            widest = max(codes.n for codes in cells.codes)
            if not front or len(nodes) + len(front) * widest > _MOST_NODES:
                break
        leaf = nodes.is_leaf
        classes = np.zeros((len(nodes), rows.n_classes))
        classes[leaf] = ask("leaf counts", rows.by_node(growth.node, len(nodes))[leaf])
        note_unspent(curator, epsilon)
        law = (
            f"Gaussian noise of deviation {deviation:.6g}"
            if published
            else "discrete Laplace noise"
        )
        return Grown(
            trees=nodes.trees(summed(nodes.trees(classes)[0], classes)),
            counts_reason=f"{law} noise for an epsilon of {each} on every leaf",
            answers="mean",
            noise=None if published else Noise(rate=float(curator.rate(each)), counts="leaves"),
            flaws=(_FLAW,) if published else (),
        )


Ask = Callable[[int, Wide], tuple[Wide, Wide]]
"""Asks for a column by its rank: from counts of shape ``(n_nodes, n_values, n_classes)`` to noisy
ones, and to noisy people by value."""


def noisy_gains(
    growth: Growth, front: list[int], candidates: Candidates, left: int, ask: Ask
) -> tuple[Float, list[Wide]]:
    """Ask about every column of every node; return noisy gains, and noisy people by value.

    Columns go by their place among those that a node has left: a person is in one row of each.
    """
    histograms, there = growth.histograms(front)
    gain = np.full((len(front), len(candidates)), -np.inf)
    columns = candidates.feature.tolist()
    sizes = [np.zeros((len(front), growth.cells.codes[c].n), dtype=np.int64) for c in columns]
    open_ = np.array([there[c].sum(axis=1) > 1 for c in columns]).T
    place = np.cumsum(open_, axis=1)
    for rank in range(1, left + 1):
        for i, column in enumerate(columns):
            at = np.flatnonzero(open_[:, i] & (place[:, i] == rank))
            if len(at):
                counts = histograms[column][at]
                counts[:, candidates.lost[i]] += counts[:, -1]
                cells, sizes[i][at] = ask(rank, counts[:, :-1])
                gain[at, i] = information_gain(cells, sizes[i][at])
    return gain, sizes


def information_gain(cells: Wide, values: Wide) -> Float:
    """Return minus the records times the entropy that a split leaves, by noisy counts (equation 4).

    ``cells``: shape ``(n_nodes, n_values, n_classes)``; what is not above 0 is skipped. ``values``:
    shape ``(n_nodes, n_values)``.
    """
    fine = (cells > 0) & (values[..., None] > 0)
    ratio = np.where(fine, cells / np.where(fine, values[..., None], 1), 1.0)
    gain: Float = (cells * np.log2(ratio)).sum(axis=(1, 2))
    return gain


def printed_variance(epsilon: float, delta: float, questions: int) -> float:
    """Return the variance R of the noise for T questions: 8 T ln(T / delta)^2 / epsilon^2.

    From secondary literature, as the paper was not at hand; (epsilon, delta) as it counts it.
    """
    return 8 * questions * math.log(questions / delta) ** 2 / epsilon**2


def gaussian(deviation: float, n: int, entropy: Entropy) -> Wide:
    """Draw Gaussian noise, rounded to whole numbers, from floating-point uniform numbers.

    It promises (epsilon, delta) where the deviation is large enough, never epsilon alone.
    """
    radius = np.sqrt(-2 * np.log1p(-unit(entropy, n)))
    noise = deviation * radius * np.cos(2 * np.pi * unit(entropy, n))
    return np.asarray(np.rint(noise), dtype=np.int64)
