"""JSON of a file as plain values: how large, how deep, and which numbers it may hold."""

import codecs
import json
from collections import Counter
from collections.abc import Callable
from mmap import mmap
from typing import Any, Never

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.readers.limits import show, text_bytes

_Object = dict[str, Any]
_COST_OF_TEXT = 56
_LEAVE = "; if you trust it, allow more with --max-bytes"


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
    """Return the value that JSON text stands for."""
    try:
        too_much = f"{what} holds more than treeaudit takes in{advice}{_LEAVE}"
        # The least that its text can take: seen before a page of it is read.
        size = text_bytes(data) if len(data) // 2 <= most else most + 1
        # One wide character makes the whole wide, and a text in it, which is a copy, too.
        left = most - (2 * size if size > len(data) else size)
        if left < 0:
            raise ModelTooLargeError(too_much)
        text = codecs.utf_8_decode(data, "surrogatepass", True)[0].removeprefix("\ufeff")
        left -= sum(text.count(mark) * cost for mark, cost in zip("{[,", costs, strict=True))
        if left < 0 or left < _COST_OF_TEXT * _texts(text, left // _COST_OF_TEXT):
            raise ModelTooLargeError(too_much)

        def unique(pairs: list[tuple[str, Any]]) -> _Object:
            found = dict(pairs)
            if len(found) != len(pairs):
                twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
                raise ReadError(f"{what} names {show(twice)} twice in one object")
            return found if made is None else made(found)

        constant = None if infinite else _refuse
        return json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except UnicodeDecodeError as error:
        raise ReadError(f"{what} is no UTF-8 at byte {error.start:,}") from None
    except json.JSONDecodeError as error:
        raise ReadError(f"{what} breaks off at character {error.pos:,}") from None
    except RecursionError:
        raise ModelTooLargeError(f"{what} is nested too deeply{advice}") from None
    except ValueError:
        raise ReadError(f"{what} holds a number of too many digits") from None


def _texts(text: str, enough: int) -> int:
    """Count the texts that are no names of entries: Python makes each name of a file once."""
    texts = text.count('"') // 2
    if texts <= enough:
        return texts
    return max(0, texts - text.count('":') + text.count('\\":'))


def _refuse(name: str) -> Never:
    raise ReadError(f"the JSON is damaged: {name} is no number")
