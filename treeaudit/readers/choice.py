"""Which model of several."""

import re
from collections.abc import Callable, Iterable, Sequence
from shlex import quote
from typing import TypeVar

from treeaudit.errors import SeveralModelsError, UnsupportedModelError
from treeaudit.readers.limits import clean

_T = TypeVar("_T")
_LONGEST_LIST = 300
_TOP = "the file itself"


def plain_name(name: str) -> str:
    """Return the name of a model as a person would type it: keys without brackets and quotes."""
    parts = re.split(r"[$@]|\.?\[['\"]?|['\"]?\]|\.", name)
    return ".".join(part for part in parts if part) or _TOP


def matching(names: Iterable[str], select: str) -> list[str]:
    """Return the names that a choice can mean.

    A name as it stands goes before one without its brackets, and that before
    its last key alone.
    """
    names, plain = list(dict.fromkeys(names)), plain_name(select)
    as_it_stands = [name for name in names if name == select]
    without = [name for name in names if plain_name(name) == plain]
    return as_it_stands or without or [n for n in names if plain_name(n).endswith(f".{plain}")]


def choose(
    found: Sequence[tuple[str, _T]],
    select: str | None,
    what: str = "models",
    shown: Callable[[str], str] = str,
) -> _T | None:
    """Return the one that is asked for, or the only one; None where there is none."""
    if select is not None:
        meant = matching((name for name, _ in found), select)
        if len(meant) != 1:
            chosen = [one for one in found if one[0] in meant] or found
            names = listed_names((name for name, _ in chosen), shown) or "no model"
            more = f": it can mean {names}" if meant else f": the file holds {names}"
            raise UnsupportedModelError(f"--select {clean(select)[:60]}{more}")
        found = [one for one in found if one[0] == meant[0]]
    if len(found) > 1:
        names = listed_names((name for name, _ in found), shown)
        raise SeveralModelsError(
            f"the file holds {len(found)} {what} ({names}): choose one with --select NAME, such as "
            f"--select {quote(clean(plain_name(found[-1][0]))[:60])}",
            names=tuple(name for name, _ in found),
        )
    return found[0][1] if found else None


def named(models: Iterable[tuple[str, str, _T]]) -> list[tuple[str, _T]]:
    """Give each model a name of its own: the one that the file states, or its kind and number."""
    found: dict[str, _T] = {}
    for stated, kind, model in models:
        name = stated or f"{kind}[{len(found)}]"
        found[f"{name}[{len(found)}]" if name in found else name] = model
    return list(found.items())


def listed_names(names: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """Name the models, as many as fit."""
    text = ""
    for name in names:
        one = shown(name) or _TOP
        if text and len(text) + len(one) > _LONGEST_LIST:
            return f"{text}, …"
        text = f"{text}, {one}" if text else one
    return text
