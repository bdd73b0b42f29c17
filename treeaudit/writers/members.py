"""The members of an ensemble, one for each tree, and how many rows they drew."""

import copy
from collections.abc import Mapping
from typing import Any

from treeaudit.model.forest import Forest
from treeaudit.writers.node_tables import answers_of, grown
from treeaudit.writers.templates import Live, with_parameters

__all__ = ["members_like", "state_draws"]


def members_like(example: Live, forest: Forest, stated: Mapping[str, Any]) -> list[Live]:
    """Return one estimator for each tree.

    Parameters
    ----------
    example
        A member that the installed scikit-learn fitted on made-up rows.
    stated
        The parameters of the model; a member takes those that it knows.
    """
    n_features = len(forest.schema.features)
    shaped = with_parameters(copy.deepcopy(example), stated)
    members = []
    for i, tree in enumerate(forest.trees):
        member = copy.copy(shaped)
        member.tree_ = grown(example.tree_, tree, answers_of(tree, forest, i), n_features)
        members.append(member)
    return members


def state_draws(made: Live, forest: Forest, draws: str) -> None:
    """State rows and draws where they are known: they say what the counts are.

    The attribute ``draws`` is where this kind of ensemble keeps its draws for each tree.
    """
    for name in ("_n_samples", draws):
        if hasattr(made, name):
            delattr(made, name)
    if forest.n_records is not None:
        made._n_samples = forest.n_records
    first = forest.trees[0]
    if forest.records_are == "bootstrap" and first.counts is not None:
        each = [tree.counts[0].sum() for tree in forest.trees if tree.counts is not None]
        if len(set(each)) == 1 and float(each[0]).is_integer():
            setattr(made, draws, int(each[0]))
