"""DiffPID3: its budgets, its split points, its stop rule, its law on neighbouring inputs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.dp.laws import exponential_mechanism_law, privacy_loss
from tests.trainers.people import SCHEMA, people
from treeaudit.dp import curator as curator_module
from treeaudit.dp.curator import Curator
from treeaudit.dp.entropy import Seeded
from treeaudit.dp.ledger import factor
from treeaudit.dp.scores import GINI, INFORMATION_GAIN, MAX
from treeaudit.errors import DataError, PrivacyError
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


def test_a_number_is_asked_again_within_what_is_left_of_it() -> None:
    rng = np.random.default_rng(0)
    schema = Schema(features=(Feature(name="x", low=0, high=1),), classes=(0, 1))
    X = rng.random((8000, 1))
    y = ((X[:, 0] > 0.25) & (X[:, 0] < 0.75)).astype(int)
    model = DiffPID3Classifier(schema=schema, epsilon=20.0, max_depth=3).fit(X, y)
    (tree,) = model.forest_.trees
    assert model.score(X, y) > 0.95
    assert len(set(tree.high[np.isfinite(tree.high)].tolist())) >= 2


def test_bins_are_many_parts_and_predict_alike() -> None:
    X, y = people(5000)
    X.loc[::11, "age"] = np.nan
    model = id3(epsilon=10.0, numbers="bins", max_depth=2, certainty_factor=None).fit(X, y)
    (tree,) = model.forest_.trees
    assert (tree.parent == 0).sum() == 10
    assert tree.missing[1:11].sum() == 1
    known = X["age"].notna()
    assert model.score(X[known], y[known]) > 0.95


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


@pytest.mark.parametrize("score", [MAX, GINI], ids=lambda s: s.name)
def test_ranges_of_all_nodes_at_once_are_those_of_each(monkeypatch, score) -> None:
    monkeypatch.setattr(points, "N_POINTS", 20)
    rng = np.random.default_rng(0)
    for _ in range(40):
        inside = [(int(a), int(a + b)) for a, b in rng.integers(1, 13, (rng.integers(1, 6), 2))]
        node, labels = (rng.integers(0, n, rng.integers(0, 60) * 2) for n in (len(inside), 3))
        n = min(len(node), len(labels))
        node, labels = node[:n], labels[:n]
        low, high = np.array(inside)[node].T
        place = np.where(rng.random(n) < 0.2, points.MISSING, rng.integers(low + 1, high + 1))
        members = points.Members.of(node, labels, len(inside))
        together = list(points.ranges(place, members, 3, inside, score))
        for i, ends in enumerate(inside):
            first, n_points, found = together[i]
            each = [
                [np.bincount(labels[one], minlength=3) for one in (mine & left, mine & ~left)]
                for point in range(ends[0] + 1, ends[1])
                for mine in [(node == i) & (place != points.MISSING)]
                for left in [place <= point]
            ]
            assert np.repeat(found, n_points).tolist() == [int(score.of(one)) for one in each]
            assert len(each) == 0 or first[0] == ends[0] + 1
            assert (np.diff(first) == n_points[:-1]).all()


@example(-1e-320, 1e-320, [0.3])
@example(0.0, 5e-324, [0.3])
@given(st.floats(-1e308, 1e308), st.floats(-1e308, 1e308), st.lists(st.floats(0, 1)))
def test_places_are_what_a_search_finds(one, other, shares) -> None:
    age = Feature(name="age", low=min(one, other), high=max(one, other))
    grid = points.point_value(age, np.arange(points.N_POINTS + 1))
    between = [*age_range(age, shares), *grid[::4096], *np.nextafter(grid[::4096], np.inf)]
    values = np.clip(between, age.low, age.high)
    expected = np.minimum(np.searchsorted(grid, values), points.N_POINTS)
    assert points.place_on_grid(age, values).tolist() == expected.tolist()


def age_range(age: Feature, shares: list[float]) -> list[float]:
    return [age.low * (1 - share) + age.high * share for share in shares]


def test_a_value_on_a_point_goes_left() -> None:
    age = Feature(name="age", low=0, high=100)
    values = points.point_value(age, [0, 1, 700, points.N_POINTS])
    assert points.place_on_grid(age, values).tolist() == [0, 1, 700, points.N_POINTS]
    assert points.place_on_grid(age, np.array([np.nan])).tolist() == [points.MISSING]


def test_a_value_beyond_the_bounds_is_on_the_last_point() -> None:
    age = Feature(name="age", low=0, high=100)
    values = np.array([-1e300, -70.25, -0.001, 100.001, 170.25, 1e300, -np.inf, np.inf])
    last = points.N_POINTS
    assert points.place_on_grid(age, values).tolist() == [0, 0, 0, last, last, last, 0, last]


def test_published_is_the_form_with_a_factor_of_2() -> None:
    X, y = named_people(500, 0.1, 0)
    model = id3(schema=NAMED, variant="published", max_depth=1, epsilon=4.0).fit(X, y)
    splits = next(q for q in model.privacy_.queries if q.name.startswith("splits"))
    assert (splits.mechanism, splits.sensitivity) == (
        "exponential mechanism",
        2,
    )
    assert not model.privacy_.not_private


def test_a_single_split_of_section_5() -> None:
    """Max finds the attribute of 2,000 records at B = 0.1 (table 1: 100 %; 99.9 % expected)."""
    right = 0
    for seed in range(20):
        X, y = named_people(2000, 0.1, seed)
        model = id3(schema=NAMED, epsilon=0.1, max_depth=1, variant="published", random_state=seed)
        tree = model.fit(X, y).forest_.trees[0]
        right += tree.n_nodes == 3 and tree.feature[1] == 3
    assert right >= 19


def test_noisy_counts_learn_with_a_large_epsilon() -> None:
    X, y = named_people(3000, 0.0, 1)
    model = id3(schema=NAMED, criterion="noisy-counts", epsilon=20.0, max_depth=2).fit(X, y)
    assert model.score(X, y) == 1.0


def test_pruning_leaves_what_pays() -> None:
    X, y = people(4000)
    whole = id3(epsilon=8.0, max_depth=4, certainty_factor=None, random_state=0).fit(X, y)
    cut = id3(epsilon=8.0, max_depth=4, random_state=0).fit(X, y)
    assert cut.forest_.trees[0].n_nodes < whole.forest_.trees[0].n_nodes
    assert cut.score(X, y) > whole.score(X, y) - 0.02


def test_parameters_that_are_none() -> None:
    X, y = people(30)
    for name, value in (
        ("max_depth", 0),
        ("max_depth", True),
        ("n_bins", 1),
        ("max_records", 0.5),
        ("criterion", "norm"),
        ("numbers", "none"),
        ("certainty_factor", 1.0),
    ):
        with pytest.raises(ValueError, match=f"{name} is"):
            id3(**{name: value}).fit(X, y)
    with pytest.raises(PrivacyError, match="public bound on the number of records"):
        id3(criterion="information-gain").fit(X, y)


def test_more_records_than_the_bound() -> None:
    X, y = people(60)
    with pytest.raises(DataError, match="more records than max_records=50"):
        id3(criterion="information-gain", max_records=50).fit(X, y)
    id3(criterion="information-gain", max_records=60).fit(X, y)


def test_a_place_on_a_narrow_range_is_no_matter_of_others() -> None:
    feature = Feature(name="x", low=0.1, high=0.1 + 4e-16)
    alone = points.place_on_grid(feature, np.full(500, 0.1000000000000001))
    beside = points.place_on_grid(
        feature, np.append(np.full(500, 0.1000000000000001), 0.10000000000000026)
    )
    assert alone.tolist() == beside[:500].tolist()
