"""The choices of the greedy trainers on all neighbouring inputs up to three records."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from tests.dp.laws import permute_and_flip_law, privacy_loss
from treeaudit.dp.curator import Curator
from treeaudit.dp.ledger import factor
from treeaudit.dp.scores import UNIT
from treeaudit.dp.subsampling import OperatingSystem, Seeded, below
from treeaudit.trainers import growth as growth_module
from treeaudit.trainers.histograms import Cells, Codes
from treeaudit.trainers.splits import NORM, SCORES, available, one_each, score_level

# Three categories; a number in three bins, or missing; two classes.
CODES = (Codes(n=3), Codes(n=3, edges=np.array([1.0, 2.0])))
RECORDS = list(itertools.product(range(3), range(4), range(2)))
MOST = 3


def people_of(most: int = MOST) -> dict[tuple[int, ...], int]:
    """All multisets of records, with a number each."""
    sets = itertools.chain.from_iterable(
        itertools.combinations_with_replacement(range(len(RECORDS)), n) for n in range(most + 1)
    )
    return {people: i for i, people in enumerate(sets)}


NUMBER = people_of()


def histograms() -> list[np.ndarray]:
    """Every multiset as one node."""
    found = [np.zeros((len(NUMBER), codes.n + 1, 2), dtype=np.int64) for codes in CODES]
    for people, i in NUMBER.items():
        for person in people:
            *codes, label = RECORDS[person]
            for column, code in enumerate(codes):
                found[column][i, code, label] += 1
    return found


HISTOGRAMS = histograms()


def pairs(relation: str) -> np.ndarray:
    found = []
    for people, i in NUMBER.items():
        for person in range(len(RECORDS)):
            if relation == "add-remove":
                if len(people) < MOST:
                    found.append((i, NUMBER[tuple(sorted((*people, person)))]))
            elif people:
                found.append((i, NUMBER[tuple(sorted((*people[1:], person)))]))
    return np.array(found)


def scores(name: str, kind: str, mask: bool) -> np.ndarray:
    there = [np.ones((len(NUMBER), codes.n), dtype=bool) for codes in CODES]
    if mask:
        there[0][:, 1] = False
        there[1][:, 0] = False
    make = {"all": lambda: available(CODES, ways=True, entropy=Seeded(0))}
    candidates = make.get(kind, lambda: one_each(CODES, Seeded(0)))()
    # A cost is the same for all people.
    return score_level(candidates, HISTOGRAMS, there, SCORES[name], UNIT // 3)


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("kind", ["all", "one each"])
@pytest.mark.parametrize("name", SCORES)
def test_a_choice_loses_at_most_epsilon(name, kind, mask, relation) -> None:
    epsilon = Fraction(1)
    table = scores(name, kind, mask)
    sensitivity = SCORES[name].sensitivity(MOST)
    one, other = pairs(relation).T
    moved = table[other] - table[one]
    apart = moved.max(axis=1) - moved.min(axis=1)
    assert apart.max() <= sensitivity * factor(relation)
    if relation == "add-remove":
        assert (moved >= 0).all() or (moved <= 0).all()
    rate = epsilon / (sensitivity * factor(relation))
    exponent = float(rate) * (table - table.max(axis=1, keepdims=True))
    log_p = exponent - np.log(np.exp(exponent).sum(axis=1, keepdims=True))
    assert privacy_loss(log_p[one], log_p[other]) <= float(epsilon) + 1e-5
    # The law of permute-and-flip takes longer: up to two records.
    few = len(people_of(2))
    near = (one < few) & (other < few)
    log_p = np.array([permute_and_flip_law(row, rate) for row in table[:few]])
    assert privacy_loss(log_p[one[near]], log_p[other[near]]) <= float(epsilon) + 1e-5


def test_the_bound_of_the_norm_is_met() -> None:
    table = scores("norm", "all", mask=False)
    one, other = pairs("add-remove").T
    moved = table[other] - table[one]
    assert (moved.max(axis=1) - moved.min(axis=1)).max() > 0.5 * UNIT


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_norm_is_monotone_with_sensitivity_1(n_classes) -> None:
    for counts in itertools.product(range(25), repeat=n_classes):
        before = NORM.of([list(counts)])
        for label in range(n_classes):
            after = list(counts)
            after[label] += 1
            assert 0 <= NORM.of([after]) - before <= NORM.sensitivity(1)
    huge = np.array([[2**30, 2**30 - 1], [2**30, 2**30]])
    assert 0 <= NORM.of(huge[1:]) - NORM.of(huge[:1]) <= NORM.sensitivity(1)


def test_a_whole_tree_is_asked_once_a_level_of_all_its_people(monkeypatch) -> None:
    """Nodes of a level are disjoint, everybody is in one, and the rate is that of the plan."""
    seen = []
    level = growth_module.score_level

    def spy(candidates, tables, *rest):
        seen.append([t.sum() for t in tables])
        return level(candidates, tables, *rest)

    monkeypatch.setattr(growth_module, "score_level", spy)
    cells = Cells(
        codes=CODES,
        n_classes=2,
        cell=np.array([[2 * a + y, 2 * b + y] for a, b, y in RECORDS], dtype=np.uint8).T,
    )
    node = np.zeros(len(RECORDS), dtype=np.int32)
    growth = growth_module.Growth(cells=cells, node=node)
    growth.plant()
    nodes = growth.nodes
    curator = Curator(ceiling=Fraction(1))
    plan = growth_module.Plan(
        per_level=(Fraction(1, 4),) * 4,
        score=NORM,
        sensitivity=NORM.sensitivity(1),
        mechanism="permute-and-flip",
        cost_of_a_part=0,
    )
    growth_module.grow_levels(growth, curator, plan)
    assert seen[0] == [len(RECORDS)] * 2
    assert curator.spent <= 1
    assert {query.composition for query in curator.queries} == {"parallel"}
    leaves = {i for i in range(len(nodes)) if i not in nodes.parent}
    assert set(growth.node.tolist()) <= leaves


def test_where_missing_values_go_is_drawn_without_the_data(monkeypatch) -> None:
    drawn = []
    monkeypatch.setattr(
        "treeaudit.trainers.splits.below",
        lambda source, bound, n: drawn.append(bound) or below(source, bound, n),
    )
    available(CODES, ways=True, entropy=OperatingSystem())
    assert drawn == [3]
