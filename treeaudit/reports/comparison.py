"""Models side by side: as JSON, and as a table for the terminal."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from treeaudit.comparison.compare import Choice, ComparedModel, Comparison, common_measures
from treeaudit.comparison.measures import MEASURES
from treeaudit.files import check_free, suffix_of, write_file
from treeaudit.findings.findings import Check
from treeaudit.model.words import in_percent
from treeaudit.reports.plain_text import plain, printed
from treeaudit.reports.to_json import HEAD, as_json, judged_by
from treeaudit.reports.wording import VERDICT
from treeaudit.stats import Estimate

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


def cells(comparison: Comparison, column: str) -> list[str]:
    """Return one column of the comparison as texts; a dash where nothing is known."""
    return [_cell(model, column) for model in comparison.models]


def _cell(model: ComparedModel, column: str) -> str:
    useful, leaks = model.useful, model.leakage
    values: dict[str, str | None] = {
        "leaves": f"{model.report.table.n_leaves:,}",
        "smallest": _smallest(model),
        "alone": " ".join(claimed(model, "alone")).strip(),
        "certain": " ".join(claimed(model, "certain")).strip(),
        "member AUC": None if leaks.auc is None else f"{leaks.auc.value:.3f}",
        "hidden": None if leaks.attribute is None else _points(leaks.attribute),
        "certified": None if leaks.certified is None else in_percent(leaks.certified.value),
        "useful": None if useful is None else goodness(model, useful.value),
        "epsilon": None if model.epsilon is None else in_letters(model).removeprefix("ε "),
    }
    return values[column] or "–"


def in_letters(model: ComparedModel) -> str:
    """Return the epsilon of a model, and its delta where there is one; empty without."""
    if model.epsilon is None:
        return ""
    return f"ε {model.epsilon:g}" + (f", δ {model.delta:g}" if model.delta else "")


def _smallest(model: ComparedModel) -> str | None:
    if model.claims.smallest is None:
        return None
    return "noise" if model.epsilon is not None else f"{model.claims.smallest:,}"


def _points(share: Estimate) -> str:
    return f"{100 * share.value:+.1f}"


def interval(model: ComparedModel, column: str) -> str:
    """Return the 95 % interval of a measured number; nothing where there is none."""
    leaks, useful = model.leakage, model.useful
    if column == "member AUC" and leaks.auc is not None:
        return f"{leaks.auc.low:.3f}–{leaks.auc.high:.3f}"
    if column == "hidden" and leaks.attribute is not None:
        return f"{100 * leaks.attribute.low:+.1f} to {100 * leaks.attribute.high:+.1f}"
    if column == "useful" and useful is not None:
        return f"{goodness(model, useful.low)}–{goodness(model, useful.high)}"
    return ""


def within(model: ComparedModel, column: str) -> str:
    """Return the same in few letters, for the terminal: the larger half of the interval."""
    leaks, scale, digits = model.leakage, 1.0, 3
    found = {"member AUC": leaks.auc, "hidden": leaks.attribute, "useful": model.useful}.get(column)
    if found is None:
        return ""
    if column == "hidden" or (column == "useful" and model.utility is not None):
        scale, digits = 100.0, 1
    return f"±{scale * max(found.high - found.value, found.value - found.low):.{digits}f}"


def goodness(model: ComparedModel, value: float) -> str:
    """Return accuracy in percent, and R² as it is."""
    return f"{value:.3f}" if model.utility is None else in_percent(value, 2)


def verdict(model: ComparedModel) -> tuple[str, str]:
    """Return the verdict on a model in one word, and by what where it is not the policy."""
    if not model.report.checks:
        return "observed", ""
    return model.verdict, "by policy private" if model.ledger else ""


def judged(model: ComparedModel) -> tuple[Check, ...]:
    """Return the checks that the verdict on a model rests on."""
    return model.ledger or model.report.checks


def claimed(model: ComparedModel, what: Literal["alone", "certain"]) -> tuple[str, str]:
    """Return a claim, and what of it is true or to be expected to be, in words."""
    claims = model.claims
    if not claims.told:
        return "", ""
    if model.epsilon is not None:
        return "noise", ""
    number: int = getattr(claims, what)
    true: int | None = getattr(claims, f"{what}_true")
    expected: float | None = getattr(claims, f"{what}_expected")
    if true is not None and true > number:
        return f"{number:,}", f"({true:,} in truth)"
    if true is not None and true != number:
        return f"{number:,}", f"({true:,} true)"
    if true is None and expected is not None and number:
        return f"{number:,}", f"({expected:,.1f} expected true)"
    return f"{number:,}", ""


def advice(comparison: Comparison) -> list[str]:
    """Return which model to take, and in further sentences what that weighs."""
    choice, name = comparison.choice, plain(comparison.policy.title, 200)
    if not comparison.policy.values:
        return [f"Policy {name} makes no checks: choose by what the columns say."]
    if choice is None:
        n = len(comparison.models)
        text = f"{'No model' if n == 1 else f'None of the {n} models'} passes policy {name}"
        return [f"{text}: repair one with treeaudit defend, or train with differential privacy."]
    if choice.best.useful is None:
        passing = [one for one in comparison.models if one.verdict == "pass"]
        by: dict[str, list[ComparedModel]] = {name: [], "private": []}
        for one in passing:
            by[_policy_of(comparison, one)].append(one)
        return [
            f"Passing policy {policy}: {', '.join(map(_called, models))}."
            for policy, models in by.items()
            if models
        ]
    return [_take(comparison, choice, name), *_beside(comparison, choice), _weighed(comparison)]


def _take(comparison: Comparison, choice: Choice, policy: str) -> str:
    best, top = choice.best, choice.top
    text = f"Take {_called(best)}: "
    if best is top:
        reached = [m.useful.value for m in comparison.models if m.verdict == "pass" and m.useful]
        most = "as accurate as any" if reached.count(max(reached)) > 1 else "the most accurate"
        text += f"{most} of those that pass policy {policy}"
        return text + (
            " or are bounded by their epsilon, by their own ledgers." if best.ledger else "."
        )
    less = "gives away less of what was measured"
    if best.epsilon is not None and top.epsilon is None:
        bound = f"is bounded by {best.report.bound}"
        less = f"by its own ledger, whatever it gives away of anybody {bound}"
    return f"{text}it cannot be told from {_called(top)} in accuracy, and {less}."


def _beside(comparison: Comparison, choice: Choice) -> list[str]:
    """Return what speaks for models that are not taken."""
    said = []
    for one in choice.better:
        why = "fails" if one.verdict == "fail" else "was not fully checked by"
        said.append(
            f"{_called(one)} is no less accurate and gave away no more of what was measured, but "
            f"{why} policy {_policy_of(comparison, one)}."
        )
    measured = [one for one in comparison.models if one.useful is not None]
    top = max(measured, key=lambda one: one.useful.value if one.useful else 0.0)
    if top is not choice.best and top not in choice.better and top.useful and choice.best.useful:
        cost = top.useful.value - choice.best.useful.value
        points = (
            f"{cost:.3f} of R²" if top.utility is None else f"{100 * cost:.2f} points of accuracy"
        )
        said.append(f"That costs {points} against {_called(top)}.")
    return said


def _policy_of(comparison: Comparison, model: ComparedModel) -> str:
    return "private" if model.ledger else plain(comparison.policy.title, 200)


def _weighed(comparison: Comparison) -> str:
    shared = common_measures([one for one in comparison.models if one.useful is not None])
    if shared:
        what = ", ".join(MEASURES[measure] for measure in shared)
        return f"Weighed: accuracy against what attacks found beyond the guess ({what})."
    return "Weighed: accuracy alone; what attacks find was not measured (--train and --test)."


def _called(model: ComparedModel) -> str:
    return plain(model.name, 60)
