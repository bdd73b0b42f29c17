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
from treeaudit.people.persons import coded

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


@KINDS
@pytest.mark.parametrize("others", ["csv", "parquet", "frame"])
def test_the_same_number_is_the_same_person_in_two_tables(forest, kind, others, tmp_path) -> None:
    train = table(kind, tmp_path / "train", np.arange(N))
    test = table(others, tmp_path / "test", np.arange(N) + N / 2, PEOPLE.assign(age=-1))
    asked = Request(model=forest, train=train, test=test, person="who", target="ill")
    case = prepare(forest, asked, read_policy("default"))[0]
    # Half of those who are tested are training persons, and were left out.
    assert len(case.test) == N // 2


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
