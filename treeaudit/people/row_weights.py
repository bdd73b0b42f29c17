"""Weights of rows: what they explain where the sizes of leaves do not fit a table."""

from collections.abc import Iterator

from treeaudit.arrays import Flag, Wide
from treeaudit.model.forest import Forest
from treeaudit.people.records import Records

__all__ = ["counts_weightless", "hint_of"]

_SUMS = ("XGBoost", "CatBoost")
"""Libraries that keep the weight in a leaf, which is people where no row had one."""


def _leaves(forest: Forest, train: Records) -> Iterator[tuple[Wide, Wide]]:
    """Give what the leaves of each tree tell, and how many people of the table end there."""
    for i, tree in enumerate(forest.trees):
        if tree.n_records is not None:
            leaf: Flag = tree.is_leaf & (tree.n_records > 0)
            yield tree.n_records[leaf], train.in_tree(i, tree.n_nodes)[leaf]


def counts_weightless(forest: Forest) -> bool:
    """Tell whether people of weight 0 are counted in a leaf, though in no class of it."""
    source = forest.source
    return source.library == "scikit-learn" and "HistGradient" in source.estimator


def hint_of(forest: Forest, train: Records) -> str:
    """Return what to say of weights where a table does not fit; nothing where they do not explain.

    A table that lacks people looks the same as rows that weighed more: it stays refused.
    Rows of weight 0 are counted neither by those libraries nor by scikit-learn's trees.
    """
    library = forest.source.library
    if library not in (*_SUMS, "scikit-learn") or counts_weightless(forest):
        return ""
    if forest.records_are == "bootstrap":
        return ""
    each, n = list(_leaves(forest, train)), train.n_people
    if all(told.sum() < n and (told <= real).all() for told, real in each):
        return (
            f"; rows whose sample_weight was 0 are not counted by {library}: leave them out, if "
            "there were any"
        )
    if library not in _SUMS or all(told.sum() == n for told, _ in each):
        return ""
    return f"; {library} adds up the weights of rows (sample_weight), which may explain it too"
