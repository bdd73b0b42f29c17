"""People counted once over all trees: literal numbers, and by scikit-learn and numpy alone."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.ensemble._forest import _generate_sample_indices

import treeaudit as ta
from treeaudit.attacks import Case
from treeaudit.attacks.distinct_people import in_any_tree, of_each_tree
from treeaudit.people.records import read_records
from treeaudit.table.persons import in_persons


def stump(at: float, low: int, high: int) -> ta.Tree:
    return ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-np.inf, -np.inf, at],
        high=[np.inf, at, np.inf],
        n_records=[low + high, low, high],
    )


def case(forest: ta.Forest, values=None) -> Case:
    train = None
    if values is not None:
        train = read_records(pd.DataFrame({"age": values, "label": "no"}), forest, target="label")
    return Case(forest=forest, table=ta.reconstruct(forest).groups, train=train)


def forest_of(*trees: ta.Tree, **stated) -> ta.Forest:
    return ta.Forest(trees=trees, schema=ta.Schema.numeric(["age"], ["no", "yes"]), **stated)


def alone(asked: Case):
    return in_any_tree(asked, np.where(asked.table.size == 1, 1, 0))


def test_the_file_alone_gives_bounds() -> None:
    """One of ten is alone in the first tree, one in the second: one person or two."""
    forest = forest_of(stump(1.5, 1, 9), stump(9.5, 9, 1), n_records=10)
    once = alone(case(forest))
    assert (once.tree, once.worst, once.low, once.high, once.among) == (0, 1, 1, 2, 10)
    assert once.text == "1 to 2"


def test_people_are_followed_where_every_tree_saw_all_of_them() -> None:
    different = forest_of(stump(1.5, 1, 9), stump(9.5, 9, 1), n_records=10)
    once = alone(case(different, np.arange(1, 11)))
    assert (once.low, once.high, once.text) == (2, 2, "2")
    same = forest_of(stump(1.5, 1, 9), stump(1.5, 1, 9), n_records=10)
    assert alone(case(same, np.arange(1, 11))).high == 1


def test_somebody_of_a_draw_is_in_a_leaf_for_certain_where_nobody_else_can_be() -> None:
    """Only 1 ends below 1.5; above 8.5 end 9 and 10, of whom the second tree drew one."""
    forest = forest_of(stump(1.5, 1, 5), stump(8.5, 5, 1), n_records=10, records_are="bootstrap")
    once = alone(case(forest, np.arange(1, 11)))
    assert (once.low, once.high) == (2, 2)
    assert alone(case(forest)).low == 1
    two = forest_of(stump(2.5, 1, 5), stump(1.5, 1, 5), n_records=10, records_are="bootstrap")
    once = alone(case(two, np.arange(1, 11)))
    assert (once.low, once.high) == (1, 2)


def test_trees_of_parts_of_the_people_share_nobody() -> None:
    forest = forest_of(stump(1.5, 1, 4), stump(1.5, 1, 4), records_are="disjoint", n_records=10)
    once = alone(case(forest))
    assert (once.worst, once.low, once.high) == (1, 2, 2)


def people(seed: int, n: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    return x, (x["a"] + rng.normal(0, 1, n) > 0).to_numpy().astype(int)


def by_numpy(model, x, y) -> dict[str, tuple[int, int]]:
    """Different people by property, and those of the worst tree, without treeaudit."""
    leaf, n = model.apply(x), len(x)
    found = {name: np.zeros(n, dtype=bool) for name in ("alone", "below", "certain")}
    worst = dict.fromkeys(found, 0)
    for i, one in enumerate(model.estimators_):
        drawn = np.arange(n)
        if model.bootstrap:
            drawn = np.unique(_generate_sample_indices(one.random_state, n, n, None))
        size = np.bincount(leaf[drawn, i], minlength=one.tree_.node_count)
        yes = np.bincount(leaf[drawn, i], y[drawn], minlength=one.tree_.node_count)
        here = leaf[drawn, i]
        pure = (yes == 0) | (yes == size)
        for name, chosen in (
            ("alone", size[here] == 1), ("below", size[here] < 5), ("certain", pure[here]),
        ):  # fmt: skip
            found[name][drawn[chosen]] = True
            worst[name] = max(worst[name], int(chosen.sum()))
    return {name: (worst[name], int(mask.sum())) for name, mask in found.items()}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["all", "draws"])
def test_the_numbers_of_forests_again_without_treeaudit(seed, kind) -> None:
    x, y = people(seed)
    size = 1 + seed % 3
    make = {
        "all": lambda: ExtraTreesClassifier(8, min_samples_leaf=size, random_state=seed),
        "draws": lambda: RandomForestClassifier(8, min_samples_leaf=size, random_state=seed),
    }
    model = make[kind]().fit(x, y)
    true = by_numpy(model, x, y)
    for train in (None, x.assign(y=y)):
        report = ta.scan(model, train=train, target=None if train is None else "y")
        singled, alike = report["TA101"].details, report["TA102"].details
        for name, once, told in (
            ("alone", singled.unique_in_any_tree, singled.unique_people),
            ("below", singled.below_k_in_any_tree, singled.below_k_people),
            ("certain", alike.homogeneous_in_any_tree, alike.homogeneous_people),
        ):
            worst, union = true[name]
            assert told == once.worst == worst, name
            assert worst <= once.low <= union <= once.high <= 120, name
            if kind == "all" and train is not None:
                assert once.low == once.high == union, name
        # One headline, one tree.
        rows = {row["tree"]: row for row in report["TA101"].per_tree}
        if once.tree in rows and singled.unique_people:
            tree = singled.unique_in_any_tree.tree
            certain = {row["tree"]: row for row in report["TA102"].per_tree}[tree]
            views = [report.pages[i].view(report[i], report) for i in ("TA101", "TA102")]
            said = [int(p) for v in views if v.headline for p in v.headline.parts if _counts(p)]
            assert said == [rows[tree]["unique_leaves"], certain["homogeneous_people"]]


def _counts(part: object) -> bool:
    return isinstance(part, int) and not isinstance(part, bool)


def test_persons_are_followed_over_leaves_and_trees() -> None:
    """Ten rows of five persons; 0 and 1 end on both sides of the first question."""
    values, persons = np.arange(1, 11), np.array([0, 1, 2, 2, 0, 1, 3, 3, 4, 4], dtype=np.int32)
    forest = forest_of(stump(4.5, 4, 6), stump(6.5, 6, 4), n_records=10)
    asked = case(forest, values)
    train = replace(asked.train, persons=persons)
    table = in_persons(asked.table, train.node, persons, train.labels)
    asked = replace(asked, table=table, train=train)
    assert table.size.tolist() == [3, 4, 3, 2]
    every = in_any_tree(asked, table.size)
    assert (every.worst, every.low, every.high, every.among) == (5, 5, 5, 5)
    threes = in_any_tree(asked, np.where(table.size == 3, 3, 0))
    assert (threes.worst, threes.low, threes.high) == (3, 3, 3)
    assert of_each_tree(asked, table.size).tolist() == [5, 5]


def test_seeds_and_the_order_of_the_table_tell_who_was_drawn() -> None:
    """Held against the draws as scikit-learn tells them; in another order there are bounds."""
    rng = np.random.default_rng(8)
    rows = rng.integers(0, 6, (300, 4)).astype(float)
    labels = rng.integers(0, 2, 300)
    grown = RandomForestClassifier(9, random_state=3).fit(rows, labels)
    people = pd.DataFrame(rows).set_axis([f"feature {i}" for i in range(4)], axis=1)
    people["label"] = labels
    alone = np.zeros(300, dtype=bool)
    for tree, drawn in zip(grown.estimators_, grown.estimators_samples_, strict=True):
        who = np.unique(drawn)
        leaf = tree.apply(rows[who].astype(np.float32))
        alone[who[np.bincount(leaf)[leaf] == 1]] = True
    once = ta.scan(grown, train=people, target="label", attacks=["TA101"])["TA101"].details
    assert once.unique_in_any_tree.low == once.unique_in_any_tree.high == alone.sum()
    mixed = people.sample(frac=1, random_state=0)
    once = ta.scan(grown, train=mixed, target="label", attacks=["TA101"])["TA101"].details
    assert once.unique_in_any_tree.low < alone.sum() < once.unique_in_any_tree.high
