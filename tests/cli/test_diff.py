"""treeaudit diff: whose records two releases give away beside each other."""

import json

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import treeaudit as ta
from tests.cli.run import run
from treeaudit.reports.difference import to_html, to_markdown

COLUMNS = [f"asks_{i}" for i in range(8)]


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """Return 300 people who answered eight questions with yes or no."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.integers(0, 2, (300, 8)), columns=COLUMNS)
    return table.assign(ill=rng.integers(0, 2, 300))


@pytest.fixture(scope="module")
def released(people, tmp_path_factory):
    """Return what trains a model on some of the people and writes it."""
    folder = tmp_path_factory.mktemp("releases")

    def write(name: str, rows, **settings) -> object:
        settings = {"bootstrap": False, "random_state": 1, "n_estimators": 30} | settings
        mine = people.iloc[rows]
        model = RandomForestClassifier(**settings).fit(mine[COLUMNS], mine.ill)
        joblib.dump(model, folder / name)
        return folder / name

    return write


def test_five_people_gone_are_named(people, released, tmp_path) -> None:
    old, new = released("old.pkl", slice(0, 300)), released("new.pkl", slice(5, 300))
    rows, report = tmp_path / "people.csv", tmp_path / "report.json"
    done = run("diff", old, new, "-o", rows, "-o", report)
    assert done.returncode == 1
    assert "NAMED  5 people who moved, for certain, whoever else did:" in done.stdout
    assert done.stdout.count("  left  ") == 5
    named = pd.read_csv(rows)
    assert named.moved.tolist() == ["left"] * 5
    assert named.certain.tolist() == ["certain"] * 5
    gone = people.head(5).rename(columns={"ill": "label"})[[*COLUMNS, "label"]]
    assert sorted(gone.to_numpy().tolist()) == sorted(named[gone.columns].to_numpy().tolist())
    data = json.loads(report.read_text())
    assert data["certain"]["left"] == {"people": 5, "named": 5, "exact": 5}
    assert data["certain"]["came"]["people"] == 0
    assert data["gives_away"] is True
    assert data["old"]["sha256"] == ta.load(old).source.sha256
    printed = run("diff", old, new, "--format", "json")
    assert json.loads(printed.stdout) == data
    assert "came" in run("diff", new, old, "--exit-zero").stdout


def test_a_page_shows_hostile_names_as_text(people) -> None:
    names = [f"<script>alert({i})</script>|`" for i in range(8)]
    table = people[COLUMNS].set_axis(names, axis=1)
    old, new = (
        RandomForestClassifier(30, bootstrap=False, random_state=1).fit(table[n:], people.ill[n:])
        for n in (0, 5)
    )
    found = ta.difference(old, new)
    assert found.certain == 5
    assert "<script" not in to_html(found).lower()
    assert "&lt;script&gt;" in to_html(found)
    assert "<script" not in to_markdown(found)


def test_the_erasure_publishes_the_record(people, released) -> None:
    """Groups of ten do not protect whoever is erased: leaves that stay differ by nobody else."""
    old = released("k10.pkl", slice(0, 300), min_samples_leaf=10)
    new = released("k10_after.pkl", [*range(17), *range(18, 300)], min_samples_leaf=10)
    found = ta.difference(old, new, seconds=3)
    assert found.certain == 0
    assert found.if_nobody_else_moved == 1
    [row] = found.people.to_dict("records")
    assert row["certain"] == "if nobody else moved"
    mine = people.iloc[17]
    assert all(row[name] in (str(mine[name]), "*") for name in COLUMNS)
    assert row["label"] == str(mine.ill)
    assert found.told == (("left", 1, f"label = {mine.ill}"),)
    assert found.gives_away
    assert "to know who left is to know the label" in str(found)
    assert found._repr_html_().startswith("<iframe")


def test_what_cannot_be_held_against_each_other(released, tmp_path) -> None:
    one = released("two.pkl", slice(0, 300), n_estimators=1)
    drawn = released("drawn.pkl", slice(0, 300), bootstrap=True)
    done = run("diff", one, drawn)
    assert done.returncode == 2
    assert "drawn.pkl cannot be held against another release: its trees were trained on draws" in (
        done.stderr
    )
    assert run("diff", one, one, "-o", tmp_path / "page.pdf").returncode == 2
    assert run("diff", one, one, "-o", one, "--force").returncode == 2
