"""What a defense must offer: words, parameters, and a way to reach every tree of a model."""

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from inspect import getdoc
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

import numpy as np

from treeaudit.arrays import Float
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.tree import Tree
from treeaudit.people.records import Records


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a parameter may be, as an annotation of its type; both ends included."""

    least: float
    most: float = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class DefenseWords:
    """What there is to say about a defense, once, for every renderer.

    Attributes
    ----------
    does
        What it changes in the model.
    fixes
        Which findings it removes.
    leaves
        What an attacker can still do.
    reference
        Where it comes from.
    """

    does: str
    fixes: str
    leaves: str
    reference: str


class Defense:
    """What `treeaudit.defenses.DEFENSES` holds, each a frozen dataclass.

    Its fields are its parameters, its docstring says what they are, and ``did``
    what it did with them. Where it needs the training data, it has a field
    ``values`` for them. See `treeaudit.defenses.defense`.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    id: ClassVar[str]
    title: ClassVar[str]
    did: ClassVar[str]
    words: ClassVar[DefenseWords]

    @property
    def step(self) -> str:
        """What it did, with its parameters, in a few words."""
        return self.did.format(self)

    def apply(self, forest: Forest) -> Forest:
        """Return the repaired model; the one given is left as it is.

        Raises DataError if the model does not tell what the defense needs, or cannot be made what
        it asks for; for a tree, when that tree is asked for.
        """
        return tree_by_tree(forest, lambda tree, _: self.changed(tree, forest))

    def changed(self, tree: Tree, forest: Forest) -> Tree:
        """Return a tree as it becomes, where trees become it one by one."""
        raise NotImplementedError


def tree_by_tree(forest: Forest, change: Callable[[Tree, int], Tree]) -> Forest:
    """Return the model with every tree changed, given its number, when it is asked for.

    Counts that were added up anew no longer carry the noise that was drawn: no `Noise` is stated.

    Raises DataError if a tree cannot be changed, when it is asked for; names the tree.
    """
    trees = forest.trees

    def build(i: int) -> Tree:
        try:
            return change(trees[i], i)
        except DataError as error:
            if len(trees) == 1:
                raise
            raise DataError(f"tree {i}: {error}") from None

    return replace(forest, trees=LazyTrees(build, len(trees)), noise=None)


def sizes(tree: Tree, forest: Forest) -> Float:
    """Return how many people each node holds, as far as the model tells.

    Noisy counts are summed as they are: what is done with them afterwards costs
    no privacy. Draws with replacement are no people.

    Raises DataError if the model does not tell.
    """
    if tree.n_records is not None:
        return tree.n_records.astype(np.float64)
    people = forest.counts_are in ("exact", "likely") and forest.records_are != "bootstrap"
    if tree.counts is not None and (people or forest.counts_are == "noisy"):
        sums: Float = tree.counts.sum(axis=1)
        return sums
    raise DataError(
        "the model does not tell how many people are in its leaves, so small ones cannot be "
        f"found: {other_methods(tree, forest)}, or defend the model that it was made from"
    )


def other_methods(tree: Tree, forest: Forest) -> str:
    """Return, as advice, the repairs that need to know of no people."""
    answers = forest.answers != "sum" and (tree.counts is not None or tree.label is not None)
    labels = answers and forest.schema.classes is not None
    return f"use {'--method labels-only or ' if labels else ''}--method strip"


def check_not_private(forest: Forest, method: str) -> None:
    """Refuse to decide about a private model by the very people whom its epsilon protects.

    Raises DataError if its ledger promises something that would no longer hold.
    """
    if forest.privacy is None:
        return
    from treeaudit.dp.claims import promises  # which no model needs that claims nothing

    if promises(forest):
        raise DataError(
            f"{method} decides by the training people themselves, and the epsilon of this private "
            "model would no longer hold: use a method that goes by the file alone, such as "
            "--method merge-siblings"
        )


def size_advice(people: float, tree: Tree, forest: Forest) -> str:
    """Return the largest ``min_leaf`` that works as advice, or what works without one."""
    k = int(people)
    return f"ask for at most {k:,} (--min-leaf {k})" if k > 1 else other_methods(tree, forest)


def counts_of(tree: Tree, forest: Forest) -> Float:
    """Return the class counts of each node, none below zero.

    Raises DataError if the model holds none.
    """
    if tree.counts is None:
        why = forest.counts_reason or "it holds none"
        raise DataError(
            f"labels cannot be told apart without class counts ({why}): "
            f"{other_methods(tree, forest)}"
        )
    counts: Float = np.maximum(tree.counts, 0)
    return counts


def weights_of(tree: Tree, forest: Forest, i: int) -> Float:
    """Return what a person of each class weighs in the answers of a tree, the i-th."""
    if forest.class_weights is None:
        return np.ones(1 if tree.counts is None else tree.counts.shape[1])
    return np.array(forest.class_weights[i], dtype=np.float64)


def people_in(tree: Tree, forest: Forest) -> Float:
    """Return people per node; the sum of its class counts where people are not told."""
    if tree.n_records is not None:
        return tree.n_records.astype(np.float64)
    total: Float = counts_of(tree, forest).sum(axis=1)
    return total


_PEOPLE = ("values", "labels", "targets")
"""Fields that are filled from `Records`."""
_WORKED_OUT = ("newton", "trial")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A field of a defense that can be set; ``help`` is what its docstring says of it."""

    kind: Any
    bounds: Bounds
    default: object
    help: str

    @property
    def asks(self) -> str:
        """What a value must be, in words."""
        if get_origin(self.kind) is Literal:
            return " or ".join(get_args(self.kind))
        if self.kind not in (int, float):
            return "numbers by name, such as {age = 5}"
        least, most = self.bounds.least, self.bounds.most
        span = f", {least:g} or more" if math.isinf(most) else f" from {least:g} to {most:g}"
        return f"a {'whole ' if self.kind is int else ''}number{span}"

    def takes(self, value: Any) -> bool:  # noqa: ANN401  # whatever somebody gave
        """Whether a value is one that it can be."""
        if get_origin(self.kind) is Literal:
            return value in get_args(self.kind)
        if self.kind not in (int, float):
            return isinstance(value, Mapping) and all(_is(one, Real) for one in value.values())
        number = _is(value, Integral if self.kind is int else Real)
        return number and bool(self.bounds.least <= value <= self.bounds.most)


def parameters(defense: type[Defense]) -> dict[str, Parameter]:
    """Return the parameters of a defense by name."""
    hints = get_type_hints(defense, include_extras=True)
    help_texts = _attribute_texts(getdoc(defense) or "")
    parameters_found = {}
    for field in fields(defense):
        kind, bounds = hints[field.name], Bounds(-math.inf)
        if get_origin(kind) is Annotated:
            kind, bounds = get_args(kind)
        new = field.default_factory
        default = field.default if new is MISSING else new()
        parameters_found[field.name] = Parameter(
            kind=kind, bounds=bounds, default=default, help=help_texts.get(field.name, "")
        )
    return {
        name: one for name, one in parameters_found.items() if name not in (*_PEOPLE, *_WORKED_OUT)
    }


def takes_people(defense: type[Defense]) -> bool:
    """Whether a defense needs the training data, which are its fields ``values`` and ``labels``."""
    return any(field.name in _PEOPLE for field in fields(defense))


def build_defense(
    defense: type[Defense],
    given: Mapping[str, object],
    people: Records | None = None,
) -> Defense:
    """Return a defense with its parameters set.

    Raises DataError if it has no such parameter, or a value cannot be.
    """
    known = parameters(defense)
    for name, value in given.items():
        if name not in known:
            takes = ", ".join(known) or "no parameters"
            raise DataError(f"{defense.id} takes no {name!r}; it takes {takes}")
        if not known[name].takes(value):
            raise DataError(f"{defense.id}: {name} is {value!r}: it must be {known[name].asks}")
    taken = {field.name for field in fields(defense)} & {*_PEOPLE}
    return defense(**given, **({} if people is None else {n: getattr(people, n) for n in taken}))


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _attribute_texts(doc: str) -> dict[str, str]:
    """Read what a numpydoc docstring says of each attribute."""
    texts: dict[str, str] = {}
    for line in doc.partition("Attributes\n----------\n")[2].splitlines():
        if line.strip() and not line.startswith(" "):
            name, texts[line] = line, ""
        elif line.strip():
            texts[name] = f"{texts[name]} {line.strip()}".strip().replace("``", "")
    return texts
