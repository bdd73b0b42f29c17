"""Numbers as sixteen bits, to send many records down many trees, and exact where these tie."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Wide
from treeaudit.model.lower import Lower

__all__ = ["Coarse", "Questions"]

_BITS = 16
_MOST = (1 << _BITS) - 1
_PIECE = 1 << 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Questions:
    """The questions of a `Lower`, the number of the feature above the code of the threshold."""

    lower: Lower
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
    part
        The part that each of them is in.
    """

    low: Float
    scale: Float
    values: Float
    part: npt.NDArray[np.uint16]

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
        # As long rows of many records: numpy is slow on short ones.
        low_ends, scales = np.tile(start, _PIECE), np.tile(scale, _PIECE)
        for i in range(0, len(values), _PIECE):
            piece = np.ascontiguousarray(values[i : i + _PIECE]).ravel()
            ends, scaled = low_ends[: len(piece)], scales[: len(piece)]
            part[i : i + _PIECE] = _parts(piece, ends, scaled).reshape(-1, len(start))
        return cls(low=start, scale=scale, values=values, part=part)

    def questions(self, lower: Lower) -> Questions:
        """Return what is asked in terms of parts; thresholds but those of leaves are in bounds."""
        words = []
        for feature, threshold in lower.asked:
            # In leaves both ways lead to the same.
            cut = np.where(np.isfinite(threshold), threshold, self.low[feature])
            part = _parts(cut, self.low[feature], self.scale[feature])
            words.append(feature.astype(np.uint32) << np.uint32(_BITS) | part)
        return Questions(lower=lower, words=tuple(words))

    def down(self, questions: Questions, rows: slice) -> Wide:
        """Return where some records end that begin at the only start of the questions."""
        values, parts = self.values[rows], self.part[rows]
        n, wide = values.shape
        flat, row = parts.ravel(), np.arange(n, dtype=np.int64) * wide
        place, at = np.zeros(n, dtype=np.int32), np.empty(n, dtype=np.int64)
        word, cut = np.empty(n, dtype=np.uint32), np.empty(n, dtype=np.uint16)
        x, over, tied = np.empty_like(cut), np.empty(n, dtype=np.bool_), np.empty(n, dtype=np.bool_)
        for words, asked in zip(questions.words, questions.lower.asked, strict=True):
            words.take(place, out=word, mode="clip")
            # The lower half.
            np.copyto(cut, word, casting="unsafe")
            np.right_shift(word, _BITS, out=word)
            np.add(word, row, out=at)
            flat.take(at, out=x, mode="clip")
            np.greater(x, cut, out=over)
            np.equal(x, cut, out=tied)
            if tied.any():
                same = np.flatnonzero(tied)
                feature, threshold = (table.take(place.take(same)) for table in asked)
                over[same] = values[same, feature] > threshold
            place += place
            place += over
        return questions.lower.node.take(place)


def _parts(values: Float, low: Float, scale: Float) -> npt.NDArray[np.uint16]:
    part = values - low
    part *= scale
    np.minimum(part, _MOST, out=part)
    return part.astype(np.uint16)
