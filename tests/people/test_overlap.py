"""A control that holds people of the training data must not make memory look like a fact."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.errors import DataError
from treeaudit.people.checks.overlap import without_members
from treeaudit.people.records import read_records


def drawn(n, seed, kind):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    if kind == "coarse":
        x = np.round(x * 2)
    elif kind == "very coarse":
        x = np.round(x)
    y = (x[:, 0] + rng.normal(0, 1, n) > 0).astype(int)
    return pd.DataFrame(x, columns=list("abcd")).assign(y=y)


@pytest.fixture(scope="module", params=["fine", "coarse", "very coarse"])
def trained(request):
    train = drawn(3_000, 0, request.param)
    model = RandomForestClassifier(10, random_state=0).fit(train[list("abcd")], train.y)
    return request.param, train, drawn(3_000, 1, request.param), model


def area(model, train, test):
    report = ta.scan(model, train=train, test=test, target="y", repeats="people", attacks=["TA105"])
    return report["TA105"].details.auc, report.warnings


@pytest.mark.sampled(2)
@pytest.mark.parametrize("share", [0.02, 0.1])
def test_members_in_the_control_do_not_move_the_area(trained, share) -> None:
    kind, train, test, model = trained
    honest, _ = area(model, train, test)
    n = int(share * len(test))
    mixed = pd.concat([test[n:], train.sample(n, random_state=3)]).sample(frac=1, random_state=4)
    found, warnings = area(model, train, mixed)
    assert found == pytest.approx(honest, abs=0.015)
    said = next(warning for warning in warnings if "stand in" in warning)
    if kind == "fine":
        assert f"{n:,} of the 3,000 rows of test ({share:.1%}) stand in train too (rows" in said
        assert said.endswith("were left out of the control")
    if (kind, share) == ("coarse", 0.1):
        assert "more than are expected by chance" in said


@pytest.mark.parametrize(
    ("kind", "share", "warned"),
    [("fine", 0.3, False), ("coarse", 0.3, True), ("very coarse", 0.1, True)],
)
def test_members_that_nothing_tells_from_others_are_said_to_be_left(kind, share, warned) -> None:
    """In coarse tables half of the shift of the area stayed, or all of it, without a word."""
    for seed in range(5):
        train, test = drawn(3_000, 100 + seed, kind), drawn(3_000, 200 + seed, kind)
        n = int(share * len(test))
        who = train.sample(n, random_state=seed)
        mixed = pd.concat([test[n:].assign(member=0), who.assign(member=1)])
        model = DecisionTreeClassifier(max_depth=2).fit(train[list("abcd")], train.y)
        sides = [
            read_records(one, ta.load(model), target="y", origin=name)
            for one, name in ((train, "train"), (mixed, "test"))
        ]
        kept, said = without_members(*sides, seed)
        told = re.findall(r"up to about ([\d,]+) of the ([\d,]+) rows of test", " ".join(said))
        assert bool(told) == warned, said
        if warned:
            most, rows = (int(one.replace(",", "")) for one in told[0])
            assert rows == len(kept)
            assert kept.frame["member"].sum() <= most


def test_rows_that_are_alike_by_chance_are_kept_and_told(trained) -> None:
    kind, train, test, model = trained
    forest = ta.load(model)
    people = [read_records(one, forest, target="y", origin=o)
              for one, o in ((train, "train"), (test, "test"))]  # fmt: skip
    kept, said = without_members(*people)
    if kind == "fine":
        assert (len(kept), said) == (3_000, [])
        return
    assert len(kept) == 3_000
    sentence, left = said
    assert "no more than chance may make of such rows: they were kept" in sentence
    assert "not all members are found" in left


def test_the_training_data_are_refused() -> None:
    train, test = drawn(500, 5, "fine"), drawn(500, 6, "fine")
    model = RandomForestClassifier(3, random_state=0).fit(train[list("abcd")], train.y)
    forest = ta.load(model)
    with pytest.raises(DataError, match="people who were not in the training data"):
        without_members(
            read_records(train, forest, target="y"),
            read_records(pd.concat([train[:300], test[:200]]), forest, target="y"),
        )
