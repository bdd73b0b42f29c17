"""What reading a file may cost, and how its text is shown: the same for every format.

`Limits` holds what a caller may choose. `Most` and `Deepest` are fixed: no model
that was seen comes near them. A file that goes over one is refused by name, or
said to be damaged where nothing that is whole could go over it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from mmap import mmap

import numpy as np

from treeaudit.errors import ModelTooLargeError
from treeaudit.readers.pickle.inert import Global, Inert

Buffer = bytes | bytearray | memoryview | mmap

_PIECE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What reading one file may cost.

    A file may unpack to ``times`` its size and ``beyond`` more bytes, in memory or on disk: forests
    do to 15 times, deflate can to 1,032. ``instructions`` are those of a pickle, or fields of an
    ONNX file; a pickled forest of 3,000 trees needs 0.4 million. ``containers`` are bytes of Python
    objects that a file may become, beyond four times its size; ``room`` is the same for a file that
    was compressed, which `within` works out. Pickles may be ``nested`` in pickles.
    """

    max_bytes: int = 8 << 30
    times: int = 4
    beyond: int = 256 << 20
    instructions: int = 5_000_000
    containers: int = 192 << 20
    room: int | None = None
    nested: int = 4

    def unpacked(self, n_packed: int) -> int:
        """Return how many bytes a file may unpack to."""
        return min(self.max_bytes, self.beyond + self.times * n_packed)

    def within(self, n_packed: int, n_unpacked: int) -> "Limits":
        """Return the limits once a file is unpacked: what it unpacked to takes from the objects."""
        left = self.containers + self.times * n_packed - n_unpacked
        return replace(self, room=max(_LEAST_ROOM, left))

    def objects(self, n_bytes: int, times: int = 4) -> int:
        """Return how many bytes of Python objects so many unpacked bytes may become."""
        most = self.containers + times * n_bytes
        return most if self.room is None else min(most, self.room)

    @classmethod
    def up_to(cls, max_bytes: int | None) -> "Limits":
        """Return the limits with a chosen size: of the file, unpacked, and as objects."""
        usual = cls()
        if max_bytes is None:
            return usual
        beyond, containers = max(usual.beyond, max_bytes), max(usual.containers, max_bytes)
        return replace(usual, max_bytes=max_bytes, beyond=beyond, containers=containers)


# Enough for the objects of 6,000 trees, whatever their arrays unpack to.
_LEAST_ROOM = 64 << 20

LIMITS = Limits()


class Most:
    """How many, or how much, of one thing there may be."""

    # What models say.
    people = 1 << 53  # records of a model: above, 64-bit floats skip whole numbers
    weight = 1e18  # weight of a node: above, sums of it lose whole records
    features = 1 << 20  # columns of a model: each becomes a Python object
    outputs = 1 << 16  # classes or targets of a boosting: as many trees in every round
    categories = 1 << 20  # categories of all columns of a model: each becomes a text
    category = (1 << 31) - 1  # code of a category: a `Tree` keeps 32 bits of it
    columns = 1 << 22  # columns of all models in a file, which may all be other ones
    undone = 1 << 21  # columns of all pipelines in a file that are undone
    trees = 50_000  # trees of a model
    nodes = (1 << 31) - 1  # nodes of a tree: a `Tree` keeps 32 bits of their numbers
    codes = 1 << 24  # codes on the edges of a tree: 64 MiB
    made_codes = 1 << 22  # the same where it takes several arrays of 64 bits to make them
    cells = 1 << 26  # nodes times classes of a tree: 512 MiB of counts
    levels = 10_000  # levels of a tree that is built level by level
    work = 10**9  # multiplications of a least-squares fit

    # How models and objects hold each other.
    objects = 5_000_000  # containers and arrays on a walk: as many as `instructions` make
    models = 50_000  # models on one level of the way to a name
    looks = 5_000_000  # models in models, their classes and the names of their columns
    chain = 1_000  # models of a chain, each of which sees what all before it say

    # Parts of a file.
    name = 512  # characters of a module or class that a file names
    names = 100_000  # modules and classes that a file names, each time it does
    line = 4096  # bytes of a line of a pickle in text form
    key = 1 << 16  # characters of a text that is the key of a dictionary
    streams = 10_000  # compressed streams, one after the other
    directory = 8 << 20  # bytes of the directory of a zip archive
    form = 1 << 30  # bytes of Python objects that our own form of a model may become
    header = 1 << 16  # bytes of the header of an array file (.npy)
    record = 1 << 16  # bytes of one element of an array
    items = 1 << 33  # elements of an array: a byte each fills the largest file
    text = 64 << 20  # bytes of one text in UBJSON
    title = 1 << 20  # bytes of a text of ONNX that is no list of texts
    words = 1 << 21  # words of a line of a LightGBM text
    lines = 10_000  # lines of a section of it
    rest = 64 << 20  # bytes behind its trees
    parameters = 1 << 20  # characters of its parameters
    category_text = 4 << 20  # characters of its line of categories
    elements = 20_000_000  # elements of an XML file
    xml = 160 << 20  # bytes of Python objects made of XML, beyond four times its size
    steps = 10_000  # operations of an ONNX graph in front of the trees
    draws = 2_000_000  # rows that are drawn again to see whether a seed repeats them


class Deepest:
    """How many levels of one thing there may be in one another."""

    models = 16  # models in models, pipelines in pipelines
    walk = 64  # objects and containers on a walk through a file
    oblivious = 24  # questions of an oblivious tree, which doubles with each
    form = 8  # lists in our own form of a model, which needs five
    r = 10_000  # R objects: more than a call of as many terms, and less than R itself takes
    skops = 100  # nodes of a skops schema: each takes some of Python's own stack
    ubjson = 200  # containers of UBJSON: likewise
    xml = 5_000  # elements of XML
    condition = 40  # conditions of PMML
    graphs = 8  # graphs of ONNX


class Allowance:
    """How much of something is left for one file."""

    __slots__ = ("_left", "_too_much")

    def __init__(self, most: int, too_much: str) -> None:
        self._left = most
        self._too_much = too_much

    @property
    def left(self) -> int:
        """The amount that is left."""
        return self._left

    def take(self, n: int) -> None:
        """Use some of it."""
        self._left -= n
        if self._left < 0:
            raise ModelTooLargeError(self._too_much)


def text_bytes(raw: Buffer) -> int:
    """Return how many bytes a text takes in memory, without making it.

    Python gives every character as many bytes as the widest one needs.
    """
    view = memoryview(raw).cast("B")
    widest = n = 0
    for at in range(0, len(view), _PIECE):
        piece = np.frombuffer(view[at : at + _PIECE], np.uint8)
        most = int(piece.max())
        widest = max(widest, most)
        n += len(piece) if most < 0x80 else int(np.count_nonzero(piece & 0xC0 != 0x80))
    return n * (4 if widest >= 0xF0 else 2 if widest >= 0xC4 else 1)


def clean(text: object) -> str:
    r"""Return text of the file as text that can be written out: no half characters."""
    return str(text).encode("utf-8", "backslashreplace").decode()


def show(value: object, length: int = 60) -> str:
    """Describe a value of the file in one short line, without trusting it."""
    text = "".join(_pieces(value, 3))
    length = 2 * length if isinstance(value, Global) else length
    return text if len(text) <= length else text[: length - 1] + "…"


def bare(text: str, length: int = 60) -> str:
    """Return a text of the file as `show` does, without the quotes."""
    return show(text, length)[1:-1]


def listed(names: Iterable[str]) -> str:
    """Return the first of some texts of the file, each once."""
    each = list(dict.fromkeys(bare(name, 40) for name in names))
    return ", ".join(each[:8]) + (", …" if len(each) > 8 else "")


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
