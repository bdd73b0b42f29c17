"""Whether leaves tell of exactly the people who end in them, and whom that makes certain.

Trees that were grown on draws say something of others; the steps of a boosting say it in their own
way.
"""

import numpy as np

from treeaudit.arrays import Float
from treeaudit.attacks.case import Case
from treeaudit.attacks.composition.certain import Certain, certain_of
from treeaudit.attacks.composition.equations import Said, said_by, said_by_people
from treeaudit.attacks.composition.scope import adds_steps
from treeaudit.attacks.composition.truth import Truth
from treeaudit.inference.scope import draws_samples
from treeaudit.model.forest import Forest
from treeaudit.people.predict.boosted_scores import column_of_each_tree, told_of
from treeaudit.people.predict.newton_steps import told_by_steps
from treeaudit.people.records import Records

__all__ = ["certain_people", "draws_known", "frequent"]


def draws_known(forest: Forest, train: Records) -> bool:
    """Tell whether what a leaf says is true of exactly the people who end in it.

    Where the file does not tell who is in a tree, since leaves were taken out of it, the others
    do: each holds as many people as end in it.
    """
    counted = forest.counts_are in ("exact", "likely") or forest.schema.classes is None
    if forest.records_are != "unknown" or not counted:
        return forest.records_are == "all" and counted
    for i, tree in enumerate(forest.trees):
        if tree.n_records is None:
            return False
        told = tree.is_leaf & (tree.n_records > 0)
        ends = np.bincount(train.node[:, i], minlength=tree.n_nodes)
        if (ends != tree.n_records)[told].any():
            return False
    return True


def certain_people(case: Case, said: Said, truth: Truth) -> Certain:
    """Return of whom the leaves make something certain, where a tree may hold everybody.

    Whether what a leaf says is true of those who end in it, these show.
    """
    forest, train = case.forest, case.people("train")
    if forest.records_are in ("bootstrap", "disjoint") or forest.privacy is not None:
        return Certain()
    if adds_steps(forest):
        return _certain_by_steps(case, said, truth)
    if said.kind != "numbers" and forest.counts_are == "noisy":
        return Certain()
    found = certain_of(said, truth, case.k, train.persons)
    if found.exact or said.kind == "numbers" or draws_known(forest, train):
        return found
    # Where labels were weighed against how frequent they are: they may be plain shares.
    return certain_of(said_by(forest, train.node), truth, case.k, train.persons)


def _certain_by_steps(case: Case, said: Said, truth: Truth) -> Certain:
    """Return the same of a boosting of one score, by what its steps themselves say."""
    forest, train = case.forest, case.people("train")
    column = column_of_each_tree(forest)
    if column is None or said.column is not None or draws_samples(forest):
        return Certain()
    told = told_by_steps(forest, train.node, told_of(train))
    if told is None:
        return Certain()
    return certain_of(said_by_people(forest, train, column, told), truth, case.k, train.persons)


def frequent(forest: Forest, train: Records) -> Float | None:
    """Return how frequent each label is, which is public; None where that is not asked for."""
    classes = forest.schema.classes
    if classes is None or forest.counts_are == "noisy":
        return None
    return np.bincount(train.known_labels, minlength=len(classes)) / len(train)
