"""Many small trees as one table: what holds for all of it holds for each of them.

A tree of thirty nodes takes as many calls as one of thirty thousand. Those of a forest are
put in a row and looked at together.
"""

from collections.abc import Iterator, Sequence

SMALL = 1 << 11
"""Nodes up to which a tree is looked at together with others: a row is a copy of its trees."""
_MOST = 1 << 15


def in_rows(sizes: Sequence[int]) -> Iterator[slice]:
    """Yield which of some trees to look at together, by how many nodes they have.

    Examples
    --------
    >>> list(in_rows([3, 9, 100_000, 5]))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    begin = total = 0
    for i, n in enumerate(sizes):
        alone = _MOST if n > SMALL else n
        if i > begin and total + alone > _MOST:
            yield slice(begin, i)
            begin, total = i, 0
        total += alone
    if sizes:
        yield slice(begin, len(sizes))
