"""The ledger: rows sum to the claim, and survive the file."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.dp.ledger import Ledger, Query
from treeaudit.errors import DataError

queries = st.builds(
    Query,
    name=st.text(max_size=8),
    mechanism=st.sampled_from(["discrete Laplace", "permute-and-flip"]),
    epsilon=st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=1000),
    sensitivity=st.sampled_from([Fraction(1), Fraction(2)]),
    neighbours=st.just("add-remove"),
    composition=st.sampled_from(["parallel", "sequential"]),
    asked=st.integers(0, 9),
)


@given(st.lists(queries, max_size=5))
def test_plain_data_and_back(rows) -> None:
    ledger = Ledger(queries=tuple(rows), budget=Fraction(1), reasons=("why",), public=("n",))
    assert Ledger.from_plain(ledger.to_plain()) == ledger
    assert ledger.epsilon == sum((q.cost for q in rows), Fraction(0))
    assert list(ledger.to_frame().get("cost", [])) == [float(q.cost) for q in rows]


def test_parallel_is_the_largest_and_sequential_the_sum() -> None:
    row = {"name": "n", "mechanism": "m", "epsilon": Fraction(1, 3), "sensitivity": Fraction(1)}
    assert Query(**row, composition="parallel", asked=6).cost == Fraction(1, 3)
    assert Query(**row, composition="sequential", asked=6).cost == 2
    assert Query(**row, asked=0).cost == 0


@pytest.mark.parametrize(
    "damage",
    [
        {"neighbours": "cousins"},
        {"queries": [{"name": "x"}]},
        {"budget": "1/0"},
        {"queries": 3},
        {"variant": None},
        {"budget": "1e999999999"},
        {"budget": "1" + "0" * 390},
    ],
)
def test_what_is_no_ledger_is_refused(damage) -> None:
    plain = Ledger(queries=(), budget=Fraction(1)).to_plain()
    with pytest.raises(DataError, match="ledger is damaged"):
        Ledger.from_plain(plain | damage)


def test_a_composition_that_is_none() -> None:
    row = Query(name="n", mechanism="m", epsilon=Fraction(1), sensitivity=Fraction(1))
    plain = Ledger(queries=(row,), budget=Fraction(1)).to_plain()
    plain["queries"][0]["composition"] = "free"
    with pytest.raises(DataError, match="composition"):
        Ledger.from_plain(plain)
