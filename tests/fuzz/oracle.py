"""Compare what treeaudit reads in damaged files with what the real library loads.

Run ``python -m tests.fuzz.oracle --seconds 600`` from the root of the repository, or give
``--mutants``. A mutant that treeaudit refuses, or of which it names content that it cannot
account for, is settled. Any other is loaded with pickle (the C and the Python one) and with
joblib, in a fork of its own without network, files or processes; the trees, classes and answers
there must be those that were audited. A finding is a difference, an act that the fork was stopped
at, a crash when the model answers, or an exception of treeaudit that is none of its own; its
bytes are kept in the folder that ``--keep`` names.
"""

import argparse
import contextlib
import ctypes
import inspect
import io
import os
import pickle
import pkgutil
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

# Read once by numpy and OpenMP: threads of one process do not survive in a fork of it.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import numpy.typing as npt

from tests.fuzz.mutants import Mutator, seeds
from tests.fuzz.mutate import Slow, alarm, until
from treeaudit import Forest, scan
from treeaudit.errors import TreeauditError
from treeaudit.findings.policy import Policy
from treeaudit.model.tree import Tree
from treeaudit.people.predictions import averages, predict_shares

__all__ = ["answers_differ", "compared", "difference", "sandboxed", "settled", "sift", "verdict"]

LONGEST = 10
FILE_CHECKS = Policy(
    name="file",
    values={"max-training-rows-inside": 0, "max-calls": 0, "max-unexplained-bytes": 0},
)
_ATTACKS = ("TA202", "TA205", "TA206")
_MEMORY, _SECONDS = 1 << 30, 10
_STOPPED = (
    *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.startfile", "os.kill"),
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.link"),
    *("os.symlink", "os.truncate"),
    *("subprocess.", "socket.", "shutil.", "ctypes.", "pty.", "urllib.", "http.", "ftplib."),
    *("smtplib.", "webbrowser.", "sys.settrace", "sys.setprofile", "sqlite3.", "mmap."),
)
_KNOWN = frozenset(
    ("sklearn", "numpy", "scipy", "joblib", "pandas", "threadpoolctl", *sys.stdlib_module_names)
)
_NEWNET, _NEWUSER = 0x40000000, 0x10000000

Act = Callable[[Callable[[str], None]], None]
Sifted = tuple[Counter[str], dict[str, str]]
Floats = npt.NDArray[np.float64]


# -- the sandbox ---------------------------------------------------------------


@cache
def _installed() -> frozenset[str]:
    return frozenset(module.name for module in pkgutil.iter_modules())


def _confine(say: Callable[[str], None], stops: tuple[str, ...]) -> None:
    """Take from this process what loading a model does not need."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).unshare(_NEWUSER | _NEWNET)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + _MEMORY, size + _MEMORY))
    signal.alarm(6 * _SECONDS)
    installed = _installed()

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = (*arguments, None, None)[:3]
            writes = isinstance(mode, str) and set(mode) & set("wax+")
            writes = writes or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR))
            stopped = bool(writes) and not isinstance(path, int)
        elif event == "import":
            # A module that is not there runs nothing.
            stopped = str(arguments[0]).partition(".")[0] in installed - _KNOWN
        elif event == "exec":
            # Modules are run too; what stands in no file was computed.
            stopped = arguments[0].co_filename in ("<string>", "<stdin>", "<unknown>")
        else:
            stopped = event.startswith(stops)
        if stopped:
            say(f"stopped {event} {arguments!r}"[:200])
            os._exit(3)

    sys.addaudithook(watch)


def sandboxed(act: Act, native: bool = False) -> list[str]:
    """Run something in a fork that is confined; return what it said, line by line.

    The last line is ``died N`` where a signal or an exception ended it. A ``native``
    library is called through ctypes.
    """
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.close(reads)
        status = 1
        try:
            stops = tuple(one for one in _STOPPED if not (native and one == "ctypes."))
            _act(act, writes, stops)
            status = 0
        finally:
            os._exit(status)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        said = pipe.read().decode("utf-8", "replace").splitlines()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return said if code in (0, 3) else [*said, f"died {code}"]


def _act(act: Act, writes: int, stops: tuple[str, ...]) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for n in (0, 1, 2):
        os.dup2(null, n)

    def say(line: str) -> None:
        os.write(writes, line.replace("\n", " ").encode("utf-8", "replace")[:2000] + b"\n")

    warnings.simplefilter("ignore")
    _confine(say, stops)
    act(say)


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


def _stored(tree: Any) -> dict[str, Any]:
    """Return the arrays of a tree of scikit-learn, in preorder, edges as treeaudit has them."""
    left, right = tree.children_left, tree.children_right
    nodes = tree.__getstate__()["nodes"]
    order, edges, todo = [], [], [(0, (-1, -np.inf, np.inf, False))]
    while todo:
        node, edge = todo.pop()
        order.append(node)
        edges.append(edge)
        if left[node] != -1:
            bound, feature = tree.threshold[node], int(tree.feature[node])
            goes = bool(nodes["missing_go_to_left"][node])
            todo.append((int(right[node]), (feature, bound, np.inf, not goes)))
            todo.append((int(left[node]), (feature, -np.inf, bound, goes)))
    return {
        "edges": edges,
        "n": tree.n_node_samples[order].tolist(),
        "value": np.asarray(tree.value)[order][:, 0, :],
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


def difference(model: object, forest: Forest) -> str:
    """Say how what was loaded differs from what was audited; nothing where it does not."""
    from sklearn.tree import DecisionTreeClassifier

    tree_class = type(DecisionTreeClassifier().fit([[0], [1]], [0, 1]).tree_)
    parts = list(_parts(model, {}))
    for part in parts:
        for key in getattr(part, "__dict__", {}) if not isinstance(part, type) else ():
            if inspect.isroutine(getattr(type(part), str(key), None)):
                return f"the method {key} of {type(part).__name__} is replaced"
    trees = [part for part in parts if isinstance(part, tree_class) and part.node_count]
    if len(trees) != forest.n_trees:
        return f"{len(trees)} trees, audited {forest.n_trees}"
    names = {type(part).__name__ for part in parts}
    if forest.source.estimator not in names:
        return f"no {forest.source.estimator} among {sorted(names)}"
    moved = any(name.startswith(("Pipeline", "Bagging")) for name in names)
    weights = forest.class_weights or [None] * len(trees)
    for i, (real, read) in enumerate(zip(trees, forest.trees, strict=True)):
        if said := _tree_differs(real, read, weights[i], moved):
            return f"tree {i}: {said}"
    return ""


def _same_label(real: object, read: object) -> bool:
    """Compare labels; what is neither text nor a number is only described."""
    if isinstance(real, str | int | float | np.number | np.bool_):
        plain = not isinstance(real, str) or real.isprintable()
        return str(real) == str(read) or not plain
    return True


def answers_differ(model: Any, forest: Forest, say: Callable[[str], None]) -> str:
    """Say how the answers differ on random records."""
    if isinstance(model, dict):
        model = next((one for one in model.values() if hasattr(one, "predict")), None)
    by_class = averages(forest) and forest.tree_classes is None
    if not hasattr(model, "predict") or not (by_class or forest.answers == "mean"):
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
        theirs = model.predict_proba(x) if by_class else model.predict(x)
        labels = list(model.classes_) if by_class else []
    except Exception as error:  # noqa: BLE001  # a model that answers nothing tells nobody anything
        say(f"no answer {type(error).__name__}")
        return ""
    if by_class:
        ours = predict_shares(forest, x)
        read = forest.schema.classes or ()
        if len(labels) != len(read) or not all(map(_same_label, labels, read)):
            return f"classes {labels}, audited {read}"
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
    import joblib

    return joblib.load(io.BytesIO(data))


def verdict(path: Path) -> tuple[str, Forest | None]:
    """Return ``refused``, ``named`` or ``clean``, and what was read."""
    try:
        report = scan(path, policy=FILE_CHECKS, attacks=_ATTACKS)
    except TreeauditError:
        return "refused", None
    return ("clean" if report.verdict == "pass" else "named"), report.forest


def compared(data: bytes, forest: Forest) -> str:
    """Load a file the usual ways; return ``equal``, ``not loaded`` or ``finding: …``."""

    def act(say: Callable[[str], None]) -> None:
        for load in (_by_pickle, _by_python, _by_joblib):
            say("loading")
            try:
                model = load(data)
            except Exception as error:  # noqa: BLE001  # a file that does not load
                say(f"not loaded {type(error).__name__}")
                continue
            say("comparing")
            said = difference(model, forest) or answers_differ(model, forest, say)
            say(f"different {load.__name__[4:]}: {said}" if said else "equal")

    return settled(sandboxed(act))


def settled(said: list[str]) -> str:
    """Return ``equal``, ``not loaded`` or ``finding: …`` for what a comparison said."""
    for line in said:
        if line.startswith(("stopped", "different")):
            return f"finding: {line}"
    if said[-1:] and said[-1].startswith("died") and "loading" not in said[-2:-1]:
        return f"finding: {said[-2:]}"
    return "equal" if "equal" in said else "not loaded"


Compare = Callable[[bytes, Forest], str]


def fuzz(inputs: Iterable[object], seed: int, keep: Path | None = None) -> Sifted:
    """Compare the good pickles, and one mutant of them for each of the inputs."""
    stored = [data for data in seeds() if data[:1] != b"{"]
    mutator = Mutator(stored, seed, by_instruction=0.9)
    files = ((mutator.make(), mutator.kind) for _ in inputs)
    genuine = ((data, "genuine") for data in stored)
    return sift(chain(genuine, files), compared, str(seed), keep)


def sift(
    files: Iterable[tuple[bytes, str]], compare: Compare, name: str, keep: Path | None
) -> Sifted:
    """Return how often each kind of file ended in what way, and the findings by name."""
    outcomes: Counter[str] = Counter()
    findings: dict[str, str] = {}
    _installed()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model"
        for data, kind in files:
            outcome = _outcome(path, data, compare)
            if outcome.startswith("finding"):
                findings[f"{name}-{outcomes.total()}"] = outcome
                outcome = "finding"
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{name}-{outcomes.total()}.bin").write_bytes(data)
            outcomes[f"{kind} {outcome}"] += 1
    return outcomes, findings


def _outcome(path: Path, data: bytes, compare: Compare) -> str:
    path.write_bytes(data)
    try:
        with alarm(LONGEST):
            outcome, forest = verdict(path)
            if forest is None or outcome != "clean":
                return outcome
        return compare(data, forest)
    except (Exception, Slow) as error:  # noqa: BLE001  # this is what it looks for
        return f"finding: {type(error).__name__} {str(error)[:200]}"


def main(fuzz: Callable[[Iterable[object], int, Path | None], Sifted] = fuzz) -> int:
    """Parse the command line and fuzz."""
    parser = argparse.ArgumentParser(description="Compare damaged files with what libraries load.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--mutants", type=int, help="so many, however long it takes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the mutants that are findings")
    options = parser.parse_args()
    inputs = until(options.seconds) if options.mutants is None else range(options.mutants)
    outcomes, findings = fuzz(inputs, options.seed, options.keep)
    print(f"{outcomes.total():,} files")
    for name, n in sorted(outcomes.items()):
        print(f"{name}: {n}")
    for name, said in findings.items():
        print(f"{name}: {said}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
