"""How deep a random tree should be, from the number of its columns alone.

References
----------
Fletcher & Islam (2017), theorem 2 and table 4, which differ.
"""

__all__ = ["table_depth", "theorem_depth"]


def theorem_depth(n_numeric: int, n_categorical: int) -> int:
    """Return the depth of theorem 2: half of the features are expected to be asked about.

    The smallest d with ``s ((s - 1) / s)^d < s / 2`` for s numeric features,
    plus half of the categorical ones, rounded down.

    Examples
    --------
    >>> theorem_depth(5, 0), theorem_depth(6, 8), theorem_depth(0, 22)
    (4, 8, 11)
    """
    depth = n_categorical // 2
    if n_numeric:
        unasked, levels = float(n_numeric), 0
        while unasked >= n_numeric / 2:
            levels += 1
            unasked = n_numeric * ((n_numeric - 1) / n_numeric) ** levels
        depth += levels
    return max(1, depth)


def table_depth(n_numeric: int, n_categorical: int) -> int:
    """Return the depth of table 4: one more than theorem 2 where there are numeric features.

    Examples
    --------
    >>> table_depth(5, 0), table_depth(6, 8), table_depth(0, 22)
    (5, 9, 11)
    """
    return theorem_depth(n_numeric, n_categorical) + (n_numeric > 0)
