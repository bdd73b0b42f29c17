"""Top-down specialization with noise: the private table, its tree, and what it costs."""

from fractions import Fraction

import numpy as np

import treeaudit as ta
from tests.trainers.people import SCHEMA, people
from treeaudit.dp.claims import bounded
from treeaudit.trainers.top_down_specialization import TopDownSpecializationClassifier

X, Y = people(600)


def table(**parameters) -> TopDownSpecializationClassifier:
    return TopDownSpecializationClassifier(schema=SCHEMA, **parameters)


def test_half_goes_to_the_choices_and_half_to_the_groups() -> None:
    ledger = table(n_specializations=4).fit(X, Y).privacy_
    assert [q.cost for q in ledger.queries] == [*[Fraction(1, 8)] * 4, Fraction(1, 2)]
    # With nothing left to specialize, what was not asked is said.
    *_, rest = table(n_bins=2).fit(X, Y).privacy_.queries
    assert (rest.mechanism, rest.cost) == ("none", Fraction(7, 20))


def test_a_value_is_told_apart_in_all_rows_alike() -> None:
    model = table(epsilon=50.0, n_specializations=6).fit(X, Y)
    frame = ta.reconstruct(model.forest_).to_frame(words=True)
    assert bounded(model.forest_)
    # The groups are the product of what every column was specialized to.
    sizes = [frame[name].nunique() for name in ("age", "sex", "dose")]
    assert len(frame) == np.prod(sizes)
    assert frame[["age", "sex", "dose"]].drop_duplicates().shape[0] == len(frame)


def test_a_column_is_specialized_no_more_often_than_told() -> None:
    frame = ta.reconstruct(table(epsilon=50.0, max_depth=1).fit(X, Y).forest_).to_frame(words=True)
    assert [frame[name].nunique() for name in ("age", "sex", "dose")] == [2, 3, 2]
