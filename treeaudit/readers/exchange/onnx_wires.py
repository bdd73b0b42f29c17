"""Which operations of an ONNX graph the answers of a tree ensemble depend on."""

from collections.abc import Mapping

import numpy as np

from treeaudit.dataclass import dataclass
from treeaudit.readers.exchange.onnx_columns import numbers
from treeaudit.readers.exchange.onnx_graph import Attribute, Graph, GraphNode

__all__ = ["Wires", "spare_numbers", "wires_of"]

_MODES = "nodes_modes"
_OF_LEAVES = tuple(
    f"nodes_{name}"
    for name in "values featureids truenodeids falsenodeids missing_value_tracks_true".split()
)
_FLAGS = tuple(f"nodes_{name}" for name in "missing_value_tracks_true trueleafs falseleafs".split())
_LEAF = 255


@dataclass(frozen=True, slots=True)
class Wires:
    """What is connected to an ensemble.

    Attributes
    ----------
    nodes
        Where the messages of the operations lie in the file.
    tensors
        The names that they take and give.
    """

    nodes: frozenset[int]
    tensors: frozenset[str]


def wires_of(graph: Graph, chosen: GraphNode) -> Wires:
    """Return what the answers that come from an ensemble are made of."""
    after = set(chosen.outputs)
    # The nodes of a graph stand in the order in which they can run.
    for node in graph.nodes:
        if after.intersection(node.inputs):
            after.update(node.outputs)
    made_by = {output: node for node in graph.nodes for output in node.outputs}
    todo = [name for name in graph.outputs if name in after] + [*chosen.outputs]
    tensors: set[str] = set()
    nodes: set[int] = set()
    while todo:
        name = todo.pop()
        if name in tensors:
            continue
        tensors.add(name)
        producer = made_by.get(name)
        if producer is not None:
            nodes.add(producer.message.at)
            tensors.update(producer.outputs)
            todo += [one for one in producer.inputs if one not in tensors]
    return Wires(frozenset(nodes), frozenset(tensors))


def spare_numbers(attributes: Mapping[str, Attribute]) -> int:
    """Count the numbers of an ensemble that no tree needs: those that leaves do not ask with."""
    n = 0
    modes = attributes[_MODES].modes if _MODES in attributes else None
    if modes is not None:
        leaf = modes == _LEAF
        for name in _OF_LEAVES:
            found = numbers(attributes, name, None, "f")
            if found is not None and len(found) == len(leaf):
                n += int(np.count_nonzero(found[leaf]))
    n += _odd_ids(attributes)
    for name in _FLAGS:
        found = numbers(attributes, name)
        n += 0 if found is None else int(np.count_nonzero((found != 0) & (found != 1)))
    weights = numbers(attributes, "leaf_weights", None, "f")
    if weights is not None:
        used: set[int] = set()
        for side in ("true", "false"):
            child = numbers(attributes, f"nodes_{side}nodeids")
            leaves = numbers(attributes, f"nodes_{side}leafs")
            if child is not None and leaves is not None and len(child) == len(leaves):
                used.update(child[leaves != 0].tolist())
        n += len(weights) - len(used)
    for name in attributes:
        if f"{name}_as_tensor" in attributes:
            found = numbers(attributes, name, None, "f")
            n += 0 if found is None else len(found)
    return n


def _odd_ids(attributes: Mapping[str, Attribute]) -> int:
    """Count the ids of trees and nodes that are not the number of what they name."""
    found = [numbers(attributes, f"nodes_{name}") for name in ("treeids", "nodeids")]
    if any(ids is None for ids in found) or len({len(ids) for ids in found if ids is not None}) > 1:
        return 0
    tree, node = (np.asarray(ids, dtype=np.int64) for ids in found)
    first = np.concatenate([[True], tree[1:] != tree[:-1]])
    begin = np.flatnonzero(first)
    place = np.arange(len(tree)) - np.repeat(begin, np.diff([*begin, len(tree)]))
    # Some writers count from one.
    odd = (node != place + node[begin[0]]) | (tree != np.cumsum(first) - 1 + tree[0])
    n = int(np.count_nonzero(odd))
    return n + int(not 0 <= tree[0] <= 1) + int(not 0 <= node[0] <= 1)
