"""Models side by side: as JSON, and as a table for the terminal."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeaudit.comparison.compare import Compared, Comparison
from treeaudit.output import write_file
from treeaudit.reports import suffix_of
from treeaudit.reports.comparison_cells import advice, cells
from treeaudit.reports.looks import VERDICT
from treeaudit.reports.plain_text import plain, printed
from treeaudit.reports.to_json import HEAD, as_json, asked

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["dumps", "in_notebook", "print_comparison", "save", "to_dict", "to_text"]


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as plain data, one entry per model."""
    return {
        **HEAD,
        **asked(comparison.policy, comparison.people),
        "models": [_model(model) for model in comparison.models],
    }


def _model(model: Compared) -> dict[str, Any]:
    forest, claims = model.report.forest, model.claims
    return {
        "name": model.name,
        "path": forest.source.path,
        "sha256": forest.source.sha256,
        "estimator": forest.source.estimator,
        "n_trees": forest.n_trees,
        "n_leaves": model.report.table.n_leaves,
        "epsilon": model.epsilon,
        "claims": {
            "told": claims.told,
            "smallest_leaf": claims.smallest,
            "alone": claims.alone,
            "alone_true": claims.alone_true,
            "certain": claims.certain,
            "certain_true": claims.certain_true,
            "alone_expected": claims.alone_expected,
            "certain_expected": claims.certain_expected,
        },
        "membership_auc": model.membership_auc,
        "utility": None if model.utility is None else asdict(model.utility),
        "verdict": model.report.verdict,
        "checks": [
            {"name": check.name, "status": check.status, "measured": check.measured}
            for check in model.report.checks
        ],
        "notes": list(model.notes),
    }


def dumps(comparison: Comparison) -> str:
    """Return the comparison as JSON text."""
    return as_json(to_dict(comparison))


def to_text(comparison: Comparison, width: int = 80) -> str:
    """Return the comparison for the terminal, without colours."""
    return printed(lambda console: print_comparison(comparison, console), width)


def print_comparison(comparison: Comparison, console: "Console") -> None:
    """Print one line per model, what could not be done, and which one to take."""
    from rich.text import Text

    wide = console.width >= _WIDE
    if not wide:
        for i, model in enumerate(comparison.models, start=1):
            console.print(Text(f"{i}  {plain(model.name, 60)}"), soft_wrap=True)
        console.print()
    console.print(_table(comparison, named=wide))
    console.print()
    for model in comparison.models:
        for note in model.notes:
            console.print(Text(f"{plain(model.name, 40)}: {plain(note, 300)}", style="dim"))
    console.print(Text(advice(comparison)))


def _table(comparison: Comparison, *, named: bool) -> "Table":
    from rich.table import Table
    from rich.text import Text

    columns = [(name, cells(comparison, name)) for name in _COLUMNS]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("model" if named else "", overflow="fold")
    shown = [(name, values) for name, values in columns if any(v != "–" for v in values)]
    for name, _ in shown:
        table.add_column(name, justify="right", no_wrap=name not in ("alone", "certain"))
    table.add_column("verdict", no_wrap=True)
    for i, model in enumerate(comparison.models):
        verdict = model.report.verdict if model.report.checks else "observed"
        table.add_row(
            Text(plain(model.name, 60) if named else str(i + 1)),
            *(values[i] for _, values in shown),
            Text(verdict.upper(), style=VERDICT[verdict].plain),
        )
    return table


_WIDE = 110
"""Columns below which the names of the models do not fit beside their numbers."""

_COLUMNS = ("leaves", "smallest", "alone", "certain", "member AUC", "accuracy", "epsilon")


def save(comparison: Comparison, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write the comparison in the format that the suffix of the path tells.

    Raises
    ------
    DataError
        If the suffix is unknown or the file exists already.
    """
    form = suffix_of(path)
    if form == "html":
        from treeaudit.reports.comparison_html import to_html

        return write_file(path, to_html(comparison), force=force, private=True)
    text = dumps(comparison) if form == "json" else to_text(comparison)
    return write_file(path, text, force=force, private=True)


def in_notebook(comparison: Comparison) -> str:
    """Return the page in a frame."""
    from treeaudit.reports.comparison_html import to_html
    from treeaudit.reports.notebook import framed

    return framed(to_html(comparison), 640)
