"""A repair in rows: what it was before, what it is after."""

from collections.abc import Sequence

from treeaudit.model.words import in_percent
from treeaudit.people.predict.predictions import Utility
from treeaudit.repair.attempts import Attempt

__all__ = ["before_and_after", "curve", "utility_rows"]

Row = tuple[str, str, str]


def before_and_after(before: Attempt, after: Attempt) -> list[Row]:
    """Return a row per check of the policy, and what the repair cost."""
    rows = [("verdict", _verdict(before), _verdict(after))]
    for old, new in zip(before.report.checks, after.report.checks, strict=True):
        rows.append((old.title.lower(), old.shown or "not told", new.shown or "not told"))
    rows.append(("leaves", f"{before.leaves:,}", f"{after.leaves:,}"))
    if before.forest.n_trees != after.forest.n_trees:
        rows.append(("trees", f"{before.forest.n_trees:,}", f"{after.forest.n_trees:,}"))
    whose = "right by its own counts"
    if max(before.forest.n_trees, after.forest.n_trees) > 1:
        whose = "right by own counts, each tree alone, on average"
    rows.append((whose, _share(before.accuracy), _share(after.accuracy)))
    return rows


def utility_rows(before: Utility, after: Utility, note: str = "") -> list[Row]:
    """Return how useful the model is to unseen people."""
    name = f"accuracy on unseen people{note}"
    rows = [(name, _share(before.accuracy.value), _share(after.accuracy.value))]
    if before.auc is not None and after.auc is not None:
        rows.append((f"AUC{note}", f"{before.auc:.3f}", f"{after.auc:.3f}"))
    if after.coverage.value < 1:
        for name, one, other in (
            ("  share of them answered", before.coverage, after.coverage),
            ("  unanswered counted wrong", before.right_of_all, after.right_of_all),
        ):
            rows.append((name, _share(one.value), _share(other.value)))
    return rows


def curve(
    sizes: Sequence[int], attempts: Sequence[Attempt], uses: Sequence[Utility | None]
) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the trade-off between k and use."""
    shown = [c.name for c in attempts[0].report.checks if c.name in _SHORT]
    told = any(use is not None for use in uses)
    many = any(one.forest.n_trees > 1 for one in attempts)
    right = "right, each tree alone" if many else "right, own counts"
    head = ["k", "leaves", *(_SHORT[name] for name in shown), right]
    head += ["right, unseen"] if told else []
    rows = []
    for k, one, use in zip(sizes, attempts, uses, strict=False):
        by_name = {check.name: check.shown or "not told" for check in one.report.checks}
        row = [f"{k:,}", f"{one.leaves:,}", *(by_name[name] for name in shown)]
        row.append(_share(one.accuracy))
        row += [_share(None if use is None else use.accuracy.value)] if told else []
        rows.append([*row, _verdict(one)])
    return [*head, "verdict"], rows


_SHORT = {"min-leaf": "smallest", "max-unique-people": "alone", "max-certain-share": "certain"}
"""The checks that a repair moves, in a word each."""


def _verdict(one: Attempt) -> str:
    return one.report.verdict.upper() if one.report.checks else "no checks"


def _share(value: float | None) -> str:
    return "not told" if value is None else in_percent(value, 2)
