"""TA104: the score against loops, and models whose memory is known."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import poisson
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from tests.attacks.people import case_of, population, records_of
from tests.strategies import examples, forests, rows
from treeaudit.attacks import Attributes, Case, run_attack
from treeaudit.attacks.attribute_inference.attack import Outcome
from treeaudit.attacks.attribute_inference.guesses import answers, columns_of, target_people, weigh
from treeaudit.attacks.membership_inference.scores import split_groups
from treeaudit.findings.details import plain_data


def case_by_hand(forest, seed) -> Case:
    """Random people of a forest; nobody looks whether they fit its counts."""
    rng = np.random.default_rng(seed)
    classes = len(forest.schema.classes)
    train, test = (
        records_of(forest, rows(s, 60), rng.integers(0, classes, 60)) for s in (seed, seed + 1)
    )
    return Case(forest=forest, table=ta.reconstruct(forest).groups, train=train, test=test)


def explicit_score(forest, people, n_members, row, label) -> float:
    """The log likelihood ratio of everything that the trees count, in plain loops."""
    total = 0.0
    for i, tree in enumerate(forest.trees):
        leaf = int(tree.apply(row[None])[0])
        if leaf not in tree.leaves:
            continue
        nodes = people.test.node[people.reference, i]
        labels = people.test.labels[people.reference]
        seen = sum(1 for n, y in zip(nodes, labels, strict=True) if n == leaf and y == label)
        shown = tree.counts[tree.leaves].sum()
        expected = (seen + 0.5) * shown / len(nodes)
        count = tree.counts[leaf, label]
        without = poisson.logpmf(count, expected)
        if forest.records_are == "bootstrap":
            total += poisson.logpmf(count, expected + shown / n_members) - without
        else:
            share = min(1, shown / n_members)
            ratio = share * math.exp(poisson.logpmf(count - 1, expected) - without) + 1 - share
            total += math.log(ratio) if ratio > 0 else -math.inf
    return total


@examples(25)
@given(forests(), st.sampled_from(["all", "bootstrap"]), st.integers(0, 99))
def test_the_score_against_loops(forest, drawn, seed) -> None:
    forest = ta.Forest(trees=forest.trees, schema=forest.schema, records_are=drawn)
    case = case_by_hand(forest, seed)
    people = split_groups(case, "TA104", 5)
    asked = target_people(people)
    columns = columns_of(forest, people.test.values[people.reference])
    assume(columns)
    for column, sums in zip(columns, weigh(case, people, asked, columns), strict=True):
        for i, row in enumerate(asked.values):
            for v, candidate in enumerate(column.values):
                changed = row.copy()
                changed[list(column.features)] = candidate
                expected = explicit_score(forest, people, 60, changed, asked.labels[i])
                assert sums.score[i, v] == pytest.approx(expected, abs=1e-6)


def test_the_answer_by_hand() -> None:
    """log ½ + 1 < log ¼ + 2, but log ½ + 0.1 > log ¼ + 0.2; an excluded value is never said."""
    score = np.array([[1.0, 2.0], [-np.inf, 0.0]])
    chance = np.array([[0.5, 0.25], [0.99, 0.01]])
    assert answers(score, chance, 1.0).tolist() == [1, 1]
    assert answers(score, chance, 0.1).tolist() == [0, 1]


def outcome_of(members, control, guessed_members) -> Outcome:
    """Return whom the model finds out, and whom the guess without it does, as flags."""
    stump = ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-np.inf, -np.inf, 1],
        high=[np.inf, 1, np.inf],
    )
    forest = ta.Forest(trees=(stump,), schema=ta.Schema.numeric(1))
    imputation = np.r_[guessed_members, np.zeros(len(control), bool)]
    return Outcome(
        column=columns_of(forest, np.zeros((2, 1)))[0],
        is_member=np.repeat([True, False], [len(members), len(control)]),
        model=np.r_[members, control],
        imputation=imputation,
        frequent=imputation,
        fredrikson=imputation,
    )


def first(n: int) -> np.ndarray:
    """Flag the first of a hundred people."""
    return np.arange(100) < n


def test_what_is_given_away_is_beyond_both() -> None:
    """Members: 80 by the model, 50 of them without it. Unseen people: 50."""
    outcome = outcome_of(first(80), first(50), first(50))
    assert outcome.beyond_control().value == pytest.approx(0.3)
    assert outcome.beyond_imputation().value == pytest.approx(0.3)
    # All 30 who differ are on one side: 1 - 2 * (1 - 0.025 ** (1/30)) of them at least.
    assert outcome.beyond_imputation().low == pytest.approx(0.3 * (2 * 0.025 ** (1 / 30) - 1))
    assert outcome.given_away(0.95) == pytest.approx(0.3)
    assert outcome_of(first(80), first(80), first(50)).given_away(0.95) == 0.0


@pytest.mark.parametrize(
    ("control", "guessed", "proven"),
    [(75, 50, "beyond_imputation"), (50, 77, "beyond_control")],
)
def test_one_excess_that_is_proven_does_not_stand_for_the_other(control, guessed, proven) -> None:
    """Of 80, five more than unseen people or three more than the guess may be chance."""
    outcome = outcome_of(first(80), first(control), first(guessed))
    excesses = {name: getattr(outcome, name)() for name in ("beyond_control", "beyond_imputation")}
    assert all(excess.value > 0 for excess in excesses.values())
    assert [name for name, excess in excesses.items() if excess.low > 0] == [proven]
    assert outcome.given_away(0.95) == 0.0


@pytest.fixture(scope="module")
def remembered() -> ta.Finding:
    """An unlimited forest without bootstrap: it holds every person."""
    x, y = population(600, 0)
    model = RandomForestClassifier(20, bootstrap=False, random_state=0).fit(x, y)
    return run_attack(Attributes(), case_of(model, (x, y), population(4_000, 1)))


def test_a_forest_that_remembers_gives_values_away(remembered) -> None:
    details = remembered.details
    assert details.given_away
    assert remembered.status == "found"
    assert remembered.people > 0
    assert json.loads(json.dumps(plain_data(details), allow_nan=False)) == plain_data(details)
    rows_ = {row.column: row for row in details.columns}
    assert set(rows_) == {"x0", "x1", "x2", "x3"}
    worst = rows_[details.given_away[0]]
    assert worst.model_members > worst.model_control
    assert worst.model_members > worst.imputation_members
    assert worst.excess_low > 0
    assert worst.beyond_imputation_low > 0


def test_every_column_stands_beside_its_controls(remembered) -> None:
    for control, row in zip(remembered.controls, remembered.details.columns, strict=True):
        assert control.of == row.column
        assert control.verified.value == row.model_members
        assert control.control.value == row.model_control
        assert set(control.baselines) == {"most frequent value", "guess without the model"}
        assert control.sentence.startswith(control.of)


def test_a_cap_names_what_was_left_out() -> None:
    x, y = population(300, 2)
    model = DecisionTreeClassifier(random_state=0).fit(x, y)
    finding = run_attack(Attributes(most_columns=1), case_of(model, (x, y), population(300, 3)))
    assert finding.details.not_attacked == ("x2", "x1", "x0")
    assert "3 further columns were not attacked" in finding.summary


def test_unseen_people_instead_of_members_give_nothing_away() -> None:
    """The whole machinery on people whom the model never saw."""
    x, y = population(800, 6)
    model = RandomForestClassifier(10, random_state=0).fit(x, y)
    finding = run_attack(Attributes(), case_of(model, population(800, 7), population(3_000, 8)))
    assert finding.details.given_away == ()


def test_a_regressor_is_attacked_by_its_people() -> None:
    x, _ = population(400, 10)
    target = x[:, 3] + x[:, 0]
    model = DecisionTreeRegressor(random_state=0).fit(x, target)
    unseen, _ = population(400, 11)
    finding = run_attack(
        Attributes(), case_of(model, (x, target), (unseen, unseen[:, 3] + unseen[:, 0]))
    )
    assert isinstance(finding, ta.Finding)


def test_without_people_it_is_skipped(figure_3) -> None:
    result = run_attack(Attributes(), Case(forest=figure_3, table=ta.reconstruct(figure_3).groups))
    assert result.reason == "needs --train and --test to tell success from chance"


def test_the_order_of_the_trees_does_not_matter() -> None:
    x, y = population(300, 14)
    model = RandomForestClassifier(3, random_state=0).fit(x, y)
    case = case_of(model, (x, y), population(500, 15))
    trees = tuple(case.forest.trees)
    other = ta.Forest(
        trees=trees[::-1],
        schema=case.forest.schema,
        counts_are=case.forest.counts_are,
        records_are=case.forest.records_are,
        n_records=case.forest.n_records,
    )
    again = Case(
        forest=other,
        table=ta.reconstruct(other).groups,
        train=records_of(other, x, case.train.labels),
        test=records_of(other, case.test.values, case.test.labels),
    )
    one, two = run_attack(Attributes(), case), run_attack(Attributes(), again)
    assert one.details.given_away == two.details.given_away
    assert one.people == two.people


def test_a_column_among_many_has_to_be_more_certain() -> None:
    """Every column that is tested may seem to be given away by chance: five percent for all.

    Members of the rare class all have 1 in the first column, where unseen people
    of that class have it in three of ten cases: enough to be sure of one column,
    not of one among twelve. The other columns tell nobody from anybody.
    """
    n_columns, rare = 12, 15
    chain = range(1, n_columns)
    parent, feature = [-1], [-1]
    low, high = [-np.inf], [np.inf]
    counts = [[200 - rare, rare]]
    for column in chain:  # nobody has more than 1 in these
        inner = 0 if column == 1 else len(parent) - 2
        parent += [inner, inner]
        feature += [column, column]
        low, high = [*low, -np.inf, 1.0], [*high, 1.0, np.inf]
        counts += [[200 - rare, rare], [0, 0]]
    inner = len(parent) - 2
    tree = ta.Tree(
        parent=[*parent, inner, inner],
        feature=[*feature, 0, 0],
        low=[*low, -np.inf, 0.5],
        high=[*high, 0.5, np.inf],
        n_records=[*(sum(row) for row in counts), 167, 33],
        counts=[*counts, [167, 0], [18, rare]],
    )
    forest = ta.Forest(trees=(tree,), schema=ta.Schema.numeric(n_columns, ["common", "rare"]))

    def people(n: int, n_rare: int, ones_rare: int, ones_common: int):
        values, label = np.zeros((n, n_columns)), np.repeat([1, 0], [n_rare, n - n_rare])
        values[:ones_rare, 0] = 1
        values[n_rare : n_rare + ones_common, 0] = 1
        return records_of(forest, values, label)

    case = Case(
        forest=forest,
        table=ta.reconstruct(forest).groups,
        train=people(200, rare, rare, 18),
        test=people(4_000, 300, 90, 360),
    )
    alone = run_attack(Attributes(most_columns=1), case)
    among = run_attack(Attributes(), case)
    assert (len(alone.details.columns), len(among.details.columns)) == (1, n_columns)
    assert list(alone.details.given_away) == ["x0"]
    assert list(among.details.given_away) == []
    one, same = alone.details.columns[0], among.details.columns[0]
    assert replace(one, given_away=False) == same
    assert one.excess_low > 0
