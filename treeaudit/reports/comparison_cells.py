"""What every form of a comparison says of its models: cells, claims, which one to take."""

from typing import Literal

from treeaudit.comparison.claims import Claims
from treeaudit.comparison.compare import Compared, Comparison
from treeaudit.reports.plain_text import plain

__all__ = ["advice", "cells", "claimed"]


def cells(comparison: Comparison, column: str) -> list[str]:
    """Return one column of the comparison as texts; a dash where nothing is known."""
    return [_cell(model, column) for model in comparison.models]


def _cell(model: Compared, column: str) -> str:
    claims, useful = model.claims, model.utility
    auc = model.membership_auc
    values: dict[str, str | None] = {
        "leaves": f"{model.report.table.n_leaves:,}",
        "smallest": None if claims.smallest is None else f"{claims.smallest:,}",
        "alone": " ".join(claimed(claims, "alone")).strip(),
        "certain": " ".join(claimed(claims, "certain")).strip(),
        "member AUC": None if auc is None else f"{auc:.3f}",
        "accuracy": None if useful is None else f"{useful.right_of_all.value:.2%}",
        "epsilon": None if model.epsilon is None else f"{model.epsilon:g}",
    }
    return values[column] or "–"


def claimed(claims: Claims, what: Literal["alone", "certain"]) -> tuple[str, str]:
    """Return a claim, and what of it is true or to be expected to be, in words."""
    if not claims.told:
        return "", ""
    number: int = getattr(claims, what)
    true: int | None = getattr(claims, f"{what}_true")
    expected: float | None = getattr(claims, f"{what}_expected")
    if true is not None and true != number:
        return f"{number:,}", f"({true:,} true)"
    if true is None and expected is not None and number:
        return f"{number:,}", f"({expected:,.1f} expected true)"
    return f"{number:,}", ""


def advice(comparison: Comparison) -> str:
    """Return which model to take, in one sentence."""
    best, name = comparison.best, plain(comparison.policy.title, 200)
    if not comparison.policy.values:
        return f"Policy {name} makes no checks: choose by what the columns say."
    if best is None:
        n = len(comparison.models)
        text = f"{'No model' if n == 1 else f'None of the {n} models'} passes policy {name}"
        private = [m for m in comparison.models if m.report.verdict == "review" and m.epsilon]
        if private:
            names = ", ".join(plain(m.name, 60) for m in private)
            return (
                f"{text}. What {names} can give away about anybody is bounded by epsilon: "
                "--policy private asks for that."
            )
        return f"{text}: repair one with treeaudit defend, or train with differential privacy."
    if best.utility is None:
        passing = [m.name for m in comparison.models if m.report.verdict == "pass"]
        return f"Passing policy {name}: {', '.join(plain(one, 60) for one in passing)}."
    others = [m for m in comparison.models if m.utility is not None]
    top = max(others, key=lambda m: m.utility.right_of_all.value if m.utility else 0.0)
    text = f"Take {plain(best.name, 60)}: the most accurate of those that pass policy {name}"
    if top is best or top.utility is None:
        return f"{text}."
    cost = 100 * (top.utility.right_of_all.value - best.utility.right_of_all.value)
    return f"{text}; it costs {cost:.2f} points of accuracy against {plain(top.name, 60)}."
