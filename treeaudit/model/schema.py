"""What the columns are: names, categories, classes."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from treeaudit.arrays import Float
from treeaudit.errors import DataError, near

if TYPE_CHECKING:
    import pandas as pd


Label = str | int | float | bool
"""A class label as the model knows it."""


Raw = Mapping["Feature", Float]
"""The numbers, or codes of categories, of some rows in each column of the data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """How a preprocessing step computed a column from those of the data."""

    # Takes the columns of the data, and holds what it computes for several columns at once.
    compute: Callable[[Raw, dict[str, Float]], Float] = field(compare=False, repr=False)
    sources: tuple["Feature", ...] = field(compare=False)  # the columns of the data
    key: str  # the same for the same step on the same columns
    named: bool = field(default=True, compare=False)  # whether their names come from the file


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One column that a tree can ask about.

    Attributes
    ----------
    name
        Its name in the model. Untrusted text: escape it where it is shown.
    categories
        The values of a categorical column, in the order of their codes
        0, 1, …; None for a numeric column.
    low, high
        The smallest and the largest value that a numeric column is known to
        take, or None where that is not known.
    ignores_unknown
        Whether the model also answers for values that are none of the
        categories, and takes them as missing.
    fill
        The category that missing values are replaced with before the model
        sees them, or that an encoder made of them; else None.
    had_missing
        Whether the file tells that values of it were missing in the training data.
    beyond_one
        Whether the file tells that it held numbers below 0 or above 1 there.
    rare
        How many of the last categories an encoder took as one, as each is rare.
    derived
        How it is computed from columns of the data, where the file tells that.
    made_by
        The preprocessing step that made it or filled it in, where the file does not tell how.
    """

    name: str
    categories: tuple[str, ...] | None = None
    low: float | None = None
    high: float | None = None
    ignores_unknown: bool = False
    fill: str | None = None
    had_missing: bool = False
    beyond_one: bool = False
    rare: int = 0
    derived: Derived | None = None
    made_by: str = ""

    def __post_init__(self) -> None:
        _set(self, name=_bare(self.name), low=_bound(self.low), high=_bound(self.high))
        if self.categories is not None:
            _set(self, categories=tuple(map(_bare, self.categories)))
        bounds = [bound for bound in (self.low, self.high) if bound is not None]
        if bounds and self.categories is not None:
            raise DataError(f"column {self.name!r} has both bounds and categories")
        if not all(math.isfinite(bound) for bound in bounds):
            raise DataError(f"column {self.name!r}: a bound is no finite number")
        if len(bounds) == 2 and bounds[0] > bounds[1]:
            raise DataError(f"column {self.name!r}: low is above high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The columns of a model and what it predicts.

    Attributes
    ----------
    features
        One entry per column, in the model's order.
    classes
        The labels in the order of the count columns, or None for a model that
        predicts a number.
    target
        What the labels, or the numbers, are called in tables and rules.
    named
        Whether the feature names come from the model; otherwise they are
        ``x0``, ``x1``, …
    target_low, target_high
        Within what everybody knows a number that is predicted to be; both, or neither.
    """

    features: tuple[Feature, ...]
    classes: tuple[Label, ...] | None = None
    target: str = "label"
    named: bool = True
    target_low: float | None = None
    target_high: float | None = None

    def __post_init__(self) -> None:
        low, high = _number(self.target_low), _number(self.target_high)
        _set(self, target=_bare(self.target), target_low=low, target_high=high)
        if self.classes is not None:
            _set(self, classes=tuple(map(_bare, self.classes)))
        if low is None and high is None:
            return
        if self.classes is not None:
            raise DataError(f"the target {self.target!r} has both bounds and classes")
        if low is None or high is None or not math.isfinite(low) or not math.isfinite(high):
            raise DataError(f"the target {self.target!r} needs target_low and target_high, finite")
        if low > high:
            raise DataError(f"the target {self.target!r}: target_low is above target_high")

    @property
    def names(self) -> list[str]:
        """The feature names in order."""
        return [feature.name for feature in self.features]

    @classmethod
    def numeric(
        cls,
        features: int | Sequence[str],
        classes: Sequence[Label] | None = None,
        target: str = "label",
    ) -> "Schema":
        """Describe a model whose columns are all numbers, by their names or how many there are.

        Examples
        --------
        >>> Schema.numeric(2, classes=["no", "yes"]).names
        ['x0', 'x1']
        """
        named = not isinstance(features, int)
        names = [f"x{i}" for i in range(features)] if isinstance(features, int) else features
        return cls(
            features=tuple(Feature(name=name) for name in names),
            classes=None if classes is None else tuple(classes),
            target=target,
            named=named,
        )

    @classmethod
    def from_public(
        cls,
        frame: "pd.DataFrame",
        *,
        target: str,
        categorical: Sequence[str] = (),
        bounds: tuple[float, float] | None = None,
    ) -> "Schema":
        """Describe columns by a table that everybody may see.

        Its extremes, categories and labels become part of every model, so the
        table must not hold anybody whose data is private: a code book, a
        published sample, or rows written by hand. Columns of numbers that are names of
        things are ``categorical``. A target with ``bounds``, or of numbers that are not
        whole, is a number to be predicted; any other names classes.

        Raises
        ------
        DataError
            If a column is missing, empty or of a kind that no tree can ask about.

        Examples
        --------
        >>> import pandas as pd
        >>> code_book = pd.DataFrame({"age": [0, 120], "sex": ["f", "m"], "ill": ["no", "yes"]})
        >>> schema = Schema.from_public(code_book, target="ill")
        >>> schema.features[0].high, schema.features[1].categories, schema.classes
        (120.0, ('f', 'm'), ('no', 'yes'))
        """
        if target not in frame.columns:
            told = near(target, map(str, frame.columns))
            raise DataError(f"the table has no column {target!r} with the labels{told}")
        columns = [name for name in frame.columns if name != target]
        unknown = [name for name in categorical if name not in columns]
        if unknown:
            told = near(unknown[0], map(str, columns))
            raise DataError(f"the table has no column {unknown[0]!r} of a feature{told}")
        features = (_described(frame[name], str(name), name in categorical) for name in columns)
        found = [_plain(value) for value in _different(frame[target].dropna(), target)]
        if not found:
            raise DataError(f"the table has no labels in {target!r}")
        if bounds is None and any(isinstance(v, float) and not v.is_integer() for v in found):
            bounds = float(frame[target].min()), float(frame[target].max())
        if bounds is not None:
            low, high = bounds
            return cls(
                features=tuple(features), target=str(target), target_low=low, target_high=high
            )
        return cls(features=tuple(features), classes=in_order(found), target=str(target))


def _set(described: Feature | Schema, **values: object) -> None:
    """Replace what is another object: files hold no wrappings of numpy."""
    for name, value in values.items():
        if value is not getattr(described, name):
            object.__setattr__(described, name, value)


def _bare(value: Any) -> Any:  # noqa: ANN401  # a label or name
    return value.item() if hasattr(value, "item") else value


def _bound(value: Any) -> Any:  # noqa: ANN401  # a number of any kind
    plain = _bare(value)
    return plain if isinstance(plain, int | float) else _number(plain)


def _number(value: Any) -> Any:  # noqa: ANN401  # a number of any kind
    """Return a float, which the ends of a target are in a model; what is none is as it was."""
    try:
        return float(value) if hasattr(value, "__float__") else value
    except OverflowError:
        return value


def in_order(labels: Sequence[Label]) -> tuple[Label, ...]:
    """Return labels in ascending order, or as they are where they cannot be compared."""
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(labels)


def _described(column: "pd.Series", name: str, named_things: bool) -> Feature:
    known = column.dropna()
    if known.empty:
        raise DataError(f"column {name!r} of the public table is empty")
    if known.dtype.kind in "iufb" and not named_things:
        return Feature(name=name, low=float(known.min()), high=float(known.max()))
    if known.dtype.kind not in "OTUiufb" and not _is_text(known):
        raise DataError(
            f"column {name!r} holds {known.dtype}: turn it into numbers or names of categories"
        )
    categories = {category_text(v) for v in _different(known, name)}
    return Feature(name=name, categories=tuple(sorted(categories)))


def _different(known: "pd.Series", name: str) -> list[Any]:
    try:
        return list(known.unique())
    except (TypeError, NotImplementedError):
        raise DataError(
            f"column {name!r} of the public table holds lists or structures: turn them into "
            "numbers or names of categories, or leave the column out"
        ) from None


def _is_text(column: "pd.Series") -> bool:
    from pandas.api.types import is_string_dtype

    return isinstance(column.dtype.name, str) and (
        column.dtype.name == "category" or is_string_dtype(column.dtype)
    )


def category_text(value: object) -> str:
    """Return a value of a categorical column as the name of its category."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _plain(value: object) -> Label:
    """Return a label without the wrapping of numpy."""
    plain = value.item() if hasattr(value, "item") else value
    if not isinstance(plain, str | int | float | bool):
        raise DataError(f"{plain!r} is no label: labels are text, whole numbers or booleans")
    return plain
