"""What an ONNX file holds beside the tree ensemble that is audited.

Every field of the format that the model of a graph needs is known; others are listed by path and
size, and so is what no answer of the trees depends on. A table as wide as the model with as many
rows as people may have is reported as records.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from treeaudit.model.extras import FEWEST_RECORDS, Extra
from treeaudit.readers.exchange.listed import LONGEST_NOTE, Listed, shown
from treeaudit.readers.limits import Deepest, bare, clean, show
from treeaudit.readers.onnx.graph import Attribute, Graph, GraphNode, read_node
from treeaudit.readers.onnx.protobuf import BYTES, Field, Message, varints
from treeaudit.readers.onnx.trees import Ensemble
from treeaudit.readers.residual.extra_content import size_of

ENSEMBLES = ("TreeEnsembleClassifier", "TreeEnsembleRegressor", "TreeEnsemble")
"""The operators that hold trees."""

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
    **dict.fromkeys(
        ("input", "output", "value_info"), ("1 2", {3: "@doc_string", 4: "metadata_props"})
    ),
    "initializer": ("1 2 4 5 6 7 8 9 10 11 13 14", {12: "@doc_string", 16: "metadata_props"}),
}
"""By message: its known fields, and those that hold messages and texts of the author (@)."""

_UNNAMED = {
    **{("model", 20): "training_info", ("model", 26): "configuration"},
    **{("graph", 14): "quantization_annotation", ("graph", 15): "sparse_initializer"},
}
# What holds the model, or is looked at apart.
_LONG = {("node", 5), *(("initializer", i) for i in range(17))}
_LONGEST_FIELD = 1_000
_COST = 10
_DOMAINS = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft")
_MANY_CATEGORIES = 100
_WIDEST, _TEXTS = 16, 8
_WITH_GRAPHS = ("If", "Loop", "Scan", "SequenceMap")
_FLOATS = (1, 10, 11)
_PER_COLUMN = "a number per column: the smallest or largest value, where columns were scaled by it"
# Lists of categories, by the attribute.
_CATEGORIES = frozenset(
    (
        "cats_strings cats_int64s keys_strings keys_int64s keys_floats string_vocabulary "
        "int64_vocabulary pool_strings pool_int64s"
    ).split()
)
_LABELS = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")
_NODES = (
    "nodeids featureids hitrates missing_value_tracks_true modes splits treeids values truenodeids "
    "falsenodeids trueleafs falseleafs"
)
_OF_ENSEMBLES = frozenset(
    (
        *(f"nodes_{name}" for name in _NODES.split()),
        *(f"{of}_{name}" for of in ("class", "target") for name in "treeids nodeids ids".split()),
        *("tree_roots", "membership_values", "class_weights", "target_weights", "leaf_weights"),
        *("leaf_targetids", "n_targets", "base_values", "post_transform", "aggregate_function"),
        *_LABELS,
    )
)


def beside(
    graph: Graph,
    chosen: GraphNode,
    attributes: Mapping[str, Attribute],
    ensemble: Ensemble,
    labels: Sequence[object],
) -> tuple[Extra, ...]:
    """Return what the file holds beside one of its ensembles."""
    look = _Look(graph, chosen, attributes, ensemble, labels)
    look.message("model", graph.model, "", 0)
    if n := ensemble.n_cut_off:
        look.listed.add(bare(chosen.name), n, says=f"{n:,} nodes that are cut off from every root")
    return look.listed.found


class _Look:
    """Walks through the messages of a file."""

    def __init__(
        self,
        graph: Graph,
        chosen: GraphNode,
        attributes: Mapping[str, Attribute],
        ensemble: Ensemble,
        labels: Sequence[object],
    ) -> None:
        self.listed = Listed()
        self._chosen, self._attributes, self._labels = chosen, attributes, labels
        self._width = sum(given.width or 0 for given in graph.inputs.values())
        # The columns of the file, and those that the trees are given.
        self._widths = {n for n in (self._width, ensemble.n_features) if n > 1}
        self._nodes, self._tensors = _needed(graph)
        made = [graph.model.message(part) for part in graph.model.fields() if part.number == 25]
        own = (one.text(part) for one in made for part in one.fields() if part.number == 10)
        self._domains = {*_DOMAINS, *own}

    def message(self, kind: str, message: Message, where: str, depth: int) -> None:
        """Look at the fields of a message."""
        if depth > Deepest.graphs:
            self.listed.add(where, 1, "unseen", "graphs are nested too deeply to be looked at")
            return
        plain, inside = _KNOWN[kind]
        known = {*map(int, plain.split())}
        for part in message.fields():
            what = inside.get(part.number)
            at = f"{where}.{what}" if where else str(what)
            if what is None:
                long = part.end - part.at > _LONGEST_FIELD and (kind, part.number) not in _LONG
                if part.number not in known or long:
                    name = _UNNAMED.get((kind, part.number), f"field {part.number}")
                    self._field(f"{where}.{name}".lstrip("."), message, part)
            elif what[0] == "@":
                self._text(at.replace("@", ""), message, part)
            elif what == "node":
                self._node(where, message.message(part), depth)
            elif what == "initializer":
                self._tensor(at, message.message(part), free=depth == 1)
                self.message(what, message.message(part), at, depth)
            else:
                deeper = {"graph": 1, "functions": 2}.get(what, 0)
                self.message(what, message.message(part), at, depth + deeper)

    def _field(self, where: str, message: Message, part: Field) -> None:
        """List a field that no model needs."""
        message.spend(_COST, part.at)
        self.listed.add(where, part.end - part.at)

    def _text(self, where: str, message: Message, part: Field) -> None:
        """List a text of the author."""
        message.spend(_COST, part.at)
        if part.wire == BYTES and part.end - part.at <= _LONGEST_FIELD:
            self.listed.text(where, message.text(part))
        else:
            self.listed.add(where, part.end - part.at)

    def _node(self, above: str, message: Message, depth: int) -> None:
        """Look at an operation."""
        node = read_node(message)
        where = f"{above}.{shown(node.name or node.operator)}"
        self.message("node", message, where, depth)
        if node.domain not in self._domains:
            says = f"an operator of {show(node.domain, 60)}, which is code that the file names"
            self.listed.add(where, 1, "calls", says)
        if message.at == self._chosen.message.at:
            self._ensemble(where)
            return
        if node.operator in ENSEMBLES:
            if depth > 1:  # those of the graph itself are other models, and named by the reader
                says = "a tree ensemble in a graph inside, not audited"
                self.listed.add(where, 1, "unseen", says)
            return
        n = message.end - message.at
        # Some exporters leave a small one behind.
        if depth == 1 and message.at not in self._nodes and n > LONGEST_NOTE:
            says = f"{n:,} bytes: an operation on which no answer of the trees depends"
            self.listed.add(where, n, says=says)
        for name, attribute in node.attributes().items():
            self._attribute(f"{where}.{shown(name)}", node, name, attribute, depth)

    def _ensemble(self, where: str) -> None:
        """Look at the attributes of the ensemble that is audited."""
        for name, attribute in self._attributes.items():
            at = f"{where}.{shown(name)}"
            self._unread(at, attribute, 0)
            n = size_of([attribute.numbers, attribute.strings, attribute.single])
            if name.removesuffix("_as_tensor") not in _OF_ENSEMBLES:
                self.listed.add(at, n, says=f"{n:,} bytes in an attribute that no ensemble has")
            elif name.startswith("nodes_hitrates") and len({*_numbers(attribute)}) > 1:
                says = "how often each node was reached, which may count training records"
                self.listed.add(at, n, says=says)

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
            self._tensor(where, tensor, free=False)
        stated = [
            *_numbers(attribute),
            *(text.decode("utf-8", "replace") for text in attribute.strings),
        ]
        n = len(stated)
        turned = stated != [*self._labels] and {*stated} == {*self._labels}
        if node.operator == "ZipMap" and name in _LABELS and turned:
            says = f"{n:,} labels in another order than those of the trees"
            self.listed.add(where, n, says=says)
        elif node.operator.startswith("SVM") and name == "support_vectors":
            self.listed.add(where, n, "records", "the values of the records at the margin")
        elif node.operator == "Scaler" and name == "offset":
            self.listed.add(where, n, "extremes", _PER_COLUMN)
        elif name in _CATEGORIES and n >= _MANY_CATEGORIES:
            says = f"{n:,} categories: more than a public list has"
            self.listed.add(where, n, "column-values", says)

    def _tensor(self, where: str, message: Message, *, free: bool) -> None:
        """Look at a table of numbers; one that is ``free`` must serve an operation."""
        sizes: list[int] = []
        name, kind, held = "", 0, 0
        for part in message.fields():
            match part.number:
                case 1 if part.wire == BYTES:
                    sizes += varints(message.bytes_of(part), part.at).tolist()
                case 1:
                    sizes.append(message.integer(part))
                case 2:
                    kind = message.integer(part)
                case 4 | 5 | 6 | 7 | 9 | 10 | 11:
                    held += part.end - part.at
                case 8:
                    name = clean(message.text(part))
                case 13:
                    self.listed.add(where, 1, "unseen", "it lies in another file, not read")
        at = f"{where}[{shown(name)}]" if free else where
        n = math.prod(max(size, 0) for size in sizes)
        rows, width = (*sizes, 0, 0)[:2]
        if len(sizes) == 2 and width in self._widths and rows >= max(FEWEST_RECORDS, width + 1):
            says = f"{rows:,} × {width:,} numbers, which may be training records"
            self.listed.add(at, rows, "records", says)
        elif free and name not in self._tensors:
            says = f"{held:,} bytes: a table on which no answer of the trees depends"
            self.listed.add(at, held, says=says)
        elif kind != _TEXTS and held > _WIDEST * (n + 1):
            self.listed.add(at, held, says=f"{held:,} bytes, more than its shape accounts for")
        elif free and n == self._width and kind in _FLOATS:
            self.listed.add(at, n, "extremes", _PER_COLUMN)


def _numbers(attribute: Attribute) -> list[object]:
    """Return the numbers of an attribute."""
    return [] if attribute.numbers is None else attribute.numbers.tolist()


def _needed(graph: Graph) -> tuple[Collection[int], Collection[str]]:
    """Return where the operations lie that answers of trees depend on, and the names they use."""
    after = {
        output for node in graph.nodes if node.operator in ENSEMBLES for output in node.outputs
    }
    todo = [*after]
    # The nodes of a graph stand in the order in which they can run.
    for node in graph.nodes:
        if after.intersection(node.inputs):
            after.update(node.outputs)
    todo += [name for name in graph.outputs if name in after]
    made_by = {output: node for node in graph.nodes for output in node.outputs}
    nodes, names = set[int](), set[str]()
    while todo:
        name = todo.pop()
        if name in names:
            continue
        names.add(name)
        maker = made_by.get(name)
        if maker is not None and maker.message.at not in nodes:
            nodes.add(maker.message.at)
            names.update(maker.outputs)
            todo += maker.inputs
            if maker.operator in _WITH_GRAPHS:
                todo += _inside(maker, 0)
    return nodes, names


def _inside(node: GraphNode, depth: int) -> Iterator[str]:
    """Yield the names that the graphs within an operation take, those around it included."""
    if depth > Deepest.graphs:
        return
    for attribute in node.attributes().values():
        for message, part in attribute.unread:
            if part.number in (6, 11):
                graph = message.message(part)
                for one in graph.fields():
                    if one.number == 1:
                        inner = read_node(graph.message(one))
                        yield from inner.inputs
                        if inner.operator in _WITH_GRAPHS:
                            yield from _inside(inner, depth + 1)
                    elif one.number == 12:
                        yield from _names(graph.message(one))


def _names(message: Message) -> Iterator[str]:
    """Yield the name of a value."""
    for part in message.fields():
        if part.number == 1:
            yield clean(message.text(part))
