"""Persons per leaf, against plain pandas and against draws that are known."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.people.records import read_records
from treeaudit.table.persons import at_most, in_persons
from treeaudit.table.reconstruction import measure

INF = np.inf
STUMP = ta.Tree(
    parent=[-1, 0, 0],
    feature=[-1, 0, 0],
    low=[-INF, -INF, 15],
    high=[INF, 15, INF],
    n_records=[10, 4, 6],
    counts=[[6, 4], [2, 2], [4, 2]],
)
FOREST = ta.Forest(trees=(STUMP,), schema=ta.Schema.numeric(["age"], ["no", "yes"]))
AGE = [10] * 4 + [20] * 6
WHO = ["ann", "ann", "bob", "bob", "cy", "cy", "cy", "dee", "dee", "eve"]
SAYS = ["no", "yes", "no", "yes", "no", "no", "no", "no", "yes", "yes"]


def table_of(model, people, persons):
    forest = ta.load(model)
    records = read_records(people, forest)
    groups = measure(forest).groups
    return groups, in_persons(groups, records.node, np.asarray(persons), records.labels), records


def test_ten_visits_of_five_patients() -> None:
    """Left: ann and bob, both with both labels. Right: cy only no, dee both, eve only yes."""
    groups, table, _ = table_of(FOREST, ([[a] for a in AGE], SAYS), pd.factorize(np.array(WHO))[0])
    assert groups.size.tolist() == [4, 6]
    assert table.size.tolist() == [2, 3]
    assert table.n_people == 5
    assert table.n_records == 10
    # Nobody on the left has one label only; on the right whoever knows two knows the third.
    assert table.labels.majority.tolist() == [0, 1]
    assert table.labels.fewest.tolist() == [2, 2]
    # Records say 4 of 6; spread over their records, 1 + 1/2 of 3 persons say no.
    assert table.labels.share.tolist() == [0.5, 4 / 6]
    assert table.labels.distinct.tolist() == [2, 2]


@st.composite
def visits(draw):
    seed, n, persons, classes = (
        draw(st.integers(a, b)) for a, b in ((0, 2**20), (12, 80), (1, 30), (2, 4))
    )
    rng = np.random.default_rng(seed)
    x, who = rng.integers(0, 6, (n, 3)).astype(float), rng.integers(0, persons, n)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return x, y, who, draw(st.integers(1, 8)), seed


@settings(max_examples=60, deadline=None)
@given(visits())
def test_persons_are_those_of_a_groupby(given) -> None:
    x, y, who, leaf, seed = given
    model = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=seed).fit(x, y)
    groups, table, records = table_of(model, (x, y), who)
    rows = pd.DataFrame({"leaf": records.node[:, 0], "who": who, "y": y})
    seen = rows.groupby("leaf").who.nunique()
    assert table.size.tolist() == seen.loc[table.leaf].tolist()
    labels = rows.groupby(["leaf", "who"]).y.agg(["nunique", "first"]).reset_index()
    only = labels[labels["nunique"] == 1].groupby(["leaf", "first"]).size().groupby("leaf").max()
    assert table.labels.majority.tolist() == only.reindex(table.leaf).fillna(0).tolist()
    fewest = rows.groupby(["leaf", "y"]).who.nunique().groupby("leaf").min()
    assert table.labels.fewest.tolist() == fewest.loc[table.leaf].tolist()
    # Never milder than in records.
    assert (table.size <= groups.size).all()
    assert (table.labels.share >= groups.labels.share).all()
    mine, theirs = table.labels.trees[0], groups.labels.trees[0]
    assert mine.entropy_l <= theirs.entropy_l
    assert mine.t_closeness >= theirs.t_closeness
    assert (table.labels.distinct == groups.labels.distinct).all()


@settings(max_examples=30, deadline=None)
@given(visits())
def test_a_draw_holds_no_fewer_persons_than_are_told(given) -> None:
    x, y, who, leaf, seed = given
    model = RandomForestClassifier(3, min_samples_leaf=leaf, random_state=seed).fit(x, y)
    _, table, records = table_of(model, (x, y), who)
    for tree, drawn in enumerate(model.estimators_samples_):
        drawn = np.unique(drawn)
        rows = pd.DataFrame({"leaf": records.node[drawn, tree], "who": who[drawn], "y": y[drawn]})
        mine = table.rows_of(tree)
        seen = rows.groupby("leaf").who.nunique().loc[table.leaf[mine]].to_numpy()
        assert (table.size[mine] <= seen).all()
        assert (table.size[mine] >= 1).all()
        labels = rows.groupby(["leaf", "who"]).y.agg(["nunique", "first"]).reset_index()
        one = labels[labels["nunique"] == 1].groupby(["leaf", "first"]).size()
        only = one.groupby("leaf").max().reindex(table.leaf[mine]).fillna(0).to_numpy()
        needed = table.size[mine] - table.labels.majority[mine]
        told = ~np.isnan(needed)
        assert (needed[told] <= (seen - only)[told]).all()


@settings(max_examples=30, deadline=None)
@given(visits())
def test_a_bound_holds_whoever_they_are(given) -> None:
    x, y, who, leaf, seed = given
    model = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=seed).fit(x, y)
    groups, table, _ = table_of(model, (x, y), who)
    bound = at_most(groups, int(np.bincount(who).max()))
    assert (bound.size <= table.size).all()
    needed = table.size - table.labels.majority
    assert (bound.size - bound.labels.majority <= needed).all()
