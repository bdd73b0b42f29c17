"""What is inside a model file, without auditing it and without running it: `treeaudit inspect`."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from treeaudit.arrays import Array
from treeaudit.errors import ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers import read, uncollected
from treeaudit.readers.detect import name_of
from treeaudit.readers.limits import Limits, clean, show
from treeaudit.readers.open import open_file
from treeaudit.readers.parts import Contents, Name, Part, StoredArray
from treeaudit.readers.pickle import model as pickle
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.pickle_vm import Unpickled
from treeaudit.readers.r import model as r
from treeaudit.readers.r.outline import largest
from treeaudit.readers.r.outline import outline as outline_of_r
from treeaudit.readers.r.serialisation import Stored
from treeaudit.readers.r.walk import Place as PlaceInR
from treeaudit.readers.r.walk import walk as walk_r
from treeaudit.readers.residual.code import is_foreign
from treeaudit.readers.residual.search import find_extras
from treeaudit.readers.sklearn.model_ref import elements
from treeaudit.readers.skops import model as skops
from treeaudit.readers.walk import Place, Walk

_DEEPEST, _MOST_PARTS, _MOST, _FEW = 12, 20, 300, 4
# Parts that only prepare what another part of the same estimator holds fitted.
_FITTED = ("estimators_", "estimator_", "best_estimator_", "base_estimator_", "final_estimator_")
_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "estimators": ("estimators_",),
    "transformers": ("transformers_",),
    **dict.fromkeys(("estimator", "base_estimator"), _FITTED),
    **dict.fromkeys(("estimator_", "base_estimator_"), ("estimators_",)),
    "final_estimator": ("final_estimator_",),
    "init": ("init_",),
}
# Objects that estimators use and that say nothing about what was learned.
_TOOLS = ("numpy", "scipy", "sklearn.utils", "sklearn.metrics", "sklearn.model_selection._split")
_LISTS = frozenset(
    (
        "steps transformers_ transformers transformer_list estimators_ estimators "
        "calibrated_classifiers_ calibrators"
    ).split()
)
_LARGEST, _WORTH_LISTING = 10, 1024
_VERSIONS: Mapping[str, str] = {
    "_sklearn_version": "scikit-learn",
    "_xgboost_version": "xgboost",
    "_lightgbm_version": "lightgbm",
}


@uncollected()
def describe(
    path: str | os.PathLike[str], *, select: str | None = None, max_bytes: int | None = None
) -> Contents:
    """Return what a file holds, whether or not it can be audited."""
    limits = Limits.up_to(max_bytes)
    content = open_file(path, limits)
    is_pickle, head = pickle.matches(content), bytes(content.data[:2]) + b"\0"
    contents = Contents(
        path=str(Path(path)),
        n_bytes=content.n_bytes,
        sha256=content.digest(),
        compression=content.compression,
        format="pickle" if is_pickle else re.split(r" \(|[:,]", name_of(content.data))[0],
        protocol=None if not is_pickle else head[1] if head[:1] == b"\x80" else 0,
    )
    forest: Forest | None = None
    limits = content.within(limits)
    in_r = r.parse(content, limits) if r.matches(content) else None
    places = [] if in_r is None else list(walk_r(in_r.root))
    try:
        source = Source(path=str(Path(path)), digest=content.digest, n_bytes=content.n_bytes)
        if in_r is None:
            forest = read(content, source, select, limits)
        else:
            forest = r.model_of(in_r, places, source, select)
        contents = replace(
            contents,
            format=forest.source.format,
            model=_model(forest),
            structure=_structure(forest),
        )
    except UnsafeModelError as error:
        return replace(contents, refused=str(error))
    except UnsupportedModelError as error:
        contents = replace(contents, no_model=str(error))
    except ReadError as error:
        if contents.format != "a text file":
            raise
        return replace(contents, no_model=str(error))
    n_records = None if forest is None else forest.n_records
    if skops.matches(content):
        file = skops.parse(content, limits)
        root, mentioned = file.root, file.mentioned
        return _of_pickle(contents, Unpickled(root, content.n_bytes, mentioned), n_records)
    if in_r is not None:
        return _of_r(contents, in_r, places, forest)
    if not is_pickle:
        return contents if forest is None else _of_model(contents, forest)
    try:
        unpickled = pickle.parse(content, limits)
    except UnsupportedModelError:
        return contents if forest is None else _of_model(contents, forest)
    return _of_pickle(contents, unpickled, n_records)


def _model(forest: Forest) -> str:
    """Say what an audit would look at."""
    where = f" at {forest.source.inside}" if forest.source.inside else ""
    trees = "1 tree" if forest.n_trees == 1 else f"{forest.n_trees:,} trees"
    people = "" if forest.n_records is None else f", {forest.n_records:,} people"
    reason = f" ({forest.counts_reason})" if forest.counts_reason else ""
    counts = f"class counts are {forest.counts_are}{reason}"
    return f"{forest.source.estimator}{where}: {trees}{people}; {counts}"


def _structure(forest: Forest) -> str:
    """Say that the trees were checked, and how skops loads them."""
    wrong = [f"{one.where}: {one.says}" for one in forest.extras.found if one.kind == "malformed"]
    if wrong:
        return wrong[0]
    call = forest.source.skops_call
    return f"checked: the trees hold together{call and f'; load with {call}'}"


def _of_model(contents: Contents, forest: Forest) -> Contents:
    version = forest.source.library_version
    # Our own form keeps the version of the library that trained the model.
    library = forest.source.format.partition("-")[0].replace("treeaudit", "version")
    return replace(
        contents,
        versions=() if version is None else (f"{library} {version}".strip(),),
        outline=_of_forest(forest),
        leftovers=forest.extras.found,
    )


def _of_r(
    contents: Contents, stored: Stored, places: list[PlaceInR], forest: Forest | None
) -> Contents:
    return replace(
        contents,
        format=stored.format,
        versions=(f"R {stored.version}",),
        outline=outline_of_r(stored.root),
        arrays=largest(places, _LARGEST, _WORTH_LISTING),
        leftovers=(r.extras_of(places) if forest is None else forest.extras).found,
    )


def _of_pickle(contents: Contents, unpickled: Unpickled, n_records: int | None) -> Contents:
    by_joblib = any("numpy_pickle" in name.module for name in unpickled.mentioned)
    form = contents.format
    return replace(
        contents,
        format="joblib" if by_joblib and form == "pickle" else form,
        versions=_versions(unpickled.root),
        outline=outline(unpickled.root),
        arrays=_arrays(unpickled.root),
        leftovers=find_extras(unpickled.root, n_records, unpickled.mentioned).found,
        names=_names(unpickled.mentioned),
    )


def _versions(root: object) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for place in Walk(root):
        if isinstance(place.value, Inert):
            for attribute, library in _VERSIONS.items():
                version = place.value.get(attribute)
                if isinstance(version, str):
                    found[f"{library} {clean(version[:40])}"] = None
    return tuple(found)[:_LARGEST]


def _arrays(root: object) -> tuple[StoredArray, ...]:
    """Return the largest arrays; those of all trees of a forest count as one."""
    sizes: Counter[tuple[str, str]] = Counter()
    shapes: dict[tuple[str, str], tuple[int, ...]] = {}
    for where, array in _all_arrays(root):
        dtype = "record" if array.dtype.names else array.dtype.name
        key = (where, dtype)
        many = key in shapes
        shapes[key] = (len(array) + shapes[key][0], *array.shape[1:]) if many else array.shape
        sizes[key] += array.nbytes
    return tuple(
        StoredArray(where=key[0], shape=shapes[key], dtype=key[1], n_bytes=n)
        for key, n in sizes.most_common(_LARGEST)
        if n >= _WORTH_LISTING
    )


def _all_arrays(root: object) -> Iterator[tuple[str, Array]]:
    for place in Walk(root):
        value = place.value
        if isinstance(value, Inert) and value.kind in ("Tree", "TreePredictor"):
            family = _family(place)
            for name in ("nodes", "values"):
                array = arrived(value.get(name))
                if isinstance(array, np.ndarray) and array.ndim:
                    yield f"{family}.{name}", array
        elif isinstance(value, np.ndarray) and value.dtype != object and value.ndim:
            yield place.path or "the file itself", value


def _family(place: Place) -> str:
    """Name a stored tree, or all trees of its list at once."""
    member = place if place.step.startswith("[") else place.above
    if member is None or not member.step.startswith("[") or member.above is None:
        return place.path
    return member.above.at("[*]") + ("" if member is place else ".tree_")


def _names(mentioned: Sequence[Global]) -> tuple[Name, ...]:
    times = Counter((name.module, name.name) for name in mentioned)
    foreign = {(n.module, n.name) for n in mentioned if is_foreign(n)}
    found = [
        Name(name=clean(f"{module}.{name}"), n=n, foreign=(module, name) in foreign)
        for (module, name), n in times.most_common()
    ]
    return tuple(sorted(found, key=lambda one: (not one.foreign, -one.n, one.name)))


def outline(root: object) -> Part:
    """Return the estimators in a file, from the outside to the inside."""
    return _part("", arrived(root), _DEEPEST, set())


def _of_forest(forest: Forest) -> Part:
    """Return the outline of a model that was read already."""
    nodes = leaves = 0
    for tree in forest.trees:
        nodes, leaves = nodes + tree.n_nodes, leaves + len(tree.leaves)
    facts = [_n(forest.n_trees, "tree"), _n(nodes, "node"), _n(leaves, "leaf", "leaves")]
    facts.append(_n(len(forest.schema.features), "feature"))
    facts += _classes(None if forest.schema.classes is None else list(forest.schema.classes))
    parts = tuple(
        Part(name=member.inside, kind=member.estimator, facts=(_n(member.n_trees, "tree"),))
        for member in forest.members[:_MOST_PARTS]
    )
    return Part(name="", kind=forest.source.estimator, facts=tuple(facts), parts=parts)


def _part(name: str, value: object, deeper: int, visited: set[int]) -> Part:
    if isinstance(value, Inert | dict | list | tuple) and value:
        if id(value) in visited or len(visited) >= _MOST:
            fact = "as above" if id(value) in visited else "…"
            kind = value.kind if isinstance(value, Inert) else type(value).__name__
            return Part(name=name, kind=clean(kind), facts=(fact,))
        visited.add(id(value))
    match value:
        case Inert():
            return _estimator(name, value, deeper, visited)
        case dict():
            named = [(show(k), arrived(v)) for k, v in list(value.items())[: _MOST_PARTS + 1]]
            return _bundle(name, value, named, deeper, visited)
        case list() | tuple():
            kinds = {v.kind for v in map(arrived, value) if isinstance(v, Inert)}
            if len(value) > _FEW and not kinds:
                return Part(name=name, kind=type(value).__name__, facts=(_n(len(value), "item"),))
            numbered = [(f"[{i}]", arrived(v)) for i, v in enumerate(value[: _MOST_PARTS + 1])]
            return _bundle(name, value, numbered, deeper, visited)
        case np.ndarray():
            shape = " × ".join(f"{size:,}" for size in value.shape)
            return Part(name=name, kind="array", facts=(shape or "scalar", value.dtype.name))
        case _:
            return Part(name=name, kind=show(value))


def _bundle(
    name: str, value: object, members: list[tuple[str, object]], deeper: int, visited: set[int]
) -> Part:
    size = len(value) if isinstance(value, dict | list | tuple) else 0
    shown = members[:_MOST_PARTS] if deeper else []
    parts = [_part(key, v, deeper - 1, visited) for key, v in shown]
    if size > len(parts):
        parts.append(Part(name="…", kind=f"{size - len(parts):,} more"))
    facts = (_n(size, "item"),)
    return Part(name=name, kind=type(value).__name__, facts=facts, parts=tuple(parts))


def _estimator(name: str, value: Inert, deeper: int, visited: set[int]) -> Part:
    attributes = {key: arrived(v) for key, v in value.attributes.items()}
    trees = _trees(attributes)
    facts: list[str] = []
    if trees:
        nodes, leaves = (sum(counts) for counts in zip(*map(_size, trees), strict=True))
        facts = [_n(len(trees), "tree"), _n(nodes, "node"), _n(leaves, "leaf", "leaves")]
    width = attributes.get("n_features_in_", attributes.get("n_features_"))
    if isinstance(width, int) and 0 < width < 1 << 40:
        facts.append(_n(width, "feature"))
    classes = attributes.get("classes_")
    if isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.dtype.names is None:
        facts += _classes([arrived(v) for v in classes[: _FEW + 1].tolist()], len(classes))
    parts: list[Part] = []
    if deeper:
        for key, members in _members(attributes, fitted=bool(trees)):
            if len(parts) == _MOST_PARTS:
                parts.append(Part(name="…", kind="more"))
                break
            parts.append(_part(key, members, deeper - 1, visited))
    kind = value.kind if value.cls.module.partition(".")[0] == "sklearn" else show(value.cls)
    return Part(name=name, kind=clean(kind), facts=tuple(facts), parts=tuple(parts))


def _members(attributes: Mapping[str, object], *, fitted: bool) -> Iterator[tuple[str, object]]:
    """Yield the estimators that an estimator holds, each under its name."""
    for key, value in attributes.items():
        if any(attributes.get(instead) is not None for instead in _TEMPLATES.get(key, ())):
            continue
        if isinstance(value, Inert):
            if _is_estimator(value):
                yield clean(key[:60]), value
        elif key in _LISTS and isinstance(value, list | tuple | np.ndarray) and not fitted:
            yield from _listed(key, value)


def _listed(key: str, stored: object) -> Iterator[tuple[str, object]]:
    for i, members in enumerate(elements(stored)[: _MOST_PARTS + 1]):
        if isinstance(members, tuple) and len(members) > 1 and isinstance(members[0], str):
            yield clean(members[0][:60]), arrived(members[1])
        elif isinstance(members, Inert | str):
            yield f"{key}[{i}]", members


def _is_estimator(value: Inert) -> bool:
    module = value.cls.module
    inside = module.startswith(_TOOLS) or "_loss" in module or value.kind == "Tree"
    return bool(value.attributes) and not inside


def _trees(attributes: Mapping[str, object]) -> list[Inert]:
    """Return the tables of an estimator's own trees."""
    own = attributes.get("tree_")
    if isinstance(own, Inert):
        return [own] if own.kind == "Tree" else []
    rounds = attributes.get("_predictors")
    if isinstance(rounds, list):
        members = [tree for each in rounds for tree in elements(each)]
    else:
        # One-vs-one keeps a tuple: each of its members has classes of its own to show.
        stored = attributes.get("estimators_")
        members = [] if isinstance(stored, tuple) else elements(stored)
        members = [arrived(m.get("tree_")) if isinstance(m, Inert) else None for m in members]
    trees = [tree for tree in members if isinstance(tree, Inert)]
    return trees if len(trees) == len(members) or rounds else []


def _size(tree: Inert) -> tuple[int, int]:
    """Return nodes and leaves of a stored tree; zeros where it is damaged."""
    nodes = arrived(tree.get("nodes"))
    if not isinstance(nodes, np.ndarray) or nodes.ndim != 1:
        return 0, 0
    names = nodes.dtype.names or ()
    if "left_child" in names and nodes.dtype["left_child"].kind == "i":
        return len(nodes), int(np.count_nonzero(nodes["left_child"] < 0))
    if "is_leaf" in names and nodes.dtype["is_leaf"].kind in "biu":
        return len(nodes), int(np.count_nonzero(nodes["is_leaf"]))
    return len(nodes), 0


def _classes(labels: list[object] | None, n: int | None = None) -> list[str]:
    if labels is None:
        return []
    size = len(labels) if n is None else n
    shown = ", ".join(clean(v[:30]) if isinstance(v, str) else show(v, 30) for v in labels[:_FEW])
    return [f"{_n(size, 'class', 'classes')}: {shown}{', …' if size > _FEW else ''}"]


def _n(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"
