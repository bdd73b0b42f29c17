"""Which columns a selection by scores keeps: scikit-learn works it out anew each time."""

import numpy as np

from treeaudit.readers.types import Flag, Float


def kept_by_scores(mode: str, asked: object, scores: Float) -> Flag:
    """Tell which columns are kept.

    Parameters
    ----------
    mode
        ``k_best`` and ``percentile`` keep the largest scores; ``fpr``, ``fdr`` and ``fwe`` the
        smallest chances, of each column or of all together.
    asked
        How many, which share, or the level.
    scores
        Shape ``(n_columns,)``: scores, or chances.

    Examples
    --------
    Of scores that are alike the last are among the best, and the first make up a share:

    >>> kept_by_scores("k_best", 1, np.array([2.0, 2.0, 1.0])).tolist()
    [False, True, False]
    >>> kept_by_scores("percentile", 34, np.array([2.0, 2.0, 1.0])).tolist()
    [True, False, False]
    >>> kept_by_scores("fwe", 0.05, np.array([0.01, 0.02, 0.5])).tolist()
    [True, False, False]
    """
    if mode in ("k_best", "percentile"):
        scores = np.where(np.isnan(scores), np.finfo(np.float64).min, scores)
    if mode == "k_best" and asked == "all":
        return np.ones(len(scores), np.bool_)
    if not isinstance(asked, int | float):
        raise ValueError("what a selection asks for is no number")
    match mode:
        case "k_best":
            return _best(scores, int(asked))
        case "percentile":
            return _of_percent(scores, asked)
        case "fpr":
            return scores < asked
        case "fwe":
            return scores < asked / len(scores)
        case "fdr":
            return _of_all(scores, asked)
    raise ValueError("a selection of no known mode")


def _best(scores: Float, k: int) -> Flag:
    kept = np.zeros(len(scores), np.bool_)
    if k > 0:
        kept[np.argsort(scores, kind="stable")[-k:]] = True
    return kept


def _of_percent(scores: Float, percentile: float) -> Flag:
    if percentile in (0, 100):
        return np.full(len(scores), percentile == 100)
    edge = np.percentile(scores, 100 - percentile)
    kept: Flag = scores > edge
    most = int(len(scores) * percentile / 100)
    kept[np.flatnonzero(scores == edge)[: most - int(kept.sum())]] = True
    return kept


def _of_all(chances: Float, alpha: float) -> Flag:
    """Keep what is below the largest chance that is small enough for its rank."""
    n, ordered = len(chances), np.sort(chances)
    passed = ordered[ordered <= float(alpha) / n * np.arange(1, n + 1)]
    return chances <= passed.max() if len(passed) else np.zeros(n, np.bool_)
