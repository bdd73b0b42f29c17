"""Functions that are imported, and patterns that are compiled, when they are first used.

What one command in ten needs would otherwise be waited for by all ten. Type checkers
see the plain import::

    if TYPE_CHECKING:
        from treeaudit.people.prior import read_prior
    else:
        read_prior = later("treeaudit.people.prior", "read_prior")
"""

import re
from importlib import import_module
from typing import Any, AnyStr, cast

__all__ = ["Later", "later", "pattern"]


class Later:
    """A function, or a class that is called and named in annotations, of another module."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self, *args: Any, **given: Any) -> Any:  # noqa: ANN401  # whatever it takes
        """Import it, and call it."""
        return getattr(import_module(self.module), self.name)(*args, **given)

    def __or__(self, _: object) -> "Later":
        """Stand in an annotation beside None."""
        return self

    __ror__ = __or__


def later(module: str, name: str) -> Later:
    """Return what stands for a function until it is called.

    Examples
    --------
    >>> later("math", "gcd")(12, 18)
    6
    """
    return Later(module, name)


class _Pattern:
    """A pattern that is compiled when one of its methods is first asked for."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # what a pattern has
        found = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)
        return found


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what stands for a compiled pattern until it is used.

    Examples
    --------
    >>> pattern("[a-z]+").findall("one, two")
    ['one', 'two']
    """
    return cast(re.Pattern[AnyStr], _Pattern(text, flags))
