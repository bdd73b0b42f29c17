"""Undo a compression, a bounded piece at a time.

Libraries are imported for the files that need them: most are not compressed.
"""

import mmap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Protocol

from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.readers.limits import Most

_CHUNK, _FIRST_CHUNK = 1 << 20, 1 << 12
# xz -9 needs 65 MiB.
_DICTIONARY = 72 << 20
_WBITS = 15
"""The largest window of zlib."""


class _Decompressor(Protocol):
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...


class _Zlib:
    """Give zlib the interface that bz2 and lzma have."""

    def __init__(self, wbits: int) -> None:
        import zlib

        self._inner = zlib.decompressobj(wbits)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max(max_length, 0))

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data


def _bz2() -> _Decompressor:
    import bz2

    return bz2.BZ2Decompressor()


def _xz() -> _Decompressor:
    import lzma

    return lzma.LZMADecompressor(memlimit=_DICTIONARY)


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


_NEW: Mapping[str, Callable[[], _Decompressor]] = {
    **dict.fromkeys(("zlib", "ZF"), partial(_Zlib, _WBITS)),
    "deflate": partial(_Zlib, -_WBITS),
    "gzip": partial(_Zlib, _WBITS | 16),
    "bz2": _bz2,
    **dict.fromkeys(("xz", "lzma"), _xz),
    "lz4": _lz4,
}


def compression_of(head: bytes) -> str:
    """Return by what a file is packed, from how it begins; empty where it is not."""
    if head[:1] == b"\x78" and len(head) > 1 and int.from_bytes(head[:2], "big") % 31 == 0:
        return "zlib"
    for magic, name in (
        (b"\x1f\x8b", "gzip"),
        (b"BZh", "bz2"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x5d\0\0", "lzma"),
        (b"\x04\x22\x4d\x18", "lz4"),
        (b"ZF0x", "ZF"),
    ):
        if head.startswith(magic):
            return name
    return ""


def inflated(
    packed: bytes | mmap.mmap | memoryview,
    compression: str,
    at: int = 0,
    streams: list[int] | None = None,
) -> Iterator[bytes]:
    """Yield the unpacked bytes from one on, a bounded piece at a time.

    The compression is as `compression_of` names it, or ``deflate`` for zlib without a header.
    `streams` takes where each stream begins, and in the end where the last one ends.

    Examples
    --------
    >>> import zlib
    >>> b"".join(inflated(zlib.compress(b"a model"), "zlib"))
    b'a model'
    """
    import lzma
    import zlib

    try:
        yield from _pieces(packed, compression, at, [] if streams is None else streams)
    except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, RuntimeError) as error:
        if "Memory usage limit" in str(error):
            raise ModelTooLargeError(
                f"the {compression} compression needs more than {_DICTIONARY >> 20} MiB to be "
                "undone: save the model again with joblib.dump(model, path, compress=3)"
            ) from None
        raise ReadError(f"the {compression} compression is damaged ({error})") from None


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
        if one or compression_of(bytes(packed[at : at + 16])) != compression:
            streams.append(at)
            return
    raise ModelTooLargeError(f"the file has more than {Most.streams:,} {compression} streams")
