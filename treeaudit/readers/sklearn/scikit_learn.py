"""Turn the inert record of a scikit-learn model into a `Forest`.

The model is taken apart into those that hold trees (`models`), each is read
over the columns that it saw (`tree_ensembles`, `histogram_boosting`), the
steps in front of it are undone (`behind`), and those that belong
together are put in a row (`join`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Label
from treeaudit.model.source import Member, Source
from treeaudit.readers.limits import Most, clean
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.answers import answers_of
from treeaudit.readers.sklearn.behind import plan_behind, undone
from treeaudit.readers.sklearn.draw_seeds import draw_seeds
from treeaudit.readers.sklearn.first_tree import with_first_counts
from treeaudit.readers.sklearn.found import Found, names_in
from treeaudit.readers.sklearn.grove import Budget, Grove
from treeaudit.readers.sklearn.histogram_boosting import read_histogram_boosting
from treeaudit.readers.sklearn.join import Part, join
from treeaudit.readers.sklearn.models import members_of
from treeaudit.readers.sklearn.read_apart import is_read_apart
from treeaudit.readers.sklearn.remarks import not_audited, note_code, parameters
from treeaudit.readers.sklearn.rounds import boosting_of
from treeaudit.readers.sklearn.tree_ensembles import read_trees


def to_forest(found: Found, source: Source, n_bytes: int) -> Forest:
    """Return the forest that a stored scikit-learn model describes."""
    estimator = found.estimator
    members = members_of(found)
    budget = Budget(n_bytes)
    pieces = [_piece(member, budget) for member in members.trees]
    if not pieces:
        raise ReadError(f"the {found.estimator.kind} is damaged: it holds no tree that can be read")
    chosen = _together(pieces, found.classes)
    picked = any(len(piece.found.before) > len(found.before) for piece in chosen)
    alike = len({piece.grove.schema.features for piece in chosen}) == 1
    columns = () if alike and not picked else _columns(found, chosen, budget)
    joined = join(chosen, columns, found.classes)
    apart = [piece.found for piece in pieces if piece not in chosen]
    # Models of other libraries are audited on their own.
    others = [one for one in members.others if not is_read_apart(one.estimator)]
    warnings = [text for piece in chosen for text in piece.grove.warnings]
    warnings += not_audited(apart, others)
    note_code(estimator, warnings)
    attributes = {name: arrived(value) for name, value in estimator.attributes.items()}
    version = attributes.get("_sklearn_version")
    alone = len(chosen) == 1 and chosen[0].found.estimator is estimator
    told = replace(
        joined,
        answers=answers_of(found, [(piece.found, piece.grove.n_trees) for piece in chosen]),
        n_records=_n_records(found, joined.n_records),
        source=replace(
            source,
            estimator=estimator.kind,
            inside=found.inside,
            library="scikit-learn",
            library_version=clean(version) if isinstance(version, str) else None,
            parameters=parameters(attributes),
            stored=found,
        ),
        warnings=tuple(dict.fromkeys(warnings)),
        seeds=draw_seeds(estimator) if alone else None,
        members=() if alone else tuple(piece.member for piece in chosen),
    )
    if not alone or estimator.get("loss") is None:
        return told
    return replace(told, boosting=boosting_of(estimator, told))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Piece(Part):
    """A model with trees of its own, and which columns they ask about."""

    found: Found
    columns: object


def _piece(found: Found, budget: Budget) -> _Piece:
    """Read a model with trees of its own, and say it in terms of the data."""
    kind, seen = found.estimator.kind, found.seen
    read = read_histogram_boosting if kind.startswith("HistGradient") else read_trees
    grove = read(found, budget)
    if found.get("loss") is not None:
        grove = with_first_counts(found, grove)
    grove = _named(found, grove, budget)
    warnings = list(grove.warnings)
    plan = plan_behind(found, grove, budget, warnings) if found.before else None
    warnings += [f"{found.inside} is read alone: {seen.apart}"] if seen.apart else []
    warnings += [seen.note] if seen.note else []
    # Of a changed target, or of one among several, the numbers of the table are no measure.
    changed = seen.note or seen.apart or seen.target or seen.own_labels
    grove = grove if plan is None else undone(grove, plan)
    if found.before and plan is None and not seen.apart:
        grove = replace(grove, schema=replace(grove.schema, named=False))
    grove = replace(
        grove,
        warnings=tuple(warnings),
        values_are="unknown" if changed else grove.values_are,
    )
    transformed = bool(found.before) and (plan is None or bool(plan.made))
    return _Piece(
        member=Member(inside=found.inside, estimator=kind, n_trees=grove.n_trees),
        grove=grove,
        own_labels=seen.own_labels,
        some=seen.split,
        found=found,
        columns=(seen.apart, tuple(map(id, found.before)) if transformed else ()),
    )


def _together(pieces: Sequence[_Piece], classes: tuple[Label, ...] | None) -> list[_Piece]:
    """Return the models over the same columns and classes that have most of the trees."""
    groups: dict[object, list[_Piece]] = {}
    for piece in pieces:
        own, labels = piece.own_labels, piece.grove.schema.classes
        known = labels is not None and (own or classes is None or set(labels) <= set(classes))
        key = (piece.columns, own, None if labels is None else known or labels)
        groups.setdefault(key, []).append(piece)

    def size(group: list[_Piece]) -> tuple[bool, int]:
        return not group[0].found.seen.apart, sum(p.grove.n_trees for p in group)

    return max(groups.values(), key=size)


def _named(found: Found, grove: Grove, budget: Budget) -> Grove:
    """Take the names of columns from the model around, and add those that it put behind."""
    n = len(grove.schema.features)
    added, names = found.seen.added, found.seen.names
    if found.before or found.seen.apart or (grove.schema.named and not added):
        return grove
    outer = budget.named(names, n - len(added))
    if outer is None and not added:
        return grove
    features = outer or grove.schema.features[: n - len(added)]
    if features and any(one.categories is not None for one in grove.schema.features):
        both = zip(features, grove.schema.features, strict=False)
        features = tuple(replace(one, name=named.name) for named, one in both)
    features += tuple(Feature(name=name) for name in added)
    if len(features) != n:
        return grove
    return replace(grove, schema=replace(grove.schema, features=features, named=outer is not None))


def _columns(found: Found, pieces: Sequence[_Piece], budget: Budget) -> tuple[Feature, ...]:
    """Return the columns of the data, in front of everything."""
    first = found.before[0] if found.before else found.estimator
    names = names_in(first) if isinstance(first, Inert) else None
    names = found.seen.names if names is None else names
    if names is not None:
        return budget.named(names, len(names)) or ()
    for name in ("n_features_in_", "n_features_"):
        stated = first.get(name) if isinstance(first, Inert) else None
        if isinstance(stated, int) and 0 < stated <= Most.features:
            return budget.unnamed(stated)
    return max((p.grove.schema.features for p in pieces), key=len)


def _n_records(found: Found, joined: int | None) -> int | None:
    stated = found.get("_n_samples")
    if joined is not None or found.seen.rows == "repeated" or not isinstance(stated, int):
        return joined
    return stated if 0 < stated < Most.people else None
