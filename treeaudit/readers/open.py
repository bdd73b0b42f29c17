"""Open a model file and undo its compression, within bounds, before any reader sees it.

Only the named file is opened. A plain file is mapped, not copied; a compressed one is unpacked
a piece at a time into memory, or into an unnamed temporary file if it is large.
"""

import bz2
import lzma
import mmap
import os
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from treeaudit.errors import MissingFileError, ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.source import Digest
from treeaudit.readers.limits import LIMITS, Limits, Most

_CHUNK, _FIRST_CHUNK = 1 << 20, 1 << 12
_SPOOL = 64 << 20
# xz -9 needs 65 MiB.
_DICTIONARY = 72 << 20
# joblib 0.9 and older: two letters, the size in hexadecimal, filled up with blanks.
_ZF_HEADER = 21
_MAGIC: Mapping[bytes, str] = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\0": "xz",
    b"\x5d\0\0": "lzma",
    b"\x04\x22\x4d\x18": "lz4",
    b"ZF0x": "ZF",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Content:
    """The bytes of a model file."""

    data: bytes | mmap.mmap  # The unpacked bytes
    # ``zlib``, ``gzip``, ``bz2``, ``xz``, ``lzma``, ``lz4``, ``ZF`` (zlib inside the container of
    # joblib 0.9), or empty
    compression: str
    digest: Digest  # Gives the SHA-256 of the file as stored; worked out once, when it is asked for
    n_bytes: int  # Of the file as stored
    packed: bytes | mmap.mmap = b""  # The bytes as stored
    # Where each compressed stream of them begins, and where the last one ends
    streams: tuple[int, ...] = ()

    def within(self, limits: Limits) -> Limits:
        """Return what reading it may still cost."""
        if not self.compression:
            return limits
        return limits.within(self.n_bytes, len(self.data))


def open_file(path: str | os.PathLike[str], limits: Limits = LIMITS) -> Content:
    """Map a file and undo its compression, within limits on its size before and after."""
    return unpack(_mapped(path, limits), limits)


def beginning(path: str | os.PathLike[str]) -> Content:
    """Map a file and undo the compression of its beginning alone: enough to tell what it is."""
    packed = _mapped(path, LIMITS)
    compression = _compression_of(packed[:16])
    if not compression:
        return unpack(packed)
    start = _ZF_HEADER if compression == "ZF" else 0
    data = next(inflated(packed, compression, start), b"")
    return Content(data=data, compression=compression, digest=Digest(packed), n_bytes=len(packed))


def unpack(packed: bytes | mmap.mmap, limits: Limits = LIMITS) -> Content:
    """Undo the compression of bytes that were read already."""
    compression = _compression_of(packed[:16])
    streams: list[int] = []
    data = packed
    if compression:
        most = limits.unpacked(len(packed))
        start, size = _zf_header(packed, most) if compression == "ZF" else (0, None)
        data = spooled(inflated(packed, compression, start, streams), most, len(packed))
        if size is not None and len(data) != size:
            raise ReadError(
                f"the ZF compression is damaged ({size:,} bytes announced, {len(data):,} found)"
            )
    return Content(
        data=data,
        compression=compression,
        digest=Digest(packed),
        n_bytes=len(packed),
        packed=packed,
        streams=tuple(streams),
    )


def inflated(
    packed: bytes | mmap.mmap | memoryview,
    compression: str,
    at: int = 0,
    streams: list[int] | None = None,
) -> Iterator[bytes]:
    """Yield the unpacked bytes from one on, a bounded piece at a time.

    The compression is as `Content` names it, or ``deflate`` for zlib without a header.
    `streams` takes where each stream begins, and in the end where the last one ends.
    """
    try:
        yield from _pieces(packed, compression, at, [] if streams is None else streams)
    except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, RuntimeError) as error:
        if "Memory usage limit" in str(error):
            raise ModelTooLargeError(
                f"the {compression} compression needs more than {_DICTIONARY >> 20} MiB to be "
                "undone: save the model again with joblib.dump(model, path, compress=3)"
            ) from None
        raise ReadError(f"the {compression} compression is damaged ({error})") from None


def spooled(pieces: Iterable[bytes], most: int, n_packed: int) -> bytes | mmap.mmap:
    """Gather at most so many unpacked bytes, in memory or in a temporary file without a name."""
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL) as spool:
        size = 0
        for piece in pieces:
            size += len(piece)
            if size > most:
                raise _bomb(n_packed, most)
            try:
                spool.write(piece)
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                raise ReadError(
                    f"the file cannot be unpacked into the temporary folder: {reason}; "
                    "set TMPDIR to a folder with more room"
                ) from None
        if size == 0:
            raise ReadError("the compressed file is empty inside")
        if size > _SPOOL:
            spool.rollover()
            spool.flush()
            return mmap.mmap(spool.fileno(), 0, access=mmap.ACCESS_READ)
        spool.seek(0)
        return spool.read()


def _mapped(path: str | os.PathLike[str], limits: Limits) -> mmap.mmap:
    """Return the bytes of a file as they are asked for."""
    name = Path(path).name or str(path)
    try:
        # O_NONBLOCK: a named pipe must not make the audit wait forever.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        raise MissingFileError(os.fspath(path)) from None
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


def _zf_header(packed: bytes | mmap.mmap, most: int) -> tuple[int, int]:
    """Return where the stream of a ZF container begins, and the size that it announces."""
    text = bytes(packed[2:_ZF_HEADER]).rstrip(b" L")
    try:
        size = int(text, 16)
    except ValueError:
        size = -1
    if text.lower() != f"{size:#x}".encode():
        raise ReadError("the size in the ZF header is damaged")
    if size > most:
        raise _bomb(len(packed), most)
    # Python 2 wrote the header one blank wider.
    return _ZF_HEADER + (packed[_ZF_HEADER : _ZF_HEADER + 1] == b" "), size


def _bomb(n_packed: int, most: int) -> ModelTooLargeError:
    return ModelTooLargeError(
        f"{n_packed:,} bytes unpack to more than {most:,}, which may be a decompression bomb; "
        "if you trust it, allow more with --max-bytes"
    )


class _Decompressor(Protocol):
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...


class _Zlib:
    """Gives zlib the interface that bz2 and lzma have."""

    def __init__(self, wbits: int) -> None:
        self._inner = zlib.decompressobj(wbits)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max(max_length, 0))

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data


def _lz4() -> _Decompressor:
    try:
        import lz4.frame
    except ModuleNotFoundError:
        raise UnsupportedModelError(
            "the file is compressed with lz4; run 'pip install treeaudit[lz4]', "
            "or save it again with joblib.dump(model, path, compress=3)"
        ) from None
    made: _Decompressor = lz4.frame.LZ4FrameDecompressor()
    return made


_XZ = partial(lzma.LZMADecompressor, memlimit=_DICTIONARY)
_NEW: Mapping[str, Callable[[], _Decompressor]] = {
    **dict.fromkeys(("zlib", "ZF"), partial(_Zlib, zlib.MAX_WBITS)),
    "deflate": partial(_Zlib, -zlib.MAX_WBITS),
    "gzip": partial(_Zlib, zlib.MAX_WBITS | 16),
    "bz2": bz2.BZ2Decompressor,
    **dict.fromkeys(("xz", "lzma"), _XZ),
    "lz4": _lz4,
}


def _compression_of(head: bytes) -> str:
    """Return by what a file is packed, from how it begins; empty if it is not."""
    if head[:1] == b"\x78" and len(head) > 1 and int.from_bytes(head[:2], "big") % 31 == 0:
        return "zlib"
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")


def _pieces(
    packed: bytes | mmap.mmap | memoryview, compression: str, at: int, streams: list[int]
) -> Iterator[bytes]:
    for _ in range(Most.streams):
        streams.append(at)
        unpacker = _NEW[compression]()
        given, last, size = b"", False, _FIRST_CHUNK
        while not unpacker.eof:
            piece = unpacker.decompress(given, _CHUNK)
            given = b""
            if piece:
                yield piece
            elif last:
                raise EOFError("the file ends too early")
            elif not unpacker.eof:
                # Little at first: what lies behind a short stream is copied in vain.
                given = bytes(packed[at : at + size])
                at += len(given)
                size = min(2 * size, _CHUNK)
                last = not given
        at -= len(unpacker.unused_data or b"")
        # joblib's zlib holds one stream; the others may be concatenated.
        one = compression in ("zlib", "ZF", "deflate")
        if one or _compression_of(bytes(packed[at : at + 16])) != compression:
            streams.append(at)
            return
    raise ModelTooLargeError(f"the file has more than {Most.streams:,} {compression} streams")
