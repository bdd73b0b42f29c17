"""``python -m benchmarks.membership_coverage``: how often TA105's interval holds its own value.

One model, and again and again other unseen people: the interval of the AUC is held against the
mean of the attack over all samples of that size. Takes ``TREEAUDIT_DATA`` and writes a section of
``benchmarks/RESULTS.md``.
"""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from benchmarks.sections import RESULTS, commit, replace_section
from treeaudit.attacks import Case, Membership
from treeaudit.attacks.membership_inference.roc import MembershipDetails
from treeaudit.people.records import read_records

__all__ = ["main"]

_MEMBERS = 1_500
_MODELS = {
    "tree, leaves of 5": (DecisionTreeClassifier(min_samples_leaf=5, random_state=0), 60),
    "50 trees, leaves of 10": (RandomForestClassifier(50, min_samples_leaf=10, random_state=0), 40),
    "gradient boosting": (GradientBoostingClassifier(random_state=0), 15),
}
"""Each model, and how many samples of unseen people it is attacked with."""


def people(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the people of a table in random order, texts as codes, and their labels."""
    path = Path(os.environ["TREEAUDIT_DATA"]) / f"{name}.csv.gz"
    table = pd.read_csv(path, dtype=str, keep_default_na=False).sample(frac=1, random_state=11)
    columns = []
    for column in table.columns:
        number = pd.to_numeric(table[column], errors="coerce")
        codes = np.unique(table[column], return_inverse=True)[1]
        columns.append(codes if number.isna().any() else number.to_numpy())
    coded = np.column_stack(columns).astype(float)
    return coded[:, :-1], coded[:, -1].astype(int)


def intervals(
    model: object, x: np.ndarray, y: np.ndarray, unseen: int, samples: int
) -> Iterator[list[float]]:
    """Yield the AUC and the ends of its interval, by other unseen people each time."""
    forest = ta.load(model)
    table = ta.reconstruct(forest).groups
    train = read_records((x[:_MEMBERS], y[:_MEMBERS]), forest, origin="train")
    rng = np.random.default_rng(0)
    for _ in range(samples):
        some = _MEMBERS + rng.choice(len(x) - _MEMBERS, unseen, replace=False)
        test = read_records((x[some], y[some]), forest, origin="test")
        found = Membership().run(Case(forest=forest, table=table, train=train, test=test))
        details = getattr(found, "details", None)
        if not isinstance(details, MembershipDetails):
            raise TypeError(f"the attack did not run: {found}")
        yield [details.auc, details.auc_low, details.auc_high]


def lines() -> Iterator[str]:
    """Yield the section, a row at a time."""
    yield from (
        "# How often the interval of TA105 holds the attack's own value",
        "",
        f"Written by `python -m benchmarks.membership_coverage` (commit {commit()}). One model of "
        f"{_MEMBERS:,} members, and samples of unseen people: how often the 95 % interval of the "
        "AUC holds its mean over all samples of that size.",
        "",
        "| table | model | unseen people | samples | mean AUC | holds | above | below | width |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    )
    for title, (model, samples) in _MODELS.items():
        for name in ("adult", "magic"):
            x, y = people(name)
            model.fit(x[:_MEMBERS], y[:_MEMBERS])
            for unseen in (400, 2_000):
                auc, low, high = np.array(list(intervals(model, x, y, unseen, samples))).T
                mean = auc.mean()
                above, below = (high < mean).mean(), (low > mean).mean()
                yield (
                    f"| {name} | {title} | {unseen:,} | {samples} | {mean:.3f} "
                    f"| {1 - above - below:.1%} | {above:.1%} | {below:.1%} "
                    f"| {(high - low).mean():.3f} |"
                )


def main() -> None:
    """Measure all and write the section, as far as it is done."""
    warnings.simplefilter("ignore")
    written = []
    for line in lines():
        written.append(line)
        print(line, flush=True)
        document = RESULTS.read_text("utf-8")
        text = replace_section(document, "membership coverage", "\n".join(written))
        RESULTS.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
