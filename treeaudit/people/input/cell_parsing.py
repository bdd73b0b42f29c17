"""Parse one cell of a table, whatever stands in the others of its column.

A reader that guesses the type of a column lets one cell decide how all others are read. A promise
about single records holds only if every cell is read by itself; so a cell that cannot be read is
missing, and the column does not fail as a whole.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import DataError
from treeaudit.model.words import label_text

if TYPE_CHECKING:
    import pandas as pd


def tried(read: Callable[[Any], Any], cell: object) -> Any:  # noqa: ANN401  # what is read
    """Return what is read of a cell; None where that fails, whatever stands in its way."""
    try:
        return read(cell)
    except Exception:  # noqa: BLE001  # cells may be objects of any class
        return None


def read_apart(n: int, read: Callable[[int, int], Iterable[Any]]) -> list[Any]:
    """Return n cells of which parts are read at once; None for one that cannot be read."""
    return [cell for part in _parts(0, n, read) for cell in part]


def _parts(
    first: int, end: int, read: Callable[[int, int], Iterable[Any]]
) -> Iterator[Iterable[Any]]:
    """Yield what is read, by halves where that fails."""
    if first == end:
        return
    try:
        yield list(read(first, end))
    except Exception:  # noqa: BLE001  # of whatever library holds the column
        if end - first == 1:
            yield (None,)
            return
        middle = (first + end) // 2
        yield from _parts(first, middle, read)
        yield from _parts(middle, end, read)


def in_array(cells: Sequence[Any]) -> npt.NDArray[Any]:
    """Return an array of one dimension that holds each cell as it is, lists too."""
    held = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):
        held[i] = cell
    return held


def cells_in(column: "pd.Series[Any]") -> list[Any]:
    """Return the cells of a column of any type, each as if it stood alone."""
    return read_apart(len(column), lambda first, end: column.iloc[first:end].astype(object))


def lost_in(column: Any) -> Flag:  # noqa: ANN401  # an array or a Series
    """Tell which cells are missing, as pandas does: to it a Decimal that signals is an error."""
    import pandas as pd

    def read(first: int, end: int) -> npt.NDArray[np.bool_]:
        return np.asarray(pd.isna(column[first:end]), dtype=np.bool_)

    try:
        return read(0, len(column))
    except ArithmeticError:
        found = read_apart(len(column), read)
    return np.array([True if one is None else one for one in found], dtype=np.bool_)


NO_NAMES = (TypeError, NotImplementedError)
"""What pandas raises where it is to tell lists and structures apart."""
_SEVERAL = (list, dict, set, np.ndarray)
_TWO = (("False", "True"), ("0", "1"))
_TRUTH = {"true": 1.0, "false": 0.0}
_EXACT = 2**53
"""From here on a float is no longer one whole number alone."""
_PADDED = re.compile(r"[+-]?0[0-9]", re.ASCII)
_WHOLE = re.compile(r"[+-]?[0-9]{1,40}", re.ASCII)


def number_in(cell: object) -> float:
    """Return the number that a cell holds; NaN where it holds none."""
    if isinstance(cell, str):
        text = cell.strip().lower()
        if text in _TRUTH:
            return _TRUTH[text]
        if not text.isascii() or "_" in text or "\0" in text:
            return float("nan")
        cell = text
    elif isinstance(cell, complex | np.complexfloating | bytes | np.ndarray):
        return float("nan")
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")
    except OverflowError:
        return float("inf") if cell > 0 else float("-inf")  # type: ignore[operator]


def numbers_in(column: "pd.Series[Any] | npt.NDArray[Any]") -> Float:
    """Return the number in every cell of a column, NaN where there is none."""
    import pandas as pd

    held = isinstance(column, np.ndarray) and column.dtype == object
    # As strings of its own pandas takes no text that is none of Unicode.
    series = pd.Series(column, dtype=object if held else None)
    if getattr(series.dtype, "kind", "O") in "iufb" and not isinstance(
        series.dtype, pd.CategoricalDtype
    ):
        numbers = pd.to_numeric(series, errors="coerce")
        return np.asarray(numbers.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.fromiter(map(number_in, cells_in(series)), np.float64, len(series))


def respelled(text: str) -> str:
    """Return how a cell is named where everything in its column is such a number or truth value."""
    plain = text.strip()
    if plain.lower() in _TRUTH:
        return plain.capitalize()
    if _WHOLE.fullmatch(plain):
        return str(int(plain))
    number = number_in(plain) if len(plain) <= 400 else float("nan")
    if not np.isfinite(number):
        return text
    return str(int(number)) if abs(number) < _EXACT and number.is_integer() else repr(number)


def numbers_spelled(texts: Sequence[str]) -> Float | None:
    """Return the numbers that different texts spell; None where some are codes rather."""
    if any(text.strip().lower() in _TRUTH or _PADDED.match(text.strip()) for text in texts):
        return None
    points = any("." in text for text in texts)
    plain = texts if points else [text.replace(",", ".", 1) for text in texts]
    numbers = np.array([number_in(text) for text in plain], dtype=np.float64)
    whole = np.isfinite(numbers).all() and len(np.unique(numbers)) == len(numbers)
    return numbers if whole else None


def code_of(
    known: Mapping[str, int], names: Callable[[Any], str] = label_text
) -> Callable[[object], int | None]:
    """Return what gives the code of a value: as it stands, without blanks, or by its number."""
    spelled: dict[str, int | None] = {}
    for name, code in known.items():
        for form in dict.fromkeys((name.strip(), respelled(name))):
            spelled[form] = code if spelled.get(form, code) == code else None
    spelled |= known

    def code_in(value: object) -> int | None:
        told = names(value)
        if told in known:
            return known[told]
        name = told.strip()
        return spelled[name] if name in spelled else spelled.get(respelled(name))

    return code_in


def also_as_numbers(known: dict[str, int]) -> dict[str, int]:
    """Return codes by name, of Booleans as 0 and 1 too, and of these as Booleans."""
    for names in (_TWO, _TWO[::-1]):
        if known and known.keys() <= set(names[0]):
            others = zip(*names, strict=True)
            return known | {other: known[name] for name, other in others if name in known}
    return known


def no_single(where: str) -> DataError:
    """Return what is said of a column that is used, and has more than a value in a row."""
    return DataError(f"{where} holds lists or structures; give it a single value in every row")


def check_single(column: "pd.Series[Any]", where: str) -> None:
    """Refuse a column of lists or structures, as Parquet may hold them."""
    held = str(column.dtype) == "object" or "[pyarrow]" in str(column.dtype)
    if held and any(isinstance(cell, _SEVERAL) for cell in column):
        raise no_single(where)


def coded_whole(column: "pd.Series[Any]") -> Wide:
    """Return a number per row, the same where cells are equal, missing cells and lists too."""
    import pandas as pd

    try:
        return pd.factorize(column, use_na_sentinel=False)[0].astype(np.int64)
    except NO_NAMES:
        cells = np.empty(len(column), dtype=object)
        cells[:] = [repr(_plain(cell)) if isinstance(cell, _SEVERAL) else cell for cell in column]
        return pd.factorize(cells, use_na_sentinel=False)[0].astype(np.int64)


def _plain(cell: object) -> object:
    """Return lists and structures as they are written out whole: arrays leave out their middle."""
    if isinstance(cell, np.ndarray | list | tuple | set):
        return [_plain(one) for one in (sorted(cell, key=repr) if isinstance(cell, set) else cell)]
    if isinstance(cell, dict):
        return {name: _plain(one) for name, one in cell.items()}
    return cell.item() if isinstance(cell, np.generic) else cell
