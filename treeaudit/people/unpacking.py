"""Packed text, unpacked while it is read; what ends too early is refused, not cut short."""

import io
from typing import IO, Any

from treeaudit.errors import DataError

__all__ = ["unpacked"]

_PIECE = 1 << 10
"""Bytes of Zstandard that are unpacked at once: 32 MB of nothing but one letter."""


def unpacked(file: IO[bytes], suffix: str, name: str) -> IO[bytes]:
    """Return what a file holds that is packed as its suffix says.

    Parameters
    ----------
    name
        What to call it in messages.

    Raises
    ------
    DataError
        If it cannot be unpacked here. Reading raises OSError or EOFError where it is damaged.

    Examples
    --------
    >>> import gzip
    >>> unpacked(io.BytesIO(gzip.compress(b"age")), ".gz", "people.csv.gz").read()
    b'age'
    """
    if suffix == ".gz":
        import gzip

        return gzip.open(file)  # type: ignore[return-value]
    if suffix == ".bz2":
        import bz2

        return bz2.open(file)
    if suffix == ".xz":
        import lzma

        return lzma.open(file)
    if suffix == ".zip":
        return _zipped(file, name)
    if suffix == ".zst":
        return _Frames(file, name)  # type: ignore[return-value]
    return file


def _zipped(file: IO[bytes], name: str) -> IO[bytes]:
    import zipfile

    archive = zipfile.ZipFile(file)
    members = [one for one in archive.namelist() if not one.endswith("/")]
    if len(members) != 1:
        raise DataError(f"{name} holds {len(members)} files; one table is read at a time")
    try:
        return archive.open(members[0])
    except RuntimeError as error:
        # NotImplementedError, of a way that zipfile does not know, is one of these.
        how = (
            "in a way that is not read"
            if isinstance(error, NotImplementedError)
            else "with a password"
        )
        raise DataError(f"{name} is packed {how}; unpack it, and give the table itself") from None


class _Frames(io.RawIOBase):
    """What the frames of a file of Zstandard hold, one after the other."""

    def __init__(self, packed: IO[bytes], name: str) -> None:
        super().__init__()
        try:
            import zstandard
        except ImportError:
            raise DataError(f"{name}: reading it needs zstandard; pip install zstandard") from None
        self._packed, self._wrong = packed, zstandard.ZstdError
        self._start = zstandard.ZstdDecompressor().decompressobj
        self._frame: Any = None
        self._at_hand, self._left = b"", memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        while not self._left and (piece := self._at_hand or self._packed.read(_PIECE)):
            self._left, self._at_hand = memoryview(self._next(piece)), b""
            if self._frame.eof:
                self._at_hand, self._frame = self._frame.unused_data, None
        if not self._left and self._frame is not None:
            raise EOFError("it ends before it should")
        n = min(len(buffer), len(self._left))
        buffer[:n], self._left = self._left[:n], self._left[n:]
        return n

    def _next(self, piece: bytes) -> bytes:
        self._frame = self._start() if self._frame is None else self._frame
        try:
            return bytes(self._frame.decompress(piece))
        except self._wrong as error:
            raise OSError(str(error)) from None
