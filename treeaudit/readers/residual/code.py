"""Code that loading a pickle the usual way would run, beyond the usual libraries."""

from collections import Counter
from collections.abc import Iterator, Sequence

from treeaudit.model.extras import Extra
from treeaudit.readers.limits import show
from treeaudit.readers.pickle.inert import Global
from treeaudit.readers.pickle.names import KNOWN, is_standard, judge

_MOST = 20
# Libraries of tables and of time zones: what is listed of them only puts data together.
_OF_DATA = frozenset(("pyarrow", "polars", "pytz", "dateutil"))
# Puts together what numpy and Python would: an array, the name of a plain type.
_OF_DILL = frozenset(("dill._dill._create_array", "dill._dill._load_type"))


def is_foreign(name: Global) -> bool:
    """Tell whether a name is none of those that genuine tree models hold.

    Examples
    --------
    >>> is_foreign(Global("__main__", "MyTree", 0, True))
    True
    >>> is_foreign(Global("sklearn.tree._classes", "DecisionTreeClassifier", 0, True))
    False
    """
    if str(name) in _OF_DILL:
        return False
    if judge(name.module, name.name) in ("class", "function"):
        return True
    top = name.module.partition(".")[0]
    if top in _OF_DATA:
        return False
    return top == "cloudpickle" or not (top in KNOWN or is_standard(top))


def calls(mentioned: Sequence[Global], n_nested: int) -> Iterator[Extra]:
    """Yield what `pickle.load` would import and let run, most frequent first."""
    each = {(name.module, name.name): name for name in mentioned}
    asked = {key for key, name in each.items() if is_foreign(name)}
    foreign = [name for name in mentioned if (name.module, name.name) in asked] if asked else []
    if not foreign:
        return
    carried = sum(name.module.partition(".")[0] == "cloudpickle" for name in foreign)
    if carried:
        yield Extra(
            kind="code",
            where="cloudpickle",
            n=carried,
            says="the file carries functions or classes as program code of its own, which "
            "loading puts together and using the model runs",
        )
    times = Counter((n.module, n.name) for n in foreign if not n.module.startswith("cloudpickle"))
    for (module, name), n in times.most_common(_MOST):
        full = show(Global(module, name, 0, True), 200)
        if module.partition(".")[0] in KNOWN:
            says = f"a class that treeaudit does not know: what {show_name(name)} does when it is "
            says += "loaded or used is not told"
            yield Extra(kind="extra", where=full, n=n * len(full), says=says)
            continue
        yield Extra(
            kind="calls",
            where=full,
            n=n,
            says=f"loading imports {show(Global(module, '', 0, True), 100).rstrip('.')} and hands "
            f"{'it' if n == 1 else f'it {n:,} times'} what the file holds for {show_name(name)}",
        )
    if len(times) > _MOST:
        rest = sum(times.values()) - sum(n for _, n in times.most_common(_MOST))
        says = f"{len(times) - _MOST:,} further names of the same kind"
        yield Extra(kind="calls", where="…", n=rest, says=says)
    if n_nested and any("numpy_pickle" in name.module for name in mentioned):
        yield Extra(
            kind="calls",
            where="numpy_pickle",
            n=n_nested,
            says="arrays of objects are pickles inside the joblib file, which joblib before 1.6 "
            "loads with bare pickle.load, past any guard (GHSA-m62q-453p-gv66)",
        )


def show_name(name: str) -> str:
    """Return the last part of a name, plain and short."""
    return ascii(name[:60])[1:-1]
