"""Arrays that joblib 0.9 and older wrote into files beside the model.

The model names them (``model.pkl_01.npy``). A name is opened only if it is a
plain file name that lies in the folder of the model itself: no path, no link
that leads out of the folder, no device, and not without bounds.
"""

import os
import stat
from dataclasses import replace
from mmap import mmap
from pathlib import Path
from typing import Protocol

from treeaudit.errors import ModelTooLargeError, ReadError, UnsafeModelError
from treeaudit.readers.limits import LIMITS, Limits, Most, show
from treeaudit.readers.open import open_file
from treeaudit.readers.pickle.arrays import arrived, fill
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.pickle.npy import read_header, read_npy

_MODULES = frozenset(
    f"{library}.{module}"
    for library in ("joblib", "sklearn.externals.joblib")
    for module in ("numpy_pickle", "numpy_pickle_compat")
)
_SMALL = 1 << 20


class Stream(Protocol):
    """The part of the interpreter that an array needs."""

    at: int
    companions: "Companions | None"

    def take(self, n: int) -> memoryview:
        """Return the next ``n`` bytes."""

    def begin_array(self) -> None:
        """Make sure that raw bytes may begin here."""

    def refuse_instructions(self, size: int) -> None:
        """Make sure that pickle would not run them."""

    def read_nested(self) -> object:
        """Read the pickle that begins here."""

    def read_inside(self, data: bytes | mmap, at: int) -> object:
        """Read the pickle that begins at a place in other bytes."""

    def spend(self, n: int) -> None:
        """Take some of what the objects of the file may cost."""


class Companions:
    """The files beside a model that the model may name.

    Attributes
    ----------
    opened
        The names that were opened, with the size of what they unpack to.
    """

    def __init__(self, folder: Path, limits: Limits = LIMITS) -> None:
        self.folder = folder
        self.limits = limits
        self.opened: dict[str, int] = {}
        self._contents: dict[str, bytes | mmap] = {}
        self._left = limits.max_bytes
        self._beyond = limits.beyond

    def open(self, name: object) -> bytes | mmap:
        """Return the content of a companion, each file opened once."""
        if not isinstance(name, str) or not is_plain(name):
            raise UnsafeModelError(
                f"the file wants to read {show(name)} as one of its arrays, which is no plain "
                "file name in its own folder: treat it as hostile"
            )
        if name not in self._contents:
            if len(self._contents) >= Most.companions:
                raise ModelTooLargeError(
                    f"the file names more than {Most.companions:,} companion files"
                )
            self._contents[name] = self._read(name)
            self.opened[name] = len(self._contents[name])
        return self._contents[name]

    def _read(self, name: str) -> bytes | mmap:
        size = self._size(name)
        if size > self._left:
            raise ModelTooLargeError(
                f"the companion files have more bytes than the limit of {self.limits.max_bytes:,}; "
                "raise it with --max-bytes"
            )
        limits = replace(self.limits, beyond=self._beyond)
        content = open_file(Path(os.path.realpath(self.folder / name)), limits)
        if content.streams and content.streams[1:] != (content.n_bytes,):
            raise ReadError(f"{name} beside the file holds more than its compressed array")
        self._left -= max(content.n_bytes, len(content.data))
        over = len(content.data) - limits.times * content.n_bytes
        self._beyond -= max(over, 0)
        # A mapped file takes a descriptor, and a forest has thousands of companions.
        return bytes(content.data) if len(content.data) < _SMALL else content.data

    def _size(self, name: str) -> int:
        try:
            home, path = os.path.realpath(self.folder), os.path.realpath(self.folder / name)
            if os.path.dirname(path) != home:  # noqa: PTH120
                raise UnsafeModelError(
                    f"{name}, which the file names as one of its arrays, is a link that leads out "
                    "of the folder: copy the file itself beside the model"
                )
            status = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            raise ReadError(
                f"the file keeps an array in {name}, which is missing: put {name} beside it, "
                "into the same folder"
            ) from None
        except (OSError, ValueError) as error:
            raise ReadError(f"{name} beside the file cannot be opened: {error}") from None
        if not stat.S_ISREG(status.st_mode):
            raise UnsafeModelError(
                f"{name}, which the file names as one of its arrays, is not a regular file: "
                "treat it as hostile"
            )
        return status.st_size


def is_plain(name: str) -> bool:
    """Tell whether it is the name of a file, without a path."""
    if not 0 < len(name) <= Most.file_name or name in (".", "..") or not name.isprintable():
        return False
    return not any(mark in name for mark in '/\\:*?"<>|')


def names_companion(target: Inert) -> bool:
    """Tell whether this object stands for an array in a file beside the model."""
    return target.kind in ("NDArrayWrapper", "ZNDArrayWrapper") and target.cls.module in _MODULES


def read_companion(stream: Stream, wrapper: Inert) -> object:
    """Return the array that a companion file holds."""
    name = wrapper.get("filename")
    name = name.decode("utf-8", "replace") if isinstance(name, bytes) else name
    if stream.companions is None:
        raise ReadError(
            f"the model keeps an array in the file {show(name)}: name the model file itself, "
            "with that file beside it"
        )
    data = stream.companions.open(str(name) if isinstance(name, str) else name)
    try:
        return _array(stream, wrapper, data)
    except UnsafeModelError:
        raise
    except ReadError as error:
        raise type(error)(f"{name} beside the file: {error}") from None


def _array(stream: Stream, wrapper: Inert, data: bytes | mmap) -> object:
    if wrapper.kind == "ZNDArrayWrapper":
        state = wrapper.get("state")
        if not isinstance(state, tuple) or len(state) != 4:
            raise ReadError("an array of the joblib file is not described")
        return fill((*state, memoryview(data)), 0, stream.spend)
    header = read_header(data)
    if header.dtype.is_object:
        return arrived(stream.read_inside(data, header.start))
    array = read_npy(data)
    if n := len(data) - header.start - array.nbytes:
        raise ReadError(f"{n:,} bytes follow the array")
    return array
