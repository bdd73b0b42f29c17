"""JSON of a file as plain values: how large, how deep, and which numbers it may hold."""

import codecs
import json
from collections import Counter
from collections.abc import Callable
from mmap import mmap
from typing import Any, Never

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.readers.limits import show

__all__ = ["parse_json"]

_Object = dict[str, Any]


def parse_json(
    data: bytes | mmap | memoryview,
    most: int,
    costs: tuple[int, int, int],
    *,
    what: str = "the JSON",
    advice: str = "",
    infinite: bool = False,
    made: Callable[[_Object], _Object] | None = None,
) -> object:
    """Return the value that JSON text stands for.

    Parameters
    ----------
    data
        The text, in UTF-8.
    most
        How many bytes of Python objects it may become: an empty list of 2 bytes takes 64.
    costs
        Bytes of an object, of a list and of one more entry, as this format writes them.
    what, advice
        What the text is called in errors; what to do where it is too much.
    infinite
        Whether NaN and Infinity, which are no JSON, are numbers of this format.
    made
        Changes every object as soon as it is whole.

    Raises
    ------
    ModelTooLargeError
        If it would become too much, or is nested deeper than Python's own stack.
    ReadError
        If it is damaged, or an object names something twice: readers would disagree.

    Examples
    --------
    >>> parse_json(b'{"trees": [1, 2]}', 1000, (100, 100, 36))
    {'trees': [1, 2]}
    """
    try:
        text = codecs.utf_8_decode(data, "surrogatepass", True)[0].removeprefix("\ufeff")
        if sum(text.count(mark) * cost for mark, cost in zip("{[,", costs, strict=True)) > most:
            raise ModelTooLargeError(
                f"{what} holds more numbers and lists than treeaudit takes in{advice}"
            )

        def once(pairs: list[tuple[str, Any]]) -> _Object:
            found = dict(pairs)
            if len(found) != len(pairs):
                twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
                raise ReadError(f"{what} names {show(twice)} twice in one object")
            return found if made is None else made(found)

        constant = None if infinite else _refuse
        return json.loads(text, object_pairs_hook=once, parse_constant=constant)
    except UnicodeDecodeError as error:
        raise ReadError(f"{what} is no UTF-8 at byte {error.start:,}") from None
    except json.JSONDecodeError as error:
        raise ReadError(f"{what} breaks off at character {error.pos:,}") from None
    except RecursionError:
        raise ModelTooLargeError(f"{what} is nested too deeply{advice}") from None
    except ValueError:
        raise ReadError(f"{what} holds a number of too many digits") from None


def _refuse(name: str) -> Never:
    raise ReadError(f"the JSON is damaged: {name} is no number")
