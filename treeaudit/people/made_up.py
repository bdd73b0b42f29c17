"""Are some records no people, but made between people? One hint, worded as suspicion.

SMOTE and its kin put new records between two of the smallest class until the
classes are equally large: whole numbers become fractions, in that class alone.

References
----------
Chawla et al. (2002), SMOTE: synthetic minority over-sampling technique.
"""

from typing import TYPE_CHECKING

import numpy as np

from treeaudit.arrays import Int

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["look_made_up"]

_WHOLE = 0.5


def look_made_up(frame: "pd.DataFrame", labels: Int) -> list[str]:
    """Return columns of whole numbers in which fractions stand for some labels only.

    Empty unless the labels are balanced to the record, and none of these columns has
    a fraction where the label is another.

    Examples
    --------
    >>> import pandas as pd
    >>> age = pd.DataFrame({"age": [30.0, 41.0, 52.0, 30.0, 35.5, 40.0]})
    >>> look_made_up(age, np.array([0, 0, 0, 1, 1, 1]))
    ['age']
    >>> look_made_up(age, np.array([0, 0, 1, 1, 1, 1]))
    []
    """
    times = np.bincount(labels)
    times = times[times > 0]
    if len(times) < 2 or len(set(times.tolist())) > 1:
        return []
    found = []
    for name in frame:
        if frame[name].dtype.kind != "f":
            continue
        values = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        broken = np.isfinite(values) & (values != np.rint(values))
        # A class with no fraction at all has been left as it was measured.
        untouched = len(times) - len(np.unique(labels[broken]))
        if broken.any() and untouched and broken.mean() < _WHOLE:
            found.append(str(name))
    return found
