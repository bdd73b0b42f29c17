"""One page for many models: the worst first, each with a short report. One file, no network."""

import datetime
from collections.abc import Sequence

from treeaudit.reports.fleet import counted, look_of
from treeaudit.reports.fleet_rows import Row, worst_first
from treeaudit.reports.html import environment
from treeaudit.version import __version__

__all__ = ["to_html"]

_ROWS, _REPORTS, _OTHERS = 5_000, 1_000, 500
"""The most that a page shows; the rest is counted, and in the JSON lines."""


def to_html(
    rows: Sequence[Row],
    aside: Sequence[tuple[str, str]] = (),
    *,
    release_safe: bool = False,
    created: datetime.date | None = None,
) -> str:
    """Return the page.

    Examples
    --------
    >>> page = to_html([Row(path="<b>.pkl", verdict="unread", said="it is damaged")])
    >>> "&lt;b&gt;.pkl" in page, "<b>.pkl" in page, "NOT AUDITED" in page
    (True, False, True)
    """
    ordered = worst_first(rows)
    word, tone = look_of(ordered[0])
    shown = [
        {
            "row": row,
            "number": number,
            "label": look_of(row)[0],
            "tone": look_of(row)[1],
            "report": row.about is not None and number <= _REPORTS,
        }
        for number, row in enumerate(ordered[:_ROWS], start=1)
    ]
    out = [row for row in ordered if row.verdict in ("fail", "unsafe", "unread")]
    policies = {row.about["policy"] for row in ordered if row.about}
    return (
        environment()
        .get_template("fleet.html.j2")
        .render(
            word=word,
            tone=tone,
            total=f"{len(ordered):,}",
            counted=counted(ordered),
            out=f"{len(out):,}",
            all_in=not out,
            shown=shown,
            hidden=f"{len(ordered) - _ROWS:,}" if len(ordered) > _ROWS else "",
            aside=list(aside[:_OTHERS]),
            more_aside=max(len(aside) - _OTHERS, 0),
            n_aside=f"{len(aside):,}",
            policies=sorted(policies),
            release_safe=release_safe,
            date=f"{created.day} {created:%B %Y}" if created is not None else "",
            version=__version__,
        )
    )
