"""A forest as plain data, for the pickle of a trainer: no class of ours is needed to read it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.own_json import forest_of
from treeaudit.writers.own_json import to_dict

__all__ = ["pack", "unpack"]

_ARRAYS = ("parent", "feature", "low", "high", "missing", "counts", "label", "value")


def pack(forest: Forest) -> dict[str, Any]:
    """Return the JSON form of a forest, with arrays in the place of lists.

    Examples
    --------
    >>> from treeaudit.model.schema import Schema
    >>> root = Tree(parent=[-1], feature=[-1], low=[-1.0], high=[1.0], label=[0])
    >>> model = Forest(trees=(root,), schema=Schema.numeric(1, ["no", "yes"]))
    >>> unpack(pack(model)).trees[0].label.tolist()
    [0]
    """
    return {**to_dict(replace(forest, trees=())), "trees": [_tree(tree) for tree in forest.trees]}


def _tree(tree: Tree) -> dict[str, Any]:
    form: dict[str, Any] = {name: getattr(tree, name) for name in _ARRAYS}
    if tree.categories is not None:
        form["categories"] = {"start": tree.categories.start, "codes": tree.categories.codes}
    return {name: array for name, array in form.items() if array is not None}


def unpack(data: Mapping[str, Any]) -> Forest:
    """Return the forest that `pack` took apart."""
    return forest_of(data, Source())
