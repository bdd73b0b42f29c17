"""What an ONNX file holds beside the tree ensemble that is audited.

Every field of the format that the ensemble needs is listed; a text or a table
of numbers anywhere else is named. Only tables too short to be records explain
themselves; one of a number per column may hold the extremes of the columns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field

from treeaudit.dataclass import dataclass
from treeaudit.model.leftovers import Leftover
from treeaudit.readers.exchange.onnx_attributes import LABELS, odd_attribute
from treeaudit.readers.exchange.onnx_columns import numbers
from treeaudit.readers.exchange.onnx_fields import (
    OF_FUNCTION,
    OF_GRAPH,
    OF_MODEL,
    OF_NODE,
    TYPE,
)
from treeaudit.readers.exchange.onnx_graph import Attribute, Graph, GraphNode, read_node
from treeaudit.readers.exchange.onnx_notes import LONGEST_TEXT, PER_COLUMN, Notes, shown
from treeaudit.readers.exchange.onnx_trees import Ensemble
from treeaudit.readers.exchange.onnx_wires import spare_numbers, wires_of
from treeaudit.readers.exchange.protobuf import Message
from treeaudit.readers.leftovers.booster_parts import is_name
from treeaudit.readers.leftovers.extra import extra, size_of
from treeaudit.readers.leftovers.spare import spare_columns
from treeaudit.readers.limits import Deepest, bare, clean, show

__all__ = ["ENSEMBLES", "beside"]

ENSEMBLES = ("TreeEnsembleClassifier", "TreeEnsembleRegressor", "TreeEnsemble")
"""The operators that hold trees."""

_MANY_CATEGORIES = 100
_LONGEST_WORD = 60
_INPUT = 11
# Numbers that steps around the trees may hold for each column and class, and beside them.
_PER_NUMBER, _FEW_NUMBERS = 4, 64
_MOST_VERSION = 1000
_FEWEST_OUTPUTS = 2
_TWICE = "the same operators are named twice"
_DOMAINS = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft")
# What these operators list, by the attribute.
_CATEGORIES = frozenset(
    (
        "cats_strings cats_int64s keys_strings keys_int64s keys_floats string_vocabulary "
        "int64_vocabulary pool_strings pool_int64s"
    ).split()
)


def beside(
    graph: Graph,
    chosen: GraphNode,
    attributes: Mapping[str, Attribute],
    ensemble: Ensemble,
    labels: Sequence[object],
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
    ensemble, labels
        Its trees, and the classes that it names.
    """
    width = sum(given.width or 0 for given in graph.inputs.values())
    size = width + len(labels)
    look = _Look(
        labels=labels,
        chosen=chosen,
        attributes=attributes,
        width=width,
        wires=wires_of(graph, chosen),
        left=_PER_NUMBER * size + _FEW_NUMBERS,
        columns=frozenset(graph.inputs),
        own=frozenset(tensor.at for part in attributes.values() for tensor in part.tensors),
    )
    look.model(graph.model)
    if n := 8 * (ensemble.n_spare + spare_numbers(attributes)):
        says = f"{n:,} bytes of nodes, leaves and votes that no tree uses"
        look.noted.add(Leftover(kind="extra", where=bare(chosen.name), n=n, says=says))
    outputs = max(_FEWEST_OUTPUTS, ensemble.n_outputs)
    base = numbers(attributes, "base_values", None, "f")
    odd = [label for i, label in enumerate(labels) if i >= outputs or not is_name(label)]
    odd += [] if base is None else base.tolist()[outputs:]
    if odd:
        look.noted.add(extra(f"{bare(chosen.name)}: labels and starts", odd))
    names = [given.name for given in graph.inputs.values()]
    tested = () if len(names) < width else ensemble.tested
    for one in spare_columns("the graph", names, {0: [*look.texts]}, tested, look.held):
        look.noted.add(one)
    return look.noted.found


@dataclass(slots=True, eq=False, kw_only=True)
class _Look(Notes):
    """What is looked at beside the trees."""

    labels: Sequence[object]
    chosen: GraphNode
    attributes: Mapping[str, Attribute]
    named: set[tuple[int, str]] = field(default_factory=set)
    domains: set[str] = field(default_factory=lambda: set(_DOMAINS))

    def model(self, message: Message) -> None:
        graphs, domains = 0, set[str]()
        self.once("", message, frozenset(range(1, 7)))
        functions = [message.message(part) for part in message.fields() if part.number == 25]
        for made in functions:
            self.domains.update(made.text(part) for part in made.fields() if part.number == 10)
        for made in functions:
            self.function(made)
        for part in message.fields():
            match part.number:
                case 1 | 5 if part.value <= _MOST_VERSION:
                    pass
                case 25:
                    pass
                case 8:
                    self._operators(message.message(part), domains)
                case 2 | 3 | 4:
                    self.name("", message, part)
                case 7:
                    graphs += 1
                    self.graph("graph", message.message(part), 0)
                case _:
                    self.other("", message, part, OF_MODEL)
        if graphs > 1:
            self.add("extra", "graph", graphs, "the file holds more than one graph")

    def _operators(self, message: Message, seen: set[str]) -> None:
        """Look at a set of operators that the file says it uses, each of them once."""
        self.once("opset_import.", message, frozenset({1, 2}))
        fields = {part.number: part for part in message.fields()}
        domain = message.text(fields[1]) if 1 in fields else ""
        for part in fields.values():
            if part.number == 1 and (domain not in self.domains or domain in seen):
                self.other("opset_import.", message, part, {1: "domain"})
            elif part.number > 2 or (part.number == 2 and part.value > _MOST_VERSION):
                self.other("opset_import.", message, part, {})
        if 1 not in fields and "" in seen:
            self.add("extra", "opset_import", max(message.end - message.at, 1), _TWICE)
        seen.add(domain)

    def function(self, message: Message) -> None:
        domains = set[str]()
        for part in message.fields():
            match part.number:
                case 7:
                    self.node("functions", message.message(part), 1)
                case 1 | 4 | 5 | 6 | 10 | 13:
                    self.name("functions.", message, part)
                case 9:
                    self._operators(message.message(part), domains)
                case _:
                    self.other("functions.", message, part, OF_FUNCTION)

    def graph(self, where: str, message: Message, depth: int) -> None:
        if depth > Deepest.graphs:
            self.add("unseen", where, 1, "graphs are nested too deeply to be looked at")
            return
        for part in message.fields():
            match part.number:
                case 1:
                    self.node(where, message.message(part), depth)
                case 2:
                    self.name(f"{where}.", message, part)
                case 5:
                    self.tensor(f"{where}.initializer", message.message(part), wired=depth == 0)
                case 11 | 12 | 13:
                    self._value(f"{where}.", message.message(part), part.number, wired=depth == 0)
                case _:
                    self.other(f"{where}.", message, part, OF_GRAPH)

    def _value(self, where: str, message: Message, field: int, *, wired: bool) -> None:
        self.once(where, message, frozenset({1, 2}))
        for part in message.fields():
            if part.number == 1:
                # A column may be called anything, but must be one that is used.
                name = clean(message.text(part))
                if (wired and name not in self.wires.tensors) or (field, name) in self.named:
                    self.other(where, message, part, {1: "name that nothing uses"})
                elif field != _INPUT or not is_name(name):
                    self.name(where, message, part)
                self.named.add((field * wired, name))
            elif part.number == 2:
                self.kind_of(f"{where}type.", message.message(part), TYPE)
            else:
                self.other(where, message, part, {3: "doc_string", 4: "metadata_props"})

    def node(self, above: str, message: Message, depth: int) -> None:
        node = read_node(message)
        where = f"{above}.{shown(node.name or node.operator)}"
        n_attributes = 0
        self.once(f"{where}.", message, frozenset({3, 4, 7, 8}))
        for part in message.fields():
            match part.number:
                case 1 if clean(message.text(part)) in self.columns:
                    pass
                case 1 | 2 | 3 | 4 | 7 | 8:
                    self.name(f"{where}.", message, part)
                case 5:
                    n_attributes += 1
                case _:
                    self.other(f"{where}.", message, part, OF_NODE)
        if node.domain not in self.domains:
            says = f"an operator of {show(node.domain, 60)}, which is code that the file names"
            self.add("calls", where, 1, says)
        if message.at == self.chosen.message.at:
            self._ensemble(where, n_attributes)
            return
        if node.operator in ENSEMBLES:
            if depth:  # those of the graph itself are other models, and named by the reader
                self.add("unseen", where, 1, "a tree ensemble in a graph inside, not audited")
            return
        if depth == 0 and message.at not in self.wires.nodes:
            n = message.end - message.at
            says = f"{n:,} bytes: an operation on which no answer of the trees depends"
            self.add("extra", where, n, says)
        stated = node.attributes()
        if len(stated) != n_attributes:
            says = "an attribute stands there twice"
            self.add("extra", where, message.end - message.at, says)
        for name, attribute in stated.items():
            self._attribute(f"{where}.{shown(name)}", node, name, attribute, depth)

    def _ensemble(self, where: str, n_attributes: int) -> None:
        if n_attributes != len(self.attributes):
            self.add("extra", where, n_attributes, "an attribute of the trees stands there twice")
        for name, attribute in self.attributes.items():
            at = f"{where}.{shown(name)}"
            for message, part in attribute.unread:
                self.other(f"{at}.", message, part, {13: "doc_string"})
            for tensor in attribute.tensors:
                self.tensor(at, tensor, wired=False)
            if says := odd_attribute(name, self.attributes, self.chosen.operator):
                n = size_of([attribute.numbers, attribute.strings, attribute.single])
                self.add("extra", at, n, says)

    def _attribute(
        self, where: str, node: GraphNode, name: str, attribute: Attribute, depth: int
    ) -> None:
        for message, part in attribute.unread:
            if part.number in (6, 11):
                self.graph(where, message.message(part), depth + 1)
            else:
                self.other(f"{where}.", message, part, {13: "doc_string"})
        for tensor in attribute.tensors:
            self.tensor(where, tensor, wired=False)
        single = attribute.single if isinstance(attribute.single, bytes) else b""
        longest = max(map(len, attribute.strings), default=0)
        texts = [text.decode("utf-8", "backslashreplace") for text in attribute.strings]
        self.texts.update(texts)
        if len(single) > _LONGEST_WORD or longest > LONGEST_TEXT or not all(map(is_name, texts)):
            n = len(single) + sum(map(len, attribute.strings))
            self.add("extra", where, n, f"{n:,} bytes of text that no trees need")
        stated = [*(texts or ([] if attribute.numbers is None else attribute.numbers.tolist()))]
        alike = {*map(type, stated)} == {*map(type, self.labels)}
        if name in LABELS and alike and stated != [*self.labels]:
            says = "labels in the place of those of the trees, or in another order"
            self.add("extra", where, size_of(stated), says)
        n = len(attribute.strings) + (0 if attribute.numbers is None else len(attribute.numbers))
        if node.operator.startswith("SVM") and name == "support_vectors":
            self.add("records", where, n, "the values of the records at the margin")
        elif node.operator == "Scaler" and name == "offset":
            self.add("extremes", where, n, PER_COLUMN)
        elif name in _CATEGORIES:
            if n >= _MANY_CATEGORIES:
                says = f"{n:,} categories: more than a public list has"
                self.add("column-values", where, n, says)
        elif not attribute.tensors and (not self.takes(n) or self.are_many(n, name)):
            says = f"{n:,} entries that the trees do not use: they may be training records"
            self.add("extra", where, 8 * n, says)
