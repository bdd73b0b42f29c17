"""What a list of many models tells of one: plain data, small enough to keep a million of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treeaudit.errors import TreeauditError, UnsafeModelError
from treeaudit.findings.findings import SEVERITIES, Check
from treeaudit.findings.report import Report
from treeaudit.reports.advice import verdict_line
from treeaudit.reports.provenance import shown_name
from treeaudit.reports.release_safe import measured, that_may_leave
from treeaudit.reports.summary import headline

VERDICTS = ("fail", "unsafe", "unread", "review", "accepted", "pass")
"""From worst to best; an unsafe file would run code, and nobody could audit an unread one."""
_CODES = {"fail": 1, "unsafe": 2, "unread": 2, "review": 3, "accepted": 4, "pass": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A model of a list, or a file that could not be audited.

    Attributes
    ----------
    path, inside
        The file as it was named, and the model in it, where it holds several.
    verdict
        One of `VERDICTS`.
    said
        Who is exposed, or why it could not be audited, in a sentence.
    severity
        The worst of its findings.
    checks
        The checks that are no pass: ``name``, ``title``, ``status``, ``accepted``, ``bound``,
        ``shown``, ``reason``, ``attack``.
    passed
        The names of the others.
    findings
        What was found: ``id``, ``title``, ``severity``, ``summary``, ``remedy``.
    about
        What it is: ``estimator``, ``format``, ``sha256``, ``policy``.
    """

    path: str
    verdict: str
    said: str
    inside: str = ""
    severity: str = "none"
    checks: Sequence[dict[str, Any]] = ()
    passed: Sequence[str] = ()
    findings: Sequence[dict[str, Any]] = ()
    about: dict[str, str] | None = None

    @property
    def name(self) -> str:
        """The file, and the model in it."""
        return f"{self.path} [{self.inside}]" if self.inside else self.path


def row_of(report: Report, *, release_safe: bool = False) -> Row:
    """Return what a list tells of a report.

    Examples
    --------
    >>> import treeaudit as ta
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> row = row_of(ta.scan(tree.fit(*load_breast_cancer(return_X_y=True))), release_safe=True)
    >>> row.verdict, row.severity, row.checks[0]["status"], row.checks[0]["shown"]
    ('fail', 'none', 'fail', 'about 30%')
    """
    if release_safe:
        report = that_may_leave(report)
    source = report.forest.source
    found = [one for one in report.findings if one.status == "found"]
    named = shown_name(report)
    told = Row(
        path=source.path or "model in memory",
        inside=named[named.rindex(" [") + 2 : -1] if report.several else "",
        verdict=report.verdict,
        said=headline(report).striptags(),
        severity=max((one.severity for one in found), key=SEVERITIES.index, default="none"),
        checks=[_check(check) for check in report.checks if check.status != "pass"],
        passed=[check.name for check in report.checks if check.status == "pass"],
        findings=[
            {
                "id": one.id,
                "title": one.title,
                "severity": one.severity,
                "summary": one.summary,
                "remedy": report.pages[one.id].words.remedy if one.id in report.pages else "",
            }
            for one in found
        ],
        about={
            "estimator": source.estimator,
            "format": source.format,
            "sha256": source.sha256 or "",
            "policy": report.policy.title,
        },
    )
    return _that_may_leave(told, report) if release_safe else told


def _that_may_leave(row: Row, report: Report) -> Row:
    """Return what the statement that may leave the room tells, too."""
    shares = measured(report)
    checks = [one | {"shown": shares.get(one["name"], ""), "reason": ""} for one in row.checks]
    return replace(row, said=verdict_line(report), severity="none", checks=checks, findings=[])


def _check(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "title": check.title,
        "status": check.status,
        "accepted": check.accepted,
        "bound": check.bound,
        "shown": check.shown,
        "reason": check.reason or "",
        "attack": check.attack or "",
    }


def failed_row(path: str, error: BaseException | str) -> Row:
    """Return the line of a file that could not be audited.

    Examples
    --------
    >>> failed_row("m.pkl", UnsafeModelError("it calls os.system")).verdict
    'unsafe'
    """
    said = str(error)
    if isinstance(error, OSError):
        said = f"it could not be read: {(error.strerror or said).lower()}"
    elif not isinstance(error, TreeauditError | str):
        said = f"internal error ({type(error).__name__}: {error}): this is a bug of treeaudit"
    verdict = "unsafe" if isinstance(error, UnsafeModelError) else "unread"
    return Row(path=path, verdict=verdict, said=said)


def worst_first(rows: Iterable[Row]) -> list[Row]:
    """Return rows by verdict, severity, how many checks failed, and name.

    Examples
    --------
    >>> rows = [Row(path=p, verdict=v, said="") for p, v in (("a", "pass"), ("b", "fail"))]
    >>> [row.path for row in worst_first(rows)]
    ['b', 'a']
    """

    def key(row: Row) -> tuple[int, int, int, str]:
        failed = sum(check["status"] == "fail" for check in row.checks)
        return VERDICTS.index(row.verdict), -SEVERITIES.index(row.severity), -failed, row.name

    return sorted(rows, key=key)


def exit_code(rows: Iterable[Row]) -> int:
    """Return the code of the worst: that of its verdict, 2 of what was not audited.

    Examples
    --------
    >>> exit_code([Row(path="m.pkl", verdict=one, said="") for one in ("review", "unread")])
    2
    """
    return _CODES[min((row.verdict for row in rows), key=VERDICTS.index, default="pass")]
