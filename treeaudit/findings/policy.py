"""Policies: named thresholds, built in or from a TOML file, and what they say of findings.

A file holds ``[tool.treeaudit.policies.NAME]`` or ``[policies.NAME]``.
"""

import hashlib
import json
import math
import os
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from treeaudit.errors import MissingFileError, PolicyError, near
from treeaudit.files import read_toml
from treeaudit.findings.checks import Registered
from treeaudit.findings.findings import Check, Finding, Skipped, Verdict
from treeaudit.model.forest import Forest
from treeaudit.model.words import in_digits

_LONGEST, _DEFAULT_K = 80, 5


def _policies_in(path: Path) -> dict[str, dict[str, Any]]:
    """Return the thresholds of every policy in a file, by name."""
    try:
        data = read_toml(path, PolicyError)
    except FileNotFoundError:
        raise MissingFileError(path) from None
    tool = data.get("tool")
    own = tool.get("treeaudit") if isinstance(tool, dict) else None
    for table in (own, data):
        found = table.get("policies") if isinstance(table, dict) else None
        if isinstance(found, dict):
            for name, values in found.items():
                if not isinstance(values, dict):
                    raise PolicyError(f"{path}: policy {name} is not a table of thresholds")
                if not name.isprintable() or not 0 < len(name) <= _LONGEST:
                    raise PolicyError(
                        f"{path}: {name[:_LONGEST]!r} is no name of a policy; take a short one "
                        "of letters and digits"
                    )
            return found
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Named thresholds.

    Attributes
    ----------
    values
        Threshold by check name, for a condition (``require-…``) true or false; a check that is
        absent is not made.
    source
        The file that it comes from, as it was named; None for those built in
        and from Python.
    """

    name: str
    values: Mapping[str, float] = field(default_factory=dict)
    source: str | None = None

    def __post_init__(self) -> None:
        for name, value in self.values.items():
            required = name.startswith("require-")
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (value in (0, 1) if required else number and 0 <= value <= sys.float_info.max):
                kind = "true or false" if required else "a number of at least 0"
                raise PolicyError(f"policy {self.name}: {name} must be {kind}")

    @property
    def title(self) -> str:
        """The name, with the file that the policy comes from.

        A page is passed on, and does not tell where on a machine that file was.

        Examples
        --------
        >>> Policy(name="release", source="./pyproject.toml").title
        'release of ./pyproject.toml'
        """
        if self.source is None:
            return self.name
        file = Path(self.source)
        return f"{self.name} of {file.name if file.is_absolute() else self.source}"

    @property
    def k(self) -> int:
        """The smallest acceptable group; 5 where the policy sets none."""
        return max(1, math.ceil(self.values.get("min-leaf", _DEFAULT_K)))

    @property
    def attacker(self) -> str:
        """Against whom a pass holds, in words."""
        if any(name.startswith("max-joint-") for name in self.values):
            return "who has the file and knows the features of everybody in the training data"
        if "max-epsilon" in self.values:
            return "who has the file, whatever else they know, within the epsilon of the ledger"
        known = "max-nearly-certain-share" in self.values or "max-dominating-people" in self.values
        beside = " and one other person" if known else ""
        return f"who has the file and knows the features of one target{beside}"

    @property
    def sha256(self) -> str:
        """Hash of the thresholds, whatever the policy is called."""
        values = {name: float(value) for name, value in self.values.items()}
        canonical = json.dumps(values, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


_OUTPUT_CHECKED = {
    "max-certified-people": 0,
    "max-joint-label-excess": 0.05,
    "max-joint-one-label-excess": 0.25,
    "max-joint-certain-people": 0,
    "max-training-rows-inside": 0,
    "max-calls": 0,
    "max-malformed-parts": 0,
    "max-extra-bytes": 4096,
    "require-canonical": True,
}
"""What policies of output checkers have in common."""

_DEFAULT = {
    "min-leaf": _DEFAULT_K,
    "max-unique-people": 0,
    "max-certain-share": 0.01,
    "max-nearly-certain-share": 0.05,
    "max-known-number-share": 0.05,
    "max-dominating-people": 0,
    "max-certified-people": 0,
    "max-joint-label-excess": 0.05,
    "max-joint-one-label-excess": 0.25,
    "max-joint-certain-people": 0,
    "max-identifying-features": 0,
    "max-training-rows-inside": 0,
    "max-exact-values": 3000,
    "max-calls": 0,
    "max-malformed-parts": 0,
    "max-extra-bytes": 4096,
}

BUILT_IN: Mapping[str, Policy] = {
    "default": Policy(name="default", values=_DEFAULT),
    "outsider": Policy(
        name="outsider",
        values={k: value for k, value in _DEFAULT.items() if not k.startswith("max-joint-")},
    ),
    "strict": Policy(
        name="strict",
        values={
            "min-leaf": 10,
            "max-unique-people": 0,
            "max-certain-share": 0.0,
            "max-nearly-certain-share": 0.01,
            "max-known-number-share": 0.01,
            "max-dominating-people": 0,
            "max-certified-people": 0,
            "max-joint-label-excess": 0.02,
            "max-joint-one-label-excess": 0.1,
            "max-joint-certain-people": 0,
            "max-identifying-features": 0,
            "max-training-rows-inside": 0,
            "max-exact-values": 100,
            "max-seeds": 0,
            "max-calls": 0,
            "max-malformed-parts": 0,
            "max-extra-bytes": 4096,
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
            "max-dominating-people": 0,
            **_OUTPUT_CHECKED,
        },
    ),
    "opensafely": Policy(
        name="opensafely",
        values={
            "min-leaf": 8,
            "min-cell": 8,
            "round-to": 5,
            **_OUTPUT_CHECKED,
        },
    ),
    "private": Policy(
        name="private",
        values={
            "max-epsilon": 1.0,
            "max-delta": 1e-6,
            "max-training-rows-inside": 0,
            "max-calls": 0,
            "max-extra-bytes": 0,
        },
    ),
    "observe": Policy(name="observe"),
}
"""The policies that need no file.

``outsider`` is ``default`` for a file alone: the attacker knows one target and at most one other
person, so that trees are not judged together (TA106), which takes the training people.
``acro`` asks of the counts in a model what ACRO 0.4 asks of those in a table:
10 people, no zeros, 10 degrees of freedom; dominance where there are
magnitudes. ``opensafely`` suppresses counts up to 7 and rounds to the nearest 5. Both require a
canonical file: an output checker need not trust its author.
``private`` is for models whose noise bounds what they give away about anybody.
"""


def read_policy(name: str, path: str | os.PathLike[str] | None = None) -> Policy:
    """Return a policy by name, from a TOML file or the built-in ones."""
    if name.endswith(".toml"):
        found = _own(Path(name), name)
        if not found:
            raise PolicyError(
                f"{name} defines no policy: write [policies.NAME], and under it what to ask for, "
                "such as min-leaf = 10"
            )
        if len(found) > 1:
            raise PolicyError(
                f"{name} defines {len(found)} policies ({', '.join(found)}): "
                "a file named as policy must define exactly one"
            )
        return next(Policy(name=only, values=found[only], source=name) for only in found)
    file = Path("pyproject.toml") if path is None else Path(path)
    source = "./pyproject.toml" if path is None else os.fspath(path)
    known = _own(file, source) if path is not None or file.is_file() else {}
    if name in BUILT_IN:
        return BUILT_IN[name]
    if name in known:
        return Policy(name=name, values=known[name], source=source)
    names = [*BUILT_IN, *known]
    raise PolicyError(f"there is no policy {name!r}{near(name, names, 'known:')}")


def _own(path: Path, source: str) -> Mapping[str, Mapping[str, float]]:
    """Return the thresholds of a file; no policy in it passes for one that is built in."""
    found = _policies_in(path)
    for name in found:
        if unicodedata.normalize("NFKC", name).strip().casefold() in BUILT_IN:
            raise PolicyError(
                f"{source} defines a policy {name!r}, which is the name of one that is built in: "
                "give it another name"
            )
    return found


def check_names(policy: Policy, checks: Mapping[str, Registered]) -> Policy:
    """Return a policy that asks only for what can be checked."""
    for name, value in policy.values.items():
        if name not in checks:
            hint = near(name, checks, "known:")
            raise PolicyError(f"policy {policy.name}: there is no check {name!r}{hint}")
        if checks[name].rule.share and value > 1:
            raise PolicyError(
                f"policy {policy.name}: {name} is a share between 0 and 1, such as 0.01"
            )
    return policy


def judge(
    policy: Policy,
    results: Sequence[Finding | Skipped],
    forest: Forest,
    known: Mapping[str, Registered],
    records_each: int = 1,
) -> tuple[Check, ...]:
    """Hold findings against a policy. A check whose attack was skipped is skipped too."""
    found = {result.id: result for result in results}
    return tuple(
        # A condition that is required has to be met: true is 1.
        _check(known[name], policy, value + 0, found, forest, records_each)
        for name, value in policy.values.items()
    )


def verdict_of(checks: Sequence[Check]) -> Verdict:
    """Return ``fail`` if a check fails that no baseline accepts, ``review`` if one was skipped."""
    if any(check.status == "fail" and not check.accepted for check in checks):
        return "fail"
    if any(check.status == "skipped" for check in checks):
        return "review"
    return "accepted" if any(check.accepted for check in checks) else "pass"


def fails_for_good(checks: Sequence[Check]) -> bool:
    """Tell whether an epsilon or a delta is too large: what was spent no repair takes back."""
    spent = [one for one in checks if one.name in ("max-epsilon", "max-delta")]
    return any(
        one.status == "fail" and not one.accepted and one.measured is not None for one in spent
    )


def losses_added(checks: Sequence[Check], costs: Mapping[str, float]) -> tuple[Check, ...]:
    """Return the checks of one model of a file, its losses being those of all of them together.

    Nothing in a file tells that its models were trained on different people, so that what
    they give away adds up (sequential composition), epsilons and deltas.
    """
    return tuple(
        replace(
            check,
            measured=costs[check.name] if math.isfinite(costs[check.name]) else None,
            shown=f"{in_digits(costs[check.name], 6, check.threshold)} by all models of the file",
            status="pass" if costs[check.name] <= check.threshold else "fail",
        )
        if check.status == "pass" and costs.get(check.name, 0) > (check.measured or 0)
        else check
        for check in checks
    )


def not_run(refused: Sequence[Skipped]) -> tuple[Check, ...]:
    """Return a skipped check per attack that was asked for and could not be made to run."""
    return tuple(
        Check(
            name=f"attack {one.id}",
            threshold=0.0,
            measured=None,
            status="skipped",
            title=one.title,
            bound="to be run",
            reason=one.reason,
            attack=one.id,
        )
        for one in refused
    )


def _check(
    registered: Registered,
    policy: Policy,
    threshold: float,
    found: Mapping[str, Finding | Skipped],
    forest: Forest,
    records_each: int,
) -> Check:
    rule, attacks = registered.rule, registered.attacks
    lead = attacks[0] if attacks else None
    lead = lead if rule.lead is None else rule.lead(forest)
    check = Check(
        name=rule.name,
        threshold=threshold,
        measured=None,
        status="skipped",
        title=rule.title,
        bound=rule.asked(threshold),
        attack=lead,
        share=rule.share,
        among=rule.among,
        tells_of=rule.tells_of,
        step=rule.step,
    )
    findings = [one for i in attacks if isinstance(one := found.get(i), Finding)]
    if rule.wider is not None and (title := rule.wider(findings)):
        check = replace(check, title=title)
    if lead is not None and not isinstance(found.get(lead), Finding):
        needless = None if rule.needless is None else rule.needless(forest)
        if needless is not None and not findings:
            return replace(check, measured=0.0, status="not-applicable", reason=needless)
        if needless is None:
            first = found.get(lead)
            reason = first.reason if isinstance(first, Skipped) else f"{lead} was not run"
            return replace(check, reason=reason)
    of_person = rule.of_person if records_each > 1 else None
    measured = of_person(forest, records_each) if of_person else rule.measure(findings, forest)
    if measured is None:
        missing = rule.missing(forest) if callable(rule.missing) else rule.missing
        return replace(check, reason=missing or "the finding does not tell")
    known = math.isfinite(measured)
    unseen = [part for finding in findings for part in finding.unseen]
    unsure = None if rule.unsure is None else rule.unsure(findings, forest)
    if rule.holds(measured, threshold):
        if unseen:
            return replace(check, reason=f"not everything could be looked at: {unseen[0]}")
        if unsure is not None:
            return replace(check, reason=unsure)
        if rule.perhaps is not None:
            at_most, why = rule.perhaps(findings, forest)
            if not rule.holds(at_most, threshold):
                return replace(check, reason=why)
    return replace(
        check,
        measured=measured if known else None,
        shown=f"{'at least ' if unsure else ''}{rule.say(findings, measured, threshold)}",
        status="pass" if rule.holds(measured, threshold) else "fail",
        reason=None if known or rule.unbounded is None else rule.unbounded(forest),
    )
