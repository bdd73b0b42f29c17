"""Whether a file is its own rewriting.

A file is canonical if it equals, byte for byte, what `treeaudit.release` writes for the model
that was read from it. What does not follow from the model has no place in such a file: no notes,
no seeds, no choice of instructions, digits or blanks that a reader would not see.

The forms that are compared, each fixed within a major release:

- pickle and joblib: the one pickle of `treeaudit.writers.pickle_bytes`, of the record that
  `treeaudit.writers.canonical_record` leaves; a joblib file is a plain pickle, too.
- skops: members without times, in the order of the schema; numbers of nodes in that order.
- XGBoost: entries sorted by name, without blanks; numbers of 32 bits by their shortest text.
- LightGBM: the lines that `treeaudit.writers.lightgbm` writes, in its order.
- R: version 2 of its serialisation, big-endian; what `treeaudit.writers.r` puts together.
- treeaudit's own JSON: without blanks, in the order of `treeaudit.writers.native_json`.

Compressed files are not canonical. What stays free is what the model consists of: thresholds,
numbers and order of its nodes, class counts, names, and the settings of the allow-list.
"""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from treeaudit.defenses.strip import without_extras
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.writers import writer_for
from treeaudit.writers.pickle_bytes import HEAD

_SUFFIXES = {
    "sklearn-pickle": ".pkl",
    "sklearn-joblib": ".pkl",
    "sklearn-skops": ".skops",
    "treeaudit-json": ".json",
    "xgboost-json": ".json",
    "xgboost-ubjson": ".ubj",
    "lightgbm-text": ".txt",
    "r-rds": ".rds",
}
_FRAME = b"\x95"
_COMPRESSED = (b"\x1f\x8b", b"\x78", b"BZh", b"\xfd7zXZ", b"\x5d\x00\x00", b"\x04\x22\x4d\x18",
               b"\x28\xb5\x2f\xfd", b"ZF")  # fmt: skip
# Of a skops file: the member behind its first four bytes has no time.
_NO_TIME = b"\x00\x00\x21\x00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Canonical:
    """Whether a file equals its own rewriting."""

    value: bool | None  # None where that cannot be told
    reason: str = ""  # Why it is not, or cannot be told; empty for a canonical file


def canonical(forest: Forest) -> Canonical:
    """Tell whether the file of a model equals, byte for byte, what a release of it writes.

    The file is opened again for reading. Most files of other programs are told by their first
    bytes; only what begins as a released file is written again, in memory.

    Returns
    -------
    Canonical
        With value None where the format has no writer, the model was put together in memory, or
        the file was changed since it was read.
    """
    source = forest.source
    if source.path is None:
        return Canonical(value=None, reason="the model was read from memory, and no file")
    suffix = _SUFFIXES.get(source.format)
    if suffix is None:
        return Canonical(value=None, reason=f"a {source.format} file cannot be written again")
    try:
        with Path(source.path).open("rb") as file:
            head = file.read(256)
            if reason := _difference_of_head(head, source.format):
                return Canonical(value=False, reason=reason)
            content = head + file.read()
    except OSError as error:
        return Canonical(value=None, reason=f"the file cannot be read again: {error.strerror}")
    if source.format == "lightgbm-text" and b"\nsplit_gain=" in content[:1_000_000]:
        return Canonical(value=False, reason="the file holds the gains of its splits")
    if sha256(content).hexdigest() != source.sha256:
        return Canonical(value=None, reason="the file was changed since it was read")
    try:
        made = writer_for(forest, suffix)(without_extras(forest))
    except (KeyError, UnsupportedModelError) as error:
        return Canonical(value=None, reason=f"the model cannot be written again: {error}")
    same = content == (made.encode() if isinstance(made, str) else made)
    return Canonical(value=same, reason="" if same else "the file is not as a release writes it")


def _difference_of_head(head: bytes, form: str) -> str:
    """Return by what the beginning of a file differs from that of every canonical one."""
    if head.startswith(_COMPRESSED):
        return "the file is compressed"
    if form in ("sklearn-pickle", "sklearn-joblib"):
        begins = head.startswith(HEAD) and head[2:3] != _FRAME
    elif form == "sklearn-skops":
        begins = head[10:14] == _NO_TIME
    else:
        begins = head[:1] in (b"{", b"t", b"X")
    return "" if begins else "the file is not in the form that a release writes"
