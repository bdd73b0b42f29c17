"""An accepted report: what fails no worse than in it does not fail again.

Only what is new or worse fails. A check that could not be made is never
accepted, and neither is a number that means something else than it did.

A report accepts nothing by itself: a person does, until a day, with ``treeaudit accept``.
It follows the line of a model, not the name of a file: the next model of the same
name (``--model-name``), or else of the same columns and labels.
"""

import hashlib
import json
import math
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from treeaudit.errors import PolicyError
from treeaudit.findings.checks import Registered, Rule, holds_at_least, holds_multiple_of
from treeaudit.findings.findings import Check
from treeaudit.findings.record import LONGEST_LINE, is_line
from treeaudit.findings.report_file import Terms, apart, in_words, read_report, terms_of_file
from treeaudit.model.forest import Forest
from treeaudit.model.words import an


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """A person decides on a report, for a while: what fails in it is accepted by that person.

    * ``by``, ``reason``: who, and why: one line each.
    * ``on``, ``until``: the day of the decision, and the last on which it holds.
    * ``conditions``: under which it holds, a line each.
    * ``file``: SHA-256 of the model file that may go out; None for a model in memory.
    * ``report``: SHA-256 of the report and of all of the above: neither other numbers nor another
      day are accepted.
    """

    by: str
    on: date
    until: date
    reason: str
    report: str
    conditions: tuple[str, ...] = ()
    file: str | None = None

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
    data: Mapping[str, Any],
    *,
    by: str,
    until: date,
    reason: str,
    conditions: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a report on which somebody decides, whatever its verdict: its model may go out."""
    if until < date.today():
        raise PolicyError(f"--until {until} has passed: name the last day on which it is accepted")
    lines = [("--by", by), ("--reason", reason), *(("--condition", one) for one in conditions)]
    for option, text in lines:
        if not is_line(text):
            raise PolicyError(f"{option} takes one line of 1 to {LONGEST_LINE} characters")
    told = {
        "by": by.strip(),
        "on": date.today().isoformat(),
        "until": until.isoformat(),
        "reason": reason.strip(),
        "conditions": [one.strip() for one in conditions],
        "file": data["model"]["sha256"],
    }
    return {**data, "accepted": {**told, "report": _digest({**data, "accepted": told})}}


def acceptance_of(data: Mapping[str, Any]) -> Acceptance | None:
    """Return who accepts a report; None where nobody does."""
    told = data.get("accepted")
    if told is None:
        return None
    by, reason, conditions = told["by"], told["reason"], tuple(told.get("conditions", ()))
    if not all(map(is_line, (by, reason, *conditions))):
        raise ValueError("it does not say who accepts it, and why")
    if told["report"] != _digest(data):
        raise ValueError("it was changed after it was accepted")
    on, until = (date.fromisoformat(told[day]) for day in ("on", "until"))
    return Acceptance(
        by=by,
        on=on,
        until=until,
        reason=reason,
        report=told["report"],
        conditions=conditions,
        file=told.get("file"),
    )


def _line_of(names: list[str], classes: tuple[object, ...] | None) -> str:
    """Return what stays the same from one model of a line to the next: columns and labels."""
    labels = None if classes is None else [str(label) for label in classes]
    return hashlib.sha256(json.dumps([sorted(names), labels]).encode()).hexdigest()


def _digest(data: Mapping[str, Any]) -> str:
    """Return the hash of all that an accepted report says but this hash."""
    rest = {**data, "accepted": {k: v for k, v in data["accepted"].items() if k != "report"}}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The part of an accepted report that a new one is held against."""

    name: str
    sha256: str
    # Which model it is about; None where it was in memory
    model: str | None
    model_sha256: str | None
    estimator: str
    terms: Terms  # What its numbers rest on; see `treeaudit.findings.report_file`
    # What was measured, by check. Infinite where the model claims no epsilon; checks that were
    # skipped are not there.
    measured: Mapping[str, float]
    accepted: Acceptance  # Who accepts it, when, until when and why
    # What its line is called, and its columns and labels; None where it does not tell
    model_name: str | None = None
    line: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what a report says of its baseline."""
        return {
            "name": self.name,
            "sha256": self.sha256,
            "model_sha256": self.model_sha256,
            **{k: v for k, v in self.accepted.to_dict().items() if k != "report"},
            "holds": self.accepted.holds,
        }


def read_baseline(
    path: str | os.PathLike[str], forest: Forest, model_name: str | None = None
) -> Baseline:
    """Read an accepted JSON report of the same line of models."""
    data, sha256 = read_report(path)
    name = Path(path).name
    if data.get("accepted") is None:
        raise PolicyError(
            f"the baseline {name} is a report that nobody accepts; who answers for it writes "
            f"'treeaudit accept {shlex.quote(name)} --by NAME --until YYYY-MM-DD --reason WHY -o "
            "accepted.json'"
        )
    try:
        baseline = _baseline(name, sha256, data)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise PolicyError(
            f"the baseline {name} is no whole accepted treeaudit report: {_missing(error)}"
        ) from None
    _same_line(baseline, forest, model_name)
    return baseline


def line(forest: Forest) -> str | None:
    """Return the columns and labels of a model as a hash; None where its columns have no names."""
    schema = forest.schema
    return _line_of(schema.names, schema.classes) if schema.named else None


def _missing(error: Exception) -> str:
    return f"it lacks {error}" if isinstance(error, KeyError) else str(error)


def _baseline(name: str, sha256: str, data: Mapping[str, Any]) -> Baseline:
    model, accepted = data["model"], acceptance_of(data)
    if accepted is None:
        raise ValueError("nobody accepts it")
    return Baseline(
        name=name,
        sha256=sha256,
        model=None if model["path"] is None else Path(model["path"]).name,
        model_sha256=model["sha256"],
        estimator=str(model["estimator"]),
        terms=terms_of_file(data),
        measured={
            check["name"]: math.inf if check["measured"] is None else float(check["measured"])
            for check in data["checks"]
            if check["status"] != "skipped"
        },
        accepted=accepted,
        model_name=model.get("name"),
        line=model.get("line"),
    )


def _same_line(baseline: Baseline, forest: Forest, model_name: str | None) -> None:
    source = forest.source
    if baseline.model_name is not None and model_name is not None:
        if baseline.model_name != model_name:
            raise PolicyError(
                f"the baseline {baseline.name} is about the model {baseline.model_name!r}, "
                f"--model-name says {model_name!r}; take the accepted report of this model"
            )
        return
    if baseline.model_sha256 is not None and baseline.model_sha256 == source.sha256:
        return
    about = baseline.model or "a model in memory"
    if baseline.model_name is not None:
        raise PolicyError(
            f"the baseline {baseline.name} is about the model {baseline.model_name!r}: if this is "
            f"its next version, say --model-name {shlex.quote(baseline.model_name)}"
        )
    if not forest.schema.named or baseline.line is None:
        raise PolicyError(
            f"the columns of the model have no names, so nothing tells whether it follows {about}: "
            "scan both with --model-name NAME"
        )
    if baseline.line != line(forest):
        raise PolicyError(
            f"the baseline {baseline.name} is about {about}, a model of other columns or labels; "
            "take the accepted report of this model, or scan both with --model-name NAME"
        )
    if baseline.estimator != source.estimator:
        raise PolicyError(
            f"the baseline {baseline.name} is about {an(baseline.estimator)}, this model is "
            f"{an(source.estimator)}; take the accepted report of this model"
        )


def accept(
    checks: Sequence[Check], baseline: Baseline, terms: Terms, known: Mapping[str, Registered]
) -> tuple[Check, ...]:
    """Mark the failed checks that are no worse than in the baseline."""
    return tuple(
        _accept(check, known[check.name].rule, baseline)
        if check.name in known and not _apart(check, baseline, terms, known[check.name])
        else check
        for check in checks
    )


def not_compared(
    checks: Sequence[Check], baseline: Baseline, terms: Terms, known: Mapping[str, Registered]
) -> tuple[str, ...]:
    """Say which failed checks are not held against the baseline, a sentence for each reason."""
    titles: dict[str, list[str]] = {}
    for check in checks:
        if check.status == "fail" and check.name in known and check.name in baseline.measured:
            names = _apart(check, baseline, terms, known[check.name])
            if names:
                why = in_words(names, baseline.terms, terms)
                titles.setdefault(why, []).append(f"'{check.title}'")
    return tuple(
        f"the baseline {baseline.name} accepts nothing of {' and '.join(said)}: {why}, so that "
        "the numbers mean different things; scan as it was made, or accept a report of this scan"
        for why, said in titles.items()
    )


def _apart(check: Check, baseline: Baseline, terms: Terms, known: Registered) -> tuple[str, ...]:
    # Any bound is less than none, whatever it is of.
    unbounded = baseline.measured.get(check.name) == math.inf
    return () if unbounded else apart(known, baseline.terms, terms, more=True)


def _accept(check: Check, rule: Rule, baseline: Baseline) -> Check:
    old = baseline.measured.get(check.name)
    if old is None or check.status == "skipped":
        return check
    new = math.inf if check.measured is None else check.measured
    return replace(
        check,
        accepted=check.status == "fail" and baseline.accepted.holds and no_worse(rule, new, old),
        baseline=old if math.isfinite(old) else None,
        was=rule.show(old),
    )


def no_worse(rule: Rule, new: float, old: float) -> bool:
    """Tell whether a measured number is no worse than an old one."""
    if rule.holds is holds_multiple_of:
        return old != 0 and new % old == 0
    # A share that is the same but for the last digit is the same.
    close = math.isclose(new, old, rel_tol=1e-9)
    return close or (new >= old if rule.holds is holds_at_least else new <= old)
