"""TA103: worked example of the paper, and a brute force over known people."""

import itertools

from hypothesis import given

import treeaudit as ta
from tests.attacks.test_homogeneity import leaves
from tests.strategies import count_tables, examples
from treeaudit.attacks import Background, Case, run_attack


def run(forest):
    return run_attack(Background(), Case(forest=forest, table=ta.reconstruct(forest).groups))


def test_the_papers_walk_through(figure_3) -> None:
    """Section 3.1: of {yes: 1, no: 2}, knowing A (173 cm, 33, yes) discloses both others."""
    finding = run(figure_3)
    assert figure_3.apply([[173, 70, 33]]).tolist() == figure_3.apply([[171, 80, 19]]).tolist()
    assert finding.details.people_disclosed_by_known[:3] == (3, 7, 7)
    assert [(e.leaf, e.people, e.says) for e in finding.evidence] == [
        (3, 3, "2 yes, 1 no"),
        (6, 3, "1 yes, 2 no"),
    ]


def brute(counts, known: int) -> int:
    """Try every set of known people: how many others can be left with one label?"""
    people = [c for c, n in enumerate(counts) for _ in range(int(n))]
    best = 0
    for taken in itertools.combinations(range(len(people)), min(known, len(people) - 1)):
        left = [label for i, label in enumerate(people) if i not in taken]
        if len(set(left)) == 1:
            best = max(best, len(left))
    return best


@examples(40)
@given(count_tables(most=3))
def test_agreement_with_every_choice_of_known_people(counts) -> None:
    curve = run(leaves(counts)).details.people_disclosed_by_known
    needs = [int(row.sum() - row.max()) for row in counts]
    for known in range(3):
        expected = 0
        for row, need in zip(counts, needs, strict=True):
            found = brute(row, need) if need <= known else 0
            assert (brute(row, known) > 0) == (need <= known or row.sum() - known <= 1)
            expected += found
        assert curve[known] == expected


def test_draws_and_weights_only_count_where_they_are_people() -> None:
    drawn = leaves([[3, 1], [4, 0]], records_are="bootstrap")
    tree = drawn.trees[0]
    fewer = ta.Tree(
        parent=tree.parent,
        feature=tree.feature,
        low=tree.low,
        high=tree.high,
        n_records=[5, 3, 2],
        counts=tree.counts,
    )
    result = run(
        ta.Forest(
            trees=(fewer,),
            schema=drawn.schema,
            records_are="bootstrap",
            counts_reason="class counts are bootstrap draws",
        )
    )
    assert isinstance(result, ta.Skipped)
    assert result.reason.startswith("the class counts of 1 leaf are not people")
