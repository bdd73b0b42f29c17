"""Tables of data libraries as a pickle holds them: how many rows and columns, and their names.

pandas 0.x to 3, polars, pyarrow, scipy, numpy and plain containers. Nothing of these libraries is
imported: their records in the file are read as what they are, names and arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.arrow_parts import array_length, field_names, stream, texts
from treeaudit.readers.pickle.inert import Inert

_DATA = ("pandas", "polars", "pyarrow", "scipy")
_LOOKED_AT = 50
_OPTIONS = 20
_MOST_COLUMNS = 100_000
_SCALARS = (str, int, float, bool, bytes, type(None), complex)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of values in a file.

    Attributes
    ----------
    rows, columns
        How many there are; a single column has 1.
    names
        Names of the columns, as the file gives them; none where it gives none.
    labels
        Names of the rows, where they are texts.
    is_frame
        Whether a library of tables wrote it.
    is_column
        Whether it is one value per row and no table.
    values
        What the single column holds, where that can be told.
    """

    rows: int
    columns: int
    names: Sequence[str] = ()
    labels: Sequence[str] = ()
    is_frame: bool = False
    is_column: bool = False
    values: object = None


def table_of(value: object) -> Table | None:
    """Return what a value is as a table; None where it is none."""
    match value:
        case np.ndarray():
            return _of_array(value)
        case Inert():
            return _of_object(value)
        case list() | tuple():
            return _of_rows(value)
        case dict():
            return _of_columns(value)
        case _:
            return None


def index_names(value: object) -> list[str] | None:
    """Return the texts of an index of pandas, an array of texts, or a list of names."""
    found = _labels(value)
    if found is None or not all(isinstance(one, str) for one in found):
        return None
    return [str(one) for one in found]


# -- numpy, plain containers -------------------------------------------------------


def _of_array(value: np.ndarray) -> Table | None:
    names = value.dtype.names
    if names is not None and value.ndim == 1:
        return Table(rows=len(value), columns=len(names), names=names)
    if value.ndim == 2 and value.shape[1]:
        if value.shape[1] == 1:
            return Table(rows=len(value), columns=1, is_column=True, values=value.ravel())
        return Table(rows=len(value), columns=value.shape[1])
    if value.ndim == 1 and value.dtype == object and len(value):
        first = arrived(value[0])
        if isinstance(first, list | tuple | dict | np.ndarray | Inert):
            return _of_rows([arrived(one) for one in value.tolist()])
    if value.ndim == 1 and names is None:
        return Table(rows=len(value), columns=1, is_column=True, values=value)
    return None


def _of_rows(rows: Sequence[object]) -> Table | None:
    """Read a list of rows: lists, tuples, dictionaries, arrays, or objects of one class."""
    some = [arrived(one) for one in rows[:_LOOKED_AT]]
    if not some:
        return None
    if all(isinstance(one, _SCALARS) for one in some):
        return Table(rows=len(rows), columns=1, is_column=True, values=list(rows))
    first = some[0]
    if isinstance(first, Inert) and first.cls.module.partition(".")[0] not in _DATA:
        # Of an author's class, or named tuples.
        alike = all(isinstance(one, Inert) and one.cls == first.cls for one in some)
        each = [one.attributes or one.args for one in some if isinstance(one, Inert)]
        return _of_rows([*each, *([each[0]] * (len(rows) - len(each)))]) if alike else None
    if all(isinstance(one, dict) for one in some):
        keys = dict.fromkeys(key for one in some for key in one)  # type: ignore[attr-defined]
        parts = [part for one in some for part in one.values()]  # type: ignore[attr-defined]
        names = [key for key in keys if isinstance(key, str)]
        flat = all(isinstance(arrived(part), _SCALARS) for part in parts)
        least = max((len(one) for one in some if isinstance(one, dict)), default=0)
        if not flat or not names or len(keys) > 2 * least:
            return None
        return Table(rows=len(rows), columns=len(keys), names=names)
    wide = {_width(one) for one in some}
    if len(wide) == 1 and (n := wide.pop()):
        return Table(rows=len(rows), columns=n)
    return None


def _width(row: object) -> int:
    """Return how many plain values a row has; 0 of what is none."""
    if isinstance(row, np.ndarray):
        return len(row) if row.ndim == 1 else 0
    if isinstance(row, list | tuple) and all(isinstance(arrived(one), _SCALARS) for one in row):
        return len(row)
    return 0


def _of_columns(columns: dict[object, object]) -> Table | None:
    """Read a dictionary of columns, or of rows by a key."""
    if not 1 <= len(columns) <= _MOST_COLUMNS * _LOOKED_AT:
        return None
    first = arrived(next(iter(columns.values())))
    some = [arrived(one) for one in list(columns.values())[:_MOST_COLUMNS]]
    if isinstance(first, dict):
        # Columns by row, as `to_dict` writes them, or rows by their number.
        if not first or not all(isinstance(one, dict) and len(one) == len(first) for one in some):
            return None
        if not all(isinstance(arrived(one), _SCALARS) for one in first.values()):
            return None
        outer, inner = _strings(columns), _strings(first)
        if outer and len(first) >= len(columns):
            return Table(rows=len(first), columns=len(columns), names=outer, labels=inner)
        return Table(rows=len(columns), columns=len(first), names=inner, labels=outer)
    parts = [None if isinstance(one, dict) else table_of(one) for one in some]
    sizes = {part.rows if part is not None and part.is_column else 0 for part in parts}
    if len(sizes) != 1 or not (n := sizes.pop()):
        return None
    if n <= _OPTIONS and all(map(_are_options, some)):
        return None
    return Table(rows=n, columns=len(columns), names=_strings(columns))


def _are_options(values: object) -> bool:
    """Tell whether these are different texts, as of a list to choose from."""
    names = index_names(values)
    return names is not None and len(set(names)) == len(names)


def _strings(keys: object) -> list[str]:
    keys = list(keys) if isinstance(keys, dict) else []
    return [str(key) for key in keys] if all(isinstance(key, str) for key in keys) else []


# -- objects of libraries ------------------------------------------------------------


def _of_object(value: Inert) -> Table | None:
    library = value.cls.module.partition(".")[0]
    if library == "pandas":
        return _of_pandas(value)
    if library == "polars":
        data = value.state
        read = stream(data) if isinstance(data, bytes | memoryview) else None
        if read is None:
            return None
        names, rows = read
        column = value.kind == "Series"
        return Table(
            rows=rows, columns=len(names), names=names, is_frame=not column, is_column=column
        )
    if library == "pyarrow":
        return _of_arrow(value)
    if library == "scipy":
        shape = value.get("_shape")
        match shape:
            case (int() as rows, int() as columns) if 0 < rows < 1 << 53 and columns > 0:
                return Table(rows=rows, columns=columns, is_frame=columns > 1)
        return None
    if value.kind == "_mareconstruct" and library == "numpy":
        match value.state:
            case (_, (int() as rows, int() as columns), *_) if columns > 1:
                return Table(rows=rows, columns=columns)
            case (_, (int() as rows, *_), *_):
                return Table(rows=rows, columns=1, is_column=True)
    if library == "collections":
        match value.args:
            case (list() | tuple() as held, *_):
                return _of_rows(held)
        return _of_rows(value.items) if value.items else _of_columns(value.pairs)
    return None


def _of_arrow(value: Inert) -> Table | None:
    if value.kind in ("_reconstruct_table", "_reconstruct_record_batch") and len(value.args) > 1:
        columns = arrived(value.args[0])
        names = field_names(value.args[1]) or []
        parts = [array_length(one) for one in columns] if isinstance(columns, list) else []
        if not parts or parts[0] is None:
            return None
        return Table(rows=parts[0], columns=len(parts), names=names, is_frame=True)
    n = array_length(value)
    return None if n is None else Table(rows=n, columns=1, is_column=True, values=texts(value))


def _of_pandas(value: Inert) -> Table | None:
    state = value.state
    manager = state if isinstance(state, Inert) else None
    if manager is None:
        attributes = value.attributes
        manager = next(
            (one for key in ("_mgr", "_data") if isinstance(one := attributes.get(key), Inert)),
            None,
        )
    if manager is None or "Manager" not in manager.kind:
        n = _length(value)
        return None if n is None else Table(rows=n, columns=1, is_column=True, values=value)
    axes, content = _axes(manager)
    if len(axes) == 2:
        columns, rows = _length(axes[0]), _length(axes[1])
        if columns is None or rows is None:
            return None
        names, labels = index_names(axes[0]) or [], index_names(axes[1]) or []
        return Table(rows=rows, columns=columns, names=names, labels=labels, is_frame=True)
    rows = _length(axes[0]) if axes else None
    if rows is None:
        return None
    name = value.get("_name") or value.get("name")
    return Table(
        rows=rows,
        columns=1,
        names=[name] if isinstance(name, str) else [],
        labels=index_names(axes[0]) or [],
        is_frame=True,
        is_column=True,
        values=content,
    )


def _axes(manager: Inert) -> tuple[list[object], object]:
    """Return the indexes of a table of pandas, and the content of a single column."""
    blocks: object = None
    axes: object = None
    if len(manager.args) == 2:
        blocks, axes = map(arrived, manager.args)
    elif isinstance(manager.state, tuple) and len(manager.state) > 1:
        axes, blocks = map(arrived, manager.state[:2])
    axes = [arrived(one) for one in axes] if isinstance(axes, list | tuple) else []
    first = arrived(blocks[0]) if isinstance(blocks, list | tuple) and blocks else None
    if isinstance(first, Inert) and first.args and first.kind.endswith("unpickle_block"):
        first = arrived(first.args[0])
    return axes, first


def _length(value: object, depth: int = 4) -> int | None:
    """Return how long an index or an array of pandas is."""
    value = arrived(value)
    match value:
        case np.ndarray():
            return value.size if value.ndim else None
        case list():
            return len(value)
        case Inert() if depth and value.cls.module.partition(".")[0] == "pyarrow":
            return array_length(value)
        case Inert() if depth:
            pass
        case _:
            return None
    described = value.args[1] if len(value.args) > 1 and isinstance(value.args[1], dict) else {}
    match [described.get(key) for key in ("start", "stop", "step")]:
        case [int() as start, int() as stop, int() as step] if step:
            return len(range(start, stop, step))
    codes = described.get("codes", described.get("labels"))
    if isinstance(codes, list) and codes:
        return _length(codes[0], depth - 1)
    for part in _content(value, described):
        if (n := _length(part, depth - 1)) is not None:
            return n
    return None


def _content(value: Inert, described: dict[object, object]) -> list[object]:
    """Return where the values of an index or of an array of pandas may stand."""
    parts = [described.get("data")]
    if isinstance(value.state, tuple):
        parts += [part for part in map(arrived, value.state) if isinstance(part, np.ndarray)]
    attributes = value.attributes
    parts += [
        attributes.get(name)
        for name in ("_pa_array", "_data", "_ndarray", "_codes", "_left", "_dtype_data")
    ]
    return [part for part in parts if part is not None]


def _labels(value: object, depth: int = 4) -> list[object] | None:
    value = arrived(value)
    match value:
        case np.ndarray() if value.ndim == 1 and value.dtype.kind in "OUS":
            return [arrived(one) for one in value.tolist()]
        case list() | tuple():
            return [arrived(one) for one in value]
        case Inert() if depth and value.cls.module.partition(".")[0] == "pyarrow":
            return texts(value)  # type: ignore[return-value]
        case Inert() if depth and value.cls.module.partition(".")[0] == "pandas":
            pass
        case _:
            return None
    described = value.args[1] if len(value.args) > 1 and isinstance(value.args[1], dict) else {}
    for part in _content(value, described):
        if (found := _labels(part, depth - 1)) is not None:
            return found
    return None
