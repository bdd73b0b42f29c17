"""The class labels that the scikit-learn wrapper of another library stored."""

import numpy as np

from treeaudit.model.schema import Label
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import clean

__all__ = ["stored_classes"]


def stored_classes(stored: object, numbered: tuple[Label, ...] | None) -> tuple[Label, ...] | None:
    """Return the labels of the wrapper where they fit the classes of the model.

    Parameters
    ----------
    stored
        What the wrapper holds as its classes, as read from the file.
    numbered
        The classes of the model: 0, 1, … or None where it has none.

    Examples
    --------
    >>> stored_classes(np.array(["no", "yes"]), (0, 1))
    ('no', 'yes')
    """
    labels = arrived(stored)
    labels = labels.tolist() if isinstance(labels, np.ndarray) else labels
    if numbered is None or not isinstance(labels, list) or len(labels) != len(numbered):
        return numbered
    if not all(isinstance(label, str | int | float) for label in labels):
        return numbered
    return tuple(clean(label) if isinstance(label, str) else label for label in labels)
