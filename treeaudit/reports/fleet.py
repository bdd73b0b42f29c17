"""The list of many models: lines for a terminal, and JSON."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from treeaudit.reports.fleet_rows import VERDICTS, Row, exit_code, worst_first
from treeaudit.reports.looks import VERDICT
from treeaudit.reports.plain_text import plain
from treeaudit.reports.to_json import HEAD, as_line

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["WORDS", "counted", "json_lines", "line", "look_of", "others", "to_markdown"]
__all__ += ["whole_json"]

WORDS = {
    "fail": "fail",
    "unsafe": "would run code when loaded",
    "unread": "could not be audited",
    "review": "to be decided",
    "accepted": "accepted",
    "pass": "pass",
}
_LABEL = {"unsafe": "UNSAFE", "unread": "NOT AUDITED"}
_WIDE = max(map(len, (*_LABEL.values(), *(verdict.upper() for verdict in WORDS))))
_FEW, _MOST = 8, 200


def look_of(row: Row) -> tuple[str, str]:
    """Return the verdict as a label, and the tone of the page.

    Examples
    --------
    >>> [look_of(Row(path="m.pkl", verdict=verdict, said="")) for verdict in ("unread", "pass")]
    [('NOT AUDITED', 'bad'), ('OBSERVED', 'skip')]
    """
    if row.verdict in _LABEL:
        return _LABEL[row.verdict], "bad"
    verdict = row.verdict if row.checks or row.passed else "observed"
    return verdict.upper(), VERDICT[verdict].tone


def line(row: Row) -> "Text":
    """Return one line for one model."""
    from rich.text import Text

    label, _ = look_of(row)
    style = VERDICT["fail" if row.verdict in _LABEL else label.lower()].plain
    said = (plain(row.said, 400), "dim")
    return Text.assemble((f"{label:<{_WIDE}}", style), f"  {plain(row.name, 200)}  ", said)


def counted(rows: Sequence[Row]) -> str:
    """Return how many there are of each verdict, the worst first.

    Examples
    --------
    >>> counted([Row(path=p, verdict=v, said="") for p, v in (("a", "pass"), ("b", "unread"))])
    '2 models: 1 could not be audited, 1 pass'
    """
    found = Counter(row.verdict for row in rows)
    each = [f"{found[verdict]:,} {WORDS[verdict]}" for verdict in VERDICTS if verdict in found]
    return f"{len(rows):,} {'model' if len(rows) == 1 else 'models'}: {', '.join(each)}"


def others(aside: Sequence[tuple[str, str]]) -> str:
    """Name the first of what is no model.

    Examples
    --------
    >>> others([("data/people.csv", "a text file")])
    '1 other was not audited: data/people.csv (a text file)'
    """
    if not aside:
        return ""
    named = ", ".join(f"{plain(path, 120)} ({plain(what, 80)})" for path, what in aside[:_FEW])
    were = "other was" if len(aside) == 1 else "others were"
    more = f" and {len(aside) - _FEW:,} more" if len(aside) > _FEW else ""
    return f"{len(aside):,} {were} not audited: {named}{more}"


def to_markdown(rows: Sequence[Row]) -> str:
    """Return the worst in Markdown, for pull requests.

    Examples
    --------
    >>> print(to_markdown([Row(path="a|b.pkl", verdict="unread", said="it is damaged")]), end="")
    ### 1 model: 1 could not be audited
    <BLANKLINE>
    | verdict | model | who is exposed |
    |---|---|---|
    | NOT AUDITED | a&#124;b.pkl | it is damaged |
    """
    from treeaudit.reports.markdown import escaped

    lines = [
        f"### {escaped(counted(rows))}",
        "",
        "| verdict | model | who is exposed |",
        "|---|---|---|",
    ]
    for row in rows[:_MOST]:
        said = (plain(row.name, 200), plain(row.said, 400))
        lines.append(f"| {look_of(row)[0]} | {' | '.join(map(escaped, said))} |")
    if len(rows) > _MOST:
        lines += ["", f"and {len(rows) - _MOST:,} more, none of them worse"]
    return "\n".join(lines) + "\n"


def json_lines(rows: Iterable[Row], reports: Iterable[dict[str, object]]) -> Iterator[str]:
    """Yield the JSON reports of a file, or what became of it, a line each."""
    failed = [row for row in rows if row.about is None]
    for one in (*reports, *map(_failed, failed)):
        yield as_line(one)


def _failed(row: Row) -> dict[str, object]:
    return {
        **HEAD,
        "model": {"path": row.path},
        "verdict": "not audited",
        "error": {"kind": row.verdict, "says": row.said},
    }


def whole_json(
    rows: Sequence[Row], lines: Iterable[str], aside: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Yield one JSON document of all lines."""
    worst = worst_first(rows)[0].verdict
    head = as_line(
        {
            **HEAD,
            "verdict": "not audited" if worst in _LABEL else worst,
            "exit_code": exit_code(rows),
            "others": [{"path": path, "is": what} for path, what in aside],
        }
    )
    yield head.rstrip()[:-1] + ', "reports": [\n'
    for number, text in enumerate(lines):
        yield ("," if number else "") + text
    yield "]}\n"
