"""What is known of the population before anybody sees the model."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Prior"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prior:
    """Public shares of the classes.

    Attributes
    ----------
    feature
        Position of the column that the shares depend on.
    values
        Its values, as the model codes them.
    share
        Shape ``(n_values, n_classes)``: rows add up to 1.
    origin
        What to call it in messages.
    """

    feature: int
    values: npt.NDArray[np.float64]
    share: npt.NDArray[np.float64]
    origin: str = "the prior"
