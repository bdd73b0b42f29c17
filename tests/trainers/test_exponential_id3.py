"""The ID3 of Mohammed, Barouti, Alhadidi and Chen: choices, and no counts of nodes."""

from fractions import Fraction

from tests.trainers.people import SCHEMA, people
from treeaudit.trainers.diffpid3 import DiffPID3Classifier
from treeaudit.trainers.exponential_id3 import ExponentialID3Classifier

X, Y = people(600)


def test_every_question_costs_an_equal_part_and_no_node_is_counted() -> None:
    ledger = ExponentialID3Classifier(schema=SCHEMA).fit(X, Y).privacy_
    names = [q.name for q in ledger.queries]
    assert names == [*(f"splits of level {i}" for i in (1, 2, 3)), "leaf counts"]
    assert {q.cost for q in ledger.queries} == {Fraction(1, 4)}
    # Friedman and Schuster ask twice as much of each, and of one level more.
    other = DiffPID3Classifier(schema=SCHEMA, max_depth=3, numbers="bins").fit(X, Y).privacy_
    assert other.queries[0].epsilon == Fraction(1, 8)


def test_it_is_no_deeper_than_its_columns_and_says_what_it_did_not_ask() -> None:
    model = ExponentialID3Classifier(schema=SCHEMA, max_depth=6, n_bins=2).fit(X, Y)
    *asked, rest = model.privacy_.queries
    assert len(asked) == 4
    assert (rest.mechanism, rest.cost) == ("none", Fraction(2, 6))
    assert model.privacy_.epsilon == 1
