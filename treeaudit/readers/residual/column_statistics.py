"""Values of single columns that a file keeps: bins, quantiles, extremes, categories (TA204)."""

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from treeaudit.model.source import Extra
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.walk import Place

_MANY = 20
"""So many values of a column are more than a public scale has."""
_FEWEST = 5
_EXTREMES = {"data_min_": "smallest", "data_max_": "largest", "max_abs_": "largest absolute"}
_NAMES = frozenset(
    "bin_thresholds_ bin_edges_ quantiles_ data_min_ data_max_ max_abs_ X_thresholds_ categories "
    "_necessary_X_ vocabulary_ bsplines_ n_samples_seen_".split()
)


def columns(place: Place, n_records: int | None) -> Iterator[Extra]:
    """Yield the attributes of an estimator that list values of its columns."""
    model = place.value
    if not isinstance(model, Inert):
        return
    attributes = model.state if isinstance(model.state, dict) else model.attributes
    if _NAMES.isdisjoint(attributes):
        return
    attributes = {name: arrived(value) for name, value in attributes.items()}
    yield from _bins(place, attributes)
    yield from _quantiles(place, attributes.get("quantiles_"), n_records)
    yield from _knots(place, attributes)
    yield from _per_column(place, attributes)
    # Its name until 0.23, and since.
    for name in ("_necessary_X_", "X_thresholds_"):
        stored = attributes.get(name)
        if isinstance(stored, np.ndarray) and stored.ndim == 1 and len(stored) >= _MANY:
            says = f"{len(stored):,} scores of records that the calibration was fitted on"
            yield _values(place, name, len(stored), says)
    learned = attributes.get("categories")
    if isinstance(learned, str) and learned == "auto":
        least = 5 * _MANY if n_records is None else max(_MANY, n_records // 10)
        n, most, total = _large(_sizes(attributes.get("categories_")), least)
        if n:
            says = f"the categories of {_of(n)}, up to {most:,} of one: more than a public list has"
            yield _values(place, "categories_", total, says)
    words = attributes.get("vocabulary_")
    if isinstance(words, dict) and attributes.get("vocabulary") is None and len(words) >= _MANY:
        yield _values(place, "vocabulary_", len(words), f"{len(words):,} words of training texts")


def category_names(where: str, columns: Iterable[Sequence[object]]) -> Iterator[Extra]:
    """Yield the lists of categories of a boosted model: all that occur in its training data."""
    sizes = [len(names) for names in columns if names]
    if sizes:
        says = f"every category that occurred in {len(sizes):,} columns is named"
        yield Extra(kind="column-values", where=where, n=sum(sizes), says=says)


def many_categories(
    place: Place, n_records: int, classes: Collection[int], claimed: set[int]
) -> Iterator[Extra]:
    """Yield learned lists of categories or labels that are as good as a list of people."""
    model = place.value
    if not isinstance(model, Inert):
        return
    most = max(_MANY, n_records // _FEWEST)
    given = model.get("categories")
    learned = given is None or (isinstance(given, str) and given == "auto")
    parts = _parts(arrived(model.get("categories_"))) if learned else []
    lists = [(f"categories_[{i}]", part) for i, part in enumerate(parts)]
    lists += [("classes_", arrived(model.get("classes_")))]
    for name, part in lists:
        n = len(part) if isinstance(part, np.ndarray) and part.ndim == 1 else 0
        if n > most and not (name == "classes_" and n in classes) and id(part) not in claimed:
            claimed.add(id(part))
            says = f"{n:,} categories of {n_records:,} people, of whom fewer than 5 share one"
            yield Extra(kind="records", where=place.at(name), n=n, says=says)


def _parts(stored: object) -> list[object]:
    """Return the parts of a list or of an array of objects."""
    if isinstance(stored, np.ndarray) and stored.dtype == object and stored.ndim == 1:
        stored = stored.tolist()
    return [arrived(part) for part in stored] if isinstance(stored, list | tuple) else []


def _values(place: Place, name: str, n: int, says: str) -> Extra:
    return Extra(kind="column-values", where=place.at(name), n=n, says=says)


def _sizes(stored: object) -> list[int]:
    """Return how many entries each column has."""
    return [p.size for p in _parts(stored) if isinstance(p, np.ndarray)]


def _large(sizes: Sequence[int], least: int = _MANY) -> tuple[int, int, int]:
    """Return columns with many entries, the most of one, and all of theirs."""
    many = [size for size in sizes if size >= least]
    return len(many), max(many, default=0), sum(many)


def _of(n: int) -> str:
    return "1 column" if n == 1 else f"{n:,} columns"


def _span(place: Place, name: str, n: int) -> Extra:
    says = f"the exact smallest and largest value of {_of(n)}, as this step gets them"
    return Extra(kind="extremes", where=place.at(name), n=2 * n, says=says)


def _bins(place: Place, attributes: dict[str, object]) -> Iterator[Extra]:
    """Yield the thresholds of histogram boosting, and the edges of bins as a step of their own."""
    n, most, total = _large(_sizes(attributes.get("bin_thresholds_")))
    if n:
        says = f"bin thresholds of {_of(n)}, up to {most:,} of one: each is halfway between two "
        says += "neighbouring values of training records, or a value itself"
        yield _values(place, "bin_thresholds_", total, says)
    sizes = _sizes(attributes.get("bin_edges_"))
    n, most, total = _large(sizes)
    if n:
        says = f"bin edges of {_of(n)}, up to {most:,} of one, with the smallest and largest value"
        yield _values(place, "bin_edges_", total, says)
    elif sizes:
        yield _span(place, "bin_edges_", len(sizes))


def _quantiles(place: Place, stored: object, n_records: int | None) -> Iterator[Extra]:
    if isinstance(stored, np.ndarray) and stored.ndim == 2 and stored.size:
        n, width = stored.shape
        says = f"{n:,} quantiles of {_of(width)}, from the smallest to the largest value"
        says = f"every value of {_of(width)}, sorted" if n == n_records else says
        yield _values(place, "quantiles_", stored.size, says)


def _knots(place: Place, attributes: dict[str, object]) -> Iterator[Extra]:
    """Yield where the pieces of splines meet, unless they were given."""
    stored, how, degree = (attributes.get(name) for name in ("bsplines_", "knots", "degree"))
    if not isinstance(stored, list) or not isinstance(how, str):
        return
    splines = [one for one in map(arrived, stored) if isinstance(one, Inert)]
    # The name of their knots since scipy 1.15, and before.
    both = [(arrived(one.get("_t")), arrived(one.get("t"))) for one in splines]
    knots = [one if isinstance(one, np.ndarray) else other for one, other in both]
    # They go on beyond the ends by as many as their degree.
    beyond = 2 * degree if isinstance(degree, int) else 0
    sizes = [max(0, size - beyond) for size in _sizes(knots)]
    n, most, total = _large(sizes) if how == "quantile" else (0, 0, 0)
    if n:
        says = f"{most:,} quantiles of {_of(n)}, from the smallest to the largest value"
        yield _values(place, "bsplines_", total, says)
    elif sizes:
        yield _span(place, "bsplines_", len(sizes))


def _per_column(place: Place, attributes: dict[str, object]) -> Iterator[Extra]:
    """Yield the extremes of columns, and the means of columns with hardly any value."""
    for name, what in _EXTREMES.items():
        stored = attributes.get(name)
        if isinstance(stored, np.ndarray) and stored.ndim == 1 and len(stored):
            says = f"the exact {what} value of {_of(len(stored))}, as this step gets them"
            yield Extra(kind="extremes", where=place.at(name), n=len(stored), says=says)
    counts, means = attributes.get("n_samples_seen_"), attributes.get("mean_")
    if not isinstance(counts, np.ndarray) or counts.ndim != 1 or counts.dtype.kind not in "iuf":
        return
    if isinstance(means, np.ndarray) and means.shape == counts.shape:
        n = int(np.count_nonzero((counts > 0) & (counts < _FEWEST)))
        if n:
            says = f"the mean of {_of(n)} that fewer than {_FEWEST} people have a value in"
            yield _values(place, "mean_", n, says)
