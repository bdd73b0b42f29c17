"""What a policy says of findings: pass, fail or review."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from treeaudit.errors import PolicyError, near
from treeaudit.findings.checks import Registered
from treeaudit.findings.findings import Check, Finding, Skipped, Verdict
from treeaudit.findings.policy import Policy
from treeaudit.model.forest import Forest
from treeaudit.model.words import in_digits

_Results = Sequence[Finding | Skipped]


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
    results: _Results,
    forest: Forest,
    known: Mapping[str, Registered],
    records_each: int = 1,
) -> tuple[Check, ...]:
    """Hold findings against a policy. A check whose attack was skipped is skipped too.

    ``records_each`` is the most records of one person: a learner counts records, what is
    to be done is told for it, and what protects a record protects a person less.
    """
    found = {result.id: result for result in results}
    return tuple(
        # A condition that is required has to be met: true is 1.
        _check(known[name], policy, value + 0, found, forest, records_each)
        for name, value in policy.values.items()
    )


def verdict_of(checks: Sequence[Check]) -> Verdict:
    """Return ``fail`` if a check fails that no baseline accepts, ``review`` if one was skipped.

    Examples
    --------
    >>> verdict_of(())
    'pass'
    """
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
    ran = [found[i] for i in attacks if isinstance(found.get(i), Finding)]
    findings = [finding for finding in ran if isinstance(finding, Finding)]
    if rule.wider is not None and (title := rule.wider(findings)):
        check = replace(check, title=title)
    if lead is not None and not isinstance(found.get(lead), Finding):
        needless = None if rule.needless is None else rule.needless(forest)
        if needless is not None and not findings:
            return replace(check, measured=0.0, status="pass", shown="0", reason=needless)
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
    if rule.holds(measured, threshold):
        if unseen:
            return replace(check, reason=f"not everything could be looked at: {unseen[0]}")
        if rule.unsure is not None and (unsure := rule.unsure(findings, forest)) is not None:
            return replace(check, reason=unsure)
        if rule.perhaps is not None:
            at_most, why = rule.perhaps(findings, forest)
            if not rule.holds(at_most, threshold):
                return replace(check, reason=why)
    return replace(
        check,
        measured=measured if known else None,
        shown=rule.say(findings, measured, threshold),
        status="pass" if rule.holds(measured, threshold) else "fail",
        reason=None if known or rule.unbounded is None else rule.unbounded(forest),
    )
