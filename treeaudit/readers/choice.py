"""Which model of several."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from treeaudit.errors import UnsupportedModelError
from treeaudit.readers.limits import clean

__all__ = ["choose", "named"]

_T = TypeVar("_T")
_LONGEST_LIST = 300


def choose(
    found: Sequence[tuple[str, _T]],
    select: str | None,
    what: str = "models",
    shown: Callable[[str], str] = str,
) -> _T | None:
    """Return the one that is asked for, or the only one; None where there is none.

    Parameters
    ----------
    found
        The models of a file, each with its name.
    select
        The name that the user gave.
    what
        What to call them.
    shown
        Makes a name fit for a message.

    Raises
    ------
    UnsupportedModelError
        If there are several and no choice, or none of that name.

    Examples
    --------
    >>> choose([("['old']", 1), ("['new']", 2)], "['new']")
    2
    """
    if select is not None:
        chosen = [one for one in found if one[0] == select]
        if not chosen:
            names = _listed(found, shown) or "no model"
            raise UnsupportedModelError(f"--select {clean(select)[:60]}: the file holds {names}")
        found = chosen
    if len(found) > 1:
        raise UnsupportedModelError(
            f"the file holds {len(found)} {what} ({_listed(found, shown)}): choose one with "
            "--select NAME"
        )
    return found[0][1] if found else None


def named(models: Iterable[tuple[str, str, _T]]) -> list[tuple[str, _T]]:
    """Give each model a name of its own: the one that the file states, or its kind and number.

    Examples
    --------
    >>> named([("", "TreeModel", 1), ("old", "TreeModel", 2), ("old", "TreeModel", 3)])
    [('TreeModel[0]', 1), ('old', 2), ('old[2]', 3)]
    """
    found: dict[str, _T] = {}
    for stated, kind, model in models:
        name = stated or f"{kind}[{len(found)}]"
        found[f"{name}[{len(found)}]" if name in found else name] = model
    return list(found.items())


def _listed(found: Sequence[tuple[str, object]], shown: Callable[[str], str]) -> str:
    """Name the models, as many as fit."""
    text = ""
    for name, _ in found:
        one = shown(name) or "the file itself"
        if text and len(text) + len(one) > _LONGEST_LIST:
            return f"{text}, …"
        text = f"{text}, {one}" if text else one
    return text
