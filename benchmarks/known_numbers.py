"""How many people's numbers trees tell: public tables with a number to predict, sizes of leaves.

``TREEAUDIT_DATA=… python -m benchmarks.known_numbers`` prints the table of POLICIES.md.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

import treeaudit as ta

_PEOPLE = 2000
_TARGETS = (
    ("adult", "age"),
    ("adult", "hours-per-week"),
    ("loan", "Income"),
    ("magic", None),
    ("wall_following", None),
    ("pendigits", None),
)
_MODELS = {
    "tree": lambda k: DecisionTreeRegressor(min_samples_leaf=k, random_state=0),
    "forest": lambda k: RandomForestRegressor(30, min_samples_leaf=k, random_state=0),
    "boosting": lambda k: GradientBoostingRegressor(min_samples_leaf=k, random_state=0),
}


def tables(folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return features and target of every table, by name."""
    found = {"diabetes": load_diabetes(return_X_y=True)}
    for name, column in _TARGETS:
        frame = pd.read_csv(folder / f"{name}.csv.gz").select_dtypes("number").dropna()
        frame = frame.sample(min(_PEOPLE, len(frame)), random_state=0)
        # Where none is named: the number with the most values.
        target = column or max(frame.columns, key=lambda one: frame[one].nunique())
        rest = frame.drop(columns=target).to_numpy(np.float64)
        found[f"{name}: {target}"] = (rest, frame[target].to_numpy(np.float64))
    return found


def main() -> None:
    """Print one row for each table, model and size of leaves."""
    print("| table | model | min_samples_leaf | known share | after release, with --train |")
    print("|---|---|---|---|---|")
    for name, (rows, numbers) in tables(Path(os.environ["TREEAUDIT_DATA"])).items():
        for kind, make in _MODELS.items():
            for k in (1, 5, 10, 20):
                model = ta.load(make(k).fit(rows, numbers))
                file = ta.scan(model, policy="observe", attacks=["TA109"])["TA109"]
                shown = [f"{file.details.known_in_any_tree.share:.1%}"]
                bare = ta.release(model)
                told = ta.scan(bare, train=(rows, numbers), policy="observe", attacks=["TA109"])
                shown.append(f"{told['TA109'].details.known_in_any_tree.share:.1%}")
                print(f"| {name} | {kind} | {k} | {' | '.join(shown)} |")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
