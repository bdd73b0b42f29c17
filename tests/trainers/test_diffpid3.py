"""DiffPID3: its budgets, its split points, its stop rule, its law on neighbouring inputs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from tests.dp.laws import exponential_mechanism_law, privacy_loss
from tests.trainers.people import SCHEMA, people
from treeaudit.dp import curator as curator_module
from treeaudit.dp.curator import Curator
from treeaudit.dp.ledger import factor
from treeaudit.dp.scores import GINI, INFORMATION_GAIN, MAX
from treeaudit.dp.subsampling import Seeded
from treeaudit.errors import DataError
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers import diffpid3_points as points
from treeaudit.trainers.diffpid3 import DiffPID3Classifier

NAMED = Schema(
    features=tuple(Feature(name=f"a{i}", categories=("x", "y")) for i in range(10)), classes=(0, 1)
)


def id3(**parameters) -> DiffPID3Classifier:
    return DiffPID3Classifier(**({"schema": SCHEMA} | parameters))


def named_people(n: int, noise: float, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Ten binary attributes of which one is the class, with noise as in section 5.1."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n, 10))
    y = bits[:, 3].copy()
    for column in (*bits.T, y):
        again = rng.random(n) < noise
        column[again] = rng.integers(0, 2, again.sum())
    frame = pd.DataFrame(np.where(bits == 1, "y", "x"), columns=NAMED.names)
    return frame, y


@pytest.mark.parametrize(
    ("beta", "printed"), [(0.1, 0.010), (0.25, 0.025), (0.5, 0.05), (1.0, 0.1), (2.0, 0.2)]
)
def test_epsilon_of_a_question_in_table_1(beta, printed) -> None:
    """Fletcher & Islam (2015), table 1: five levels of nodes, so four of splits."""
    X, y = named_people(200, 0.0, 0)
    model = id3(schema=NAMED, epsilon=beta, max_depth=4).fit(X, y)
    assert float(model.privacy_.queries[0].epsilon) == pytest.approx(printed, abs=5e-4)
    assert model.privacy_.queries[0].epsilon == Fraction(str(beta)) / 10


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_budget_of_names_and_of_numbers(neighbours) -> None:
    """B / (2 (d + 1)) without numbers or with bins, B / ((2 + n) d + 2) with n numbers."""
    X, y = people(4000)
    for parameters, questions in (
        ({"numbers": "ranges"}, 4 * 3 + 2),
        ({"numbers": "bins"}, 2 * 4),
        ({"criterion": "noisy-counts"}, 2 * 4),
    ):
        model = id3(epsilon=7.0, max_depth=3, neighbours=neighbours, **parameters).fit(X, y)
        ledger = model.privacy_
        assert ledger.epsilon == 7
        by_name = {query.name: query for query in ledger.queries}
        for name in ("people of level 1", "leaf counts"):
            assert by_name[name].epsilon == Fraction(7, questions)
        if parameters.get("criterion") == "noisy-counts":
            # Three attributes at the root, two histograms each.
            assert by_name["values of attribute 1 of level 1"].epsilon == Fraction(7, questions * 6)
            for level, asked in ((1, 6), (2, 4), (3, 2)):
                costs = [q.cost for q in ledger.queries if q.name.endswith(f" of level {level}")]
                assert len(costs) == asked + 1
                assert sum(costs) == Fraction(7, questions) * 2
        else:
            assert by_name["splits of level 1"].epsilon == Fraction(7, questions)
        if parameters.get("numbers") == "ranges":
            assert by_name["points of age, level 1"].mechanism == "exponential mechanism"


def test_what_is_asked_is_what_the_ledger_says(monkeypatch) -> None:
    calls = []
    for kind in ("exponential_mechanism", "permute_and_flip", "discrete_laplace"):
        answer = getattr(curator_module, kind)

        def spy(*arguments, kind=kind, answer=answer):
            rows = arguments[1] if kind == "discrete_laplace" else len(arguments[0])
            calls.append((kind, rows))
            return answer(*arguments)

        monkeypatch.setattr(curator_module, kind, spy)
    X, y = people(3000)
    ledger = id3(epsilon=20.0, max_depth=2).fit(X, y).privacy_
    per = {"discrete Laplace": "discrete_laplace", "permute-and-flip": "permute_and_flip"}
    per["exponential mechanism"] = "exponential_mechanism"
    for mechanism, kind in per.items():
        rows = sum(n for k, n in calls if k == kind)
        asked = [q for q in ledger.queries if q.mechanism == mechanism]
        # Class counts come two to a leaf.
        assert rows == sum(q.asked * (2 if q.name == "leaf counts" else 1) for q in asked)
    assert {q.mechanism for q in ledger.queries} <= {*per, "none"}


def test_a_tree_that_stops_early_claims_the_whole_budget() -> None:
    X, y = people(30)
    ledger = id3(epsilon=0.1).fit(X, y).privacy_
    assert [q.name for q in ledger.queries] == [
        "people of level 1",
        "leaf counts",
        "not asked: the trees stopped early",
    ]
    assert ledger.epsilon == Fraction(1, 10)


def test_the_stop_rule_of_line_9(monkeypatch) -> None:
    """N / (t |C|) < sqrt(2) / epsilon, with counts that are told without noise."""
    monkeypatch.setattr(
        curator_module, "discrete_laplace", lambda rate, n, entropy: np.zeros(n, dtype=np.int64)
    )
    epsilon = 0.1 / 4
    enough = math.ceil(math.sqrt(2) / epsilon * 4)
    for n, levels in ((enough - 1, 0), (enough, 1)):
        X, y = named_people(n, 0.0, 0)
        model = id3(schema=NAMED, epsilon=0.1, max_depth=1, certainty_factor=None).fit(X, y)
        assert int(model.forest_.trees[0].depths.max()) == levels


def test_numbers_are_split_at_drawn_points() -> None:
    X, y = people(6000)
    model = id3(epsilon=5.0, max_depth=1).fit(X, y)
    (tree,) = model.forest_.trees
    assert tree.feature.tolist() == [-1, 0, 0]
    assert tree.high[1] == tree.low[2] == pytest.approx(50, abs=3)
    # A point of the grid, and of no record.
    assert (tree.high[1] * points.N_POINTS / 100) % 1 == 0
    assert model.score(X, y) > 0.9


def ranges_of_one(place, labels, n_points, score):
    members = points.Members.of(np.zeros(len(place), dtype=np.int64), labels, 1)
    return points.ranges(place, members, 2, [(0, n_points)], score)


def test_the_law_of_a_point_is_that_of_a_draw_among_all(monkeypatch) -> None:
    """Ranges of equal score against every point by itself."""
    monkeypatch.setattr(points, "N_POINTS", 16)
    place, labels = np.array([2, 5, 5, 11]), np.array([0, 1, 0, 1])
    [(first, n, found)] = ranges_of_one(place, labels, 16, GINI)
    each = []
    for point in range(1, 16):
        left = np.bincount(labels[place <= point], minlength=2)
        right = np.bincount(labels[place > point], minlength=2)
        each.append(GINI.of([left, right]))
    assert np.repeat(found, n).tolist() == [int(score) for score in each]
    assert first.tolist() == [1, 2, 5, 11]
    rate = Fraction(1) / GINI.sensitivity(1)
    in_ranges = np.exp(exponential_mechanism_law(found, rate, n))
    alone = np.exp(exponential_mechanism_law(each, rate))
    assert np.allclose(in_ranges, np.add.reduceat(alone, first - 1))
    drawn = [
        points.choose_point(
            Curator(entropy=Seeded(i)), "p", Fraction(1), GINI.sensitivity(1), (first, n, found)
        )
        for i in range(600)
    ]
    shares = np.bincount(drawn, minlength=17)[1:16] / 600
    assert np.abs(shares - alone).max() < 0.06


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("score", [MAX, GINI, INFORMATION_GAIN], ids=lambda s: s.name)
def test_a_point_loses_at_most_epsilon(monkeypatch, score, relation) -> None:
    """All inputs of up to four records on five points, and all their neighbours."""
    monkeypatch.setattr(points, "N_POINTS", 5)
    epsilon = Fraction(2)
    rate = epsilon / (score.sensitivity(4) * factor(relation))
    records = list(itertools.product(range(6), range(2)))

    def law(chosen: tuple[int, ...]) -> np.ndarray:
        place = np.array([records[i][0] for i in chosen], dtype=np.int64)
        labels = np.array([records[i][1] for i in chosen], dtype=np.int64)
        [(_, n, found)] = ranges_of_one(place, labels, 5, score)
        return exponential_mechanism_law(np.repeat(found, n), rate)

    sets = [
        c for n in range(5) for c in itertools.combinations_with_replacement(range(len(records)), n)
    ]
    laws = {chosen: law(chosen) for chosen in sets}
    worst = 0.0
    for chosen in sets:
        for i in range(len(records)):
            if relation == "add-remove":
                other = tuple(sorted((*chosen, i))) if len(chosen) < 4 else chosen
            else:
                other = tuple(sorted((*chosen[1:], i))) if chosen else chosen
            worst = max(worst, privacy_loss(laws[chosen], laws[other]))
    assert 0.5 < worst <= float(epsilon) + 1e-6


def test_published_is_the_form_with_a_factor_of_2() -> None:
    X, y = named_people(500, 0.1, 0)
    model = id3(schema=NAMED, variant="published", max_depth=1, epsilon=4.0).fit(X, y)
    splits = next(q for q in model.privacy_.queries if q.name.startswith("splits"))
    assert (splits.mechanism, splits.sensitivity) == (
        "exponential mechanism",
        2,
    )
    assert not model.privacy_.not_private


def test_more_records_than_the_bound() -> None:
    X, y = people(60)
    with pytest.raises(DataError, match="more records than max_records=50"):
        id3(criterion="information-gain", max_records=50).fit(X, y)
    id3(criterion="information-gain", max_records=60).fit(X, y)
