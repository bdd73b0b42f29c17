"""Texts and numbers that a format has room for and that no tree needs: a few of them pass."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from treeaudit.model.leftovers import Leftover

__all__ = ["spare", "spare_columns"]

_MOST = 16_384
_PER_COLUMN = 128


def spare(
    n: float, where: str, what: str, advice: str = "train on the columns that are needed"
) -> Iterator[Leftover]:
    """Yield what is too much of what no tree needs: nobody can tell it from a message.

    Parameters
    ----------
    n
        How many bytes there are.
    where, what
        Where they stand, and of what they are.
    advice
        What makes them fewer.

    Examples
    --------
    >>> [one.kind for n in (16_384, 16_385) for one in spare(n, "names", "names")]
    ['unseen']
    """
    if n > _MOST:
        says = f"{n:,.0f} bytes of {what} that no tree needs, which nobody can tell from a message"
        yield Leftover(kind="unseen", where=where, n=1, says=f"{says}: {advice}")


def spare_columns(
    where: str,
    names: Sequence[object],
    categories: Mapping[int, Sequence[object]],
    tested: Collection[int],
    more: int = 0,
) -> Iterator[Leftover]:
    """Yield the names and categories of columns, where they are more than the trees need.

    Parameters
    ----------
    where
        Where they stand.
    names, categories
        Of all columns; of some, by their number.
    tested
        The columns that the trees test: each has a name, and 128 bytes of categories.
    more
        Bytes of other texts and numbers that the format has room for.
    """
    needed = frozenset(tested)
    texts = [name for i, name in enumerate(names) if i not in needed]
    texts += [text for each in categories.values() for text in each]
    n = sum(len(str(text).encode("utf-8", "surrogatepass")) for text in texts)
    yield from spare(n + more - _PER_COLUMN * len(tested), where, "names, categories and settings")
