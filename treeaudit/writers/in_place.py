"""A repaired scikit-learn model in the record that it was read from, for the version it is of.

Nothing is loaded: the record is inert data, its trees are exchanged for the
repaired ones, and what no answer hangs on is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from treeaudit.defenses.strip import without_extras
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.model.words import an
from treeaudit.readers.boosters import StoredBooster, booster_in
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.sklearn.model_ref import (
    ModelRef,
    TrainingContext,
    elements,
    is_tree,
    names_in,
)
from treeaudit.readers.sklearn.models import members_of
from treeaudit.readers.sklearn.scikit_learn import to_forest
from treeaudit.readers.xgboost.model import is_ubjson
from treeaudit.writers.attribute_allowlist import ALLOWED
from treeaudit.writers.bundles import record_of
from treeaudit.writers.canonical_record import REMOVED, Change, Changes, RecordCopier
from treeaudit.writers.lightgbm import to_lightgbm_text
from treeaudit.writers.node_tables import (
    JSON,
    NOT_SIZED,
    Answers,
    answers_of,
    is_sized,
    path_length,
    people_of,
)
from treeaudit.writers.pickle_bytes import dumps
from treeaudit.writers.tree_records import is_same, origins, predictor_record, tree_record
from treeaudit.writers.xgboost import document_of, json_of, to_ubjson

SKOPS = "sklearn-skops"
"""The format of a model that is written back as a skops file."""

_ENOUGH = 1 << 62
_WITHOUT_LABELS = frozenset({"IsolationForest", "RandomTreesEmbedding"})


def is_in_place(forest: Forest) -> bool:
    """Tell whether a model has a record that it can be written back into.

    A model that was chosen out of an ensemble that numbers classes, names columns or
    answers in another way is written anew.
    """
    found = forest.source.stored
    if not isinstance(found, ModelRef) or found.estimator.kind != forest.source.estimator:
        return False
    if found.estimator.kind not in ALLOWED or found.estimator.cls.module.split(".")[0] != "sklearn":
        return False
    seen = found.seen
    alike = replace(found, seen=TrainingContext()).classes == found.classes
    alike = alike and not (seen.own_labels or seen.apart)
    named = seen.names is None or bool(found.before) or names_in(found.estimator) is not None
    return alike and named and (found.holder is not None or not (found.before or seen.note))


def in_place(forest: Forest) -> object:
    """Return the record of the file of a model with its repaired trees."""
    return record_of(forest, changes_of)


def to_pickle(forest: Forest) -> bytes:
    """Return the pickle of the record of a file."""
    return dumps(in_place(forest))


def changes_of(forest: Forest) -> Changes:
    """Return what the repaired trees of a model change in its record, see `RecordCopier`."""
    found = forest.source.stored
    if isinstance(found, StoredBooster):
        return _booster_changes(forest)
    if not isinstance(found, ModelRef) or not is_in_place(forest):
        raise UnsupportedModelError(
            f"{an(forest.source.estimator)} is not written into its record: {JSON}"
        )
    whole = to_forest(found, Source(), _ENOUGH)
    every = {one.inside: one for one in members_of(found).trees}
    taken = {one.inside: one.n_trees for one in whole.members} or {found.inside: whole.n_trees}
    if len(taken) > 1 and forest.n_trees != whole.n_trees:
        raise UnsupportedModelError(f"trees of some of its models were taken out: {JSON}")
    changes: dict[int, Change] = {}
    at = 0
    for inside, n in taken.items():
        n = forest.n_trees if len(taken) == 1 else n
        changes |= _repaired(forest, whole, every[inside], range(at, at + n))
        at += n
    for inside in every.keys() - taken.keys():
        changes |= _as_it_is(forest, whole, every[inside])
    return changes


def _as_it_is(forest: Forest, whole: Forest, apart: ModelRef) -> Changes:
    """Return the changes of a member that is audited alone, as a release writes it."""
    pairs = zip(forest.trees, whole.trees, strict=False)
    if forest.n_trees != whole.n_trees or not all(is_same(*pair) for pair in pairs):
        raise UnsupportedModelError(
            f"{apart.inside} of the {forest.source.estimator} is {an(apart.estimator.kind)}, which "
            f"is audited alone and would stay as it is: choose it with --select, or {JSON}"
        )
    alone = to_forest(apart, Source(), _ENOUGH)
    return _repaired(without_extras(alone), alone, apart, range(alone.n_trees))


def _repaired(forest: Forest, whole: Forest, member: ModelRef, numbers: Sequence[int]) -> Changes:
    """Return what the repaired trees of one of the models change in its record."""
    kind = member.estimator.kind
    origin = origins(forest, whole, numbers)
    if kind.startswith("HistGradient"):
        return {id(member.estimator): _histogram(forest, whole, member, numbers, origin)}
    held = [member.estimator]
    if not is_tree(member.estimator):
        held = [one for one in elements(member.get("estimators_")) if isinstance(one, Inert)]
    first = numbers[0] if len(numbers) else 0
    trees = [
        _record(forest, whole, member, held[k - first], i, k)
        for i, k in zip(numbers, origin, strict=True)
    ]
    if is_tree(member.estimator):
        return {id(member.estimator): {"tree_": trees[0]}}
    kept = RecordCopier({})
    written = [
        kept.member(member.estimator, held[k - first], tree)
        for k, tree in zip(origin, trees, strict=True)
    ]
    changed: dict[str, object] = {"estimators_": written}
    if member.get("bootstrap") is True and forest.source.parameters.get("bootstrap") is False:
        changed["bootstrap"] = False  # counted anew, on everybody
    if (share := forest.source.parameters.get("subsample")) != member.get("subsample"):
        changed["subsample"] = share  # its steps are of draws
    rounds = member.get("estimators_")
    if isinstance(rounds, np.ndarray):
        shaped = np.empty(len(written), dtype=object)
        shaped[:] = written
        width = rounds.shape[1] if rounds.ndim == 2 else 1
        if len(written) % width:
            raise UnsupportedModelError(f"the {kind} has {width} trees a round: keep whole rounds")
        changed["estimators_"] = shaped.reshape(-1, *rounds.shape[1:])
    places = [k - first for k in origin]
    changed |= _ensemble_attributes(changed["estimators_"], forest, whole, member, places)
    # A file may hold a member once more: the same tree, or none where it was taken out.
    each: dict[int, Change] = dict.fromkeys(map(id, held))
    each |= {id(held[place]): one for place, one in zip(places, written, strict=True)}
    return {**each, id(member.estimator): changed}


def _record(forest: Forest, whole: Forest, member: ModelRef, owner: Inert, i: int, k: int) -> Inert:
    """Return the record of one tree."""
    stored = arrived(owner.get("tree_"))
    if not isinstance(stored, Inert):
        raise TypeError("a tree that was read has a record")
    tree, criterion = forest.trees[i], arrived(owner.get("criterion"))
    if anew := member.estimator.kind in _WITHOUT_LABELS:
        tree = replace(tree, value=np.zeros(tree.n_nodes))
    if tree.counts is None and tree.label is None and tree.value is None:
        people, none = people_of(tree), np.zeros((tree.n_nodes, 0))
        unknown = np.full(tree.n_nodes, np.nan)
        answers = Answers(
            people=people, weight=people.astype(np.float64), value=none, impurity=unknown
        )
    else:
        answers = answers_of(tree, forest, i, criterion)
        columns = _columns(forest, member, owner, stored)
        if columns is not None and answers.value.shape[1] > 1:
            share = answers.value[:, columns]
            total = share.sum(axis=1, keepdims=True)
            answers = replace(answers, value=np.divide(share, total, out=share, where=total > 0))
    # Where other models compare 64-bit numbers, changed thresholds are not those of the table.
    exact = not member.before and forest.single_precision
    return tree_record(
        stored, tree, whole.trees[k], answers, exact=exact, criterion=criterion, anew=anew
    )


def _columns(forest: Forest, member: ModelRef, owner: Inert, stored: Inert) -> list[int] | None:
    """Return where the classes of a stored tree stand in the forest; None where they are all."""
    values = arrived(stored.get("values"))
    width = values.shape[2] if isinstance(values, np.ndarray) else 0
    if width < 2:
        return None
    if forest.tree_classes is not None:
        return list(range(width))
    labels = forest.schema.classes or ()
    own = member.classes or ()
    if len(own) != width:
        own = ModelRef(estimator=owner, inside="", seen=member.given).classes or ()
    if own == labels:
        return None
    if len(own) != width or not set(own) <= set(labels):
        raise UnsupportedModelError(f"a tree has classes that the model does not know: {JSON}")
    return [labels.index(label) for label in own]


def _histogram(
    forest: Forest, whole: Forest, member: ModelRef, numbers: Sequence[int], origin: Sequence[int]
) -> dict[str, object]:
    rounds = [elements(each) for each in elements(member.get("_predictors"))]
    held = [one for each in rounds for one in each if isinstance(one, Inert)]
    width = len(rounds[0])
    if len(numbers) % width:
        raise UnsupportedModelError(f"the boosting has {width} trees a round: keep whole rounds")
    exact = not member.before
    trees = [
        predictor_record(held[k - numbers[0]], forest.trees[i], whole.trees[k], exact=exact)
        for i, k in zip(numbers, origin, strict=True)
    ]
    changed: dict[str, object] = {
        "_predictors": [trees[i : i + width] for i in range(0, len(trees), width)]
    }
    if len(trees) < len(held):
        changed["max_iter"] = len(trees) // width
    return changed


_WRAPPERS = {"XGBoost": ("xgboost", "XGB"), "LightGBM": ("lightgbm", "LGBM")}
_BYTEARRAY = Global("builtins", "bytearray", 0, True)


def _booster_changes(forest: Forest) -> dict[int, Mapping[str, object]]:
    """Return what the repaired trees of a booster change in its record, see `RecordCopier`."""
    stored = forest.source.stored
    found = stored.found if isinstance(stored, StoredBooster) else None
    if found is None:
        raise TypeError("no record to write into")
    library, prefix = _WRAPPERS[forest.source.library]
    booster = booster_in(found.estimator, library, prefix)
    if booster is None:
        raise TypeError("a booster that was read has a record")
    names = {"handle", "_handle"} & booster.attributes.keys()
    return {id(booster): dict.fromkeys(names, _handle(forest, booster.get("handle")))}


def _handle(forest: Forest, stored: object) -> object:
    """Return what the library stores in the place of its booster."""
    if forest.source.library == "LightGBM":
        return to_lightgbm_text(forest)
    if forest.source.library_version is None:
        raise UnsupportedModelError(
            "XGBoost before 1.0 loads nothing but its binary form, which is not written: write "
            "the .json that newer versions load"
        )
    model = document_of(forest)
    parts = {"Config": model.pop("Config", {}), "Model": model}
    # Versions before 1.6 write and load JSON, and the binary form.
    newer = isinstance(stored, bytes | bytearray | memoryview) and is_ubjson(stored)
    return Inert(_BYTEARRAY, (to_ubjson(parts) if newer else json_of(parts),))


def _ensemble_attributes(
    rounds: object, forest: Forest, whole: Forest, member: ModelRef, origin: list[int]
) -> dict[str, object]:
    """Return what an ensemble states beside its trees, where they change it."""
    stated, n = member.estimator.attributes, len(origin)
    changed: dict[str, object] = {}
    if whole.n_records != forest.n_records:
        gone = ("_n_samples", "_n_samples_bootstrap")
        changed.update((name, REMOVED) for name in gone if name in stated)
    if isinstance(rounds, np.ndarray):
        if n < whole.n_trees:
            changed.update(n_estimators=len(rounds), n_estimators_=len(rounds))
    elif "n_estimators" in stated:
        changed["n_estimators"] = n
    picked = member.get("estimators_features_")
    if isinstance(picked, list | tuple) and n < len(picked):
        changed["estimators_features_"] = [arrived(picked[k]) for k in origin]
    weights = member.get("estimator_weights_")
    if isinstance(weights, np.ndarray):
        changed["estimator_weights_"] = weights[origin].copy()
    trees = [forest.trees[i] for i in range(forest.n_trees)]
    if member.estimator.kind == "IsolationForest":
        changed.update(_path_lengths(trees, stated))
    if member.estimator.kind == "RandomTreesEmbedding":
        changed.update(_leaf_codes(trees, member))
    return changed


def _path_lengths(trees: Sequence[Tree], stated: Mapping[str, object]) -> dict[str, object]:
    """Return how deep people go: an isolation forest answers by it."""
    if not all(is_sized(tree) for tree in trees):
        raise UnsupportedModelError(NOT_SIZED)
    depths = tuple(tree.depths.astype(np.int64) + 1 for tree in trees)
    known = {
        "_decision_path_lengths": depths,
        "_average_path_length_per_tree": tuple(path_length(people_of(t)) for t in trees),
    }
    return {name: lengths for name, lengths in known.items() if name in stated}


def _leaf_codes(trees: Sequence[Tree], member: ModelRef) -> dict[str, object]:
    """Return the encoder of leaves, which has one column for each."""
    encoder = member.get("one_hot_encoder_")
    if not isinstance(encoder, Inert):
        raise UnsupportedModelError(f"the embedding does not tell how it numbers leaves: {JSON}")
    leaves = [np.flatnonzero(tree.is_leaf).astype(np.int64) for tree in trees]
    columns = [len(leaf) for leaf in leaves]
    known: dict[str, object] = {"categories_": leaves, "_n_features_outs": columns}
    stated = {name: one for name, one in known.items() if name in encoder.attributes}
    changed: dict[str, object] = {"one_hot_encoder_": RecordCopier({id(encoder): stated})(encoder)}
    if "_n_features_out" in member.estimator.attributes:
        changed["_n_features_out"] = sum(columns)
    return changed
