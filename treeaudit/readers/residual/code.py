"""Code that loading a file would run, and known flaws of the library that wrote it (TA205)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from treeaudit.model.source import Extra
from treeaudit.readers.limits import show
from treeaudit.readers.pickle.inert import Global
from treeaudit.readers.pickle.names import KNOWN, is_standard, judge

_MOST = 20
# Libraries of tables and of time zones: what is listed of them only puts data together.
_DATA_LIBRARIES = frozenset(("pyarrow", "polars", "pytz", "dateutil"))
# Puts together what numpy and Python would: an array, the name of a plain type.
_DATA_CALLS = frozenset(("dill._dill._create_array", "dill._dill._load_type"))


class Flaw(NamedTuple):
    """A published flaw in how a library loads a file: its identifier and the first fixed version.

    ``effect`` says what a hostile file can do to whoever loads it.
    """

    library: str
    name: str
    fixed: tuple[int, ...]
    effect: str


# Only flaws with an identifier, a fixed version and a path from loading a tree model. Left out:
# CVE-2020-13092 (any pickle runs code), CVE-2024-37065 (skops, not fixed), CVE-2020-28975 (support
# vector machines), CVE-2024-43598 (LightGBM on several machines), CVE-2019-6446 (`numpy.load`).
FLAWS = (
    Flaw(
        "skops",
        "CVE-2025-54412",
        (0, 12, 0),
        "a function of the operator module runs although another type was trusted",
    ),
    Flaw(
        "skops",
        "CVE-2025-54886",
        (0, 13, 0),
        "Card.get_model loads any file that is no zip archive with joblib, which runs code",
    ),
)
"""The known flaws, in the order of the version that fixes them."""


def is_foreign(name: Global) -> bool:
    """Tell whether a name is none of those that genuine tree models hold.

    Examples
    --------
    >>> is_foreign(Global("__main__", "MyTree", 0, True))
    True
    >>> is_foreign(Global("sklearn.tree._classes", "DecisionTreeClassifier", 0, True))
    False
    """
    if str(name) in _DATA_CALLS:
        return False
    if judge(name.module, name.name) in ("class", "function"):
        return True
    top = name.module.partition(".")[0]
    if top in _DATA_LIBRARIES:
        return False
    return top == "cloudpickle" or not (top in KNOWN or is_standard(top))


def calls(mentioned: Sequence[Global], n_nested: int) -> Iterator[Extra]:
    """Yield what `pickle.load` would import and let run, most frequent first."""
    distinct = {(name.module, name.name): name for name in mentioned}
    keys = {key for key, name in distinct.items() if is_foreign(name)}
    foreign = [name for name in mentioned if (name.module, name.name) in keys]
    if not foreign:
        return
    carried = sum(name.module.partition(".")[0] == "cloudpickle" for name in foreign)
    if carried:
        says = "the file carries functions or classes as program code of its own, which "
        says += "loading puts together and using the model runs"
        yield Extra(kind="code", where="cloudpickle", n=carried, says=says)
    times = Counter((n.module, n.name) for n in foreign if not n.module.startswith("cloudpickle"))
    for (module, name), n in times.most_common(_MOST):
        yield _call(module, name, n)
    if len(times) > _MOST:
        rest = sum(times.values()) - sum(n for _, n in times.most_common(_MOST))
        says = f"{len(times) - _MOST:,} further names of the same kind"
        yield Extra(kind="calls", where="…", n=rest, says=says)
    if n_nested and any("numpy_pickle" in name.module for name in mentioned):
        says = "arrays of objects are pickles inside the joblib file, which joblib before 1.6 "
        says += "loads with bare pickle.load, past any guard (GHSA-m62q-453p-gv66)"
        yield Extra(kind="calls", where="numpy_pickle", n=n_nested, says=says)


def _call(module: str, name: str, n: int) -> Extra:
    """Return a name that loading imports, mentioned so many times."""
    full, short = show(Global(module, name, 0, True), 200), ascii(name[:60])[1:-1]
    if module.partition(".")[0] in KNOWN:
        says = f"a class that treeaudit does not know: what {short} does when it is "
        says += "loaded or used is not told"
        return Extra(kind="extra", where=full, n=n * len(full), says=says)
    says = f"loading imports {show(Global(module, '', 0, True), 100).rstrip('.')} and hands "
    says += f"{'it' if n == 1 else f'it {n:,} times'} what the file holds for {short}"
    if name == "*":
        says = f"loading imports {show(Global(module, '', 0, True), 100).rstrip('.')}, which code "
        says += "in the file uses"
    return Extra(kind="calls", where=full, n=n, says=says)


def flaws(library: str, version: object) -> Iterator[Extra]:
    """Yield the known loading flaws of the version that wrote a file.

    Examples
    --------
    >>> [one.where for one in flaws("skops", "0.12.0")]
    ['skops 0.12.0 (CVE-2025-54886)']
    """
    numbers = _numbers(version)
    for flaw in FLAWS if numbers else ():
        if flaw.library == library and numbers < flaw.fixed:
            shown, fixed = show(version).strip("'"), ".".join(map(str, flaw.fixed))
            says = f"the {library} that wrote the file ({shown}) has a known loading flaw: "
            says += f"{flaw.effect}; whoever loads the file should use {library} {fixed} or newer"
            where = f"{library} {shown} ({flaw.name})"
            yield Extra(kind="flaws", where=where, n=1, says=says)


def _numbers(version: object) -> tuple[int, ...]:
    """Return the leading numbers of a version, such as (0, 7) for ``0.7.post0``."""
    numbers: list[int] = []
    for part in version.split(".")[:4] if isinstance(version, str) else ():
        if not (part.isascii() and part.isdecimal() and len(part) < 9):
            break
        numbers.append(int(part))
    return tuple(numbers)
