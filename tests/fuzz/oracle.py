"""Compare what treeaudit reads in damaged files with what the real library loads.

Run ``python -m tests.fuzz.oracle --seconds 600`` from the root of the repository, or give
``--mutants``; with ``--state`` a run goes on where another one stopped. A mutant that treeaudit
refuses, or of which it names content that it cannot account for, is settled. Any other is loaded
with pickle (the C and the Python one) and with joblib, in a fork without network, files or
processes; the trees, classes and answers there must be those that were audited. A finding is a
difference, an act that the fork was stopped at, a crash when the model answers, or an exception
of treeaudit that is none of its own; its bytes are kept in the folder that ``--keep`` names.
"""

import inspect
import io
import os
import pickle
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

# Read once by numpy and OpenMP: threads of one process do not survive in a fork of it.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import joblib
import numpy as np
import numpy.typing as npt

from tests.fuzz.genuine import corpus, seeds
from tests.fuzz.mutants import Mutator
from tests.fuzz.runs import File, alone, main
from treeaudit import Forest, ReadError
from treeaudit.model.tree import Tree
from treeaudit.people.predict.predictions import averages, predict_shares
from treeaudit.readers.pickle.pickle_vm import read_pickle

__all__ = ["answers_differ", "compare", "compared", "difference"]

Floats = npt.NDArray[np.float64]


# -- one model, loaded and audited -----------------------------------------------


def _parts(value: object, seen: dict[int, object]) -> Iterator[object]:
    """Yield every object that hangs on what was loaded, each once."""
    if id(value) in seen:
        return
    seen[id(value)] = value
    inside: Iterable[object] = ()
    match value:
        case dict():
            inside = [*value, *value.values()]
        case list() | tuple() | set() | frozenset():
            inside = value
        case np.ndarray() if value.dtype == object:
            inside = value.ravel().tolist()
        case _ if not isinstance(value, type) and hasattr(value, "__dict__"):
            inside = [*vars(value).values()]
    yield value
    for one in inside:
        yield from _parts(one, seen)


def _grown(tree: Any) -> tuple[Any, ...]:
    """Return children, features, bounds, sides of missing values, people and values."""
    nodes = tree.__getstate__()["nodes"]
    missing = nodes["missing_go_to_left"] if "missing_go_to_left" in nodes.dtype.names else None
    arrays = tree.children_left, tree.children_right, tree.feature, tree.threshold, missing
    return (*arrays, tree.n_node_samples, np.asarray(tree.value)[:, 0, :])


def _boosted(tree: Any) -> tuple[Any, ...]:
    """Return the same of a tree of histogram boosting."""
    nodes, ends = tree.nodes, tree.nodes["is_leaf"].astype(bool)
    left, right = (np.where(ends, -1, nodes[side].astype(int)) for side in ("left", "right"))
    missing = nodes["missing_go_to_left"]
    arrays = left, right, nodes["feature_idx"], nodes["num_threshold"], missing, nodes["count"]
    return (*arrays, nodes["value"][:, None])


def _stored(tree: Any) -> dict[str, Any]:
    """Return the arrays of a tree of scikit-learn, in preorder, edges as treeaudit has them."""
    read = _boosted if hasattr(tree, "nodes") else _grown
    left, right, features, bounds, missing, n, value = read(tree)
    order, edges, todo = [], [], [(0, (-1, -np.inf, np.inf, False))]
    while todo:
        node, edge = todo.pop()
        order.append(node)
        edges.append(edge)
        if left[node] != -1:
            bound, feature = bounds[node], int(features[node])
            goes = missing is not None and bool(missing[node])
            todo.append((int(right[node]), (feature, bound, np.inf, not goes)))
            todo.append((int(left[node]), (feature, -np.inf, bound, goes)))
    return {
        "edges": edges,
        "n": n[order].tolist(),
        "value": value[order],
    }


def _audited(tree: Tree) -> dict[str, Any]:
    """Return the same of a tree that was read."""
    children: dict[int, list[int]] = {}
    for node, above in enumerate(tree.parent.tolist()):
        children.setdefault(above, []).append(node)
    order, todo = [], [0]
    while todo:
        node = todo.pop()
        order.append(node)
        below = sorted(children.get(node, ()), key=lambda i: (tree.low[i], tree.high[i]))
        todo += below[::-1]
    missing = tree.missing if tree.missing is not None else np.zeros(tree.n_nodes, np.bool_)
    columns = (tree.feature, tree.low, tree.high, missing)
    return {
        "edges": list(zip(*(column[order].tolist() for column in columns), strict=True)),
        "n": None if tree.n_records is None else tree.n_records[order].tolist(),
        "counts": None if tree.counts is None else tree.counts[order],
        "value": None if tree.value is None else tree.value[order],
    }


def _shares(counts: Floats) -> Floats:
    total = counts.sum(axis=1, keepdims=True)
    return counts / np.where(total > 0, total, 1)


def _tree_differs(real: Any, read: Tree, weights: Any, moved: bool) -> str:
    """Say what differs; bounds are not compared where a step in front moved them."""
    theirs, ours = _stored(real), _audited(read)
    if len(theirs["n"]) != len(ours["edges"]):
        return f"{len(theirs['n'])} nodes, audited {len(ours['edges'])}"
    if ours["n"] is not None and sorted(ours["n"]) != sorted(theirs["n"]):
        return "people per node"
    if moved:
        return ""
    if ours["n"] is not None and ours["n"] != theirs["n"]:
        return "order of the people per node"
    for a, b in zip(theirs["edges"], ours["edges"], strict=True):
        if a[:3] != b[:3] or (read.missing is not None and a[3] != b[3]):
            return f"an edge {a}, audited {b}"
    value = theirs["value"]
    # Counts beside values are those that we prove of a boosted tree; it stores its steps.
    if ours["counts"] is not None and ours["value"] is None:
        found = _shares(ours["counts"] * (1 if weights is None else np.array(weights)))
        if found.shape != value.shape or not np.allclose(found, _shares(value), atol=1e-6):
            return "class counts"
    if ours["value"] is not None and not np.allclose(ours["value"], value[:, 0]):
        return "values"
    return ""


@cache
def _tree_classes() -> tuple[type, type]:
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.tree import DecisionTreeRegressor

    x, y = [[0], [1]], [0, 1]
    boosting = HistGradientBoostingRegressor(max_iter=1).fit(x, y)
    grown = DecisionTreeRegressor().fit(x, y)
    return type(grown.tree_), type(boosting._predictors[0][0])


def _n_nodes(tree: Any) -> int:
    """Return how many nodes a tree has; none where it was never grown."""
    return len(tree.nodes) if hasattr(tree, "nodes") else int(tree.node_count)


def difference(model: object, forest: Forest) -> str:
    """Say how what was loaded differs from what was audited; nothing where it does not."""
    return _differs(list(_parts(model, {})), [forest])


def _differs(parts: list[object], forests: Sequence[Forest]) -> str:
    for part in parts:
        for key in getattr(part, "__dict__", {}) if not isinstance(part, type) else ():
            if inspect.isroutine(getattr(type(part), str(key), None)):
                return f"the method {key} of {type(part).__name__} is replaced"
    tree_classes = _tree_classes()
    trees = [part for part in parts if isinstance(part, tree_classes) and _n_nodes(part)]
    read = [
        (tree, None if forest.class_weights is None else forest.class_weights[i])
        for forest in forests
        for i, tree in enumerate(forest.trees)
    ]
    if len(trees) != len(read):
        return f"{len(trees)} trees, audited {len(read)}"
    names = {type(part).__name__ for part in parts}
    for forest in forests:
        if forest.source.estimator not in names:
            return f"no {forest.source.estimator} among {sorted(names)}"
    moved = any(name.startswith(("Pipeline", "Bagging", "IsolationForest")) for name in names)
    for i, (real, (tree, weights)) in enumerate(zip(trees, read, strict=True)):
        if said := _tree_differs(real, tree, weights, moved):
            # The order of several models is not told.
            if len(forests) == 1:
                return f"tree {i}: {said}"
            if all(_tree_differs(real, *one, moved) for one in read):
                return f"tree {i} is none of those audited"
    return ""


def _same_label(real: object, read: object) -> bool:
    """Compare labels; what is neither text nor a number is only described."""
    if isinstance(real, str | int | float | np.number | np.bool_):
        plain = not isinstance(real, str) or real.isprintable()
        return str(real) == str(read) or not plain
    return True


def _answering(model: Any) -> Any:
    if isinstance(model, dict):
        return next((one for one in model.values() if hasattr(one, "predict")), None)
    return model


def classes_differ(model: Any, forest: Forest) -> str:
    """Say how the classes differ by which a model answers."""
    if not averages(forest) or forest.tree_classes is not None:
        return ""
    try:
        labels = list(_answering(model).classes_)
    except Exception:  # noqa: BLE001  # a model that answers nothing tells nobody anything
        return ""
    read = forest.schema.classes or ()
    if len(labels) != len(read) or not all(map(_same_label, labels, read)):
        return f"classes {labels}, audited {read}"
    return ""


def answers_differ(model: Any, forest: Forest, say: Callable[[str], None]) -> str:
    """Say how the answers differ on random records."""
    model, by_class = _answering(model), averages(forest) and forest.tree_classes is None
    # A classifier whose shares are not told (monotonicity clips them) answers with its labels.
    by_mean = forest.answers == "mean" and forest.schema.classes is None
    if not hasattr(model, "predict") or not (by_class or by_mean):
        return ""
    if any(feature.categories is not None for feature in forest.schema.features):
        return ""
    # Said of steps that cannot be undone; the trees were compared.
    if any("transformed units" in said for said in forest.warnings):
        return ""
    n = len(forest.schema.features)
    x = np.random.default_rng(1).uniform(-1, 10, (64, n))
    x[:32] = np.rint(x[:32])
    say("answering")
    try:
        # As many jobs as a file asks for are processes, which are stopped.
        with joblib.parallel_config(backend="sequential"):
            # A step may work in what it is given: what it is asked is a copy.
            asked = x.copy()
            theirs = model.predict_proba(asked) if by_class else model.predict(asked)
    except Exception as error:  # noqa: BLE001  # a model that answers nothing tells nobody anything
        say(f"no answer {type(error).__name__}")
        return ""
    if by_class:
        ours = predict_shares(forest, x)
    else:
        at = forest.apply(x)
        each = [t.value[at[:, i]] for i, t in enumerate(forest.trees) if t.value is not None]
        if len(each) != forest.n_trees:
            return ""
        ours, theirs = np.mean(each, axis=0), np.reshape(theirs, (len(x), -1))[:, 0]
    if np.shape(theirs) != np.shape(ours) or not np.allclose(theirs, ours, atol=1e-6):
        return "answers"
    return ""


# -- one mutant ------------------------------------------------------------------


def _by_pickle(data: bytes) -> object:
    return pickle.loads(data)


def _by_python(data: bytes) -> object:
    return pickle._Unpickler(io.BytesIO(data)).load()


def _by_joblib(data: bytes) -> object:
    return joblib.load(io.BytesIO(data))


def _ends_early(loaded: object, forests: Sequence[Forest]) -> bool:
    """Tell whether pickle took the end of an array of joblib for the end of the file.

    joblib keeps an array of objects as a pickle of its own. Where plain pickle comes to its end,
    it returns that array: nobody takes it for the model, and joblib's own load is compared.
    """
    by_joblib = all(forest.source.format == "sklearn-joblib" for forest in forests)
    if not by_joblib or not isinstance(loaded, np.ndarray):
        return False
    return not any(isinstance(part, _tree_classes()) for part in _parts(loaded, {}))


def _written(model: object) -> bytes | None:
    try:
        return pickle.dumps(model)
    except Exception:  # noqa: BLE001  # then it is compared
        return None


def compare(data: bytes, forests: Sequence[Forest], say: Callable[[str], None]) -> None:
    """Load a file the usual ways, and say how each differs from what was audited.

    One in four is asked for answers too, and loaded by the pickle in Python, which is what
    joblib's is made of.
    """
    equal, asked = None, zlib.crc32(data) % 4 == 0
    for load in (_by_pickle, _by_joblib, _by_python)[: 3 if asked else 2]:
        say("loading")
        try:
            model = load(data)
        except Exception as error:  # noqa: BLE001  # a file that does not load
            say(f"not loaded {type(error).__name__}")
            continue
        if load is not _by_joblib and _ends_early(model, forests):
            say("not loaded: an array of joblib")
            continue
        say("comparing")
        written = _written(model)
        if written is not None and written == equal:
            continue
        said = _differs(list(_parts(model, {})), forests)
        if not said and len(forests) == 1:
            said = classes_differ(model, forests[0])
            said = said or (answers_differ(model, forests[0], say) if asked else "")
        say(f"different {load.__name__[4:]}: {said}" if said else "equal")
        equal = written


def compared(data: bytes, forest: Forest) -> str:
    """Load a file in a fork; return ``equal``, ``not loaded`` or ``finding: …``."""
    return alone(data, [forest], compare)


@cache
def _genuine() -> list[bytes]:
    return [data for data in [*seeds(), *corpus()] if data[:1] != b"{"]


def _is_read(data: bytes) -> bool:
    try:
        read_pickle(data if data[:1] != b"\x78" else zlib.decompress(data))
    except ReadError:
        return False
    return True


def _mutants() -> Callable[[str], Iterator[File]]:
    mutator = Mutator([data for data in _genuine() if _is_read(data)], 0, by_instruction=1)

    def make(seed: str) -> Iterator[File]:
        mutator.random.seed(seed)
        while True:
            yield mutator.make(), mutator.kind

    return make


if __name__ == "__main__":
    sys.exit(main(lambda: ((data, "genuine") for data in _genuine()), _mutants, compare))
