"""What the answers of a whole fit give away of one record, and of one person with all rows."""

import math
import zlib
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.dp.exact import SLACK
from tests.strategies import one_in
from tests.trainers.people import PURE, REGRESSORS
from tests.trainers.transcripts import Transcript, replayed
from treeaudit.dp.accounting import rational
from treeaudit.dp.curator import Curator
from treeaudit.dp.ledger import Ledger
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers.algorithms import ALGORITHMS
from treeaudit.trainers.diffpid3 import DiffPID3Classifier
from treeaudit.trainers.dpdf import DPDFClassifier
from treeaudit.trainers.private_additive_tree import PrivateAdditiveTreeClassifier
from treeaudit.trainers.private_regressors import PrivateTreeRegressor
from treeaudit.trainers.private_tree import PrivateTreeClassifier

BUDGETS = (
    *(1 / 3, 1 / 9, 2 / 3, math.pi, math.log(2), 0.1, 1.0, Fraction(1, 7), 20.0),
    *(1e-6, 1e-3, 100.0, *np.logspace(-2, 1, 7).tolist()),
)
SIZES = (0, 0, 1, 2, 3, 5, 10, 40)
BOUND = 64
"""Public, for information gain: more than all rows."""

CRITERIA: dict[Any, list[dict[str, Any]]] = {
    PrivateTreeClassifier: [
        {"criterion": "gini"},
        {"criterion": "max"},
        {"criterion": "information-gain", "max_records": BOUND},
        {"leaf_share": 0.99},
        # Private as well, if less accurate.
        {"variant": "published"},
    ],
    DiffPID3Classifier: [
        {"criterion": "gini"},
        {"criterion": "information-gain", "max_records": BOUND},
        {"criterion": "noisy-counts"},
        {"numbers": "bins"},
        {"variant": "published"},
    ],
    DPDFClassifier: [{"prune": False}],
    PrivateAdditiveTreeClassifier: [{"delta": 1e-6}],
    # What is asked about few people tells most where all of the range is summed, or little of it.
    PrivateTreeRegressor: [{"spread": 0.1}, {"spread": 100.0}, {"variant": "published"}],
}
CONFIGURATIONS = [
    pytest.param(trainer, options, id=" ".join([trainer.algorithm, *map(str, options.values())]))
    for trainer in ALGORITHMS
    for options in ({}, *CRITERIA.get(trainer, []))
]


def schema_of(rng: np.random.Generator, trainer: Any) -> Schema:
    features = tuple(
        Feature(name=f"f{i}", categories=tuple("abcde"[: rng.integers(2, 6)]))
        if rng.random() < 0.5
        else Feature(name=f"f{i}", low=0, high=8)
        for i in range(rng.integers(1, 5))
    )
    if trainer in REGRESSORS:
        return Schema(features=features, target_low=-3, target_high=rng.choice([-3, 0, 5, 5]))
    return Schema(features=features, classes=tuple(range(rng.choice([2, 2, 3, 9]))))


def labels_of(rng: np.random.Generator, schema: Schema, n: int) -> np.ndarray:
    """Return labels, or numbers, many of which are a bound."""
    if schema.classes is not None:
        return rng.integers(0, len(schema.classes), n)
    ends = np.array([schema.target_low, schema.target_high])
    return np.where(rng.random(n) < 0.5, rng.uniform(*ends, n), rng.choice(ends, n))


def rows_of(rng: np.random.Generator, schema: Schema, n: int, alike: bool) -> pd.DataFrame:
    """Return rows with their label in the last column, a tenth of the values missing."""
    columns: dict[str, Any] = {}
    for f in schema.features:
        drawn = rng.choice(f.categories, n) if f.categories else rng.integers(0, 9, n)
        columns[f.name] = np.where(rng.random(n) < 0.1, None, drawn.astype(object))
    frame = pd.DataFrame({**columns, "label": labels_of(rng, schema, n)})
    return frame.iloc[[0] * n].reset_index(drop=True) if alike and n else frame


def fit_of(schema: Schema, parts: list[pd.DataFrame], persons: list[int] | None) -> dict[str, Any]:
    """Return what ``fit`` takes; the first row has no known label and is dropped."""
    unknown = np.nan if schema.classes is None else -1
    nobody = rows_of(np.random.default_rng(0), schema, 1, alike=False).assign(label=unknown)
    frame = pd.concat([nobody, *parts], ignore_index=True)
    numbers = {f.name: float for f in schema.features if f.categories is None}
    X = frame[list(schema.names)].astype(numbers)
    named = None if persons is None else np.array([-1, *persons])
    return {"X": X, "y": frame["label"].to_numpy(), "person": named}


def other_than(label: Any, schema: Schema) -> Any:
    """Return other classes, or the numbers that are as far on the other side of the middle."""
    if schema.classes is not None:
        return (label + 1) % len(schema.classes)
    return schema.target_low + schema.target_high - label


def pairs(rng: np.random.Generator, schema: Schema, relation: str, most: int | None) -> Any:
    """Return two data sets that differ in one record, or in one person with several rows."""
    n = int(rng.choice(SIZES))
    base = rows_of(rng, schema, n, alike=rng.random() < 0.3)
    own = [1, 1] if most is None else rng.integers(1, 7, 2).tolist()
    units = [rows_of(rng, schema, k, alike=rng.random() < 0.7) for k in own]
    if relation == "replace-one" and rng.random() < 0.3:
        # The same but for the target: both are in the same nodes.
        units[1] = units[0].assign(label=other_than(units[0]["label"], schema))
    sides = [units[:1], units[1:]] if relation == "replace-one" else [[], units[:1]]
    others = rng.integers(0, max(1, n // 2), n).tolist()
    persons = [
        None if most is None else [*others, *([1000] * sum(map(len, side)))] for side in sides
    ]
    return [fit_of(schema, [base, *side], who) for side, who in zip(sides, persons, strict=True)]


def share_of(found: Transcript, ledger: Ledger) -> Fraction:
    """Return the loss as a share of what the ledger says is used, as epsilon or as rho."""
    used = [query.as_used for query in ledger.queries]
    epsilon, rho = (sum((q.cost for q in used), Fraction(0)), sum(q.rho * q.times for q in used))
    told = (abs(found.loss.total) - SLACK) / epsilon
    return max(told, found.rho / rho) if rho else told


def losses(
    trainer: Any, options: dict[str, Any], relation: str, unit: str, seed: int
) -> Iterator[Fraction]:
    """Yield losses as shares of what the ledger says is used of the claim, without end."""
    names = trainer().get_params()
    sizes = {"max_depth": [1, 2, 3], "min_records": [0, 3], "n_estimators": [1, 2, 3]}
    sizes |= {"n_bins": [2, 4], "n_public_trees": [2]}
    rng = np.random.default_rng(seed)
    while True:
        seed = int(rng.integers(1 << 60))
        schema, epsilon = schema_of(rng, trainer), BUDGETS[int(rng.integers(len(BUDGETS)))]
        most = int(rng.choice([1, 2, 3, 5])) if unit == "person" else None
        drawn = {k: int(rng.choice(v)) for k, v in sizes.items() if k in names}
        model = trainer(
            **(drawn | options), epsilon=epsilon, schema=schema, neighbours=relation,
            outside="clip", rows_per_person=most,
        )  # fmt: skip
        pair = pairs(rng, schema, relation, most)
        for one, other in (pair, pair[::-1]):
            found = replayed(model, one, other, seed, wild=bool(rng.integers(2)))
            ledger = model.privacy_
            assert ledger.used <= ledger.epsilon <= rational(epsilon)
            assert ledger.rows_per_person == most
            yield share_of(found, ledger)


def worst(
    trainer: Any, options: dict[str, Any], relation: str, unit: str, n: int, record: Any
) -> float:
    seed = zlib.crc32(f"{trainer.algorithm} {options} {relation} {unit} {n}".encode())
    found = max(islice(losses(trainer, options, relation, unit, seed), n))
    record("replayed", (trainer.algorithm, n, float(found)))
    assert found <= 1
    return float(found)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("unit", ["record", "person"])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("trainer", "options"), CONFIGURATIONS)
def test_no_transcript_costs_more_than_the_claim(
    trainer, options, relation, unit, record_property
) -> None:
    found = worst(trainer, options, relation, unit, 12, record_property)
    assert found > 0 or trainer not in PURE


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("unit", ["record", "person"])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("trainer", "options"), one_in(4, CONFIGURATIONS))
def test_no_transcript_costs_more_than_the_claim_of_many(
    trainer, options, relation, unit, record_property
) -> None:
    worst(trainer, options, relation, unit, len(one_in(5, range(200))), record_property)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("trainer", PURE, ids=lambda t: t.algorithm)
def test_a_person_whose_rows_are_paid_for_once_is_seen_to_lose_more(monkeypatch, trainer) -> None:
    original = Curator.__init__

    def once(self, *, rows_per_person=None, **more):
        original(self, **more)

    monkeypatch.setattr(Curator, "__init__", once)
    found = losses(trainer, {}, "add-remove", "person", seed=1)
    assert any(loss > 1 for loss in islice(found, 1000))
