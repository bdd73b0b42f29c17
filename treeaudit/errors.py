"""Every error that treeaudit raises on purpose.

::

    TreeauditError(Exception)
    ├── ReadError                    the file could not be read as a model
    │   ├── UnsafeModelError         loading it would run code; names the call
    │   ├── MalformedModelError      its trees do not hold together; says what that leads to
    │   ├── UnsupportedModelError    readable, but no tree we know; names what it is
    │   │   └── SeveralModelsError   several models and no choice; lists their names
    │   └── ModelTooLargeError       over a stated limit
    ├── DataError(ValueError)        the data does not fit the model
    ├── PolicyError(ValueError)      a policy is not well formed
    ├── MissingFileError             a file that was named does not exist; each of the three above
    └── PrivacyError(ValueError)     a private fit would leak

Each message is one sentence that says what, where and what to do next. The
command line prints it and exits with 2; anything else is a bug of ours.
"""

from collections.abc import Iterable
from typing import Literal

_LISTED, _CLOSE, _SHOWN = 8, 0.62, 60


class TreeauditError(Exception):
    """Root of every error that treeaudit raises on purpose."""


class ReadError(TreeauditError):
    """The file could not be read as a model.

    Attributes
    ----------
    path
        The file; None where it was in memory, or its message names it.
    """

    path: str | None = None


class UnsafeModelError(ReadError):
    """Loading the file the usual way would run code that it carries or names."""


Harm = Literal["outside", "endless", "wrong", "refused"]

_HARMS: dict[Harm, str] = {
    "outside": "could read outside its tables",
    "endless": "could look for an answer for ever",
    "wrong": "could answer wrongly without an error",
    "refused": "would not load it",
}


class MalformedModelError(ReadError):
    """The trees do not hold together, and what loads the file elsewhere may not notice.

    Its message ends with what could happen there. Libraries are named whose authors or users
    have published it.

    Attributes
    ----------
    harm
        What could happen.
    library
        The library that loads such a file unchecked, empty where none is named; None until
        it is known which library reads the file.
    """

    def __init__(self, message: str, harm: Harm = "outside", library: str | None = None) -> None:
        super().__init__(message)
        self.harm: Harm = harm
        self.library = library

    def __str__(self) -> str:
        who = self.library or "a library that does not check this"
        return f"{self.args[0]}; {who} {_HARMS[self.harm]}"


class UnsupportedModelError(ReadError):
    """The file was understood, but holds no tree model that treeaudit reads."""


class SeveralModelsError(UnsupportedModelError):
    """The file holds several models, and none was chosen.

    Attributes
    ----------
    names
        What ``--select`` takes.
    """

    def __init__(self, message: str, names: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.names = names


class ModelTooLargeError(ReadError):
    """The file goes over a stated limit of size, memory or instructions."""


class DataError(TreeauditError, ValueError):
    """The data does not fit the model."""


class PolicyError(TreeauditError, ValueError):
    """A policy is not well formed."""


class MissingFileError(ReadError, DataError, PolicyError):
    """A file that was named does not exist, be it a model, a table, a report or a policy."""

    def __init__(self, path: object, hint: str = "") -> None:
        super().__init__(f"there is no file {path}{hint}")


class PrivacyError(TreeauditError, ValueError):
    """A differentially private fit would leak, or its budget is spent."""


class PrivacyWarning(UserWarning):
    """A model is less private than its name suggests."""


def near(name: str, known: Iterable[str], otherwise: str = "it has") -> str:
    """Return what may have been meant, whatever the case of the letters, or what there is.

    Names of columns, which a table ``has``, are quoted, and the first of many told; words of
    treeaudit are not, and all are.

    Examples
    --------
    >>> near("income", ["AGE", "INCOME"]), near("x", [str(i) for i in range(10)])
    ("; did you mean 'INCOME'?", '; it has 0, 1, 2, 3, 4, 5, 6, 7, … (2 more)')
    """
    names = list(known)
    if not names:
        return ""
    folded = {one.casefold(): one for one in reversed(names)}
    import difflib

    close = difflib.get_close_matches(name.casefold(), list(folded), 1, _CLOSE)
    if close:
        meant = folded[close[0]]
        return f"; did you mean {meant!r}?" if otherwise == "it has" else f"; did you mean {meant}?"
    most = _LISTED if otherwise == "it has" else len(names)
    shown = [_shown(one) for one in names[:most]]
    more = f", … ({len(names) - most} more)" if len(names) > most else ""
    return f"; {otherwise} {', '.join(shown)}{more}"


def _shown(name: str) -> str:
    """Return a name of a file as part of a sentence: short, and nothing that steers a terminal."""
    text = name if name.isprintable() else repr(name)[1:-1]
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
