"""The trees of a CatBoost text, taken in all at once where it is as CatBoost writes it.

CatBoost writes each oblivious tree in one form: the same words, signs and blanks, between which
numbers stand. A text without its digits shows whether that is so; the numbers are then read in
one go. Whatever departs from that, be it by one blank, is left to the parser of JSON, which says
what is wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from mmap import mmap

import numpy as np
import numpy.typing as npt

from treeaudit.readers.decimals import Bytes, decimals, standing_apart
from treeaudit.readers.limits import Deepest, Most
from treeaudit.readers.types import Float, Wide

_BEFORE, _TREE = b'\n  "oblivious_trees":\n    ', b"\n      {\n"
_CLOSE, _CLOSED, _NEXT = b"\n      }", b"\n    ]", b"\n      },\n      {\n"
_VALUE = b",\n            "
_VALUES = b'        "leaf_values":\n          [\n            '
_WEIGHTS = b'\n          ],\n        "leaf_weights":\n          [\n            '
_SPLITS = b'\n          ],\n        "splits":\n          [\n            {\n              "border":'
_INDEX = b',\n              "float_feature_index":'
_NUMBER = b',\n              "split_index":'
_KIND = b',\n              "split_type":"FloatFeature"\n            }'
_BORDER = b',\n            {\n              "border":'
_END = b"\n          ]"
_OF_NUMBERS = b"0123456789+-.E"
_COMMA, _BLANK, _COLON, _LINE, _EXPONENT, _MARK = b", :\neE"
_MOST_FORMS = 64
_WHOLE = float(1 << 53)
_LARGE = float(1 << 28)
"""Sums of so many weights are whole numbers, in whatever order they are added."""
_KINDS = _AS_VALUE, _AS_WEIGHT, _AS_BORDER, _AS_INDEX, _AS_NUMBER = range(5)

Kinds = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreesOfText:
    """The trees of a text, and what else there is of it.

    Attributes
    ----------
    depth, n_values
        Per tree: its questions, and the numbers of its leaves.
    values, weights
        Of the leaves, tree after tree in the order of the file.
    feature, number, border
        Of the questions, likewise: place of the column, number of the question, and border.
    begin, end
        Where the list of trees stands in the text.
    cost
        Bytes of its objects in Python, its text aside, as a parser of JSON would make them.
    sample
        Text of trees, one of every form: the others differ from these in nothing but numbers.
    """

    depth: Wide
    n_values: Wide
    values: Float
    weights: Float
    feature: Wide
    number: Wide
    border: Float
    begin: int
    end: int
    cost: int
    sample: bytes


def trees_of_text(data: bytes | mmap) -> TreesOfText | None:
    """Return the trees of a text; None where it does not write all of them in the one form."""
    begin = data.find(_BEFORE + b"[" + _TREE) + len(_BEFORE)
    end = data.rfind(_CLOSE + _CLOSED) + len(_CLOSE)
    if begin < len(_BEFORE) or end < begin + len(_TREE) + len(_CLOSE):
        return None
    text = bytearray(memoryview(data)[begin + 1 : end])
    signs = np.frombuffer(text, np.uint8)
    first, last, letter = standing_apart(signs)
    # Digits that belong to no number would not be missed in what is left of the text.
    if b"E" in text or not _where_numbers_belong(signs, first, last):
        return None
    # The letter of an exponent becomes one that no word between the numbers has.
    signs[letter] = _MARK
    forms = _forms(bytes(text.translate(None, _OF_NUMBERS)))
    signs[letter] = _EXPONENT
    if not forms or sum(form.size for form in forms) != len(first):
        return None
    read = _read(signs, first, last, letter, np.concatenate([form.kinds for form in forms]))
    sample = _sample(text, forms, first)
    if read is None or (b"." in text and b"." not in sample):
        return None
    values, weights, border, feature, number = read
    return TreesOfText(
        depth=np.array([form.depth for form in forms]),
        n_values=np.array([form.n_values for form in forms]),
        values=values,
        weights=weights,
        feature=feature.astype(np.int64),
        number=number.astype(np.int64),
        border=border,
        begin=begin,
        end=end + len(_CLOSED),
        cost=sum(form.cost for form in forms),
        sample=b"[" + sample + _CLOSE + _CLOSED,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Form:
    """What trees of one form have in common."""

    n_values: int
    n_weights: int
    depth: int

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return self.n_values + self.n_weights + 3 * self.depth

    @property
    def cost(self) -> int:
        """How many bytes its objects, lists, entries and texts take at most."""
        lists, texts = 4 + self.depth, 3 + 5 * self.depth
        return 150 * lists + 50 * (self.size + lists) + 56 * texts

    @property
    def kinds(self) -> Kinds:
        """What each of its numbers is."""
        return _kinds(self.n_values, self.n_weights, self.depth)

    @property
    def text(self) -> bytes:
        """What stands between its numbers, without the brackets around it."""
        values, weights = (_VALUE * (n - 1) for n in (self.n_values, self.n_weights))
        question = _INDEX + _NUMBER + _KIND
        questions = _BORDER.join([question] * self.depth)
        return _VALUES + values + _WEIGHTS + weights + _SPLITS + questions + _END


@lru_cache(_MOST_FORMS)
def _kinds(n_values: int, n_weights: int, depth: int) -> Kinds:
    kinds = np.array(
        [
            *[_AS_VALUE] * n_values,
            *[_AS_WEIGHT] * n_weights,
            *(_AS_BORDER, _AS_INDEX, _AS_NUMBER) * depth,
        ],
        dtype=np.uint8,
    )
    kinds.flags.writeable = False
    return kinds


def _forms(bare: bytes) -> list[_Form]:
    """Return the form of each tree, given the text without its numbers; none where one has none."""
    known: dict[bytes, _Form] = {}
    forms: list[_Form] = []
    if not bare.startswith(_TREE) or not bare.endswith(_CLOSE):
        return []
    last = b""
    for part in bare[len(_TREE) : -len(_CLOSE)].split(_NEXT):
        # Most are as the one before: that is seen without looking it up.
        if part != last and part not in known:
            form = _form(part)
            if form is None or len(known) == _MOST_FORMS:
                return []
            known[part] = form
        forms.append(forms[-1] if part == last else known[part])
        last = part
    alike = len({form.n_values >> form.depth for form in known.values()}) == 1
    return forms if alike and len(forms) <= Most.trees else []


def _form(part: bytes) -> _Form | None:
    weights, splits = part.find(_WEIGHTS), part.find(_SPLITS)
    if not 0 < weights < splits:
        return None
    n_values, n_weights = (
        some.count(_VALUE) + 1
        for some in (part[len(_VALUES) : weights], part[weights + len(_WEIGHTS) : splits])
    )
    depth = part.count(_NUMBER)
    fits = depth <= Deepest.oblivious and n_weights == 1 << depth and n_values % n_weights == 0
    form = _Form(n_values=n_values, n_weights=n_weights, depth=depth)
    return form if fits and depth and form.text == part else None


def _where_numbers_belong(signs: Bytes, begin: Wide, end: Wide) -> bool:
    """Tell whether all numbers stand where the forms of trees have one.

    That is between a blank and a comma, a blank and the end of a line, or a colon and a comma.
    In the forms these stand behind one another where a number belongs, and nowhere else: so a
    text of these forms with as many such numbers has one in each of these places.
    """
    if len(begin) == 0 or begin[0] == 0 or end[-1] == len(signs):
        return False
    before, after = signs[begin - 1], signs[end]
    blank = (before == _BLANK) & ((after == _COMMA) | (after == _LINE))
    return bool((blank | ((before == _COLON) & (after == _COMMA))).all())


def _read(signs: Bytes, begin: Wide, end: Wide, letter: Wide, kinds: Kinds) -> list[Float] | None:
    """Return the numbers of a text by their kinds; None where one is not what it should be."""
    read = decimals(signs, begin, end, letter)
    if read is None or not np.isfinite(read.value).all():
        return None
    size = np.abs(read.value)
    # Whole numbers that a float does not hold are left to others.
    small = size < np.where(read.whole, _WHOLE, np.inf)
    small &= (size < _LARGE) | (kinds == _AS_VALUE) | (kinds == _AS_BORDER)
    if not small.all() or not read.whole[kinds >= _AS_INDEX].all():
        return None
    return [read.value[kinds == kind] for kind in _KINDS]


def _sample(text: bytearray, forms: Sequence[_Form], number: Wide) -> bytes:
    """Return the text of a tree of every form, and of the second tree, without the last bracket."""
    n = len(forms)
    first = {form: i for i, form in zip(range(n - 1, -1, -1), reversed(forms), strict=True)}
    some = sorted({0, min(1, n - 1), *first.values()})
    # Where the first number of each tree stands, and one that would come next.
    begin = number[np.cumsum([0, *(form.size for form in forms)])[:-1]] - len(_VALUES)
    end = np.append(begin[1:] - len(_NEXT), len(text) - len(_CLOSE))
    parts = [bytes(text[begin[i] : end[i]]) for i in some]
    return _TREE + _NEXT.join(parts)
