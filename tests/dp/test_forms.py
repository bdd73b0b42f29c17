"""Ledgers and files of private models that contradict each other, or hold numbers of nobody's."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import treeaudit as ta
from tests.trainers.people import CLASSIFIERS, PURE, people_for, schema_for
from treeaudit.defenses import PruneLeaves
from treeaudit.dp.bounded import unbounded_because
from treeaudit.dp.forms import FORMS
from treeaudit.dp.gaussian import GAUSSIAN
from treeaudit.dp.ledger import Ledger, Query
from treeaudit.trainers import (
    ALGORITHMS,
    BootstrapForestClassifier,
    DiffPID3Classifier,
    DPDFClassifier,
    MidpointForestClassifier,
    PrivateAdditiveTreeClassifier,
    PrivateForestClassifier,
    PrivateTreeClassifier,
    PrivateTreeRegressor,
    RandomCountForestClassifier,
    SemiSupervisedForestClassifier,
    SmoothSensitivityForestClassifier,
    SulqID3Classifier,
)

BESIDE = "the model holds numbers that no row of its ledger accounts for"
ROWS = "the rows of the ledger are not those of its trainer, or of the trees in the file"
LARGER = "the trees of the model are larger than what its ledger tells was asked"


def fitted(trainer, n=300, **parameters):
    model = trainer(schema=schema_for(trainer), **parameters).fit(*people_for(trainer, n))
    assert unbounded_because(model.forest_) is None
    return model.forest_


def told_by(forest, queries):
    """Return a model under other rows, whose budget is what they sum to."""
    ledger = replace(Ledger.from_plain(forest.privacy), queries=tuple(queries))
    ledger = replace(ledger, budget=ledger.epsilon)
    parameters = {**forest.source.parameters, "epsilon": float(ledger.epsilon)}
    source = replace(forest.source, parameters=parameters)
    return replace(forest, privacy=ledger.to_plain(), source=source)


def test_every_trainer_has_its_form() -> None:
    assert set(FORMS) == {trainer.__name__ for trainer in ALGORITHMS}


@pytest.mark.parametrize(
    "trainer", [t for t in PURE if t in CLASSIFIERS], ids=lambda t: t.algorithm
)
def test_a_classifier_has_no_values_and_one_kind_of_numbers(trainer) -> None:
    few = {"n_estimators": 2, "n_public_trees": 2}
    own = {name: few[name] for name in few if name in trainer().get_params()}
    forest = fitted(trainer, **own)
    ages = [replace(tree, value=np.arange(tree.n_nodes)) for tree in forest.trees]
    assert unbounded_because(replace(forest, trees=tuple(ages))) == BESIDE
    if forest.counts_are == "noisy":
        zeros = [replace(t, label=np.zeros(t.n_nodes, np.int32)) for t in forest.trees]
        assert unbounded_because(replace(forest, trees=tuple(zeros))) == BESIDE
    weighed = replace(forest, class_weights=((148.0, 152.0),) * forest.n_trees)
    assert unbounded_because(weighed) == BESIDE


def test_a_number_has_no_classes() -> None:
    forest = fitted(PrivateTreeRegressor)
    (tree,) = forest.trees
    counted = replace(tree, counts=np.ones((tree.n_nodes, 1)))
    assert unbounded_because(replace(forest, trees=(counted,))) == BESIDE


def test_nodes_hold_what_their_leaves_hold() -> None:
    forest = fitted(RandomCountForestClassifier, n_estimators=1, max_depth=3)
    (tree,) = forest.trees
    one_more = np.array(tree.counts)
    one_more[0, 0] += 1
    assert unbounded_because(replace(forest, trees=(replace(tree, counts=one_more),))) == BESIDE
    silent = np.where(tree.is_leaf[:, None], tree.counts, 0.0)
    assert unbounded_because(replace(forest, trees=(replace(tree, counts=silent),))) is None
    labels = fitted(SmoothSensitivityForestClassifier, n_estimators=1, max_depth=3)
    (tree,) = labels.trees
    other = np.where(tree.is_leaf, tree.label, 1 - np.asarray(tree.label))
    assert unbounded_because(replace(labels, trees=(replace(tree, label=other),))) == BESIDE
    none = np.where(tree.is_leaf, tree.label, 0)
    assert unbounded_because(replace(labels, trees=(replace(tree, label=none),))) is None


@pytest.mark.parametrize(
    "trainer", [RandomCountForestClassifier, DPDFClassifier, SulqID3Classifier]
)
def test_whole_noise_leaves_whole_numbers(trainer) -> None:
    forest = fitted(trainer)
    first, *others = forest.trees
    more = np.array(first.counts)
    node, shares = int(first.leaves[-1]), []
    while node >= 0:
        shares.append(node)
        node = int(first.parent[node])
    more[shares, 0] += 0.0061
    told = (replace(first, counts=more), *others)
    assert unbounded_because(replace(forest, trees=told)) == BESIDE


def test_leaves_that_stand_in_for_those_that_were_cut_hold_nobody() -> None:
    forest = fitted(RandomCountForestClassifier, epsilon=99.0, n_estimators=1, max_depth=4)
    size = np.sort(forest.trees[0].counts.sum(axis=1)[forest.trees[0].is_leaf])
    pruned = PruneLeaves(min_leaf=int(max(2, size[1] + 1))).apply(forest)
    assert pruned.trees[0].n_nodes <= forest.trees[0].n_nodes
    assert unbounded_because(pruned) is None


def test_stumps_weigh_classes_by_their_shares() -> None:
    forest = fitted(PrivateAdditiveTreeClassifier)
    first, *stumps = forest.class_weights
    other = (first, *stumps[:-1], (2.0, 2.0))
    assert unbounded_because(replace(forest, class_weights=other)) == BESIDE
    no_shares = (first, *((148.0, 152.0) for _ in stumps))
    assert unbounded_because(replace(forest, class_weights=no_shares)) == BESIDE


def test_columns_are_asked_of_the_same_people() -> None:
    forest = fitted(PrivateAdditiveTreeClassifier, epsilon=2.0)
    rows = Ledger.from_plain(forest.privacy).queries
    parted = [replace(q, composition="parallel") for q in rows]
    assert unbounded_because(told_by(forest, parted)) == ROWS


def test_leaves_of_trees_that_saw_everybody_are_no_parts() -> None:
    forest = fitted(RandomCountForestClassifier, epsilon=4.0, n_estimators=8, max_depth=3)
    rows = Ledger.from_plain(forest.privacy).queries
    leaves = [q for q in rows if q.name.startswith("leaf counts of tree")]
    others = [q for q in rows if q not in leaves]
    for name in ("leaf labels", "leaf counts"):
        one = replace(leaves[0], name=name, asked=sum(q.asked for q in leaves))
        forged = told_by(forest, [*others, one])
        assert unbounded_because(forged) in (ROWS, LARGER)
        unnamed = replace(forged, source=replace(forged.source, estimator="Tree"))
        assert unbounded_because(unnamed) in (ROWS, LARGER)
    for said in ("disjoint", "bootstrap", "unknown"):
        assert unbounded_because(replace(forest, records_are=said)) == ROWS


def test_records_that_are_drawn_again_are_paid_for() -> None:
    forest = fitted(BootstrapForestClassifier, epsilon=4.0, n_estimators=2, max_depth=2)
    rows = Ledger.from_plain(forest.privacy).queries
    fewer = [q for q in rows if q.mechanism != "Poisson bootstrap"]
    assert unbounded_because(told_by(forest, fewer)) == ROWS
    for source in (forest.source, replace(forest.source, estimator="Tree")):
        less = [replace(q, epsilon=q.epsilon / 2, used=None) if q not in fewer else q for q in rows]
        forged = told_by(replace(forest, source=source), less)
        assert unbounded_because(forged) == ROWS


@pytest.mark.parametrize(
    ("trainer", "parameters", "gone"),
    [
        (SulqID3Classifier, {"epsilon": 9.0}, "values and classes of column 3 of level 1"),
        (
            DiffPID3Classifier,
            {"epsilon": 9.0, "criterion": "noisy-counts"},
            "values of attribute 1 of level 1",
        ),
        (DiffPID3Classifier, {"epsilon": 9.0}, "people of level 1"),
        (
            DiffPID3Classifier,
            {"epsilon": 99.0, "max_depth": 1, "certainty_factor": None},
            "people of level 2",
        ),
        (DiffPID3Classifier, {"epsilon": 99.0}, "points of dose, level 1"),
        (MidpointForestClassifier, {"epsilon": 99.0}, "people of level 1"),
        (BootstrapForestClassifier, {"epsilon": 99.0}, "tree 1: people of level 1"),
        (PrivateTreeClassifier, {}, "people"),
        (PrivateAdditiveTreeClassifier, {}, "weights"),
        (PrivateTreeRegressor, {}, "distances from the mean"),
    ],
)
def test_a_row_that_is_missing(trainer, parameters, gone) -> None:
    forest = fitted(trainer, **parameters)
    rows = Ledger.from_plain(forest.privacy).queries
    assert gone in [q.name for q in rows]
    fewer = [q for q in rows if q.name != gone]
    assert unbounded_because(told_by(forest, fewer)) == ROWS


def test_rows_that_no_trainer_writes() -> None:
    forest = fitted(PrivateTreeClassifier)
    rows = Ledger.from_plain(forest.privacy).queries
    more = Query(
        name="ages", mechanism="discrete Laplace", epsilon=Fraction(1), sensitivity=Fraction(1)
    )
    assert unbounded_because(told_by(forest, [*rows, more])) == ROWS
    twice = [replace(q, asked=2) if q.name == "people" else q for q in rows]
    assert unbounded_because(told_by(forest, twice)) == ROWS
    chosen = [replace(q, mechanism="permute-and-flip") if q.name == "people" else q for q in rows]
    assert unbounded_because(told_by(forest, chosen)) == ROWS
    rho = [
        replace(q, mechanism=GAUSSIAN, epsilon=Fraction(0), used=None, rho=Fraction(1, 99))
        for q in rows
    ]
    ledger = Ledger(queries=tuple(rho), budget=Fraction(9), conversion_delta=Fraction(1, 10**6))
    ledger = replace(ledger, budget=ledger.epsilon)
    parameters = {**forest.source.parameters, "epsilon": 0.1}
    source = replace(forest.source, parameters=parameters)
    forged = replace(forest, privacy=ledger.to_plain(), noise=None, source=source)
    assert unbounded_because(forged) == ROWS


def test_what_is_done_to_counts_is_what_its_trainer_does() -> None:
    forest = fitted(PrivateTreeClassifier)
    scaled = replace(forest, noise=replace(forest.noise, afterwards=("clipped", "scaled")))
    assert unbounded_because(scaled) == ROWS


def test_taught_trees_hold_the_same_public_records() -> None:
    forest = fitted(SemiSupervisedForestClassifier, n_estimators=1, n_public_trees=2)
    own, first, second = forest.trees
    twice = replace(second, counts=2 * np.asarray(second.counts))
    assert unbounded_because(replace(forest, trees=(own, first, twice))) == LARGER


@pytest.mark.parametrize("share", [0.97, 0.98, 0.98 - 1e-12, 0.99, 1 - 1e-9])
@pytest.mark.parametrize(
    "trainer",
    [PrivateTreeClassifier, PrivateForestClassifier, PrivateAdditiveTreeClassifier,
     PrivateTreeRegressor],
)  # fmt: skip
def test_splits_that_cost_nothing_tell_nothing(trainer, share) -> None:
    for more in ({"max_depth": 2}, {}):
        try:
            model = trainer(schema=schema_for(trainer), leaf_share=share, **more)
            model.fit(*people_for(trainer, 3000))
        except ta.PrivacyError:
            continue
        assert unbounded_because(model.forest_) is None
