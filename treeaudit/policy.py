"""Thresholds, and what they say about findings: pass, fail or review."""

import difflib
import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from treeaudit.checks import CHECKS
from treeaudit.errors import PolicyError
from treeaudit.findings import Check, Finding, Skipped
from treeaudit.policy_file import policies_in
from treeaudit.tree import Forest

__all__ = ["BUILT_IN", "CHECKS", "DEFAULT_K", "Policy", "judge", "read_policy", "verdict_of"]

DEFAULT_K = 5
Results = Sequence[Finding | Skipped]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Named thresholds.

    Attributes
    ----------
    name
        How it is called.
    values
        Threshold by check name; a check that is absent is not made.
    """

    name: str
    values: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in self.values.items():
            if name not in CHECKS:
                near = difflib.get_close_matches(name, CHECKS, 1)
                hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(CHECKS)}"
                raise PolicyError(f"policy {self.name}: there is no check {name!r}; {hint}")
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or value < 0:
                raise PolicyError(f"policy {self.name}: {name} must be a number of at least 0")
            if CHECKS[name].share and value > 1:
                raise PolicyError(
                    f"policy {self.name}: {name} is a share between 0 and 1, such as 0.01"
                )

    @property
    def k(self) -> int:
        """The smallest acceptable group; 5 where the policy sets none."""
        return max(1, math.ceil(self.values.get("min-leaf", DEFAULT_K)))

    @property
    def sha256(self) -> str:
        """Hash of the thresholds, whatever the policy is called."""
        values = {name: float(value) for name, value in self.values.items()}
        canonical = json.dumps(values, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


BUILT_IN: Mapping[str, Policy] = {
    "default": Policy(
        name="default",
        values={
            "min-leaf": DEFAULT_K,
            "max-unique-people": 0,
            "max-certain-share": 0.01,
            "max-training-rows-inside": 0,
            "max-calls": 0,
        },
    ),
    "strict": Policy(
        name="strict",
        values={
            "min-leaf": 10,
            "max-unique-people": 0,
            "max-certain-share": 0.0,
            "max-training-rows-inside": 0,
            "max-seeds": 0,
            "max-calls": 0,
        },
    ),
    "acro": Policy(
        name="acro",
        values={
            "min-leaf": 10,
            "min-cell": 10,
            "max-absent-label-people": 0,
            "min-degrees-of-freedom": 10,
            "max-nk-leaves": 0,
            "max-p-percent-leaves": 0,
            "max-training-rows-inside": 0,
            "max-calls": 0,
        },
    ),
    "opensafely": Policy(
        name="opensafely",
        values={
            "min-leaf": 8,
            "min-cell": 8,
            "round-to": 5,
            "max-training-rows-inside": 0,
            "max-calls": 0,
        },
    ),
    "private": Policy(
        name="private",
        values={"max-epsilon": 1.0, "max-training-rows-inside": 0, "max-calls": 0},
    ),
    "observe": Policy(name="observe"),
}
"""The policies that need no file.

``acro`` asks of the counts in a model what ACRO 0.4 asks of those in a table:
10 people, no zeros, 10 degrees of freedom; dominance where there are
magnitudes. ``opensafely`` suppresses counts up to 7 and rounds to the nearest 5.
``private`` is for models whose noise bounds what they give away about anybody.
"""


def judge(
    policy: Policy, results: Results, forest: Forest
) -> tuple[tuple[Check, ...], Literal["pass", "fail", "review"]]:
    """Hold findings against a policy.

    Parameters
    ----------
    policy
        The thresholds.
    results
        What the attacks found. A check whose attack was skipped is skipped,
        and the verdict is then at best ``review``.
    forest
        The model.

    Returns
    -------
    tuple
        The checks in the policy's order, and the verdict.
    """
    found = {result.id: result for result in results}
    checks = tuple(_check(name, value, found, forest) for name, value in policy.values.items())
    return checks, verdict_of(checks)


def verdict_of(checks: Sequence[Check]) -> Literal["pass", "fail", "review"]:
    """Return ``fail`` if a check fails that no baseline accepts, ``review`` if one was skipped.

    Examples
    --------
    >>> verdict_of(())
    'pass'
    """
    if any(check.status == "fail" and not check.accepted for check in checks):
        return "fail"
    return "review" if any(check.status == "skipped" for check in checks) else "pass"


def _check(
    name: str, threshold: float, found: Mapping[str, Finding | Skipped], forest: Forest
) -> Check:
    rule = CHECKS[name]
    check = Check(
        name=name,
        threshold=threshold,
        measured=None,
        status="skipped",
        title=rule.title,
        bound=rule.bound.format(threshold),
    )
    ran = [found[i] for i in rule.attacks if isinstance(found.get(i), Finding)]
    findings = [finding for finding in ran if isinstance(finding, Finding)]
    if rule.attacks and not isinstance(found.get(rule.attacks[0]), Finding):
        needless = None if rule.needless is None else rule.needless(forest)
        if needless is not None:
            return replace(check, measured=0.0, status="pass", shown="0", reason=needless)
        first = found.get(rule.attacks[0])
        reason = first.reason if isinstance(first, Skipped) else f"{rule.attacks[0]} was not run"
        return replace(check, reason=reason)
    measured = rule.measure(findings, forest)
    if measured is None:
        return replace(check, reason=rule.missing or "the finding does not tell")
    known = math.isfinite(measured)
    return replace(
        check,
        measured=measured if known else None,
        shown=rule.show(measured),
        status="pass" if rule.holds(measured, threshold) else "fail",
        reason=None if known else "the model claims no differential privacy",
    )


def read_policy(name: str, path: str | os.PathLike[str] | None = None) -> Policy:
    """Return a policy by name, from a TOML file or the built-in ones.

    Parameters
    ----------
    name
        One of `BUILT_IN`, a name defined in the file, or the path of a TOML
        file that defines exactly one policy.
    path
        A TOML file with ``[tool.treeaudit.policies.NAME]`` or
        ``[policies.NAME]``; ``pyproject.toml`` in the current folder unless
        told.

    Raises
    ------
    PolicyError
        If there is no such policy, or it is not well formed.

    Examples
    --------
    >>> read_policy("strict").values["min-leaf"]
    10
    """
    if name.endswith(".toml"):
        found = policies_in(Path(name))
        if len(found) != 1:
            raise PolicyError(
                f"{name} defines {len(found)} policies ({', '.join(found) or 'none'}): "
                "a file named as policy must define exactly one"
            )
        only, values = next(iter(found.items()))
        return Policy(name=only, values=values)
    file = Path("pyproject.toml") if path is None else Path(path)
    known = policies_in(file) if path is not None or file.is_file() else {}
    if name in known:
        return Policy(name=name, values=known[name])
    if name in BUILT_IN:
        return BUILT_IN[name]
    names = [*BUILT_IN, *known]
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
    raise PolicyError(f"there is no policy {name!r}; {hint}")
