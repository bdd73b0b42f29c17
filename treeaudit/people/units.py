"""In which units the numbers of a model are: those of a table, or of a target that was changed."""

from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.people.checks.leaf_values import means_add_up

__all__ = ["changed_target", "may_be_clipped"]

_CHANGED, _CLIPPED = "units of the changed target", "clip the numbers in its leaves"


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


def may_be_clipped(forest: Forest, tree: Tree) -> bool:
    """Tell whether leaves may hold other numbers than means, which constraints keep in order.

    Nothing was clipped in a tree of everybody whose nodes have the means of those below them.
    """
    if not any(_CLIPPED in said for said in forest.warnings):
        return False
    whole = forest.records_are == "all" and tree.value is not None
    return not whole or tree.value is None or not means_add_up(tree, tree.value)
