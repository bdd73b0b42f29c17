"""Members of a zip archive, read in place and within bounds.

Nothing is extracted to a path. The list of members comes from `zipfile`, the
bytes of a member from the mapped file: as they are where they are stored
plainly, otherwise unpacked into one temporary file without a name.
"""

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from mmap import mmap

from treeaudit.errors import ModelTooLargeError, ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers.limits import LIMITS, Limits, Most, show
from treeaudit.readers.open import inflated, spooled

_LOCAL_HEADER, _ENTRY, _END, _LARGE_END = 30, 46, 22, 56 + 20
_DESCRIBED = 8
_METHODS = {zipfile.ZIP_STORED: "", zipfile.ZIP_DEFLATED: "deflate", zipfile.ZIP_BZIP2: "bz2"}
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


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the bytes of a member stand: as stored, and once unpacked."""

    entry: zipfile.ZipInfo
    start: int
    unpacked: int


class Archive:
    """The members of an archive that somebody asked for."""

    def __init__(self, data: bytes | mmap, limits: Limits = LIMITS) -> None:
        self._data = data
        self._view = memoryview(data)
        self._most = limits.unpacked(len(data))
        self._entries: dict[str, zipfile.ZipInfo] = {}
        self._listed = _directory(data)
        for entry in self._listed.infolist():
            _check_name(entry.filename)
            if entry.filename in self._entries:
                raise ReadError(f"the zip archive holds {show(entry.filename)} twice")
            self._entries[entry.filename] = entry
        self._places: dict[str, _Place] = {}
        self._unpacked: bytes | mmap = b""

    @property
    def names(self) -> list[str]:
        """All members, in the order of the archive."""
        return list(self._entries)

    def spare(self) -> Iterator[tuple[str, bytes]]:
        """Yield the bytes that belong to no member, with the place where they stand."""
        at = 0
        entries = sorted(self._entries.values(), key=lambda one: one.header_offset)
        for entry in entries:
            start, begin = self._start(entry), entry.header_offset
            n_extra = int.from_bytes(self._view[begin + 28 : begin + _LOCAL_HEADER], "little")
            yield "a gap between members", bytes(self._view[at:begin])
            yield "extra fields of a member", bytes(self._view[start - n_extra : start])
            yield "extra fields of the directory", entry.extra
            yield "the comment of a member", entry.comment
            at = start + entry.compress_size
            if entry.flag_bits & _DESCRIBED:
                signed = bytes(self._view[at : at + 4]) == b"PK\x07\x08"
                at += 16 if signed else 12
        first = self._listed.start_dir
        yield "a gap before the directory", bytes(self._view[at:first])
        stated = sum(
            _ENTRY + len(one.orig_filename.encode(*_codec(one))) + len(one.extra) + len(one.comment)
            for one in self._entries.values()
        )
        end = first + stated
        if bytes(self._view[end : end + 4]) == b"PK\x06\x06":
            end += _LARGE_END
        last = bytes(self._view[end : end + 4]) == b"PK\x05\x06"
        yield "what follows the directory", bytes(self._view[end + _END if last else end :])

    @property
    def n_unpacked(self) -> int:
        """How many bytes of them had to be unpacked."""
        return len(self._unpacked)

    @property
    def n_bytes(self) -> int:
        """How many bytes the members that were opened hold."""
        return sum(place.entry.file_size for place in self._places.values())

    def read(self, name: str) -> memoryview:
        """Return the bytes of a member that was opened before."""
        place = self._places.get(name)
        if place is None:
            raise ReadError(f"the zip archive lacks {show(name)}")
        if place.entry.compress_type == zipfile.ZIP_STORED:
            return self._view[place.start : place.start + place.entry.file_size]
        return memoryview(self._unpacked)[place.unpacked : place.unpacked + place.entry.file_size]

    def open(self, names: Iterable[str]) -> None:
        """Unpack members and check that they are whole and stand apart."""
        places: dict[str, _Place] = {}
        total = packed = 0
        for name in dict.fromkeys(names):
            entry = self._entry(name)
            places[name] = _Place(entry, self._start(entry), packed)
            total += entry.file_size
            packed += entry.file_size if entry.compress_type != zipfile.ZIP_STORED else 0
        if total > self._most:
            raise ModelTooLargeError(
                f"{len(self._data):,} bytes unpack to {total:,}, which may be a zip bomb; "
                "if you trust it, allow more with --max-bytes"
            )
        _stand_apart(places.values())
        self._unpacked = b""
        if packed:
            self._unpacked = spooled(self._pieces(places.values()), packed, len(self._data))
        self._places = places
        for name, place in places.items():
            if not _METHODS[place.entry.compress_type]:
                _check_sum(zlib.crc32(self.read(name)), place.entry)

    def _entry(self, name: str) -> zipfile.ZipInfo:
        entry = self._entries.get(name)
        if entry is None:
            raise ReadError(f"the zip archive lacks {show(name)}, which its schema names")
        if entry.flag_bits & 0x41:
            raise UnsupportedModelError("the zip archive is encrypted: save the model without")
        if entry.compress_type not in _METHODS:
            raise UnsupportedModelError(
                f"the zip archive uses compression method {entry.compress_type}: save the model "
                "again with skops.io.dump(model, path)"
            )
        if entry.compress_type == zipfile.ZIP_STORED and entry.file_size != entry.compress_size:
            raise ReadError(f"{show(name)} in the zip archive is damaged: its sizes differ")
        return entry

    def _start(self, entry: zipfile.ZipInfo) -> int:
        """Return where the bytes of a member begin: behind a header that must agree."""
        at = entry.header_offset
        head = bytes(self._view[at : at + _LOCAL_HEADER]) if at >= 0 else b""
        if len(head) < _LOCAL_HEADER or head[:4] != b"PK\x03\x04":
            raise ReadError(f"{show(entry.filename)} is not where the zip archive says")
        n_name, n_extra = int.from_bytes(head[26:28], "little"), int.from_bytes(head[28:], "little")
        name = bytes(self._view[at + _LOCAL_HEADER : at + _LOCAL_HEADER + n_name])
        if name.decode(_codec(entry)[0], "replace") != entry.orig_filename:
            raise ReadError(f"the zip archive has two names for {show(entry.filename)}")
        start = at + _LOCAL_HEADER + n_name + n_extra
        if start + entry.compress_size > len(self._data):
            raise ReadError(f"{show(entry.filename)} goes beyond the end of the zip archive")
        return start

    def _pieces(self, places: Iterable[_Place]) -> Iterator[bytes]:
        for place in places:
            entry = place.entry
            method = _METHODS[entry.compress_type]
            if not method:
                continue
            left, checksum = entry.file_size, 0
            packed = self._view[place.start : place.start + entry.compress_size]
            for piece in inflated(packed, method):
                left -= len(piece)
                if left < 0:
                    break
                checksum = zlib.crc32(piece, checksum)
                yield piece
            if left:
                raise ReadError(
                    f"{show(entry.filename)} in the zip archive does not have the size it states"
                )
            _check_sum(checksum, entry)


def _check_sum(found: int, entry: zipfile.ZipInfo) -> None:
    if found != entry.CRC:
        name = show(entry.filename)
        raise ReadError(f"{name} in the zip archive is damaged: its checksum differs")


def _codec(entry: zipfile.ZipInfo) -> tuple[str, str]:
    return ("utf-8" if entry.flag_bits & 0x800 else "cp437"), "replace"


def _stand_apart(places: Iterable[_Place]) -> None:
    """Refuse members that share bytes: that is how small archives become huge."""
    end = 0
    order = sorted(places, key=lambda place: (place.entry.header_offset, place.start))
    for place in order:
        if place.entry.header_offset < end:
            raise ReadError("members of the zip archive overlap: this looks like a zip bomb")
        end = place.start + place.entry.compress_size


def _check_name(name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or parts[0] == "" or ":" in parts[0]:
        raise UnsafeModelError(
            f"the zip archive has a member {show(name)}, which unpacking would write elsewhere: "
            "treat it as hostile"
        )
