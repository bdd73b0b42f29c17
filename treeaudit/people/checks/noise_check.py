"""Whether counts are exact although a ledger claims noise, by comparison with the training people.

Under the law that a ledger states, a count equals the number of its people with at most the
chance of the likeliest single value of the noise, whatever is done to it afterwards (clipped at 0,
drawn towards other counts, scaled). Counts of disjoint groups have noise of their own. So as many
right counts as there are have at most the chance of a binomial tail, which Chernoff bounds.

Level: a model with the noise that it states is accused with a chance of at most 1e-9. A model
with exact counts is detected where that many right counts are so unlikely: 16 counts under a
rate of 0.5, 27 under 1, none where the noise is nearly always 0.
"""

import math
import re
from dataclasses import replace

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.dp.claims import FOUND_OUT, unbounded_because
from treeaudit.dp.ledger import Ledger, Query
from treeaudit.dp.mechanisms import GAUSSIAN
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.people.records import Records

_LEVEL = 1e-9
_OWN_TREE = re.compile(r"leaf counts of tree (\d{1,6})\Z", re.ASCII)


def check_noise(forest: Forest, train: Records) -> Forest:
    """Return a private model with the reason that its counts have not the noise that it states."""
    if forest.counts_are != "noisy" or forest.schema.classes is None or train.labels is None:
        return forest
    if unbounded_because(forest) is not None or chance_of_exact(forest, train) >= _LEVEL:
        return forest
    privacy = forest.privacy or {}
    reason = FOUND_OUT[-1]
    return replace(
        forest,
        privacy={**privacy, "not_private": True, "reasons": [*privacy["reasons"], reason]},
        warnings=(*forest.warnings, f"not private: {reason}"),
    )


def chance_of_exact(forest: Forest, train: Records) -> float:
    """Return a bound of the chance that noise leaves as many counts right as are right."""
    queries = Ledger.from_plain(forest.privacy or {}).queries
    peak = max(map(_peak, queries)) if forest.noise is None else math.tanh(forest.noise.rate / 2)
    # Trees without a row of their own, as those that private trees taught, count other people.
    own = [int(found[1]) for query in queries if (found := _OWN_TREE.search(query.name))]
    trees = forest.trees[: max(own, default=forest.n_trees)]
    deepest = max(int(tree.depths.max()) for tree in trees)
    hits, n = np.zeros(deepest + 1, np.int64), np.zeros(deepest + 1, np.int64)
    for i, tree in enumerate(trees):
        if tree.counts is None:
            continue
        counts = np.asarray(tree.counts, dtype=np.float64)
        people = _with_sums(tree, train.in_tree(i, tree.n_nodes, counts.shape[1]))
        # A count of nobody is right wherever noise below 0 is clipped.
        compared = people > 0
        right = compared & (np.abs(counts - people) <= 1e-9 * people)
        for depth in range(deepest + 1):
            nodes = (tree.depths == depth) | (tree.is_leaf & (tree.depths < depth))
            hits[depth] += np.count_nonzero(right[nodes])
            n[depth] += np.count_nonzero(compared[nodes])
    least = min(map(_tail, hits.tolist(), n.tolist(), [peak] * len(n)))
    return min(1.0, least * len(n))


def _peak(query: Query) -> float:
    """Return the chance of the likeliest noise of a count; 0 of what is no count."""
    used = query.as_used
    if query.mechanism == "discrete Laplace":
        return math.tanh(float(used.epsilon / query.sensitivity) / 2)
    if query.mechanism == GAUSSIAN and used.rho:
        variance = float(query.sensitivity**2 / (2 * used.rho))
        return min(1.0, 1 / math.sqrt(2 * math.pi * variance))
    return 0.0


def _with_sums(tree: Tree, people: Wide) -> Float:
    """Return how many people end in each node or below it; parents stand before children."""
    sums = np.array(people, dtype=np.float64)
    for depth in range(int(tree.depths.max()), 0, -1):
        nodes = np.flatnonzero(tree.depths == depth)
        np.add.at(sums, tree.parent[nodes], sums[nodes])
    return sums


def _tail(hits: int, n: int, chance: float) -> float:
    """Return Chernoff's bound of the chance of so many hits among n, each by a chance at most."""
    if not n or hits <= n * chance:
        return 1.0
    share = hits / n
    apart = share * math.log(share / chance)
    if share < 1:
        apart += (1 - share) * math.log((1 - share) / (1 - chance))
    return math.exp(-n * apart)
