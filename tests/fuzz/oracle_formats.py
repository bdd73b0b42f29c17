"""Compare what treeaudit reads in damaged XGBoost, LightGBM and skops files with the libraries.

Run ``python -m tests.fuzz.oracle_formats --seconds 600``; see `tests.fuzz.oracle`. Keys and lines
are doubled, numbers spelled in other ways. The answers of the trees that were audited must be
those of the library, but for one constant where boosting begins.
"""

import contextlib
import io
import random
import re
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from tests.fuzz import oracle_exchange as exchange
from tests.fuzz.model_text import BAD, mutate
from tests.fuzz.oracle import answers_differ, classes_differ, difference
from tests.fuzz.runs import File, main
from treeaudit import Forest

import numpy as np  # isort: skip  # behind what sets its threads

__all__ = ["FORMATS", "changed"]

_PAIR = re.compile(rb'"([\w\[\]. -]*)":("[^"]*"|[-\w.+]+|\[[^][{}]*\]|\{\})')
_NUMBER = re.compile(rb"(?<![\w.])-?\d+(\.\d+)?([eE][-+]?\d+)?")
_VALUE = re.compile(rb'"[^"]*"|[-\w.+]+')


def _spelled(text: bytes, draw: random.Random) -> bytes:
    """Spell a number in another way; most libraries take some of them for another number."""
    return draw.choice(
        (
            text + b".0",
            text + b"e0",
            text + b"0",
            text + b"E1",
            b"0" + text,
            b"+" + text,
            b" " + text + b" ",
            b"0x" + text,
            text + b".",
            text + b"f",
            text + b"_0",
            b'"' + text + b'"',
            b"-" + text,
            text[:-1] or b"1",
            text[::-1],
            b"true",
            b"null",
            b"NaN",
            draw.choice(BAD),
        )
    )


def _json(data: bytes, draw: random.Random) -> bytes:
    """Double or rename a key, give it the value of another, or respell a number."""
    pairs = [*_PAIR.finditer(data)]
    one, two = draw.choice(pairs), draw.choice(pairs)
    begin, end = one.span()
    key, value = one.groups()
    other = two.group(2)
    if draw.random() < 0.4 and (found := [*_VALUE.finditer(value)]):
        at = draw.choice(found)
        other = value[: at.start()] + _spelled(at.group(), draw) + value[at.end() :]
    escaped = b'"' + b"".join(b"\\u%04x" % letter for letter in key) + b'"'
    quoted = b'"' + key + b'"'
    new = draw.choice(
        (
            quoted + b":" + other + b"," + one.group(),
            one.group() + b"," + quoted + b":" + other,
            one.group() + b"," + escaped + b":" + other,
            escaped + b":" + value,
            quoted.upper() + b":" + other + b"," + one.group(),
            quoted + b":" + other,
            quoted + b":" + other,
            quoted + b":" + other,
            b"",
            two.group(),
            one.group() + b",",
            one.group() + b"/*" + two.group() + b"*/",
        )
    )
    return data[:begin] + new + data[end:]


def _lines(data: bytes, draw: random.Random) -> bytes:
    """Double, move or drop a line, or change a word of it."""
    lines = data.split(b"\n")
    i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
    match draw.randrange(7):
        case 0:
            lines.insert(j, lines[i])
        case 1:
            lines[i], lines[j] = lines[j], lines[i]
        case 2:
            del lines[i]
        case 3:
            key = lines[i].partition(b"=")[0]
            lines.insert(draw.choice((i, i + 1)), key + b"=" + lines[j].partition(b"=")[2])
        case 4:
            end = draw.choice((b"\r", b" ", b"\t", b"\0", b" #", b"=", b"\n"))
            lines[i] = draw.choice((lines[i] + end, end + lines[i]))
        case _:
            if found := [*_NUMBER.finditer(lines[i])]:
                at = draw.choice(found)
                new = _spelled(at.group(), draw).strip(b'"')
                lines[i] = lines[i][: at.start()] + new + lines[i][at.end() :]
    return b"\n".join(lines)


def _zipped(data: bytes, draw: random.Random) -> bytes:
    """Change the schema of a skops archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    text = parts["schema.json"]
    if draw.random() < 0.8:
        text = re.sub(rb"\s*\n\s*|(?<=:) ", b"", text)
        parts["schema.json"] = _json(text, draw)
    else:
        name = draw.choice(sorted(parts))
        parts[name] = mutate(parts[name], draw)
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return sink.getvalue()


def _rows(forest: Forest) -> Any:
    x = np.random.default_rng(1).uniform(-1, 10, (96, len(forest.schema.features)))
    x[:32] = np.rint(x[:32])
    x[32:64][np.random.default_rng(2).random(x[32:64].shape) < 0.4] = np.nan
    return x


def _summed(forest: Forest, x: Any) -> Any:
    at = forest.apply(x)
    return sum(
        tree.value[at[:, i]] for i, tree in enumerate(forest.trees) if tree.value is not None
    )


def _off(theirs: Any, ours: Any, n: int) -> str:
    theirs = np.reshape(theirs, (len(ours), -1)).sum(axis=1)
    for scale in (1, n):
        gap = theirs * scale - ours
        if np.allclose(gap, gap[0], atol=1e-4 * (1 + np.abs(ours).max())):
            return ""
    return "answers"


def _xgboost(data: bytes, forest: Forest, say: Callable[[str], None]) -> str:
    import xgboost

    booster = xgboost.Booster(params={"nthread": 1})
    booster.load_model(bytearray(data))
    dumped = booster.get_dump()
    say("comparing")
    leaves = [text.count("leaf=") for text in dumped]
    if leaves != [int(tree.is_leaf.sum()) for tree in forest.trees]:
        return f"leaves per tree {leaves}"
    x = _rows(forest)
    say("answering")
    try:
        theirs = booster.predict(xgboost.DMatrix(x), output_margin=True, validate_features=False)
    except xgboost.core.XGBoostError:
        return ""
    return _off(theirs, _summed(forest, x), forest.n_trees)


def _lightgbm(data: bytes, forest: Forest, say: Callable[[str], None]) -> str:
    import lightgbm

    booster = lightgbm.Booster(model_str=data.decode("utf-8", "surrogateescape"))
    say("comparing")
    if booster.num_trees() != forest.n_trees:
        return f"{booster.num_trees()} trees, audited {forest.n_trees}"
    for info, tree in zip(booster.dump_model()["tree_info"], forest.trees, strict=True):
        counts, todo = [], [info["tree_structure"]]
        while todo:
            node = todo.pop()
            todo += [node[side] for side in ("left_child", "right_child") if side in node]
            counts += [node["leaf_count"]] if "leaf_count" in node else []
        read = None if tree.n_records is None else sorted(tree.n_records[tree.leaves].tolist())
        if counts and read is not None and sorted(counts) != read:
            return f"people per leaf {sorted(counts)}, audited {read}"
    x = _rows(forest)
    say("answering")
    try:
        theirs = booster.predict(x, raw_score=True, num_threads=1)
    except (lightgbm.basic.LightGBMError, ValueError):
        return ""
    return _off(theirs, _summed(forest, x), forest.n_trees)


def _skops(data: bytes, forest: Forest, say: Callable[[str], None]) -> str:
    import skops.io

    model = skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))
    say("comparing")
    said = difference(model, forest) or classes_differ(model, forest)
    return said or answers_differ(model, forest, say)


FORMATS: dict[str, tuple[Any, Any]] = {
    "xgboost": (_json, _xgboost),
    "lightgbm": (_lines, _lightgbm),
    "skops": (_zipped, _skops),
    "ubjson": (exchange.ubjson, _xgboost),
    "lightgbm-json": (_json, exchange.lightgbm_json),
    "onnx": (exchange.onnx_changed, exchange.onnx),
    "pmml": (exchange.pmml_changed, exchange.pmml),
}
"""What changes a file of each library, and what loads it there and compares."""


@cache
def _trained() -> dict[str, list[bytes]]:
    """Return genuine files of the libraries that are installed."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(7)
    x = rng.integers(0, 9, (60, 3)).astype(float)
    y = (x[:, 0] + x[:, 1] > 8).astype(int)
    made: dict[str, list[bytes]] = {}
    try:
        import xgboost

        table = xgboost.DMatrix(x, y)
        made["xgboost"] = [
            bytes(xgboost.train(asked, table, 2).save_raw("json"))
            for asked in (
                {"max_depth": 2, "objective": "binary:logistic", "nthread": 1},
                {"max_depth": 3, "objective": "binary:logitraw", "nthread": 1},
            )
        ]
    except ImportError:
        pass
    try:
        import lightgbm

        told = {"min_data_in_leaf": 3, "objective": "binary", "verbose": -1, "num_threads": 1}
        made["lightgbm"] = [
            lightgbm.train(told | {"num_leaves": leaves}, lightgbm.Dataset(x, y), 2)
            .model_to_string()
            .encode()
            for leaves in (3, 4)
        ]
    except ImportError:
        pass
    try:
        import skops.io

        models = (DecisionTreeClassifier(max_depth=2), RandomForestClassifier(2, max_depth=2))
        made["skops"] = [skops.io.dumps(model.fit(x, y)) for model in models]
    except ImportError:
        pass
    for form, write in exchange.GENUINE.items():
        with contextlib.suppress(ImportError):
            made[form] = write(x, y)
    return made


def changed(form: str, data: bytes, draw: random.Random) -> bytes:
    """Return a file with one to three changes."""
    if draw.random() < 0.1:
        return mutate(data, draw)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        data = FORMATS[form][0](data, draw)
    return data


_OF_FORMATS = {
    "xgboost-json": "xgboost",
    "xgboost-ubjson": "ubjson",
    "lightgbm-text": "lightgbm",
    "lightgbm-json": "lightgbm-json",
    "onnx": "onnx",
    "pmml": "pmml",
    "sklearn-skops": "skops",
}


def _compare(data: bytes, forests: Sequence[Forest], say: Callable[[str], None]) -> None:
    say("loading")
    (forest,) = forests
    try:
        said = FORMATS[_OF_FORMATS[forest.source.format]][1](data, forest, say)
    except Exception as error:  # noqa: BLE001  # a file that does not load
        say(f"not loaded {type(error).__name__} {error}")
    else:
        say(f"different: {said}" if said else "equal")


def _genuine() -> Iterator[File]:
    for form, stored in _trained().items():
        for data in stored:
            yield data, f"genuine {form}"


def _mutants() -> Callable[[str], Iterator[File]]:
    """Return what makes one mutant of each library after the other."""
    trained = _trained()

    def make(seed: str) -> Iterator[File]:
        draw = random.Random(seed)
        while True:
            for form, stored in trained.items():
                yield changed(form, draw.choice(stored), draw), form

    return make


if __name__ == "__main__":
    sys.exit(main(_genuine, _mutants, _compare, native=True))
