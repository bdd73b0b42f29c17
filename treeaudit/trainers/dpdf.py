"""DPDF: a private forest with a class histogram at every node, and all its rules.

As printed it is not private: the sensitivity of the Gini index is taken at a
noisy number of records, which is no bound, and noise can make it as small as
it likes. Algorithm 1 also asks two questions more than it divides the budget
by. The sound variant scores by the Gini index times the number of records,
which has a sensitivity of 2 whatever that number is, and loses nothing by it.

References
----------
Fletcher & Islam (2015), A differentially private decision forest, algorithm 1.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.dp.curator import Curator
from treeaudit.dp.mechanisms import IMPOSSIBLE, exponential_mechanism
from treeaudit.dp.scores import GINI, UNIT
from treeaudit.model.forest import Forest, Noise
from treeaudit.model.rules import rules_of
from treeaudit.model.tree import Tree
from treeaudit.model.words import sentence
from treeaudit.people.predict.predictions import node_shares
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.growth import Growth, note_unspent
from treeaudit.trainers.histograms import Cells, Codes, code_rows, public_codes
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.pruning import prune_by_gini
from treeaudit.trainers.splits import Candidates, one_each, score_level
from treeaudit.trainers.training_rows import TrainingRows

if TYPE_CHECKING:
    import pandas as pd


Size = Literal["sum", "absolute"]
Loop = Literal["d <= delta", "d < delta"]
Ties = Literal["cut", "kept"]

_SENSITIVITY = (
    "the sensitivity of the Gini index is taken at a noisy number of records: at a claim of 0.1, "
    "one person more can change the root of a tree by a loss of 1.968; variant='sound' bounds it"
)
_LOOP = (
    "line 16 splits while d <= delta, so a path asks 2 delta + 1 questions of a budget divided by "
    "2 delta - 1"
)


def epsilon_of_a_question(epsilon: Fraction, n_trees: int, depth: int) -> Fraction:
    """Return beta / (tau (2 delta - 1)), equation 10."""
    return epsilon / (n_trees * (2 * depth - 1))


@dataclass(kw_only=True, eq=False, repr=False)
class DPDFClassifier(PrivateClassifier):
    """A private forest whose trees ask different questions first, and all of its rules.

    Attributes
    ----------
    rules_
        Every rule and sub-rule, with support and confidence.

    Notes
    -----
    Sound variant. Each tree costs epsilon / tau (sequential composition). On a
    path it asks at most delta histograms and, while d < delta, delta - 1 choices, of
    epsilon / (tau (2 delta - 1)) each; the nodes of a level are disjoint
    parts. A histogram has sensitivity 1. A choice is made by permute-and-flip with
    exp(epsilon q / 2), where q is minus the number of records times the Gini
    index: monotone, with a sensitivity of 2 (`treeaudit.dp.scores.GINI`). With the
    exact number of records n, the printed exponent is that of q with a factor of
    2 too many, so nothing is lost. Which roots are left, when a node stops, and the
    pruning follow from answers.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> sex = Feature(name="sex", categories=("f", "m"))
    >>> schema = Schema(features=(sex,), classes=(0, 1))
    >>> model = DPDFClassifier(epsilon=5, schema=schema, max_depth=2)
    >>> model = model.fit([["f"], ["m"]] * 300, [0, 1] * 300)
    >>> model.rules_[["rule", "prediction"]].to_numpy().tolist()
    [['sex = f', 0], ['sex = m', 1]]
    """

    algorithm: ClassVar[str] = "dpdf"
    listed: ClassVar[Listed] = Listed(
        paper="Fletcher & Islam 2015a",
        query="β/(τ(2d-1))",
        tree="greedy",
        depth="5",
        trees="4",
        numbers="public bins",
        published="no epsilon: sensitivity from a noisy size",
    )

    n_estimators: int = 4
    max_depth: int = 5
    min_records: int = 100
    n_bins: int = 10
    prune: bool = True
    size: Size = "sum"
    loop: Loop = "d <= delta"
    ties: Ties = "cut"

    @property
    def rules_(self) -> "pd.DataFrame":
        """Every rule and sub-rule: one row per node below the root, with its noisy counts."""
        check_is_fitted(self, "forest_")
        return rules_frame(self.forest_)

    def _n_trees(self, columns: tuple[Codes, ...]) -> int:
        useful = sum(codes.n > 1 for codes in columns)
        return max(1, min(int(self.n_estimators), useful))

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        n_trees = self._n_trees(public_codes(rows.schema, int(self.n_bins)))
        return epsilon_of_a_question(epsilon, n_trees, int(self.max_depth))

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        published = self.variant == "published"
        longer = published and self.loop == "d <= delta"
        cells = code_rows(rows, public_codes(rows.schema, int(self.n_bins)))
        n_trees = self._n_trees(cells.codes)
        each = epsilon_of_a_question(epsilon, n_trees, int(self.max_depth))
        steps = Steps(
            epsilon=each,
            split_levels=int(self.max_depth) - (not longer),
            min_records=int(self.min_records),
            published=published,
            absolute=published and self.size == "absolute",
            prune=bool(self.prune),
            ties=self.ties,
        )
        roots: set[int] = set()
        trees = tuple(
            grow_tree(rows, cells, curator, steps, f"tree {number + 1}", roots)
            for number in range(n_trees)
        )
        note_unspent(curator, each * n_trees * (2 * steps.split_levels + 1))
        return Grown(
            trees=trees,
            counts_reason=f"discrete Laplace noise for an epsilon of {each} on every node",
            answers="confidence",
            noise=Noise(rate=float(curator.rate(each)), counts="nodes"),
            flaws=(_SENSITIVITY, *((_LOOP,) if longer else ())) if published else (),
        )


_MOST_NODES = 200_000
"""Noise alone may go on where nobody is; with columns of many categories it would not end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """How a tree is grown.

    ``epsilon`` is that of every question. If ``published``, the Gini index is taken at the
    sensitivity of theorem 1; if ``absolute``, the size of a node is that of the absolute values of
    its noisy counts.
    """

    epsilon: Fraction
    split_levels: int
    min_records: int
    published: bool
    absolute: bool
    prune: bool
    ties: Literal["cut", "kept"] = "cut"


def gini_sensitivity(size: npt.ArrayLike) -> Float:
    """Return the worst-case local sensitivity of the Gini index (theorem 1)."""
    n = np.asarray(size, dtype=np.float64)
    return np.asarray(1 - (n / (n + 1)) ** 2 - (1 / (n + 1)) ** 2)


def published_scores(scores: Wide, true_size: Wide, noisy_size: Wide, epsilon: Fraction) -> Wide:
    """Return the printed exponents ``epsilon G / (2 Delta(G))``, in units of 2^-20."""
    index = np.where(scores > IMPOSSIBLE, scores / UNIT, 0.0)
    index = index / np.maximum(true_size, 1)[:, None]
    scale = float(epsilon) / (2 * gini_sensitivity(noisy_size))
    exponent = np.floor(np.maximum(index * scale[:, None] * UNIT, -(2.0**60))).astype(np.int64)
    return np.where(scores > IMPOSSIBLE, exponent, IMPOSSIBLE)


def grow_tree(
    rows: TrainingRows,
    cells: Cells,
    curator: Curator,
    steps: Steps,
    name: str,
    roots: set[int],
) -> Tree:
    """Grow and prune one tree; its root is added to those that no other tree may have."""
    growth = Growth(cells=cells, node=np.zeros(len(rows), dtype=np.int32))
    front, nodes = [growth.plant()], growth.nodes
    counts: list[Wide] = []
    for level in range(steps.split_levels + 1):
        true = growth.classes(front)
        noisy = curator.count(f"{name}: classes of level {level + 1}", true, steps.epsilon)
        counts += list(noisy)
        if level == steps.split_levels:
            break
        candidates = one_each(cells.codes, curator.entropy, roots if level == 0 else set())
        slots = [slot for slot, here in enumerate(front) if _goes_on(noisy[slot], steps)]
        slots = [slot for slot in slots if _can_split(candidates, growth.allowed[front[slot]])]
        widest = max((codes.n for codes in cells.codes), default=1)
        if not slots or len(nodes) + len(slots) * widest > _MOST_NODES:
            break
        front = [front[slot] for slot in slots]
        question = f"{name}: splits of level {level + 1}"
        chosen = _choose(growth, front, candidates, curator, steps, noisy[slots], question)
        if level == 0:
            roots.add(int(candidates.feature[chosen[0]]))
        front = growth.split(front, growth.parts(front, candidates, chosen))
    held = np.array(counts)
    keep = prune_by_gini(nodes.parent, held, steps.ties) if steps.prune else None
    return nodes.trees(held, keep)[0]


def _size(noisy: Wide, steps: Steps) -> int:
    return int(np.abs(noisy).sum() if steps.absolute else noisy.sum())


def _goes_on(noisy: Wide, steps: Steps) -> bool:
    """Apply line 16: large enough, and no class that holds everybody."""
    size = _size(noisy, steps)
    return size >= max(1, steps.min_records) and bool((noisy < size).all())


def _can_split(candidates: Candidates, allowed: list[Flag]) -> bool:
    return any(allowed[column].sum() > 1 for column in candidates.feature.tolist())


def _choose(
    growth: Growth,
    front: list[int],
    candidates: Candidates,
    curator: Curator,
    steps: Steps,
    noisy: Wide,
    question: str,
) -> Wide:
    histograms, there = growth.histograms(front)
    scores = score_level(candidates, histograms, there, GINI)
    if not steps.published:
        return curator.choose(
            question, scores, steps.epsilon, sensitivity=GINI.sensitivity(1), unit=UNIT
        )
    true_size = histograms[0].sum(axis=(1, 2))
    sizes = np.array([_size(row, steps) for row in noisy])
    exponents = published_scores(scores, true_size, sizes, steps.epsilon / curator.factor)
    # What the paper takes for the sensitivity of the index in a node of min_records.
    claimed = Fraction(float(gini_sensitivity(max(1, steps.min_records))))
    curator.note(question, "exponential mechanism", steps.epsilon, claimed, len(front))
    return exponential_mechanism(exponents, Fraction(1, UNIT), curator.entropy)


if TYPE_CHECKING:
    import pandas as pd


def rules_frame(forest: Forest) -> "pd.DataFrame":
    """Return one row per node below the roots: each leaf a rule, each inner node a sub-rule.

    ``support`` is the noisy number of people, ``confidence`` the share of the predicted class
    among them; counts below zero count as zero. The counts of all nodes are needed.

    References
    ----------
    Fletcher & Islam (2015), section 3.3.
    """
    import pandas as pd

    classes = forest.schema.classes or ()
    frames = []
    for number, tree in enumerate(forest.trees):
        if tree.counts is None or tree.n_nodes < 2:
            continue
        nodes = np.arange(1, tree.n_nodes)
        shares = node_shares(tree, len(classes))[nodes]
        best = np.argmax(shares, axis=1)
        columns = {
            "tree": number,
            "node": nodes,
            "rule": [sentence(rules_of(tree, [node]), forest.schema) for node in nodes.tolist()],
            "sub_rule": ~tree.is_leaf[nodes],
            "prediction": [classes[i] for i in best.tolist()],
            "support": np.maximum(tree.counts[nodes], 0).sum(axis=1),
            "confidence": shares.max(axis=1),
        }
        counts = {
            f"{forest.schema.target}={c}": tree.counts[nodes, i] for i, c in enumerate(classes)
        }
        frames.append(pd.DataFrame({**columns, **counts}))
    if frames:
        return pd.concat(frames, ignore_index=True)
    names = ["tree", "node", "rule", "sub_rule", "prediction", "support", "confidence"]
    return pd.DataFrame(columns=[*names, *(f"{forest.schema.target}={c}" for c in classes)])
