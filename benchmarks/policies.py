"""What the built-in policies refuse and let through, before and after a repair.

For every table of ``TREEAUDIT_DATA``: a tree, a forest and gradient boosting, at
several leaf sizes. ``python -m benchmarks.policies > benchmarks/POLICIES.md``.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.repair.attempts import Repair
from treeaudit.repair.defend import RepairRequest, repair, utility_on

SIZES = (1, 5, 10, 20, 50)
POLICIES = ("default", "strict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One model under one policy.

    Attributes
    ----------
    before, after
        The checks that it does not pass, and those that its repair does not.
    cost
        Points of accuracy on unseen people that the repair costs; None without.
    """

    table: str
    kind: str
    size: int
    policy: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    cost: float | None


def tables(folder: Path, rows: int) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame, str]]:
    """Yield the name of each table, people to train on, as many others, and the label."""
    for path in sorted(folder.glob("*.csv.gz")):
        frame = (
            pd.read_csv(path, keep_default_na=False, na_values=[""])
            .sample(frac=1, random_state=0)
            .head(2 * rows)
        )
        target = str(frame.columns[-1])
        for name in frame.columns[:-1]:
            if not pd.api.types.is_numeric_dtype(frame[name]):
                frame[name] = pd.factorize(frame[name], sort=True)[0]
        frame = frame.dropna(subset=[target]).astype({target: str})
        columns = frame.columns[:-1]
        frame[columns] = frame[columns].fillna(-1)
        half = len(frame) // 2
        yield path.name.split(".")[0], frame[:half], frame[half:], target


def models(trees: int, size: int) -> Iterator[tuple[str, ClassifierMixin]]:
    """Yield a tree, a forest and gradient boosting with leaves of at least some size."""
    leaf = {"min_samples_leaf": size, "random_state": 0}
    yield "tree", DecisionTreeClassifier(**leaf)
    yield "forest", RandomForestClassifier(trees, **leaf)
    yield "boosting", GradientBoostingClassifier(n_estimators=20, **leaf)


def tried(rows: int, trees: int, sizes: tuple[int, ...], kinds: tuple[str, ...]) -> Iterator[Tried]:
    """Yield every model under every policy."""
    for table, train, test, target in tables(Path(os.environ["TREEAUDIT_DATA"]), rows):
        for size in sizes:
            for kind, model in models(trees, size):
                if kind not in kinds:
                    continue
                model.fit(train.drop(columns=target), train[target])
                print(table, kind, size, file=sys.stderr, flush=True)
                for policy in POLICIES:
                    try:
                        done = repair(model, RepairRequest(policy=policy))
                    except ta.DataError as error:
                        before = _missed(ta.scan(model, policy=policy))
                        yield Tried(
                            table=table, kind=kind, size=size, policy=policy,
                            before=before, after=(str(error)[:60],), cost=None,
                        )  # fmt: skip
                        continue
                    yield Tried(
                        table=table, kind=kind, size=size, policy=policy,
                        before=_missed(done.before.report), after=_missed(done.after.report),
                        cost=_cost(done, test, target),
                    )  # fmt: skip


def _missed(report: ta.Report) -> tuple[str, ...]:
    return tuple(
        check.name + ("?" if check.status == "skipped" else "")
        for check in report.checks
        if not check.met
    )


def _cost(done: Repair, test: pd.DataFrame, target: str) -> float | None:
    known = test[test[target].isin(done.forest.schema.classes or ())]
    uses = [utility_on(one.forest, known, target) for one in (done.before, done.after)]
    if uses[0] is None or uses[1] is None:
        return None
    return 100 * (uses[0].accuracy.value - uses[1].accuracy.value)


def written(found: list[Tried]) -> str:
    """Return a row per kind, leaf size and policy."""
    text = [
        "| policy | model | min_samples_leaf | pass | refused by | pass after `defend` | "
        "cost in points: median, worst | at most 1 point |",
        "|---|---|---|---|---|---|---|---|",
    ]
    keys = dict.fromkeys((one.policy, one.kind, one.size) for one in found)
    for policy, kind, size in sorted(keys):
        here = [one for one in found if (one.policy, one.kind, one.size) == (policy, kind, size)]
        reasons = pd.Series([name for one in here for name in one.before], dtype=object)
        why = ", ".join(f"{name} {n}" for name, n in reasons.value_counts().items()) or "–"
        passed = [one for one in here if not one.after]
        cost = [one.cost for one in passed if one.cost is not None]
        low = f"{np.median(cost):.1f}, {max(cost):.1f}" if cost else "–"
        text.append(
            f"| {policy} | {kind} | {size} | {sum(not one.before for one in here)} of {len(here)} "
            f"| {why} | {len(passed)} | {low} | {sum(n <= 1 for n in cost)} |"
        )
    return "\n".join(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--kinds", nargs="+", default=("tree", "forest", "boosting"))
    parser.add_argument("--each", action="store_true", help="a line per model too")
    asked = parser.parse_args()
    every = list(tried(asked.rows, asked.trees, tuple(asked.sizes), tuple(asked.kinds)))
    print(written(every))
    if asked.each:
        for one in every:
            print(one)
