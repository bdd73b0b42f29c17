"""Models side by side as one HTML page, without a network and without JavaScript."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from markupsafe import Markup

from treeaudit.comparison.compare import ComparedModel, Comparison
from treeaudit.comparison.measures import MEASURES
from treeaudit.model.words import in_percent, number_of
from treeaudit.reports.charts import strip
from treeaudit.reports.comparison_cells import (
    advice,
    cells,
    claimed,
    in_letters,
    interval,
    judged,
    verdict,
)
from treeaudit.reports.html import environment
from treeaudit.reports.trade import Trade, picture
from treeaudit.reports.wording import LEVELS, percent
from treeaudit.version import __version__

__all__ = ["to_html"]


def to_html(comparison: Comparison) -> str:
    """Return the comparison as one HTML file.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from treeaudit import compare
    >>> x, y = load_iris(return_X_y=True)
    >>> page = to_html(compare(DecisionTreeClassifier().fit(x, y), names=["<tree>"]))
    >>> "&lt;tree&gt;" in page, "<tree>" in page
    (True, False)
    """
    best, advised = comparison.best, advice(comparison)
    tone = "skip" if not comparison.policy.values else "bad" if best is None else "ok"
    return (
        environment()
        .get_template("compare.html.j2")
        .render(
            version=__version__,
            comparison=comparison,
            tone=tone,
            pill=_pill(comparison),
            advice=advised[0],
            why=[*advised[1:], *_why(comparison)],
            levels=LEVELS,
            rows=_rows(comparison),
            measured={
                measure: any(measure in model.leakage.measured for model in comparison.models)
                for measure in MEASURES
            },
            good={"labels": "accuracy", "numbers": "R²", "both": "accuracy or R²"}[
                comparison.predicts
            ],
            private=any(model.epsilon is not None for model in comparison.models),
            chart=_picture(comparison),
            counted=any(model.claims.alone_true is not None for model in comparison.models),
        )
    )


def _pill(comparison: Comparison) -> str:
    if not comparison.policy.values:
        return "OBSERVED"
    passing = sum(model.verdict == "pass" for model in comparison.models)
    if not passing:
        return "✕ NONE PASSES"
    return f"✓ {passing} OF {len(comparison.models)} {'PASSES' if passing == 1 else 'PASS'}"


def _rows(comparison: Comparison) -> list[Mapping[str, object]]:
    names = ("leaves", "smallest", "member AUC", "hidden", "certified", "epsilon", "useful")
    columns = {name: cells(comparison, name) for name in names}
    return [
        {
            "number": i + 1,
            "name": model.name,
            "what": _what(model),
            "strip": _strip(model),
            "leaves": columns["leaves"][i],
            "smallest": columns["smallest"][i],
            "alone": _claim(model, "alone"),
            "certain": _claim(model, "certain"),
            "membership": (columns["member AUC"][i], interval(model, "member AUC")),
            "attribute": (columns["hidden"][i], interval(model, "hidden")),
            "certified": columns["certified"][i],
            "epsilon": (columns["epsilon"][i], _worth(model)),
            "accuracy": (columns["useful"][i], _good(model)),
            "verdict": verdict(model),
            "best": model is comparison.best,
            "notes": model.notes,
            "failed": [c.title.lower() for c in judged(model) if c.status == "fail"],
        }
        for i, model in enumerate(comparison.models)
    ]


def _what(model: ComparedModel) -> str:
    forest = model.report.forest
    trees = number_of(forest.n_trees, "tree", "trees")
    return f"{forest.source.estimator} · {trees}"


def _claim(model: ComparedModel, what: Literal["alone", "certain"]) -> tuple[str, str]:
    """Return a claim, and what of it is true, in words."""
    number, note = claimed(model, what)
    if not number:
        return "–", "not told"
    true = getattr(model.claims, f"{what}_true")
    if not note and true and model.epsilon is None:
        note = "all true"
    return number, note.strip("()")


def _worth(model: ComparedModel) -> str:
    """Say how sure an attacker can get at most who held something about a person for 50:50."""
    if model.epsilon is None:
        return ""
    most = f"50% → {percent(1 / (1 + math.exp(-model.epsilon)))} at most"
    return most + (f", but for a chance of {model.delta:g}" if model.delta else "")


def _good(model: ComparedModel) -> tuple[str, ...]:
    """Return the interval of what a model is good for, and how many get an answer."""
    notes = [interval(model, "useful")]
    if model.utility is not None and model.utility.coverage.value < 1:
        notes.append(f"{in_percent(model.utility.coverage.value)} answered")
    return tuple(filter(None, notes))


def _strip(model: ComparedModel) -> Markup:
    """Draw the leaves of the worst tree as shares of their levels of size."""
    sizes = np.array(model.claims.sizes)
    if not len(sizes):
        return Markup("")
    shares = [
        (level.shade, float(((sizes >= level.low) & (sizes <= (level.high or np.inf))).mean()))
        for level in LEVELS
    ]
    return strip(shares)


def _picture(comparison: Comparison) -> Markup:
    """Draw what models are good for against what attacks found, where two models tell both."""
    told = [m for m in comparison.models if m.useful is not None and m.leakage.measured]
    kinds = {model.utility is None for model in told}
    if len(told) < 2 or len(kinds) > 1:
        return Markup("")
    points = [
        Trade(
            number=i,
            name=model.name,
            useful=model.useful,
            leaks=model.leakage.measured,
            epsilon=in_letters(model),
            passes=model.verdict == "pass",
        )
        for i, model in enumerate(comparison.models, start=1)
        if model.useful is not None and model.leakage.measured
    ]
    across = "R² on unseen people" if True in kinds else "accuracy on unseen people"
    return picture(points, across=across, percent=True not in kinds)


def _why(comparison: Comparison) -> Sequence[str]:
    lines = []
    counted = [model for model in comparison.models if model.epsilon is None]
    worst = max(counted or comparison.models, key=lambda m: m.claims.alone)
    if worst.epsilon is None and worst.claims.alone:
        who = number_of(worst.claims.alone, "person who is", "people who are")
        lines.append(f"{worst.name} gives away {who} alone in a leaf of one tree.")
    best = comparison.best
    if best is not None and best.epsilon is None and best.claims.told and best.claims.smallest:
        lines.append(f"In {best.name} the smallest group holds {best.claims.smallest:,} people.")
    roles = [f"{name} ({n:,} rows)" for name, n in comparison.people.values()]
    lines.append(
        f"Measured on {' and '.join(roles)}." if roles else "No data was given: these are claims "
        "of the files, and accuracy was not measured (--test)."
    )  # fmt: skip
    return lines
