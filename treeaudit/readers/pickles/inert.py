"""What a pickle becomes here: inert data, never an instance of its class."""

from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["LIMITS", "Global", "Inert", "Limits", "Text", "clean", "show"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What reading one file may cost.

    Attributes
    ----------
    max_bytes
        Size of the file, and of what it unpacks to.
    ratio, floor
        A file may unpack to ``max(floor, ratio * packed size)`` bytes, in memory or on
        disk. Models have been seen at 50 to 1; deflate can reach 1,032 to one.
    instructions
        Pickle instructions. A forest of 3,000 trees needs 0.4 million.
    containers
        Bytes of Python containers that the instructions may create, beyond
        four times the size of the stream.
    nested
        Pickles inside pickles (object arrays of joblib).
    """

    max_bytes: int = 8 << 30
    ratio: int = 100
    floor: int = 256 << 20
    instructions: int = 5_000_000
    containers: int = 192 << 20
    nested: int = 4

    def unpacked(self, n_packed: int) -> int:
        """Return how many bytes a file may unpack to.

        Examples
        --------
        >>> Limits().unpacked(10) >> 20, Limits().unpacked(10 << 20) >> 20
        (256, 1000)
        """
        return min(self.max_bytes, max(self.floor, self.ratio * n_packed))

    @classmethod
    def up_to(cls, max_bytes: int | None) -> "Limits":
        """Return the limits with a size that somebody chose, whatever the file has packed.

        Examples
        --------
        >>> Limits.up_to(1 << 30).unpacked(10) >> 20, Limits.up_to(None) == Limits()
        (1024, True)
        """
        return cls() if max_bytes is None else cls(max_bytes=max_bytes, floor=max_bytes)


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Global:
    """A name in the file. Whatever it names is never looked up."""

    module: str
    name: str
    offset: int
    allowed: bool

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(slots=True, eq=False)
class Inert:
    """What would have been an object: its class by name, and its parts.

    Attributes
    ----------
    cls
        The class or function that the file names.
    args
        Arguments of its construction.
    state
        What the file would have put into it: usually the attributes.
    items, pairs
        Elements of list-like and dict-like objects.
    """

    cls: Global
    args: tuple[object, ...] = ()
    state: object = None
    items: list[object] = field(default_factory=list)
    pairs: dict[object, object] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The last part of the class name."""
        return self.cls.name

    @property
    def attributes(self) -> dict[str, object]:
        """A copy of the stored attributes; empty where the state is no plain mapping."""
        parts = self._parts()
        return {name: v for part in parts for name, v in part.items() if isinstance(name, str)}

    def get(self, name: str) -> object:
        """Return one attribute, or None, without copying the others."""
        found = (part[name] for part in reversed(self._parts()) if name in part)
        return next(found, None)

    def _parts(self) -> list[dict[object, object]]:
        state = self.state
        parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
        return [part for part in parts if isinstance(part, dict)]


class Text(str):
    """An 8-bit string of Python 2 whose encoding the file does not tell."""

    __slots__ = ()


def clean(text: object) -> str:
    r"""Return text of the file as text that can be written out: no half characters.

    Examples
    --------
    >>> clean("age\ud800")
    'age\\ud800'
    """
    return str(text).encode("utf-8", "backslashreplace").decode()


def show(value: object, length: int = 60) -> str:
    """Describe a value of the file in one short line, without trusting it.

    Examples
    --------
    >>> show("touch /tmp/x")
    "'touch /tmp/x'"
    """
    text = "".join(_pieces(value, 3))
    length = 2 * length if isinstance(value, Global) else length
    return text if len(text) <= length else text[: length - 1] + "…"


def _pieces(value: object, depth: int) -> Iterator[str]:
    match value:
        case Global():
            yield ascii(str(value))[1:-1]
        case Inert():
            yield ascii(str(value.cls))[1:-1] + "(…)"
        case str():
            yield ascii(str(value[:60]))
        case bytes() | memoryview():
            yield repr(bytes(value[:60]))
        case None | bool() | float():
            yield repr(value)
        case int():
            yield repr(value) if value.bit_length() < 200 else "a huge integer"
        case tuple() | list() if depth:
            yield "(" if isinstance(value, tuple) else "["
            for i, element in enumerate(value[:4]):
                yield ", " if i else ""
                yield from _pieces(element, depth - 1)
            yield ", …" if len(value) > 4 else ""
            yield ")" if isinstance(value, tuple) else "]"
        case _:
            yield f"a {type(value).__name__}"
