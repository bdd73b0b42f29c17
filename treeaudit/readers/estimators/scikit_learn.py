"""Turn the inert record of a scikit-learn model into a `Forest`.

The model is taken apart into those that hold trees (`models`), each is read
over the columns that it saw (`tree_ensembles`, `histogram_boosting`), the
steps in front of it are undone (`preprocessing`), and those that belong
together are put in a row (`join`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from treeaudit.dataclass import dataclass
from treeaudit.errors import ReadError
from treeaudit.later import later
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Label
from treeaudit.model.source import Member, Source
from treeaudit.model.tree import Tree
from treeaudit.readers.estimators.answers import answers_of
from treeaudit.readers.estimators.carried_sets import codes_behind, features_behind, undo_with_sets
from treeaudit.readers.estimators.draw_seeds import draw_seeds
from treeaudit.readers.estimators.first_tree import with_first_counts
from treeaudit.readers.estimators.found import Found, names_in
from treeaudit.readers.estimators.grove import Budget, Grove
from treeaudit.readers.estimators.join import Part, join
from treeaudit.readers.estimators.labels import label_of
from treeaudit.readers.estimators.models import members_of
from treeaudit.readers.estimators.preprocessing import Plan, plan_of, width_in
from treeaudit.readers.estimators.remarks import not_audited, note_code, parameters
from treeaudit.readers.estimators.rounds import boosting_of
from treeaudit.readers.estimators.tree_ensembles import read_trees
from treeaudit.readers.estimators.undo import undo
from treeaudit.readers.leftovers.nodes import Sound
from treeaudit.readers.limits import Most, clean, show
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.types import Wide

if TYPE_CHECKING:
    from treeaudit.readers.estimators.histogram_boosting import read_histogram_boosting
else:
    read_histogram_boosting = later(
        "treeaudit.readers.estimators.histogram_boosting", "read_histogram_boosting"
    )

__all__ = ["to_forest"]


def to_forest(found: Found, source: Source, n_bytes: int, sound: Sound | None = None) -> Forest:
    """Return the forest that a stored scikit-learn model describes.

    Parameters
    ----------
    found
        The model inside the file.
    source
        What is known of the file; estimator, version and parameters are added.
    n_bytes
        Size of the unpacked file. Its trees cannot take more.
    sound
        Told of the trees of which every number is accounted for.

    Raises
    ------
    ModelTooLargeError
        If the file repeats its trees to seem larger than it is.
    ReadError
        If the stored tree contradicts itself.
    UnsupportedModelError
        If it was never fitted.
    """
    estimator = found.estimator
    members = members_of(found)
    budget = Budget(n_bytes, sound)
    pieces = [_piece(member, budget) for member in members.trees]
    if not pieces:
        raise ReadError(f"the {found.estimator.kind} is damaged: it holds no tree that can be read")
    chosen = _together(pieces, found.classes)
    picked = any(len(piece.found.before) > len(found.before) for piece in chosen)
    alike = len({piece.grove.schema.features for piece in chosen}) == 1
    columns = () if alike and not picked else _columns(found, chosen, budget)
    joined = join(chosen, columns, found.classes)
    others = [piece.found for piece in pieces if piece not in chosen] + members.others
    warnings = [text for piece in chosen for text in piece.grove.warnings]
    warnings += not_audited(others)
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
    return replace(told, boosting=boosting_of(estimator, told)) if alone else told


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Piece(Part):
    """A model with trees of its own, and which columns they ask about."""

    found: Found
    columns: object


def _piece(found: Found, budget: Budget) -> _Piece:
    """Read a model with trees of its own, and say it in terms of the data."""
    kind, seen = found.estimator.kind, found.seen
    read = read_histogram_boosting if kind.startswith("HistGradient") else read_trees
    grove = _named(found, with_first_counts(found, read(found, budget)), budget)
    warnings = list(grove.warnings)
    plan = _plan(found, grove, budget, warnings)
    warnings += [f"{found.inside} is read alone: {seen.apart}"] if seen.apart else []
    warnings += [seen.note] if seen.note else []
    # Of a changed target, or of one among several, the numbers of the table are no measure.
    means = grove.means and not (seen.note or seen.apart or seen.target or seen.own_labels)
    grove = grove if plan is None else _undone(grove, plan)
    if found.before and plan is None and not seen.apart:
        grove = replace(grove, schema=replace(grove.schema, named=False))
    grove = replace(grove, warnings=tuple(warnings), means=means)
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


def _plan(found: Found, grove: Grove, budget: Budget, warnings: list[str]) -> Plan | None:
    """Return how to undo the steps before the trees, and say what cannot be undone."""
    if not found.before:
        return None
    names, n_seen = found.seen.names, len(grove.schema.features)
    width = width_in(found.before, n_seen) or 0
    budget.undo(max(width if width <= Most.features else 0, n_seen))
    if names is not None:
        known: list[str] | None = [str(label_of(arrived(name))) for name in names.tolist()]
    else:
        known = grove.schema.names if grove.schema.named else None
    plan = plan_of(found.before, n_seen, known)
    if plan is not None and _too_many_codes(plan, grove):
        plan = plan.without_sets()
    if plan is not None and codes_behind(grove.schema.features, plan) is None:
        plan = None
    if plan is None:
        kinds = ", ".join(_kinds(found.before))
        warnings.append(
            f"the steps before the tree ({kinds}) do not tell what its columns are: conditions "
            "are in transformed units"
        )
    elif plan.made:
        warnings.append(
            f"what {', '.join(plan.made[:8])} made of the columns cannot be undone: "
            "conditions on it are in transformed units"
        )
    return plan


def _kinds(steps: Sequence[object]) -> list[str]:
    """Name some steps, as many as one reads."""
    return [step.kind if isinstance(step, Inert) else show(step) for step in steps[:8]]


def _too_many_codes(plan: Plan, grove: Grove) -> bool:
    if not any(column.known for column in plan.columns):
        return False
    return any(plan.n_codes(grove.tested(i)) > Most.made_codes for i in range(grove.n_trees))


def _undone(grove: Grove, plan: Plan) -> Grove:
    seen, features = grove.schema.features, plan.features
    codes = None
    if any(feature.categories is not None for feature in seen):
        codes = codes_behind(seen, plan)
        features = features_behind(seen, plan)
    schema = replace(grove.schema, features=features, named=plan.named)
    rounded = grove.single_precision and plan.scales
    build = partial(_built, grove, plan, codes, rounded=rounded)
    single = grove.single_precision and not rounded
    return replace(grove, build=build, schema=schema, single_precision=single)


def _built(
    grove: Grove, plan: Plan, codes: list[Wide | None] | None, i: int, *, rounded: bool
) -> Tree:
    tree = grove.build(i)
    if codes is None:
        return undo(tree, plan, rounded=rounded)
    return undo_with_sets(tree, plan, codes, rounded=rounded)


def _n_records(found: Found, joined: int | None) -> int | None:
    stated = found.get("_n_samples")
    if joined is not None or found.seen.rows == "repeated" or not isinstance(stated, int):
        return joined
    return stated if 0 < stated < Most.people else None
