"""The XML of a PMML file, as far as trees go: read as a stream, nothing resolved.

A document type is refused, so there are no entities, no external files and
nothing that grows. Each ``Node`` is packed as soon as it ends.
"""

import re
from dataclasses import dataclass, field
from mmap import mmap
from typing import NamedTuple
from xml.parsers import expat

from treeaudit.errors import ModelTooLargeError, ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers.limits import LIMITS, Allowance, Deepest, Limits, Most, clean, show
from treeaudit.readers.pmml.fields import ExtraContent, is_model

_CHUNK = 8 << 20
_COST_OF_MODEL, _COST_OF_NODE, _COST_OF_PREDICATE, _COST_OF_WORD = 700, 400, 100, 64
_COST_OF_TREE = 2_000
_COSTLY = frozenset({"DataField", "DerivedField", "TreeModel"})
_ENCODING = re.compile(rb"^<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
_ENCODINGS = ("utf-8", "utf-16", "us-ascii", "iso-8859-1")
_SKIPPED = frozenset(
    "Output ModelStats ModelExplanation ModelVerification Extension Targets Timestamp".split()
)
_CONDITIONS = frozenset("True False SimplePredicate SimpleSetPredicate CompoundPredicate".split())
_ENDING = frozenset("Node TreeModel DataField DerivedField CompoundPredicate Array".split())
_COMPOUND = frozenset({"or", "and", "xor", "surrogate"})
# What makes values others before a tree asks about them, unless it says this.
_CHANGES = {"missingValueReplacement": "", "invalidValueReplacement": "", "outliers": "asIs"}
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s"]+)')


class Predicate(NamedTuple):
    """A condition: its operator, the field, and values or other conditions."""

    operator: str
    field: str = ""
    values: tuple[str, ...] = ()
    parts: tuple["Predicate", ...] = ()


@dataclass(slots=True, eq=False)
class Node:
    """A node of a tree, as written."""

    attributes: dict[str, str]
    predicate: Predicate | None = None
    distribution: list[tuple[str, str]] = field(default_factory=list)
    children: list["Node"] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class TreeModel:
    """A tree: its attributes, its root, and all its nodes in the order of the file."""

    attributes: dict[str, str]
    root: Node | None = None
    nodes: list[Node] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Model:
    """A model at the top of the file, with the trees inside it in their order."""

    kind: str
    attributes: dict[str, str]
    trees: list[TreeModel] = field(default_factory=list)
    schema: list[dict[str, str]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    methods: set[str] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class DataField:
    """A column of the data, or one that is computed from others."""

    attributes: dict[str, str]
    values: list[str] = field(default_factory=list)
    same_as: str | None = None
    derived: bool = False


@dataclass(slots=True, eq=False)
class Document:
    """What a PMML file holds; ``changes`` are what makes values others before a tree asks."""

    fields: dict[str, DataField] = field(default_factory=dict)
    models: list[Model] = field(default_factory=list)
    application: str | None = None
    changes: set[str] = field(default_factory=set)
    extra: ExtraContent = field(default_factory=ExtraContent)


def parse(data: bytes | mmap, limits: Limits = LIMITS) -> Document:
    """Return what a PMML file holds."""
    most = min(Most.xml + 4 * len(data), limits.objects(len(data)))
    encoding = _encoding(bytes(data[:200]))
    if encoding not in ("utf-8", "us-ascii"):
        try:
            data, encoding = bytes(data).decode(encoding).encode(), "utf-8"
        except UnicodeError:
            raise ReadError(f"the XML is damaged: it is not written in {encoding}") from None
    handler = _Handler(most)
    parser = expat.ParserCreate(encoding)
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    parser.CommentHandler = handler.remark
    parser.ProcessingInstructionHandler = handler.instruction
    view = memoryview(data)
    try:
        for at in range(0, len(view), _CHUNK):
            parser.Parse(bytes(view[at : at + _CHUNK]), False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        text = expat.ErrorString(error.code)
        raise ReadError(f"line {error.lineno:,}: the XML is damaged ({text})") from None
    except ValueError as error:
        raise ReadError(f"the XML is damaged: {clean(error)[:200]!r}") from None
    finally:
        view.release()
    return handler.document


def _encoding(head: bytes) -> str:
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    found = _ENCODING.match(head.removeprefix(b"\xef\xbb\xbf").lstrip())
    name = found.group(1).decode().lower() if found else "utf-8"
    if name not in _ENCODINGS:
        raise UnsupportedModelError(f"the XML is written in {name}: save it as UTF-8 and try again")
    return name


def _refuse(*_: object) -> None:
    raise UnsafeModelError(
        "the XML declares a document type, which can name other files and entities: a PMML model "
        "needs none, so remove it"
    )


class _Handler:
    """Builds the document while the XML goes by."""

    def __init__(self, memory: int) -> None:
        too_much = "the XML holds more small parts than treeaudit takes in"
        self._spend = Allowance(memory, too_much).take
        self.document = Document()
        self._extra = self.document.extra
        self._open: list[str] = []
        self._prefix = ""
        self._skipping = 0
        self._count = 0
        self._nodes: list[Node] = []
        self._tree: TreeModel | None = None
        self._compound: list[tuple[Predicate, list[Predicate]]] = []
        self._field: DataField | None = None
        self._words: dict[str, str] = {}
        self._array: list[str] | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """See an element begin."""
        self._count += 1
        size = sum(map(len, attributes.values()))
        if len(self._open) >= Deepest.xml or self._count > Most.elements:
            raise ModelTooLargeError(
                f"the XML has more than {Deepest.xml:,} levels or {Most.elements:,} elements"
            )
        if size > Most.title < max(map(len, attributes.values()), default=0):
            raise ModelTooLargeError(
                f"an attribute of the XML has more than {Most.title:,} characters"
            )
        # expat keeps one copy of every name that it reads.
        name = self._local(tag) if self._prefix or ":" in tag else tag
        self._open.append(name)
        above = self._open[-2] if len(self._open) > 1 else ""
        if not above and name != "PMML":
            raise ReadError(f"the XML is no PMML: it begins with {show(name)}")
        foreign = self._extra.start(self._open, attributes, size)
        if self._skipping or foreign or name in _SKIPPED:
            if not self._skipping and is_model(name):
                self._other(name, above, attributes)
            self._skipping += 1
            return
        if name == "Node" and self._tree is not None:
            self._node(attributes)
        elif name == "ScoreDistribution" and self._nodes:
            self._spend(_COST_OF_PREDICATE)
            pair = (self._word(attributes.get("value", "")), attributes.get("recordCount", ""))
            self._nodes[-1].distribution.append(pair)
        elif name in _CONDITIONS:
            self._predicate(name, attributes)
        elif name == "Array" and above == "SimpleSetPredicate":
            self._array = []
        else:
            self._other(name, above, attributes)

    def _local(self, tag: str) -> str:
        """Return the name of an element without the prefix, which the first one has too."""
        prefix, _, local = tag.rpartition(":")
        if not self._open:
            self._prefix = prefix
        # What has another prefix is no PMML, whatever its name.
        return self._word(local if prefix == self._prefix else f"{prefix}:{local}")

    def _word(self, text: str) -> str:
        """Keep one copy of words that come often."""
        if len(self._words) > 100_000:
            return text
        return self._words.setdefault(text, text)

    def _other(self, name: str, above: str, given: dict[str, str]) -> None:
        models = self.document.models
        self._spend(_COST_OF_MODEL if name in _COSTLY or above == "PMML" else _COST_OF_WORD)
        match name:
            case "DataField" | "DerivedField":
                self._field = DataField(given, derived=name == "DerivedField")
                if name == "DataField" and given.get("name", "") in self.document.fields:
                    raise ReadError("the PMML is damaged: two columns have one name")
                self.document.fields.setdefault(given.get("name", ""), self._field)
            case "Value" if self._field is not None and above == "DataField":
                if given.get("property", "valid") == "valid":
                    self._field.values.append(given.get("value", ""))
                else:
                    self.document.changes.add("Value")
            case "FieldRef" if self._field is not None and above == "DerivedField":
                self._field.same_as = given.get("field")
            case "Application":
                parts = (given.get("name", ""), given.get("version", ""))
                self.document.application = " ".join(part for part in parts if part) or None
            case "MiningField" if models:
                self._mining_field(models[-1], given)
            case "Segmentation" if models:
                models[-1].methods.add(given.get("multipleModelMethod", ""))
            case "TreeModel":
                if above == "PMML":
                    models.append(Model(name, given))
                if models:
                    self._spend(_COST_OF_TREE)
                    self._tree = TreeModel(given)
                    models[-1].trees.append(self._tree)
            case _ if above == "PMML" and is_model(name):
                models.append(Model(name, given))
            case _ if above == "Segment" and models and is_model(name) and name != "MiningModel":
                models[-1].others.append(name)

    def _mining_field(self, model: Model, given: dict[str, str]) -> None:
        """See what a model is given."""
        changes = (key for key, usual in _CHANGES.items() if given.get(key, usual) != usual)
        self.document.changes.update(changes)
        if len(self._open) == 4:
            self._spend(_COST_OF_NODE)
            model.schema.append(given)

    def _node(self, given: dict[str, str]) -> None:
        self._spend(_COST_OF_NODE)
        node, tree = Node(given), self._tree
        if tree is not None:
            tree.nodes.append(node)
        if self._nodes:
            self._nodes[-1].children.append(node)
        elif tree is not None:
            if tree.root is not None:
                raise ReadError("the PMML is damaged: a tree has two roots")
            tree.root = node
        self._nodes.append(node)

    def _predicate(self, name: str, given: dict[str, str]) -> None:
        self._spend(_COST_OF_PREDICATE)
        word = self._word
        column = word(given.get("field", ""))
        if name == "SimplePredicate":
            value = given.get("value")
            # A number with decimals seldom comes twice.
            values = () if value is None else (value if "." in value else word(value),)
            self._place(Predicate(word(given.get("operator", "")), column, values))
            return
        if name == "CompoundPredicate":
            operator = given.get("booleanOperator", "")
            if operator not in _COMPOUND:
                raise ReadError(
                    f"the PMML is damaged: no conditions are joined by {show(operator)}"
                )
            if len(self._compound) >= Deepest.condition:
                raise ModelTooLargeError(
                    f"conditions are nested more than {Deepest.condition} deep"
                )
            self._compound.append((Predicate(word(operator)), []))
            return
        named = name == "SimpleSetPredicate"
        self._place(
            Predicate(word(given.get("booleanOperator", "")), column) if named else Predicate(name)
        )

    def _place(self, made: Predicate) -> None:
        if self._compound:
            self._compound[-1][1].append(made)
        elif self._nodes and self._open[-2] == "Node":
            if self._nodes[-1].predicate is not None:
                raise ReadError("the PMML is damaged: a node has two conditions")
            self._nodes[-1].predicate = made
        elif self._open[-2] == "Segment" and made.operator != "True":
            self._extra.conditional()

    def text(self, text: str) -> None:
        """See text between elements: only arrays hold any that trees need."""
        if not text.isspace():
            self._extra.text(self._open, text)
        if self._array is not None:
            self._array.append(text)

    def instruction(self, target: str, text: str) -> None:
        """See an instruction to some program."""
        self.remark(f"{target} {text}")

    def remark(self, text: str) -> None:
        """See a comment."""
        self._spend(_COST_OF_PREDICATE)
        self._extra.remark(text)

    def end(self, _: str) -> None:
        """See an element end."""
        name = self._open.pop()
        if self._extra.depth or name == "DataField":
            self._extra.end(name)
        if self._skipping:
            self._skipping -= 1
            return
        if name not in _ENDING:
            return
        match name:
            case "Node" if self._nodes:
                counted = [label for label, _ in self._nodes.pop().distribution]
                if len(set(counted)) < len(counted):
                    raise ReadError("the PMML is damaged: a node counts a label twice")
            case "TreeModel":
                self._tree = None
            case "DataField" | "DerivedField" if self._field is not None:
                self._field = None
            case "CompoundPredicate":
                frame, parts = self._compound.pop()
                self._open.append(name)
                self._place(Predicate(frame.operator, parts=tuple(parts)))
                self._open.pop()
            case "Array" if self._array is not None:
                self._fill("".join(self._array))
                self._array = None

    def _fill(self, text: str) -> None:
        """Give the set condition that was just placed its values."""
        if len(text) > Most.title:
            raise ModelTooLargeError(f"a list of the XML has more than {Most.title:,} characters")
        self._spend(4 * len(text))
        found = _TOKEN.findall(text)
        values = tuple(self._word(one or quoted.replace('\\"', '"')) for quoted, one in found)
        if self._compound and self._compound[-1][1]:
            parts = self._compound[-1][1]
            parts[-1] = Predicate(parts[-1].operator, parts[-1].field, values)
        elif self._nodes and self._nodes[-1].predicate is not None:
            made = self._nodes[-1].predicate
            self._nodes[-1].predicate = Predicate(made.operator, made.field, values)
