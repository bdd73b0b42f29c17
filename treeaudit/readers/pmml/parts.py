"""What a PMML file is made of, as far as trees go: fields, models, nodes and conditions."""

from dataclasses import dataclass, field
from typing import NamedTuple

from treeaudit.readers.pmml.beside import Beside


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
    beside: Beside = field(default_factory=Beside)
