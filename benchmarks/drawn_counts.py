"""``python -m benchmarks.drawn_counts``: what reports say of people who were drawn, and the truth.

Random forests of draws, released without their seeds; scikit-learn tells who was drawn into which
tree. Writes a section of ``benchmarks/RESULTS.md``.
"""

import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import treeaudit as ta
from benchmarks.sections import RESULTS, commit, replace_section

__all__ = ["Stated", "main", "of_labels", "of_numbers"]

_K, _NEARLY, _FORESTS = 5, 0.95, 100


class Stated(NamedTuple):
    """What a report says of something, no fewer and no more, and what is true."""

    what: str
    given: str  # Besides the file
    low: float
    high: float
    true: float

    @property
    def holds(self) -> bool:
        """Whether the truth is between the bounds."""
        return self.low - 1e-9 <= self.true <= self.high + 1e-9


def of_labels(seed: int) -> Iterator[Stated]:
    """Yield what is said of one classifier."""
    rng = np.random.default_rng(seed)
    n, trees = int(rng.integers(50, 500)), int(rng.integers(1, 10))
    leaf = int(rng.choice([1, 5, 10]))
    x = rng.normal(size=(n, 3)).round(int(rng.integers(0, 3)))
    y = (x[:, 0] + rng.normal(0, rng.choice([0.3, 1.0]), n) > 0).astype(int)
    model = RandomForestClassifier(trees, min_samples_leaf=leaf, random_state=seed).fit(x, y)
    true = defaultdict[str, set[int]](set)
    for _, who, _ in _leaves(model, x):
        held = np.bincount(y[who])
        for name, is_so in (
            ("alone", len(who) == 1),
            (f"below {_K}", len(who) < _K),
            ("one label", (held > 0).sum() == 1),
        ):
            true[name].update(who.tolist() if is_so else ())
    worst = _worst_nearly(model, x, y)
    for given, people in (("–", {}), ("people", {"train": (x, y)})):
        report = ta.scan(
            ta.release(ta.load(model)), policy="default", attacks=["TA101", "TA102"], **people
        )
        first, second = report["TA101"].details, report["TA102"].details
        for name, found in (
            ("alone", first.unique_in_any_tree),
            (f"below {_K}", first.below_k_in_any_tree),
            ("one label", second.homogeneous_in_any_tree),
        ):
            what = f"people: {name}, in any tree"
            yield Stated(what, given, found.low, found.high, len(true[name]))
        share = second.nearly_certain_share
        yield Stated("share whose label is nearly certain, worst tree", given, 0.0, share, worst)


def of_numbers(seed: int) -> Iterator[Stated]:
    """Yield what is said of one regressor of whose people many have the number 0."""
    rng = np.random.default_rng(seed)
    n, trees = int(rng.integers(100, 500)), int(rng.integers(1, 6))
    leaf = int(rng.choice([5, 10, 20]))
    x = rng.normal(size=(n, 3))
    some = (x[:, 0] > 0) | (rng.random(n) < 0.1)
    y = np.where(some, 100.0 * rng.integers(1, 9, n), 0.0)
    model = RandomForestRegressor(trees, min_samples_leaf=leaf, random_state=seed).fit(x, y)
    report = ta.scan(ta.release(ta.load(model)), attacks=["TA109"], train=(x, y))
    details, worst = report["TA109"].details, _worst_nearly(model, x, y)
    low, high = details.nearly_certain_share, details.nearly_certain_at_most
    what = "share whose number is nearly certain, worst tree"
    yield Stated(what, "people", low, max(low, high), worst)


def _leaves(model: object, x: np.ndarray) -> Iterator[tuple[int, np.ndarray, int]]:
    """Yield the tree of each leaf, who was drawn into it, and how many into the tree."""
    ends = model.apply(x)
    for tree, drawn in enumerate(model.estimators_samples_):
        who = np.unique(drawn)
        for leaf in np.unique(ends[who, tree]):
            yield tree, who[ends[who, tree] == leaf], len(who)


def _worst_nearly(model: object, x: np.ndarray, y: np.ndarray) -> float:
    """Return the largest share of a tree's people whose label or number is nearly certain."""
    share = defaultdict[int, float](float)
    for tree, who, people in _leaves(model, x):
        most = int(np.unique(y[who], return_counts=True)[1].max())
        others = len(who) - most
        if others <= 1 or (most >= _NEARLY * len(who) and others < _K):
            share[tree] += len(who) / people
    return max(share.values(), default=0.0)


def main() -> None:
    """Measure all and write the table."""
    warnings.simplefilter("ignore")
    found = defaultdict[tuple[str, str], list[Stated]](list)
    for seed in range(_FORESTS):
        for one in (*of_labels(seed), *of_numbers(seed)):
            found[one.what, one.given].append(one)
    lines = [
        "# What is said of people who were drawn",
        "",
        f"Written by `python -m benchmarks.drawn_counts` (commit {commit()}). {_FORESTS} random "
        "forests of draws without their seeds: the mean of what a report says at least and at "
        "most, of the truth by scikit-learn, and how often the truth is between. Of nearly "
        "certain labels a report says at most.",
        "",
        "| what | given besides the file | at least | at most | true | holds |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for (what, given), all_of_it in sorted(found.items()):
        low, high, true = np.mean([one[2:] for one in all_of_it], axis=0)
        form = ".1%" if "share" in what else ".1f"
        least = "–" if not low else format(low, form)
        holds = np.mean([one.holds for one in all_of_it])
        lines.append(
            f"| {what} | {given} | {least} | {high:{form}} | {true:{form}} | {holds:.0%} |"
        )
    print("\n".join(lines))
    document = RESULTS.read_text("utf-8")
    RESULTS.write_text(replace_section(document, "drawn", "\n".join(lines)), "utf-8")


if __name__ == "__main__":
    main()
