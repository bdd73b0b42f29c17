"""What ``defend --policy default`` makes of what people have, with people at hand.

Public tables of ``TREEAUDIT_DATA`` x (tree, forest of 100, gradient boosting, XGBoost, LightGBM),
each as its library trains it unless told otherwise. A third of the rows trains, a third is the
``--test`` of ``defend``, and on the last third, which nobody has seen, accuracy is measured before
and after. ``python -m benchmarks.defended`` writes a section of ``RESULTS.md``; what was measured
is kept in ``--kept`` a line each and not measured again.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from benchmarks.sections import RESULTS, replace_section
from benchmarks.together import excess
from treeaudit.repair.attempts import Attempt, Repair, nearest_miss
from treeaudit.repair.defend import RepairRequest, repair

KINDS = ("tree", "forest", "gradient boosting", "XGBoost", "LightGBM")
_LABEL, _NUMBERS_OF_ROWS = "the label", ("ID",)


def parts(folder: Path, rows: int, fewest: int) -> Iterator[tuple[str, list[pd.DataFrame]]]:
    """Yield the name of each table that is long enough, and its three parts."""
    for path in sorted(folder.glob("*.csv.gz")):
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
        frame = frame.dropna(subset=[frame.columns[-1]])
        if len(frame) < fewest:
            continue
        frame = frame.sample(frac=1, random_state=0).head(3 * rows).reset_index(drop=True)
        *features, target = (name for name in frame.columns if name not in _NUMBERS_OF_ROWS)
        made = pd.DataFrame(
            {
                # Names that all libraries keep as they are.
                name.replace(" ", "_"): frame[name].fillna(-1)
                if pd.api.types.is_numeric_dtype(frame[name])
                else pd.factorize(frame[name], sort=True)[0]
                for name in features
            }
        )
        third = len(frame) // 3
        known = np.unique(frame[target][:third])
        label = pd.Series(np.searchsorted(known, frame[target]))
        made[_LABEL] = label.where(frame[target].isin(known), -1)
        cut = [made[:third], made[third : 2 * third], made[2 * third : 3 * third]]
        yield path.name.split(".")[0], [cut[0], *(one[one[_LABEL] >= 0] for one in cut[1:])]


def trained(kind: str, x: pd.DataFrame, y: pd.Series, folder: Path) -> tuple[Any, Path]:
    """Return a model and the file that its library writes."""
    if kind == "XGBoost":
        import xgboost

        model = xgboost.XGBClassifier(n_jobs=1).fit(x, y)
        path = folder / "model.ubj"
        model.save_model(path)
        return model, path
    if kind == "LightGBM":
        import lightgbm

        model = lightgbm.LGBMClassifier(n_jobs=1, verbose=-1).fit(x, y)
        path = folder / "model.txt"
        model.booster_.save_model(path)
        return model, path
    made = {
        "tree": DecisionTreeClassifier(random_state=0),
        "forest": RandomForestClassifier(100, random_state=0),
        "gradient boosting": GradientBoostingClassifier(random_state=0),
    }[kind]
    path = folder / "model.joblib"
    joblib.dump(made.fit(x, y), path)
    return made, path


def loaded(kind: str, path: Path) -> Any:  # noqa: ANN401  # three libraries
    """Return what a library makes of a file; an error where it is not of its form."""
    if kind == "XGBoost":
        import xgboost

        model = xgboost.XGBClassifier()
        model.load_model(path)
        return model
    if kind == "LightGBM":
        import lightgbm

        return lightgbm.Booster(model_file=str(path))
    return joblib.load(path)


def right(model: Any, people: pd.DataFrame) -> float:  # noqa: ANN401
    """Return the share of people whose label a model of any library answers."""
    x = people.drop(columns=_LABEL)
    said = np.asarray(model.predict(x))
    if said.dtype.kind == "f" and type(model).__name__ == "Booster":
        said = said.argmax(axis=1) if said.ndim == 2 else said > 0.5
    return float((said.astype(int) == people[_LABEL]).mean())


def measured(name: str, kind: str, tables: list[pd.DataFrame]) -> Mapping[str, Any]:
    """Train, defend, write, read again; one line of the table."""
    train, test, unseen = tables
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        model, path = trained(kind, train.drop(columns=_LABEL), train[_LABEL], Path(folder))
        wanted = RepairRequest(train=train, test=test, target=_LABEL)
        row: dict[str, Any] = {"table": name, "kind": kind, "people": len(train)}
        row["right"] = [right(model, unseen), None]
        try:
            done = repair(path, wanted)
        except ta.TreeauditError as error:
            return row | {"verdict": "error", "says": str(error), "cpu": _since(began)}
        row |= {"verdict": done.after.report.verdict, "says": _says(done)}
        row["trees"] = [one.forest.n_trees for one in (done.before, done.after)]
        row["smallest"] = [_smallest(one) for one in (done.before, done.after)]
        row["was"] = done.before.report.verdict
        joint = {c.name: c.measured for c in done.after.report.checks if c.attack == "TA106"}
        row["excess"] = joint.get("max-joint-label-excess") if done.forest.n_trees > 1 else None
        after = model if row["was"] == "pass" else _written(done, kind, path, row, wanted)
        if after is not None:
            row["right"][1] = right(after, unseen)
        if kind == "forest" and after is not None:
            x = train.drop(columns=_LABEL).to_numpy()
            row["apart"] = excess(after, x, train[_LABEL].to_numpy())
    return row | {"cpu": _since(began)}


def _written(
    done: Repair, kind: str, path: Path, row: dict[str, Any], wanted: RepairRequest
) -> Any:  # noqa: ANN401
    """Write a repaired model in the form of its library, read and audit it again."""
    target = path.with_name(f"safe{path.suffix}")
    try:
        ta.save(done.forest, target)
        after = loaded(kind, target)
    except (ta.TreeauditError, ValueError) as error:
        row["verdict"] = "not written" if row["verdict"] == "pass" else row["verdict"]
        row["says"] = f"{row['says']}; {error}".strip("; ")
        return None
    again = done.counting.audited(ta.load(target), wanted.resolved())
    row["verdict"] = again.verdict
    return after


def _since(began: float) -> float:
    return round(time.process_time() - began, 1)


def _smallest(one: Attempt) -> int | None:
    found = {finding.id: finding.details for finding in one.report.findings}
    details = found.get("TA101")
    return None if details is None else int(getattr(details, "min_leaf"))  # noqa: B009


def _says(done: Repair) -> str:
    if done.passed:
        return "; ".join(done.steps) or "as it is"
    return nearest_miss(done)


def written(rows: list[Mapping[str, Any]], people: int) -> str:
    """Return the section."""
    passed = [one for one in rows if one["verdict"] == "pass"]
    cheap = [one for one in passed if _cost(one) is not None and _cost(one) <= 1.0]
    joint = [one for one in passed if one["kind"] == "forest"]
    most = max((one["apart"] for one in joint if one["trees"][1] > 1), default=0.0)
    text = [
        "# What `defend` makes of what people have",
        "",
        f"Written by `python -m benchmarks.defended --rows {people}`: public tables of at least "
        f"3,000 rows, at most {people:,} people to train on, as many for `--test`, as many unseen "
        "by anybody, on whom accuracy is measured. Models as their libraries train them, the "
        "column `ID` of loan left out, policy `default`, judged with the training people, written, "
        "read by their library and audited again. *Beyond* is what all trees give back beyond the "
        "model's answers: by treeaudit, and by `benchmarks/together.py`, which shares no code with "
        "it (numpy and scipy); of boosters that does not apply, as their trees add up steps (the "
        "labels that their first round tells are judged).",
        "",
        f"**{len(passed)} of {len(rows)} PASS, {len(joint)} forests judged together among them; "
        f"{len(cheap)} lose at most one point on unseen people. The most that a passing forest "
        f"gives back, by an independent program: {most:.1%} (policy: 5.0%).**",
        "",
        "| table | people | model | verdict | trees | smallest leaf | unseen accuracy | points | "
        "beyond, by an independent program |",
        "|---|---:|---|---|---|---|---|---:|---|",
    ]
    for one in rows:
        trees, smallest = one.get("trees", [None] * 2), one.get("smallest", [None] * 2)
        cost = _cost(one)
        text.append(
            f"| {one['table']} | {one['people']:,} | {one['kind']} | {one['verdict'].upper()} | "
            f"{_pair(trees)} | {_pair(smallest)} | {_pair(one['right'], '.1%')} | "
            f"{'–' if cost is None else f'{-cost:+.1f}'} | {_beyond(one)} |"
        )
    text += ["", "What stands against the others:", ""]
    text += [
        f"* {one['table']}, {one['kind']}: {one['says']}"
        for one in rows
        if one["verdict"] != "pass"
    ]
    return "\n".join(text)


def _cost(one: Mapping[str, Any]) -> float | None:
    before, after = one["right"]
    return None if after is None else 100 * (before - after)


def _pair(pair: list[Any], form: str = ",") -> str:
    before, after = ("–" if one is None else format(one, form) for one in pair)
    return before if before == after else f"{before} → {after}"


def _beyond(one: Mapping[str, Any]) -> str:
    if one.get("apart") is None or one.get("excess") is None:
        return "–"
    return f"{one['excess']:.1%}, {one['apart']:.1%}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000, help="people to train on, at most")
    parser.add_argument("--tables", nargs="+", help="only these")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--kept", type=Path, default=Path("defended.jsonl"))
    parser.add_argument("--seconds", type=float, default=500, help="CPU; run again to go on")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = asked.kept.read_text().splitlines() if asked.kept.is_file() else []
    kept = {(row["table"], row["kind"]): row for row in map(json.loads, lines)}
    whole = True
    for table, three in parts(Path(os.environ["TREEAUDIT_DATA"]), asked.rows, 3_000):
        for kind in asked.kinds:
            if (table, kind) in kept or (asked.tables and table not in asked.tables):
                continue
            if time.process_time() > asked.seconds:
                whole = False
                continue
            kept[table, kind] = found = measured(table, kind, three)
            print(json.dumps(found), file=sys.stderr, flush=True)
            with asked.kept.open("a") as file:
                file.write(json.dumps(found) + "\n")
    order = sorted(kept, key=lambda key: (key[0], KINDS.index(key[1])))
    section = written([kept[key] for key in order], asked.rows)
    print(section)
    if whole and not asked.tables:
        RESULTS.write_text(replace_section(RESULTS.read_text(), "defended", section))
