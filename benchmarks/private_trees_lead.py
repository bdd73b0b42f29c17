"""DPDF beside DiffPID3 as in Fletcher & Islam (2015a): section 5, figures 2 to 7, table 1."""

from collections.abc import Callable
from fractions import Fraction
from itertools import islice
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

from benchmarks.private_trees_data import Table, read_table
from treeaudit.arrays import Wide
from treeaudit.dp.scores import GINI, UNIT, Score
from treeaudit.trainers import PrivateClassifier, splits
from treeaudit.trainers.diffpid3 import DiffPID3Classifier
from treeaudit.trainers.dpdf import DPDFClassifier

__all__ = ["INDEX", "cross_validated", "lead_section"]

BUDGETS = (0.1, 0.25, 0.5, 1.0, 2.0)
TABLES = ("nursery", "car", "tic_tac_toe", "mushroom", "krkopt")


def _index(counts: npt.ArrayLike) -> Wide:
    table = np.asarray(counts, dtype=np.int64)
    people: Wide = np.maximum(table.sum(axis=(-1, -2)), 1)
    return GINI.of(table) // people


INDEX = Score(name="gini", of=_index, sensitivity=lambda _: Fraction(UNIT, 2))
"""The Gini index itself at its global sensitivity: what Fletcher & Islam take DiffPID3 to use.

Friedman & Schuster multiply it by the number of records (section 4.2), at a sensitivity of 2.
"""

_MODELS: dict[str, tuple[bool, type[PrivateClassifier], dict[str, object]]] = {
    "DPDF, 1 tree": (False, DPDFClassifier, {"n_estimators": 1, "loop": "d < delta"}),
    "DPDF, 4 trees": (False, DPDFClassifier, {"n_estimators": 4, "loop": "d < delta"}),
    "DiffPID3, index at 0.5": (True, DiffPID3Classifier, {"max_depth": 4, "criterion": "gini"}),
    "DiffPID3, gini": (False, DiffPID3Classifier, {"max_depth": 4, "criterion": "gini"}),
    "DiffPID3, max": (False, DiffPID3Classifier, {"max_depth": 4, "criterion": "max"}),
}


def lead_section(folds: int) -> list[str]:
    """Return the tables, and by how much DPDF leads which DiffPID3."""
    lines = [
        "",
        "## DPDF beside DiffPID3",
        "",
        "Fletcher & Islam (2015a), figures 2 to 7: accuracy in percent at β, δ = 5, no numbers, "
        f"{folds} of the parts of a stratified tenfold cross-validation (ten times all ten in "
        "print); Connect4, which takes longer than all others, is left out; both as published, "
        "with the ε per question of their table 1 (β/10 and β/9τ). In print DPDF with one tree "
        "leads by *almost 25 points* on Nursery. That lead is found, and what makes it: they give "
        "DiffPID3 *the global sensitivity of the Gini index, 0.5* (section 4), for an index that "
        "is not multiplied by the number of records. Its exponent is ε times a number between -1 "
        "and 0, so columns are drawn nearly evenly. Friedman & Schuster (section 4.2) multiply by "
        "the number of records, at a sensitivity of 2: that exponent is DPDF's own, and there is "
        "no lead over it. On Mushroom the lead is found, too. On Car, Tic-Tac-Toe and Chess "
        "(krkopt) it is not at a small β: there DiffPID3 stops by its line 9 and answers with the "
        "majority, which the noisy leaves of DPDF stay below; how theirs stopped is not printed.",
    ]
    for name in TABLES:
        table = read_table(name)
        lines += ["", "| " + " | ".join([name, *(f"β {b:g}" for b in BUDGETS)]) + " |"]
        lines.append("| --- " * (len(BUDGETS) + 1) + "|")
        found = {
            title: [_accuracy(table, budget, how, folds) for budget in BUDGETS]
            for title, how in _MODELS.items()
        }
        for title, row in found.items():
            lines.append(f"| {title} | " + " | ".join(f"{x:.1f}" for x in row) + " |")
        one = found["DPDF, 1 tree"]
        for other in ("index at 0.5", "gini"):
            lead = [a - b for a, b in zip(one, found[f"DiffPID3, {other}"], strict=True)]
            cells = " | ".join(f"{x:+.1f}" for x in lead)
            lines.append(f"| one tree leads {other} by (mean {np.mean(lead):+.1f}) | {cells} |")
    return lines


def _accuracy(
    table: Table,
    budget: float,
    how: tuple[bool, type[PrivateClassifier], dict[str, object]],
    folds: int,
) -> float:
    as_index, trainer, options = how
    with patch.dict(splits.SCORES, {"gini": INDEX} if as_index else {}):
        return cross_validated(
            table,
            lambda: trainer(epsilon=budget, schema=table.schema, variant="published", **options),
            folds,
        )


def cross_validated(table: Table, model: Callable[[], PrivateClassifier], folds: int) -> float:
    """Return the mean accuracy in percent over so many parts of ten."""
    parts = StratifiedKFold(10, shuffle=True, random_state=0).split(table.X, table.y)
    found = [
        model().fit(table.X.iloc[a], table.y[a]).score(table.X.iloc[b], table.y[b])
        for a, b in islice(parts, folds)
    ]
    return 100 * float(np.mean(found))
