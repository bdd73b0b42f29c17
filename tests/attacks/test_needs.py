"""What attacks need: every need missing in turn, and what would supply it."""

import numpy as np
import pandas as pd
import pytest

import treeaudit as ta
from tests.attacks.people import records_of
from treeaudit.attacks import ATTACKS, Case, Need, run_attack
from treeaudit.attacks.membership_inference.attack import Membership
from treeaudit.attacks.needs import FEWEST, LABELS, TEST, TRAIN, TWO_HALVES, missing
from treeaudit.attacks.sensitive import Sensitive
from treeaudit.people.records import Records


def people(forest, n: int, labelled: bool = True) -> Records:
    values = np.tile([160.0, 50.0, 20.0], (n, 1))
    found = records_of(forest, values, np.zeros(n))
    return found if labelled else Records(
        values=found.values, labels=None, targets=None, node=found.node,
        frame=pd.DataFrame(values), origin="people",
    )  # fmt: skip


def test_every_attack_says_what_it_needs() -> None:
    for attack in ATTACKS:
        assert all(isinstance(need, Need) for need in attack.needs)


@pytest.mark.parametrize(
    ("given", "asks"),
    [((), ("--train", "--test")), (("train",), ("--test",)), (("test",), ("--train",))],
)
def test_missing_tables_are_asked_for_at_once(figure_3, given, asks) -> None:
    tables = {role: people(figure_3, 2) for role in given}
    case = Case(forest=figure_3, table=ta.reconstruct(figure_3).groups, **tables)
    found = run_attack(Membership(), case)
    assert found.asks == asks
    assert found.reason == f"needs {' and '.join(asks)} to tell success from chance"


def test_each_need_of_people(figure_3) -> None:
    bare = Case(forest=figure_3, table=ta.reconstruct(figure_3).groups)
    few = Case(
        forest=figure_3,
        table=bare.table,
        train=people(figure_3, 3),
        test=people(figure_3, FEWEST - 1, labelled=False),
    )
    for need in (TRAIN, TEST):
        assert need.missing(bare) is not None
        assert need.missing(few) is None
    assert LABELS.missing(bare) is None
    assert "--target" in LABELS.missing(few)
    assert "at least 40" in TWO_HALVES.missing(few)
    assert missing(Membership(), few).asks == ("--target",)


def test_a_column_has_to_be_named(figure_3) -> None:
    found = missing(Sensitive(), Case(forest=figure_3, table=ta.reconstruct(figure_3).groups))
    assert found.asks == ("--sensitive", "--train")


def test_an_attack_that_hides_a_need_is_found_out(figure_3) -> None:
    case = Case(forest=figure_3, table=ta.reconstruct(figure_3).groups)
    with pytest.raises(RuntimeError, match="does not say it needs"):
        case.people("train")
