"""An epsilon that was spent is spent: no repair is tried for it, and none is advised."""

import pytest

import treeaudit as ta
from tests.trainers.people import SCHEMA, people
from treeaudit.errors import DataError
from treeaudit.repair.defend import RepairRequest, defend, repair
from treeaudit.reports.advice import next_command, next_steps
from treeaudit.trainers.private_tree import PrivateTreeClassifier


def test_no_repair_of_an_epsilon_is_tried() -> None:
    forest = PrivateTreeClassifier(schema=SCHEMA, epsilon=4.0).fit(*people(200)).forest_
    report = ta.scan(forest, policy="private")
    assert {c.name for c in report.checks if c.status == "fail"} == {"max-epsilon"}
    assert next_command(report) == ""
    assert any("treeaudit train --epsilon" in step.text for step in next_steps(report))
    assert repair(forest, RepairRequest(policy="private")).tried == ()
    with pytest.raises(DataError, match="no repair changes an epsilon"):
        defend(forest, policy="private")
