"""Whose record each row is: nobody is merged with another, and nobody is two."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.audit.preparation import prepare
from treeaudit.findings.policy import read_policy
from treeaudit.findings.request import Request
from treeaudit.people.persons import check_whole, coded
from treeaudit.trainers.private_tree import PrivateTreeClassifier

N = 60
PEOPLE = pd.DataFrame({"age": np.arange(N), "ill": np.arange(N) % 7 > 3})


def table(kind: str, path, who, people: pd.DataFrame = PEOPLE) -> object:
    made = people.assign(who=who)
    if kind == "frame":
        return made
    path = path.with_suffix(f".{kind}")
    if kind == "csv":
        made.to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        made.to_parquet(path)
    return path


@pytest.fixture(scope="module")
def forest() -> ta.Forest:
    return ta.load(DecisionTreeClassifier(max_depth=3).fit(PEOPLE[["age"]], PEOPLE["ill"]))


KINDS = pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])


@pytest.mark.parametrize(("dtype", "digits"), [("f2", 11), ("f4", 24), ("f8", 53)])
def test_numbers_that_have_merged_are_refused(forest, dtype, digits) -> None:
    who = np.arange(N, dtype=np.int64) + 2**digits
    with pytest.raises(ta.DataError, match=rf"column 'who' .* above 2\^{digits}, where different"):
        ta.scan(forest, train=PEOPLE.assign(who=who.astype(dtype)), person="who", target="ill")
    fine = (who - N - 2).astype(dtype)
    report = ta.scan(forest, train=PEOPLE.assign(who=fine), person="who", target="ill")
    assert report.unit.persons == N


@pytest.mark.parametrize("kind", ["Float32", "category", "object"])
def test_numbers_that_have_merged_are_refused_in_every_column(kind) -> None:
    few = pd.Series(np.arange(2**24 - 1, 2**24 + 2).astype(np.float32))
    mixed = pd.Series([*few.to_numpy(), "ann", None, 2**60], dtype=object)
    told = mixed if kind == "object" else few.astype(kind)
    with pytest.raises(ta.DataError, match=r"above 2\^24"):
        check_whole(told, "who")
    check_whole(pd.Series(["ann", 2**60, 1.5, None], dtype=object), "who")


def test_a_trainer_refuses_merged_numbers_of_single_precision() -> None:
    schema = ta.Schema(features=(ta.Feature(name="age", low=0, high=N),), classes=(False, True))
    model = PrivateTreeClassifier(epsilon=1, schema=schema, rows_per_person=1)
    who = (np.arange(N) + 2**24).astype(np.float32)
    for person in (who, pd.Series(who)):
        with pytest.raises(ta.DataError, match="different persons have become one"):
            model.fit(PEOPLE[["age"]], PEOPLE["ill"], person=person)


@KINDS
def test_an_empty_text_names_nobody(forest, kind, tmp_path) -> None:
    given = table(kind, tmp_path / "people", ["ann", "", *map(str, range(N - 2))])
    with pytest.raises(ta.DataError, match="row 2: 'who' names nobody; every row needs its person"):
        ta.scan(forest, train=given, person="who", target="ill")


@KINDS
@pytest.mark.parametrize("others", ["csv", "parquet", "frame"])
def test_the_same_number_is_the_same_person_in_two_tables(forest, kind, others, tmp_path) -> None:
    train = table(kind, tmp_path / "train", np.arange(N))
    test = table(others, tmp_path / "test", np.arange(N) + N / 2, PEOPLE.assign(age=-1))
    asked = Request(model=forest, train=train, test=test, person="who", target="ill")
    case = prepare(forest, asked, read_policy("default"))[0]
    # Half of those who are tested are training persons, and were left out.
    assert len(case.test) == N // 2


@pytest.mark.parametrize(
    ("tables", "persons"),
    [
        ([["7", "8"], ["7.0", "9"]], [[0, 1], [0, 2]]),
        ([["7", "7.0"], ["7", "07"]], [[0, 1], [0, 2]]),
        ([["007"], [7, 7.0]], [[0], [0, 0]]),
        ([["1e3"], ["1000"]], [[0], [1]]),
        ([["7a", "b "], ["07a", "b"]], [[0, 1], [2, 1]]),
    ],
)
def test_two_texts_of_one_table_stay_two(tables, persons) -> None:
    found = coded(*(pd.Series(one, dtype=object) for one in tables))
    assert [one.tolist() for one in found] == persons


def test_a_comparison_reads_persons_as_they_stand(forest, tmp_path) -> None:
    who = [f"{i:03}" for i in range(N // 2)] + [str(i) for i in range(N // 2)]
    path = table("csv", tmp_path / "people", who)
    (found,) = ta.compare(forest, train=path, person="who", target="ill").models
    assert found.report.unit.persons == len(set(who))


@given(
    st.lists(
        st.sampled_from(
            [True, False, 1, 0, 1.0, 2, "1", "2", "1.0", "True", Decimal("1.0"), Decimal(2)]
        ),
        max_size=8,
    ),
    st.integers(0, 7),
)
def test_whose_rows_are_one_persons_does_not_hang_on_others(told, gone) -> None:
    def same(told: list) -> list:
        code = coded(pd.Series(told, dtype=object))[0]
        return [[bool(one == other) for other in code] for one in code]

    kept = told[:gone] + told[gone + 1 :]
    rest = [row[:gone] + row[gone + 1 :] for i, row in enumerate(same(told)) if i != gone]
    assert same(kept) == rest


def test_true_is_another_person_than_one() -> None:
    told = pd.Series([True, 1, "1", Decimal("1.0"), "True", 1.0], dtype=object)
    assert coded(told)[0].tolist() == [0, 1, 1, 2, 0, 1]
