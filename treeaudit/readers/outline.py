"""The estimators in a file and how they hold each other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from treeaudit.model.forest import Forest
from treeaudit.readers.limits import clean, show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.model_ref import elements

_DEEPEST = 12
_MOST_PARTS = 20
_MOST = 300
_FEW = 4
# Parts that only prepare what another part of the same estimator holds fitted.
_TEMPLATES: Mapping[str, str] = {
    "estimators": "estimators_",
    "transformers": "transformers_",
    "estimator": "",
    "base_estimator": "",
    "estimator_": "estimators_",
    "base_estimator_": "estimators_",
    "final_estimator": "final_estimator_",
    "init": "init_",
}
# Objects that estimators use and that say nothing about what was learned.
_TOOLS = ("numpy", "scipy", "sklearn.utils", "sklearn.metrics", "sklearn.model_selection._split")
_LISTS = frozenset(
    (
        "steps transformers_ transformers transformer_list estimators_ estimators "
        "calibrated_classifiers_ calibrators"
    ).split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Something in the file.

    Attributes
    ----------
    name
        How its holder calls it; empty at the top.
    kind
        Its class, as the file names it.
    facts
        What is known of it, a few words each.
    parts
        What it holds.
    """

    name: str
    kind: str
    facts: tuple[str, ...] = ()
    parts: tuple["Part", ...] = ()


def outline(root: object) -> Part:
    """Return the estimators in a file, from the outside to the inside.

    Examples
    --------
    >>> import pickle
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from treeaudit.readers.pickle.pickle_vm import read_pickle
    >>> pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    >>> found = outline(read_pickle(pickle.dumps(pipeline)).root)
    >>> found.kind, [(part.name, part.kind) for part in found.parts]
    ('Pipeline', [('standardscaler', 'StandardScaler'), ('decisiontreeclassifier', \
'DecisionTreeClassifier')])
    """
    return _part("", arrived(root), _DEEPEST, set())


def of_forest(forest: Forest) -> Part:
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


def _part(name: str, value: object, deeper: int, seen: set[int]) -> Part:
    if isinstance(value, Inert | dict | list | tuple) and value:
        if id(value) in seen or len(seen) >= _MOST:
            fact = "as above" if id(value) in seen else "…"
            kind = value.kind if isinstance(value, Inert) else type(value).__name__
            return Part(name=name, kind=clean(kind), facts=(fact,))
        seen.add(id(value))
    match value:
        case Inert():
            return _estimator(name, value, deeper, seen)
        case dict():
            named = [(show(k), arrived(v)) for k, v in list(value.items())[: _MOST_PARTS + 1]]
            return _bundle(name, value, named, deeper, seen)
        case list() | tuple():
            kinds = {v.kind for v in map(arrived, value) if isinstance(v, Inert)}
            if len(value) > _FEW and not kinds:
                return Part(name=name, kind=type(value).__name__, facts=(_n(len(value), "item"),))
            numbered = [(f"[{i}]", arrived(v)) for i, v in enumerate(value[: _MOST_PARTS + 1])]
            return _bundle(name, value, numbered, deeper, seen)
        case np.ndarray():
            shape = " × ".join(f"{size:,}" for size in value.shape)
            return Part(name=name, kind="array", facts=(shape or "scalar", value.dtype.name))
        case _:
            return Part(name=name, kind=show(value))


def _bundle(
    name: str, value: object, held: list[tuple[str, object]], deeper: int, seen: set[int]
) -> Part:
    size = len(value) if isinstance(value, dict | list | tuple) else 0
    parts = [_part(key, v, deeper - 1, seen) for key, v in held[:_MOST_PARTS]] if deeper else []
    if size > len(parts):
        parts.append(Part(name="…", kind=f"{size - len(parts):,} more"))
    facts = (_n(size, "item"),)
    return Part(name=name, kind=type(value).__name__, facts=facts, parts=tuple(parts))


def _estimator(name: str, value: Inert, deeper: int, seen: set[int]) -> Part:
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
        for key, held in _held(attributes, fitted=bool(trees)):
            if len(parts) == _MOST_PARTS:
                parts.append(Part(name="…", kind="more"))
                break
            parts.append(_part(key, held, deeper - 1, seen))
    kind = value.kind if value.cls.module.partition(".")[0] == "sklearn" else show(value.cls)
    return Part(name=name, kind=clean(kind), facts=tuple(facts), parts=tuple(parts))


def _held(attributes: Mapping[str, object], *, fitted: bool) -> Iterator[tuple[str, object]]:
    """Yield the estimators that an estimator holds, each under its name."""
    for key, value in attributes.items():
        instead = _TEMPLATES.get(key)
        if instead is not None and _is_done(attributes, instead):
            continue
        if isinstance(value, Inert):
            if _is_estimator(value):
                yield clean(key[:60]), value
        elif key in _LISTS and isinstance(value, list | tuple | np.ndarray) and not fitted:
            yield from _listed(key, value)


def _is_done(attributes: Mapping[str, object], instead: str) -> bool:
    if instead:
        return attributes.get(instead) is not None
    return any(name.endswith("estimator_") or name == "estimators_" for name in attributes)


def _listed(key: str, stored: object) -> Iterator[tuple[str, object]]:
    for i, held in enumerate(elements(stored)[: _MOST_PARTS + 1]):
        if isinstance(held, tuple) and len(held) > 1 and isinstance(held[0], str):
            yield clean(held[0][:60]), arrived(held[1])
        elif isinstance(held, Inert | str):
            yield f"{key}[{i}]", held


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
        held = [tree for each in rounds for tree in elements(each)]
    else:
        # One-vs-one keeps a tuple: each of its members has classes of its own to show.
        stored = attributes.get("estimators_")
        members = [] if isinstance(stored, tuple) else elements(stored)
        held = [arrived(m.get("tree_")) if isinstance(m, Inert) else None for m in members]
    trees = [tree for tree in held if isinstance(tree, Inert)]
    return trees if len(trees) == len(held) or rounds else []


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
    shown = ", ".join(_text(label) for label in labels[:_FEW])
    return [f"{_n(size, 'class', 'classes')}: {shown}{', …' if size > _FEW else ''}"]


def _n(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _text(label: object) -> str:
    return clean(label[:30]) if isinstance(label, str) else show(label, 30)
