"""Somebody accepts what a report says: who, when, until when, and why, over its very numbers."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from treeaudit.errors import PolicyError

__all__ = ["Acceptance", "acceptance_of", "accepted_report", "line_of"]

_LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """A person accepts what fails in a report, for a while.

    Attributes
    ----------
    by, reason
        Who, and why: one line each.
    on, until
        The day on which it was accepted, and the last on which that holds.
    report
        SHA-256 of the report and of who accepts it, when, until when and why: neither other
        numbers nor another day are accepted.
    """

    by: str
    on: date
    until: date
    reason: str
    report: str

    @property
    def holds(self) -> bool:
        """Whether the last day has not passed."""
        return date.today() <= self.until

    def to_dict(self) -> dict[str, str]:
        """Return what the file of a report says."""
        return {
            "by": self.by,
            "on": self.on.isoformat(),
            "until": self.until.isoformat(),
            "reason": self.reason,
            "report": self.report,
        }


def accepted_report(
    data: Mapping[str, Any], *, by: str, until: date, reason: str
) -> dict[str, Any]:
    """Return a report in which somebody accepts what failed.

    Parameters
    ----------
    data
        The JSON report.
    by, until, reason
        Who accepts it, until which day, and why.

    Raises
    ------
    PolicyError
        If nothing in it failed, the day has passed, or a text is no line.
    """
    if not any(check["status"] == "fail" for check in data["checks"]):
        raise PolicyError(
            "no check of this report failed, so there is nothing to accept; what could not be "
            "checked is decided anew every time"
        )
    if until < date.today():
        raise PolicyError(f"--until {until} has passed: name the last day on which it is accepted")
    for option, text in (("--by", by), ("--reason", reason)):
        if not _is_line(text):
            raise PolicyError(f"{option} takes one line of 1 to {_LONGEST} characters")
    told = {
        "by": by.strip(),
        "on": date.today().isoformat(),
        "until": until.isoformat(),
        "reason": reason.strip(),
    }
    return {**data, "accepted": {**told, "report": _digest({**data, "accepted": told})}}


def acceptance_of(data: Mapping[str, Any]) -> Acceptance | None:
    """Return who accepts a report; None where nobody does.

    Raises
    ------
    ValueError
        If it does not say who, when, until when and why, or its numbers are not those that were
        accepted.
    """
    told = data.get("accepted")
    if told is None:
        return None
    by, reason = told["by"], told["reason"]
    if not _is_line(by) or not _is_line(reason):
        raise ValueError("it does not say who accepts it, and why")
    if told["report"] != _digest(data):
        raise ValueError("it was changed after it was accepted")
    on, until = (date.fromisoformat(told[day]) for day in ("on", "until"))
    return Acceptance(by=by, on=on, until=until, reason=reason, report=told["report"])


def line_of(names: list[str], classes: tuple[object, ...] | None) -> str:
    """Return what stays the same from one model of a line to the next: columns and labels.

    Examples
    --------
    >>> line_of(["age", "pay"], (0, 1)) == line_of(["pay", "age"], (0, 1))
    True
    """
    labels = None if classes is None else [str(label) for label in classes]
    return hashlib.sha256(json.dumps([sorted(names), labels]).encode()).hexdigest()


def _is_line(text: object) -> bool:
    return (
        isinstance(text, str)
        and bool(text.strip())
        and text.isprintable()
        and len(text) <= _LONGEST
    )


def _digest(data: Mapping[str, Any]) -> str:
    """Return the hash of all that an accepted report says but this hash."""
    rest = {**data, "accepted": {k: v for k, v in data["accepted"].items() if k != "report"}}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
