"""Names of the array types."""

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Flag", "Float", "Index", "Int", "Wide"]

Array = npt.NDArray[np.generic]
Flag = npt.NDArray[np.bool_]
Float = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
Int = npt.NDArray[np.int32]
Wide = npt.NDArray[np.int64]
