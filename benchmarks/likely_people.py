"""``python -m benchmarks.likely_people``: how many likely people are there, beside how many stated.

Forests of random people whose table is known: draws without seeds, or noisy leaves. A report states
how many of the likeliest table are expected to be in the training data, and calls likely whoever
has a probability of 90 % or more. Writes a section of ``benchmarks/RESULTS.md``.
"""

import os
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from benchmarks.forests import LABELS
from benchmarks.sections import RESULTS, commit, replace_section
from treeaudit.defenses.strip import without_extras
from treeaudit.inference.likely import LikelyTable, infer_likely
from treeaudit.inference.scope import Budget
from treeaudit.model.forest import Forest, Noise
from treeaudit.readers import load

__all__ = ["Setting", "main", "measured"]

_LEVEL, _NORMAL = 0.9, 1.96


class Setting(NamedTuple):
    """Forests of one kind; the rate of the noise is None if counts are draws."""

    table: str
    people: int
    trees: int
    rate: float | None
    forests: int


SETTINGS = (
    Setting("random", 30, 12, None, 40),
    Setting("random", 15, 5, None, 40),
    Setting("random", 60, 20, None, 15),
    Setting("compas", 40, 20, None, 15),
    Setting("adult", 40, 20, None, 15),
    Setting("random", 30, 12, 1.0, 40),
    Setting("random", 30, 12, 0.3, 30),
    Setting("random", 30, 5, 3.0, 30),
    Setting("compas", 40, 10, 1.0, 15),
)


def people(setting: Setting, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw people of a table, and their labels."""
    rng = np.random.default_rng(seed)
    if setting.table == "random":
        job = np.eye(4)[rng.choice(4, setting.people, p=[0.4, 0.3, 0.2, 0.1])]
        others = rng.random((setting.people, 5)) < [0.2, 0.3, 0.5, 0.6, 0.1]
        names = [*(f"job_{name}" for name in "abcd"), "old", "ill", "rich", "tall", "far"]
        values = pd.DataFrame(np.hstack([job, others]), columns=names)
        return values, (rng.random(len(values)) < 0.2 + 0.5 * others[:, 1]).astype(np.int64)
    folder = Path(os.environ["TREEAUDIT_DATA"]) / "forests"
    table = pd.read_csv(folder / f"{setting.table}.csv.gz")
    table = table.iloc[rng.permutation(len(table))[: setting.people]]
    label = LABELS[setting.table]
    return table.drop(columns=label), table[label].to_numpy()


def forest_of(setting: Setting, values: pd.DataFrame, labels: np.ndarray, seed: int) -> Forest:
    """Return a forest without seeds: of draws, or of everybody with noise on every leaf."""
    draws, depth = (True, None) if setting.rate is None else (False, 4)
    grown = RandomForestClassifier(
        setting.trees, bootstrap=draws, max_depth=depth, random_state=seed
    )
    forest = without_extras(load(grown.fit(values, labels)))
    if setting.rate is None:
        return forest
    rng, p, trees = np.random.default_rng(seed), 1 - np.exp(-setting.rate), []
    for tree in forest.trees:
        off = rng.geometric(p, tree.counts.shape) - rng.geometric(p, tree.counts.shape)
        trees.append(replace(tree, counts=tree.counts + off, n_records=None))
    noise = Noise(rate=setting.rate, counts="leaves")
    return replace(
        forest, trees=tuple(trees), counts_are="noisy", noise=noise, n_records=len(values)
    )


def there(
    answer: LikelyTable, forest: Forest, values: pd.DataFrame, labels: np.ndarray
) -> np.ndarray:
    """Tell of each person of the likeliest table whether at least so many are in the cell."""
    codes = np.searchsorted(np.array(forest.schema.classes), labels)
    true = Counter(zip(map(tuple, forest.apply(values).tolist()), codes.tolist(), strict=True))
    found = answer.people
    leaf = map(tuple, answer.cells.leaf[:, answer.cell[found.place]].T.tolist())
    keys = zip(leaf, answer.label[found.place].tolist(), strict=True)
    return np.array([true[key] >= n for key, n in zip(keys, found.nth.tolist(), strict=True)])


class Measured(NamedTuple):
    """Of each forest: people expected and there, the margin of independent people, the likely."""

    expected: np.ndarray
    right: np.ndarray
    margin: np.ndarray
    likely: np.ndarray
    likely_right: np.ndarray

    @property
    def covered(self) -> float:
        """How often as many are there as the margin allows."""
        return float((abs(self.expected - self.right) <= self.margin).mean())


def measured(setting: Setting) -> Measured:
    """Grow the forests of a setting and solve each."""
    rows = []
    for seed in range(setting.forests):
        values, labels = people(setting, seed)
        forest = forest_of(setting, values, labels, seed)
        answer = infer_likely(forest, budget=Budget(seconds=60), seed=seed)
        p, held = answer.people.probability, there(answer, forest, values, labels)
        likely = p >= _LEVEL
        margin = _NORMAL * np.sqrt((p * (1 - p)).sum()) + 0.5
        rows.append((p.sum(), held.sum(), margin, likely.sum(), held[likely].sum()))
    return Measured(*np.array(rows, dtype=float).T)


def lines() -> Iterator[str]:
    """Yield the section, a row at a time."""
    yield from (
        "# Likely people, and how many of them are there",
        "",
        f"Written by `python -m benchmarks.likely_people` (commit {commit()}). Forests of draws "
        "without seeds, or with noise on every leaf. *Stated* and *there*: people of the likeliest "
        "table who are expected in the training data, and who are in it, on average; *off*: "
        "standard deviation of the difference. *Holds*: forests of which the interval of "
        "independent people (normal, 95 %) holds how many are there; reports show no interval. "
        "*Likely*: people with a probability of 90 % or more, and the share of them who are there.",
        "",
        "| table | people | trees | counts | forests | stated | there | off | holds | likely "
        "| there |",
        "|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|",
    )
    for one in SETTINGS:
        found = measured(one)
        counts = "draws" if one.rate is None else f"noise, rate {one.rate:g}"
        off = (found.expected - found.right).std()
        right = found.likely_right.sum() / max(found.likely.sum(), 1)
        yield (
            f"| {one.table} | {one.people} | {one.trees} | {counts} | {one.forests} "
            f"| {found.expected.mean():.1f} | {found.right.mean():.1f} | {off:.1f} "
            f"| {found.covered:.0%} | {found.likely.sum():.0f} | {right:.1%} |"
        )


def main() -> None:
    """Measure all and write the section."""
    warnings.simplefilter("ignore")
    written = []
    for line in lines():
        written.append(line)
        print(line, flush=True)
    document = RESULTS.read_text("utf-8")
    RESULTS.write_text(replace_section(document, "likely", "\n".join(written)), "utf-8")


if __name__ == "__main__":
    main()
