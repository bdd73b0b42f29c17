"""``python -m benchmarks.ensembles``: what the owner of an ensemble can reach.

Two sections of ``RESULTS.md``: 22 models as their libraries train them, repaired by ``defend``
with people (1,500 train, 1,500 others test, 3,000 more measure accuracy with the file that the
library loads again), and the verdicts of 15 kinds of models by smallest leaf, table and what is
given. Takes ``TREEAUDIT_DATA``; needs XGBoost and LightGBM. ``--compare FILE`` names the JSON of
an earlier run (``--kept FILE`` writes one) for the columns *before*.
"""

import argparse
import json
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import ensemble, tree
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score

import treeaudit as ta
from benchmarks.sections import RESULTS, commit, replace_section
from treeaudit.repair.defend import RepairRequest, repair

__all__ = ["main"]

_NUMBER = {"adult": "age", "magic": "fLength", "noise": "x"}
_TARGET = "the label"
Make = Callable[[int], BaseEstimator]


def _xgboost(**options: object) -> BaseEstimator:
    import xgboost

    return xgboost.XGBClassifier(n_jobs=1, random_state=0, **options)


def _lightgbm(kind: str, **options: object) -> BaseEstimator:
    import lightgbm

    return getattr(lightgbm, kind)(n_jobs=1, verbose=-1, random_state=0, **options)


REPAIRS: dict[str, Callable[[], BaseEstimator]] = {
    "tree": lambda: tree.DecisionTreeClassifier(random_state=0),
    "forest of 50": lambda: ensemble.RandomForestClassifier(50, random_state=0),
    "extra trees, 30": lambda: ensemble.ExtraTreesClassifier(30, random_state=0),
    "gradient boosting": lambda: ensemble.GradientBoostingClassifier(random_state=0),
    "histogram boosting": lambda: ensemble.HistGradientBoostingClassifier(random_state=0),
    "AdaBoost": lambda: ensemble.AdaBoostClassifier(random_state=0),
    "XGBoost": _xgboost,
    "LightGBM": lambda: _lightgbm("LGBMClassifier"),
    "tree of numbers": lambda: tree.DecisionTreeRegressor(random_state=0),
    "forest of numbers, 30": lambda: ensemble.RandomForestRegressor(30, random_state=0),
    "LightGBM of numbers": lambda: _lightgbm("LGBMRegressor"),
}
"""What is repaired, as it comes: the score of numbers is R²."""

_RF, _GB = ensemble.RandomForestClassifier, ensemble.GradientBoostingClassifier
MATRIX: dict[str, Make] = {
    "tree": lambda k: tree.DecisionTreeClassifier(min_samples_leaf=k, random_state=0),
    "forest": lambda k: _RF(30, min_samples_leaf=k, random_state=0),
    "forest, no seed": lambda k: _RF(30, min_samples_leaf=k),
    "forest, no draws": lambda k: _RF(30, min_samples_leaf=k, bootstrap=False, random_state=0),
    "extra trees": lambda k: ensemble.ExtraTreesClassifier(30, min_samples_leaf=k, random_state=0),
    "gradient boosting": lambda k: _GB(n_estimators=30, min_samples_leaf=k, random_state=0),
    "the same, half of the rows": lambda k: _GB(
        n_estimators=30, min_samples_leaf=k, subsample=0.5, random_state=0
    ),
    "histogram boosting": lambda k: ensemble.HistGradientBoostingClassifier(
        max_iter=30, min_samples_leaf=k, early_stopping=False, random_state=0
    ),
    "AdaBoost": lambda k: ensemble.AdaBoostClassifier(
        tree.DecisionTreeClassifier(max_depth=3, min_samples_leaf=k), n_estimators=30
    ),
    "XGBoost": lambda k: _xgboost(n_estimators=30, min_child_weight=k),
    "LightGBM": lambda k: _lightgbm("LGBMClassifier", n_estimators=30, min_child_samples=k),
    "tree of numbers": lambda k: tree.DecisionTreeRegressor(min_samples_leaf=k, random_state=0),
    "forest of numbers": lambda k: ensemble.RandomForestRegressor(
        30, min_samples_leaf=k, random_state=0
    ),
    "gradient boosting of numbers": lambda k: ensemble.GradientBoostingRegressor(
        n_estimators=30, min_samples_leaf=k, random_state=0
    ),
    "LightGBM of numbers": lambda k: _lightgbm(
        "LGBMRegressor", n_estimators=30, min_child_samples=k
    ),
}
"""Kinds of models by their smallest leaf."""
_CODED = ("XGBoost", "LightGBM")
"""Files that number their classes."""
LEAVES, MODES = (1, 5, 20, 50), ("file", "train", "train and test")


def people(name: str, n: int, seed: int, *, numbers: bool) -> tuple[pd.DataFrame, np.ndarray]:
    """Return n people of a table, or of noise, with labels or a number to predict."""
    if name == "noise":
        draw = np.random.default_rng(seed)
        x = pd.DataFrame(draw.normal(size=(n, 6)), columns=list("abcdef"))
        y = x["a"].to_numpy() + 2 * draw.normal(size=n)
        return x, y if numbers else np.where(y > 0, "yes", "no")
    path = Path(os.environ["TREEAUDIT_DATA"]) / f"{name}.csv.gz"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    table = table.sample(n, random_state=seed).reset_index(drop=True)
    coded = {}
    for column in table.columns[:-1]:
        values = pd.to_numeric(table[column], errors="coerce")
        codes = table[column].astype("category").cat.codes
        coded[column] = codes.astype(float) if values.isna().any() else values.astype(float)
    x, y = pd.DataFrame(coded), table.iloc[:, -1].to_numpy().astype(str)
    if numbers:
        y = x.pop(_NUMBER[name]).to_numpy()
    return x, y


def repaired(kind: str, name: str) -> dict[str, Any]:
    """Train, repair, save, load with the library, measure."""
    numbers = "of numbers" in kind
    x, y = people(name, 6000, 7, numbers=numbers)
    if kind in _CODED:
        y = np.unique(y, return_inverse=True)[1]
    train, test, others = slice(1500), slice(1500, 3000), slice(3000, 6000)
    model = REPAIRS[kind]().fit(x[train], y[train])
    given = {
        "train": x[train].assign(**{_TARGET: y[train]}),
        "test": x[test].assign(**{_TARGET: y[test]}),
        "target": _TARGET,
    }
    score = r2_score if numbers else accuracy_score
    out: dict[str, Any] = {
        "kind": kind,
        "table": name,
        "trained": float(score(y[others], model.predict(x[others]))),
    }
    try:
        done = repair(ta.load(model), RepairRequest(**given))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"repaired{_suffix(kind)}"
            ta.save(done.forest, path, force=True)
            report = ta.scan(path, **given)
            answers = _answers(path, kind, x[others], numbers=numbers)
        missed = [check.name for check in report.checks if not check.met]
        out |= {"verdict": report.verdict, "trees": done.forest.n_trees, "missed": missed}
        out |= {"repaired": float(score(y[others], answers))}
    except ta.TreeauditError as error:
        out["verdict"] = f"none: {error}"
    return out


def _suffix(kind: str) -> str:
    return {"XGBoost": ".json", "LightGBM": ".txt", "LightGBM of numbers": ".txt"}.get(kind, ".pkl")


def _answers(path: Path, kind: str, x: pd.DataFrame, *, numbers: bool) -> np.ndarray:
    """Return what the library answers with the file."""
    if kind == "XGBoost":
        import xgboost

        model = xgboost.XGBClassifier(n_jobs=1)
        model.load_model(path)
        return model.predict(x)
    if kind.startswith("LightGBM"):
        import lightgbm

        raw = np.asarray(lightgbm.Booster(model_file=str(path)).predict(x))
        return raw if numbers else (raw > 0.5).astype(int)
    return pickle.loads(path.read_bytes()).predict(x)


def verdicts(kind: str, leaf: int, name: str) -> list[str]:
    """Return the verdicts by the file, with people, and with unseen people."""
    x, y = people(name, 3000, 11, numbers="of numbers" in kind)
    if kind in _CODED:
        y = np.unique(y, return_inverse=True)[1]
    model = MATRIX[kind](leaf).fit(x[:1500], y[:1500])
    train, test = (
        x[part].assign(**{_TARGET: y[part]}) for part in (slice(1500), slice(1500, 3000))
    )
    given = {
        "file": {},
        "train": {"train": train, "target": _TARGET},
        "train and test": {"train": train, "test": test, "target": _TARGET},
    }
    found = []
    for mode in MODES:
        try:
            found.append(str(ta.scan(ta.load(model), **given[mode]).verdict))
        except ta.TreeauditError as error:
            found.append(f"error: {error}")
    return found


def main() -> None:
    """Measure, keep, and write both sections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kept", type=Path, default=Path("ensembles.json"))
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--measure-only", action="store_true")
    parser.add_argument("--leaf", type=int, action="append", help="these alone")
    parser.add_argument("--no-repairs", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = json.loads(options.kept.read_text("utf-8")) if options.kept.exists() else {}
    todo: list[tuple[str, Callable[[], Any]]] = []
    if not options.no_repairs:
        todo += [
            (f"{kind}|{name}", lambda kind=kind, name=name: repaired(kind, name))
            for name in ("adult", "magic")
            for kind in REPAIRS
        ]
    todo += [
        (f"{kind}|{leaf}|{name}", lambda k=kind, m=leaf, n=name: verdicts(k, m, n))
        for leaf in options.leaf or LEAVES
        for name in ("noise", "magic", "adult")
        for kind in MATRIX
    ]
    for key, measure in todo:
        if key not in kept:
            kept[key] = measure()
            print(key, kept[key], flush=True)
            options.kept.write_text(json.dumps(kept, indent=1), "utf-8")
    if options.measure_only:
        return
    before = json.loads(options.compare.read_text("utf-8")) if options.compare else {}
    document = replace_section(RESULTS.read_text("utf-8"), "repairs", _repairs(kept, before))
    RESULTS.write_text(replace_section(document, "verdicts", _matrix(kept, before)), "utf-8")


def _repairs(kept: dict[str, Any], before: dict[str, Any]) -> str:
    """Return the table of the 22 repairs."""
    rows = [(key, one) for key, one in kept.items() if isinstance(one, dict)]
    passed = sum(one["verdict"] == "pass" for _, one in rows)
    lines = [
        "# What `defend` makes of 22 ensembles, with people",
        "",
        f"Written by `python -m benchmarks.ensembles` (commit {commit()}). 1,500 people train, "
        "1,500 others are `--test`, accuracy (of numbers: R²) is that of the file, loaded by its "
        f"library, on 3,000 more. {passed} of {len(rows)} PASS when the file is scanned again.",
        "",
        "| table | model | as trained | repaired | change | trees | verdict | before |",
        "|---|---|---:|---:|---:|---:|---|---|",
    ]
    for key, one in rows:
        after = one.get("repaired", float("nan"))
        earlier = before.get(key, {})
        score = f" {earlier['repaired']:.3f}" if "repaired" in earlier else ""
        lines.append(
            f"| {one['table']} | {one['kind']} | {one['trained']:.3f} | {after:.3f} "
            f"| {after - one['trained']:+.3f} | {one.get('trees', '–')} "
            f"| {one['verdict'].upper() if len(one['verdict']) < 9 else 'nothing written'} "
            f"| {_earlier(earlier)}{score} |"
        )
    return "\n".join(lines)


def _earlier(one: dict[str, Any]) -> str:
    verdict = one.get("verdict", "–")
    return verdict.upper() if len(verdict) < 9 else "nothing written"


def _matrix(kept: dict[str, Any], before: dict[str, Any]) -> str:
    """Return the verdicts: a letter for each mode, and what they were."""
    lines = [
        "# Verdicts of fifteen kinds, as trained",
        "",
        f"Written by `python -m benchmarks.ensembles` (commit {commit()}). 1,500 people, 30 trees; "
        "P pass, R review, F fail: by the file alone, with `--train`, with `--train --test`; "
        "in brackets what an earlier version said, if it was something else.",
    ]
    for name in ("noise", "magic", "adult"):
        lines += ["", f"**{name}**", "", "| kind | " + " | ".join(map(str, LEAVES)) + " |"]
        lines.append("|---|" + "---|" * len(LEAVES))
        for kind in MATRIX:
            cells = []
            for leaf in LEAVES:
                now, old = (_letters(x.get(f"{kind}|{leaf}|{name}")) for x in (kept, before))
                cells.append(now if old in (now, "–") else f"{now} ({old})")
            lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _letters(found: list[str] | None) -> str:
    return " ".join(one[0].upper() for one in found) if found else "–"


if __name__ == "__main__":
    main()
