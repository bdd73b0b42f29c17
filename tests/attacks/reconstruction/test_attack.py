"""TA108 end to end: who is named, what is said of it, and what is never clear."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.attacks.reconstruction.view import ReconstructionDetails
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.tree import Tree

POLICY = ta.Policy(name="test", values={"max-certified-people": 0})


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    job = rng.integers(0, 4, 300)
    frame = pd.DataFrame({f"job_{name}": (job == i) * 1 for i, name in enumerate("abcd")})
    for column in ("old", "ill", "rich", "tall"):
        frame[column] = rng.integers(0, 2, 300)
    frame["answer"] = (rng.random(300) < 0.2 + 0.5 * frame["ill"]) * 1
    return frame


def forest_of(table: pd.DataFrame, n_trees: int = 30, **options) -> RandomForestClassifier:
    chosen = {"bootstrap": False, "min_samples_leaf": 5, "random_state": 0} | options
    return RandomForestClassifier(n_trees, **chosen).fit(
        table.drop(columns="answer"), table["answer"]
    )


def skipped(report: ta.Report) -> str:
    """Return why the attack was skipped."""
    return next(one.reason for one in report.results if one.id == "TA108")


def test_a_forest_of_large_leaves_gives_its_table_away(table) -> None:
    report = ta.scan(forest_of(table), train=table, target="answer", policy=POLICY)
    found = report["TA108"]
    details = found.details
    assert isinstance(details, ReconstructionDetails)
    assert details.exact == 1.0
    assert details.checked.wrong == 0
    assert details.checked.cells > 0
    assert "one of the 4 columns job" in " ".join(details.assumptions)
    assert [at.trees for at in details.curve] == [1, 2, 5, 10, 20, 30]
    assert report.verdict == "fail"
    # Five people in words, each of them in the table.
    for one in found.evidence:
        said = dict(part.split(" = ") for part in one.rule.split(" · "))
        label = int(one.says.split(" = ")[1])
        job = said.pop("job")
        same = (table["answer"] == label) & (table[f"job_{job}"] == 1)
        for name, value in said.items():
            same &= table[name] == int(value)
        assert same.sum() == one.people


def test_a_single_tree_has_nothing_to_be_put_together(table) -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(table.drop(columns="answer"), table["answer"])
    report = ta.scan(tree, policy=POLICY)
    assert skipped(report).startswith("not applicable: a single tree")
    assert report.verdict == "pass"


def test_where_labels_are_weighed_the_people_are_told_without_them(table) -> None:
    report = ta.scan(forest_of(table, class_weight="balanced"), train=table, policy=POLICY)
    details = report["TA108"].details
    assert details.given_away > 0
    assert details.checked.wrong == 0
    assert report.verdict == "fail"
    numbers = ExtraTreesRegressor(20, random_state=0)
    numbers.fit(table.drop(columns="answer"), np.random.default_rng(0).normal(size=len(table)))
    assert ta.scan(numbers, policy=POLICY)["TA108"].details.given_away > 0


def test_what_is_no_equation_is_not_clear(table) -> None:
    boosted = GradientBoostingClassifier(n_estimators=5, loss="exponential", max_depth=1)
    boosted.fit(table.drop(columns="answer"), table["answer"])
    report = ta.scan(boosted, policy=POLICY)
    assert "labels were not solved" in skipped(report)
    assert report.verdict == "review"


def test_trees_that_contradict_each_other_are_not_clear(table) -> None:
    one, other = (ta.load(forest_of(half, 1)) for half in (table[:150], table[150:]))
    both = ta.Forest(trees=(*one.trees, *other.trees), schema=one.schema)
    report = ta.scan(both, policy=POLICY)
    assert "the trees were not trained on the same people" in skipped(report)
    assert report.verdict == "review"


def test_draws_give_people_away_in_their_order(table) -> None:
    people = table[:60]
    grown = forest_of(people, 100, bootstrap=True, min_samples_leaf=1)
    report = ta.scan(grown, train=people, target="answer", policy=POLICY)
    found = report["TA108"]
    details = found.details
    assert isinstance(details, ReconstructionDetails)
    assert details.in_order == details.given_away == 60
    assert details.checked.wrong == 0
    assert report.verdict == "fail"
    assert [one.says.split(":")[0] for one in found.evidence] == [f"row {i}" for i in range(1, 6)]
    for i, one in enumerate(found.evidence):
        said = dict(part.split(" = ") for part in one.rule.split(" · "))
        assert one.says.endswith(f"answer = {people['answer'][i]}")
        assert people[f"job_{said['job']}"][i] == 1
        assert all(people[name][i] == int(said[name]) for name in ("old", "ill", "rich", "tall"))


def test_draws_without_seeds_make_nobody_certain_but_likely(table) -> None:
    people, others = table[:40], table[40:]
    grown = forest_of(people, 60, bootstrap=True, min_samples_leaf=1)
    for one in (grown, *grown.estimators_):
        one.random_state = None
    report = ta.scan(
        grown, train=people, test=others, target="answer", policy=POLICY, seconds=100
    )  # fmt: skip
    found = report["TA108"]
    details = found.details
    assert isinstance(details, ReconstructionDetails)
    assert details.given_away == details.certified == details.exact == 0
    likely = details.likely
    assert likely.counts_are == "draws"
    assert likely.people.part >= 30
    assert likely.right > 0.85
    assert likely.right > likely.right_of_others + 0.3
    assert likely.error < likely.error_of_others / 2
    assert likely.public > 50
    # Likely people never count as certain.
    assert report.verdict == "pass"
    assert "likely: " in found.evidence[0].says


def test_whoever_knows_some_people_knows_the_others(table) -> None:
    grown = forest_of(table, 2, min_samples_leaf=20)
    alone = ta.scan(grown, train=table, target="answer", policy=POLICY)["TA108"].details
    details = ta.scan(
        grown, train=table, known=table[1:], target="answer", policy=POLICY
    )["TA108"].details  # fmt: skip
    assert details.informed.known == 299
    assert details.informed.certified == 1.0
    assert details.certified == alone.certified < 1


def test_people_of_several_classes_are_certain_with_labels_or_else_without(table) -> None:
    rng = np.random.default_rng(0)
    rows = table.drop(columns="answer")
    label = rng.choice(["a", "b", "c"], len(table))
    for rounds, depth in ((30, 4), (2, 1)):
        grown = GradientBoostingClassifier(n_estimators=rounds, max_depth=depth, random_state=0)
        people = rows.assign(answer=label)
        report = ta.scan(grown.fit(rows, label), train=people, target="answer", policy=POLICY)
        if depth == 1:
            # Groups that share all leaves are large: nobody is given away, whoever solves labels.
            assert (report["TA108"].details.given_away, report.verdict) == (0, "pass")
            assert "labels were not solved" in skipped(ta.scan(grown, policy=POLICY))
        else:
            found = report["TA108"]
            assert found.details.certified > 0.9
            assert found.details.checked.wrong == 0
            assert found.evidence[0].says in ("answer = a", "answer = b", "answer = c")


def stump(column: int, left: int, right: int) -> Tree:
    """Return a tree that asks whether a column is at most 0.5; its labels are weighed."""
    return Tree(
        parent=[-1, 0, 0],
        feature=[-1, column, column],
        low=[-np.inf, -np.inf, 0.5],
        high=[np.inf, 0.5, np.inf],
        n_records=[left + right, left, right],
        counts=[[0.5, 0.5], [0.4, 0.6], [0.7, 0.3]],
    )


@pytest.mark.parametrize(("together", "verdict"), [(5, "pass"), (4, "review")])
def test_who_shares_all_leaves_with_four_others_is_not_given_away(together, verdict) -> None:
    # The cells of two stumps, the third of them the smallest.
    cells = [(0.2, 0.3, 30), (0.7, 0.3, 40), (0.2, 0.8, together), (0.7, 0.8, 25)]
    people = pd.DataFrame([(a, b) for a, b, n in cells for _ in range(n)], columns=["a", "b"])
    people["answer"] = np.arange(len(people)) % 2
    forest = ta.Forest(
        trees=(stump(0, 30 + together, 65), stump(1, 70, 25 + together)),
        schema=Schema(
            features=(Feature(name="a"), Feature(name="b")), target="answer", classes=(0, 1)
        ),
        counts_are="weighted",
    )
    assert ta.scan(forest, policy=POLICY).verdict == "review"
    assert ta.scan(forest, train=people, policy=POLICY).verdict == verdict


def test_other_seeds_are_not_clear(table) -> None:
    grown = forest_of(table, bootstrap=True)
    for one in grown.estimators_:
        one.random_state += 1
    report = ta.scan(grown, policy=POLICY)
    assert skipped(report).startswith("not reconstructed: its seeds do not draw the people")
    assert report.verdict == "review"


def test_draws_of_whom_nobody_is_certain_yet_are_not_clear(table) -> None:
    grown = forest_of(table, 10, bootstrap=True, min_samples_leaf=1, max_depth=2)
    report = ta.scan(grown, policy=POLICY)
    assert "the search ended after" in skipped(report)
    assert report.verdict == "review"
