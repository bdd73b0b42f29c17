"""A budget: one account for all copies, threads and processes."""

import copy
import json
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import examples
from treeaudit.dp.budget import Budget
from treeaudit.errors import PrivacyError


def spends(budget: Budget, times: int = 1, amount: float = 0.1) -> int:
    """How many of some spendings were granted."""
    granted = 0
    for _ in range(times):
        try:
            budget.spend(amount)
            granted += 1
        except PrivacyError:
            pass
    return granted


@given(st.lists(st.sampled_from([0.1, 0.25, 0.3, 1.0]), max_size=12))
@examples(30)
def test_never_more_than_there_is(amounts) -> None:
    budget = Budget(1.0)
    for amount in amounts:
        left = budget.left
        assert spends(budget, amount=amount) == (amount <= left)
    assert budget.spent <= 1.0
    assert budget.left + budget.spent == pytest.approx(1.0)


def test_tenths_add_up() -> None:
    budget = Budget(1)
    assert spends(budget, 11) == 10
    assert budget.left == 0
    with pytest.raises(
        PrivacyError, match="the budget does not cover it: 0 of 1 are left and a fit needs"
    ):
        budget.spend(0.1)


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))]
)
def test_copies_spend_from_one_account(again) -> None:
    budget = Budget(1.0)
    again(budget).spend(0.7, "a copy")
    assert budget.spent == 0.7
    assert budget.to_frame()["what"].tolist() == ["a copy"]


def test_threads() -> None:
    budget = Budget(5)
    with ThreadPoolExecutor(8) as pool:
        granted = sum(pool.map(lambda _: spends(budget, 20), range(8)))
    assert granted == 50
    assert budget.left == 0


@pytest.mark.filterwarnings("default::DeprecationWarning")  # forking beside threads
@pytest.mark.parametrize("method", [pytest.param("spawn", marks=pytest.mark.slow), "fork"])
def test_processes(method) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system does not {method}")
    budget = Budget(5)
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        granted = sum(pool.map(spends, [budget] * 4, [20] * 4))
    assert granted == 50
    assert budget.spent == 5


def test_an_account_outlives_the_process(tmp_path) -> None:
    path = tmp_path / "adult.budget"
    Budget(2, path).spend(1.5, "yesterday")
    assert Budget(2, path).left == 0.5
    with pytest.raises(PrivacyError, match="account of a budget of 2, not of 3"):
        Budget(3, path)


def test_an_account_that_is_gone_or_damaged_grants_nothing(tmp_path) -> None:
    path = tmp_path / "x.budget"
    budget = Budget(1, path)
    path.unlink()
    with pytest.raises(PrivacyError, match="cannot be reached"):
        budget.spend(0.1)
    assert not path.exists()
    for text in ("no json\n", "{}\n", '{"epsilon": "1"}\n{"token": "t"}\n', "[1]\n"):
        path.write_text(text)
        with pytest.raises(PrivacyError, match="no account"):
            budget.spend(0.1)
    path.write_text(
        '{"epsilon": "1"}\n{"what":"x","epsilon":"-5","neighbours":"add-remove","token":"t"}\n'
    )
    with pytest.raises(PrivacyError, match="no account"):
        budget.spend(0.1)


def test_one_relation_an_account() -> None:
    budget = Budget(2)
    budget.spend(1, neighbours="replace-one")
    with pytest.raises(PrivacyError, match="needs a budget of its own"):
        budget.spend(1)


def test_the_budget_of_a_saved_model_grants_nothing() -> None:
    with pytest.raises(PrivacyError, match="does not carry its budget"):
        Budget.elsewhere(1).spend(0.1)


def test_it_says_what_it_is() -> None:
    assert repr(Budget(1.5)) == "Budget(1.5)"


def test_two_first_fits_at_a_time_count_under_one_relation(tmp_path) -> None:
    budget = Budget(2, tmp_path / "b")
    for i, unit in enumerate(("record", "person", "record")):
        line = {"what": "a", "epsilon": "1/2", "neighbours": "add-remove", "unit": unit}
        with (tmp_path / "b").open("a") as file:
            file.write(json.dumps({**line, "token": str(i)}) + "\n")
    assert budget.spent == 1.0
