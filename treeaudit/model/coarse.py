"""Numbers as sixteen bits, to send many records down many trees, and exact where these tie."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.model.lower import Lower

__all__ = ["Coarse", "Questions"]

_BITS = 16
_MOST = (1 << _BITS) - 1
_PIECE = 1 << 14
_TOP, _FIRST = 4, 7
"""Levels of which all records are asked everything, and places of the first three of them."""

_Parts = npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Questions:
    """The questions of a `Lower` in terms of parts.

    Attributes
    ----------
    lower
        The questions themselves.
    top
        Of the first levels, the feature and the part of the threshold at each place.
    words
        By level of the others, the number of the feature above the part of the threshold.
    """

    lower: Lower
    top: tuple[tuple[int, np.uint16], ...]
    words: tuple[npt.NDArray[np.uint32], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coarse:
    """Numbers by the equal parts of their range that they are in.

    The part does not fall where the number grows, whatever the rounding: of two numbers in
    different parts the one in the larger is larger. Only those in the same are compared.

    Attributes
    ----------
    low, scale
        Per feature, where the first part begins and how many are in one unit.
    values
        Shape ``(n_records, n_features)``; none is missing, and none below ``low``.
    part, column
        The part that each of them is in, record by record and column by column.
    """

    low: Float
    scale: Float
    values: Float
    part: _Parts
    column: _Parts

    @classmethod
    def of(cls, values: Float, low: Sequence[float], high: Sequence[float]) -> "Coarse":
        """Return the parts of numbers between bounds.

        Examples
        --------
        >>> Coarse.of(np.array([[0.0], [0.5], [1.0]]), [0.0], [1.0]).part.ravel().tolist()
        [0, 32768, 65535]
        """
        start = np.array(low, dtype=np.float64)
        with np.errstate(over="ignore", divide="ignore"):
            scale = (1 << _BITS) / (np.asarray(high, dtype=np.float64) - start)
        # Where a range is nothing, or beyond all numbers, all are in the first part.
        nowhere = ~np.isfinite(scale) | (scale == 0)
        start[nowhere] = scale[nowhere] = 0.0
        part = np.empty(values.shape, dtype=np.uint16)
        column = np.empty(values.T.shape, dtype=np.uint16)
        for i in range(0, len(values), _PIECE):
            block = np.ascontiguousarray(values[i : i + _PIECE].T)
            own = column[:, i : i + _PIECE]
            own[:] = _parts(block, start[:, None], scale[:, None])
            part[i : i + _PIECE] = own.T
        return cls(low=start, scale=scale, values=values, part=part, column=column)

    def questions(self, lower: Lower) -> Questions:
        """Return what is asked in terms of parts; thresholds but those of leaves are in bounds."""
        top: list[tuple[int, np.uint16]] = []
        words = []
        for level, (feature, threshold) in enumerate(lower.asked):
            # In leaves both ways lead to the same.
            cut = np.where(np.isfinite(threshold), threshold, self.low[feature])
            part = _parts(cut, self.low[feature], self.scale[feature])
            if level < _TOP:
                top += zip(feature.tolist(), part, strict=True)
            else:
                words.append(feature.astype(np.uint32) << np.uint32(_BITS) | part)
        return Questions(lower=lower, top=tuple(top), words=tuple(words))

    def down(self, questions: Questions, rows: slice) -> Wide:
        """Return where some records end that begin at the only start of the questions."""
        n, wide = rows.stop - rows.start, self.part.shape[1]
        end, tied = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
        room = _Room.of(min(n, _PIECE), wide)
        for i in range(0, n, _PIECE):
            piece = slice(i, min(i + _PIECE, n))
            own = slice(rows.start + i, rows.start + piece.stop)
            room.top(questions.top, self.column[:, own], tied[piece])
            place = room.down(questions.words, self.part[own].ravel(), tied[piece])
            questions.lower.node.take(place, out=end[piece], mode="clip")
        same = np.flatnonzero(tied)
        if len(same):
            exact = np.empty((1, len(same)), dtype=np.int64)
            questions.lower.down(self.values[rows][same], np.zeros_like(exact), out=exact)
            end[same] = exact[0]
        return end


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Room:
    """Arrays for the steps of some records, made once: all of them together stay at hand."""

    row: Wide
    place: Wide
    at: Wide
    word: npt.NDArray[np.uint32]
    x: _Parts
    cut: _Parts
    over: Flag
    equal: Flag
    said: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, n: int, wide: int) -> "_Room":
        whole, small, told = (np.empty((2, n), kind) for kind in (np.int64, np.uint16, np.bool_))
        return cls(
            row=np.arange(n, dtype=np.int64) * wide,
            place=whole[0],
            at=whole[1],
            word=np.empty(n, dtype=np.uint32),
            x=small[0],
            cut=small[1],
            over=told[0],
            equal=told[1],
            said=np.empty((2, n), dtype=np.uint8),
        )

    def top(self, asked: Sequence[tuple[int, np.uint16]], columns: _Parts, tied: Flag) -> None:
        """Set the places after the first levels, from the answers to all of their questions."""
        n = len(tied)
        over, equal, said = self.over[:n], self.equal[:n], self.said[:, :n]
        said[:] = 0
        for i, (feature, cut) in enumerate(asked):
            word = said[int(i >= _FIRST)]
            np.greater(columns[feature], cut, out=over)
            np.equal(columns[feature], cut, out=equal)
            tied |= equal
            word += word
            word += over.view(np.uint8)
        at = self.at[:n]
        at[:] = said[1]
        at <<= min(len(asked), _FIRST)
        at += said[0]
        _places(len(asked)).take(at, out=self.place[:n], mode="clip")

    def down(self, levels: Sequence[npt.NDArray[np.uint32]], parts: _Parts, tied: Flag) -> Wide:
        """Return the places after the other levels, and write who was in a threshold's part."""
        n = len(tied)
        row, place, at, word = self.row[:n], self.place[:n], self.at[:n], self.word[:n]
        x, cut, over, equal = self.x[:n], self.cut[:n], self.over[:n], self.equal[:n]
        for words in levels:
            words.take(place, out=word, mode="clip")
            # The lower half.
            np.copyto(cut, word, casting="unsafe")
            np.right_shift(word, _BITS, out=word)
            np.add(word, row, out=at)
            parts.take(at, out=x, mode="clip")
            np.greater(x, cut, out=over)
            np.equal(x, cut, out=equal)
            tied |= equal
            place += place
            place += over
        return place


@lru_cache(maxsize=8)
def _places(n_asked: int) -> Wide:
    """Return the place after so many questions of the first levels, by the answers to all.

    Answers to the first seven of them are the lower bits; of both, the last answer is the lowest.
    """
    first = min(n_asked, _FIRST)
    answers = np.arange(1 << n_asked)
    place = np.zeros(1 << n_asked, dtype=np.int64)
    above = 0
    while above < n_asked:
        asked = above + place
        bit = np.where(asked < first, first - 1 - asked, n_asked - 1 - asked + first)
        above, place = 2 * above + 1, 2 * place + (answers >> bit & 1)
    return place


def _parts(values: Float, low: Float, scale: Float) -> _Parts:
    part = values - low
    part *= scale
    np.minimum(part, _MOST, out=part)
    return part.astype(np.uint16)
