"""``python -m benchmarks.malformed``: what loaders do with trees that are no trees.

Each file is a small model whose table was changed in one place. Each is loaded and asked to
predict in a process of its own, and read by treeaudit. Writes the table of
``docs/safe-to-predict.md``. How a library ends is told where that is public, and of the others
only how many files they refuse.
"""

import io
import json
import pickle
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from treeaudit import TreeauditError, scan

__all__ = ["Malformed", "files", "main"]

PAGE = Path(__file__).parent.parent / "docs" / "safe-to-predict.md"
SECONDS = 10
FAR = 1 << 30
_MARKS = ("<!-- malformed: python -m benchmarks.malformed -->\n", "<!-- end -->")
_PUBLIC = {
    "scikit-learn": "[pull request 34558](https://github.com/scikit-learn/scikit-learn/pull/34558)",
    "skops": "[pull request 535](https://github.com/skops-dev/skops/pull/535)",
    "lightgbm": "[issue 7357](https://github.com/lightgbm-org/LightGBM/issues/7357)",
}
_MODULES = {"scikit-learn": "sklearn"}
_LOAD = {
    ".pkl": "import pickle; model = pickle.load(open(path, 'rb'))",
    ".skops": "import skops.io as io; trusted = io.get_untrusted_types(file=path); "
    "model = io.load(path, trusted=trusted)",
    ".txt": "import lightgbm; model = lightgbm.Booster(model_file=path)",
    ".json": "import xgboost; model = xgboost.Booster(model_file=path)",
    ".ubj": "import xgboost; model = xgboost.Booster(model_file=path)",
}


class Malformed(NamedTuple):
    """A file, the library that loads it, and its bytes."""

    library: str
    name: str
    data: bytes


def people() -> tuple[np.ndarray, np.ndarray]:
    """Return 300 rows: a number, a category of six, and which of two classes."""
    rng = np.random.default_rng(0)
    rows = np.c_[rng.normal(size=300), rng.integers(0, 6, 300)]
    return rows, ((rows[:, 0] > 0) ^ (rows[:, 1] % 2 > 0)).astype(int)


def _at(column: str, value: float) -> Callable[[dict[str, Any]], None]:
    def change(state: dict[str, Any]) -> None:
        state["nodes"][column][0] = value

    return change


def _stated(**values: object) -> Callable[[dict[str, Any]], None]:
    return lambda state: state.update(values)


TABLES: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "child-out-of-range": _at("left_child", FAR),
    "child-before-the-first": _at("left_child", -5),
    "ring": _at("left_child", 0),
    "feature-out-of-range": _at("feature", FAR),
    "threshold-no-number": _at("threshold", np.nan),
    "depth-too-small": _stated(max_depth=1),
}
UNLOADED: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "too-few-nodes": _stated(node_count=3),
    "values-of-another-shape": lambda state: state.update(values=state["values"][:, :, :1].copy()),
}


def _changed(change: Callable[[dict[str, Any]], None]) -> tuple[Any, tuple[Any, ...], Any]:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(*people())
    _, args, state = model.tree_.__reduce__()
    state = {name: v.copy() if isinstance(v, np.ndarray) else v for name, v in state.items()}
    change(state)
    return model, args, state


def pickles() -> Iterator[Malformed]:
    """Yield pickles of scikit-learn."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.tree._tree import Tree

    for name, change in (TABLES | UNLOADED).items():
        model, args, state = _changed(change)

        class Pickler(pickle.Pickler):
            made = (Tree, args, state)

            def reducer_override(self, value: object) -> object:
                return self.made if isinstance(value, Tree) else NotImplemented

        sink = io.BytesIO()
        Pickler(sink).dump(model)
        yield Malformed("scikit-learn", f"{name}.pkl", sink.getvalue())
    for column, value in (("left", FAR), ("left", 0), ("feature_idx", FAR)):
        model = HistGradientBoostingClassifier(max_iter=1).fit(*people())
        model._predictors[0][0].nodes[column][0] = value
        yield Malformed("scikit-learn", f"boosting-{column}-{value}.pkl", pickle.dumps(model))


def archives() -> Iterator[Malformed]:
    """Yield skops files."""
    import skops.io
    from sklearn.tree._tree import Tree

    for name, change in TABLES.items():
        model, args, state = _changed(change)
        model.tree_ = Tree(*args)
        model.tree_.__setstate__(state)
        yield Malformed("skops", f"{name}.skops", skops.io.dumps(model))


def texts() -> Iterator[Malformed]:
    """Yield text models of LightGBM."""
    import lightgbm

    rows, labels = people()
    made = lightgbm.Dataset(rows, labels, categorical_feature=[1])
    told = {"objective": "binary", "verbose": -1, "num_leaves": 6, "num_threads": 1}
    told |= {"min_data_per_group": 1, "cat_smooth": 1, "max_cat_to_onehot": 1, "seed": 0}
    lines = lightgbm.train(told, made, 1).model_to_string().split("\n")
    # Without it trees may have any length.
    lines = [line for line in lines if not line.startswith("tree_sizes=")]
    decisions = next(line for line in lines if line.startswith("decision_type="))
    by_set = next(i for i, word in enumerate(decisions[14:].split()) if int(word) & 1)
    for name, field, at, value in (
        ("child-out-of-range", "left_child", 0, str(FAR)),
        ("leaf-out-of-range", "left_child", 0, str(-FAR)),
        ("ring", "left_child", 0, "0"),
        ("feature-out-of-range", "split_feature", 0, str(FAR)),
        ("set-out-of-range", "threshold", by_set, str(FAR)),
        ("set-too-long", "cat_boundaries", 1, str(FAR)),
    ):
        changed = []
        for line in lines:
            key, _, stated = line.partition("=")
            words = stated.split()
            if key == field:
                words[at] = value
                line = f"{key}={' '.join(words)}"
            changed.append(line)
        yield Malformed("lightgbm", f"{name}.txt", "\n".join(changed).encode())


def documents() -> Iterator[Malformed]:
    """Yield models of XGBoost, as JSON and as UBJSON."""
    import xgboost

    rows, labels = people()
    booster = xgboost.train(
        {"max_depth": 3, "objective": "binary:logistic", "seed": 0},
        xgboost.DMatrix(rows, labels),
        num_boost_round=1,
    )
    plain = json.loads(bytes(booster.save_raw("json")))
    for field, value in (("left_children", FAR), ("left_children", 0), ("split_indices", FAR)):
        document = json.loads(json.dumps(plain))
        document["learner"]["gradient_booster"]["model"]["trees"][0][field][0] = value
        yield Malformed("xgboost", f"{field}-{value}.json", json.dumps(document).encode())
    packed = bytes(booster.save_raw("ubj"))
    at = packed.index(b"left_children[$l#L") + len(b"left_children[$l#L") + 8
    changed = packed[:at] + FAR.to_bytes(4, "big") + packed[at + 4 :]
    yield Malformed("xgboost", "left_children.ubj", changed)


def files() -> Iterator[Malformed]:
    """Yield every file whose library is installed."""
    for made in (pickles, archives, texts, documents):
        try:
            yield from made()
        except ImportError:
            continue


def ends(path: Path) -> str:
    """Return how a process ends that loads the file and predicts."""
    ask = "xgboost.DMatrix(rows)" if path.suffix in (".json", ".ubj") else "rows"
    paths = "model.decision_path(rows)" if "depth" in path.name else "0"
    code = (
        f"import signal; import numpy as np; path = {str(path)!r}; {_LOAD[path.suffix]}; "
        "rng = np.random.default_rng(1); "
        "rows = np.c_[rng.normal(size=50), rng.integers(0, 6, 50)]; "
        f"signal.alarm({SECONDS}); model.predict({ask}); {paths}"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode < 0:
        return "hangs" if done.returncode == -signal.SIGALRM else "crashes"
    return "answers" if done.returncode == 0 else "refuses"


def is_stopped(path: Path) -> bool:
    """Tell whether treeaudit refuses the file, or fails it."""
    try:
        report = scan(path, attacks=("TA207",))
    except TreeauditError:
        return True
    checks = {check.name: check.status for check in report.checks}
    return checks["max-malformed-parts"] == "fail"


def main() -> None:
    """Try every file, and write the table."""
    counted: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for one in files():
            path = Path(folder) / one.name
            path.write_bytes(one.data)
            tally = counted.setdefault(one.library, Counter())
            end = ends(path)
            tally.update(("files", end, "stopped" if is_stopped(path) else "let through"))
            print(one.library, one.name, end, file=sys.stderr)
    heads = ("library", "files", "refuses", "crashes", "hangs", "answers")
    heads = (*heads, "treeaudit refuses or fails", "published")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for library, n in counted.items():
        shown = [n["refuses"], n["crashes"], n["hangs"], n["answers"]]
        told = shown if library in _PUBLIC else [n["refuses"], "–", "–", "–"]
        version = import_module(_MODULES.get(library, library)).__version__
        cells = (f"{library} {version}", n["files"], *told, n["stopped"])
        lines.append("| " + " | ".join(map(str, (*cells, _PUBLIC.get(library, "–")))) + " |")
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(_MARKS[0])
    text = "\n".join(lines)
    _, mark, tail = rest.partition(_MARKS[1])
    PAGE.write_text(f"{head}{_MARKS[0]}\n{text}\n\n{mark}{tail}", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
