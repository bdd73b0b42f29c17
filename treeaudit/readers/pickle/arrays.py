"""Rebuild numpy arrays from their description, checking every number first.

numpy is handed only dtypes that are put together in `dtypes`: a stored dtype whose
field lies outside its record makes numpy itself read out of bounds.
"""

import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from treeaudit.arrays import Array
from treeaudit.errors import ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers.limits import Most, show
from treeaudit.readers.pickle.inert import Inert

Spend = Callable[[int], None]

# Asked of every array: a union would be made anew each time.
_AXES = 32
_ROWS, _BYTES = (tuple, list), (bytes, bytearray, memoryview, str)

ARRAY_CLASSES = frozenset(
    (
        *(f"numpy.{name}" for name in ("ndarray", "matrix", "memmap", "recarray", "chararray")),
        *(f"numpy.{core}.memmap.memmap" for core in ("core", "_core")),
        *(f"numpy.{core}.recarray" for core in ("core.records", "_core.records", "rec")),
        *(f"numpy.{core}.chararray" for core in ("core.defchararray", "_core.defchararray")),
        "numpy.char.chararray",
        *(f"numpy.{core}.defmatrix.matrix" for core in ("matrixlib", "core")),
    )
)
"""Subclasses that numpy fills like any array; to rebuild a memmap opens no file."""


# Flags of a type whose elements refer to objects.
_POINTERS = 0x07
_CODE = re.compile(r"[<>|=]?(?:[biufcmMSUVO](0|[1-9]\d{0,7})|[?OV])")
_ORDERLESS = re.compile(r"[<>|=]?(?:[SVO]\d*|[biu]1|\?)")
# Flags that numpy writes: of objects, of texts, of records that are aligned or not; 0 of others.
_FLAGS = {"O": (63,), "U": (8,), "V": (0, 16, 144)}


@dataclass(slots=True, eq=False)
class DType:
    """A dtype as the file describes it; `build` makes the real one."""

    code: str
    state: object = None
    made: np.dtype[np.generic] | None = None

    @property
    def is_object(self) -> bool:
        """Whether the elements are Python objects."""
        return self.code.lstrip("<>|=").startswith("O")

    @property
    def n_fields(self) -> int:
        """How many fields a record has; 0 for a plain type."""
        state = self.state
        if not isinstance(state, tuple) or len(state) < 5 or state[3] is None:
            return 0
        return max(1, len(state[4])) if isinstance(state[4], dict) else 1

    def describe(self, state: object) -> None:
        """Take what the file adds to the code: byte order, fields, size."""
        state = state if isinstance(state, tuple) else ()
        if len(state) not in (8, 9) or any(n.__class__ is not int for n in (state[0], *state[5:8])):
            raise ReadError("an array type is damaged, or not described as numpy does")
        if not self._is_plain(*state[8:]):
            raise UnsupportedModelError("an array type with metadata cannot be read")
        sizes, flags = state[5:7], state[7]
        kind = self.code.lstrip("<>|=")[:1]
        own = kind in ("S", "U", "V") and sizes[1] in (1, 2, 4, 8, 16)
        known = state[0] in (3, 4) and (own or sizes == (-1, -1))
        known &= (state[3] is None) == (state[4] is None)
        known &= kind != "O" or (state[1] in ("|", b"|") and state[2:5] == (None, None, None))
        # Where others say that they are objects, that is said in the end.
        usual = flags in _FLAGS.get(kind, (0,)) or (kind != "O" and flags & _POINTERS)
        if not known or not usual:
            raise ReadError("an array type is damaged, or not described as numpy does")
        self.state, self.made = state, None
        if not self.is_object:
            self.build()  # also where no array is of it: nobody would look at what it holds

    def _is_plain(self, notes: object = None) -> bool:
        """Tell whether it holds no metadata: nothing, or the unit of a date."""
        if self.code.lstrip("<>|=")[:1] not in ("m", "M"):
            return _is_empty(notes)
        match notes:
            case None:
                return True
            case (metadata, (bytes() | str() as unit, int() as n, int() as part, int() as event)):
                small = all(0 < number < 1 << 31 for number in (n, part, event))
                return (
                    (metadata is None or metadata == {}) and len(unit) <= len("generic") and small
                )
        return False

    def build(self) -> np.dtype[np.generic]:
        """Return the numpy dtype, made once."""
        if self.made is None:
            self.made = self._build()
        return self.made

    def _build(self) -> np.dtype[np.generic]:
        match = _CODE.fullmatch(self.code)
        if match is None:
            raise ReadError(f"an array has a type that cannot be read: {show(self.code)}")
        if int(match[1] or 0) > Most.record:
            raise ReadError(f"an array element of {match[1]} bytes is too large")
        state = self.state if isinstance(self.state, tuple) else ()
        if len(state) > 7 and isinstance(state[7], int) and state[7] & _POINTERS:
            raise UnsafeModelError("an array type says that its numbers are Python objects")
        order = state[1] if state else self.code[0] if self.code[0] in "<>" else "="
        order = order.decode("latin1") if isinstance(order, bytes) else order
        if not isinstance(order, str) or order not in ("<", ">", "|", "="):
            raise ReadError("an array has an unknown byte order")
        ordered = _ORDERLESS.fullmatch(self.code) is None
        if state and order not in (("<", ">") if ordered else ("|",)):
            # Numpy and joblib swap the bytes of whole records by it.
            raise ReadError("an array type has another byte order than numpy writes")
        if self.n_fields and "V" not in self.code:
            raise ReadError("an array type that is no record has fields")
        if self.n_fields:
            return self._record(state)
        if len(state) > 2 and state[2] is not None:
            raise UnsupportedModelError("an array of sub-arrays cannot be read")
        code = self.code.lstrip("<>|=")
        if code[0] in "SUV" and len(state) > 5 and isinstance(state[5], int) and state[5] >= 0:
            if state[5] > Most.record:
                raise ReadError(f"an array element of {state[5]} bytes is too large")
            if code[0] == "U" and state[5] % 4:
                raise ReadError("an array of text has half characters")
            size = state[5] // 4 if code[0] == "U" else state[5]
            code = f"{code[0]}{size}"
        if code[0] in "mM":
            # Read as numbers; marked, since whoever writes them again has lost their unit.
            plain = np.dtype(f"{order}i8" if order in ("<", ">") else "i8")
            return np.dtype(plain, metadata={"dates": True})
        try:
            return np.dtype(f"{order}{code}" if order in ("<", ">") else code)
        except (TypeError, ValueError):
            raise ReadError(f"an array has an unknown type: {show(self.code)}") from None

    def _record(self, state: tuple[object, ...]) -> np.dtype[np.generic]:
        names, fields = state[3], state[4]
        size = state[5] if len(state) > 5 else None
        if not (isinstance(names, tuple) and isinstance(fields, dict) and isinstance(size, int)):
            raise ReadError("a record type is damaged")
        if not all(isinstance(name, str | bytes) for name in names) or fields.keys() != set(names):
            raise ReadError("a record type has fields without a name, or with a title")
        if not 0 < size <= Most.record or not 0 < len(names) <= 256:
            raise ReadError("a record type is too large")
        plain: list[str] = []
        formats: list[np.dtype[np.generic]] = []
        offsets: list[int] = []
        for name in names:
            entry = fields[name]
            if not (isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], DType)):
                raise ReadError("a record type is damaged")
            if entry[0].n_fields:
                raise UnsupportedModelError("an array of records within records cannot be read")
            form, offset = entry[0].build(), entry[1]
            inside = isinstance(offset, int) and 0 <= offset <= size - form.itemsize
            if form.hasobject:
                raise UnsafeModelError(
                    "the file forges Python objects from raw bytes; treat it as hostile"
                )
            if form.kind == "U":
                raise UnsupportedModelError("an array of records with text cannot be read")
            if not inside:
                raise ReadError(f"field {show(name)} lies outside its record")
            plain.append(name.decode("latin1") if isinstance(name, bytes) else str(name))
            formats.append(form)
            offsets.append(int(offset))
        spans = sorted((at, at + form.itemsize) for at, form in zip(offsets, formats, strict=True))
        if any(end > begin for (_, end), (begin, _) in pairwise(spans)):
            raise ReadError("the fields of a record overlap")
        try:
            return np.dtype(
                {"names": plain, "formats": formats, "offsets": offsets, "itemsize": size}
            )
        except (TypeError, ValueError):
            raise ReadError("a record type is damaged") from None


def _is_empty(metadata: object) -> bool:
    return metadata is None or (isinstance(metadata, dict) and not metadata)


def not_described(dtype: object) -> ReadError:
    """Return the error for an array whose type is no `DType`."""
    if isinstance(dtype, Inert) and dtype.kind == "_convert_to_stringdtype_kwargs":
        return UnsupportedModelError("an array of numpy.dtypes.StringDType cannot be read")
    return ReadError("an array has no type")


@dataclass(slots=True, eq=False)
class LateArray:
    """An array that is announced first and filled by a later instruction."""

    content: Array | None = None


def arrived(value: object) -> object:
    """Return the content of a late array, anything else as it is."""
    return value.content if value.__class__ is LateArray else value


def shape_from(shape: object) -> tuple[int, ...]:
    """Return the sizes of an array, each and all of them within bounds."""
    sizes = (shape,) if isinstance(shape, int) else shape
    if not isinstance(sizes, _ROWS) or len(sizes) > _AXES:
        raise ReadError("an array has no usable shape")
    # Without the zeros: numpy refuses (0, 2 ** 63) with an error of its own.
    checked, n = [], 1
    for size in sizes:
        if not isinstance(size, int) or size < 0:
            n = Most.items + 1
            break
        checked.append(int(size))
        n *= size or 1
    if n > Most.items:
        raise ReadError(f"an array has an impossible shape: {show(tuple(sizes))}")
    return tuple(checked)


def array_from(data: object, dtype: object, shape: object, fortran: bool) -> Array:
    """Return a read-only array on the bytes of the file; refuse bytes that stand for objects."""
    if not isinstance(dtype, DType):
        raise not_described(dtype)
    sizes = shape_from(shape)
    if not isinstance(data, _BYTES):
        raise ReadError("an array has no bytes")
    real = dtype.build()
    if real.hasobject:
        raise UnsafeModelError("the file forges Python objects from raw bytes; treat it as hostile")
    n: int = math.prod(sizes)
    if n and real.itemsize == 0:
        raise ReadError("an array has elements of zero bytes")
    needed = n * real.itemsize
    if needed != len(data):
        raise ReadError(
            f"an array of shape {sizes} needs {needed:,} bytes, the file holds {len(data):,}"
        )
    if isinstance(data, str):
        try:
            data = data.encode("latin1")
        except UnicodeEncodeError:
            raise ReadError("the bytes of an array are damaged") from None
    if real.kind == "U" and len(data):
        points = np.frombuffer(data, dtype=f"{real.str[0]}u4")
        if int(points.max()) > sys.maxunicode:
            # numpy would make a Python text of it that no Python text can be.
            raise ReadError("an array of text holds characters that do not exist")
    array = np.ndarray(sizes, real, data or None, 0, None, "F" if fortran else "C")
    array.setflags(write=False)
    return array


def object_array(items: object, shape: object) -> Array:
    """Return an array of inert objects; numpy lists them row by row in either order."""
    sizes = shape_from(shape)
    if not isinstance(items, list) or len(items) != math.prod(sizes):
        raise ReadError("an array of objects is damaged")
    flat = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        flat[i] = item
    return flat.reshape(sizes)


def axes_from(axes: object, n: int) -> tuple[int, ...]:
    """Return the order of the axes of an array, each of them once."""
    order = tuple(axes) if isinstance(axes, tuple | list) else ()
    if not all(axis.__class__ is int for axis in order) or sorted(order) != list(range(n)):
        raise ReadError("the axes of an array have no order")
    return order


def fill(state: object, at: int, spend: Spend) -> Array:
    """Return the array that numpy's own state of an array describes, for messages at a place."""
    if not isinstance(state, tuple) or len(state) != 5:
        raise ReadError(f"the array at byte {at:,} is damaged")
    version, shape, dtype, fortran, data = state
    if version.__class__ is not int or version not in (0, 1):
        raise ReadError(f"the array at byte {at:,} is damaged")
    if not isinstance(fortran, int) or fortran not in (0, 1):
        raise ReadError(f"the array at byte {at:,} has no order")
    if isinstance(dtype, DType) and dtype.is_object:
        spend(16 * len(data) if isinstance(data, list) else 0)
        return object_array(data, shape)
    spend(len(data) if isinstance(data, str) else 0)
    return array_from(data, dtype, shape, fortran != 0)


def scalar_from(dtype: object, data: object) -> object:
    """Return a numpy scalar as a Python value."""
    if isinstance(dtype, DType) and dtype.is_object:
        if isinstance(data, bytes | bytearray | memoryview):
            raise UnsafeModelError(
                "the file forges a Python object from raw bytes; treat it as hostile"
            )
        raise ReadError("a number that is an object is damaged")
    if isinstance(dtype, DType) and not data and dtype.build().str[1:] in ("S0", "U0"):
        return b"" if dtype.build().kind == "S" else ""
    value: object = array_from(data, dtype, (1,), False)[0].item()
    return value
