"""A small public schema, and people who fit it."""

import numpy as np
import pandas as pd

from treeaudit.model.schema import Feature, Schema

SCHEMA = Schema(
    features=(
        Feature(name="age", low=0.0, high=100.0),
        Feature(name="sex", categories=("f", "m", "x")),
        Feature(name="dose", low=-1.0, high=1.0),
    ),
    classes=("no", "yes"),
    target="ill",
)


def people(n: int = 600, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return people of whom the old ones are ill."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n),
            "sex": rng.choice(["f", "m"], n),
            "dose": rng.uniform(-1, 1, n),
        }
    )
    return frame, np.where(frame["age"] > 50, "yes", "no")
