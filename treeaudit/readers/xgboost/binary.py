"""The binary form of XGBoost models up to version 2, as the document of newer versions.

A model is one record after the other: parameters of the learner, names of objective and booster,
parameters of the booster, each tree as arrays of nodes and statistics, the output of each tree,
the weights of dart, and attributes. A text or list stands behind its length in 64 bits. Files
begin with ``binf`` or at once, and pickles of some versions with ``CONFIG-offset:``.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.readers.json_text import parse_json
from treeaudit.readers.limits import Limits, Most

_MARK, _IN_PICKLE = b"binf", b"CONFIG-offset:"
_HEAD = re.compile(
    rb"(?:CONFIG-offset:.{8})?(?:binf)?.{136}"
    rb"[\x04-\x40]\0{7}[a-z]+:[a-z0-9]+(?:\x06\0{7}gbtree|\x04\0{7}dart|\x08\0{7}gblinear)",
    re.DOTALL,
)


def _record(names: str, rest: int, at: Sequence[int], size: int) -> np.dtype[Any]:
    """Return the type of a record: some numbers, and what no version uses."""
    return np.dtype(
        {
            "names": [*names.split(), "rest"],
            "formats": [*["<i4"] * len(at), f"V{size - rest}"],
            "offsets": [*at, rest],
            "itemsize": size,
        }
    )


_SCORE = np.dtype("<f4")
_LEARNER = _record(
    "num_feature num_class has_attributes has_metrics major minor num_target",
    32,
    range(0, 28, 4),
    132,
)
_TREES = _record("num_trees num_parallel_tree size_leaf_vector", 32, (0, 4, 28), 160)
_TREE = _record("num_nodes num_deleted num_feature size_leaf_vector", 24, (4, 8, 16, 20), 148)
_NODE = np.dtype(
    [("parent", "<u4"), ("left", "<i4"), ("right", "<i4"), ("split", "<u4"), ("info", "<f4")]
)
_STATISTICS = np.dtype([("gain", "<f4"), ("cover", "<f4"), ("weight", "<f4"), ("leaves", "<i4")])
_LOW = (1 << 31) - 1
_NO_SETS = ("", "_nodes", "_segments", "_sizes")
_LONGEST_TEXT = 1 << 20
_MOST_TEXTS = 10_000
_BOUND = "count_poisson_max_delta_step"
_LINKS: dict[str, Callable[[float], float]] = {
    **dict.fromkeys(
        ("binary:logistic", "binary:logitraw", "reg:logistic"), lambda x: 1 / (1 + math.exp(-x))
    ),
    **dict.fromkeys(("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox"), math.exp),
}


def matches(head: bytes) -> bool:
    """Tell whether a model in binary form begins with these bytes."""
    return _HEAD.match(head) is not None


class _Records:
    """Takes one record after the other out of some bytes; collects those that no version uses."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._at, self.unused = data, 0, b""

    def array(self, dtype: np.dtype[Any], n: int) -> Any:  # noqa: ANN401  # of its type
        """Return so many records."""
        end = self._at + n * dtype.itemsize
        if n < 0 or end > len(self._data):
            raise ReadError("it breaks off")
        found = np.frombuffer(self._data[self._at : end], dtype)
        self._at = end
        return found

    def record(self, dtype: np.dtype[Any]) -> dict[str, int]:
        """Return one record as numbers by name."""
        one = self.array(dtype, 1)
        self.unused += one["rest"].tobytes().rstrip(b"\0")
        return {name: int(one[name][0]) for name in dtype.names or () if name != "rest"}

    def number(self, most: int) -> int:
        """Return the length of what follows."""
        n = int(self.array(np.dtype("<u8"), 1)[0])
        if n > most:
            raise ReadError("a text or a list of it is too long")
        return n

    def text(self) -> str:
        """Return a text behind its length."""
        found = self.array(np.dtype("u1"), self.number(_LONGEST_TEXT))
        return bytes(found).decode("utf-8", "backslashreplace")

    def rest(self) -> bytes:
        """Return all that was not used."""
        return self.unused + bytes(self._data[self._at :])


def document_of(data: memoryview, limits: Limits) -> dict[str, Any]:
    """Return a model in binary form as the document that newer versions write."""
    document: dict[str, Any] = {}
    if data[: len(_IN_PICKLE)] == _IN_PICKLE:
        begin = len(_IN_PICKLE) + 8
        end = begin + int.from_bytes(data[len(_IN_PICKLE) : begin], "little")
        document["Config"], data = _json(data[end:], limits), data[begin:end]
    records = _Records(data[len(_MARK) :] if data[: len(_MARK)] == _MARK else data)
    score = float(records.array(_SCORE, 1)[0])
    shape = records.record(_LEARNER)
    objective, booster = records.text(), records.text()
    if booster not in ("gbtree", "dart"):
        raise UnsupportedModelError(f"the XGBoost booster is {booster}: it has no trees")
    param = records.record(_TREES)
    if not 0 <= param["num_trees"] <= Most.trees:
        raise ModelTooLargeError(f"the XGBoost model has more than {Most.trees:,} trees")
    trees = [_tree(records, i) for i in range(param["num_trees"])]
    info = records.array(np.dtype("<i4"), len(trees))
    model = {
        "gbtree_model_param": {name: str(value) for name, value in param.items()},
        "tree_info": info.tolist(),
        "trees": trees,
    }
    outer: dict[str, Any] = {"name": booster, "model": model}
    if booster == "dart":
        weights = records.array(np.dtype("<f4"), records.number(Most.trees)) if trees else []
        outer = {"name": booster, "gbtree": {"name": "gbtree", "model": model}}
        outer["weight_drop"] = [float(weight) for weight in weights]
    attributes: dict[str, Any] = {}
    if shape["has_attributes"]:
        for _ in range(records.number(_MOST_TEXTS)):
            name = records.text()
            if name in attributes:
                raise ReadError("it names an attribute twice")
            attributes[name] = records.text()
    stated: Any = {"name": objective}
    if "objective" in attributes:
        stated = _json(attributes.pop("objective").encode(), limits)
    if shape["major"] < 1:
        attributes.pop(_BOUND, None)
        # They store it as it is added to the leaves.
        score = float(np.float32(_LINKS.get(objective, float)(score)))
        if objective == "count:poisson":
            stated["poisson_regression_param"] = {"max_delta_step": records.text()}
    if shape["has_metrics"] and shape["major"] < 1:
        metrics = [records.text() for _ in range(records.number(_MOST_TEXTS))]
        document["Config"] = {"learner": {"metrics": metrics}}
    if rest := records.rest():
        attributes["unused_bytes"] = np.frombuffer(rest, np.uint8)
    learner = {
        "attributes": attributes,
        "feature_names": [],
        "feature_types": [],
        "gradient_booster": outer,
        "learner_model_param": {
            "base_score": repr(score),
            **{name: str(shape[name]) for name in ("num_class", "num_feature")},
            "num_target": str(max(shape["num_target"], 1)),
        },
        "objective": stated,
    }
    version = {"version": [shape["major"], shape["minor"], 0]} if shape["major"] else {}
    return {**document, **version, "learner": learner}


def _json(text: bytes | memoryview, limits: Limits) -> object:
    return parse_json(text, limits.objects(len(text)), (100, 100, 36), infinite=True)


def _tree(records: _Records, i: int) -> dict[str, Any]:
    """Return one tree as JSON has it."""
    param = records.record(_TREE)
    if param["size_leaf_vector"] > 1:
        raise UnsupportedModelError("leaves of several numbers are not read in the binary form")
    n = param["num_nodes"]
    node, statistics = records.array(_NODE, n), records.array(_STATISTICS, n)
    return {
        "id": i,
        "tree_param": {name: str(value) for name, value in param.items()},
        "left_children": node["left"].astype(np.int32),
        "right_children": node["right"].astype(np.int32),
        "parents": (node["parent"] & _LOW).astype(np.int32),
        "split_indices": (node["split"] & _LOW).astype(np.int32),
        "default_left": (node["split"] >> 31).astype(np.uint8),
        "split_conditions": node["info"].astype(np.float32),
        "sum_hessian": statistics["cover"].astype(np.float32),
        "loss_changes": statistics["gain"].astype(np.float32),
        "base_weights": statistics["weight"].astype(np.float32),
        "split_type": np.zeros(n, dtype=np.uint8),
        **{f"categories{part}": np.zeros(0, np.int32) for part in _NO_SETS},
    }
