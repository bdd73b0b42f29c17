"""The parts of an ONNX file that say what its tree ensembles are given and made of.

Tensors that lie in other files are named by the file and never opened.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Array
from treeaudit.errors import Harm, MalformedModelError, ReadError
from treeaudit.readers.limits import clean, show
from treeaudit.readers.onnx.protobuf import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    Field,
    Message,
    varints,
)

MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
LEAF = 255
_COST_OF_TEXT = 20

_MODE_RUN = re.compile(
    rb"(?:J(?:\x04LEAF|\x09BRANCH_(?:LT|GT|EQ)|\x0aBRANCH_(?:LEQ|GTE|NEQ))){1,4096}"
)
_MODE_CODES = [(b"J\x04LEAF", LEAF)] + [
    (b"J" + bytes([7 + len(name)]) + b"BRANCH_" + name.encode(), code)
    for code, name in enumerate(MODES)
]
# The fields of an attribute that hold its content: its type is the number of one, less 1.
_CONTENT = range(2, 12)
_TENSOR_TYPES = {1: "<f4", 2: "u1", 3: "i1", 6: "<i4", 7: "<i8", 10: "<f2", 11: "<f8"}


def refuse_if(wrong: object, what: str, harm: Harm | None = None) -> None:
    """Refuse a table of trees; with ``harm``, one that other readers may believe."""
    if wrong:
        text = f"the tree ensemble is damaged: {what}"
        raise ReadError(text) if harm is None else MalformedModelError(text, harm)


@dataclass(slots=True)
class Attribute:
    """What an attribute of a node holds, its numbers and those of its tensor in one dimension.

    ``modes`` are kinds of nodes, as positions in `MODES` or ``LEAF``; ``single`` is its one number
    or text; ``unread`` are its other parts, such as graphs, with the message that holds them.
    """

    numbers: Array | None = None
    strings: list[bytes] = field(default_factory=list)
    modes: npt.NDArray[np.uint8] | None = None
    single: int | bytes | None = None
    unread: list[tuple[Message, Field]] = field(default_factory=list)
    tensors: list[Message] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """One operation of the graph."""

    operator: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    domain: str
    message: Message

    def attributes(self) -> dict[str, Attribute]:
        """Read the attributes, by name."""
        message = self.message
        found: dict[str, Attribute] = {}
        for part in message.fields():
            if part.number == 5:
                name, attribute = _attribute(message.message(part))
                if name in found:
                    raise ReadError(f"the ONNX file is damaged: {show(name)} is stated twice")
                found[name] = attribute
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphInput:
    """What the graph is given: its name, element type and number of columns."""

    name: str
    element: int = 0
    width: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """The operations of a model, its inputs, who wrote it, and the whole file."""

    nodes: tuple[GraphNode, ...]
    inputs: Mapping[str, GraphInput]
    outputs: tuple[str, ...]
    producer: str
    version: str | None
    model: Message


def read_graph(data: memoryview, most_fields: int) -> Graph:
    """Return the graph that an ONNX file holds."""
    model = Message(data, 0, len(data), [most_fields])
    texts = {2: "", 3: ""}
    graph: Message | None = None
    for part in model.fields():
        if part.number in texts:
            texts[part.number] = clean(model.text(part))
        elif part.number == 7:
            if graph is not None:
                raise ReadError("the ONNX file is damaged: it has two graphs")
            graph = model.message(part)
    if graph is None:
        raise ReadError("the ONNX file is damaged: it has no graph")
    nodes: list[GraphNode] = []
    inputs: dict[str, GraphInput] = {}
    constants: set[str] = set()
    outputs: list[str] = []
    for part in graph.fields():
        if part.number == 1:
            nodes.append(read_node(graph.message(part)))
        elif part.number == 5:
            constants.add(_name_of(graph.message(part), 8))
        elif part.number == 11:
            given = _input(graph.message(part))
            if given.name in inputs:
                raise ReadError(f"the ONNX file is damaged: two inputs are {show(given.name)}")
            inputs[given.name] = given
        elif part.number == 12:
            outputs.append(_name_of(graph.message(part), 1))
    made = [name for node in nodes for name in node.outputs if name]
    if len(set(made)) < len(made):
        raise ReadError("the ONNX file is damaged: two operations give one result")
    return Graph(
        nodes=tuple(nodes),
        inputs={name: one for name, one in inputs.items() if name not in constants},
        outputs=tuple(outputs),
        producer=texts[2],
        version=texts[3] or None,
        model=model,
    )


def _name_of(message: Message, number: int) -> str:
    texts = [message.text(part) for part in message.fields() if part.number == number]
    return clean(texts[-1]) if texts else ""


def read_node(message: Message) -> GraphNode:
    """Return one operation of a graph; its attributes are read when they are asked for."""
    texts: dict[int, list[str]] = {1: [], 2: [], 3: [""], 4: [""], 7: [""]}
    for part in message.fields():
        if part.number in texts:
            texts[part.number].append(clean(message.text(part)))
    return GraphNode(
        operator=texts[4][-1],
        name=texts[3][-1],
        inputs=tuple(texts[1]),
        outputs=tuple(texts[2]),
        domain=texts[7][-1],
        message=message,
    )


def _input(message: Message) -> GraphInput:
    element, width = 0, None
    for tensor in (one for kind in _parts(message, 2) for one in _parts(kind, 1)):
        for part in tensor.fields():
            if part.number == 1:
                element = tensor.integer(part)
            elif part.number == 2:
                width = _columns(tensor.message(part))
    return GraphInput(name=_name_of(message, 1), element=element, width=width)


def _parts(message: Message, number: int) -> Iterator[Message]:
    return (message.message(part) for part in message.fields() if part.number == number)


def _columns(shape: Message) -> int | None:
    """Return the second dimension of a table, if the file has it."""
    dimensions = [shape.message(part) for part in shape.fields()]
    sizes = [[one.integer(v) for v in one.fields() if v.number == 1] for one in dimensions]
    return sizes[1][-1] if len(sizes) == 2 and sizes[1] else None


def _attribute(message: Message) -> tuple[str, Attribute]:
    name, kind, found = "", 0, Attribute()
    content: set[int] = set()
    runs: list[Array] = []
    modes: list[npt.NDArray[np.uint8]] = []
    at = message.at
    while at < message.end:
        part = message.field(at)
        at = part.end
        if part.number in _CONTENT:
            content.add(part.number)
        match part.number:
            case 1:
                name = message.text(part)
            case 2:
                pass
            case 3:
                found.single = message.integer(part)
            case 4:
                found.single = bytes(message.bytes_of(part))
            case 5:
                runs.append(_tensor(message.message(part)))
                found.tensors.append(message.message(part))
            case 7:
                run, at = message.floats(part, FIXED32)
                runs.append(run)
            case 8:
                whole, at = message.integers(part)
                runs.append(whole)
            case 9:
                message.spend(_COST_OF_TEXT, part.at)
                run_modes, at = _modes(message, part)
                if run_modes is None:
                    found.strings.append(bytes(message.bytes_of(part)))
                else:
                    modes.append(run_modes)
            case 20:
                kind = message.integer(part)
            case _:
                found.unread.append((message, part))
    # Programs take the content that the type says, and nobody sees another.
    if len(content) > 1 or (content and kind + 1 in _CONTENT and kind + 1 not in content):
        raise ReadError("the ONNX file is damaged: an attribute does not hold what its type says")
    if runs:
        found.numbers = runs[0] if len(runs) == 1 else np.concatenate(runs)
    if modes:
        found.modes = np.concatenate(modes)
    return clean(name), found


def _modes(message: Message, part: Field) -> tuple[npt.NDArray[np.uint8] | None, int]:
    """Return the kinds of nodes that begin with a field, and where they end."""
    if part.wire != BYTES or part.end - part.at > 10:
        return None, part.end
    found = _MODE_RUN.match(message.data, part.at - 2, message.end)
    if found is None or found.end() < part.end:
        return None, part.end
    run = found.group()
    for text, code in _MODE_CODES:
        run = run.replace(text, bytes([code]))
    return np.frombuffer(run, np.uint8), found.end()


def _tensor(message: Message) -> Array:
    kind, outside = 0, False
    raw: memoryview | None = None
    runs: list[Array] = []
    at = message.at
    while at < message.end:
        part = message.field(at)
        at = part.end
        match part.number:
            case 2:
                kind = message.integer(part)
            case 4:
                run, at = message.floats(part, FIXED32)
                runs.append(run)
            case 5 | 7:
                packed = part.wire == BYTES
                whole = varints(message.bytes_of(part), part.at) if packed else None
                if whole is None:
                    whole, at = message.integers(part)
                runs.append(whole)
            case 9:
                raw = message.bytes_of(part)
            case 10:
                run, at = message.floats(part, FIXED64)
                runs.append(run)
            case 14 if part.wire == VARINT:
                outside = part.value == 1
    if outside:
        raise ReadError(
            "a tensor of the tree ensemble lies in another file: save the model with all its data "
            "in one file (onnx.save with save_as_external_data=False)"
        )
    if kind not in _TENSOR_TYPES:
        return np.zeros(0)
    dtype = np.dtype(_TENSOR_TYPES[kind])
    if raw is not None:
        if len(raw) % dtype.itemsize:
            raise ReadError(f"byte {message.at:,}: the file is damaged: a tensor is cut off")
        return np.frombuffer(raw, dtype)
    joined = np.concatenate(runs) if runs else np.zeros(0, dtype)
    if dtype == np.float16 and joined.dtype.kind == "i":
        return joined.astype(np.uint16).view(np.float16)
    if dtype.kind != "f" and joined.dtype.kind == "f":
        raise ReadError(f"byte {message.at:,}: the file is damaged: a tensor has the wrong type")
    return joined.astype(dtype)
