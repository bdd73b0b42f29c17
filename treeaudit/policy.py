"""Thresholds, and what they say about findings: pass, fail or review."""

import difflib
import hashlib
import json
import math
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from treeaudit.errors import PolicyError
from treeaudit.findings import Check, Finding, Skipped
from treeaudit.tree import Forest

__all__ = ["BUILT_IN", "DEFAULT_K", "Policy", "judge", "read_policy"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """How a check is measured and worded."""

    attack: str | None
    title: str
    bound: str
    measure: Callable[[Finding | None, Forest], float]
    at_least: bool = False
    share: bool = False


def _epsilon(finding: Finding | None, forest: Forest) -> float:
    privacy = forest.privacy or {}
    epsilon = privacy.get("epsilon")
    private = isinstance(epsilon, int | float) and not privacy.get("not_private", False)
    return float(epsilon) if private and epsilon is not None else math.inf


def _detail(name: str) -> Callable[[Finding | None, Forest], float]:
    def measure(finding: Finding | None, forest: Forest) -> float:
        return float(finding.details[name]) if finding is not None else math.inf

    return measure


CHECKS: Mapping[str, _Rule] = {
    "min-leaf": _Rule(
        attack="TA101",
        title="Smallest group",
        bound="at least {:,.0f} people",
        measure=_detail("min_leaf"),
        at_least=True,
    ),
    "max-unique-people": _Rule(
        attack="TA101",
        title="People alone in a leaf",
        bound="at most {:,.0f}",
        measure=_detail("unique_people"),
    ),
    "max-small-leaf-people": _Rule(
        attack="TA101",
        title="People in leaves below k",
        bound="at most {:,.0f}",
        measure=_detail("below_k_people"),
    ),
    "max-certain-share": _Rule(
        attack="TA102",
        title="People whose label is certain",
        bound="at most {:.1%}",
        measure=_detail("certain_share"),
        share=True,
    ),
    "max-epsilon": _Rule(
        attack=None,
        title="Differential privacy, epsilon",
        bound="at most {:g}",
        measure=_epsilon,
    ),
}
"""Every check that a policy can ask for."""

BUILT_IN: Mapping[str, Policy] = {
    "default": Policy(
        name="default",
        values={
            "min-leaf": DEFAULT_K,
            "max-unique-people": 0,
            "max-certain-share": 0.01,
        },
    ),
    "strict": Policy(
        name="strict",
        values={"min-leaf": 10, "max-unique-people": 0, "max-certain-share": 0.0},
    ),
    "observe": Policy(name="observe"),
}
"""The policies that need no file. ``strict`` takes its 10 from ACRO's default."""


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
    by_id = {result.id: result for result in results}
    checks = tuple(
        _check(name, threshold, by_id, forest) for name, threshold in policy.values.items()
    )
    statuses = {check.status for check in checks}
    if "fail" in statuses:
        return checks, "fail"
    return checks, "review" if "skipped" in statuses else "pass"


def _check(
    name: str, threshold: float, by_id: Mapping[str, Finding | Skipped], forest: Forest
) -> Check:
    rule = CHECKS[name]
    result = by_id.get(rule.attack) if rule.attack is not None else None
    title, bound = rule.title, rule.bound.format(threshold)
    if rule.attack is not None and not isinstance(result, Finding):
        reason = result.reason if isinstance(result, Skipped) else f"{rule.attack} was not run"
        return Check(
            name=name,
            threshold=threshold,
            measured=None,
            status="skipped",
            title=title,
            bound=bound,
            reason=reason,
        )
    measured = rule.measure(result if isinstance(result, Finding) else None, forest)
    good = measured >= threshold if rule.at_least else measured <= threshold
    return Check(
        name=name,
        threshold=threshold,
        measured=measured if math.isfinite(measured) else None,
        shown=_show(measured, share=rule.share),
        status="pass" if good else "fail",
        title=title,
        bound=bound,
        reason=None if math.isfinite(measured) else "the model claims no differential privacy",
    )


def _show(measured: float, *, share: bool) -> str:
    if not math.isfinite(measured):
        return "unbounded"
    if share:
        return f"{measured:.1%}" if measured >= 0.001 or measured == 0 else f"{measured:.2g}"
    return f"{int(measured):,}" if measured.is_integer() else f"{measured:g}"


def read_policy(name: str, path: str | os.PathLike[str] | None = None) -> Policy:
    """Return a policy by name, from a TOML file or the built-in ones.

    Parameters
    ----------
    name
        ``default``, ``strict``, ``observe``, a name defined in the file, or the
        path of a TOML file that defines exactly one policy.
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
        found = _policies(Path(name))
        if len(found) != 1:
            raise PolicyError(
                f"{name} defines {len(found)} policies ({', '.join(found) or 'none'}): "
                "a file named as policy must define exactly one"
            )
        only, values = next(iter(found.items()))
        return Policy(name=only, values=values)
    file = Path("pyproject.toml") if path is None else Path(path)
    known = _policies(file) if path is not None or file.is_file() else {}
    if name in known:
        return Policy(name=name, values=known[name])
    if name in BUILT_IN:
        return BUILT_IN[name]
    names = [*BUILT_IN, *known]
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
    raise PolicyError(f"there is no policy {name!r}; {hint}")


def _policies(path: Path) -> dict[str, dict[str, Any]]:
    try:
        data: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PolicyError(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PolicyError(f"{path} cannot be read as TOML: {error}") from None
    tool = data.get("tool")
    own = tool.get("treeaudit") if isinstance(tool, dict) else None
    for table in (own, data):
        found = table.get("policies") if isinstance(table, dict) else None
        if isinstance(found, dict):
            wrong = [name for name, values in found.items() if not isinstance(values, dict)]
            if wrong:
                raise PolicyError(f"{path}: policy {wrong[0]} is not a table of thresholds")
            return found
    return {}
