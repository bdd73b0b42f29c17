"""Write down which attributes the estimators of each library version have.

``python tools/inventory.py fit FOLDER`` fits everything that the installed
scikit-learn (imbalanced-learn, XGBoost, LightGBM) has and pickles it; run it
under each version. ``python tools/inventory.py collect FOLDER...`` reads the
pickles of all versions, and any other folder of honest models, with treeaudit
itself and writes ``treeaudit/readers/residual/attributes.txt``. ``python tools/inventory.py own``
writes the trainers of this package into it anew, from what they state, and
``python tools/inventory.py boosters FOLDER...`` adds what pickles of XGBoost and LightGBM hold.
"""

import contextlib
import inspect
import json
import pickle
import re
import sys
import warnings
from pathlib import Path

_WORD = re.compile(r"[A-Za-z_-]{2,40}")
OUT = Path(__file__).parents[1] / "treeaudit/readers/residual/attributes.txt"


def fit(folder: Path) -> None:
    import numpy as np
    from inventory_models import models

    warnings.simplefilter("ignore")
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.RandomState(0)
    x = np.abs(rng.normal(size=(211, 5))) + 0.1
    number = x[:, 0] + rng.normal(size=211) / 3 + 1
    three = np.digitize(number, np.quantile(number, [0.3, 0.6]))
    targets = {
        "text": np.array(["no", "some", "yes"])[three],
        "two": (number > np.median(number)).astype(int),
        "number": number,
        "outputs": np.c_[number, number**2],
        "labels": np.c_[three > 0, three > 1].astype(int),
        "none": None,
    }
    words = {}
    for i, model in enumerate(models()):
        with contextlib.suppress(Exception):
            words |= _stated(type(model))
        for name, y in targets.items():
            for form, data in (("array", x), ("frame", _frame(x)), ("holes", _with_holes(x))):
                with contextlib.suppress(Exception):
                    copy = pickle.loads(pickle.dumps(model))
                    made = copy.fit(data) if y is None else copy.fit(data, y)
                    kind = f"{i}-{type(model).__name__}-{name}-{form}.pkl"
                    (folder / kind).write_bytes(pickle.dumps(made))
    (folder / "stated.json").write_text(json.dumps(words))
    print(len(list(folder.glob("*.pkl"))), "models of", len(words), "classes")


def _with_holes(x):
    holes = x.copy()
    holes[::7, 1] = float("nan")
    return holes


def _frame(x):
    import pandas as pd

    return pd.DataFrame(x, columns=["age", "pay", "height", "weight", "code"])


def _stated(cls) -> dict[str, dict[str, object]]:
    """Return what a class says of its parameters: options, and which may be lists or models."""
    params = inspect.signature(cls.__init__).parameters
    told = {name: [] for name in params if name not in ("self", "args", "kwargs")}
    constraints = getattr(cls, "_parameter_constraints", {})
    for name in told:
        default = params[name].default
        if isinstance(default, str):
            told[name].append(default)
        rules = constraints.get(name, ()) if isinstance(constraints, dict) else ()
        for rule in rules if isinstance(rules, list) else ():
            told[name] += [str(o) for o in getattr(rule, "options", ()) if isinstance(o, str)]
            if rule in ("array-like", list, tuple, dict) or "ndarray" in str(rule):
                told[name].append(":s")
            if type(rule).__name__ == "HasMethods" or rule in ("cv_object", "random_state"):
                told[name].append(":o")
    return {cls.__name__: told}


def collect(folders: list[Path]) -> None:
    from treeaudit.errors import ReadError
    from treeaudit.readers.limits import LIMITS
    from treeaudit.readers.open import open_file
    from treeaudit.readers.pickle import model as pickle
    from treeaudit.readers.skops import model as skops

    known: dict[str, dict[str, set[str]]] = {}
    words: set[str] = set()
    for folder in folders:
        stated = folder / "stated.json"
        for kind, told in (json.loads(stated.read_text()) if stated.exists() else {}).items():
            for name, what in told.items():
                codes = known.setdefault(kind, {}).setdefault(name, set())
                codes |= {w[1:] for w in what if w[:1] == ":"}
                words |= {w for w in what if w[:1] != ":"}
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or path.suffix not in (".pkl", ".joblib", ".skops"):
                continue
            try:
                content = open_file(path, LIMITS)
                file = skops if skops.matches(content) else pickle
                _note(file.parse(content, LIMITS).root, known, words)
            except ReadError as error:
                print(path.name, type(error).__name__, str(error)[:100])
    from sklearn.metrics import get_scorer_names

    words |= set(get_scorer_names()).union(known, *known.values())
    words = {w.replace(" ", "␣") for w in words if w and len(w) <= 40}
    lines = ["words " + " ".join(sorted(words))]
    for kind in _OF_THEIR_OWN:
        known.pop(kind, None)
    for kind, names in sorted(known.items()):
        each = (f"{n}:{_code(c)}" if _code(c) else n for n, c in sorted(names.items()))
        lines.append(f"{kind} {' '.join(each)}")
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(len(known), "classes,", sum(map(len, known.values())), "attributes,", OUT.stat().st_size)


def own() -> None:
    """Write the trainers anew: their parameters, the options of these, and what a fit adds."""
    from treeaudit.trainers.algorithms import ALGORITHMS

    first, *lines = OUT.read_text(encoding="utf-8").splitlines()
    words, kept = set(first.split()[1:]), {line.split()[0]: line for line in lines}
    for trainer in ALGORITHMS:
        params, options = stated_by(trainer)
        fitted = {"feature_names_in_:n1", "forest_:dn5", "n_features_in_"}
        fitted |= {"classes_:n1"} if hasattr(trainer, "predict_proba") else set()
        fresh = f"{trainer.__name__} {' '.join(sorted(params | fitted))}"
        if _bare(kept.get(trainer.__name__, "")) != _bare(fresh):
            kept[trainer.__name__] = fresh
        words |= {word.replace(" ", "\u2423") for word in {trainer.__name__, *params, *options}}
    text = ["words " + " ".join(sorted(words)), *(kept[kind] for kind in sorted(kept))]
    OUT.write_text("\n".join(text) + "\n", encoding="utf-8")


def boosters(folders: list[Path]) -> None:
    """Add the attributes of wrappers and boosters in the pickles of some folders."""
    from treeaudit.errors import ReadError
    from treeaudit.readers.limits import LIMITS
    from treeaudit.readers.open import open_file
    from treeaudit.readers.pickle import model as pickle

    first, *lines = OUT.read_text(encoding="utf-8").splitlines()
    words, kept = set(first.split()[1:]), {line.split()[0]: set(line.split()[1:]) for line in lines}
    known: dict[str, dict[str, set[str]]] = {}
    for path in sorted(path for folder in folders for path in folder.glob("*.pkl")):
        try:
            _note(pickle.parse(open_file(path, LIMITS), LIMITS).root, known, words)
        except ReadError as error:
            print(path.name, type(error).__name__, str(error)[:100])
    for kind, names in known.items():
        if kind.startswith(("XGB", "LGBM")) or kind in ("Booster", "EarlyStopping"):
            _add(kept, kind, {f"{n}:{_code(c)}" if _code(c) else n for n, c in names.items()})
    text = ["words " + " ".join(sorted(word.replace(" ", "\u2423") for word in words if word))]
    text += [f"{kind} {' '.join(sorted(kept[kind]))}".rstrip() for kind in sorted(kept)]
    OUT.write_text("\n".join(text) + "\n", encoding="utf-8")


def _add(kept: dict[str, set[str]], kind: str, names: set[str]) -> None:
    """Add attributes of a class: a value may have any form that it was seen in."""
    forms: dict[str, set[str]] = {}
    for name, _, codes in (one.partition(":") for one in names | kept.get(kind, set())):
        forms.setdefault(name, set()).update(codes)
    kept[kind] = {f"{name}:{_code(c)}" if c else name for name, c in forms.items()}


def _bare(line: str) -> list[str]:
    return [each.partition(":")[0] for each in line.split()]


def stated_by(trainer) -> tuple[set[str], set[str]]:
    """Return the parameters of a trainer, and the options that their types name."""
    from typing import Literal, get_args, get_origin, get_type_hints

    hints, options = get_type_hints(trainer), set()
    params = set(trainer().get_params(deep=False))
    for name in params:
        for part in (hints[name], *get_args(hints[name])):
            if get_origin(part) is Literal:
                options |= {str(option) for option in get_args(part)}
    return params, options


def _code(codes: set[str]) -> str:
    sizes = {c for c in codes if c.isdigit()}
    return "".join(sorted(codes - sizes)) + max(sizes, default="")


# Their parts are gone through one by one.
_OF_THEIR_OWN = ("Tree", "TreePredictor", "newObj")


def _note(root: object, known: dict[str, dict[str, set[str]]], words: set[str]) -> None:
    from treeaudit.readers.pickle.inert import Inert
    from treeaudit.readers.walk import Walk

    libraries = ("sklearn", "_loss", "imblearn", "xgboost", "lightgbm", "treeaudit", "scipy")
    for place in Walk(root):
        value = place.value
        if isinstance(value, Inert) and value.cls.module.partition(".")[0] in libraries:
            names = known.setdefault(value.kind, {})
            for name, part in value.attributes.items():
                if name.isprintable() and " " not in name:
                    names.setdefault(name, set()).update(_codes(part, 0))
                    held = [*part, *part.values()] if isinstance(part, dict) else [part]
                    if value.kind == "Booster" and isinstance(part, dict):
                        words.update(key for key in part if isinstance(key, str))
                    words |= {one for one in held if isinstance(one, str) and _WORD.fullmatch(one)}


def _codes(part: object, depth: int) -> set[str]:
    """Say the forms of a value: o object, n text in a row, d dictionary, a digit for axes."""
    import numpy as np

    from treeaudit.readers.pickle.arrays import arrived
    from treeaudit.readers.pickle.inert import Inert

    part = arrived(part)
    if isinstance(part, Inert):
        return {"o"}
    if isinstance(part, np.ndarray) and part.dtype == object:
        return set().union({str(part.ndim)}, *(_codes(p, 1) for p in part.ravel()[:50]))
    if isinstance(part, np.ndarray):
        return {"n"} if part.dtype.kind in "US" else {str(min(9, depth + part.ndim))}
    if isinstance(part, dict):
        return set().union({"d"}, *(_codes(p, depth + 1) for p in list(part.values())[:50]))
    if isinstance(part, (list, tuple)):
        return set().union({str(depth + 1)}, *(_codes(p, depth + 1) for p in part[:50]))
    if isinstance(part, str) and depth:
        return {"n"}
    return {"b"} if isinstance(part, (bytes, memoryview, bytearray)) else set()


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    folders = [Path(folder) for folder in rest]
    if command == "own":
        own()
    elif command == "fit":
        fit(*folders)
    else:
        boosters(folders) if command == "boosters" else collect(folders)
