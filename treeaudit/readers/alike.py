"""Trees of one list that say the same, but for their seeds and the numbers of their nodes.

A forest writes its settings into each of its trees. Who looks through the file finds in the
hundredth what was in the second. `Alike` tells which trees are so, part by part and type by type.
What looking at one of them changes follows from what it holds, from where it hangs and from what
was found before. So where it changed nothing, nor will the next one, as long as nothing else does:
`Quiet` tells of that.

Numbers of nodes are looked at for all trees, elsewhere.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import chain, compress, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from treeaudit.readers.limits import Most
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Global, Inert

__all__ = ["Alike", "Kin", "Quiet"]

_MOST_FORMS = 4
"""So many forms the trees of a list may have, one after the other: they may be changed between the
rounds of a fit."""
_MOST_BYTES = 1 << 16
"""So many the arrays of a tree may hold beside its nodes: they are compared with all others."""
_SEED, _TREE = "random_state", "tree_"
_PLAIN = frozenset({type(None), bool, int, float, str})
_SEEDS = range(1 << 32)
_LIBRARY = "sklearn."
_NAMES = {str}
_ARGS = [int, np.ndarray, int]
_KINDS = {"max_depth": int, "node_count": int, "nodes": np.ndarray, "values": np.ndarray}


class Kin(NamedTuple):
    """A tree that others are alike to.

    Attributes
    ----------
    form
        The number of what they hold alike, of which no other list has any.
    parts
        The ids of all that it consists of; no other tree of the list holds one of these.
    """

    form: int
    parts: tuple[int, ...]


class Alike:
    """Knows the trees of lists that were looked at.

    Parameters
    ----------
    most
        So many forms the trees of a list may have; all others are alike to none.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = _MOST_FORMS if most is None else most
        self._forms = 0
        self._lists: dict[int, Sequence[object]] = {}
        self._known: dict[int, Kin] = {}

    def look(self, members: list[object]) -> None:
        """Look at the trees of a list."""
        if id(members) in self._lists:
            return
        # Kept, so that its id stays its own.
        self._lists[id(members)] = members
        forms: list[_Form] = []
        found: dict[int, Kin] = {}
        for member in members:
            kin = self._kin(member, forms)
            if kin is not None:
                found[id(member)] = kin
        runs = [kin.form for kin in found.values()]
        if sum(one != other for one, other in pairwise(runs)) >= self._most:
            # Which form each has may be a text.
            return
        held = list(chain.from_iterable(kin.parts for kin in found.values()))
        if len(set(held)) < len(held):
            twice = {part for part, n in Counter(held).items() if n > 1}
            found = {one: kin for one, kin in found.items() if twice.isdisjoint(kin.parts)}
        # One that stands in the list twice is kin of nobody.
        often = Counter(map(id, members)) if len(found) < len(members) else {}
        self._known.update((one, kin) for one, kin in found.items() if often.get(one, 1) == 1)

    def kin(self, value: object) -> Kin | None:
        """Return what is known of a value; None where it is alike to none."""
        return self._known.get(id(value))

    def _kin(self, member: object, forms: list["_Form"]) -> Kin | None:
        for form in forms:
            parts = form.parts_of(member)
            if parts is not None:
                return Kin(form.number, parts)
        tree = _tree_of(member) if len(forms) < self._most else None
        if tree is None or not isinstance(member, Inert):
            return None
        form = _Form(member, tree, self._forms)
        parts = form.parts_of(member)
        if parts is None:
            return None
        forms.append(form)
        self._forms += 1
        return Kin(form.number, parts)


class Quiet:
    """Knows the forms of which the last tree that was looked at changed nothing.

    Parameters
    ----------
    told
        Returns what was found and used up so far; as long as that is the same, so is what
        looking at a tree would change.
    seen
        The ids of what was looked at. Trees that are passed over are added, with such parts of
        theirs as were added for the one that was looked at.
    """

    def __init__(self, told: Callable[[], Hashable], seen: set[int]) -> None:
        self._told, self._seen = told, seen
        # Of each form and its place: the tree that was looked at, and how much was seen before.
        self._looked: dict[Hashable, tuple[Kin, int]] = {}
        self._added: dict[Hashable, list[bool]] = {}
        self._before: tuple[Hashable, int, bool] = (None, 0, False)

    def passes(self, kin: Kin, where: Hashable) -> bool:
        """Tell whether to pass over a tree; then its parts are added to what was seen.

        Parameters
        ----------
        kin
            The tree.
        where
            What stands around it, as far as looking at it depends on that.
        """
        key = (kin.form, where)
        added = self._added.get(key) or self._added_for(key)
        if added is None or not self._seen.isdisjoint(kin.parts):
            return False
        if len(self._seen) + len(added) > Most.objects:
            return False
        self._seen.update(compress(kin.parts, added))
        return True

    def _added_for(self, key: Hashable) -> list[bool] | None:
        """Return which parts were added for the tree that was looked at; None if also others."""
        looked, before = self._looked.get(key, (None, 0))
        if looked is None:
            return None
        added = [part in self._seen for part in looked.parts]
        if len(self._seen) - before != sum(added):
            del self._looked[key]
            return None
        self._added[key] = added
        return added

    def begin(self, kin: Kin | None) -> None:
        """Take notice of what there is before something is looked at."""
        if kin is None and not self._looked:
            # Nothing is quiet, and nothing becomes so.
            return
        fresh = kin is not None and self._seen.isdisjoint(kin.parts)
        self._before = (self._told(), len(self._seen), fresh)

    def end(self, kin: Kin | None, where: Hashable = None) -> None:
        """Take notice of what looking at it changed."""
        if kin is None and not self._looked:
            return
        before, n, fresh = self._before
        if self._told() != before:
            self._looked.clear()
            self._added.clear()
        elif kin is not None and fresh:
            self._looked[kin.form, where] = (kin, n)
            self._added.pop((kin.form, where), None)


class _Form:
    """What some trees of a list hold alike."""

    __slots__ = (
        *("_arrays", "_classes", "_cls", "_columns", "_kinds", "_made_of", "_names"),
        *("_outputs", "_pick", "_plain", "_seeded", "_signs", "_table", "_tables", "_types"),
        *("_width", "_zeros"),
        "number",
    )

    def __init__(self, member: Inert, tree: Inert, number: int) -> None:
        state, table = _attributes(member), _attributes(tree)
        self.number = number
        self._cls, self._names, self._types = member.cls, [*state], [*map(type, state.values())]
        self._seeded = type(state.get(_SEED)) is int
        plain = [name for name, value in state.items() if type(value) in _PLAIN]
        if self._seeded:
            plain.remove(_SEED)
        self._pick = itemgetter(*plain)
        self._plain = self._pick(state)
        self._zeros = [name for name in plain if type(state[name]) is float and not state[name]]
        self._signs = _signs(state, self._zeros)
        held = [(name, arrived(one)) for name, one in state.items()]
        self._arrays = [(name, found) for name, one in held if (found := _content(one))]
        self._table, self._columns = tree.cls, [*table]
        self._kinds, self._made_of = [*map(type, table.values())], [*map(type, tree.args)]
        tables: tuple[Any, Any] = arrived(table["nodes"]), arrived(table["values"])
        self._tables = tables[0].dtype, tables[1].dtype
        self._width, classes, self._outputs = tree.args
        self._classes = _content(arrived(classes))

    def parts_of(self, member: object) -> tuple[int, ...] | None:
        """Return the ids of the parts of a tree of this form; None where it is of another."""
        if type(member) is not Inert or type(state := member.state) is not dict:
            return None
        if [*state] != self._names or [*map(type, state.values())] != self._types:
            return None
        if {*map(type, state)} != _NAMES:
            return None
        if self._pick(state) != self._plain or (self._seeded and state[_SEED] not in _SEEDS):
            return None
        if not _same_class(member, self._cls) or member.args:
            return None
        if self._zeros and _signs(state, self._zeros) != self._signs:
            return None
        arrays = []
        for name, known in self._arrays:
            array = arrived(state[name])
            if not _is_content(array, known):
                return None
            arrays.append(id(array))
        tables = self._tables_of(state[_TREE])
        return None if tables is None else (id(member), id(state), *tables, *arrays)

    def _tables_of(self, tree: object) -> tuple[int, ...] | None:
        """Return the ids of the parts of a `Tree` of this form; None where it is of another."""
        if type(tree) is not Inert or not _same_class(tree, self._table):
            return None
        table, args = tree.state, tree.args
        if type(table) is not dict or type(args) is not tuple:
            return None
        if [*table] != self._columns or [*map(type, table.values())] != self._kinds:
            return None
        if {*map(type, table)} != _NAMES or [*map(type, args)] != self._made_of:
            return None
        if args[0] != self._width or args[2] != self._outputs:
            return None
        nodes, values, classes = map(arrived, (table["nodes"], table["values"], args[1]))
        if type(nodes) is not np.ndarray or type(values) is not np.ndarray:
            return None
        if (nodes.dtype, values.dtype) != self._tables or nodes.ndim != 1:
            return None
        if not (0 <= table["max_depth"] <= len(nodes) and 0 <= table["node_count"] <= len(nodes)):
            return None
        if not _is_content(classes, self._classes):
            return None
        return id(tree), id(table), id(nodes), id(values), id(classes)


def _tree_of(member: object) -> Inert | None:
    """Return the `Tree` in an estimator of scikit-learn, where both have the usual form."""
    if type(member) is not Inert or not member.cls.module.startswith(_LIBRARY):
        return None
    state = _attributes(member)
    tree = state.pop(_TREE, None)
    if type(tree) is not Inert or not tree.cls.module.startswith(_LIBRARY) or tree.kind != "Tree":
        return None
    held = [arrived(value) for value in state.values() if type(value) not in _PLAIN]
    sizes = [one.nbytes for one in (*held, *map(arrived, tree.args)) if isinstance(one, np.ndarray)]
    if sum(sizes) > _MOST_BYTES or not all(map(_content, held)):
        return None
    if _PLAIN.isdisjoint(type(value) for name, value in state.items() if name != _SEED):
        return None
    table, args = _attributes(tree), [*map(arrived, tree.args)]
    if {name: type(arrived(value)) for name, value in table.items()} != _KINDS:
        return None
    return tree if [*map(type, args)] == _ARGS and _content(args[1]) else None


def _attributes(one: Inert) -> dict[Any, Any]:
    """Return a copy of the state of an object; empty where it is no mapping."""
    return dict(one.state) if type(one.state) is dict else {}


def _signs(state: Mapping[Any, object], zeros: Sequence[str]) -> str:
    """Return what tells zeros of one sign from those of the other: they are equal."""
    return str([state[name] for name in zeros])


def _content(value: object) -> tuple[object, ...] | None:
    """Return all that an array of plain numbers holds; None of anything else."""
    if type(value) is not np.ndarray or value.dtype.kind not in "biuf" or value.dtype.metadata:
        return None
    return value.dtype, value.shape, value.tobytes()


def _is_content(value: object, known: tuple[object, ...] | None) -> bool:
    # What is of another shape may be large, and is not copied.
    return (
        known is not None and getattr(value, "shape", None) == known[1] and _content(value) == known
    )


def _same_class(one: Inert, cls: Global) -> bool:
    if one.items or one.pairs:
        return False
    return one.cls is cls or (one.cls.module, one.cls.name) == (cls.module, cls.name)
