"""The commands that a report prints: each can be run as it stands.

A page is passed on, and does not tell where on a machine its files were: absolute
paths are told from the deepest folder that holds all files of the audit, and all
commands of a page run there.
"""

from dataclasses import replace
from pathlib import Path

from treeaudit.findings.judging import fails_for_good
from treeaudit.findings.report import Report
from treeaudit.findings.request import Request
from treeaudit.writers import repaired_suffix

__all__ = [
    "defend_command",
    "is_search",
    "next_command",
    "place_to_repeat",
    "reconstruct_command",
    "release_command",
    "repeat_command",
]

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
    if fix is None or fix.by == "defend":
        return defend_command(report, folders=folders)
    return _writing(report, "release", "clean", fix.suffix, folders=folders)


def defend_command(report: Report, *, folders: bool = False) -> str:
    """Return what repairs the model for the policy; with ``folders``, by whole paths."""
    return _writing(report, "defend", "safer", repaired_suffix(report.forest), folders=folders)


def release_command(report: Report, *, folders: bool = False) -> str:
    """Return what writes the model again, and nothing else."""
    return _writing(report, "release", "clean", repaired_suffix(report.forest), folders=folders)


def is_search(report: Report) -> bool:
    """Tell whether a repair of all trees together was left to whoever asks for it."""
    many = report.forest.n_trees > 1 and "train" in report.people
    return report.verdict == "fail" and report.fix is None and many


def _writing(report: Report, command: str, stem: str, suffix: str, *, folders: bool) -> str:
    """Return the line that writes a file of this name, which is not that of the model."""
    request, path = _of_one(report), report.forest.source.path
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
