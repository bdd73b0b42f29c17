"""What one cell of a table is, whatever stands in the others of its column.

A reader that guesses how to read a column reads all of its cells otherwise because of one. A
promise about single records holds only where every cell is read by itself.
"""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float
from treeaudit.model.words import label_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["code_of", "number_in", "numbers_in", "respelled"]

_TRUTH = {"true": 1.0, "false": 0.0}
_WHOLE = re.compile(r"[+-]?[0-9]{1,40}", re.ASCII)


def number_in(cell: object) -> float:
    """Return the number that a cell holds; NaN where it holds none.

    Examples
    --------
    >>> number_in(" 1e3 "), number_in("TRUE"), number_in(2), number_in("1_0"), number_in(1 + 2j)
    (1000.0, 1.0, 2.0, nan, nan)
    """
    if isinstance(cell, str):
        text = cell.strip().lower()
        if text in _TRUTH:
            return _TRUTH[text]
        if not text.isascii() or "_" in text or "\0" in text:
            return float("nan")
        cell = text
    elif isinstance(cell, complex | np.complexfloating | bytes):
        return float("nan")
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")
    except OverflowError:
        return float("inf") if cell > 0 else float("-inf")  # type: ignore[operator]


def numbers_in(column: "pd.Series[Any] | npt.NDArray[Any]") -> Float:
    """Return the number in every cell of a column, NaN where there is none.

    Examples
    --------
    >>> numbers_in(np.array(["7", 2, "x", None], dtype=object)).tolist()
    [7.0, 2.0, nan, nan]
    """
    import pandas as pd

    series = pd.Series(column)
    if getattr(series.dtype, "kind", "O") in "iufb" and not isinstance(
        series.dtype, pd.CategoricalDtype
    ):
        numbers = pd.to_numeric(series, errors="coerce")
        return np.asarray(numbers.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.fromiter(map(number_in, series.astype(object)), np.float64, len(series))


def respelled(text: str) -> str:
    """Return how a cell is named where everything in its column is such a number or truth value.

    Examples
    --------
    >>> [respelled(text) for text in ("01", "1.0", "TRUE", "1.50", "x")]
    ['1', '1', 'True', '1.5', 'x']
    """
    plain = text.strip()
    if plain.lower() in _TRUTH:
        return plain.capitalize()
    if _WHOLE.fullmatch(plain):
        return str(int(plain))
    number = number_in(plain) if len(plain) <= 400 else float("nan")
    return label_text(number) if np.isfinite(number) else text


def code_of(
    known: Mapping[str, int], names: Callable[[Any], str] = label_text
) -> Callable[[object], int | None]:
    """Return what gives the code of a value: as it stands, else by the number that it spells.

    Examples
    --------
    >>> code = code_of({"01": 0, "2": 1})
    >>> code("01"), code("1"), code("2.0"), code(2)
    (0, None, 1, 1)
    """

    def code(value: object) -> int | None:
        name = names(value).strip()
        if name in known or not isinstance(value, str):
            return known.get(name)
        return known.get(respelled(name))

    return code
