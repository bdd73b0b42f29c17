"""What an ONNX file holds beside the tree ensemble that is audited.

Every field of the format that the ensemble needs is listed; a text or a table
of numbers anywhere else is named. Only tables too short to be records explain
themselves; one of a number per column may hold the extremes of the columns.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from treeaudit.model.leftovers import Kind, Leftover
from treeaudit.readers.exchange.onnx_graph import Attribute, Graph, GraphNode, read_node
from treeaudit.readers.exchange.protobuf import BYTES, VARINT, Field, Message, varints
from treeaudit.readers.leftovers.leftover_rows import FEWEST_RECORDS
from treeaudit.readers.leftovers.unexplained import Few
from treeaudit.readers.limits import Deepest, bare, show

__all__ = ["ENSEMBLES", "beside"]

ENSEMBLES = ("TreeEnsembleClassifier", "TreeEnsembleRegressor", "TreeEnsemble")
"""The operators that hold trees."""

_MANY_CATEGORIES = 100
_LONGEST_TEXT = 200
_HEADER = 300
_DOMAINS = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft")
_OF_MODEL = {6: "doc_string", 14: "metadata_props", 20: "training_info", 26: "configuration"}
_OF_GRAPH = {
    10: "doc_string",
    14: "quantization_annotation",
    15: "sparse_initializer",
    16: "metadata_props",
}
_OF_FUNCTION = {8: "doc_string", 14: "metadata_props"}
_OF_NODE = {6: "doc_string", 9: "metadata_props", 10: "device_configurations"}
_OF_TENSOR = {12: "doc_string", 16: "metadata_props"}
_COLUMNS = "nodeids featureids hitrates missing_value_tracks_true modes splits treeids values"
_EXPLAINED = frozenset(
    (
        *(f"nodes_{name}" for name in (*_COLUMNS.split(), "truenodeids", "falsenodeids")),
        *("nodes_trueleafs", "nodes_falseleafs", "tree_roots", "membership_values"),
        *(f"{of}_{name}" for of in ("class", "target") for name in "treeids nodeids ids".split()),
        *("class_weights", "target_weights", "leaf_weights", "leaf_targetids", "n_targets"),
        *("classlabels_strings", "classlabels_int64s", "base_values"),
        *("post_transform", "aggregate_function"),
    )
)
# What these operators list, by the attribute.
_CATEGORIES = frozenset(
    (
        "cats_strings cats_int64s keys_strings keys_int64s keys_floats string_vocabulary "
        "int64_vocabulary pool_strings pool_int64s"
    ).split()
)
_FLOATS = (1, 10, 11)
_PER_COLUMN = "a number per column: the smallest or largest value, where columns were scaled by it"
_LABELS = frozenset({"classlabels_strings", "classlabels_int64s", "classlabels_ints"})


def beside(
    graph: Graph, chosen: GraphNode, attributes: Mapping[str, Attribute]
) -> tuple[Leftover, ...]:
    """Return what the file holds beside one of its ensembles.

    Parameters
    ----------
    graph
        The file.
    chosen
        The ensemble.
    attributes
        Of the ensemble, as they were read.
    """
    width = sum(given.width or 0 for given in graph.inputs.values())
    look = _Look(chosen=chosen, attributes=attributes, width=width)
    look.model(graph.model)
    return look.noted.found


@dataclass(slots=True, eq=False)
class _Look:
    chosen: GraphNode
    attributes: Mapping[str, Attribute]
    width: int
    noted: Few = field(default_factory=Few)
    domains: set[str] = field(default_factory=lambda: set(_DOMAINS))

    def _add(self, kind: Kind, where: str, n: int, says: str) -> None:
        self.noted.add(Leftover(kind=kind, where=where, n=n, says=says))

    def _other(self, where: str, message: Message, part: Field, names: Mapping[int, str]) -> None:
        """Name a field that no ensemble needs, unless it is empty."""
        n = part.end - part.at
        if part.wire == BYTES and not n:
            return
        name = names.get(part.number, f"field {part.number}")
        said = show(message.text(part), 60) if part.wire == BYTES else "a number"
        self._add("unseen", f"{where}{name}", n, f"no trees need it: {said}")

    def _name(self, where: str, message: Message, part: Field) -> None:
        if part.end - part.at > _LONGEST_TEXT:
            self._other(where, message, part, {part.number: "name"})

    def model(self, message: Message) -> None:
        graphs = 0
        functions = [message.message(part) for part in message.fields() if part.number == 25]
        for made in functions:
            self.domains.update(made.text(part) for part in made.fields() if part.number == 10)
        for made in functions:
            self.function(made)
        for part in message.fields():
            match part.number:
                case 1 | 5 | 8 | 25:
                    pass
                case 2 | 3 | 4:
                    self._name("", message, part)
                case 7:
                    graphs += 1
                    self.graph("graph", message.message(part), 0)
                case _:
                    self._other("", message, part, _OF_MODEL)
        if graphs > 1:
            self._add("unseen", "graph", graphs, "the file holds more than one graph")

    def function(self, message: Message) -> None:
        for part in message.fields():
            match part.number:
                case 7:
                    self.node("functions", message.message(part), 1)
                case 1 | 4 | 5 | 6 | 10 | 13:
                    self._name("functions.", message, part)
                case 9:
                    pass
                case _:
                    self._other("functions.", message, part, _OF_FUNCTION)

    def graph(self, where: str, message: Message, depth: int) -> None:
        if depth > Deepest.graphs:
            self._add("unseen", where, 1, "graphs are nested too deeply to be looked at")
            return
        for part in message.fields():
            match part.number:
                case 1:
                    self.node(where, message.message(part), depth)
                case 2:
                    self._name(f"{where}.", message, part)
                case 5:
                    self.tensor(f"{where}.initializer", message.message(part))
                case 11 | 12 | 13:
                    self._value(f"{where}.", message.message(part))
                case _:
                    self._other(f"{where}.", message, part, _OF_GRAPH)

    def _value(self, where: str, message: Message) -> None:
        for part in message.fields():
            if part.number == 1:
                self._name(where, message, part)
            elif part.number != 2:
                self._other(where, message, part, {3: "doc_string", 4: "metadata_props"})

    def node(self, above: str, message: Message, depth: int) -> None:
        node = read_node(message)
        where = f"{above}.{bare(node.name or node.operator)}"
        n_attributes = 0
        for part in message.fields():
            match part.number:
                case 1 | 2 | 3 | 4 | 7 | 8:
                    self._name(f"{where}.", message, part)
                case 5:
                    n_attributes += 1
                case _:
                    self._other(f"{where}.", message, part, _OF_NODE)
        if node.domain not in self.domains:
            says = f"an operator of {show(node.domain, 60)}, which is code that the file names"
            self._add("calls", where, 1, says)
        if message.at == self.chosen.message.at:
            self._ensemble(where, n_attributes)
            return
        if node.operator in ENSEMBLES:
            if depth:  # those of the graph itself are other models, and named by the reader
                self._add("unseen", where, 1, "a tree ensemble in a graph inside, not audited")
            return
        for name, attribute in node.attributes().items():
            self._attribute(f"{where}.{bare(name)}", node, name, attribute, depth)

    def _ensemble(self, where: str, n_attributes: int) -> None:
        if n_attributes != len(self.attributes):
            self._add("unseen", where, n_attributes, "an attribute of the trees stands there twice")
        for name, attribute in self.attributes.items():
            at = f"{where}.{bare(name)}"
            for message, part in attribute.unread:
                self._other(f"{at}.", message, part, {13: "doc_string"})
            if name.removesuffix("_as_tensor") not in _EXPLAINED:
                self._add("unseen", at, 1, "an attribute that no tree ensemble has")
            elif name.startswith("nodes_hitrates") and _differ(attribute):
                says = "how often each node was reached, which may count training records"
                self._add("unseen", at, 1, says)

    def _attribute(
        self, where: str, node: GraphNode, name: str, attribute: Attribute, depth: int
    ) -> None:
        for message, part in attribute.unread:
            if part.number in (6, 11):
                self.graph(where, message.message(part), depth + 1)
            else:
                self._other(f"{where}.", message, part, {13: "doc_string"})
        if isinstance(attribute.single, bytes) and len(attribute.single) > _LONGEST_TEXT:
            n = len(attribute.single)
            self._add("unseen", where, n, f"a text of {n:,} characters that no trees need")
        n = len(attribute.strings) + (0 if attribute.numbers is None else len(attribute.numbers))
        if node.operator.startswith("SVM") and name == "support_vectors":
            self._add("records", where, n, "the values of the records at the margin")
        elif node.operator == "Scaler" and name == "offset":
            self._add("extremes", where, n, _PER_COLUMN)
        elif name in _CATEGORIES:
            if n >= _MANY_CATEGORIES:
                says = f"{n:,} categories: more than a public list has"
                self._add("column-values", where, n, says)
        elif n >= FEWEST_RECORDS and n != self.width and name not in _LABELS:
            says = f"{n:,} entries that the trees do not use: they may be training records"
            self._add("unseen", where, n, says)

    def tensor(self, where: str, message: Message) -> None:
        sizes: list[int] = []
        name, kind, outside = "", 0, False
        for part in message.fields():
            match part.number:
                case 1 if part.wire == BYTES:
                    sizes += varints(message.bytes_of(part), part.at).tolist()
                case 1:
                    sizes.append(message.integer(part))
                case 2:
                    kind = message.integer(part)
                case 8:
                    name = bare(message.text(part))
                    self._name(f"{where}.", message, part)
                case 13:
                    outside = True
                case 14 if part.wire == VARINT:
                    outside = outside or part.value == 1
                case 12 | 16:
                    self._other(f"{where}.", message, part, _OF_TENSOR)
        at = f"{where}[{name}]"
        n = math.prod(max(size, 0) for size in sizes)
        if outside:
            self._add("unseen", at, n, "it lies in another file, which was not read")
        elif n == self.width and kind in _FLOATS:
            self._add("extremes", at, n, _PER_COLUMN)
        elif n >= FEWEST_RECORDS and n != self.width:
            shape = " × ".join(f"{size:,}" for size in sizes)
            says = f"{shape} numbers that the trees do not use: they may be training records"
            self._add("unseen", at, n, says)
        elif message.end - message.at > 8 * max(n, FEWEST_RECORDS) + _HEADER:
            says = "more bytes than its shape accounts for"
            self._add("unseen", at, message.end - message.at, says)


def _differ(attribute: Attribute) -> bool:
    return attribute.numbers is not None and len(np.unique(attribute.numbers)) > 1
