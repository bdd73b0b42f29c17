"""The commands that a report prints: each can be run as it stands.

A page is passed on, and does not tell where on a machine its files were: absolute
paths are told from the deepest folder that holds all files of the audit, and all
commands of a page run there.
"""

from pathlib import Path

from treeaudit.findings.report import Report
from treeaudit.writers import suffixes_of

__all__ = ["defend_command", "place_to_repeat", "reconstruct_command", "repeat_command"]

_LOADING = ("select", "max_bytes")


def repeat_command(report: Report) -> str:
    """Return what repeats the audit."""
    return report.request.repeat(folders=False)


def place_to_repeat(report: Report) -> str:
    """Return where that can be run, if an absolute path was cut; else nothing."""
    whole = report.request.repeat()
    return "" if whole == repeat_command(report) else "Run it in the folder that holds these files."


def reconstruct_command(report: Report) -> str:
    """Return what writes the whole table."""
    line = report.request.command("reconstruct", _LOADING, folders=False)
    if line is not None:
        return f"{line} -o table.csv"
    call = report.request.call("reconstruct", _LOADING, folders=False)
    return f"{call}.to_frame().to_csv('table.csv')"


def defend_command(report: Report, *, folders: bool = False) -> str:
    """Return what repairs the model for the policy; with ``folders``, by whole paths."""
    request, source = report.request, report.forest.source
    options = _LOADING if request.policy == "default" else (*_LOADING, "policy")
    suffix = Path(source.path).suffix.lower() if source.path is not None else ".pkl"
    suffix = suffix if suffix in suffixes_of(report.forest) else ".json"
    name = f"safer{suffix}"
    if source.path is not None and Path(source.path).name == name:
        name = f"safer-2{suffix}"
    line = request.command("defend", options, folders=folders)
    if line is not None:
        return f"{line} -o {name}"
    return f"treeaudit.save({request.call('defend', options, folders=folders)}, {name!r})"
