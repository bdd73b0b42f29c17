"""Values of single columns that steps keep: knots of splines, and means of hardly anybody."""

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, SplineTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta

N = 600
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] > 0).astype(int)
TOLD = ("column-values", "extremes", "extra", "unseen")


def told(step, x=X):
    tree = DecisionTreeClassifier(max_depth=2, min_samples_leaf=50)
    model = make_pipeline(step, SimpleImputer(), tree).fit(x, Y)
    return [(one.kind, one.n) for one in ta.load(model).extras.found if one.kind in TOLD]


def test_knots_at_quantiles_are_values_of_columns() -> None:
    """590 quantiles of 600 people are nearly every value."""
    many = SplineTransformer(knots="quantile", n_knots=590)
    assert told(many) == [("column-values", 3 * 590)]
    assert told(SplineTransformer(knots="quantile", n_knots=19)) == [("extremes", 6)]


@pytest.mark.parametrize("extrapolation", ["constant", "periodic"])
def test_even_knots_tell_the_ends(extrapolation) -> None:
    assert told(SplineTransformer(n_knots=50, extrapolation=extrapolation)) == [("extremes", 6)]


def test_knots_that_somebody_gave_are_no_values() -> None:
    given = SplineTransformer(knots=np.linspace(-9, 9, 3)[:, None] * np.ones(3))
    assert {kind for kind, _ in told(given)}.isdisjoint(("column-values", "extremes"))


@pytest.mark.parametrize("step", [StandardScaler(), PowerTransformer()])
@pytest.mark.parametrize(("n", "of_few"), [(1, 1), (4, 1), (5, 0), (550, 0)])
def test_how_many_have_a_value_is_explained_and_a_mean_of_few_told(step, n, of_few) -> None:
    holes = X.copy()
    holes[n:, 2] = np.nan
    holes[:9, 1] = np.nan
    assert told(step, holes) == [("column-values", 1)] * of_few
