"""The categorical columns of histogram gradient boosting: places, codes, names."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.model.tree import CategorySets
from treeaudit.readers.limits import Most
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.sklearn.found import Found, elements
from treeaudit.readers.sklearn.labels import category_names
from treeaudit.readers.types import Array, Flag, Wide

_MOST_CODES = 256
_ENCODER = "OrdinalEncoder"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Categories:
    """What the trees call their columns.

    Attributes
    ----------
    home
        For each column as the trees number them, the column of the data.
    names
        For each column of the data, its categories, or None for a number.
    fill
        For each column of the data, the category that missing values are; None where they are
        missing.
    size
        For each column as the trees number them, how many categories it has;
        0 for a number.
    values
        The numbers by which bitsets know the categories, column after column.
    """

    home: Wide
    names: tuple[tuple[str, ...] | None, ...]
    fill: tuple[str | None, ...]
    size: Wide
    values: Wide


def categories_of(found: Found, width: int) -> Categories:
    """Return the categorical columns of a model, as its file tells them.

    Since 1.4 an encoder inside the model numbers the categories and puts their
    columns first; before, the data came with numbers, and those that occurred
    are among the thresholds of the bins.
    """
    flags = arrived(found.get("is_categorical_"))
    names: list[tuple[str, ...] | None] = [None] * width
    fill: list[str | None] = [None] * width
    if not isinstance(flags, np.ndarray) or flags.shape != (width,) or not flags.any():
        return _categories(np.arange(width), names, fill, [()] * width)
    chosen = np.flatnonzero(flags)
    encoded = found.get("_preprocessor")
    if isinstance(encoded, Inert):
        home = np.concatenate([chosen, np.flatnonzero(flags == 0)])
        _check_places(encoded, flags != 0)
        known, instead = _encoder_names(encoded)
        if len(known) != len(chosen):
            raise ReadError("the model is damaged: its encoder does not fit its columns")
        values = [tuple(range(len(each))) for each in known]
        if _binned(found, np.arange(len(chosen))) != values:
            raise ReadError("the model is inconsistent: its bins know other categories")
        for column, name in zip(chosen.tolist(), instead, strict=True):
            fill[column] = name
    else:
        home = np.arange(width)
        values = _binned(found, chosen)
        known = [tuple(map(str, each)) for each in values]
    coded: list[tuple[int, ...]] = [()] * width
    places = range(len(chosen)) if isinstance(encoded, Inert) else chosen.tolist()
    for place, column, each, numbers in zip(places, chosen.tolist(), known, values, strict=True):
        names[column], coded[place] = each, numbers
    return _categories(home, names, fill, coded)


def _categories(
    home: Wide,
    names: list[tuple[str, ...] | None],
    fill: list[str | None],
    coded: list[tuple[int, ...]],
) -> Categories:
    return Categories(
        home=home.astype(np.int64),
        names=tuple(names),
        fill=tuple(fill),
        size=np.array([len(each) for each in coded], dtype=np.int64),
        values=np.array([value for each in coded for value in each], dtype=np.int64),
    )


def _encoder_names(preprocessor: Inert) -> tuple[list[tuple[str, ...]], list[str | None]]:
    """Return the categories of the encoder, and the one that missing values are, of each column.

    What pandas has no value for has no number; of objects, None is a category like any other.
    """
    for step in elements(preprocessor.get("transformers_")):
        encoder = arrived(step[1]) if isinstance(step, tuple) and len(step) > 1 else None
        if isinstance(encoder, Inert) and encoder.kind == _ENCODER:
            unnumbered = arrived(encoder.get("_missing_indices")) or {}
            known, instead = list[tuple[str, ...]](), list[str | None]()
            for i, each in enumerate(elements(encoder.get("categories_"))):
                if not isinstance(each, np.ndarray) or each.ndim != 1 or each.dtype.names:
                    raise ReadError("the model is damaged: its encoder lost its categories")
                values = [arrived(v) for v in each[: _MOST_CODES + 1].tolist()]
                if len(values) > _MOST_CODES:
                    raise ReadError("the model is damaged: a column has too many categories")
                names, gap = category_names(values)
                last = len(values) - 1
                numbered = not isinstance(unnumbered, dict) or unnumbered.get(i) != last
                known.append(names if numbered else names[:-1])
                instead.append(gap if numbered and values[-1:] == [None] else None)
                _refuse_too_many(known)
            _check_codes(encoder, known)
            return known, instead
    return [], []


def _check_places(preprocessor: Inert, flags: Flag) -> None:
    """Make sure that the categorical columns are put in front, and the others behind them."""
    given = arrived(preprocessor.get("_transformer_to_input_indices"))
    taken: list[int] = []
    for step in elements(preprocessor.get("transformers_")):
        label, does, columns = step if isinstance(step, tuple) and len(step) == 3 else [None] * 3
        if isinstance(does, str) and does == "drop":
            continue
        chosen, does = arrived(columns), arrived(does)
        if not isinstance(does, Inert) or does.kind != ("FunctionTransformer", _ENCODER)[not taken]:
            raise ReadError("the model is inconsistent: it changes its columns beforehand")
        if taken and not _only_checks(arrived(does.get("func"))):
            raise ReadError("the model is inconsistent: it changes its columns beforehand")
        if not isinstance(chosen, np.ndarray) or chosen.shape != flags.shape:
            raise ReadError("the model is damaged: its encoder does not tell its columns")
        places = np.flatnonzero(chosen).tolist()
        stated = arrived(given.get(label)) if isinstance(given, dict) else places
        if chosen.dtype != np.bool_ or stated != places:
            raise ReadError("the model is inconsistent: its encoder takes two sets of columns")
        taken += places
    if taken != [*np.flatnonzero(flags).tolist(), *np.flatnonzero(~flags).tolist()]:
        raise ReadError("the model is inconsistent: its encoder does not fit its columns")


def _only_checks(function: object) -> bool:
    """Tell whether a function is that of scikit-learn which makes sure of numbers."""
    if not isinstance(function, Inert) or function.kind != "partial":
        return False
    state = function.state if isinstance(function.state, tuple) else ()
    named = [*function.args[:1], *state[:1]]
    return all(isinstance(one, Global) and one.name == "check_array" for one in named)


def _check_codes(encoder: Inert, known: Sequence[Sequence[str]]) -> None:
    """Make sure that an encoder numbers the categories by their places, and nothing else."""
    missing = arrived(encoder.get("_missing_indices")) or {}
    last = {i: len(each) for i, each in enumerate(known)}
    numbers = [encoder.get(name) for name in ("unknown_value", "encoded_missing_value")]
    if (
        not isinstance(missing, dict)
        or any(last.get(i) != at for i, at in missing.items())
        or encoder.get("_infrequent_enabled")
        or encoder.get("handle_unknown") != "use_encoded_value"
        or not all(isinstance(one, float) and math.isnan(one) for one in map(arrived, numbers))
    ):
        raise ReadError("the model is inconsistent: its encoder numbers its categories otherwise")


def _binned(found: Found, chosen: Wide) -> list[tuple[int, ...]]:
    """Return the numbers that occurred in each categorical column."""
    mapper = found.get("_bin_mapper") or found.get("bin_mapper_")
    flags = arrived(mapper.get("is_categorical_")) if isinstance(mapper, Inert) else None
    # What it holds for no category goes the way of missing values.
    if isinstance(flags, np.ndarray) and not np.array_equal(np.flatnonzero(flags), chosen):
        raise ReadError("the model is inconsistent: its bins are of other categorical columns")
    thresholds = elements(mapper.get("bin_thresholds_")) if isinstance(mapper, Inert) else []
    out: list[tuple[int, ...]] = []
    for column in chosen.tolist():
        known = thresholds[column] if column < len(thresholds) else None
        if not isinstance(known, np.ndarray) or known.ndim != 1 or known.dtype.kind not in "fiu":
            raise ReadError("the model is damaged: a column lost its categories")
        fits = np.isfinite(known) & (known >= 0) & (known < _MOST_CODES)
        if len(known) > _MOST_CODES or not fits.all() or np.any(np.diff(known) <= 0):
            raise ReadError("the model is damaged: a column has categories that cannot be")
        out.append(tuple(int(v) for v in known.tolist()))
        _refuse_too_many(out)
    return out


def _refuse_too_many(known: Sequence[Sequence[object]]) -> None:
    # Counted now and then: every column has at most 256.
    if len(known) % 256 == 0 and sum(map(len, known)) > Most.categories:
        raise ModelTooLargeError(f"the columns have more than {Most.categories:,} categories")


def code_sets(
    categories: Categories, n_nodes: int, column: Wide, bitsets: Array, left: Wide, right: Wide
) -> CategorySets:
    """Return which categories pass the edges of some splits.

    Parameters
    ----------
    categories
        Of the model.
    n_nodes
        Of the tree.
    column
        The column of each split, as the trees number them.
    bitsets
        Shape ``(n_splits, 8)``: 256 bits per split, set for what goes left.
    left, right
        The children of each split.
    """
    start = np.concatenate([[0], np.cumsum(categories.size)])
    size = categories.size[column]
    split = np.repeat(np.arange(len(column)), size)
    code = np.arange(len(split)) - np.repeat(np.cumsum(size) - size, size)
    value = categories.values[start[column][split] + code]
    goes_left = (bitsets[split, value // 32].astype(np.int64) >> (value % 32)) & 1 == 1
    node = np.where(goes_left, left[split], right[split])
    # An edge that no category passes still has to be one: name a code that no one has.
    both, most = np.concatenate([left, right]), np.concatenate([size, size])
    empty = np.flatnonzero(np.bincount(node, minlength=n_nodes)[both] == 0)
    node, code = np.concatenate([node, both[empty]]), np.concatenate([code, most[empty]])
    order = np.argsort(node, kind="stable")
    ends = np.zeros(n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(node, minlength=n_nodes), out=ends[1:])
    return CategorySets(start=ends, codes=code[order].astype(np.int32))
