"""``python -m benchmarks.regression_forests``: numbers of people that regressors give away.

All trees together bound each number of each person from the file alone. Known is a number whose
bounds are within 1 % of the range of the column's thresholds; every bound is held against the
people. Writes a section of ``benchmarks/FORESTS.md``.
"""

import time
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

import treeaudit as ta
from benchmarks.sections import RESULTS, commit, replace_section
from treeaudit.inference.bootstrap import BootstrapSolution
from treeaudit.inference.numbers import columns_known, infer_numbers, numbers_of
from treeaudit.inference.scope import Budget
from treeaudit.model.forest import Forest

__all__ = ["Known", "known", "main"]

_SECONDS, _CLOSE = 60.0, 0.01
FORESTS = RESULTS.with_name("FORESTS.md")


class Known(NamedTuple):
    """What follows from one file."""

    people: int  # Who are certain, each with their number to predict
    known: float  # Share of all pairs of a person and a column that are certain within 1 %
    wrong: int  # Certain bounds that do not hold the person's number
    guessed: float  # Share of all pairs that the middle of the bounds is right of within 1 %
    control: float  # The same if each is guessed from the bounds of somebody else


def known(forest: Forest, table: pd.DataFrame, seconds: float = _SECONDS) -> Known:
    """Solve a forest, and hold every certain bound against the people it was trained on."""
    numbers = numbers_of(forest)
    if numbers is None:
        raise ValueError("a leaf mixes numbers")
    found = infer_numbers(forest, numbers, Budget(seconds=seconds))
    x = table.drop(columns="target").to_numpy()
    box, row = _rows(found, numbers, forest.apply(x), table["target"].to_numpy())
    low, high, span = _bounds(found)
    wrong = (x[row] <= low[box]) | (x[row] > high[box])
    middle = (np.maximum(low, span[0]) + np.minimum(high, span[1])) / 2
    near = _CLOSE * (span[1] - span[0])
    others = np.random.default_rng(0).permutation(box)
    each, columns = columns_known(found.cells)
    return Known(
        people=len(box),
        known=float(each[box].sum() / (len(x) * columns)),
        wrong=int(wrong.sum()),
        guessed=float((abs(middle[box] - x[row]) <= near).sum() / x.size),
        control=float((abs(middle[others] - x[row]) <= near).sum() / x.size),
    )


def _rows(
    found: BootstrapSolution, numbers: np.ndarray, seen: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each certain person their bounds and a row of the table, -1 if there is none."""
    box, row = list[int](), list[int]()
    for i in np.flatnonzero(found.certain).tolist():
        n, mine = int(found.bounds.low[i]), np.array([found.person[i]])
        if mine[0] < 0:
            there = (seen == found.cells.leaf[:, i]).all(axis=1)
            there &= np.isclose(y, numbers[found.label[i]])
            mine = np.flatnonzero(there)[:n]
        if len(mine) < n:
            raise ValueError("fewer people are there than was certain")
        box += [i] * n
        row += mine.tolist()
    return np.array(box), np.array(row)


def _bounds(found: BootstrapSolution) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the bounds of each cell and column, and the least and largest threshold."""
    low, high, span = [], [], []
    for variable, at in zip(found.domain.variables, found.cells.layout.row.tolist(), strict=False):
        cuts = variable.cuts
        if cuts is None:
            raise ValueError("a column is no number")
        low.append(variable.edges[found.cells.low[at]])
        high.append(variable.edges[found.cells.high[at]])
        span.append((cuts[0], cuts[-1]))
    return np.array(low).T, np.array(high).T, np.array(span).T


def main() -> None:
    """Measure all and write the table."""
    warnings.simplefilter("ignore")
    lines = [
        "# Numbers that regressors give away",
        "",
        f"Written by `python -m benchmarks.regression_forests` (commit {commit()}): diabetes, 442 "
        "people with 10 columns, forests as scikit-learn grows them, which fill leaves with one "
        f"number; at most {_SECONDS:.0f} seconds each. *People*: certain, each with the number "
        "that is predicted. *Known*: pairs of a person and a column whose value is certain within "
        "1 % of the column's range. *Wrong*: certain bounds, known or wider, that do not hold the "
        "person's value. *Guessed*: pairs of which the middle of the certain bounds is right "
        "within 1 %: a guess, certain of nobody. *By chance*: the same from the bounds of somebody "
        "else.",
        "",
        "| forest | trees | people | known | wrong | guessed | by chance | CPU-s |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    table = load_diabetes(as_frame=True).frame
    for kind in (RandomForestRegressor, ExtraTreesRegressor):
        for draws in (True, False):
            for trees in (20, 100):
                model = kind(trees, bootstrap=draws, random_state=0)
                forest = ta.load(model.fit(table.drop(columns="target"), table["target"]))
                begun = time.process_time()
                one = known(forest, table)
                lines.append(
                    f"| {kind.__name__}, {'draws with seeds' if draws else 'without draws'} "
                    f"| {trees} | {one.people} | {one.known:.1%} | {one.wrong} "
                    f"| {one.guessed:.1%} | {one.control:.1%} "
                    f"| {time.process_time() - begun:.1f} |"
                )
                print(lines[-1], flush=True)
    document = FORESTS.read_text("utf-8")
    FORESTS.write_text(replace_section(document, "numbers", "\n".join(lines)), "utf-8")


if __name__ == "__main__":
    main()
