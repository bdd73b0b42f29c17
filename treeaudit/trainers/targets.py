"""What a trainer learns to predict: a class of the schema, or a number within public bounds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets

from treeaudit.arrays import Array, Float, Wide
from treeaudit.errors import DataError, PrivacyError
from treeaudit.model.schema import Label, Schema, category_text, in_order
from treeaudit.people.input.cell_parsing import also_as_numbers, code_of, lost_in, numbers_in
from treeaudit.trainers.columns import CURATOR, Outside, named

__all__ = ["CLASSES", "NUMBERS", "STEPS", "Targets", "in_bounds", "labels_of"]

STEPS = 1 << 12
"""Into how many equal steps the public range of a number is cut, so that sums are whole numbers."""

_FOR_NUMBERS = "for numbers use PrivateTreeRegressor (--algorithm private-tree-regressor)"
_FOR_CLASSES = "for classes use PrivateTreeClassifier (--algorithm private-tree)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """How one kind of target is read.

    Attributes
    ----------
    public
        Returns a public schema as it is used; refuses one that leaves the target open.
    derived
        From targets and a schema without one, the schema with what the targets tell.
    code
        From targets and a schema, a whole number for each: the position of its class, or
        the step of its number; -1 for what is to be dropped.
    """

    public: Callable[[Schema], Schema]
    derived: Callable[[Array, Schema], Schema]
    code: Callable[[Array, Schema, Outside], Wide]


def _public_classes(schema: Schema) -> Schema:
    if schema.classes is None and schema.target_low is not None:
        raise DataError(
            f"the schema gives bounds of {schema.target!r}, a number, and this is a classifier; "
            + _FOR_NUMBERS
        )
    if not schema.classes:
        raise PrivacyError(
            "the schema lists no classes, and taking them from the data would tell which labels "
            "occur: add them as Schema(..., classes=...)"
        )
    return replace(schema, classes=in_order(schema.classes))


def _derived_classes(labels: Array, schema: Schema) -> Schema:
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    return replace(schema, classes=in_order([_plain(label) for label in np.unique(labels)]))


def _class_codes(labels: Array, schema: Schema, outside: Outside) -> Wide:
    # By name: one strange label makes an array of texts, or of objects, of all of them.
    codes, found = pd.factorize(named(labels))
    known = {category_text(label): code for code, label in enumerate(schema.classes or ())}
    known = also_as_numbers(known)
    places = map(code_of(known, category_text), found)
    lookup = np.array([*(-1 if at is None else at for at in places), -1], dtype=np.int64)
    result: Wide = lookup[codes]
    if outside == "raise" and (result < 0).any():
        of_texts = all(isinstance(label, str) for label in schema.classes or ())
        strange_ones = [_plain(labels[i]) for i in np.flatnonzero(result < 0)[:1000].tolist()]
        numbers = [v for v in strange_ones if isinstance(v, float) and np.isfinite(v)]
        if any(of_texts or not v.is_integer() for v in numbers):
            raise DataError(
                f"the target holds numbers such as {numbers[0]:g}, which are none of the classes "
                f"of the schema. {CURATOR}: this is a classifier; {_FOR_NUMBERS}"
            )
        strange = str(labels[int(np.argmin(result))])[:60]
        raise DataError(
            f"label {strange!r} is none of the classes of the schema. {CURATOR}: add it if "
            "it is public knowledge, or fit with outside='clip', which drops such records"
        )
    return result


def _plain(label: object) -> Label:
    plain: Label = label.item() if isinstance(label, np.generic) else label  # type: ignore[assignment]
    return plain


def _public_bounds(schema: Schema) -> Schema:
    if schema.target_low is None:
        lists = "lists classes and no bounds" if schema.classes else "has no bounds"
        raise PrivacyError(
            f"the schema {lists} of the target, and taking them from the data would give away its "
            "extremes: add target_low and target_high, within which everybody knows it to be; "
            + _FOR_CLASSES
        )
    low, high = _ends(schema)
    return replace(schema, target_low=float(low), target_high=float(high))


def _derived_bounds(targets: Array, schema: Schema) -> Schema:
    numbers = _numbers(targets, "raise")
    assert_all_finite(numbers, input_name="y")
    return replace(schema, target_low=float(numbers.min()), target_high=float(numbers.max()))


def _steps(targets: Array, schema: Schema, outside: Outside) -> Wide:
    numbers = _numbers(targets, outside)
    low, high = _ends(schema)
    lost = np.isnan(numbers)
    beyond = lost | (numbers < low) | (numbers > high)
    if outside == "raise" and beyond.any():
        strange = str(targets[int(np.argmax(beyond))])[:60]
        raise DataError(
            f"the target {strange!r} is not between {low:g} and {high:g}. {CURATOR}: widen "
            "target_low and target_high if that is public knowledge, or fit with outside='clip', "
            "which drops what is no number"
        )
    width = high / 2 - low / 2
    share = np.zeros(len(numbers))
    if width > 0:
        # By halves, which cannot overflow.
        share = (np.clip(np.where(lost, low, numbers), low, high) / 2 - low / 2) / width
    steps: Wide = np.rint(share * STEPS).astype(np.int64)
    return np.where(lost, -1, steps)


def _numbers(targets: Array, outside: Outside) -> Float:
    """Return targets as numbers, NaN where there is none."""
    kind = np.asarray(targets).dtype.kind
    found = numbers_in(targets)
    strange = np.isnan(found) & ~lost_in(targets)
    if kind not in "iufbOUT" or (outside == "raise" and strange.any()):
        raise DataError(f"a target is no number, and this is for numbers; {_FOR_CLASSES}")
    return found


def _ends(schema: Schema) -> tuple[float, float]:
    low, high = schema.target_low, schema.target_high
    return (0.0, 0.0) if low is None or high is None else (low, high)


def labels_of(classes: Sequence[Label]) -> Array:
    """Return labels as an array that holds each as it is.

    Examples
    --------
    >>> labels_of((0, 1)).tolist(), labels_of((1, "a")).tolist()
    ([0, 1], [1, 'a'])
    """
    held = np.asarray(classes)
    if [type(label) for label in held.tolist()] != [type(label) for label in classes]:
        held = np.empty(len(classes), dtype=object)
        held[:] = classes
    return held


def in_bounds(share: Sequence[float] | Float, schema: Schema) -> Float:
    """Return numbers from how far they lie between the public bounds, 0 to 1.

    Examples
    --------
    >>> schema = Schema(features=(), target_low=10, target_high=30)
    >>> in_bounds([0.0, 0.25, 1.0], schema).tolist()
    [10.0, 15.0, 30.0]
    """
    low, high = _ends(schema)
    part = np.asarray(share, dtype=np.float64)
    found: Float = np.clip(low * (1 - part) + high * part, low, high)
    return found


CLASSES = Targets(public=_public_classes, derived=_derived_classes, code=_class_codes)
NUMBERS = Targets(public=_public_bounds, derived=_derived_bounds, code=_steps)
