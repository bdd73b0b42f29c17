"""Single trees, and ensembles that hold their trees directly, as scikit-learn stores them.

Reads what `sklearn.tree._tree.Tree` stores (node table and values), in every
layout from 0.18 to 1.9: fields are taken by name and unknown ones ignored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.forest import RecordsAre, ValuesAre
from treeaudit.model.schema import Label, Schema
from treeaudit.model.tree import SpreadIs, Tree
from treeaudit.readers.limits import Most, show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.filling import is_own
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.counts import Meaning, class_weights, meanings, weakest
from treeaudit.readers.sklearn.ensembles import BAGS, FORESTS, children
from treeaudit.readers.sklearn.model_ref import (
    Budget,
    FittedEnsemble,
    ModelRef,
    TrainingContext,
    class_labels,
    elements,
    is_tree,
    names_in,
)
from treeaudit.readers.sklearn.node_table import NodeTable, kind_of_spread, read_nodes, spread_of

BOUNDED = "monotonicity constraints clip the numbers in its leaves, which may be no means"


def read_trees(found: ModelRef, budget: Budget) -> FittedEnsemble:
    """Return the trees of a stored tree, forest, bag or boosting."""
    trees = _trees(found)
    seen = _contexts(found, trees)
    model = found.estimator
    records = _records(model, trees, budget, apart=model.kind in BAGS)
    if model.kind in FORESTS:
        _check_stated(model, records[0])
    columns, n_features = _columns(found, records)
    classes = _classes(found, records)
    if found.estimator.kind in BAGS:
        _check_bag(found, len(trees), classes)
    known = classes is not None
    meaning = meanings(found, trees, records, seen, classifier=known)
    spreads = kind_of_spread(model, trees) if classes is None else None
    places = None
    if classes is not None and found.estimator.kind in BAGS:
        places = _places(found.given, trees, records, classes)
    records_are = _records_are(found, seen, records)
    n_records = _n_records(found, records, seen)
    warnings = _remarks(records, seen)
    if classes is None and _are_bounded(trees):
        warnings = (*warnings, BOUNDED)
    features = budget.named(names_in(found.estimator), n_features)
    return FittedEnsemble(
        build=_Trees(records, meaning, seen, columns, places, classes, spreads).build,
        n_trees=len(records),
        tested=lambda i: _tested(records[i], None if columns is None else columns[i]),
        schema=Schema(
            features=features or budget.unnamed(n_features),
            classes=classes,
            named=features is not None,
        ),
        counts_are=weakest(meaning).counts_are,
        counts_reason=weakest(meaning).reason,
        records_are=records_are,
        n_records=n_records,
        single_precision=True,
        warnings=warnings,
        class_weights=_class_weights(meaning, places, classes),
        values_are=_values_are(model, trees, records, spreads),
    )


def _values_are(
    model: Inert, trees: Sequence[Inert], records: Sequence[NodeTable], spreads: SpreadIs | None
) -> ValuesAre:
    """Say what values are of people who all weigh the same, where no value was bounded."""
    alike = all(record.total == record.people for record in records)
    if (
        spreads is None
        or not alike
        or _are_bounded(trees)
        or model.kind.startswith("GradientBoosting")
    ):
        return "unknown"
    return "medians" if spreads == "absolute" else "means"


def _are_bounded(trees: Sequence[Inert]) -> bool:
    return any(arrived(tree.get("monotonic_cst")) is not None for tree in trees)


def _class_weights(
    meaning: Sequence[Meaning],
    places: Sequence[Wide | None] | None,
    classes: tuple[Label, ...] | None,
) -> tuple[tuple[float, ...] | None, ...]:
    """Return what a person of each class weighs in each tree, where classes differ."""
    weights: list[tuple[float, ...] | None] = []
    for i, one in enumerate(meaning):
        people = one.per_weight
        if people is None or classes is None or np.all(people == people[0]):
            weights.append(None)
            continue
        wide = np.ones(len(classes))
        place = None if places is None else places[i]
        # A class of nobody weighs nothing.
        each = np.divide(1.0, people, out=np.zeros(len(people)), where=people > 0)
        wide[np.arange(len(people)) if place is None else place] = each
        weights.append(tuple(wide.tolist()))
    return tuple(weights) if any(weight is not None for weight in weights) else ()


def _trees(found: ModelRef) -> list[Inert]:
    """Return the fitted trees."""
    if is_tree(found.estimator):
        return [found.estimator]
    kind = found.estimator.kind
    held = elements(found.get("estimators_"))
    if len(held) > Most.trees:
        raise ModelTooLargeError(f"the {kind} has more than {Most.trees:,} trees")
    trees = [tree for tree in held if isinstance(tree, Inert)]
    if not trees:
        raise UnsupportedModelError(f"the {kind} was never fitted: call fit before saving it")
    if len(trees) < len(held):
        raise ReadError(f"the {kind} is damaged: there is something among its trees that is none")
    return trees


def _records(
    model: Inert, trees: Sequence[Inert], budget: Budget, *, apart: bool
) -> list[NodeTable]:
    """Return the node tables; refuse those that are no forest together."""
    records: list[NodeTable] = []
    for tree in trees:
        record = read_nodes(arrived(tree.get("tree_")))
        _check_stated(tree, record)
        budget.take(record.n_bytes)
        records.append(record)
        # All trees of a forest at hand at once would be too much.
        if len(trees) > 1:
            record.forget()
    # A member of a bag may have drawn no row of some class.
    if len({(r.n_features, r.n_outputs, 0 if apart else r.width) for r in records}) > 1:
        raise ReadError("the model is inconsistent: its trees differ in features or classes")
    return records


def _check_stated(estimator: Inert, record: NodeTable) -> None:
    """Refuse numbers by which the model would answer from another table than it has."""
    state = estimator.state if isinstance(estimator.state, dict) else estimator.attributes
    for name, n in (
        ("n_classes_", record.width),
        ("n_outputs_", record.n_outputs),
        ("n_features_in_", record.n_features),
        ("n_features_", record.n_features),
    ):
        stated = arrived(state.get(name))
        if stated is None or (isinstance(stated, int) and stated == n):
            continue
        # What other libraries call outputs is theirs: a survival tree may be without its curves.
        if name == "n_outputs_" and is_own(estimator.cls.module):
            continue
        numbers = elements(stated) or np.ravel(stated).tolist()  # type: ignore[call-overload]
        whole = all(isinstance(one, int) and 0 < one <= n for one in numbers)
        if not whole or max(numbers, default=0) != n or len(numbers) not in (1, record.n_outputs):
            raise ReadError(
                f"the model is inconsistent: {name} is {show(stated)}, its tables have {n:,}"
            )


def _check_bag(found: ModelRef, n_trees: int, classes: tuple[Label, ...] | None) -> None:
    """Refuse numbers by which a bag would divide or spread what its trees say."""
    n_classes = None if classes is None else len(classes)
    for name, n in (("n_estimators", n_trees), ("n_classes_", n_classes)):
        stated = found.get(name)
        if stated is not None and n is not None and not (isinstance(stated, int) and stated == n):
            raise ReadError(f"the bag is inconsistent: {name} is {show(stated)}, it has {n:,}")


def _contexts(found: ModelRef, trees: Sequence[Inert]) -> list[TrainingContext]:
    """Return what each tree was trained on."""
    if is_tree(found.estimator):
        return [found.seen]
    if not found.estimator.kind.startswith("GradientBoosting"):
        return [child.seen for child in children(found)]
    share = found.get("subsample")
    some = isinstance(share, int | float) and share < 1
    return [found.given.after("some" if some else "all")] * len(trees)


def _columns(found: ModelRef, records: Sequence[NodeTable]) -> tuple[list[Wide] | None, int]:
    """Return the columns that each tree saw, where it did not see all."""
    n_features = records[0].n_features
    chosen = elements(found.get("estimators_features_")) if found.estimator.kind in BAGS else []
    if not chosen:
        return None, n_features
    stated = found.get("n_features_in_") or found.get("n_features_")
    arrays = [c for c in chosen if isinstance(c, np.ndarray) and c.dtype.kind in "iu"]
    if len(arrays) != len(records) or any(c.shape != (n_features,) for c in arrays):
        raise ReadError("the bag is damaged: it does not tell which columns its trees saw")
    width = max((int(c.max()) + 1 for c in arrays), default=0)
    most = stated if isinstance(stated, int) and stated <= Most.features else None
    if width > (most or Most.features) or any(int(c.min()) < 0 for c in arrays):
        raise ReadError("the bag is damaged: its trees saw columns that cannot be")
    return [c.astype(np.int64, copy=False) for c in arrays], most or width


def _classes(found: ModelRef, records: Sequence[NodeTable]) -> tuple[Label, ...] | None:
    classes = found.classes
    if classes is None or records[0].n_outputs != 1:
        return None
    width = max(record.width for record in records)
    boosted = found.estimator.kind == "GradientBoostingClassifier"
    if width > len(classes) or not (
        boosted or found.estimator.kind in BAGS or width == len(classes)
    ):
        raise ReadError(
            f"the model is inconsistent: {len(classes):,} class labels for {width:,} classes"
        )
    return classes


def _places(
    given: TrainingContext,
    trees: Sequence[Inert],
    records: Sequence[NodeTable],
    classes: tuple[Label, ...],
) -> list[Wide | None]:
    """Return where the classes of each tree stand among those of the model."""
    places: list[Wide | None] = []
    known = {label: i for i, label in enumerate(classes)}
    for tree, record in zip(trees, records, strict=True):
        if record.width == len(classes):
            # A bag takes of its answer as many classes as the tree states.
            if len(class_labels(tree) or classes) != record.width:
                raise ReadError(
                    "the model is inconsistent: a tree states fewer classes than it has"
                )
            places.append(None)
            continue
        own = ModelRef(estimator=tree, inside="", seen=given).classes or ()
        if len(own) != record.width or not set(own) <= set(known):
            raise ReadError("the model is inconsistent: a tree has classes of its own")
        places.append(np.array([known[label] for label in own], dtype=np.int64))
    return places


def _records_are(
    found: ModelRef, seen: Sequence[TrainingContext], records: Sequence[NodeTable]
) -> RecordsAre:
    rows = {one.rows for one in seen}
    if rows <= {"bootstrap", "repeated"}:
        return "bootstrap"
    alike = len({record.people for record in records}) == 1
    return "all" if rows <= {"all", "first", "later"} and alike else "unknown"


def _n_records(
    found: ModelRef, records: Sequence[NodeTable], seen: Sequence[TrainingContext]
) -> int | None:
    """Return how many people the model was trained on, where the file tells."""
    stated = found.get("_n_samples")
    most = max(record.people for record in records)
    if not most:
        return None
    rows = {one.rows for one in seen}
    if found.seen.rows == "repeated":
        return None
    all_saw = rows <= {"all", "first", "later"} and not any(one.split for one in seen)
    whole = all_saw and all(one.n_records.all() for one in records)
    if whole and len({one.people for one in records}) == 1:
        # What the ensemble states counts rows of weight 0 too, which no tree of it saw.
        return most
    if isinstance(stated, int) and most <= stated <= Most.people:
        return stated
    first, total = records[0], records[0].total
    if not first.n_records.all():
        # A leaf of nobody, alone or under a node of nobody, is left where a repair took one out.
        return None
    if all_saw or (len(records) == 1 and rows == {"some"}):
        return first.people
    if rows != {"bootstrap"} or found.estimator.kind not in FORESTS or found.get("samplers_"):
        return None
    if found.get("max_samples") is None and found.get("class_weight") is None:
        alike = all(record.total == total for record in records)
        return int(total) if alike and total.is_integer() and total <= Most.people else None
    return None


def _remarks(records: Sequence[NodeTable], seen: Sequence[TrainingContext]) -> tuple[str, ...]:
    remarks = []
    orphans = sum(record.cut_off for record in records)
    if orphans:
        remarks.append(
            f"{orphans:,} nodes are cut off from the root but still in the file, with their "
            "counts: whoever pruned this model left the people in"
        )
    if any(one.rows == "repeated" for one in seen):
        remarks.append(
            "rows drawn twice were copied before its trees saw them: "
            "the sizes of leaves are draws and do not tell how many people there are"
        )
    return tuple(remarks)


def _tested(record: NodeTable, columns: Wide | None) -> Wide:
    return record.tested if columns is None else columns[record.tested]


@dataclass(frozen=True, slots=True, eq=False)
class _Trees:
    """The trees of a model, as far as building one of them takes.

    `columns` are, per tree, the columns that it saw, where it did not see all; `places`, where
    its classes stand among those of the model; `spreads`, what impurities tell.
    """

    records: Sequence[NodeTable]
    meaning: Sequence[Meaning]
    seen: Sequence[TrainingContext]
    columns: Sequence[Wide] | None
    places: Sequence[Wide | None] | None
    classes: tuple[Label, ...] | None
    spreads: SpreadIs | None = None

    def build(self, i: int) -> Tree:
        """Return one of the trees."""
        record, meaning, rows = self.records[i], self.meaning[i], self.seen[i].rows
        counts = value = spread = label = None
        if meaning.counts_are == "absent":
            if record.n_outputs == 1 and record.width == 1:
                value = record.value[:, 0]
                if self.spreads is not None:
                    spread = spread_of(record, self.spreads, drawn=rows == "bootstrap")
        elif record.stripped:
            counts = self._placed(record.shares, i)
            if meaning.counts_are == "label-only":
                label, counts = counts.argmax(axis=1).astype(np.int32), None
        else:
            counts = class_weights(record.value, record.weight)
            if meaning.per_weight is not None:
                counts = np.rint(counts * meaning.per_weight)
            counts = self._placed(counts, i)
        edges = record.edges()
        if self.columns is not None:
            feature = np.where(edges.feature < 0, -1, self.columns[i][edges.feature])
            edges = replace(edges, feature=feature.astype(np.int32))
        tree = edges.tree(
            n_records=None if rows == "repeated" or not record.people else record.n_records,
            counts=counts,
            label=label,
            value=value,
            spread=spread,
            spread_is=self.spreads or "deviation",
        )
        record.forget()
        return tree

    def _placed(self, counts: Float, i: int) -> Float:
        """Put the columns of a tree that knows fewer classes where they belong."""
        places = None if self.places is None else self.places[i]
        if places is None or self.classes is None:
            return counts
        wide = np.zeros((len(counts), len(self.classes)))
        wide[:, places] = counts
        return wide
