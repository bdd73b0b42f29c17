"""A column of the training data as codes, for TA110."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.attacks.case import Case, PredictedValue
from treeaudit.errors import DataError, near
from treeaudit.findings.details import People
from treeaudit.model.schema import Label, Schema
from treeaudit.model.words import label_text
from treeaudit.people.input.cell_parsing import code_of, numbers_spelled
from treeaudit.table.diversity import dominated, estimable
from treeaudit.table.labels import Labels, joined
from treeaudit.table.persons import values_in

if TYPE_CHECKING:
    import pandas as pd


_NOTHING = "no value"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SensitiveColumn:
    """One column to audit."""

    name: str  # Its name
    code: Wide  # Shape `(n_train,)`: value of each training person, from 0
    # The values as text, numbers in ascending order; people without a value have a value of their
    # own, the last
    names: tuple[str, ...]
    # Shape `(n_train,)`: the values of a column of numbers, 0 for people without one; None for
    # words
    number: Float | None
    ordered: bool  # Whether the order of the codes means anything
    missing: int  # How many people have no value
    used: bool  # Whether the model has it as a feature
    named: bool = True  # Whether somebody named it; otherwise it is the target of the model
    spelled: bool = False  # Whether its values are numbers, however they are written


def check_columns(case: Case) -> None:
    """Refuse names that are no column of the training data."""
    if not case.sensitive:
        return
    if case.train is None:
        raise DataError(
            f"the sensitive column {case.sensitive[0]!r} can only be audited with the training "
            "data (--train)"
        )
    from treeaudit.people.input.cell_parsing import check_single

    known = [str(column) for column in case.train.frame.columns]
    for name in case.sensitive:
        if name not in known:
            raise DataError(f"{case.train.origin} has no column {name!r}{near(name, known)}")
        check_single(_series(case.train.frame, name), f"{case.train.origin}, column {name!r}")


def columns_to_audit(case: Case) -> list[SensitiveColumn]:
    """Return the columns that were named, and the target of a model that predicts a number."""
    check_columns(case)
    from treeaudit.people.coding.columns import as_called

    train, schema = case.people("train"), case.forest.schema
    names = [str(column) for column in train.frame.columns]
    called = dict(zip(names, as_called(names, case.forest), strict=True))
    found = [
        _column(name, _series(train.frame, name), schema, called[name])
        for name in dict.fromkeys(case.sensitive)
    ]
    if train.targets is not None and schema.target not in case.sensitive:
        found.append(replace(_numbers(schema.target, train.targets, used=False), named=False))
    return found


def codes_of(column: SensitiveColumn, frame: "pd.DataFrame") -> Wide | None:
    """Return the codes of other people, -1 for values that are new; None without the column."""
    if column.name not in map(str, frame.columns):
        return None
    known = {name: code for code, name in enumerate(column.names)}
    find = code_of(known) if column.spelled else known.get
    texts = _texts(_series(frame, column.name))
    values, back = np.unique(texts, return_inverse=True)
    found = (find(str(value)) for value in values)
    codes = np.array([-1 if code is None else code for code in found], dtype=np.int64)
    return codes[back.reshape(-1)]


def _column(name: str, series: "pd.Series[Any]", schema: Schema, called: str) -> SensitiveColumn:
    used = any(one == called or one.startswith(f"{called}_") for one in schema.names)
    if series.dtype.kind in "iuf":
        return _numbers(name, series.to_numpy(dtype=np.float64), used=used)
    texts = _texts(series)
    values, code = np.unique(texts, return_inverse=True)
    code = code.reshape(-1)
    there = values != _NOTHING
    numbers = None
    if not any(f.name == called and f.categories is not None for f in schema.features):
        numbers = numbers_spelled(values[there].tolist())
    if numbers is not None and len(numbers):
        spelled = np.full(len(values), np.nan)
        spelled[there] = numbers
        return _numbers(name, spelled[code], used=used)
    return SensitiveColumn(
        name=name,
        code=code,
        names=tuple(str(value) for value in values),
        number=None,
        ordered=False,
        missing=int(series.isna().sum()),
        used=used,
    )


def _numbers(name: str, number: Float, *, used: bool) -> SensitiveColumn:
    missing = np.isnan(number)
    values = np.unique(number[~missing])
    code = np.searchsorted(values, number)
    code[missing] = len(values)
    names = tuple(label_text(float(value)) for value in values)
    return SensitiveColumn(
        name=name,
        code=code.astype(np.int64),
        names=(*names, _NOTHING) if missing.any() else names,
        number=None if missing.all() else np.where(missing, 0.0, number),
        ordered=not missing.any(),
        missing=int(missing.sum()),
        used=used,
        spelled=True,
    )


def _series(frame: "pd.DataFrame", name: str) -> "pd.Series[Any]":
    """Return the first column of a name that is there."""
    return frame.iloc[:, [str(column) for column in frame.columns].index(name)]


def _texts(series: "pd.Series[Any]") -> npt.NDArray[np.str_]:
    """Return values as text; people without a value have "no value"."""
    import pandas as pd

    codes, values = pd.factorize(series, use_na_sentinel=True)
    plain: list[Label] = [v.item() if isinstance(v, np.generic) else v for v in list(values)]
    if series.dtype.kind in "iuf":
        plain = [float(value) for value in plain]
    names = np.array([label_text(value) for value in plain] + [_NOTHING], dtype=np.str_)
    return names[codes]


_TOTALS = ("nk_leaves", "nk_people", "p_percent_leaves", "p_percent_people")

_ARE_LEAVES = [name.endswith("leaves") for name in _TOTALS]


def groups_of(
    case: Case, column: SensitiveColumn, *, n: int, k: float, p: float
) -> tuple[PredictedValue, Mapping[str, People | None]]:
    """Count one column inside the leaves of every tree.

    Returns: what the leaves say of it, held against unseen people where they have it; and
    ``nk_leaves``, ``nk_people``, ``p_percent_leaves`` and ``p_percent_people``, people of the tree
    that has the most: None for text. What a person has in several records of a leaf is added up.
    """
    table, train = case.table, case.people("train")
    people = np.zeros(len(table), dtype=np.int64)
    totals = np.zeros(len(_TOTALS), dtype=np.int64)
    each: list[Labels | None] = []
    for tree in range(case.forest.n_trees):
        each.append(None)
        rows = table.rows_of(tree)
        position = table.positions(tree, train.node[:, tree])
        inside = position >= 0
        if not inside.any():
            continue
        leaf, group = np.unique(position[inside], return_inverse=True)
        group = group.reshape(-1)
        persons = None if train.persons is None else train.persons[inside]
        found, people[leaf] = values_in(
            group,
            column.code[inside],
            len(leaf),
            len(column.names),
            persons=persons,
            most=case.most,
        )
        each[tree] = found.placed(leaf - rows.start, rows.stop - rows.start)
        # Leaves add up, people do not: those of the fullest tree.
        number = None if column.number is None else column.number[inside]
        given = _given(number, group, persons)
        here = _totals(given, people[leaf], case.most, n, k, p)
        totals = np.where(_ARE_LEAVES, totals + here, np.maximum(totals, here))
        case.step("sensitive columns", tree + 1, case.forest.n_trees)
    labels = joined(each, np.diff(table.start).tolist())
    if labels is None:
        raise DataError(f"nobody in {train.origin} ends in a leaf of the model")
    test = None if case.test is None else codes_of(column, case.test.frame)
    stated = PredictedValue(
        name=column.name[:60],
        value="value",
        leaves=f"leaves of one {column.name[:60]} and",
        labels=labels,
        size=people,
        ordered=column.ordered,
        # That it is true of those who were counted says nothing by itself.
        train=None if test is None else column.code,
        test=test,
        values=column.names,
    )
    return stated, {
        name: _people(column, name, n) for name, n in zip(_TOTALS, totals.tolist(), strict=True)
    }


def _given(number: Float | None, group: Wide, persons: Int | None) -> tuple[Float, Wide] | None:
    """Return what is given by each person of each leaf, of all their records, and in which leaf."""
    if number is None:
        return None
    if persons is None:
        return number, group
    n = int(persons.max(initial=0)) + 1
    who, own = np.unique(group * n + persons, return_inverse=True)
    return np.bincount(own.reshape(-1), np.abs(number)).astype(np.float64), who // n


def _totals(
    given: tuple[Float, Wide] | None, size: Wide, most: int, n: int, k: float, p: float
) -> Wide:
    if given is None:
        return np.zeros(len(_TOTALS), dtype=np.int64)
    nk = dominated(*given, len(size), n=n * most, k=k)
    close = estimable(*given, len(size), p=p, most=most)
    return np.array([nk.sum(), size[nk].sum(), close.sum(), size[close].sum()])


def _people(column: SensitiveColumn, name: str, n: int) -> People | None:
    if column.number is None:
        return None
    return People(n, "leaf", "leaves") if name.endswith("leaves") else People(n)
