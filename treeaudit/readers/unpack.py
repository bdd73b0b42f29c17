"""Open a model file and undo its compression, within bounds.

Only the named file is opened. A plain file is mapped, not copied; a compressed
one is unpacked into memory, or into an unnamed temporary file where it is
large.
"""

import mmap
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.model.source import Digest
from treeaudit.readers.inflate import compression_of, inflated
from treeaudit.readers.limits import LIMITS, Limits

_SPOOL = 64 << 20
# joblib 0.9 and older: two letters, the size in hexadecimal, filled up with blanks.
_ZF_HEADER = 21


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Content:
    """The bytes of a model file.

    Attributes
    ----------
    data
        The unpacked bytes.
    compression
        ``zlib``, ``gzip``, ``bz2``, ``xz``, ``lzma``, ``lz4``, ``ZF`` (zlib
        inside the container of joblib 0.9), or empty.
    digest
        Gives the SHA-256 of the file as stored; worked out once, when it is asked for.
    n_bytes
        Of the file as stored.
    packed
        The bytes as stored.
    streams
        Where each compressed stream of them begins, and where the last one ends.
    """

    data: bytes | mmap.mmap
    compression: str
    digest: Digest
    n_bytes: int
    packed: bytes | mmap.mmap = b""
    streams: tuple[int, ...] = ()

    def within(self, limits: Limits) -> Limits:
        """Return what reading it may still cost."""
        if not self.compression:
            return limits
        return limits.within(self.n_bytes, len(self.data))


def open_file(path: str | os.PathLike[str], limits: Limits = LIMITS) -> Content:
    """Map a file and undo its compression, within limits on its size before and after.

    Examples
    --------
    >>> import tempfile, zlib
    >>> path = Path(tempfile.mkdtemp()) / "model"
    >>> _ = path.write_bytes(zlib.compress(b"a model"))
    >>> content = open_file(path)
    >>> content.compression, bytes(content.data)
    ('zlib', b'a model')
    """
    return unpack(mapped(path, limits), limits)


def mapped(path: str | os.PathLike[str], limits: Limits) -> mmap.mmap:
    """Return the bytes of a file as they are asked for; `open_file` says what it raises."""
    name = Path(path).name or str(path)
    try:
        # O_NONBLOCK: a named pipe must not make the audit wait forever.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        raise ReadError(f"there is no file {os.fspath(path)}") from None
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        if isinstance(error, PermissionError) and Path(path).is_dir():  # Windows opens no folder
            raise ReadError(f"{name} is a folder; name the model file itself") from None
        raise ReadError(f"{name} cannot be opened: {reason}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            what = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise ReadError(f"{name} is {what}; name the model file itself")
        if status.st_size == 0:
            raise ReadError(f"{name} is empty")
        if status.st_size > limits.max_bytes:
            raise ModelTooLargeError(
                f"{name} has {status.st_size:,} bytes, more than the limit of "
                f"{limits.max_bytes:,}; raise it with --max-bytes"
            )
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise ReadError(f"{name} cannot be read: {error}") from None
    finally:
        os.close(descriptor)


def unpack(packed: bytes | mmap.mmap, limits: Limits = LIMITS) -> Content:
    """Undo the compression of bytes that were read already."""
    compression = compression_of(packed[:16])
    streams: list[int] = []
    data = _inflate(packed, compression, limits, streams) if compression else packed
    return Content(
        data=data,
        compression=compression,
        digest=Digest(packed),
        n_bytes=len(packed),
        packed=packed,
        streams=tuple(streams),
    )


def _inflate(
    packed: bytes | mmap.mmap, compression: str, limits: Limits, streams: list[int]
) -> bytes | mmap.mmap:
    most = limits.unpacked(len(packed))
    if compression != "ZF":
        return spooled(inflated(packed, compression, 0, streams), most, len(packed))
    stated = _stated_size(packed)
    if stated > most:
        raise _bomb(len(packed), most)
    # Python 2 wrote the header one blank wider.
    start = _ZF_HEADER + (packed[_ZF_HEADER : _ZF_HEADER + 1] == b" ")
    unpacked = spooled(inflated(packed, compression, start, streams), most, len(packed))
    if len(unpacked) != stated:
        raise ReadError(
            f"the ZF compression is damaged ({stated:,} bytes announced, {len(unpacked):,} found)"
        )
    return unpacked


def _stated_size(packed: bytes | mmap.mmap) -> int:
    text = bytes(packed[2:_ZF_HEADER]).rstrip(b" L")
    try:
        size = int(text, 16)
    except ValueError:
        size = -1
    if text.lower() != f"{size:#x}".encode():
        raise ReadError("the size in the ZF header is damaged")
    return size


def _bomb(n_packed: int, most: int) -> ModelTooLargeError:
    return ModelTooLargeError(
        f"{n_packed:,} bytes unpack to more than {most:,}, which may be a decompression bomb; "
        "if you trust it, allow more with --max-bytes"
    )


def spooled(pieces: Iterable[bytes], most: int, n_packed: int) -> bytes | mmap.mmap:
    """Gather at most so many unpacked bytes, in memory or in a temporary file without a name.

    Examples
    --------
    >>> spooled([b"a ", b"model"], 100, 3)
    b'a model'
    """
    import tempfile  # a plain file needs none

    with tempfile.SpooledTemporaryFile(max_size=_SPOOL) as spool:
        size = 0
        for piece in pieces:
            size += len(piece)
            if size > most:
                raise _bomb(n_packed, most)
            _keep(spool, piece)
        if size == 0:
            raise ReadError("the compressed file is empty inside")
        if size > _SPOOL:
            spool.rollover()
            spool.flush()
            return mmap.mmap(spool.fileno(), 0, access=mmap.ACCESS_READ)
        spool.seek(0)
        return spool.read()


def _keep(spool: IO[bytes], piece: bytes) -> None:
    try:
        spool.write(piece)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError(
            f"the file cannot be unpacked into the temporary folder: {reason}; "
            "set TMPDIR to a folder with more room"
        ) from None
