"""Models side by side as one HTML page, without a network and without JavaScript."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from markupsafe import Markup

from treeaudit.comparison.compare import Compared, Comparison
from treeaudit.model.words import number_of
from treeaudit.reports.charts import strip
from treeaudit.reports.comparison_cells import advice, cells, claimed
from treeaudit.reports.html import environment
from treeaudit.reports.masking import Numbers, percent
from treeaudit.reports.scatter import Point, scatter
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
    numbers = Numbers(k=comparison.policy.k)
    best = comparison.best
    tone = "skip" if not comparison.policy.values else "bad" if best is None else "ok"
    return (
        environment()
        .get_template("compare.html.j2")
        .render(
            version=__version__,
            comparison=comparison,
            tone=tone,
            pill=_pill(comparison),
            advice=advice(comparison),
            why=_why(comparison),
            levels=numbers.levels(),
            rows=_rows(comparison, numbers),
            attacked=any(model.membership_auc is not None for model in comparison.models),
            private=any(model.epsilon is not None for model in comparison.models),
            chart=_chart(comparison),
            counted=any(model.claims.alone_true is not None for model in comparison.models),
        )
    )


def _pill(comparison: Comparison) -> str:
    if not comparison.policy.values:
        return "OBSERVED"
    passing = sum(model.report.verdict == "pass" for model in comparison.models)
    if not passing:
        return "✕ NONE PASSES"
    return f"✓ {passing} OF {len(comparison.models)} {'PASSES' if passing == 1 else 'PASS'}"


def _rows(comparison: Comparison, numbers: Numbers) -> list[Mapping[str, object]]:
    columns = {
        name: cells(comparison, name) for name in ("leaves", "smallest", "member AUC", "epsilon")
    }
    return [
        {
            "number": i + 1,
            "name": model.name,
            "what": _what(model),
            "strip": _strip(model, numbers),
            "leaves": columns["leaves"][i],
            "smallest": columns["smallest"][i],
            "alone": _claim(model, "alone"),
            "certain": _claim(model, "certain"),
            "membership": columns["member AUC"][i],
            "epsilon": (columns["epsilon"][i], _worth(model.epsilon)),
            "accuracy": _accuracy(model),
            "verdict": model.report.verdict if model.report.checks else "observed",
            "best": model is comparison.best,
            "notes": model.notes,
            "failed": [c.title.lower() for c in model.report.checks if c.status == "fail"],
        }
        for i, model in enumerate(comparison.models)
    ]


def _what(model: Compared) -> str:
    forest = model.report.forest
    trees = number_of(forest.n_trees, "tree", "trees")
    return f"{forest.source.estimator} · {trees}"


def _claim(model: Compared, what: Literal["alone", "certain"]) -> tuple[str, str]:
    """Return a claim, and what of it is true, in words."""
    number, note = claimed(model.claims, what)
    if not number:
        return "–", "not told"
    true = getattr(model.claims, f"{what}_true")
    if not note and true:
        note = "all true"
    return number, note.strip("()")


def _worth(epsilon: float | None) -> str:
    """Say how sure an attacker can get at most who held something about a person for 50:50."""
    if epsilon is None:
        return ""
    return f"50% → {percent(1 / (1 + math.exp(-epsilon)))} at most"


def _accuracy(model: Compared) -> tuple[str, tuple[str, ...]]:
    useful = model.utility
    if useful is None:
        return "–", ()
    share = useful.right_of_all
    notes = [f"{share.low:.1%}–{share.high:.1%}"]
    if useful.coverage.value < 1:
        notes.append(f"{useful.coverage.value:.1%} answered")
    return f"{share.value:.2%}", tuple(notes)


def _strip(model: Compared, numbers: Numbers) -> Markup:
    """Draw the leaves of the worst tree as shares of their levels of size."""
    sizes = np.array(model.claims.sizes)
    if not len(sizes):
        return Markup("")
    shares = [
        (level.shade, float(((sizes >= level.low) & (sizes <= (level.high or np.inf))).mean()))
        for level in numbers.levels()
    ]
    return strip(shares)


def _chart(comparison: Comparison) -> Markup:
    """Draw accuracy against the smallest leaf, where at least two models tell both."""
    points = [
        Point(
            number=i,
            name=model.name,
            smallest=None if model.epsilon is not None else model.claims.smallest,
            value=model.utility.right_of_all.value,
            low=model.utility.right_of_all.low,
            high=model.utility.right_of_all.high,
            passes=model.report.verdict == "pass",
        )
        for i, model in enumerate(comparison.models, start=1)
        if model.utility is not None and (model.claims.smallest or model.epsilon is not None)
    ]
    if len(points) < 2:
        return Markup("")
    return scatter(points, k=comparison.policy.k, name="Accuracy against the smallest leaf")


def _why(comparison: Comparison) -> Sequence[str]:
    lines = []
    worst = max(comparison.models, key=lambda m: m.claims.alone)
    if worst.claims.alone:
        who = number_of(worst.claims.alone, "person who is", "people who are")
        lines.append(f"{worst.name} gives away {who} alone in a leaf of one tree.")
    best = comparison.best
    if best is not None and best.claims.told and best.claims.smallest is not None:
        lines.append(f"In {best.name} the smallest group holds {best.claims.smallest:,} people.")
    roles = [f"{name} ({n:,} rows)" for name, n in comparison.people.values()]
    lines.append(
        f"Measured on {' and '.join(roles)}." if roles else "No data was given: these are claims "
        "of the files, and accuracy was not measured (--test)."
    )  # fmt: skip
    return lines
