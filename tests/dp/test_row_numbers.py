"""A ledger has no room for what was not asked: rows and numbers that no trainer writes."""

from dataclasses import replace
from fractions import Fraction

import pytest

import treeaudit as ta
from tests.dp.test_forms import fitted
from tests.trainers.people import people, schema_for
from treeaudit.dp.bounded import NOT_ASKED, unbounded_because
from treeaudit.dp.ledger import Ledger, Query
from treeaudit.dp.rational import exact
from treeaudit.trainers import (
    BootstrapForestClassifier,
    DiffPID3Classifier,
    DPDFClassifier,
    PrivateAdditiveTreeClassifier,
    PrivateSearch,
    PrivateTreeClassifier,
    RandomCountForestClassifier,
    SulqID3Classifier,
)


def with_rows(forest, *rows, of=lambda queries: queries):
    """Return a model with more rows, which cost nothing unless told."""
    ledger = Ledger.from_plain(forest.privacy)
    held = (*of(ledger.queries), *rows)
    return replace(forest, privacy=replace(ledger, queries=held).to_plain())


def row(name, **told):
    plain = {"mechanism": "discrete Laplace", "epsilon": Fraction(0), "sensitivity": Fraction(1)}
    return Query(name=name, **(plain | told))


FREE = [
    (DPDFClassifier, row("tree 1: classes of level 9", asked=20_261_126)),
    (DPDFClassifier, row("tree 900: classes of level 1", asked=33)),
    (PrivateTreeClassifier, row("splits of level 66", mechanism="permute-and-flip")),
    (PrivateTreeClassifier, row("splits of level 07", mechanism="permute-and-flip")),
    (PrivateTreeClassifier, row("splits of level \u0663", mechanism="permute-and-flip")),
    (PrivateTreeClassifier, row("leaf counts")),
    (DiffPID3Classifier, row("points of ann is ill, level 2", mechanism="exponential mechanism")),
    (DiffPID3Classifier, row("points of age, level 5", mechanism="exponential mechanism")),
    (SulqID3Classifier, row("values and classes of column 01 of level 1")),
    (DPDFClassifier, row(NOT_ASKED, mechanism="none", sensitivity=Fraction(0), asked=5)),
    (DPDFClassifier, row(NOT_ASKED, mechanism="none", sensitivity=Fraction(5))),
]


@pytest.mark.parametrize(
    ("trainer", "more"), FREE, ids=[f"{t.algorithm}-{i}" for i, (t, _) in enumerate(FREE)]
)
def test_rows_that_cost_nothing_were_not_asked(trainer, more) -> None:
    forest = fitted(trainer)
    assert unbounded_because(forest) is None
    assert unbounded_because(with_rows(forest, more)) is not None


@pytest.mark.parametrize(
    ("trainer", "which"),
    [
        (DPDFClassifier, "tree 1: classes of level 1"),
        (RandomCountForestClassifier, "leaf counts of tree 2"),
        (BootstrapForestClassifier, "tree 2: leaf counts"),
        (DiffPID3Classifier, "points of dose, level 1"),
        (SulqID3Classifier, "values and classes of column 2 of level 1"),
    ],
)
@pytest.mark.parametrize("told", [{"sensitivity": Fraction(7)}, {"used": Fraction(1, 999_983)}])
def test_a_question_costs_the_same_in_other_trees_and_columns(trainer, which, told) -> None:
    own = {"n_estimators": 2} if "n_estimators" in trainer().get_params() else {}
    forest = fitted(trainer, epsilon=9.0, **own)

    def other(queries):
        assert which in [q.name for q in queries]
        return [replace(q, **told) if q.name == which else q for q in queries]

    assert unbounded_because(forest) is None
    assert unbounded_because(with_rows(forest, of=other)) is not None


def test_fractions_are_told_in_lowest_terms() -> None:
    assert exact("3/7") == Fraction(3, 7)
    for text in ("0/173", "2/4", "07", "3/1"):
        with pytest.raises(ValueError, match="lowest terms"):
            exact(text)


def search_of(trainer, candidates, schema=None, columns=None, **told):
    X, y = people(300)
    estimator = trainer(schema=schema or schema_for(trainer), **told)
    search = PrivateSearch(estimator=estimator, candidates=candidates, epsilon=8.0)
    return search.fit(X if columns is None else X[columns], y).best_estimator_.forest_


def test_nothing_is_asked_of_all_candidates_but_the_choice() -> None:
    forest = search_of(PrivateTreeClassifier, [{"max_depth": 1}, {"max_depth": 2}])
    assert unbounded_because(forest) is None
    drawn = row("splits of level 7", mechanism="permute-and-flip", asked=33)
    again = row("candidate 01: leaf counts", asked=33)
    third = row("candidate 3: leaf counts", asked=33)
    for more in (drawn, again, third, row("ann is ill")):
        assert unbounded_because(with_rows(forest, more)) is not None

    def often(queries):
        return [replace(q, asked=9) if q.name.startswith("the best") else q for q in queries]

    assert unbounded_because(with_rows(forest, of=often)) is not None


def test_candidates_may_ask_otherwise_than_the_one_that_was_chosen() -> None:
    numbers = [{"numbers": "ranges"}, {"numbers": "bins"}]
    schema = schema_for(PrivateTreeClassifier)
    two = replace(schema, features=(schema.features[0], schema.features[2]))
    for _ in range(6):
        assert unbounded_because(search_of(DiffPID3Classifier, numbers)) is None
        bins = [{"n_bins": 1}, {"n_bins": 16}]
        forest = search_of(PrivateAdditiveTreeClassifier, bins, two, ["age", "dose"])
        assert unbounded_because(forest) is None


def test_trees_without_stumps_are_one() -> None:
    forest = fitted(PrivateAdditiveTreeClassifier, epsilon=4.0)
    rows = Ledger.from_plain(forest.privacy).queries
    leaves = next(q for q in rows if q.name == "leaf counts")
    own = [q for q in rows if q.name != "columns"]
    own = [replace(q, asked=999, epsilon=q.epsilon + 3) if q is leaves else q for q in own]
    ledger = Ledger(queries=tuple(own), budget=Fraction(4))
    ledger = replace(ledger, budget=ledger.epsilon)
    source = replace(forest.source, parameters={})
    forged = replace(forest, privacy=ledger.to_plain(), source=source)
    assert forest.n_trees > 1
    assert unbounded_because(forged) is not None


@pytest.mark.parametrize(
    "name", ["height/weight", "share (%)", "income > 50K", "2021-03-01 to 2022-05-01", "cost [€]"]
)
def test_columns_of_everyday_names_have_points(name, tmp_path) -> None:
    X, y = people(300)
    schema = schema_for(DiffPID3Classifier)
    schema = replace(schema, features=(replace(schema.features[0], name=name),))
    model = DiffPID3Classifier(schema=schema, epsilon=1.0)
    model.fit(X[["age"]].rename(columns={"age": name}), y)
    report = ta.scan(ta.save(model.forest_, tmp_path / "m.json"), policy="private")
    assert report.verdict == "pass"


def test_rows_of_a_ledger_are_named_where_they_are_about_no_column(tmp_path) -> None:
    points = row("points of ann is ill, level 2", mechanism="exponential mechanism")
    forest = with_rows(fitted(DiffPID3Classifier), points)
    report = ta.scan(ta.save(forest, tmp_path / "m.json"), policy="private")
    status = {check.name: check.status for check in report.checks}
    assert status["max-extra-bytes"] == status["max-epsilon"] == "fail"
