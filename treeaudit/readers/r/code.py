"""Code in an R file that acts when the file is loaded, shown, or predicted with (TA205).

To read a file calls nothing in R: finalizers are not stored, and promises and active bindings wait
until somebody asks for their name. What acts later are functions: of a workspace, because ``load``
puts them where R looks for ``print.rpart`` first; of a model, because ``print`` and ``predict``
call them and evaluate the variables of its terms. Honest files are full of functions of their
packages, so that one is named only if it reaches out of R or takes the place of another.
"""

import re
from collections.abc import Iterator

from treeaudit.model.source import Extra
from treeaudit.readers.limits import Most, bare
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.r.walk import Place

# Functions that start programs, delete, or fetch what they run.
_REACHES_OUT = frozenset(
    (
        "system system2 shell shell.exec pipe socketConnection download.file curl_download unlink "
        "file.remove source sys.source dyn.load Sys.setenv assignInNamespace install.packages "
        "reg.finalizer setHook"
    ).split()
)
_TAKES_PLACE = re.compile(
    r"\.First|\.Last|\.First\.sys|(print|predict|summary|format|plot|str|update)(\.[\w.]+)?"
    r"|library|require|q|quit|ls|load|readRDS"
)
# What calls a function by its name.
_BY_NAME = frozenset("do.call match.fun get get0 mget lapply sapply vapply Map :: :::".split())
_CODE = frozenset("closure promise language pairlist dots bytecode".split())
ACTS = _CODE | {"environment"}
"""Kinds of objects that code can be found in."""


def code(place: Place) -> Iterator[Extra]:
    """Yield what would act at a place."""
    value, above = place.value, place.above
    at_top = above is not None and above.above is None and not above.value.classes
    if at_top and value.kind == "closure" and _TAKES_PLACE.fullmatch(place.name):
        yield _acts(place, f"a function that takes the place of R's {place.name}")
    # Classes of R6 have active bindings of their own.
    if value.active and value.kind == "environment" and ".__enclos_env__" not in value.values:
        names = ", ".join(bare(name, 40) for name in value.active[:5])
        yield _acts(place, f"functions that run when they are looked at: {names}")
    whole = above is None or above.value.kind not in _CODE
    called = _called(value) & _REACHES_OUT if whole and value.kind in _CODE else ()
    if called:
        yield _acts(place, f"a {value.kind} that calls {', '.join(sorted(called))}")


def _acts(place: Place, says: str) -> Extra:
    return Extra(kind="code", where=place.path or "the file itself", n=1, says=says)


def _called(value: RObject) -> set[str]:
    """Return the names of what a function, promise or call calls."""
    names: set[str] = set()
    seen: set[int] = set()
    todo = [value]
    while todo and len(seen) < Most.objects:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if one.kind == "language" and one.values and one.values[0].kind == "symbol":
            names.add(one.values[0].values)
            for part in one.values[1:] if one.values[0].values in _BY_NAME else ():
                names |= {part.values} if part.kind == "symbol" else set()
                names |= {*part.values[:1]} if part.kind == "string" else set()
        todo += one.values if isinstance(one.values, list) and one.kind in _CODE else ()
        todo += [one.parts[key] for key in ("body", "formals", "expression") if key in one.parts]
    return names
