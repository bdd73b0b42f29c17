"""The copy that may leave the room: a statement of its own, not the report with gaps.

It holds what is listed here and nothing else: which file, which policy, what became of
each check, and of shares of people a rounded one. A number that somebody adds to the
report does not get into it. Nobody in a group of fewer than k people can be had back,
whatever is subtracted from whatever: people are told in steps of twice k, a share in
steps that stand for twice k people or more, each by itself and none computed from
another; numbers of leaves, the smallest group, rules, labels, reasons and severities are
not told. Where a check failed, what became of the others is told where that is about k
people or more, or about none: that one passes and another fails tells between which two
bounds a number lies. A verdict tells of the number that decides it: what asks for one such
number alone is refused, and two statements on one model by two policies tell more than one
does. When the audit was made is told, and by whom where the command names somebody (``--by``):
that person is none of the training data. The hashes of tables of people are not: whoever knows
all of a small table but one record tries what that may be until the hash is right.
`tests.reports.test_release_safe` attacks it with a linear program and
by trying every small table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from treeaudit.errors import PolicyError
from treeaudit.findings.findings import Check, Finding
from treeaudit.findings.report import Report
from treeaudit.model.words import number_of
from treeaudit.reports.advice import repeat_command, verdict_line
from treeaudit.reports.annex.attacks import coverage, evidence_of
from treeaudit.reports.annex.questions import QUESTIONS
from treeaudit.reports.provenance import made, shown_name
from treeaudit.reports.to_json import HEAD, as_json
from treeaudit.reports.wording import VERDICT
from treeaudit.version import __version__

_STEPS = (0.05, 0.1, 0.2, 0.25, 0.5)
_FEWEST = 3
"""Of fewer than three people there is no number that could be another."""


_ANNEX_NOTE = (
    "What the attacks found, the worst person, the record of the check and the ledger are in the "
    "report that stays inside."
)


def _fewest(report: Report) -> int:
    """Return how many people may be told of."""
    return max(_FEWEST, report.policy.k)


def that_may_leave(report: Report) -> Report:
    """Return a report of whose checks nothing is told that is about fewer than ``k`` people."""
    k, told = _fewest(report), report.table.n_people
    surely = 0 if told is None else about(told, k) - k
    if _tells_by_verdict(report.checks, k):
        only = ", ".join(check.name for check in report.checks)
        raise PolicyError(
            f"policy {report.policy.name} asks for {only} alone, so that its verdict would tell "
            "whether there is somebody: add another check, such as max-certain-share, or leave "
            "--release-safe away"
        )
    if all(check.status != "fail" for check in report.checks):
        return report
    large = any(one.name == "min-leaf" and _is_large(one, k) for one in report.checks)

    def may_be_told(check: Check) -> bool:
        if check.status in ("skipped", "not-applicable"):
            return True
        match check.tells_of:
            case "file":
                return True
            case "smallest group":
                return check.threshold >= k
            case "small groups" if large or not check.share:
                return large
            case "everybody" | "small groups":
                return check.threshold * surely >= k
        return False

    return replace(
        report, checks=tuple(one if may_be_told(one) else _untold(one) for one in report.checks)
    )


def _tells_by_verdict(checks: Sequence[Check], k: int) -> bool:
    """Tell whether one number of so few decides, whatever it is: the same for every model."""
    few = [check for check in checks if check.tells_of in ("people", "small groups")]
    few += [c for c in checks if c.tells_of == "smallest group" and c.threshold < k]
    return 0 < len(few) == len(checks) and len({check.attack for check in few}) == 1


def _is_large(check: Check, k: int) -> bool:
    return check.status == "pass" and check.threshold >= k


def _untold(check: Check) -> Check:
    return replace(check, status="untold", accepted=False, measured=None, shown="", reason=None)


def about(people: int, k: int) -> int:
    """Return a number of people as it is told: the nearest multiple of twice ``k``."""
    return (people + k) // (2 * k) * 2 * k


def share_of(share: float, people: int, k: int) -> tuple[float, float] | None:
    """Return a share as it is told and its step; None where it would tell of too few."""
    # There may be k fewer people than are told.
    step = next((step for step in _STEPS if step * (people - k) >= 2 * k), None)
    return None if step is None else (round(round(share / step) * step, 2), step)


def statement(report: Report) -> dict[str, Any]:
    """Return the statement as plain data: all that the other forms say."""
    report = that_may_leave(report)
    source, k = report.forest.source, _fewest(report)
    told = report.table.n_people
    people = None if told is None else about(told, k)
    return {
        **HEAD,
        "release_safe": True,
        "k": k,
        "model": {
            "name": shown_name(report),
            "sha256": source.sha256,
            "format": source.format,
            "estimator": source.estimator,
            "library_version": source.library_version,
            "n_trees": report.forest.n_trees,
            "n_features": len(report.forest.schema.features),
            "people_about": people,
        },
        "verdict": report.verdict,
        "record": {"at": report.record.time, "by": report.record.by},
        "policy": {
            "name": report.policy.name,
            "sha256": report.policy.sha256,
            "values": dict(report.policy.values),
        },
        "checks": [_check(check, people, k) for check in report.checks],
        "findings": [
            # That something was found says that there is somebody.
            {"id": one.id, "title": one.title, "run": isinstance(one, Finding)}
            for one in report.results
        ],
        **({"annex": _annex(report)} if report.request.annex else {}),
    }


def _annex(report: Report) -> dict[str, Any]:
    """Return which questions of the annex attacks were run for, and nothing that they found."""
    attacks = tuple(evidence_of(report))
    answers = [
        {"source": one.source, "name": one.name, "status": coverage(one, attacks)}
        for one in QUESTIONS
    ]
    return {"note": _ANNEX_NOTE, "answers": answers, "worst_person": None}


def _check(check: Check, people: int | None, k: int) -> dict[str, Any]:
    told = None
    run = check.status != "not-applicable" and check.attack is not None
    if run and check.share and check.measured is not None and people:
        told = share_of(min(1.0, float(check.measured)), people, k)
    return {
        "name": check.name,
        "title": check.title,
        "bound": check.bound,
        "status": "accepted" if check.accepted else check.status,
        "share_about": None if told is None else told[0],
        "step": None if told is None else told[1],
    }


def released(report: Report, form: str) -> str:
    """Return the statement as ``json`` or text."""
    page = page_of(report)
    said = page["said"]
    if form == "json":
        return as_json(said)
    lines = [f"treeaudit {__version__}  {said['model']['name']}", " · ".join(page["meta"])]
    lines += [f"SHA-256 {said['model']['sha256'] or 'none'}", f"made {page['made']}", ""]
    lines += [f"{page['pill']}  {page['line']}"]
    for check, shown in page["checks"]:
        measured = f": {shown}" if shown else ""
        lines.append(f"  {check['status']}  {check['title']}{measured} ({check['bound']})")
    lines += ["", *(f"  {run}  {one['id']} {one['title']}" for one, run in page["findings"])]
    if "annex" in said:
        lines += ["", "Annex", f"  {said['annex']['note']}"]
        lines += [f"  {a['status']}  {a['source']}: {a['name']}" for a in said["annex"]["answers"]]
    return "\n".join([*lines, "", page["rounding"], ""])


def verdict_word(report: Report) -> tuple[str, str]:
    """Return the verdict and its tone; how severe it is tells how many people there are."""
    word = report.verdict if report.checks else "observed"
    look = VERDICT[word]
    return f"{look.word} {word.upper()}".strip(), look.tone


def page_of(report: Report) -> dict[str, Any]:
    """Return what the template of the page is filled in with."""
    said, (word, tone) = statement(report), verdict_word(report)
    return {
        "said": said,
        "pill": word,
        "tone": tone,
        "line": verdict_line(that_may_leave(report)),
        "meta": _meta(said["model"]),
        "checks": [(one, _shown(one)) for one in said["checks"]],
        "findings": [(one, "run" if one["run"] else "not run") for one in said["findings"]],
        "rounding": (
            f"Release-safe copy: numbers of people are rounded to multiples of {2 * said['k']:,}, "
            f"shares to steps that stand for {2 * said['k']:,} people or more. Everything else "
            f"that could give a group of fewer than {said['k']:,} people back is left out."
        ),
        "command": Markup.escape(repeat_command(report)),
        "made": made(report),
        "version": __version__,
    }


def _meta(model: Mapping[str, Any]) -> list[str]:
    parts = [model["estimator"], number_of(model["n_trees"], "tree", "trees")]
    parts.append(number_of(model["n_features"], "feature", "features"))
    people = model["people_about"]
    return parts if people is None else [*parts, f"about {people:,} people"]


def measured(report: Report) -> dict[str, str]:
    """Return what is told of each check, by its name; empty where nothing is."""
    return {one["name"]: _shown(one) for one in statement(report)["checks"]}


def _shown(check: Mapping[str, Any]) -> str:
    return "" if check["share_about"] is None else f"about {check['share_about']:.0%}"
