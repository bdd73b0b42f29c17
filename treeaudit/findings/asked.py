"""What was asked, before it is done: values of a kind that no option has are named."""

import os
from collections.abc import Iterable
from typing import Any

from treeaudit.errors import DataError, PolicyError
from treeaudit.findings.policy import Policy

__all__ = ["check_kind", "check_policy", "listed"]

_NUMBER = (int, float)
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "model_name": ((str,), "a text"),
    "target": ((str,), "the name of a column"),
    "person": ((str,), "the name of a column"),
    "repeats": ((str,), "'people' or 'copies'"),
    "select": ((str,), "the name of a model of the file"),
    "tolerance": (_NUMBER, "a number"),
    "fraction": (_NUMBER, "a number above 0 and at most 1"),
    "rows_per_person": ((int,), "a whole number of at least 1"),
    "seconds": (_NUMBER, "a number of seconds of at least 0"),
    "seed": ((int,), "a whole number of at least 0"),
    "baseline": ((str, os.PathLike), "the path of an accepted report"),
}


def check_kind(name: str, value: Any) -> None:  # noqa: ANN401  # whatever was given
    """Refuse a value of another kind than an option takes.

    Raises
    ------
    DataError
        In one sentence, with what it takes.
    """
    kinds, said = _KINDS.get(name, ((object,), ""))
    # numpy's numbers are numbers.
    number = _NUMBER[0] if hasattr(value, "__index__") else _NUMBER[1]
    fits = isinstance(value, kinds) or (number in kinds and hasattr(value, "dtype"))
    if value is not None and (not fits or (isinstance(value, bool) and int in kinds)):
        raise DataError(f"{name} is {value!r:.60}: it takes {said}")
    if name in ("seed", "seconds") and value is not None and not value >= 0:
        raise DataError(f"{name} is {value}: it takes {said}")


def listed(name: str, value: object, such: str) -> tuple[str, ...]:
    """Return several names that were given as a list.

    Raises
    ------
    DataError
        If they are one text, or no texts.

    Examples
    --------
    >>> listed("sensitive", ["sex"], "race")
    ('sex',)
    """
    texts = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    found = tuple(value) if isinstance(value, Iterable) and texts else ()
    if not texts or not all(isinstance(one, str) for one in found):
        shown = f"[{value!r}]" if isinstance(value, str) else f"['{such}']"
        raise DataError(f"{name} takes a list of texts, such as {shown}, not {value!r}")
    return found


def check_policy(policy: object) -> None:
    """Refuse what is neither a name, nor a path, nor a policy.

    Raises
    ------
    PolicyError
        In one sentence, with what to write.
    """
    if isinstance(policy, str | os.PathLike | Policy):
        return
    if isinstance(policy, dict):
        raise PolicyError(
            f"a policy has a name: policy=treeaudit.Policy(name='mine', values={policy!r})"
        )
    raise PolicyError(
        f"policy is {policy!r}: it takes a name such as 'strict', the path of a TOML file, or a "
        "treeaudit.Policy"
    )
