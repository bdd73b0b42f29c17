"""``python -m benchmarks.releases``: who is named by the difference of two releases (TA107).

First five people leave forests as they come. Then random trials: tables of Ferry et al. (2024) in
``$TREEAUDIT_DATA/forests``, forests of other sizes, with the same seed or another, from which some
people left and to which, in every second trial, others came. Each name is held against the tables.
"""

import argparse
import os
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.inference.releases import MovedPeople, ReleaseDifference, infer_difference
from treeaudit.readers import load

LABELS = {
    "compas": "recidivate-within-two-years:1",
    "adult": "income",
    "default_credit": "DEFAULT_PAYEMENT",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Two releases: who is in the tables, and what the forests are."""

    table: str
    people: int
    left: int = 5
    came: int = 0
    trees: int = 100
    leaf: int = 1
    depth: int | None = None
    extra: bool = False
    same_seed: bool = True
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How many were named: for certain, if nobody else moved; falsely; and whether some did."""

    certain: int
    supposed: int
    wrong: int
    wrong_supposed: int
    both_ways: bool
    refuted: bool
    seconds: float


def main() -> None:
    """Print the tables."""
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=500)
    options = parser.parse_args()
    print(f"{'five people gone':58} certain  supposed  wrong  CPU-s")
    for trial in fixed():
        found = run(trial)
        said = f"{trial.table} {trial.people:,}, {trial.trees} trees, leaves of {trial.leaf}"
        said += "" if trial.same_seed else ", other seed"
        wrong = found.wrong + found.wrong_supposed
        print(f"{said:58} {found.certain:7} {found.supposed:9} {wrong:6} {found.seconds:6.2f}",
              flush=True)  # fmt: skip
    results = [(one, run(one)) for one in map(drawn, range(options.trials))]
    for name, came in (("only left", False), ("left and came", True)):
        some = [(trial, one) for trial, one in results if bool(trial.came) == came]
        moved = sum(trial.left + trial.came for trial, _ in some)
        fair = [one for _, one in some if not one.both_ways]
        print(
            f"{len(some)} trials, {name}: of {moved:,} people {sum(f.certain for _, f in some):,} "
            f"named for certain, {sum(f.wrong for _, f in some)} falsely; in the {len(fair)} where "
            f"each label went one way {sum(f.supposed for f in fair):,} if nobody else moved, "
            f"{sum(f.wrong_supposed for f in fair)} falsely, {sum(f.refuted for f in fair)} refuted"
        )
        other = [one for _, one in some if one.both_ways]
        print(f"  of the other {len(other)}, {sum(f.refuted for f in other)} were seen to be such")


def fixed() -> list[Trial]:
    """Return the forests from which five people leave."""
    return [
        *(Trial(table=name, people=500) for name in LABELS),
        *(Trial(table=name, people=500, same_seed=False) for name in LABELS),
        Trial(table="adult", people=500, trees=20, leaf=10),
        Trial(table="compas", people=7_000, leaf=10),
        Trial(table="adult", people=48_000),
    ]


def drawn(seed: int) -> Trial:
    """Return a random trial."""
    rng = np.random.default_rng(seed)
    depths = (None, None, 4, 6)
    return Trial(
        table=[*LABELS][int(rng.integers(3))],
        people=int(rng.integers(30, 300)),
        left=int(rng.integers(1, 7)),
        came=int(rng.integers(1, 5)) * (seed % 2),
        trees=int(rng.integers(2, 41)),
        leaf=int(rng.choice([1, 1, 2, 5, 10])),
        depth=depths[int(rng.integers(4))],
        extra=bool(rng.random() < 0.3),
        same_seed=bool(rng.random() < 0.6),
        seed=seed,
    )


def run(trial: Trial) -> Found:
    """Train both, and hold who is named against the tables."""
    path = Path(os.environ["TREEAUDIT_DATA"]) / "forests" / f"{trial.table}.csv.gz"
    n = trial.people + trial.came
    table = pd.read_csv(path).sample(n, random_state=trial.seed).reset_index(drop=True)
    labels = table.pop(LABELS[trial.table])
    gone, fresh = np.arange(trial.left), np.arange(trial.people, n)
    kind = ExtraTreesClassifier if trial.extra else RandomForestClassifier
    models = []
    for rows, seed in ((np.arange(trial.people), trial.seed),
                       (np.arange(trial.left, n), trial.seed + (not trial.same_seed))):  # fmt: skip
        grown = kind(trial.trees, bootstrap=False, min_samples_leaf=trial.leaf,
                     max_depth=trial.depth, random_state=seed)  # fmt: skip
        models.append(load(grown.fit(table.iloc[rows], labels.iloc[rows])))
    begun = time.process_time()
    found = infer_difference(*models, seconds=30)
    seconds = time.process_time() - begun
    values, known = table.to_numpy(float), labels.to_numpy()
    both = {*known[gone].tolist()} & {*known[fresh].tolist()}
    together = found.together
    supposed = () if together is None else ((together.left, gone), (together.came, fresh))
    return Found(
        certain=found.left.named + found.came.named,
        supposed=sum(one.named for one, _ in supposed),
        wrong=sum(
            false(found, one, values, known, mine, other)
            for one, mine, other in ((found.left, gone, fresh), (found.came, fresh, gone))
        ),
        wrong_supposed=sum(
            false(found, one, values, known, mine, gone[:0]) for one, mine in supposed
        ),
        both_ways=bool(both),
        refuted=together is None,
        seconds=seconds,
    )


def false(
    found: ReleaseDifference,
    moved: MovedPeople,
    values: Float,
    labels: Wide,
    rows: Wide,
    other: Wide,
) -> int:
    """Count the boxes in which fewer people moved than are named, less those the other way."""
    wrong = 0
    classes = found.schema.classes or ()
    for at, label, people in zip(
        moved.cell.tolist(), moved.label.tolist(), moved.people.tolist(), strict=True
    ):
        mine = inside(found, moved, at, values) & (labels == classes[label])
        wrong += int(mine[rows].sum() - mine[other].sum()) < people
    return wrong


def inside(found: ReleaseDifference, moved: MovedPeople, at: int, values: Float) -> Flag:
    """Tell which records are in a box."""
    cells, codes = moved.cells, found.domain.codes(values)
    held = np.ones(len(values), dtype=np.bool_)
    for i, (variable, row) in enumerate(
        zip(found.domain.variables, cells.layout.row.tolist(), strict=False)
    ):
        if variable.cuts is None:
            bits = np.unpackbits(cells.sets[row, at].view(np.uint8), bitorder="little")
            held &= (codes[:, i] >= 0) & (bits[codes[:, i]] > 0)
        else:
            held &= (cells.low[row, at] <= codes[:, i]) & (codes[:, i] < cells.high[row, at])
    return held


if __name__ == "__main__":
    main()
