"""What a schema holds is plain, whatever it was given."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from treeaudit.errors import DataError
from treeaudit.model.schema import Feature, Schema


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint64, np.float32, np.float64, Decimal])
def test_bounds_are_numbers_of_python(kind) -> None:
    feature = Feature(name=str(np.str_("a")), low=kind(1), high=kind(3))
    assert (feature.low, feature.high) == (1, 3)
    assert {type(feature.low), type(feature.high)} <= {int, float}
    schema = Schema(features=(feature,), target_low=kind(1), target_high=kind(3))
    assert (type(schema.target_low), schema.target_high) == (float, 3.0)


def test_names_and_labels_are_those_of_python() -> None:
    names = np.array(["a", "b"])
    feature = Feature(name=names[0], categories=tuple(np.unique(names)))
    schema = Schema(features=(feature,), classes=tuple(np.unique([0, 1])), target=names[1])
    held = (feature.name, *feature.categories, schema.target)
    assert held == ("a", "a", "b", "b")
    assert {type(one) for one in held} == {str}
    assert {type(one) for one in schema.classes} == {int}
    assert type(Schema(features=(), classes=(np.bool_(True), False)).classes[0]) is bool


@given(hnp.arrays(hnp.scalar_dtypes().filter(lambda d: d.kind in "iuf"), 2))
def test_whatever_numpy_holds_is_plain_or_refused(ends) -> None:
    low, high = sorted(ends)
    try:
        feature = Feature(name="a", low=low, high=high)
    except DataError:
        assert not np.isfinite(ends).all()
        return
    assert {type(feature.low), type(feature.high)} <= {int, float}
    assert (feature.low, feature.high) == (float(low), float(high)) or ends.dtype.kind in "iu"


def test_whole_bounds_of_a_target_are_floats() -> None:
    schema = Schema(features=(), target_low=0, target_high=10)
    assert (type(schema.target_low), type(schema.target_high)) == (float, float)
    assert schema == Schema(features=(), target_low=0.0, target_high=10.0)
    for high in (float("inf"), np.inf, np.nan):
        with pytest.raises(DataError, match="finite"):
            Schema(features=(), target_low=0, target_high=high)
