"""Top-down specialization to groups of k people: a table as printed, with exact counts.

It is not differentially private, and its counts are those of people.

References
----------
Fung, Wang & Yu (2005), Top-down specialization for information and privacy preservation: the
score InfoGain / (AnonyLoss + 1), algorithm 1. Fletcher & Islam (2019), a survey, section 5.
"""

from typing import Any

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.defenses.tree_edits import summed
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.source import Source
from treeaudit.trainers.parameters import check_whole
from treeaudit.trainers.private_tree_columns import code_rows, public_codes
from treeaudit.trainers.specialization import Cut, Value
from treeaudit.trainers.training_rows import read_rows

__all__ = ["k_anonymous"]


def k_anonymous(X: Any, y: Any, schema: Schema, k: int, *, n_bins: int = 16) -> Forest:  # noqa: ANN401  # a table
    """Return a tree whose leaves hold at least k people, or nobody.

    The columns are as general as can be, and are specialized as long as all groups keep k people:
    each time the value whose gain of information, by what the smallest group loses, is largest.

    Parameters
    ----------
    X, y
        As `treeaudit.trainers.PrivateTrees.fit` takes them.
    schema
        Bounds, categories and classes.
    k
        The least size of a group.
    n_bins
        Into how many bins numbers are cut, which are halved step by step.

    Returns
    -------
    Forest
        `treeaudit.reconstruct` has its table: `to_frame` by group, `expand` by person.

    Raises
    ------
    DataError
        If there are fewer than k people.

    Examples
    --------
    >>> import treeaudit as ta
    >>> from treeaudit.model.schema import Feature
    >>> age = Feature(name="age", low=0, high=80)
    >>> schema = Schema(features=(age,), classes=(0, 1), target="ill")
    >>> model = k_anonymous([[a] for a in range(80)], [a > 60 for a in range(80)], schema, 20)
    >>> table = ta.reconstruct(model).to_frame(words=True)
    >>> table[["age", "ill=0", "ill=1"]].to_numpy().tolist()
    [['> 40', 20.0, 19.0], ['≤ 20', 21.0, 0.0], ['> 20, ≤ 40', 20.0, 0.0]]
    """
    check_whole("k", k, 1, 2**31)
    check_whole("n_bins", n_bins, 2, 1000)
    rows = read_rows(X, y, schema, "raise", "k_anonymous")
    if len(rows) < k:
        raise DataError(f"there are {len(rows)} people, fewer than k={k}: no group can hold k")
    cut = Cut(cells=code_rows(rows, public_codes(rows.schema, n_bins)))
    while True:
        smallest = int(cut.groups().min())
        left = {value: int(cut.groups(value).min()) for value in cut.open()}
        allowed = [value for value, size in left.items() if size >= k]
        if not allowed:
            break
        cut.specialize(max(allowed, key=lambda v: _gain(cut, v) / (smallest - left[v] + 1)))
    counts = rows.by_node(cut.growth.node, len(cut.leaves())).astype(np.float64)
    tree = cut.tree(summed(cut.tree(counts), counts))
    return Forest(
        trees=(tree,),
        schema=rows.schema,
        counts_are="exact",
        counts_reason=f"all people, in groups of at least {k}",
        answers="mean",
        n_records=len(rows),
        source=Source(estimator="TopDownSpecialization", library="treeaudit"),
    )


def _gain(cut: Cut, value: Value) -> float:
    """Return the gain of information of the people who have a value."""
    whole, parts = cut.classes(value), [cut.classes(part) for part in cut.parts(value)]
    size = max(1, int(whole.sum()))
    return _entropy(whole) - sum(int(p.sum()) / size * _entropy(p) for p in parts)


def _entropy(counts: Wide) -> float:
    share = counts[counts > 0] / max(1, int(counts.sum()))
    return float(-(share * np.log2(share)).sum())
