"""An accepted report: what fails no worse than in it does not fail again.

Only what is new or worse fails. A check that could not be made is never
accepted, and neither is a number that means something else than it did.

A report accepts nothing by itself: a person does, until a date, and says so in it::

    "accepted": {"by": "Ada Lovelace", "until": "2027-06-30"}
"""

import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from treeaudit.errors import PolicyError, ReadError
from treeaudit.findings.checks import Registered, Rule, holds_at_least, holds_multiple_of
from treeaudit.findings.findings import Check
from treeaudit.input import BASELINE, read_bytes
from treeaudit.model.forest import Forest
from treeaudit.readers.json_text import parse_json
from treeaudit.readers.limits import Most

__all__ = ["Baseline", "accept", "read_baseline"]

_SCHEMA_VERSION = 1
_LONGEST = 200
_BELOW_K = ("max-small-leaf-people", "max-small-leaf-share")
"""Checks that count people below the k of the policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The part of an accepted report that a new one is held against.

    Attributes
    ----------
    model, model_sha256, estimator
        Which model it is about; None where it was in memory.
    k
        The smallest acceptable group of its policy; None where TA101 did not run.
    measured
        What was measured, by check. Infinite where the model claims no epsilon;
        checks that were skipped are not there.
    by, until
        Who accepts it and until which day; None where it does not say.
    """

    name: str
    sha256: str
    model: str | None
    model_sha256: str | None
    estimator: str
    k: int | None
    measured: Mapping[str, float]
    by: str | None = None
    until: date | None = None

    @property
    def holds(self) -> bool:
        """Whether somebody accepts it, and today still."""
        return self.by is not None and self.until is not None and date.today() <= self.until

    def to_dict(self) -> dict[str, Any]:
        """Return what a report says of its baseline."""
        return {
            "name": self.name,
            "sha256": self.sha256,
            "model_sha256": self.model_sha256,
            "by": self.by,
            "until": None if self.until is None else self.until.isoformat(),
            "holds": self.holds,
        }


def read_baseline(path: str | os.PathLike[str], forest: Forest) -> Baseline:
    """Read an accepted JSON report of the same model.

    Raises
    ------
    PolicyError
        If the file is no such report, has another schema version, or is about
        another model.
    """
    name = Path(path).name
    try:
        content = read_bytes(path, BASELINE, PolicyError, "the baseline")
        data: Any = parse_json(content, Most.form, (232, 88, 36))
    except FileNotFoundError:
        raise PolicyError(f"there is no baseline {path}") from None
    except ReadError as error:
        raise PolicyError(f"the baseline {path} cannot be read as JSON: {error}") from None
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version is None or not isinstance(data.get("checks"), list):
        raise PolicyError(
            f"the baseline {name} is no treeaudit report; write one with 'treeaudit scan MODEL -o "
            "accepted.json'"
        )
    if version != _SCHEMA_VERSION:
        raise PolicyError(
            f"the baseline {name} has schema version {version}, this treeaudit reads "
            f"{_SCHEMA_VERSION}; write it again with this version"
        )
    try:
        baseline = _baseline(name, hashlib.sha256(content).hexdigest(), data)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise PolicyError(f"the baseline {name} is no whole treeaudit report: {error}") from None
    _same_model(baseline, forest)
    return baseline


def _baseline(name: str, sha256: str, data: Mapping[str, Any]) -> Baseline:
    model, signed = data["model"], data.get("accepted") or {}
    by, until = signed.get("by"), signed.get("until")
    if by is not None and not (by.strip() and by.isprintable() and len(by) <= _LONGEST):
        raise ValueError("it is accepted by nobody with a name")
    sizes = [f["details"]["k"] for f in data["findings"] if "k" in f["details"]]
    return Baseline(
        name=name,
        sha256=sha256,
        model=None if model["path"] is None else Path(model["path"]).name,
        model_sha256=model["sha256"],
        estimator=str(model["estimator"]),
        k=int(sizes[0]) if sizes else None,
        measured={
            check["name"]: math.inf if check["measured"] is None else float(check["measured"])
            for check in data["checks"]
            if check["status"] != "skipped"
        },
        by=by,
        until=None if until is None else date.fromisoformat(until),
    )


def _same_model(baseline: Baseline, forest: Forest) -> None:
    source = forest.source
    name = None if source.path is None else Path(source.path).name
    if baseline.model is not None and name is not None and baseline.model != name:
        raise PolicyError(
            f"the baseline {baseline.name} is about {baseline.model}, not about {name}; take the "
            "accepted report of this model"
        )
    if baseline.estimator != source.estimator:
        raise PolicyError(
            f"the baseline {baseline.name} is about a {baseline.estimator}, this model is a "
            f"{source.estimator}; take the accepted report of this model"
        )


def accept(
    checks: Sequence[Check], baseline: Baseline, k: int, known: Mapping[str, Registered]
) -> tuple[Check, ...]:
    """Mark the failed checks that are no worse than in the baseline.

    Parameters
    ----------
    k
        The smallest acceptable group now: numbers of people below it can only
        be compared where it is the same.

    Returns
    -------
    tuple of Check
        With ``baseline`` where the old number is known, and ``accepted`` where
        a failed one is no worse.
    """
    return tuple(
        _accept(check, known[check.name].rule, baseline, k) if check.name in known else check
        for check in checks
    )


def _accept(check: Check, rule: Rule, baseline: Baseline, k: int) -> Check:
    old = baseline.measured.get(check.name)
    if old is None or check.status == "skipped" or (check.name in _BELOW_K and k != baseline.k):
        return check
    new = math.inf if check.measured is None else check.measured
    return replace(
        check,
        accepted=check.status == "fail" and _no_worse(rule, new, old),
        baseline=old if math.isfinite(old) else None,
        was=rule.show(old),
    )


def _no_worse(rule: Rule, new: float, old: float) -> bool:
    if rule.holds is holds_multiple_of:
        return old != 0 and new % old == 0
    # A share that is the same but for the last digit is the same.
    close = math.isclose(new, old, rel_tol=1e-9)
    return close or (new >= old if rule.holds is holds_at_least else new <= old)
