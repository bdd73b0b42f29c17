"""Targets of single people, as the leaves of trees without impurities tell them."""

from collections.abc import Iterable

from treeaudit.model.extras import KINDS, Extra, Extras
from treeaudit.model.tree import Tree


def single_targets(trees: Iterable[Tree], *, means: bool) -> Extras:
    """Return the leaves of one person whose value is the target of that person.

    Examples
    --------
    >>> tree = Tree(parent=[-1], feature=[-1], low=[-9], high=[9], n_records=[1], value=[3.5])
    >>> [one.n for one in single_targets([tree], means=True).found]
    [1]
    >>> "targets" in single_targets([tree], means=False).looked_for
    False
    """
    alone = 0
    for tree in trees:
        if tree.n_records is None:
            return Extras(looked_for=KINDS - {"targets"})
        alone += int((tree.n_records[tree.leaves] == 1).sum())
    if not alone:
        return Extras(looked_for=KINDS)
    if not means:
        return Extras(looked_for=KINDS - {"targets"})
    says = f"the target of {alone:,} people is the value of their leaf"
    found = (Extra(kind="targets", where="values of leaves", n=alone, says=says),)
    return Extras(found=found, looked_for=KINDS)
