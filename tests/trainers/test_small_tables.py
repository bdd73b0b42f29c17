"""No neighbour of a small table costs more than the claim, and what is claimed is of use."""

import math

import numpy as np
import pytest

from tests.trainers.neighbours import worst_of_all_neighbours
from tests.trainers.people import SCHEMA, people
from treeaudit.trainers.bootstrap_forest import BootstrapForestClassifier
from treeaudit.trainers.exponential_id3 import ExponentialID3Classifier
from treeaudit.trainers.midpoint_forest import MidpointForestClassifier
from treeaudit.trainers.random_count_forest import RandomCountForestClassifier
from treeaudit.trainers.semi_supervised_forest import SemiSupervisedForestClassifier
from treeaudit.trainers.signal_to_noise_forest import SignalToNoiseForestClassifier
from treeaudit.trainers.sulq_id3 import SulqID3Classifier
from treeaudit.trainers.top_down_specialization import TopDownSpecializationClassifier

PUBLISHED = {"variant": "published"}
BINS, FLAT = {"n_bins": 2}, {"max_depth": 2}
FEW = {"n_specializations": 2, "n_bins": 2}
BOTH = {"n_estimators": 2, "n_public_trees": 2}
WORST = [
    # Of epsilon 1: ln 2 is for a record that is drawn once.
    (BootstrapForestClassifier, {"n_estimators": 1} | FLAT | BINS, 0.6, math.log(2)),
    # As printed, a choice costs half of what it is paid for.
    (ExponentialID3Classifier, FLAT | BINS, 0.4, 1),
    (ExponentialID3Classifier, FLAT | BINS | {"criterion": "gini"}, 0.4, 1),
    (ExponentialID3Classifier, FLAT | BINS | PUBLISHED, 0.4, 1),
    (MidpointForestClassifier, {"n_estimators": 1, "n_bins": 4, "epsilon": 4.0} | FLAT, 0.5, 1),
    (RandomCountForestClassifier, {"n_estimators": 2} | FLAT, 0.9, 1),
    (SemiSupervisedForestClassifier, BOTH | FLAT, 0.9, 1),
    (SignalToNoiseForestClassifier, {"n_records": None, "max_depth": 3}, 0.5, 1),
    (SignalToNoiseForestClassifier, {"n_records": 1000, "max_depth": 3}, 0.5, 1),
    (SulqID3Classifier, BINS, 0.4, 1),
    (TopDownSpecializationClassifier, FEW, 0.4, 1),
    (TopDownSpecializationClassifier, FEW | PUBLISHED, 0.4, 1),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("trainer", "options", "least", "most"), WORST)
def test_no_neighbour_costs_more_than_the_claim(trainer, options, least, most) -> None:
    assert least < worst_of_all_neighbours(trainer, **options) <= most


ID3 = {"epsilon": 5.0}
TABLE = {"epsilon": 10.0, "n_specializations": 3}


@pytest.mark.parametrize(
    ("trainer", "options", "least"),
    [
        (BootstrapForestClassifier, {"epsilon": 40.0, "n_estimators": 5}, 0.9),
        (ExponentialID3Classifier, ID3, 0.85),
        (ExponentialID3Classifier, ID3 | PUBLISHED, 0.85),
        (MidpointForestClassifier, {"epsilon": 30.0, "n_estimators": 3}, 0.85),
        (RandomCountForestClassifier, {"epsilon": 20.0, "max_depth": 5}, 0.85),
        (TopDownSpecializationClassifier, TABLE, 0.9),
        (TopDownSpecializationClassifier, TABLE | PUBLISHED, 0.9),
    ],
)
def test_people_are_told_apart(trainer, options, least) -> None:
    X, y = people(600)
    model = trainer(schema=SCHEMA, random_state=0, **options).fit(X, y)
    assert model.score(X, y) > least
    if trainer is ExponentialID3Classifier:
        tree = model.forest_.trees[0]
        for node in np.flatnonzero(~tree.is_leaf):
            assert np.array_equal(tree.counts[node], tree.counts[tree.parent == node].sum(axis=0))
