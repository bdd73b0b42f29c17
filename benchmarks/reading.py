"""``python -m benchmarks.reading``: what it costs to read a model, by format.

The floor is what loads such a file the usual way; where nothing does, what parses its text.
``--before CHECKOUT`` measures another checkout of treeaudit in the same run.
"""

import argparse
import json
import pickle
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import joblib
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.models import data
from benchmarks.sections import RESULTS, replace_section

__all__ = ["FLOORS", "files"]

FLOORS: dict[str, tuple[str, str]] = {
    "pickle, tree": ("import sklearn.tree, pickle", "pickle.load(open(path, 'rb'))"),
    "pickle, forest": ("import sklearn.ensemble, pickle", "pickle.load(open(path, 'rb'))"),
    "joblib": ("import sklearn.ensemble, joblib", "joblib.load(path)"),
    "skops": (
        "import sklearn.ensemble, skops.io",
        "skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))",
    ),
    "XGBoost JSON": ("import xgboost", "xgboost.Booster().load_model(path)"),
    "XGBoost UBJSON": ("import xgboost", "xgboost.Booster().load_model(path)"),
    "LightGBM text": ("import lightgbm", "lightgbm.Booster(model_file=path)"),
    "LightGBM JSON": ("import json", "json.load(open(path))"),
    "CatBoost JSON": ("import catboost", "catboost.CatBoost().load_model(path, format='json')"),
    "ONNX": ("import onnx", "onnx.load(path)"),
    "PMML": ("import xml.etree.ElementTree as etree", "etree.parse(path)"),
}
"""Imports and code by format: the genuine loader, or a parser of its text."""

_ENDINGS = dict(
    zip(
        FLOORS,
        ("tree.pkl", "pkl", "joblib", "skops", "json", "ubj", "txt", "lgb.json", "cb.json", "onnx",
         "pmml"),
        strict=True,
    )
)  # fmt: skip


def main() -> None:
    """Measure everything in one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="another checkout of treeaudit")
    parser.add_argument("--only", default="", help="formats whose name holds this; not written")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "treeaudit-reading"
    )
    options = parser.parse_args()
    lines = _heading(options.before)
    for name, (path, small) in files(options.folder).items():
        if options.only not in name:
            continue
        costs = _costs(name, path, small, options.before, options.runs)
        lines.append(_line(name, path, costs))
        print(lines[-1], flush=True)
    text = "\n".join(lines)
    if not options.only:
        document = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else ""
        RESULTS.write_text(replace_section(document, "reading", text), encoding="utf-8")


def _heading(before: Path | None) -> list[str]:
    earlier = ""
    if before is not None:
        named = subprocess.run(
            ["git", "-C", str(before), "rev-parse", "--short", "HEAD"],
            capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip
        earlier = f" *Before* is commit {named}; bound: 1.25 times that."
    return [
        "# What reading costs, by format",
        "",
        "Written by `python -m benchmarks.reading`. CPU seconds of a call, medians, all of a line "
        "measured in one run, in turn, each in a process of its own that has read such a file "
        "before. Ours: every byte accounted for, the SHA-256 of the file, every tree built and "
        "checked. Floor: what loads such a file (`pickle`, `joblib`, `skops`, the "
        f"library), else what parses its text (`json`, `ElementTree`).{earlier} Python "
        f"{platform.python_version()}, {platform.machine()}.",
        "",
        "| | MB | floor | before | now | now / floor | now / before | bound |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
    ]


_WORKER = """
import sys, time, warnings
warnings.simplefilter("ignore")
{start}
path = {small!r}
{call}
path = {large!r}
for _ in sys.stdin:
    begun = time.process_time()
    {call}
    print(time.process_time() - begun, flush=True)
"""


def _costs(
    name: str, large: Path, small: Path, before: Path | None, runs: int
) -> dict[str, float | None]:
    """Return medians; a process for each reader, asked in turn, the first turn not counted."""
    read = (
        "forest = treeaudit.readers.load(path); list(map(id, forest.trees)); forest.source.sha256"
    )
    programs = {"floor": FLOORS[name]}
    for title, checkout in (("now", Path(__file__).parents[1]), ("before", before)):
        if checkout is not None:
            start = f"sys.path.insert(0, {str(checkout)!r}); import treeaudit.readers"
            programs[title] = (start, read)
    workers = {
        title: subprocess.Popen(
            [
                *(sys.executable, "-c"),
                _WORKER.format(start=start, small=str(small), large=str(large), call=call),
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for title, (start, call) in programs.items()
    }  # fmt: skip
    spent: dict[str, list[float]] = {title: [] for title in workers}
    for _ in range(runs + 1):
        for title, worker in workers.items():
            print("again", file=worker.stdin, flush=True)
            spent[title].append(float(worker.stdout.readline() if worker.stdout else ""))
    for worker in workers.values():
        worker.communicate()
    return {
        title: statistics.median(spent[title][1:]) if title in spent else None
        for title in ("floor", "before", "now")
    }


def _line(name: str, path: Path, costs: dict[str, float | None]) -> str:
    def ratio(over: str, under: str) -> str:
        a, b = costs[over], costs[under]
        return "–" if a is None or b is None else f"{a / max(b, 1e-9):.2f}"

    cells = [name, f"{path.stat().st_size / 1e6:,.1f}"]
    cells += ["–" if cost is None else f"{cost:.3f}" for cost in costs.values()]
    cells += [ratio("now", "floor"), ratio("now", "before"), _bound(name, costs)]
    return f"| {' | '.join(cells)} |"


def _bound(name: str, costs: dict[str, float | None]) -> str:
    """Return what we promise beside the loader of a library, and whether it is a miss."""
    library, _, form = name.partition(" ")
    most = {"XGBoost": 4, "LightGBM": 4, "CatBoost": 4, "pickle,": 4}.get(library)
    if most is None or name == "LightGBM JSON" or form == "forest":
        return ""
    now, floor = costs["now"], costs["floor"]
    assert now is not None
    assert floor is not None
    return f"≤ {most} ×" if now <= most * floor else f"**MISS** (≤ {most} ×)"


def files(folder: Path) -> dict[str, tuple[Path, Path]]:
    """Return a model of 100 to 1,000 trees, and one of two, by format; trains them once."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {
        name: (folder / f"large.{ending}", folder / f"small.{ending}")
        for name, ending in _ENDINGS.items()
    }
    for i, rows in enumerate((40_000, 500)):
        todo = {name: both[i] for name, both in names.items() if not both[i].is_file()}
        for name, path in todo.items():
            _write(name, path, rows, small=bool(i))
    return names


def _write(name: str, path: Path, rows: int, *, small: bool) -> None:
    trees = 2 if small else 1_000
    x, y = data(rows * 10 if name == "pickle, tree" and not small else rows)
    library, _, form = name.partition(" ")
    if library == "XGBoost":
        import xgboost

        xgboost.XGBClassifier(n_estimators=trees, max_depth=6).fit(x, y).save_model(path)
    elif library == "LightGBM":
        import lightgbm

        booster = lightgbm.LGBMClassifier(n_estimators=trees, verbose=-1).fit(x, y).booster_
        if form == "text":
            booster.save_model(path)
        else:
            path.write_text(json.dumps(booster.dump_model()), encoding="utf-8")
    elif library == "CatBoost":
        import catboost

        model = catboost.CatBoostClassifier(iterations=trees, verbose=0, allow_writing_files=False)
        model.fit(x, y).save_model(str(path), format="json")
    else:
        grown = {"ONNX": 10, "PMML": 8, "skops": 14}.get(name)
        model = (
            DecisionTreeClassifier(random_state=0)
            if name == "pickle, tree"
            else RandomForestClassifier(
                min(trees, 100), max_depth=3 if small else grown, random_state=0, n_jobs=2
            )
        ).fit(x, y)
        _SAVE[library.strip(",")](model, path)


def _skops(model: object, path: Path) -> None:
    import skops.io

    skops.io.dump(model, path)


def _onnx(model: object, path: Path) -> None:
    import skl2onnx
    from skl2onnx.common.data_types import FloatTensorType

    kinds = [("x", FloatTensorType([None, 14]))]
    path.write_bytes(skl2onnx.to_onnx(model, initial_types=kinds).SerializeToString())


def _pmml(model: object, path: Path) -> None:
    import nyoka
    from sklearn.pipeline import Pipeline

    columns = [f"x{i}" for i in range(14)]
    nyoka.skl_to_pmml(Pipeline([("model", model)]), columns, "label", str(path))


_SAVE: dict[str, Callable[[object, Path], object]] = {
    "pickle": lambda model, path: path.write_bytes(pickle.dumps(model, protocol=5)),
    "joblib": joblib.dump,
    "skops": _skops,
    "ONNX": _onnx,
    "PMML": _pmml,
}


if __name__ == "__main__":
    main()
