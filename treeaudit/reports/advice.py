"""What to do next: the steps that follow from a report, the surest first."""

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from treeaudit.attacks import all_checks
from treeaudit.findings.findings import Skipped
from treeaudit.findings.policy import BUILT_IN, fails_for_good, judge, verdict_of
from treeaudit.findings.report import Report, view_of
from treeaudit.findings.request import Request
from treeaudit.model.words import in_percent, number_of
from treeaudit.reports.plain_text import plain
from treeaudit.writers import repaired_suffix


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something to do next: what it brings, and the command that does it, if one does."""

    text: str
    command: str = ""


def fix_sentence(report: Report) -> str:
    """Return what was tried, whether it passes and what it costs; empty if nothing helped."""
    fix = report.fix
    if fix is None or not fix.works:
        return ""
    done = f"tried: {', then '.join(fix.steps)}"
    if fix.passed:
        return f"{done}. Passes every check{_price(report)}"
    left = number_of(len(fix.misses), "check", "checks")
    return f"{done}. No check fails then, {left} could not be run{_price(report)}"


def _price(report: Report) -> str:
    fix = report.fix
    if fix is None or fix.by == "release":
        return "; no leaf changes."
    costs = [f"{fix.leaves[0]:,} → {fix.leaves[1]:,} leaves"]
    if fix.unseen is not None:
        before, after = (in_percent(one.value, 2) for one in fix.unseen)
        costs.append(
            f"right for {before} → {after} of {fix.unseen[0].n:,} unseen people, who also chose it"
        )
        return f": {'; '.join(costs)}."
    if fix.right[0] is not None and fix.right[1] is not None:
        before, after = (in_percent(one, 2) for one in fix.right if one is not None)
        costs.append(_right(report, f"{before} → {after}"))
    return f": {'; '.join(costs)}; on unseen people it is unknown (--test)."


def _right(report: Report, shares: str) -> str:
    """Say for whom what is right: what counts of one tree tell is not what all trees answer."""
    if report.fix is not None and report.fix.answered:
        return f"right for {shares} of its own people"
    forest = report.forest
    whom = "weight" if forest.counts_are == "weighted" else "people"
    if forest.records_are == "bootstrap":
        whom = "draws"
    if forest.n_trees > 1:
        return f"each tree alone is right for {shares} of its own {whom}"
    return f"right for {shares} of its own {whom}"


_LOADING = ("select", "max_bytes")
_PERSONS = ("train", "target", "person", "rows_per_person", "repeats")


def repeat_command(report: Report) -> str:
    """Return what repeats the audit."""
    return report.request.repeat(folders=False)


def place_to_repeat(report: Report) -> str:
    """Return where that can be run, if an absolute path was cut; else nothing."""
    whole = report.request.repeat()
    return "" if whole == repeat_command(report) else "Run it in the folder that holds these files."


def _of_one(report: Report) -> Request:
    """Return the request with the model chosen, where the file holds several."""
    name = report.forest.source.inside or "the file itself"
    return replace(report.request, select=name) if report.several else report.request


def reconstruct_command(report: Report) -> str:
    """Return what writes the whole table."""
    request = _of_one(report)
    line = request.command("reconstruct", _LOADING, folders=False)
    if line is not None:
        return f"{line} -o table.csv"
    call = request.call("reconstruct", _LOADING, folders=False)
    return f"{call}.to_frame().to_csv('table.csv')"


def next_command(report: Report, *, folders: bool = False) -> str:
    """Return what writes a better file, as it was tried; with ``folders``, by whole paths.

    Nothing where what was tried was not seen to work, or no repair can; the search for a
    repair of all trees together where that was left out, since it takes long.
    """
    fix = report.fix
    if fails_for_good(report.checks):
        return ""
    if is_search(report):
        return defend_command(report, folders=folders)
    untold = report.request.beside_repairs
    if report.unrepaired or (untold if fix is None else not fix.works):
        return ""
    if fix is None and report.verdict == "review":
        return ""  # nothing failed
    if fix is None or fix.by == "defend":
        return defend_command(report, folders=folders)
    return _writing(report, "release", "clean", fix.suffix, folders=folders)


def defend_command(report: Report, *, folders: bool = False) -> str:
    """Return what repairs the model for the policy; with ``folders``, by whole paths."""
    return _writing(report, "defend", "safer", repaired_suffix(report.forest), folders=folders)


def _release_command(report: Report, *, folders: bool = False) -> str:
    """Return what writes the model again, and nothing else."""
    return _writing(report, "release", "clean", repaired_suffix(report.forest), folders=folders)


def is_search(report: Report) -> bool:
    """Tell whether a repair of all trees together was left to whoever asks for it."""
    many = report.forest.n_trees > 1 and "train" in report.people
    return report.verdict == "fail" and report.fix is None and many


def _writing(report: Report, command: str, stem: str, suffix: str, *, folders: bool) -> str:
    """Return the line that writes a file of this name, which is not that of the model."""
    request, path = _of_one(report), report.forest.source.path
    if report.several:
        stem = "-".join((stem, *re.findall(r"\w+", report.forest.source.inside or "")))
    options = _LOADING if request.policy == "default" else (*_LOADING, "policy")
    if report.unit.counts_persons:
        options = (*options, *_PERSONS)
    elif command == "defend" and (is_search(report) or (report.fix and report.fix.people)):
        options = (*options, "train", "test", "target")
    taken = path is not None and Path(path).name == f"{stem}{suffix}"
    name = f"{stem}-2{suffix}" if taken else f"{stem}{suffix}"
    line = request.command(command, options, folders=folders)
    if line is not None:
        return f"{line} -o {name}"
    if command == "release":
        options = _LOADING
    return f"treeaudit.save({request.call(command, options, folders=folders)}, {name!r})"


_EXAMPLE = "treeaudit release model.pkl -o clean.pkl"
_SEARCH = "searches for fewer trees and larger leaves that pass together; takes minutes, not tried"


def acceptance(report: Report) -> str:
    """Return who accepts what fails, when, until when and why; nothing without a baseline."""
    if report.baseline is None:
        return ""
    by, on, until, why = (plain(report.baseline[k], 200) for k in ("by", "on", "until", "reason"))
    if report.baseline["holds"]:
        return f"accepted by {by} until {until} (on {on}: {why})"
    return f"the acceptance by {by} ended on {until} and counts no more"


def verdict_line(report: Report) -> str:
    """Return how many checks of which policy passed, failed or were skipped.

    The verdict itself is not repeated.
    """
    name = f"policy {plain(report.policy.title, 200)}"
    if not report.checks:
        return f"{name} makes no checks: this is no pass"
    count = Counter("accepted" if check.accepted else check.status for check in report.checks)
    total = len(report.checks) - count["not-applicable"]
    checks = "check" if total == 1 else "checks"
    beside = f", {count['skipped']} not run" if count["skipped"] else ""
    if needless := count["not-applicable"]:
        beside += f", {needless} {'does' if needless == 1 else 'do'} not apply"
    old = "" if report.baseline is None else plain(report.baseline["name"], 120)
    if count["untold"]:
        # How many of these failed would tell of too few people.
        failed = count["fail"] + count["accepted"]
        text = f"{failed or 'some'} of {total} {checks} of {name} failed"
        text += f", no worse than in {old}" if report.verdict == "accepted" else ""
        text += beside
        return f"{text}; of {count['untold']} it is not told, they may be about too few people"
    if count["fail"]:
        text = f"{count['fail']} of {total} {checks} of {name} failed"
        text += f", {count['accepted']} accepted by {old}" if count["accepted"] else ""
        ended = report.baseline is not None and not report.baseline["holds"]
        text += f"; {acceptance(report)}" if ended else ""
        return text + beside
    if count["skipped"]:
        beside = beside.removeprefix(f", {count['skipped']} not run")
        return f"{count['skipped']} of {total} {checks} of {name} could not be run{beside}"
    if count["accepted"]:
        return (
            f"{count['accepted']} of {total} {checks} of {name} failed, no worse than in {old}, "
            f"{acceptance(report)}; the others passed{beside}"
        )
    if not total:
        return f"no check of {name} applies to a model of this kind"
    return f"{'the check' if total == 1 else f'all {total} checks'} of {name} passed{beside}"


def next_steps(report: Report, *, folders: bool = False) -> list[Step]:
    """Return what to do now, the surest first; ``folders`` as in `next_command`."""
    fix, steps = report.fix, []
    command = next_command(report, folders=folders) if report.verdict != "pass" or fix else ""
    if command and is_search(report):
        steps.append(Step(command=command, text=_SEARCH))
    elif command:
        untried = "searches for a repair that passes the policy; not tried here"
        steps.append(Step(command=command, text=fix_sentence(report) or untried))
    if report.baseline is not None and not report.baseline["holds"]:
        text = "whoever still answers for it accepts the report again"
        terms = "--by NAME --until YYYY-MM-DD --reason WHY -o accepted.json"
        steps.append(Step(text=text, command=f"treeaudit accept report.json {terms}"))
    if report.verdict == "review" and math.isfinite(report.epsilon):
        steps.append(Step(text=_under_private(report)))
    else:
        steps += [*_with_people(report, folders), *_by_outsiders(report, folders)]
    steps += [Step(text=text) for text in _remedies(report)]
    if report.verdict == "review" and not steps:
        open_ = [c.title.lower() for c in report.checks if c.status == "skipped"]
        more = f" and {len(open_) - 3} more" if len(open_) > 3 else ""
        text = f"a person must decide on what could not be run: {', '.join(open_[:3])}{more}"
        steps.append(Step(text=text))
    return steps


def _remedies(report: Report) -> list[str]:
    """Return what is known to work against what failed, and was not tried."""
    if report.fix is not None and report.fix.passed:
        return []
    failed = [c for c in report.checks if c.status == "fail" and not c.accepted]
    texts = [f"not tried: {_step(c.step, report)}" for c in failed if c.step]
    against = {c.attack for c in failed if not c.step}
    for finding in report.findings:
        page = report.pages.get(finding.id)
        if page is not None and finding.id in against:
            remedy = page.words.remedy.replace(_EXAMPLE, _release_command(report))
            texts.append(f"not tried, against {finding.title.lower()}: {remedy}")
        if finding.status == "found":
            texts.append(view_of(report, finding).step)
    return list(dict.fromkeys(text for text in texts if text))


def _with_people(report: Report, folders: bool) -> list[Step]:
    """Return the command that runs with people what the file alone does not decide."""
    open_ = {check.attack: check.reason for check in report.checks if check.status == "skipped"}
    asks = {option for one in report.results if isinstance(one, Skipped) and one.id in open_
            for option in one.asks}  # fmt: skip
    asks |= {one for one in ("--train", "--test") if one in str(open_)}
    missing = [one for one in ("--train", "--test") if one in asks and one[2:] not in report.people]
    if report.verdict == "pass" or not missing:
        return []
    # Names to put others in place of, which lie in no folder of this machine.
    option, whom = " --test others.csv", "people who were not in the training data"
    request = replace(report.request, test="others.csv")
    if "--train" in missing:
        option, whom = " --train people.csv", "the training people"
        request = replace(report.request, train="people.csv")
    if request.target is None:
        option, request = f"{option} --target LABEL", replace(request, target="LABEL")
    line = report.request.command(folders=folders)
    line = request.call(folders=folders) if line is None else f"{line}{option}"
    text = f"runs the checks that need {whom}"
    return [Step(command=line, text=text)]


def _by_outsiders(report: Report, folders: bool) -> list[Step]:
    """Return what a weaker attacker, who knows one target, makes of the file: it was tried."""
    policy = BUILT_IN["outsider"]
    if report.verdict != "review" or report.policy.name != "default":
        return []
    checks = judge(policy, report.results, report.forest, all_checks(), report.unit.most)
    if verdict_of(checks) != "pass":
        return []
    text = (
        f"passes: it holds against somebody {policy.attacker}, and leaves open what is learnt by "
        "somebody who knows the features of everybody (TA106)"
    )
    request = replace(report.request, policy="outsider")
    return [Step(command=request.repeat(folders=folders), text=text)]


def _step(step: str, report: Report) -> str:
    """Return a step with the command that it names."""
    return step.replace("{release}", _release_command(report))


def _under_private(report: Report) -> str:
    """Say what a policy for models of noise makes of this one: it was tried."""
    policy = BUILT_IN["private"]
    checks = judge(policy, report.results, report.forest, all_checks(), report.unit.most)
    claim = report.bound.replace("epsilon", "epsilon of")
    bound = f"by its own ledger its counts are noise, and its {claim} bounds what it tells"
    if verdict_of(checks) == "pass":
        return f"--policy private was tried and passes: {bound} of anybody, a claim of the file"
    open_ = ", ".join(c.title.lower() for c in checks if not c.met)
    return f"--policy private was tried too and does not pass: {open_}"
