"""What a compressed file holds beside the bytes that it unpacks to."""

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from treeaudit.readers.unpack import Content

__all__ = ["beside_streams"]

# gzip names the file that was packed, and may hold other notes.
_NAMED, _LONGEST_HEAD = 8, 300
_FILE_NAME = re.compile(rb"[\w. -]{0,100}\0")
_SMALLEST, _USUAL = 64, 10_000
_NO_BYTES = b"\0\0\xff\xff"
_PIECE = 1 << 20
# Packed once more, by the quickest way there is, a file of this size costs little.
_LARGEST, _LOOSER = 1 << 20, 1.1


def beside_streams(content: Content) -> Iterator[tuple[str, bytes]]:
    """Yield what no stream needs, with its place, or as many bytes where it has none.

    Notes in the headers of gzip, what follows the last stream, streams that hold next to
    nothing, and blocks of deflate that no compressor writes. How well a stream is packed is
    only held against a bound: the choices of a compressor cannot be told from a message.

    Parameters
    ----------
    content
        An opened file.
    """
    packed, streams = memoryview(content.packed), content.streams
    how = content.compression
    if not how:
        return
    if how == "gzip":
        yield from _heads(packed, streams)
    small = [bytes(packed[a:b]) for a, b in pairwise(streams) if b - a < _SMALLEST]
    if len(streams) > 2 and small:
        yield "streams that hold nothing", b"".join(small)
    elif len(streams) > 2 and streams[-1] - streams[0] < _USUAL * (len(streams) - 1):
        yield "the ends of many small streams", bytes(len(streams))
    if streams and (rest := bytes(packed[streams[-1] :])):
        yield f"what follows the {how} stream", rest
    if how in ("zlib", "gzip", "ZF"):
        yield "blocks of the compressed stream", bytes(_spare_blocks(content))


def _heads(packed: memoryview, streams: tuple[int, ...]) -> Iterator[tuple[str, bytes]]:
    heads = [bytes(packed[at : at + _LONGEST_HEAD]) for at in streams[:-1]]
    for head in heads:
        if head[3] & ~_NAMED or (head[3] & _NAMED and not _FILE_NAME.match(head, 10)):
            yield "the header of a gzip stream", head[10:].partition(b"\0")[0] or head[3:4]
    if len(heads) > 1:
        # Whoever packs a model writes one stream; a time and a name fit in the head of each.
        yield (
            "the headers of further gzip streams",
            b"".join(
                head[4:10] + (head[10:].partition(b"\0")[0] if head[3] & _NAMED else b"")
                for head in heads[1:]
            ),
        )


def _spare_blocks(content: Content) -> int:
    """Count the bytes of deflate that are more than a compressor needs."""
    packed, n = memoryview(content.packed), len(content.data)
    empty = 4 * bytes(packed).count(_NO_BYTES)
    short = 0
    for at in range(0, len(packed), _PIECE):
        for shift in (0, 1):
            piece = packed[at + shift : at + shift + _PIECE + 2]
            words = np.frombuffer(piece[: len(piece) // 2 * 2], "<u2")
            # A size, and the same once more with all bits turned: by chance one in four million.
            found = np.flatnonzero(words[:-1] ^ words[1:] == 0xFFFF)
            short += int(np.count_nonzero(words[found] < 1024))
    by_chance = 4 + len(packed) // _PIECE
    spare = max(empty - 8, 0) + (short if short > by_chance else 0)
    if n <= _LARGEST:
        import zlib  # for files that are compressed alone

        # Or not packed at all: blocks of 16 KiB, each with its size.
        stored = n + 8 * (n >> 14) + _SMALLEST
        most = int(_LOOSER * len(zlib.compress(content.data, 1))) + _SMALLEST
        spare += max(0, len(packed) - (stored if len(packed) > n else most))
    return spare
