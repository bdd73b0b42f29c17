"""A forest in one picture: its trees side by side, each with its people by size of their group."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from treeaudit.findings.report import Report
from treeaudit.reports.icicle import level_of
from treeaudit.reports.wording import LEVELS

__all__ = ["Columns", "draw_forest"]

MOST_COLUMNS = 150
_RECT = Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>')


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """All trees of a forest, a column each, and what is seen in words."""

    svg: Markup
    said: str


def draw_forest(report: Report) -> Columns | None:
    """Draw a column per tree: its people by the size of their group, the most exposed tree first.

    Trees beyond `MOST_COLUMNS` are left out evenly.
    """
    table, k = report.table, report.policy.k
    starts = [level.low for level in LEVELS]
    told = np.flatnonzero(np.diff(table.start))
    if not len(told):
        return None
    level = level_of(table.size, starts)
    people = np.stack(
        [table.per_tree(np.where(level == i, table.size, 0)) for i in range(len(starts))], axis=1
    )[told]
    share = people / np.maximum(people.sum(axis=1, keepdims=True), 1)
    order = np.lexsort(-share.T[::-1])
    at = np.unique(
        np.linspace(0, len(order) - 1, min(len(order), MOST_COLUMNS)).round().astype(int)
    )
    svg = _columns(share[order[at]].tolist(), [one.shade for one in LEVELS])
    below = table.per_tree(np.where(table.size < k, table.size, 0))[told]
    least = sorted(int(table.size[table.rows_of(tree)].min()) for tree in told.tolist())
    said = (
        f"{_shown(len(at), report.forest.n_trees)}, a column each. In a tree "
        f"{_between(below.min(), below.max())} people are in groups below {k}; "
        f"its smallest group holds {_between(least[0], least[-1])}."
    )
    return Columns(svg=svg, said=said)


def _shown(drawn: int, trees: int) -> str:
    return f"{trees:,} trees" if drawn == trees else f"{drawn:,} of {trees:,} trees"


def _between(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _columns(shares: Sequence[Sequence[float]], shades: Sequence[str]) -> Markup:
    """Return shares on top of each other, a column each, the first at the bottom.

    Examples
    --------
    >>> _columns([[0.25, 0.75], [0, 1]], ["r4", "r0"]).count("<rect")
    3
    """
    width = 460 / max(len(shares), 1)
    parts = []
    for i, column in enumerate(shares):
        y = 160.0
        for shade, share in zip(shades, column, strict=True):
            y -= 160 * share
            if share:
                gap = min(1.0, width / 5)
                parts.append(_RECT.format(shade, i * width, y, width - gap, 160 * share))
    return Markup(
        '<svg class="chart columns" viewBox="0 0 460 160" preserveAspectRatio="none" '
        'aria-hidden="true">{}</svg>'
    ).format(Markup("").join(parts))
