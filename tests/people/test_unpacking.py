"""Packed tables: whole, in several parts, cut off, and no such thing at all."""

import bz2
import gzip
import lzma
import zipfile

import pytest

import treeaudit as ta
from treeaudit.people.input.sources import source_of
from treeaudit.people.input.table_input import read_table

TEXT = b"age\n" + b"".join(b"%d\n" % (i * 7919 % 100) for i in range(20_000))


def packer(suffix):
    return {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[suffix]


def held(path) -> int:
    return len(read_table(path).frame)


def streamed(path) -> int:
    return sum(len(batch) for part in source_of(path).parts for batch in part.batches([0], (), ()))


EACH = pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
BOTH = pytest.mark.parametrize("read", [held, streamed])


@EACH
@BOTH
def test_all_parts_are_read(tmp_path, suffix, read) -> None:
    path, packed = tmp_path / f"people.csv.{suffix}", packer(suffix)
    path.write_bytes(packed(TEXT))
    assert read(path) == 20_000
    path.write_bytes(packed(TEXT[:30_000]) + packed(b"") + packed(TEXT[30_000:]))
    assert read(path) == 20_000


@EACH
@BOTH
@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_what_is_cut_off_is_refused(tmp_path, suffix, read, share) -> None:
    path, packed = tmp_path / f"people.csv.{suffix}", packer(suffix)(TEXT)
    path.write_bytes(packed[: int(len(packed) * share)])
    with pytest.raises(ta.DataError, match="cannot be read as a table"):
        read(path)


@BOTH
@pytest.mark.parametrize(
    ("at", "value", "says"),
    [(6, 1, "with a password"), (8, 97, "in a way that is not read")],
)
def test_zip_archives_that_are_not_read(tmp_path, read, at, value, says) -> None:
    path = tmp_path / "people.csv.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("people.csv", TEXT)
    assert read(path) == 20_000
    data = bytearray(path.read_bytes())
    # Its header says so, and its entry in the directory, two bytes further on.
    data[at] = data[data.index(b"PK\1\2") + at + 2] = value
    path.write_bytes(data)
    with pytest.raises(ta.DataError, match=f"people.csv.zip is packed {says}; unpack it"):
        read(path)
