"""What a schema holds is plain, whatever it was given."""

import numpy as np
from hypothesis import given
from hypothesis.extra import numpy as hnp

from treeaudit.errors import DataError
from treeaudit.model.schema import Feature, Schema


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
