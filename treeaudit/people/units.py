"""In which units the numbers of a model are: those of a table, or of a target that was changed."""

from treeaudit.model.forest import Forest

__all__ = ["changed_target"]

_CHANGED = "units of the changed target"


def changed_target(forest: Forest) -> bool:
    """Tell whether the leaves of a model hold other numbers than those that it answers.

    A target was changed before the trees saw it, as by its logarithm: what is measured in
    the units of a table is then no measure of what is in the leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.compose import TransformedTargetRegressor
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from treeaudit import load
    >>> tree = DecisionTreeRegressor(max_depth=1)
    >>> x, y = [[1], [2], [3], [4]], [1.0, 2.0, 3.0, 5.0]
    >>> logarithm = TransformedTargetRegressor(tree, func=np.log, inverse_func=np.exp)
    >>> changed_target(load(logarithm.fit(x, y)))
    True
    >>> changed_target(load(tree.fit(x, y)))
    False
    """
    return any(_CHANGED in said for said in forest.warnings)
