"""Models side by side: as JSON, and as a table for the terminal."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeaudit.comparison.compare import ComparedModel, Comparison
from treeaudit.files import check_free, suffix_of, write_file
from treeaudit.reports.comparison_cells import advice, cells, verdict, within
from treeaudit.reports.plain_text import plain, printed
from treeaudit.reports.to_json import HEAD, as_json, judged_by
from treeaudit.reports.wording import VERDICT

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as plain data, one entry per model."""
    return {
        **HEAD,
        **judged_by(comparison.policy, comparison.people),
        "best": None if comparison.best is None else comparison.best.name,
        "advice": " ".join(advice(comparison)),
        "models": [_model(model, comparison) for model in comparison.models],
    }


def _model(model: ComparedModel, comparison: Comparison) -> dict[str, Any]:
    forest, claims = model.report.forest, model.claims
    return {
        "name": model.name,
        "path": forest.source.path,
        "sha256": forest.source.sha256,
        "estimator": forest.source.estimator,
        "n_trees": forest.n_trees,
        "n_leaves": model.report.table.n_leaves,
        "epsilon": model.epsilon,
        "delta": None if model.epsilon is None else model.delta,
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
        "leakage": {name: asdict(one) for name, one in model.leakage.measured.items()},
        "utility": None if model.utility is None else asdict(model.utility),
        "r_squared": None if model.explained is None else asdict(model.explained),
        "verdict": model.verdict,
        "judged_by": "private" if model.ledger else comparison.policy.name,
        "checks": [
            {"name": check.name, "status": check.status, "measured": check.measured}
            for check in model.ledger or model.report.checks
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
        if model.epsilon is not None:
            bound = f"is bounded by {model.report.bound}"
            told = f"by its own ledger, whatever it gives away about anybody {bound}"
            console.print(Text(f"{plain(model.name, 40)}: {told}", style="dim"))
        for note in model.notes:
            console.print(Text(f"{plain(model.name, 40)}: {plain(note, 300)}", style="dim"))
    console.print(Text(" ".join(advice(comparison))))


def _table(comparison: Comparison, *, named: bool) -> "Table":
    from rich.table import Table
    from rich.text import Text

    columns = [(name, cells(comparison, name)) for name in _COLUMNS if named or name != "leaves"]
    heads = {"hidden": "hidden values", "useful": _GOOD[comparison.predicts]}
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("model" if named else "", overflow="fold")
    shown = [(name, values) for name, values in columns if any(v != "–" for v in values)]
    for name, _ in shown:
        table.add_column(heads.get(name, name), justify="right", no_wrap=name in _NARROW)
    table.add_column("verdict")
    for i, model in enumerate(comparison.models):
        word, by = verdict(model)
        table.add_row(
            Text(plain(model.name, 60) if named else str(i + 1)),
            *("\n".join(filter(None, (v[i], within(model, name)))) for name, v in shown),
            Text("\n".join(filter(None, (word.upper(), by))), style=VERDICT[word].plain),
        )
    return table


_FORMATS = ("html", "json", "txt")
_WIDE = 110
"""Columns below which the names of the models do not fit beside their numbers."""

_COLUMNS = (
    *("leaves", "smallest", "alone", "certain", "member AUC", "hidden", "certified"),
    *("useful", "epsilon"),
)
_NARROW = {"leaves", "smallest", "epsilon"}
_GOOD = {"labels": "accuracy", "numbers": "R²", "both": "accuracy or R²"}


def check_output(path: Path, *, force: bool) -> None:
    """Refuse a file that the comparison cannot be written to, before long work begins."""
    suffix_of(path, _FORMATS, "the comparison")
    check_free(path, force=force)


def save(comparison: Comparison, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write the comparison in the format that the suffix of the path tells."""
    form = suffix_of(path, _FORMATS, "the comparison")
    if form == "html":
        from treeaudit.reports.comparison_html import to_html

        return write_file(path, to_html(comparison), force=force, private=True)
    text = dumps(comparison) if form == "json" else to_text(comparison)
    return write_file(path, text, force=force, private=True)


def in_notebook(comparison: Comparison) -> str:
    """Return the page in a frame."""
    from treeaudit.reports.comparison_html import to_html
    from treeaudit.reports.html import framed

    return framed(to_html(comparison), 640)
