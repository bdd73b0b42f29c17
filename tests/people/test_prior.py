"""Reading public shares: every form, and one sentence for what is none."""

import numpy as np
import pandas as pd
import pytest

import treeaudit as ta
from treeaudit.attacks.background.prior_strata import strata_in_leaves, strata_of
from treeaudit.model.tree import CategorySets
from treeaudit.people.prior import Prior, prior_table, read_prior
from treeaudit.people.records import read_records

INF = np.inf
SHARES = {"no": [0.9, 0.6], "yes": [0.1, 0.4]}


@pytest.fixture
def forest() -> ta.Forest:
    """Split by age at 30, then by job."""
    tree = ta.Tree(
        parent=[-1, 0, 0, 2, 2, 1, 1],
        feature=[-1, 0, 0, 1, 1, 2, 2],
        low=[-INF, -INF, 30, -INF, -INF, -INF, 0.5],
        high=[INF, 30, INF, INF, INF, 0.5, INF],
        categories=CategorySets(start=[0, 0, 0, 0, 1, 3, 3, 3], codes=[0, 1, 2]),
        n_records=[8, 4, 4, 2, 2, 2, 2],
    )
    features = (
        ta.Feature(name="age"),
        ta.Feature(name="job", categories=("cook", "clerk", "judge")),
        ta.Feature(name="town_York"),
        ta.Feature(name="town_Bath"),
    )
    return ta.Forest(trees=(tree,), schema=ta.Schema(features=features, classes=("no", "yes")))


def prior(forest, **columns) -> Prior:
    return read_prior(pd.DataFrame({**columns, **SHARES}), forest)


def people(forest, **columns):
    n = max(len(values) for values in columns.values())
    base = {"age": [20] * n, "job": ["cook"] * n, "town_York": [0] * n, "town_Bath": [0] * n}
    return read_records(pd.DataFrame({**base, **columns}), forest)


LEAVES = [5, 6, 3, 4]
"""Young outside York, young in York, old cooks, old others."""


def test_categories(forest) -> None:
    found = prior(forest, job=["cook", "*"])
    assert found.others == 1
    assert strata_of(found, people(forest, job=["judge", "cook"]), forest.schema).tolist() == [1, 0]
    able, only = strata_in_leaves(found, forest.schema, forest.trees[0], LEAVES)
    assert able.tolist() == [[True, True], [True, True], [True, False], [False, True]]
    assert only.tolist() == [-1, -1, 0, 1]


def test_ranges(forest) -> None:
    found = prior(forest, **{"age low": [None, 30], "age high": [30, None]})
    assert found.kind(0) == "age ≤ 30"
    assert strata_of(found, people(forest, age=[30, 31]), forest.schema).tolist() == [0, 1]
    able, only = strata_in_leaves(found, forest.schema, forest.trees[0], LEAVES)
    assert only.tolist() == [0, 0, 1, 1]
    assert able.sum(axis=1).tolist() == [1, 1, 1, 1]


def test_indicators(forest) -> None:
    found = prior(forest, town=["York", "*"])
    where = people(forest, town_York=[1, 0, 0], town_Bath=[0, 1, 0])
    assert strata_of(found, where, forest.schema).tolist() == [0, 1, 1]
    able, only = strata_in_leaves(found, forest.schema, forest.trees[0], LEAVES)
    assert able[:, 0].tolist() == [False, True, True, True]
    assert only.tolist() == [-1, 0, -1, -1]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"no": [0.5]}, "no column with the shares of the label 'yes'"),
        ({"no": [0.5], "Yes": [0.5]}, "did you mean 'Yes'"),
        ({"no": [0.5], "yes": [0.2]}, "row 1: the shares of the labels add up to 0.7, not to 1"),
        ({"no": [25], "yes": [75]}, "row 1: a share is a number from 0 to 1; write 0.25 for 25 %"),
        ({"no": ["x"], "yes": [1]}, "row 1: a share is a number from 0 to 1"),
        ({"no": [-0.5], "yes": [1.5]}, "row 1: a share is a number"),
        (SHARES, "has 2 lines, but no column that says who is meant"),
        ({"jop": ["a", "b"], **SHARES}, "no column 'jop'; did you mean 'job'"),
        ({"country": ["a", "b"], **SHARES}, "give --train if only the people have it"),
        ({"job": ["cook", "cook"], **SHARES}, "two lines for 'cook' of 'job'"),
        ({"job": ["a", "b"], "age": [1, 2], **SHARES}, "needs one column that says who is meant"),
        ({"age low": [1, 5], "age high": [6, 9], **SHARES}, "row 2: the range overlaps"),
        ({"age low": [1, 5], "age high": [1, 9], **SHARES}, "row 1: no number is in this range"),
        ({"age low": ["a", 5], "age high": [1, 9], **SHARES}, "ends of a range are numbers"),
    ],
)
def test_what_is_no_prior_is_one_sentence(forest, columns, sentence) -> None:
    with pytest.raises(ta.DataError, match=sentence) as error:
        read_prior(pd.DataFrame(columns), forest)
    assert str(error.value).count(". ") == 0


def test_people_without_a_line(forest) -> None:
    found = prior(forest, job=["cook", "clerk"])
    with pytest.raises(ta.DataError, match="row 2: the prior has no line for 'judge' of 'job'"):
        strata_of(found, people(forest, job=["cook", "judge"]), forest.schema)
    wanted = Prior(
        column="country",
        values=("a", "b"),
        low=np.full(2, np.nan),
        high=np.full(2, np.nan),
        share=np.full((2, 2), 0.5),
    )
    with pytest.raises(ta.DataError, match="has no column 'country', which the prior speaks of"):
        strata_of(wanted, people(forest, age=[1]), forest.schema)


class TestKindsThatAreCodes:
    """``01`` and ``1``, ``250.1`` and ``250.10`` are four codes, in whatever file they stand."""

    PEOPLE = pd.DataFrame({"age": [20] * 4, "label": "no", "code": ["01", "1", "250.1", "250.10"]})

    @pytest.fixture
    def young(self) -> ta.Forest:
        leaf = ta.Tree(parent=[-1], feature=[-1], low=[-INF], high=[INF], n_records=[4])
        return ta.Forest(trees=(leaf,), schema=ta.Schema.numeric(["age"], ["no", "yes"]))

    @pytest.mark.parametrize("people_in", ["csv", "parquet"])
    @pytest.mark.parametrize("prior_in", ["csv", "parquet"])
    def test_each_is_one(self, young, people_in, prior_in, tmp_path) -> None:
        codes = self.PEOPLE["code"].tolist()
        shares = {"no": [0.5, 0.6, 0.7, 0.8], "yes": [0.5, 0.4, 0.3, 0.2]}
        table = pd.DataFrame({"code": codes[::-1], **shares})
        found = prior_table(_file(table, tmp_path / f"prior.{prior_in}"), young)
        path = _file(self.PEOPLE, tmp_path / f"people.{people_in}")
        records = read_records(path, young, texts=["code"])
        assert strata_of(found, records, young.schema).tolist() == [3, 2, 1, 0]


def _file(table: pd.DataFrame, path):
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        table.to_parquet(path)
    return path
