"""How near the likeliest table is to the people, beside other people of the population.

100 people, seeds 0 to 4; the error is that of Ferry et al. (2024): the share of values that differ
when records are paired as well as can be. From draws: 100 trees, seeds not in the file. From noise:
10 random trees of depth 5, epsilon shared by the trees, discrete Laplace noise on every leaf and
class, with and without a public table of 2,000 others.
"""

import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from benchmarks.forests import LABELS
from treeaudit.defenses.strip import without_extras
from treeaudit.inference.likely import infer_likely, records_of, table_error
from treeaudit.inference.scope import Budget
from treeaudit.model.forest import Forest, Noise
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.tree import Tree
from treeaudit.people.records import read_records
from treeaudit.readers import load

N, SEEDS, TREES, DEPTH = 100, 5, 10, 5
GROUPS = {
    "compas": ("age:", "priors:"),
    "adult": ("education_",),
    "default_credit": ("EDUCATION_", "MARRIAGE_"),
}
DRAWS = {
    "compas": (0.006, 0.047),
    "adult": (0.03, 0.117),
    "default_credit": (0.03, 0.225),
}
"""What was asked for, and the error that DRAFT prints."""
NOISE = {
    ("compas", False): {30: 0.030, 10: 0.045, 5: 0.062},
    ("compas", True): {30: 0.032, 10: 0.040, 5: 0.045},
    ("adult", True): {30: 0.060, 10: 0.066},
}


def main() -> None:
    """Print the tables."""
    warnings.filterwarnings("ignore")
    folder = Path(os.environ["TREEAUDIT_DATA"]) / "forests"
    read = {name: pd.read_csv(folder / f"{name}.csv.gz") for name in LABELS}
    print(
        f"{'forest':40} {'error':>7} {'asked':>7} {'fresh':>7} {'DRAFT':>7} {'right':>7} {'s':>6}"
    )
    for name, (asked, draft) in DRAWS.items():
        show(f"{name}, draws", asked, draft, [of_draws(name, read[name], i) for i in range(SEEDS)])
    for (name, prior), by_epsilon in NOISE.items():
        for epsilon, asked in by_epsilon.items():
            rows = [of_noise(name, read[name], i, epsilon, prior=prior) for i in range(SEEDS)]
            text = f"{name}, epsilon {epsilon}{', public table' if prior else ''}"
            show(text, asked, None, rows)


def show(name: str, asked: float, draft: float | None, rows: list[tuple[float, ...]]) -> None:
    """Print the means of a line."""
    off, fresh, stated, seconds = np.mean(rows, axis=0)
    told = "" if draft is None else f"{draft:.3f}"
    print(
        f"{name:40} {off:7.4f} {asked:7.3f} {fresh:7.4f} {told:>7} {stated:7.1f} {seconds:6.2f}",
        flush=True,
    )


def of_draws(name: str, table: pd.DataFrame, seed: int) -> tuple[float, ...]:
    """Measure one forest of draws."""
    label, order = LABELS[name], np.random.default_rng(seed).permutation(len(table))
    people, fresh = table.iloc[order[:N]], table.iloc[order[-N:]]
    values = people.drop(columns=label)
    grown = RandomForestClassifier(100, random_state=seed).fit(values, people[label])
    forest = without_extras(load(grown))
    return measured(people, fresh, label, forest, {})


def of_noise(
    name: str, table: pd.DataFrame, seed: int, epsilon: int, *, prior: bool
) -> tuple[float, ...]:
    """Measure one private forest."""
    label, order = LABELS[name], np.random.default_rng(seed).permutation(len(table))
    people, fresh = table.iloc[order[:N]], table.iloc[order[-N:]]
    others = table.iloc[order[N : N + 2_000]]
    forest = private(people, label, epsilon, np.random.default_rng(1000 * seed + 10 * epsilon))
    names = [c for c in table.columns if c != label]
    grouped = {p: [c for c in names if c.startswith(p)] for p in GROUPS[name]}
    public = Schema(
        features=tuple(
            Feature(name=p[:-1], categories=tuple(c[len(p) :] for c in columns))
            for p, columns in grouped.items()
        )
    )
    options: dict[str, object] = {"public": public, "n_people": N}
    if prior:
        options["prior"] = read_records(others, forest, target=label)
    return measured(people, fresh, label, forest, options)


def measured(
    people: pd.DataFrame,
    fresh: pd.DataFrame,
    label: str,
    forest: Forest,
    options: dict[str, object],
) -> tuple[float, ...]:
    """Return the error, that of fresh people, how many are stated to be right, and seconds."""
    begun = time.process_time()
    answer = infer_likely(forest, budget=Budget(seconds=60), **options)  # type: ignore[arg-type]
    seconds = time.process_time() - begun
    found = records_of(answer, forest.schema)
    truth = people.drop(columns=label).to_numpy(np.float64)
    if found is None:
        raise RuntimeError("a column was taken for a number")
    other = table_error(fresh.drop(columns=label).to_numpy(np.float64), truth)
    return table_error(found, truth), other, float(answer.people.probability.sum()), seconds


def private(table: pd.DataFrame, label: str, epsilon: int, rng: np.random.Generator) -> Forest:
    """Return random trees of columns of 0 and 1, whose leaves have noise."""
    names = [c for c in table.columns if c != label]
    values, labels = table[names].to_numpy(), table[label].to_numpy()
    rate, trees = epsilon / TREES, []
    p, inner = 1 - np.exp(-rate), 2**DEPTH - 1
    n = 2 * inner + 1
    for _ in range(TREES):
        asked = rng.integers(0, len(names), inner)
        parent = (np.arange(n) - 1) // 2
        parent[0] = -1
        right = np.arange(n) % 2 == 0
        at = np.zeros(len(values), np.int64)
        for _ in range(DEPTH):
            at = 2 * at + 1 + values[np.arange(len(values)), asked[at]]
        counts = np.zeros((n, 2))
        np.add.at(counts, (at, labels), 1)
        off = rng.geometric(p, (n - inner, 2)) - rng.geometric(p, (n - inner, 2))
        counts[inner:] += off
        for node in range(inner - 1, -1, -1):
            counts[node] = counts[2 * node + 1] + counts[2 * node + 2]
        trees.append(
            Tree(
                parent=parent.astype(np.int32),
                feature=np.where(parent >= 0, asked[np.maximum(parent, 0)], -1).astype(np.int32),
                low=np.where(right & (parent >= 0), 0.5, -np.inf),
                high=np.where(~right & (parent >= 0), 0.5, np.inf),
                counts=counts,
            )
        )
    return Forest(
        trees=tuple(trees),
        schema=Schema(features=tuple(Feature(name=c) for c in names), classes=(0, 1), target=label),
        counts_are="noisy",
        noise=Noise(rate=rate, counts="leaves"),
    )


if __name__ == "__main__":
    main()
