"""What Python hands out: short texts, frames, numbers as bounds, pictures; and mistakes named."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.trainers.people import SCHEMA, people


@pytest.fixture(scope="module")
def model():
    return DecisionTreeClassifier(max_depth=3, random_state=0).fit(
        *load_iris(return_X_y=True, as_frame=True)
    )


@pytest.fixture(scope="module")
def report(model):
    return ta.scan(model)


def test_texts_are_short(model, report, figure_3) -> None:
    many = ta.scan(RandomForestClassifier(20, random_state=0).fit(*load_iris(return_X_y=True)))
    for shown in (
        report, many, report["TA101"], many.results[5], ta.load(model), figure_3,
        ta.reconstruct(model), ta.compare(*[model] * 12), many.forest, many.table,
        ta.release(model),
    ):  # fmt: skip
        text = repr(shown)
        assert 1 <= len(text.splitlines()) <= 20, text
        assert all(len(line) <= 400 for line in text.splitlines())
        assert "array(" not in text
    assert "FAIL" in repr(report)
    assert "TA101 Singling out: " in repr(report)


def test_notebooks_get_html(model, report) -> None:
    hostile = ta.Schema.numeric(["<b>"], ["<i>", "yes"])
    tree = ta.Tree(parent=[-1], feature=[-1], low=[0], high=[0], n_records=[3], counts=[[1, 2]])
    forest = ta.Forest(trees=(tree,), schema=hostile)
    for shown in (
        forest, ta.reconstruct(forest), ta.scan(forest)["TA101"], report, ta.compare(model),
    ):  # fmt: skip
        page = shown._repr_html_()
        assert "<i>" not in page
        assert "<b></b>" not in page


def test_reports_are_frames_and_json(report) -> None:
    frame = report.to_frame()
    assert frame["id"].tolist() == [one.id for one in report] == [one.id for one in report.results]
    assert frame.set_index("id").loc["TA101", "people"] == report["TA101"].people
    checks = report.to_frame("checks").set_index("name")
    assert checks.loc["min-leaf", "status"] == "fail"
    assert len(report) == len(frame)
    assert json.loads(report.to_json()) == json.loads(json.dumps(report.to_dict()))
    assert "<" not in repr(report)


def test_numbers_of_the_table_are_bounds(model) -> None:
    x, _ = load_iris(return_X_y=True, as_frame=True)
    table = ta.reconstruct(model)
    texts, frame = table.to_frame(words=True), table.to_frame()
    asked = [name for name in x.columns if f"{name}_low" in frame]
    assert asked
    for (_, row), (_, told) in zip(frame.iterrows(), texts.iterrows(), strict=True):
        inside = np.ones(len(x), bool)
        for name in asked:
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            inside &= (x[name] > low) & (x[name] <= high)
            assert (told[name] == "*") == (np.isinf(low) and np.isinf(high))
        assert inside.sum() == row["people"] == told["people"]
    highs = frame[[f"{name}_high" for name in asked if name.startswith("petal")]]
    assert frame["people"][(highs < 3).any(axis=1) & (frame["people"] == 50)].sum() == 50
    some = table.to_frame([2, 0])
    assert some["leaf"].tolist() == frame["leaf"].iloc[[2, 0]].tolist()


def test_categories_of_the_table_are_words() -> None:
    frame, y = people(200)
    private = ta.train(frame.assign(ill=y), epsilon=5, schema=SCHEMA)
    table = ta.reconstruct(private).to_frame()
    for feature in SCHEMA.features:
        if feature.categories is not None:
            assert f"{feature.name}_low" not in table


def test_training_from_a_file(tmp_path) -> None:
    frame, y = people(200)
    path = tmp_path / "people.csv"
    frame.assign(ill=y).to_csv(path, index=False)
    assert ta.train(path, epsilon=1, schema=SCHEMA).privacy_.epsilon == 1
    with pytest.raises(ta.DataError, match=r"did you mean 'ill'\?"):
        ta.train(path, epsilon=1, schema=SCHEMA, target="il")


def test_a_picture_in_the_manner_of_scikit_learn(report) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    shown = ta.RiskDisplay.from_report(report)
    assert shown.figure_ is shown.ax_.figure
    heights = [bar.get_height() for bar in shown.ax_.patches]
    assert heights == list(shown.people)
    assert sum(heights) == 150
    _, ax = plt.subplots()
    again = ta.RiskDisplay.from_report(report, ax=ax, color="black")
    assert again.ax_ is ax
    assert again.plot().ax_ is not ax
    plt.close("all")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"attacks": "TA101"}, r"attacks takes a list of texts, such as \['TA101'\]"),
        ({"attacks": [101]}, "attacks takes a list of texts"),
        ({"attacks": ["TA999"]}, "there is no attack TA999; known: TA101"),
        ({"sensitive": "race"}, r"sensitive takes a list of texts, such as \['race'\]"),
        ({"sensitive": 3}, "sensitive takes a list of texts"),
        ({"policy": {"min-leaf": 10}}, r"treeaudit.Policy\(name='mine', values=\{'min-leaf': 10"),
        ({"policy": 3}, "policy is 3: it takes a name such as 'strict'"),
        ({"policy": None}, "policy is None: it takes a name"),
        ({"policy": "strickt"}, r"did you mean strict\?"),
        ({"train": (1, 2)}, "train is a tuple that is no table: give a path, a DataFrame"),
        ({"test": (1, 2)}, "test is a tuple that is no table"),
        ({"test": 7}, "test is a int that is no table|test .*"),
        ({"target": 5}, "target is 5: it takes the name of a column"),
        ({"seed": "1"}, "seed is '1': it takes a whole number"),
        ({"seed": True}, "seed is True: it takes a whole number"),
        ({"seconds": "long"}, "seconds is 'long': it takes a number of seconds"),
        ({"fraction": "half"}, "fraction is 'half': it takes a number above 0"),
        ({"tolerance": "1 %"}, "tolerance is '1 %': it takes a number"),
        ({"rows_per_person": 1.5}, "rows_per_person is 1.5: it takes a whole number"),
        ({"person": 3}, "person is 3: it takes the name of a column"),
        ({"baseline": 3}, "baseline is 3: it takes the path of an accepted report"),
        ({"model_name": 3}, "model_name is 3: it takes a text"),
        ({"model_name": " "}, "the model name is empty: name what stays the same"),
        ({"seed": -1}, "seed is -1: it takes a whole number of at least 0"),
        ({"seconds": -1}, "seconds is -1: it takes a number of seconds of at least 0"),
        ({"seconds": float("nan")}, "seconds is nan: it takes a number of seconds"),
        ({"baseline": ta.Schema.numeric(["a"] * 40)}, "it takes the path of an accepted report"),
        ({"attacks": ["TA101, TA102"]}, "there is no attack TA101, TA102: name each on its own"),
    ],
)
def test_mistakes_are_named(model, asked, says) -> None:
    with pytest.raises(ta.TreeauditError, match=says) as told:
        ta.scan(model, **asked)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("wrong", [123, 1.5, None, True, b"x", pd.DataFrame(), "nope.pkl"])
def test_what_is_no_model(wrong) -> None:
    with pytest.raises(ta.TreeauditError) as told:
        ta.scan(wrong)
    assert "\n" not in str(told.value)
    if not isinstance(wrong, pd.DataFrame | str):
        assert "is no model: give the path of a file, a fitted estimator" in str(told.value)


def test_mistakes_elsewhere(model, report, tmp_path) -> None:
    for call, says in (
        (lambda: ta.defend(model, min_leaf="5"), "it must be a whole number"),
        (lambda: ta.compare(model, names="ab"), "names takes a list of texts"),
        (lambda: ta.compare(model, attacks="TA101"), "attacks takes a list of texts"),
        (lambda: report.save(tmp_path / "x.doc"), "can be written as"),
        (lambda: ta.compare(), "nothing to compare"),
        (lambda: ta.save("tree.pkl", tmp_path / "x.pkl"), "a str is not what is saved"),
        (lambda: ta.scan([ta.load(model)] * 2), "a list is no model: give one path"),
        (lambda: ta.defend(report), "a Report is no model: give one path"),
        (lambda: ta.RiskDisplay.from_report(model), "is no report: treeaudit.scan gives one"),
    ):
        with pytest.raises(ta.TreeauditError, match=says):
            call()


def test_an_attack_that_was_not_asked_for_is_told_with_those_that_were(report) -> None:
    with pytest.raises(KeyError, match="ta101 was not run; asked for: TA101, TA102"):
        report["ta101"]
