"""What boosted models of all libraries hold beside their trees."""

from collections.abc import Iterable, Iterator, Sequence

from treeaudit.model.extras import Extra, Kind
from treeaudit.readers.types import Wide


def category_names(where: str, columns: Iterable[Sequence[object]]) -> Iterator[Extra]:
    """Yield the lists of categories, which name all that occur in the training data."""
    sizes = [len(names) for names in columns if names]
    if sizes:
        says = f"every category that occurred in {len(sizes):,} columns is named"
        yield Extra(kind="column-values", where=where, n=sum(sizes), says=says)


def targets_in(sizes: Iterable[Wide | None]) -> frozenset[Kind]:
    """Return what the steps of a model that predicts a number may tell of single people.

    Nothing where every tree tells the people of its leaves and nobody is alone.
    """
    told = all(size is not None and bool((size > 1).all()) for size in sizes)
    return frozenset() if told else frozenset({"targets"})


def row_seed(where: str, sampled: bool) -> Iterator[Extra]:
    """Yield the seed of a model whose trees each saw a part of the rows."""
    if sampled:
        says = "the seed from which the rows of each tree were drawn; not drawn again"
        yield Extra(kind="seeds", where=where, n=1, says=says)
