"""One walk along the attributes on the allow-list: all other content of a pickle is extra (TA206).

An object of a listed class has the attributes of its class, each of a form: a scalar, a short
text, an array no longer than the model has columns, classes, trees, steps, rounds or categories.
Plain values beside that are notes; anything else is extra content, reported by path and size.
Nothing is searched for messages: what a released file keeps of these attributes is for the writers
to decide.
"""

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from treeaudit.model.source import Extra, Kind
from treeaudit.readers.limits import Deepest, clean, show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.filling import is_own
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.pickle.tables import index_names
from treeaudit.readers.residual.allow_list import (
    LONGEST_TEXT,
    STANDARD,
    Sizes,
    is_note,
    is_short,
    length,
    library_of,
    listed,
)
from treeaudit.readers.residual.extra_content import extra, note, size_of
from treeaudit.readers.residual.rows import CURVES
from treeaudit.readers.walk import Place, is_closed, walk

_DEEPEST_LIST = 4  # lists and dictionaries in one attribute
_UNBOUNDED = 1 << 62
_ARRAYS = (np.ndarray, dict, list, tuple, set, frozenset)
_INDEX = re.compile(r"\[\d[\d, ]*\]")
_COMMON = {
    "_sklearn_version": "",
    "_sklearn_output_config": "dn",
    "_metadata_request": "o",
    "feature_names_in_": "n1",
    "n_features_in_": "",
}
# Node tables: the attribute that they stand in, and their own arrays.
_TABLES = {
    "Tree": ("tree_", ("nodes", "values")),
    "TreePredictor": ("_predictors", ("nodes", "binned_left_cat_bitsets", "raw_left_cat_bitsets")),
}
_COUNTS = ("max_depth", "node_count")
_CHILDREN = {"Tree": ("left_child", "right_child"), "TreePredictor": ("left", "right")}
# Values of columns, which TA204 reports, however many there are.
_COLUMN_VALUES = frozenset(
    "quantiles_ references_ bin_thresholds_ bin_edges_ bsplines_ t _t c _c X_thresholds_ "
    "y_thresholds_ _necessary_X_ _necessary_y_".split()
)
_OF_NODES = frozenset({"_average_path_length_per_tree", "_decision_path_lengths"})
_TRIED = frozenset({"param_grid", "param_distributions", "vocabulary", "stop_words"})
# Texts that distributions of scipy are stored with.
_DOCUMENTATION = frozenset({"__doc__", "_parse_arg_template", "extradoc"})
_MANY = 16
_LONGEST_NAME = 80


def residual(root: object, sizes: Sizes, claimed: Collection[int]) -> Iterator[Extra]:
    """Yield the notes and the extra content of a file.

    Examples
    --------
    >>> bundle = {"accuracy": 0.9, "people": np.zeros((100, 2))}
    >>> [(one.kind, one.where, one.n) for one in residual(bundle, Sizes(), ())]
    [('notes', "['accuracy']", 20), ('extra', "['people']", 1610)]
    """
    return _Residual(sizes, claimed).found(root)


class _Step(NamedTuple):
    """What stands where, and what may stand there.

    ``forms`` are those of the attribute, None beyond the model; ``most`` is how long it may be,
    ``depth`` how many containers of the attribute it lies in, ``level`` how many of the file,
    and ``n_name`` the length of a name that is no more known than the value.
    """

    place: Place
    forms: str | None
    most: int
    depth: int = 0
    level: int = 0
    n_name: int = 0

    def at(self, place: Place, forms: str | None, most: int, n_name: int = 0) -> "_Step":
        """Return a step to a part, in which the depth begins anew."""
        n_name = n_name if forms is None else 0
        return _Step(place, forms, most, 0, self.level + 1, n_name)


class _Residual:
    """The walk of `residual`: what is still to be looked at, and what lies beyond the model."""

    def __init__(self, sizes: Sizes, claimed: Collection[int]) -> None:
        self._sizes = sizes
        self._claimed = frozenset(claimed)
        self._seen = set(claimed)
        self._searched: set[int] = set()
        self._todo: deque[_Step] = deque()
        self._left: list[tuple[Kind, Place, int | None, int]] = []

    def found(self, root: object) -> Iterator[Extra]:
        """Yield what lies beyond the model, the same attribute of all trees at once."""
        self._todo.append(_Step(Place(arrived(root)), None, 0))
        while self._todo:
            step = self._todo.popleft()
            if step.level <= Deepest.walk:
                self._visit(step)
        groups: dict[tuple[Kind, str], list[tuple[Place, int]]] = {}
        for kind, place, size, n_name in self._left:
            n = size_of(place.value, self._seen) if size is None else size
            group = groups.setdefault((kind, _INDEX.sub("[*]", place.path)), [])
            group.append((place, max(1, n) + n_name))
        for (kind, path), group in groups.items():
            first, n = group[0][0], sum(n for _, n in group)
            where = path if len(group) > 1 else first.path
            make = note if kind == "notes" else extra
            yield make(where or "the file itself", first.value, n=n)

    def _visit(self, step: _Step) -> None:
        """Look at one value."""
        value = step.place.value
        if isinstance(value, (Inert, *_ARRAYS)) and id(value) in self._seen:
            return
        if isinstance(value, Inert):
            self._object(step, value)
        elif step.forms is None or not self._fits(value, step):
            self._beyond(step)
        elif isinstance(value, _ARRAYS):
            self._seen.add(id(value))
            if not isinstance(value, np.ndarray) or value.dtype == object:
                deeper = step._replace(depth=step.depth + 1, level=step.level + 1)
                parts = _parts(step.place)
                self._todo += [deeper._replace(place=p) for p in parts if not is_short(p.value)]

    def _fits(self, value: object, step: _Step) -> bool:
        """Tell whether a value has the form of the attribute that it stands in."""
        forms, most = step.forms or "", step.most
        n_axes = int(forms[-1]) if forms[-1:].isdigit() else 0
        nested = not {"s", "d", "o"}.isdisjoint(forms)
        n_axes = max(n_axes, _DEEPEST_LIST) if nested else n_axes
        match value:
            case np.ndarray():
                kind, size = value.dtype.kind, value.dtype.itemsize
                # Other types load as labels and numbers that were not audited.
                usual = size <= 8 if kind in "biuf" else kind in "USO"
                short = max(value.shape, default=0) <= most
                short &= kind not in "US" or size <= 4 * LONGEST_TEXT
                return usual and short and (value.size <= 1 or value.ndim + step.depth <= n_axes)
            case dict():
                words = step.place.step == "vocabulary_"  # however long a word of a text is
                known = nested and step.depth < n_axes and len(value) <= most
                return known and (words or all(map(is_short, value)))
            case list() | tuple() | set() | frozenset():
                return step.depth < n_axes and len(value) <= most
            case bytes() | bytearray() | memoryview():
                return "b" in forms and len(value) <= 8 * most
        return is_short(value)

    def _object(self, step: _Step, value: Inert) -> None:
        """Look at an object: by the list of its class, or by what it holds."""
        if value.cls.module.startswith("numpy.random"):
            return  # TA203 reports it.
        known, forms, library = listed(value), step.forms, library_of(value)
        if known is None and forms is not None and library == "treeaudit":
            forms = forms or "os1"  # the schema and the budget of a trainer
        if value.kind in _TABLES and library == "sklearn":
            self._table(step, value)
        elif known is not None:
            self._attributes(step, value, {**_COMMON, **known})
        elif is_closed(value):
            self._seen.add(id(value))  # TA202 reports the records of a search tree.
        elif self._is_index(value, step):
            self._seen.add(id(value))
            if forms is None:
                self._note(step)
        elif is_own(value.cls.module):
            self._seen.add(id(value))
            parts = list(_parts(step.place))
            self._todo += [step.at(place, None, 0, len(place.step)) for place in parts]
            if not parts:
                self._left.append(("notes", step.place, 1, step.n_name))
        elif library not in STANDARD and not (forms and library == "treeaudit"):
            self._extra(step)
        elif not forms and is_note(value, self._sizes.most_notes):
            self._note(step)
        else:
            self._seen.add(id(value))
            forms = f"b{forms}" if forms else None
            self._todo += [step.at(place, forms, step.most) for place in _parts(step.place)]

    def _is_index(self, value: Inert, step: _Step) -> bool:
        """Tell whether this is an index of pandas with a few names, such as those of columns."""
        names = index_names(value) if library_of(value) == "pandas" else None
        return names is not None and len(names) <= max(self._sizes.most_notes, step.most)

    def _attributes(self, step: _Step, value: Inert, known: Mapping[str, str]) -> None:
        """Look at an object of a listed class."""
        self._seen.add(id(value))
        states = value.state if isinstance(value.state, tuple) else (value.state,)
        plain = [one for one in states if isinstance(one, dict)]
        self._seen.update(map(id, plain))
        state = [(name, arrived(part)) for one in plain for name, part in one.items()]
        # What goes with records that are reported is as long as they are.
        rows = (length(part) for _, part in state if id(part) in self._claimed)
        longest = max(self._sizes.longest, *rows, 0)
        # The readers of documents account for every entry of them.
        document = "forest_" if library_of(value) == "treeaudit" else None
        document = handle_name(value) if value.kind == "Booster" else document
        for name, part in state:
            forms = known.get(name) if isinstance(name, str) else None
            documented = library_of(value) == "scipy" and name in _DOCUMENTATION
            if part is None or name == document or (documented and isinstance(part, str)):
                continue
            if forms is None or not is_short(part):
                at = Place(part, clean(str(name)[:_LONGEST_NAME]), step.place)
                self._todo.append(step.at(at, forms, self._most(name, longest), len(str(name))))
        others = [one for one in states if one is not None and not isinstance(one, dict)]
        parts = [(one, "s1") for one in (*others, value.args, value.items)]
        for part, forms in (*parts, (value.pairs, "osd1")):
            if not isinstance(part, list | tuple | dict) or part:
                self._todo.append(step.at(Place(arrived(part), "", step.place), forms, longest))

    def _most(self, name: object, longest: int) -> int:
        """Return how long the values of an attribute may be."""
        if name in _COLUMN_VALUES or name == "sample_indices_":
            return _UNBOUNDED
        if name in _OF_NODES:
            return max(longest, self._sizes.nodes)
        if name in CURVES:
            return 2 * longest  # with the rounds after the best one, whose trees are not stored
        return _MANY * longest if name in _TRIED else longest + 1

    def _table(self, step: _Step, table: Inert) -> None:
        """Look at a node table: its columns are the model, where it hangs on one."""
        attribute, names = _TABLES[table.kind]
        above: Place | None = step.place
        while above is not None and above.step != attribute:
            above = above.above
        if above is None:
            self._extra(step)
            return
        self._seen.add(id(table))
        for name, part in table.attributes.items():
            part = arrived(part)
            if name in names and isinstance(part, np.ndarray):
                self._seen.add(id(part))
            elif not (name in _COUNTS and isinstance(part, int)):
                at = Place(part, clean(name[:_LONGEST_NAME]), step.place)
                self._todo.append(step.at(at, None, 0, len(name)))
        if n := _unreached(table):
            at = Place(table, "nodes out of reach", step.place)
            self._left.append(("extra", at, n, 0))
        if table.args:
            at = Place(table.args, "", step.place)
            self._todo.append(step.at(at, "s1", self._sizes.longest))

    def _beyond(self, step: _Step) -> None:
        """Take in what is no part of the model: notes, small containers, extra content."""
        value, most = step.place.value, self._sizes.most_notes
        if value is None:
            return
        if is_note(value, most):
            self._note(step)
        elif isinstance(value, dict | list | tuple) and (len(value) <= most or _has_models(value)):
            self._seen.add(id(value))
            for key in value if isinstance(value, dict) else ():
                if not is_short(key):
                    self._left.append(("extra", Place(key, "[key]", step.place), None, 0))
            self._todo += [step.at(p, None, 0, len(p.step)) for p in _parts(step.place)]
        else:
            self._extra(step)

    def _note(self, step: _Step) -> None:
        """Take in plain values beside the model; names of its columns are part of it."""
        value = step.place.value
        if isinstance(value, (Inert, *_ARRAYS)):
            self._seen.add(id(value))
        if tuple(index_names(value) or ()) not in self._sizes.names:
            n = size_of(value, set(self._claimed))
            self._left.append(("notes", step.place, n, step.n_name))

    def _extra(self, step: _Step) -> None:
        """Take in extra content; models inside it are looked at for what they are."""
        value = step.place.value
        again = id(value) in self._searched
        self._left.append(("extra", step.place, 1 if again else None, step.n_name))
        for place in walk(step.place, lambda one: one.value, _unlisted, seen=self._searched):
            if isinstance(place.value, Inert) and listed(place.value) is not None:
                self._todo.append(step.at(place, None, 0))


def _parts(place: Place) -> Iterator[Place]:
    """Yield all parts of a container or of an object, steps of a pipeline by their names."""
    value = place.value
    match value:
        case Inert():
            containers = (value.args, value.items, value.pairs)
            inner = (value.state, *(one for one in containers if one))
            yield from (Place(arrived(part), "", place) for part in inner if part is not None)
        case dict():
            yield from (Place(arrived(v), f"[{show(k, 40)}]", place) for k, v in value.items())
        case np.ndarray() if value.dtype == object:
            for index, part in np.ndenumerate(value):
                yield Place(arrived(part), f"[{', '.join(map(str, index))}]", place)
        case list() | tuple() | set() | frozenset():
            named = isinstance(value, tuple) and value and isinstance(value[0], str)
            for i, part in enumerate(map(arrived, value)):
                first = part[0] if isinstance(part, tuple) and part else None
                name = show(first, 40) if isinstance(first, str) else str(i)
                yield Place(part, "" if named and i == 1 else f"[{name}]", place)


def _unlisted(place: Place) -> Iterator[Place]:
    """Yield the parts of what is no object of a listed class."""
    value = place.value
    is_listed = isinstance(value, Inert) and listed(value) is not None
    return iter(()) if is_listed else _parts(place)


def _has_models(value: dict[object, object] | list[object] | tuple[object, ...]) -> bool:
    """Tell whether a container holds objects of listed classes."""
    parts = value.values() if isinstance(value, dict) else value
    return any(isinstance(one, Inert) and listed(one) is not None for one in map(arrived, parts))


def handle_name(booster: Inert) -> str:
    """Return the attribute of a `Booster` that its library restores the model from."""
    newer = library_of(booster) == "lightgbm" and "_handle" in booster.attributes
    return "_handle" if newer else "handle"


def _unreached(tree: Inert) -> int:
    """Return how many bytes of a node table belong to nodes that do not hang on its root."""
    nodes, sides = arrived(tree.get("nodes")), _CHILDREN[tree.kind]
    if not isinstance(nodes, np.ndarray) or nodes.ndim != 1 or not len(nodes):
        return 0
    if not set(sides) <= set(nodes.dtype.names or ()):
        return nodes.nbytes
    left, right = (nodes[side].astype(np.int64) for side in sides)
    inner = nodes["is_leaf"] == 0 if "is_leaf" in (nodes.dtype.names or ()) else left >= 0
    reached, level = np.zeros(len(nodes), dtype=np.bool_), np.zeros(1, dtype=np.int64)
    while len(level):
        reached[level] = True
        level = level[inner[level]]
        level = np.concatenate([left[level], right[level]])
        level = level[(level > 0) & (level < len(nodes))]
        level = np.unique(level[~reached[level]])
    return int(np.count_nonzero(~reached)) * nodes.itemsize
