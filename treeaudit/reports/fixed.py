"""The repair that was tried, in a sentence, and the command that makes it."""

import shlex
from pathlib import Path

from treeaudit.report import Report
from treeaudit.reports.masking import Numbers
from treeaudit.reports.plain_text import plain
from treeaudit.writers import suffixes_of

__all__ = ["defend_command", "fix_sentence"]


def defend_command(report: Report, *, folder: bool = False) -> str:
    """Return the command that repairs the model for the policy of the report.

    With ``folder`` it can be run where the model was named; a report that is
    passed on does not tell where the file was.
    """
    path = report.forest.source.path
    place = "MODEL" if path is None else str(path) if folder else Path(path).name
    model = shlex.quote(plain(place, 1000 if folder else 120))
    suffix = Path(path).suffix.lower() if path is not None else ".pkl"
    suffix = suffix if suffix in suffixes_of(report.forest) else ".json"
    name = plain(report.policy.name, 80)
    policy = "" if name == "default" else f" --policy {shlex.quote(name)}"
    return f"treeaudit defend {model}{policy} -o safer{suffix}"


def fix_sentence(report: Report, numbers: Numbers) -> str:
    """Return what was done, whether it passes and what it costs; nothing where none was tried."""
    fix = report.fix
    if fix is None:
        return ""
    done = " and ".join(fix.steps)
    if fix.passed:
        text = f"tried: {done}. This passes every check"
    else:
        missed = "" if numbers.safe else f" ({'; '.join(fix.misses)})"
        text = f"tried, and not enough: {done}{missed}"
    costs = [f"{fix.leaves[0]:,} → {fix.leaves[1]:,} leaves"]
    if fix.unseen is not None:
        before, after = (_share(one.value, numbers) for one in fix.unseen)
        costs.append(
            f"right for {before} → {after} of {numbers.count(fix.unseen[0].n)} unseen people"
        )
    elif fix.right[0] is not None and fix.right[1] is not None:
        before, after = (_share(one, numbers) for one in fix.right if one is not None)
        costs.append(f"right for {before} → {after} of the training people, by its own counts")
    return f"{text}: {'; '.join(costs)}."


def _share(share: float, numbers: Numbers) -> str:
    return f"about {share:.0%}" if numbers.safe else f"{share:.2%}"
