"""Say what a file is when it is not a model that treeaudit reads."""

import re
import struct
from contextlib import suppress
from mmap import mmap

from treeaudit.readers.limits import clean

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"version https://git-lfs", "a Git LFS pointer: run 'git lfs pull' to fetch the model"),
    (b"\x93NUMPY", "a bare numpy array (.npy)"),
    (b"PK\x05\x06", "an empty zip archive"),
    (
        # The number that opened a PyTorch file before it was a zip archive.
        b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
        "a PyTorch file",
    ),
    (b"PAR1", "a Parquet table"),
    (b"\x89HDF", "an HDF5 file (Keras or a table)"),
    (b"SQLite", "an SQLite database"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"#!", "a script"),
    (b"tree\n", "a LightGBM text model"),
    (b"CBM1", "a CatBoost binary model"),
    (b"ARROW1", "an Arrow table"),
    (
        b"binf",
        "an XGBoost model in its old binary form: load it with the XGBoost that wrote it and run "
        "booster.save_model('model.json')",
    ),
)

# What a zip archive is, by the end of the name of one of its members.
_MEMBERS: tuple[tuple[str, str], ...] = (
    ("schema.json", "a skops file"),
    ("/data.pkl", "a PyTorch file"),
    ("model.weights.h5", "a Keras model"),
    ("keras_metadata.pb", "a Keras model"),
    ("saved_model.pb", "a TensorFlow model"),
    ("model.ini", "an H2O model (MOJO)"),
    ("[Content_Types].xml", "an Office document"),
    ("META-INF/MANIFEST.MF", "a Java archive"),
    (".npy", "an archive of bare numpy arrays (.npz)"),
)
_LONGEST_MEMBER = 80


# Protocol 0 that begins with a number or a text, such as the arguments of a call.
# In C a number may be spelled in other ways than any pickler does: I0x1f, F.5, L 7L.
_WHOLE = rb"[IL][ \t\r\f]*[+-]?(0[xX][\da-fA-F_]+|0[oObB][\d_]+|\d[\d_]*)L?[ \t\r\f]*(\n|$)"
_VALUE_FIRST = re.compile(
    rb"\(*(S['\"]|" + _WHOLE + rb"|F[+-]?(\.?\d[\d.eE+-]*|inf\w*|nan)\n)|\(+V"
)
# A module and a name in it, each on a line of its own, wherever an instruction may stand.
_BY_NAME = re.compile(rb"(?=[ci]([A-Za-z_][\w.]{0,200})\n([A-Za-z_][\w.]{0,200})\n)")
# Two texts taken for a name: as an instruction within UTF-8 it ends a number of the memo.
_BY_TEXTS = re.compile(
    rb"[qh][\xc2-\xdf]\x93|[rj](..[\xe0-\xef]|.[\xf0-\xf4][\x80-\xbf])[\x80-\xbf]\x93",
    re.DOTALL,
)


# What puts a value on the stack: pickles need not say that they are one.
_PUSHED = frozenset(bytes([one]) for one in b"NKJMGXUTVBC\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x95\x96")
_WALKED = 1 << 16


def may_be_pickle(data: bytes | mmap) -> bool:
    """Return whether the bytes can be the beginning of a pickle."""
    head = bytes(data[:512])
    if head[:1] == b"\x80":
        return not any(head.startswith(magic) for magic, _ in _MAGIC)
    if _VALUE_FIRST.match(head):
        return True
    if head[:1] not in (b"(", b"c", b"]", b"}", b"i", b")"):
        return head[:1] in _PUSHED and _names_something(bytes(data[:_WALKED]))
    if not _is_text(head) or (b"\n" in head and _protocol_zero(head)):
        return True
    return _names_something(bytes(data[:_WALKED]))


def could_run(data: bytes | mmap) -> bool:
    r"""Return whether a text holds a name that would run code where a pickle could take it.

    Whatever follows does not matter: the code has run by then.
    """
    from treeaudit.readers.pickle.names import judge

    for found in _BY_NAME.finditer(data):
        module, name = found[1].decode(), found[2].decode()
        spelled = all(part.isidentifier() for part in f"{module}.{name}".split("."))
        if spelled and judge(module, name) == "unsafe":
            return True
    if data.find(b"\x93") < 0:
        return False
    try:
        str(data[:], "utf-8")
    except UnicodeDecodeError:
        return True
    return _BY_TEXTS.search(data) is not None


def _names_something(head: bytes) -> bool:
    """Return whether the bytes are opcodes of a pickle, up to one that takes a thing by name."""
    from pickletools import genops

    texts: list[str] = []
    with suppress(ValueError):
        for code, value, _ in genops(head):
            if code.name in ("GLOBAL", "INST"):
                module, _, name = str(value).partition(" ")
                return all(one.isidentifier() for one in [*module.split("."), *name.split(".")])
            if code.name == "STACK_GLOBAL":
                return len(texts) > 1
            if isinstance(value, str):
                texts.append(value)
    return False


def _protocol_zero(head: bytes) -> bool:
    """Protocol 0 is text too: its first lines are short and hold no blanks."""
    first = head.split(b"\n", 1)[0]
    return b" " not in first and b"," not in first and b'"' not in first


def _is_text(head: bytes) -> bool:
    return bool(head) and b"\0" not in head and all(c >= 32 or c in b"\t\r\n\f" for c in head)


def name_of(data: bytes | mmap) -> str:
    """Name the kind of file that begins with these bytes."""
    head = bytes(data[:512])
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if data[:4] == b"PK\x03\x04":
        from treeaudit.readers.skops.archive import member_names

        return _name_of_archive(member_names(data) or [])
    if head[257:262] == b"ustar":
        return "a tar archive: unpack it and name the model inside"
    if _is_treelite(head):
        return (
            "a treelite checkpoint, which treeaudit does not read: audit the model it was made "
            "from (XGBoost JSON, LightGBM text, a scikit-learn pickle)"
        )
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    lower = text[:64].lower()
    if lower.startswith((b"<!doctype html", b"<html")):
        return "an HTML page (often an error page saved in place of the model)"
    if lower.startswith(b"<?xml") or lower.startswith(b"<pmml"):
        return "an XML file (PMML?)"
    if text[:1] in (b"{", b"["):
        return "a JSON file, but not treeaudit's form of a model"
    return "a text file" if _is_text(head) else "no kind of file that treeaudit knows"


def _is_treelite(head: bytes) -> bool:
    """Return whether the bytes begin with a version of treelite and two of its number types."""
    if len(head) < 14:
        return False
    major, minor, patch = struct.unpack("<3i", head[:12])
    known = 3 <= major <= 9 and 0 <= minor < 100 and 0 <= patch < 1000
    return known and head[12] in (1, 2, 3) and head[13] in (1, 2, 3)


def _name_of_archive(names: list[str]) -> str:
    for end, kind in _MEMBERS:
        if any(name.endswith(end) for name in names):
            return kind
    inside = next((name for name in names if name.endswith((".pkl", ".pickle", ".joblib"))), "")
    which = (
        f" ({clean(inside)})" if 0 < len(inside) < _LONGEST_MEMBER and inside.isprintable() else ""
    )
    return f"a zip archive: unpack it and name the model inside{which}"
