"""Types of arrays that are written where no array is."""

import numpy as np

from treeaudit.readers.pickles.dtypes import DType

__all__ = ["type_alone"]


def type_alone(kind: DType) -> np.dtype[np.generic]:
    """Return the numpy dtype of a stored type where no array is of it: that of objects holds none.

    Raises
    ------
    ReadError
        As `DType.build` does.

    Examples
    --------
    >>> type_alone(DType("O8"))
    dtype('O')
    """
    return np.dtype(object) if kind.is_object else kind.build()
