"""Members of a zip archive, read in place and within bounds.

The list of members comes from `zipfile`, the bytes of a member from the mapped file: as they are
where they are stored plainly, otherwise unpacked into memory or a temporary file without a name,
once it is known that all of them together stay within the limit. Nothing is extracted to a path.
"""

import zipfile
import zlib
from collections.abc import Iterator
from mmap import mmap

from treeaudit.errors import ModelTooLargeError, ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers.limits import LIMITS, Limits, Most, show
from treeaudit.readers.open import spooled

_LOCAL_HEADER, _ENTRY, _END, _LARGE_END = 30, 46, 22, 56 + 20
_DESCRIBED = 8
_PIECE = 1 << 16  # packed bytes that are unpacked at once
# What zipfile raises for a directory that is damaged, besides BadZipFile.
_DAMAGE = (zipfile.BadZipFile, ValueError, OSError, EOFError, OverflowError, NotImplementedError)


def begins_archive(data: bytes | mmap) -> bool:
    """Tell whether the bytes begin as a zip archive."""
    return data[:4] == b"PK\x03\x04"


def member_names(data: bytes | mmap) -> list[str] | None:
    """Return the names of the members, or None where the archive is damaged."""
    try:
        return [entry.filename for entry in _directory(data).infolist()]
    except ReadError:
        return None


def check_member(name: object) -> str:
    """Return the name of a member, which unpacking would write nowhere else."""
    parts = name.replace("\\", "/").split("/") if isinstance(name, str) else [""]
    if not isinstance(name, str) or ".." in parts or parts[0] == "" or ":" in parts[0]:
        raise UnsafeModelError(
            f"the zip archive has or names a member {show(name)}, which unpacking would write "
            "elsewhere: treat it as hostile"
        )
    return name


class _Window:
    """The mapped file as `zipfile` wants it, and no more of it at a time than a directory."""

    def __init__(self, data: bytes | mmap) -> None:
        self._data = data
        self._at = 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (0, self._at, len(self._data))[whence]
        if base + offset < 0:
            raise OSError("a place before the beginning")
        self._at = base + offset
        return self._at

    def read(self, n: int = -1) -> bytes:
        n = len(self._data) if n < 0 else n
        piece = min(n, max(0, len(self._data) - self._at))
        if piece > Most.directory:
            raise ModelTooLargeError(
                f"the zip archive has a directory of more than {Most.directory:,} bytes"
            )
        self._at += piece
        return bytes(self._data[self._at - piece : self._at])


def _directory(data: bytes | mmap) -> zipfile.ZipFile:
    try:
        with zipfile.ZipFile(_Window(data)) as archive:
            return archive
    except _DAMAGE as error:
        reason = str(error).splitlines()[0] if str(error) else "no directory"
        raise ReadError(f"the zip archive is damaged ({reason[:80]})") from None


def _unpacked(packed: memoryview, size: int) -> tuple[bytes | mmap, bool]:
    """Return what a member unpacks to, a large one in a temporary file, and if it is whole."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    steps = range(0, len(packed), _PIECE)
    try:
        content = spooled(
            (inflater.decompress(packed[at : at + _PIECE]) for at in steps), size, len(packed)
        )
    except (zlib.error, ModelTooLargeError):
        return b"", False
    return content, inflater.eof and not inflater.unused_data


class Archive:
    """The members of an archive, each whole and apart from the others.

    Attributes
    ----------
    names
        All members, in the order of the archive.
    n_bytes, n_unpacked
        How many bytes they hold, and how many of these have to be unpacked.
    unused
        The bytes that belong to no member, with the place where they stand.
    """

    def __init__(self, data: bytes | mmap, limits: Limits = LIMITS) -> None:
        self._view = memoryview(data)
        listed = _directory(data)
        entries = listed.infolist()
        self._entries = {check_member(entry.filename): entry for entry in entries}
        self.names = list(self._entries)
        if len(self.names) < len(entries):
            raise ReadError("the zip archive holds a member twice")
        packed = [one for one in entries if one.compress_type != zipfile.ZIP_STORED]
        self.n_bytes = sum(one.file_size for one in entries)
        self.n_unpacked = sum(one.file_size for one in packed)
        if self.n_bytes > limits.unpacked(len(data)):
            raise ModelTooLargeError(
                f"{len(data):,} bytes unpack to {self.n_bytes:,}, which may be a zip bomb; "
                "if you trust it, allow more with --max-bytes"
            )
        self._starts: dict[str, int] = {}
        self._contents: dict[str, memoryview] = {}
        self.unused = [*self._unused(listed.start_dir)]

    def read(self, name: str) -> memoryview:
        """Return the bytes of a member."""
        if name not in self._entries:
            raise ReadError(f"the zip archive lacks {show(name)}, which its schema names")
        if name not in self._contents:
            self._contents[name] = self._read(self._entries[name])
        return self._contents[name]

    def _read(self, entry: zipfile.ZipInfo) -> memoryview:
        start = self._starts[entry.filename]
        content = self._view[start : start + entry.compress_size]
        whole = True
        if entry.compress_type == zipfile.ZIP_DEFLATED and entry.file_size:
            unpacked, whole = _unpacked(content, entry.file_size)
            content = memoryview(unpacked)
        if not whole or len(content) != entry.file_size:
            raise ReadError(
                f"{show(entry.filename)} in the zip archive is damaged: its sizes differ"
            )
        if zlib.crc32(content) != entry.CRC:
            raise ReadError(
                f"{show(entry.filename)} in the zip archive is damaged: its checksum differs"
            )
        return content

    def _unused(self, first: int) -> Iterator[tuple[str, bytes]]:
        """Find where members begin, and yield what stands around them and in the directory."""
        at, listed = 0, first
        for entry in sorted(self._entries.values(), key=lambda one: one.header_offset):
            begin = entry.header_offset
            if begin < at:
                raise ReadError("members of the zip archive overlap: this looks like a zip bomb")
            start, n_extra = self._start(entry)
            self._starts[entry.filename] = start
            yield "a gap between members", bytes(self._view[at:begin])
            yield "extra fields of a member", bytes(self._view[start - n_extra : start])
            yield "extra fields of the directory", entry.extra
            yield "the comment of a member", entry.comment
            at = start + entry.compress_size
            if entry.flag_bits & _DESCRIBED:
                at += 16 if bytes(self._view[at : at + 4]) == b"PK\x07\x08" else 12
            name = entry.orig_filename.encode(_codec(entry), "replace")
            listed += _ENTRY + len(name) + len(entry.extra) + len(entry.comment)
        yield "a gap before the directory", bytes(self._view[at:first])
        if bytes(self._view[listed : listed + 4]) == b"PK\x06\x06":
            listed += _LARGE_END
        last = bytes(self._view[listed : listed + 4]) == b"PK\x05\x06"
        yield "what follows the directory", bytes(self._view[listed + _END if last else listed :])

    def _start(self, entry: zipfile.ZipInfo) -> tuple[int, int]:
        """Return where a member begins, behind a header that must agree and its extra fields."""
        if entry.flag_bits & 0x41:
            raise UnsupportedModelError("the zip archive is encrypted: save the model without")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UnsupportedModelError(
                f"the zip archive uses compression method {entry.compress_type}: save the model "
                "again with skops.io.dump(model, path)"
            )
        at = entry.header_offset
        head = bytes(self._view[at : at + _LOCAL_HEADER])
        if len(head) < _LOCAL_HEADER or head[:4] != b"PK\x03\x04":
            raise ReadError(f"{show(entry.filename)} is not where the zip archive says")
        n_name, n_extra = int.from_bytes(head[26:28], "little"), int.from_bytes(head[28:], "little")
        name = bytes(self._view[at + _LOCAL_HEADER : at + _LOCAL_HEADER + n_name])
        if name.decode(_codec(entry), "replace") != entry.orig_filename:
            raise ReadError(f"the zip archive has two names for {show(entry.filename)}")
        start = at + _LOCAL_HEADER + n_name + n_extra
        if start + entry.compress_size > len(self._view):
            raise ReadError(f"{show(entry.filename)} goes beyond the end of the zip archive")
        return start, n_extra


def _codec(entry: zipfile.ZipInfo) -> str:
    return "utf-8" if entry.flag_bits & 0x800 else "cp437"
