"""The terminal report: golden files, and hostile names."""

import io

import numpy as np
import pytest
from rich.console import Console
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from tests.ledgers import ledger_of
from tests.reports.test_html import small_and_large
from treeaudit.model.source import KINDS, Extras
from treeaudit.reports.formats import to_text
from treeaudit.reports.terminal import print_report


def stable(text: str) -> str:
    """Leave out what another version of a library changes."""
    import sklearn

    return text.replace(sklearn.__version__, "X.Y.Z").replace(ta.__version__, "V")


def test_the_papers_tree(figure_3, golden) -> None:
    golden("figure3_scan.txt", stable(to_text(ta.scan(figure_3))))


def test_a_narrow_and_a_wide_terminal(figure_3, golden) -> None:
    golden("figure3_scan_50.txt", stable(to_text(ta.scan(figure_3), 50)))
    golden("figure3_scan_160.txt", stable(to_text(ta.scan(figure_3), 160, verbose=True)))


def test_claims_beside_unseen_people(golden) -> None:
    model, train, test = small_and_large()
    report = ta.scan(model, train=train, test=test)
    golden("control_scan.txt", stable(to_text(report)))
    golden("control_scan_50.txt", stable(to_text(report, 50)))
    told = to_text(report, 160, verbose=True)
    for finding in report.findings:
        for control in finding.controls:
            assert " ".join(control.sentence.split()) in " ".join(told.split())


def test_a_regressor_of_large_leaves(golden) -> None:
    x = np.arange(40, dtype=float)[:, None]
    model = DecisionTreeRegressor(min_samples_leaf=10, random_state=0).fit(x, x[:, 0] // 10)
    golden("regressor_scan.txt", stable(to_text(ta.scan(model))))


def test_a_forest(golden, figure_3) -> None:
    twice = ta.Forest(trees=figure_3.trees * 2, schema=figure_3.schema)
    golden("forest_scan.txt", stable(to_text(ta.scan(twice))))


@pytest.mark.parametrize(
    "name", ["\x1b[31mred", "a\nb", "\u202etxt", "[bold]x[/bold]", "x" * 5000, "\ud800"]
)
def test_names_from_the_file_cannot_steer_the_terminal(figure_3, name) -> None:
    schema = ta.Schema.numeric([name, "w", "a"], ["\x1b]0;title\x07", "no"], target="t")
    report = ta.scan(ta.Forest(trees=figure_3.trees, schema=schema))
    buffer = io.StringIO()
    print_report(report, Console(file=buffer, width=80, no_color=True, emoji=False))
    text = buffer.getvalue()
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    text.encode("utf-8")
    if name.startswith("[bold]"):
        assert name in text


def test_colours_only_where_somebody_sees_them(figure_3) -> None:
    report = ta.scan(figure_3)
    for colour in (True, False):
        buffer = io.StringIO()
        print_report(
            report,
            Console(
                file=buffer,
                force_terminal=colour,
                width=80,
                color_system="standard",
                legacy_windows=False,
            )
            if colour
            else Console(file=buffer, width=80),
        )
        assert ("\x1b[" in buffer.getvalue()) == colour


def test_a_private_model_is_held_against_its_epsilon() -> None:
    leaf = ta.Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf], label=[0])
    schema = ta.Schema.numeric(1, ["no", "yes"])
    model = ta.Forest(
        trees=(leaf,),
        schema=schema,
        counts_are="label-only",
        privacy=ledger_of(0.5),
        extras=Extras(looked_for=KINDS),
    )
    text = " ".join(str(ta.scan(model)).split())
    assert "REVIEW" in text
    assert "--policy private was tried and passes" in text
    assert "its epsilon of 0.5 bounds what it tells of anybody" in text
    assert ta.scan(model, policy="private").verdict == "pass"


def test_every_next_step_can_turn_the_verdict() -> None:
    """Unseen people tell what is a fact of everybody, and no check passes for that."""
    x, y = np.arange(200.0)[:, None], np.arange(200) // 100
    model = DecisionTreeClassifier().fit(x[::2], y[::2])
    text = " ".join(
        to_text(ta.scan(model, train=(x[::2], y[::2]), test=(x[1::2], y[1::2]))).split()
    )
    assert "or show with unseen people" not in text
    assert "accept by name (treeaudit accept)" in text
