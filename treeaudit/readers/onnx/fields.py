"""Content of an ONNX file beyond the tree ensemble that is audited.

Every field of the format that the model of a graph needs is known; others are listed by path and
size, and so are tables that no operation takes. A table as wide as the model with as many rows as
people may have is reported as records.
"""

import math
from collections.abc import Mapping

from treeaudit.model.source import FEWEST_RECORDS, Extra
from treeaudit.readers.limits import Deepest, bare, clean, show
from treeaudit.readers.onnx.graph import Attribute, Graph, GraphNode, read_node
from treeaudit.readers.onnx.protobuf import BYTES, Field, Message, varints
from treeaudit.readers.onnx.trees import Ensemble
from treeaudit.readers.residual.extra_content import size_of
from treeaudit.readers.residual.listing import LONGEST_NOTE, Listing, path_name

ENSEMBLES = ("TreeEnsembleClassifier", "TreeEnsembleRegressor", "TreeEnsemble")
"""The operators that hold trees."""

_VALUES = ("input", "output", "value_info")
_KNOWN: Mapping[str, tuple[str, Mapping[int, str]]] = {
    "model": (
        "1 2 3 4 5",
        {6: "@doc_string", 7: "graph", 8: "opset_import", 14: "metadata_props", 25: "functions"},
    ),
    "opset_import": ("1 2", {}),
    "metadata_props": ("1", {2: "@value"}),
    "functions": (
        "1 4 5 6 10 12 13",
        {7: "node", 8: "@doc_string", 9: "opset_import", 14: "metadata_props"},
    ),
    "graph": (
        "2",
        {
            **{1: "node", 5: "initializer", 10: "@doc_string", 16: "metadata_props"},
            **{11: "input", 12: "output", 13: "value_info"},
        },
    ),
    "node": ("1 2 3 4 5 7 8", {6: "@doc_string", 9: "metadata_props"}),
    **dict.fromkeys(_VALUES, ("1 2", {3: "@doc_string", 4: "metadata_props"})),
    "initializer": ("1 2 4 5 6 7 8 9 10 11 13 14", {12: "@doc_string", 16: "metadata_props"}),
}
"""By message: its known fields, and those that hold messages and texts of the author (@)."""

_UNNEEDED = {
    **{("model", 20): "training_info", ("model", 26): "configuration"},
    **{("graph", 14): "quantization_annotation", ("graph", 15): "sparse_initializer"},
}
_LONGEST_FIELD = 1_000
_COST = 10
_DOMAINS = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft")
_MANY_CATEGORIES = 100
# Of a tensor: bytes of an element at most, and the types of texts and of floats.
_WIDEST, _TEXTS, _FLOATS = 16, 8, (1, 10, 11)
_PER_COLUMN = "a number per column: the smallest or largest value, where columns were scaled by it"
_CATEGORIES = frozenset(
    (
        "cats_strings cats_int64s keys_strings keys_int64s keys_floats string_vocabulary "
        "int64_vocabulary pool_strings pool_int64s"
    ).split()
)
_OF_ENSEMBLES = frozenset(
    (
        "nodes_nodeids nodes_featureids nodes_hitrates nodes_missing_value_tracks_true nodes_modes "
        "nodes_splits nodes_treeids nodes_values nodes_truenodeids nodes_falsenodeids "
        "nodes_trueleafs nodes_falseleafs class_treeids class_nodeids class_ids class_weights "
        "target_treeids target_nodeids target_ids target_weights tree_roots membership_values "
        "leaf_weights leaf_targetids n_targets base_values post_transform aggregate_function "
        "classlabels_strings classlabels_int64s classlabels_ints"
    ).split()
)


def extra_content(
    graph: Graph, chosen: GraphNode, attributes: Mapping[str, Attribute], ensemble: Ensemble
) -> tuple[Extra, ...]:
    """Return the content of a file beyond one of its ensembles."""
    walk = _Walk(graph, chosen, attributes, ensemble)
    walk.message("model", graph.model, "", 0)
    for where, names, n in walk.made:
        if walk.inputs.isdisjoint(names):
            walk.listing.add(where, n, says=f"{n:,} bytes that no operation takes")
    if n := ensemble.n_cut_off:
        walk.listing.add(bare(chosen.name), n, says=f"{n:,} nodes that are cut off from every root")
    return walk.listing.extras


class _Walk:
    """Walks through the messages of a file."""

    def __init__(
        self,
        graph: Graph,
        chosen: GraphNode,
        attributes: Mapping[str, Attribute],
        ensemble: Ensemble,
    ) -> None:
        self.listing = Listing()
        # Tables and results of the graph with their sizes, and the names that operations take.
        self.made: list[tuple[str, tuple[str, ...], int]] = []
        self.inputs = {*graph.outputs}
        self._chosen, self._attributes = chosen, attributes
        self._width = sum(given.width or 0 for given in graph.inputs.values())
        # The columns of the file, and those that the trees are given.
        self._widths = {n for n in (self._width, ensemble.n_features) if n > 1}
        functions = (graph.model.message(f) for f in graph.model.fields() if f.number == 25)
        own = (one.text(part) for one in functions for part in one.fields() if part.number == 10)
        self._domains = {*_DOMAINS, *own}

    def message(self, kind: str, message: Message, where: str, depth: int) -> None:
        """Look at the fields of a message."""
        if depth > Deepest.graphs:
            self.listing.add(where, 1, "unseen", "graphs are nested too deeply to be looked at")
            return
        plain, inside = _KNOWN[kind]
        known = {*map(int, plain.split())}
        # Attributes and tensors are looked at apart.
        holds = 5 if kind == "node" else None
        for part in message.fields():
            what = inside.get(part.number)
            at = f"{where}.{what}" if where else str(what)
            if what is None:
                long = part.end - part.at > _LONGEST_FIELD and part.number != holds
                if part.number not in known or (long and kind != "initializer"):
                    name = _UNNEEDED.get((kind, part.number), f"field {part.number}")
                    self._field(f"{where}.{name}".lstrip("."), message, part)
            elif what[0] == "@":
                self._text(at.replace("@", ""), message, part)
            elif what == "node":
                self._node(where, message.message(part), depth)
            else:
                if what == "initializer":
                    self._tensor(at, message.message(part), of_graph=depth == 1)
                deeper = {"graph": 1, "functions": 2}.get(what, 0)
                self.message(what, message.message(part), at, depth + deeper)

    def _field(self, where: str, message: Message, part: Field) -> None:
        """List a field that no model needs."""
        message.spend(_COST, part.at)
        self.listing.add(where, part.end - part.at)

    def _text(self, where: str, message: Message, part: Field) -> None:
        """List a text of the author."""
        if part.wire == BYTES and part.end - part.at <= _LONGEST_FIELD:
            message.spend(_COST, part.at)
            self.listing.text(where, message.text(part))
        else:
            self._field(where, message, part)

    def _node(self, above: str, message: Message, depth: int) -> None:
        """Look at an operation."""
        node = read_node(message)
        self.inputs.update(node.inputs)
        where = f"{above}.{path_name(node.name or node.operator)}"
        self.message("node", message, where, depth)
        if node.domain not in self._domains:
            says = f"an operator of {show(node.domain, 60)}, which is code that the file names"
            self.listing.add(where, 1, "calls", says)
        if message.at == self._chosen.message.at:
            self._ensemble(where)
        elif node.operator in ENSEMBLES:
            if depth > 1:  # those of the graph itself are other models, and named by the reader
                says = "a tree ensemble in a graph inside, not audited"
                self.listing.add(where, 1, "unseen", says)
        else:
            # Some exporters leave a small one behind.
            if depth == 1 and (n := message.end - message.at) > LONGEST_NOTE:
                self.made.append((where, node.outputs, n))
            for name, attribute in node.attributes().items():
                self._attribute(f"{where}.{path_name(name)}", node, name, attribute, depth)

    def _ensemble(self, where: str) -> None:
        """Look at the attributes of the ensemble that is audited."""
        for name, attribute in self._attributes.items():
            at = f"{where}.{path_name(name)}"
            self._unread(at, attribute, 0)
            n = size_of([attribute.numbers, attribute.strings, attribute.single])
            if name.removesuffix("_as_tensor") not in _OF_ENSEMBLES:
                self.listing.add(at, n, says=f"{n:,} bytes in an attribute that no ensemble has")
            elif name.startswith("nodes_hitrates") and len({*_numbers(attribute)}) > 1:
                says = "how often each node was reached, which may count training records"
                self.listing.add(at, n, says=says)

    def _unread(self, where: str, attribute: Attribute, depth: int) -> None:
        """Look at the graphs and notes of an attribute."""
        for message, part in attribute.unread:
            if part.number in (6, 11):
                self.message("graph", message.message(part), where, depth + 1)
            elif part.number == 13:
                self._text(f"{where}.doc_string", message, part)
            else:
                self._field(f"{where}.field {part.number}", message, part)

    def _attribute(
        self, where: str, node: GraphNode, name: str, attribute: Attribute, depth: int
    ) -> None:
        """Look at an attribute of an operation around the trees."""
        self._unread(where, attribute, depth)
        for tensor in attribute.tensors:
            self._tensor(where, tensor, of_graph=False)
        n = len(_numbers(attribute)) + len(attribute.strings)
        if node.operator.startswith("SVM") and name == "support_vectors":
            self.listing.add(where, n, "records", "the values of the records at the margin")
        elif node.operator == "Scaler" and name == "offset":
            self.listing.add(where, n, "extremes", _PER_COLUMN)
        elif name in _CATEGORIES and n >= _MANY_CATEGORIES:
            says = f"{n:,} categories: more than a public list has"
            self.listing.add(where, n, "column-values", says)

    def _tensor(self, where: str, message: Message, *, of_graph: bool) -> None:
        """Look at a table of numbers; one of the graph itself must serve an operation."""
        sizes: list[int] = []
        name, kind, n_bytes = "", 0, 0
        for part in message.fields():
            match part.number:
                case 1 if part.wire == BYTES:
                    sizes += varints(message.bytes_of(part), part.at).tolist()
                case 1:
                    sizes.append(message.integer(part))
                case 2:
                    kind = message.integer(part)
                case 4 | 5 | 6 | 7 | 9 | 10 | 11:
                    n_bytes += part.end - part.at
                case 8:
                    name = clean(message.text(part))
                case 13:
                    self.listing.add(where, 1, "unseen", "it lies in another file, not read")
        at = f"{where}[{path_name(name)}]" if of_graph else where
        n = math.prod(max(size, 0) for size in sizes)
        rows, width = (*sizes, 0, 0)[:2]
        if len(sizes) == 2 and width in self._widths and rows >= max(FEWEST_RECORDS, width + 1):
            says = f"{rows:,} × {width:,} numbers, which may be training records"
            self.listing.add(at, rows, "records", says)
        elif kind != _TEXTS and n_bytes > _WIDEST * (n + 1):
            says = f"{n_bytes:,} bytes, more than its shape accounts for"
            self.listing.add(at, n_bytes, says=says)
        elif of_graph:
            self.made.append((at, (name,), n_bytes))
            if n == self._width and kind in _FLOATS:
                self.listing.add(at, n, "extremes", _PER_COLUMN)


def _numbers(attribute: Attribute) -> list[object]:
    """Return the numbers of an attribute."""
    return [] if attribute.numbers is None else attribute.numbers.tolist()
