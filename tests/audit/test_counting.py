"""The unit of an audit: persons by a column, by a bound, or rows that are copies."""

from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.cli.run import run
from tests.libraries import library
from treeaudit.attacks.membership_inference.scores import split_groups
from treeaudit.audit.preparation import prepare
from treeaudit.findings.policy import BUILT_IN
from treeaudit.findings.request import Request

lightgbm, xgboost = library("lightgbm"), library("xgboost")
FEATURES = ["p", "q", "r"]


def ten_rows_each(seed: int = 7, persons: int = 200) -> pd.DataFrame:
    """Persons of ten identical rows each; nine of the labels of a person are alike."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(np.repeat(rng.normal(size=(persons, 3)), 10, axis=0), columns=FEATURES)
    ill = np.repeat(rng.random(persons) < 0.5, 10)
    rows["label"] = np.where(ill, np.tile([0] + [1] * 9, persons), np.tile([1] + [0] * 9, persons))
    return rows.assign(who=np.repeat(np.arange(persons), 10))


def visits(seed: int = 0, patients: int = 60) -> pd.DataFrame:
    """Visits that differ by a little: no rows are equal."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(patients), rng.integers(5, 16, patients))
    rows = pd.DataFrame(rng.normal(size=(patients, 3))[who], columns=FEATURES)
    rows += rng.normal(scale=0.01, size=rows.shape)
    rows["label"] = (rows.p + rng.normal(scale=0.3, size=len(rows)) > 0).astype(int)
    return rows.assign(who=[f"patient {i}" for i in who])


def tree_of(rows: pd.DataFrame, leaf: int = 10):
    tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0)
    return tree.fit(rows[FEATURES], rows.label)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return ten_rows_each()


@pytest.mark.parametrize("policy", [name for name in BUILT_IN if name != "observe"])
def test_ten_rows_of_one_person_pass_no_policy(rows, policy) -> None:
    tree, plain = tree_of(rows), rows.drop(columns="who")
    asked = ({"train": plain}, {"train": rows, "person": "who"}, {"rows_per_person": 10})
    for given, persons in zip(asked, (200, 200, None), strict=True):
        report = ta.scan(tree, policy=policy, **given)
        assert report.verdict != "pass"
        assert report["TA101"].details.unique_people == 200
        assert report["TA101"].details.min_leaf == 1
        assert report.unit.persons == persons
    assert ta.scan(tree)["TA101"].details.min_leaf == 10


def test_visits_of_sixty_patients() -> None:
    rows = visits()
    tree = tree_of(rows, leaf=12)
    report = ta.scan(tree, train=rows, person="who", policy="strict")
    leaf = tree.apply(rows[FEATURES])
    persons = rows.who.groupby(leaf).nunique()
    assert report["TA101"].details.min_leaf == persons.min() < 10
    small = np.isin(leaf, persons.index[persons < 10])
    assert report["TA101"].details.below_k_people == rows.who[small].nunique() == 20
    assert report.verdict == "fail"
    assert report.unit.persons == 60
    assert report.unit.most_records == rows.who.value_counts().max()
    bound = ta.scan(tree, rows_per_person=15, policy="strict")
    assert bound["TA101"].details.min_leaf <= persons.min()
    assert bound.verdict == "fail"


def test_a_forest_counts_the_fewest_persons_of_a_draw() -> None:
    rows = visits()
    forest = RandomForestClassifier(5, min_samples_leaf=12, random_state=0)
    forest.fit(rows[FEATURES], rows.label)
    least = ta.scan(forest, train=rows, person="who")["TA101"].details.min_leaf
    node = forest.apply(rows[FEATURES])
    truth = min(
        rows.who.to_numpy()[drawn][node[drawn, i] == leaf].size
        and len(set(rows.who.to_numpy()[drawn][node[drawn, i] == leaf]))
        for i, drawn in enumerate(map(np.unique, forest.estimators_samples_))
        for leaf in np.unique(node[drawn, i])
    )
    assert 1 <= least <= truth


def test_nobody_stands_on_both_sides() -> None:
    every = visits()
    train, test = every[:400], every[300:]
    model = ta.load(tree_of(train))
    request = Request(model=model, train=train, test=test, person="who")
    case, counted, _ = prepare(model, request, BUILT_IN["default"])
    assert set(case.train.persons).isdisjoint(case.test.persons)
    inside = int(test.who.isin(train.who).sum())
    assert counted.warnings == (
        f"{inside:,} of the {len(test):,} rows of test belong to persons of train and were left "
        "out of the control",
    )
    found = split_groups(case, "TA105", 1000)
    assert set(case.test.persons[found.control]).isdisjoint(case.test.persons[found.reference])
    assert len(found.members) == train.who.nunique()
    assert len(set(case.test.persons[found.control])) == len(found.control)


@pytest.fixture
def folder(rows, tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    joblib.dump(tree_of(rows), "m.joblib")
    rows.to_csv("d.csv", index=False)
    rows.assign(who=rows.who.astype(float).mask(rows.who == 3)).to_csv("gap.csv", index=False)
    return tmp_path


WRONG = {
    "--train d.csv --person whom": "d.csv has no column 'whom' (--person)",
    "--train d.csv --person label --target label": "both the person (--person) and the label",
    "--train d.csv --person label": "both the person (--person) and the label",
    "--train gap.csv --person who": "gap.csv, row 31: 'who' names nobody",
    "--person who": "--person names a column of --train",
    "--train d.csv --person who --rows-per-person 3": "leave out --rows-per-person",
    "--train d.csv --person who --repeats copies": "leave out --repeats",
    "--repeats copies": "--repeats is about the rows of --train",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_does_not_fit_is_refused_in_a_sentence(folder, words) -> None:
    done = run("scan", "m.joblib", *words.split())
    assert done.returncode == 2
    assert WRONG[words] in " ".join(done.stderr.split())
    assert len(done.stderr.strip().splitlines()) <= 3


SMALL = np.random.default_rng(0).normal(size=(400, 3))


def test_steps_that_follow_from_everybody_say_who_is_in_the_leaves() -> None:
    y = (SMALL[:, 0] + SMALL[:, 1] > 0) * 1
    grown = xgboost.XGBClassifier(n_estimators=2, max_depth=1, min_child_weight=20, n_jobs=1)
    model, people = grown.fit(SMALL, y), pd.DataFrame(SMALL).assign(answer=y)
    policy = ta.Policy(name="sizes", values={"min-leaf": 10, "max-certain-share": 0.01})
    report = ta.scan(model, train=people, policy=policy)
    assert [one.status for one in report.checks] == ["pass", "pass"]
    # Of other labels the steps do not follow: some people may have been left out.
    others = people.assign(answer=np.roll(y, 1))
    report = ta.scan(model, train=others, policy=policy)
    assert [one.status for one in report.checks] == ["skipped", "skipped"]


def test_no_leaf_of_several_people_tells_the_number_of_one() -> None:
    people = pd.DataFrame(SMALL, columns=FEATURES).assign(answer=SMALL[:, 1] + SMALL[:, 2])
    grown = lightgbm.LGBMRegressor(n_estimators=2, min_child_samples=20, n_jobs=1, verbose=-1)
    model = grown.fit(people[FEATURES], people["answer"])
    drawn = ta.defend(ta.load(model), method="draw-steps", train=people, target="answer")
    rows = ta.Policy(name="rows", values={"max-training-rows-inside": 0})
    assert ta.scan(drawn, policy=rows).verdict == "review"
    assert ta.scan(drawn, train=people, target="answer", policy=rows).verdict == "pass"
