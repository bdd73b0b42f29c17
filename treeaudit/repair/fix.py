"""The repair that a failed audit can point to, tried on the model in memory."""

from dataclasses import replace

from treeaudit.errors import DataError
from treeaudit.findings.report import Fix, Report
from treeaudit.people.sheet import read_table
from treeaudit.repair.defend import Wanted, repair, utility_on

__all__ = ["with_fix"]

_MOST_NODES = 300_000
"""Trees with more nodes in all are repaired only when asked: it takes seconds."""


def with_fix(report: Report, *, test: object = None, target: str | None = None) -> Report:
    """Return the report of a failed audit with the mildest repair that was found.

    Parameters
    ----------
    report
        An audit. Unless it failed it is returned as it is, and so it is where
        the model is too large to try, or cannot be repaired.
    test
        Unseen people: what the repair costs on them.
    target
        Column of their labels.

    Examples
    --------
    >>> import treeaudit as ta
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> fix = with_fix(ta.scan(tree)).fix
    >>> fix.steps[0], fix.passed
    ('leaves of fewer than 5 people merged into their parents', True)
    """
    if report.verdict != "fail" or report.table.n_nodes > _MOST_NODES:
        return report
    try:
        done = repair(report.forest, Wanted(policy=report.policy))
    except DataError:
        return report
    if not done.steps:
        return report
    fix = Fix(
        steps=done.steps,
        passed=done.passed,
        misses=tuple(done.after.misses),
        leaves=(done.before.leaves, done.after.leaves),
        right=(done.before.accuracy, done.after.accuracy),
    )
    if test is not None and report.forest.schema.classes is not None:
        people = read_table(test)
        uses = [utility_on(one.forest, people, target) for one in (done.before, done.after)]
        if uses[0] is not None and uses[1] is not None:
            fix = replace(fix, unseen=(uses[0].accuracy, uses[1].accuracy))
    return replace(report, fix=fix)
