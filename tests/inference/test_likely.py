"""Who is likely: stated levels hold, formulas agree with all tables listed, the known are off."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

from tests.inference.tables import trained
from tests.strategies import examples
from treeaudit.defenses.strip import without_extras
from treeaudit.inference.evidence import (
    NoiseEvidence,
    noise_evidence,
    paths,
)
from treeaudit.inference.exact import infer_exact
from treeaudit.inference.likely import (
    LikelyTable,
    infer_likely,
    records_of,
    table_error,
)
from treeaudit.inference.posterior import posterior, posterior_of_one
from treeaudit.inference.scope import Budget, OutOfBudgetError, subtract_known
from treeaudit.model.forest import Forest, Noise
from treeaudit.people.records import read_records
from treeaudit.readers import load


def ample() -> Budget:
    return Budget(seconds=1_000)


NAMES = [*(f"job_{name}" for name in "abcd"), "old", "ill", "rich", "tall", "far"]


def table(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return people with one job of four and five columns of 0 and 1, and their labels."""
    rng = np.random.default_rng(seed)
    job = np.eye(4)[rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])]
    others = rng.random((n, 5)) < [0.2, 0.3, 0.5, 0.6, 0.1]
    values = np.hstack([job, others])
    return values, (rng.random(n) < 0.2 + 0.5 * values[:, 5]).astype(np.int64)


def drawn(seed: int, n: int = 30, trees: int = 12) -> tuple[Forest, np.ndarray, np.ndarray]:
    """Return a forest of draws without seeds, and its people."""
    import pandas as pd

    values, labels = table(seed, n)
    grown = RandomForestClassifier(trees, random_state=seed)
    grown.fit(pd.DataFrame(values, columns=NAMES), labels)
    return without_extras(load(grown)), values, labels


def with_noise(
    seed: int, rate: float, n: int = 30, trees: int = 12
) -> tuple[Forest, np.ndarray, np.ndarray]:
    """Return a forest of everybody whose leaves have noise, and its people."""
    import pandas as pd

    values, labels = table(seed, n)
    grown = RandomForestClassifier(trees, bootstrap=False, max_depth=4, random_state=seed)
    forest = load(grown.fit(pd.DataFrame(values, columns=NAMES), labels))
    rng, p = np.random.default_rng(seed), 1 - np.exp(-rate)
    noised = []
    for tree in forest.trees:
        off = rng.geometric(p, tree.counts.shape) - rng.geometric(p, tree.counts.shape)
        noised.append(replace(tree, counts=tree.counts + off, n_records=None))
    noise = Noise(rate=rate, counts="leaves")
    made = replace(forest, trees=tuple(noised), counts_are="noisy", noise=noise, n_records=n)
    return made, values, labels


def right(
    answer: LikelyTable, values: np.ndarray, labels: np.ndarray, forest: Forest
) -> np.ndarray:
    """Tell of each likely person whether there are at least so many in the cell."""
    true = Counter(
        (*ends, label)
        for ends, label in zip(forest.apply(values).tolist(), labels.tolist(), strict=True)
    )
    held = answer.people
    leaf = answer.cells.leaf[:, answer.cell[held.place]].T.tolist()
    keys = [(*e, x) for e, x in zip(leaf, answer.label[held.place].tolist(), strict=True)]
    return np.array([true[key] >= n for key, n in zip(keys, held.nth.tolist(), strict=True)])


@pytest.mark.parametrize("trees", [1, 3])
def test_noise_that_leaves_nobody_tells_nothing(trees: int) -> None:
    forest, _, _ = with_noise(0, 1.0, trees=trees)
    nobody = [replace(tree, counts=np.minimum(tree.counts, 0) - 1) for tree in forest.trees]
    answer = infer_likely(replace(forest, trees=tuple(nobody)), budget=ample())
    assert answer.guess.sum() == pytest.approx(answer.n_people)
    assert np.ptp(answer.guess) == 0


@pytest.mark.parametrize("kind", ["draws", "noise"])
def test_people_are_as_likely_as_is_stated(kind: str) -> None:
    stated, found = [], []
    for seed in range(8):
        forest, values, labels = drawn(seed) if kind == "draws" else with_noise(seed, 1.0)
        answer = infer_likely(forest, budget=ample(), seed=seed)
        stated.append(answer.people.probability)
        found.append(right(answer, values, labels, forest))
    level, held = np.concatenate(stated), np.concatenate(found)
    for low, high in ((0, 0.5), (0.5, 0.9), (0.9, 1.01)):
        at = (level >= low) & (level < high)
        assert at.sum() > 10
        # Three standard errors, and what people of one forest have in common.
        most = 3 * np.sqrt(level[at].mean() * (1 - level[at].mean()) / at.sum()) + 0.05
        assert held[at].mean() > level[at].mean() - most
        assert held[at].mean() < level[at].mean() + most + 0.1
    assert held.mean() > 0.45


def test_the_whole_posterior_of_few_people_is_that_of_all_tables() -> None:
    """Three places, two leaves, three people: every table is listed and weighed."""
    row = np.array([[0, 2], [0, 3], [1, 3]])
    rows = NoiseEvidence(count=np.array([2.0, 1.0, 3.0, 0.0]), rate=np.full(4, 0.7))
    weight, known = np.array([1.0, 2.0, 0.5]), np.zeros(4, np.int64)
    share = Counter()
    for people in product(range(3), repeat=3):
        held = np.bincount(row[list(people)].ravel(), minlength=4)
        likelihood = np.exp(-(rows.rate * abs(rows.count - held)).sum())
        times, urn = Counter(), 1.0
        for place in people:
            urn *= weight[place] + times[place]
            times[place] += 1
        for place, n in times.items():
            for nth in range(1, n + 1):
                share[place, nth] += likelihood * urn
        share["all"] += likelihood * urn
    found = posterior(row, rows, weight, np.ones(3), 3, known=known, seed=1)
    several = [posterior(row, rows, weight, np.ones(3), 3, known=known, seed=i) for i in range(40)]
    mean = Counter()
    for one in [found, *several]:
        for place, nth, p in zip(one.place, one.nth, one.probability, strict=True):
            mean[int(place), int(nth)] += p / 41
    for key, told in share.items():
        if key != "all":
            assert mean[key] == pytest.approx(told / share["all"], abs=0.02)


@examples(15)
@given(st.integers(0, 10_000), st.floats(0.1, 3))
def test_one_person_who_is_missing_has_the_posterior_of_the_formula(seed: int, rate: float) -> None:
    forest, values, labels = with_noise(seed % 50, rate)
    known = read_records((values[1:], labels[1:]), forest)
    answer = infer_likely(forest, known=known, budget=ample())
    assert answer.n_people == 1
    assert answer.found.probability.sum() == pytest.approx(1)
    # The same from the definition: noise is what is left when the known and the candidate are off.
    rows = noise_evidence(forest)
    node = paths(forest.trees, answer.cells.leaf[:, answer.cell].T.astype(np.int64), every=False)
    row = node * 2 + answer.label[:, None]
    held = np.zeros(len(rows.count))
    mine = paths(forest.trees, known.node.astype(np.int64), every=False) * 2
    np.add.at(held, mine + known.known_labels[:, None], 1)
    left = rows.count - held
    score = np.array([abs(left).sum() - abs(left[r] - 1).sum() + abs(left[r]).sum() for r in row])
    score = -(2 * abs(left).sum() - score)
    same = posterior_of_one(row, rows, np.ones(len(row)), held.astype(np.int64))
    told = np.exp(rate * (score - score.max()))
    assert same.probability == pytest.approx((told / told.sum())[same.place])


@examples(60)
@given(st.integers(0, 2_000), st.integers(0, 10))
def test_whoever_is_certain_besides_the_known_is_there(seed: int, missing: int) -> None:
    forest, values, labels = trained(seed)
    missing = min(missing, len(values))
    told = np.array(forest.schema.classes)[labels]
    known = read_records((values, told), forest).only(np.arange(len(values)) >= missing)
    answer = infer_exact(subtract_known(forest, known))
    assert answer.n_people == missing
    true = Counter(map(tuple, forest.apply(values[:missing]).tolist())) if missing else Counter()
    total = Counter()
    for label, one in enumerate(answer.labels):
        mine = Counter(
            tuple(ends)
            for ends, x in zip(
                forest.apply(values[:missing]).tolist() if missing else [],
                labels[:missing],
                strict=True,
            )
            if x == label
        )
        for at, low, high in zip(one.cell, one.bounds.low, one.bounds.high, strict=True):
            ends = tuple(answer.cells.leaf[:, at].tolist())
            total[ends] += low
            if answer.cells.n_records[at] == 1:
                assert low <= mine[ends] <= high
            assert low <= mine[ends]
    assert all(total[ends] <= n for ends, n in true.items())


def test_a_table_from_draws_is_near_that_of_the_people() -> None:
    forest, values, _ = drawn(1, n=40, trees=60)
    answer = infer_likely(forest, budget=ample())
    found = records_of(answer, forest.schema)
    others, _ = table(50, 40)
    assert table_error(found, values) < table_error(others, values) / 2


def test_no_time_names_nobody() -> None:
    forest, _, _ = drawn(0)
    with pytest.raises(OutOfBudgetError, match="0 seconds"):
        infer_likely(forest, budget=Budget(seconds=0))
