"""What arrays hold, for the signatures of readers."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]
Flag = npt.NDArray[np.bool_]
Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int32]
Table = npt.NDArray[np.void]
Wide = npt.NDArray[np.int64]
