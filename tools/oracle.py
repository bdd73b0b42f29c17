"""Record what treeaudit reports on genuine models, and compare two records.

``python tools/oracle.py write OUT.json [FOLDER…]`` audits every file of the folders, the inputs of
the golden reports, the random models of ``tests/route`` and the models of ``tests/writers``; it
writes verdict, checks and findings of each, or the error. ``python tools/oracle.py compare
BEFORE.json AFTER.json`` prints what differs and ends with 1 if anything does. Extra content
(TA206) is left out: it is judged by its own tests. No search runs (``seconds=0``), so that two
runs on one machine are equal.
"""

import json
import pickle
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

LEFT_OUT = {"TA206", "max-extra-bytes", "require-canonical"}
"""Findings and checks that this record is not about."""

SEEDS = range(3)


def main(words: list[str]) -> int:
    """Run one of the two commands."""
    if words[:1] == ["write"] and len(words) > 1:
        write(Path(words[1]), [Path(word) for word in words[2:]])
        return 0
    if words[:1] == ["compare"] and len(words) == 3:
        return compare(*(json.loads(Path(word).read_text()) for word in words[1:]))
    print(__doc__)
    return 2


def write(out: Path, folders: list[Path]) -> None:
    """Audit all models, two at a time."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as made, ProcessPoolExecutor(2) as workers:
        models = dict(sorted([*files(folders), *fitted(Path(made))]))
        reports = workers.map(audited, models.values(), chunksize=4)
        record = dict(zip(models, reports, strict=True))
    out.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    verdicts = Counter(str(one.get("verdict", "error")) for some in record.values() for one in some)
    print(f"{len(record):,} files:", ", ".join(f"{n:,} {v}" for v, n in sorted(verdicts.items())))


def files(folders: list[Path]) -> Iterator[tuple[str, Path]]:
    """Yield the model files of the golden reports and of the folders."""
    for folder in (ROOT / "tests/golden/reports/inputs", *folders):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix not in (".csv", ".py", ".md", ".toml", ".R"):
                yield f"{folder.name}/{path.relative_to(folder)}", path


def fitted(folder: Path) -> Iterator[tuple[str, Path]]:
    """Fit the models that tests train, and yield the files that they are pickled to."""
    from tests.route.models import KINDS, draw
    from tests.writers.kinds import cases, fit

    for kind in KINDS:
        for seed in SEEDS:
            np.random.seed(0)  # noqa: NPY002  # what estimators without a seed draw from
            yield _pickled(folder, f"route/{kind}-{seed}", draw(kind, seed)[0].model)
    for i, (model, data) in enumerate(cases()):
        np.random.seed(0)  # noqa: NPY002
        yield _pickled(folder, f"writers/{i}-{type(model).__name__}", fit(model, data))


def _pickled(folder: Path, name: str, model: object) -> tuple[str, Path]:
    path = folder / f"{name.replace('/', '-')}.pkl"
    path.write_bytes(pickle.dumps(model))
    return name, path


def audited(path: Path) -> list[dict[str, Any]]:
    """Return what is reported on each model of a file, or the error."""
    from treeaudit.audit.scan import audit_all
    from treeaudit.errors import TreeauditError
    from treeaudit.findings.request import Request

    warnings.simplefilter("ignore")
    try:
        reports = audit_all(Request(model=path, seconds=0.0))
    except TreeauditError as error:
        return [{"error": type(error).__name__, "says": str(error)}]
    return [_reported(report.to_dict()) for report in reports]


def _reported(report: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a report that is compared."""
    return {
        "verdict": report["verdict"],
        "inside": report["model"].get("inside"),
        "model": {
            name: report["model"].get(name)
            for name in ("format", "estimator", "n_trees", "n_leaves", "n_features", "classes",
                         "n_records", "counts_are", "records_are")
        },
        "checks": {
            one["name"]: [one["status"], one["measured"]]
            for one in report["checks"]
            if one["name"] not in LEFT_OUT
        },
        "findings": {
            one["id"]: {**one, "details": _details(one["details"])}
            for one in report["findings"]
            if one["id"] not in LEFT_OUT
        },
    }  # fmt: skip


def _details(details: dict[str, Any]) -> dict[str, Any]:
    """Leave sentences out of the leftovers: their kind and their place count."""
    return {
        name: [[one["kind"], one["where"], one["n"]] for one in value]
        if name == "leftovers"
        else value
        for name, value in details.items()
    }


def compare(before: dict[str, Any], after: dict[str, Any]) -> int:
    """Print each difference, those of the same kind together."""
    found: dict[str, list[str]] = {}
    for name in sorted({*before, *after}):
        for difference in _differences(before.get(name), after.get(name)):
            found.setdefault(difference, []).append(name)
    for difference, names in sorted(found.items(), key=lambda one: -len(one[1])):
        print(f"{len(names):5,}  {difference}\n       {', '.join(names[:3])}")
    print(f"{len(found):,} differences")
    return 1 if found else 0


def _differences(before: Any, after: Any, where: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            yield from _differences(before.get(name), after.get(name), f"{where}.{name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, pair in enumerate(zip(before, after, strict=True)):
            yield from _differences(*pair, where if where.count(".") else f"{where}.{i}")
    elif before != after:
        yield f"{where}: {json.dumps(before)[:160]} -> {json.dumps(after)[:160]}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
