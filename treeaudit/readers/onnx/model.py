"""Tree ensembles in ONNX files: the operators of ai.onnx.ml, versions 1 to 5.

An ONNX file holds no people: neither how many rows are in a node nor how many
of each class. It holds the thresholds and what each leaf adds to the outputs.
"""

from dataclasses import replace

import numpy as np

from treeaudit.arrays import Int
from treeaudit.errors import DataError, ReadError, UnsupportedModelError
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.model.source import KINDS, Extras, Source
from treeaudit.model.tree import Tree
from treeaudit.readers.choice import choose, named
from treeaudit.readers.limits import Limits, Most, bare, listed, show
from treeaudit.readers.onnx.fields import ENSEMBLES, extra_content
from treeaudit.readers.onnx.graph import (
    Attribute,
    Graph,
    GraphInput,
    GraphNode,
    read_graph,
)
from treeaudit.readers.onnx.trees import Ensemble, from_leaf_table, from_node_table, numbers
from treeaudit.readers.open import Content

_SAME_COLUMNS = ("Cast", "Identity")
_DOUBLE = 11
_MODEL_FIELDS = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26})
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
_SUMS = ("AVERAGE", "SUM", "MIN", "MAX")


def matches(content: Content) -> bool:
    """Return whether the content is an ONNX model: its version, then fields it may have."""
    head = bytes(content.data[:64])
    if len(head) < 4 or head[0] != 0x08 or not 0 < head[1] < 0x40:
        return False
    key = (head[2] & 127) | head[3] << 7 if head[2] >= 128 else head[2]
    number, wire = key >> 3, key & 7
    return number in _MODEL_FIELDS and wire == (0 if number in (1, 5) else 2)


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the tree ensemble of an ONNX file; see `treeaudit.readers.Reader`."""
    data = memoryview(content.data)
    graph = read_graph(data, limits.instructions)
    nodes = _ensembles(graph)
    node = _choose(graph, nodes, select)
    attributes = node.attributes()
    labels, n_outputs = _outputs(node, attributes)
    if node.operator == "TreeEnsemble":
        columns = from_leaf_table(attributes, n_outputs)
    else:
        prefix = "class" if node.operator == "TreeEnsembleClassifier" else "target"
        columns = from_node_table(attributes, prefix, n_outputs)
    ensemble = Ensemble(columns)
    warnings: list[str] = []
    schema = _schema(graph, node, ensemble.n_features, labels, warnings)
    _notes(ensemble, attributes, warnings)
    parameters = _parameters(attributes)
    version = " ".join(part for part in (graph.producer, graph.version) if part)
    try:
        trees = LazyTrees(lambda i: _tree(ensemble, i, labels, attributes), ensemble.n_trees)
        return Forest(
            trees=trees,
            schema=schema,
            counts_are="absent",
            counts_reason="an ONNX tree ensemble holds no counts; it holds what each leaf adds to "
            "the outputs (for a classifier, shares of its classes)",
            answers="unknown" if parameters.get("aggregate_function") in ("MIN", "MAX") else "sum",
            records_are="unknown",
            single_precision=_single_precision(graph, node, attributes),
            source=replace(
                source,
                format="onnx",
                estimator=node.operator,
                inside=next(n for n, one in nodes if one is node) if len(nodes) > 1 else "",
                library_version=version or None,
                parameters=parameters,
            ),
            warnings=tuple(warnings),
            others={n: f"{one.operator} {show(n, 60)}" for n, one in nodes if one is not node},
            extras=Extras(
                found=extra_content(graph, node, attributes, ensemble),
                # Whose target the value of a leaf is cannot be told without counts.
                looked_for=KINDS if labels is not None else KINDS - {"targets"},
            ),
        )
    except DataError as error:
        raise ReadError(f"the tree ensemble is damaged: {error}") from None


def _ensembles(graph: Graph) -> list[tuple[str, GraphNode]]:
    """Return the tree ensembles, each with a name of its own."""
    nodes = (node for node in graph.nodes if node.operator in ENSEMBLES)
    return named((node.name, node.operator, node) for node in nodes)


def _choose(graph: Graph, nodes: list[tuple[str, GraphNode]], select: str | None) -> GraphNode:
    chosen = choose(nodes, select, "tree ensembles", bare)
    if chosen is None:
        what = listed(node.operator for node in graph.nodes) or "no operations at all"
        raise UnsupportedModelError(f"the ONNX file holds no tree ensemble, but {what}")
    return chosen


def _outputs(
    node: GraphNode, attributes: dict[str, Attribute]
) -> tuple[tuple[Label, ...] | None, int]:
    """Return the class labels, if any, and how many outputs leaves may vote for."""
    if node.operator != "TreeEnsembleClassifier":
        value = attributes["n_targets"].single if "n_targets" in attributes else 1
        if not isinstance(value, int) or not 0 < value <= Most.features:
            raise ReadError("the tree ensemble is damaged: it has an impossible number of targets")
        return None, value
    labels: tuple[Label, ...] = ()
    if "classlabels_strings" in attributes:
        stored = attributes["classlabels_strings"].strings
        labels = tuple(text.decode("utf-8", "backslashreplace") for text in stored)
    if not labels:
        whole = numbers(attributes, "classlabels_int64s")
        labels = () if whole is None else tuple(int(label) for label in whole.tolist())
    if not 0 < len(labels) <= Most.features:
        raise ReadError("the tree ensemble is damaged: it does not name its classes")
    # With two classes, votes may all be for the one; with one label, for itself or the other.
    return labels, len(labels)


def _schema(
    graph: Graph,
    node: GraphNode,
    n_tested: int,
    labels: tuple[Label, ...] | None,
    warnings: list[str],
) -> Schema:
    columns, steps = _columns(graph, node.inputs[0] if node.inputs else "")
    if steps:
        warnings.append(
            f"the graph transforms the columns first ({', '.join(steps[:8])}): conditions are "
            "about the columns that the tree ensemble is given"
        )
    if columns is not None and len(columns) < n_tested:
        warnings.append(
            f"the input has {len(columns):,} columns and the trees test {n_tested:,}: whoever "
            "converted the model stated too few"
        )
        columns = None
    if columns is None:
        return Schema.numeric(max(n_tested, 1), labels)
    if len(columns) > 1 and all(column is None for column in columns):
        return Schema.numeric(len(columns), labels)
    named = [f"x{i}" if name is None else name for i, name in enumerate(columns)]
    return Schema(features=tuple(Feature(name=name) for name in named), classes=labels)


def _columns(graph: Graph, tensor: str) -> tuple[list[str | None] | None, list[str]]:
    """Return the columns that reach a tensor, if known, and what transforms them before."""
    made_by = {output: node for node in graph.nodes for output in node.outputs}
    columns: list[str | None] | None = []
    steps: dict[str, None] = {}
    todo, n_visited = [tensor], 0
    visited: set[str] = set()
    while todo:
        name = todo.pop()
        n_visited += 1
        producer = made_by.get(name)
        if producer is None:
            given = graph.inputs.get(name)
            wide = given is None or given.width is None or not 0 < given.width <= Most.features
            if columns is not None and not wide and given is not None:
                columns += _names(given)
                if len(columns) <= Most.features:
                    continue
            columns = None
            continue
        if name in visited or n_visited > Most.steps:
            columns = None
            continue
        visited.add(name)
        if producer.operator not in (*_SAME_COLUMNS, "Concat"):
            steps[bare(producer.operator, 40)] = None
            columns = None
        todo.extend(reversed(producer.inputs))
    return columns, list(steps)


def _names(given: GraphInput) -> list[str | None]:
    width = given.width or 0
    return [given.name] if width == 1 else [None] * width


def _single_precision(graph: Graph, node: GraphNode, attributes: dict[str, Attribute]) -> bool:
    """Return whether inputs are compared as 32-bit numbers, as all but doubles are."""
    tensor = node.inputs[0] if node.inputs else ""
    producer = next((n for n in graph.nodes if tensor in n.outputs), None)
    if producer is not None and producer.operator == "Cast":
        to = producer.attributes().get("to")
        return to is None or to.single != _DOUBLE
    given = graph.inputs.get(tensor)
    if given is not None and given.element:
        return given.element != _DOUBLE
    stored = [a.numbers for n, a in attributes.items() if n.startswith("nodes_")]
    return not any(found is not None and found.dtype == np.float64 for found in stored)


def _notes(ensemble: Ensemble, attributes: dict[str, Attribute], warnings: list[str]) -> None:
    if ensemble.has_open_edges:
        warnings.append(
            "the model tests whether a column equals a value: the edge of all other values is "
            "shown as open"
        )
    if ensemble.n_cut_off:
        warnings.append(
            f"{ensemble.n_cut_off:,} nodes are cut off from every root but still in the file"
        )
    rates = numbers(attributes, "nodes_hitrates", None, "f")
    if rates is not None and len(np.unique(rates)) > 1:
        warnings.append(
            "nodes_hitrates says how often each node was reached, which may count training rows"
        )


def _parameters(attributes: dict[str, Attribute]) -> dict[str, str]:
    names = {"post_transform": _TRANSFORMS, "aggregate_function": _SUMS}
    found: dict[str, str] = {}
    for name, choices in names.items():
        value = attributes[name].single if name in attributes else None
        if isinstance(value, bytes):
            found[name] = value[:40].decode("ascii", "backslashreplace")
        elif isinstance(value, int) and 0 <= value < len(choices):
            found[name] = choices[value]
    return found


def _tree(
    ensemble: Ensemble,
    index: int,
    labels: tuple[Label, ...] | None,
    attributes: dict[str, Attribute],
) -> Tree:
    try:
        tree = ensemble.tree(index)
    except DataError as error:
        raise ReadError(f"tree {index} of the ensemble is damaged: {error}") from None
    if labels is None or ensemble.n_trees != 1 or tree.n_nodes * len(labels) > Most.cells:
        return tree
    label = _labels(ensemble, tree, len(labels), attributes)
    return replace(tree, label=label, value=None) if label is not None else tree


def _labels(
    ensemble: Ensemble, tree: Tree, width: int, attributes: dict[str, Attribute]
) -> Int | None:
    """Return the class that each leaf of a single tree votes for, where votes are plain."""
    plain = not any(n in attributes for n in ("base_values", "base_values_as_tensor"))
    if not plain or _parameters(attributes).get("post_transform", "NONE") != "NONE":
        return None
    node, output, weight = ensemble.votes(0)
    voted = np.zeros((tree.n_nodes, width), dtype=np.bool_)
    total = np.zeros((tree.n_nodes, width))
    voted[node, output] = True
    np.add.at(total, (node, output), weight)
    if width < 2 or not voted[tree.leaves].all():
        return None
    best: Int = total.argmax(axis=1).astype(np.int32)
    return best
