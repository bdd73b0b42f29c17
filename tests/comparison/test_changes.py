"""What changed between two reports, in every form."""

import copy
import json

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

import treeaudit as ta
from tests.cli.run import run
from treeaudit.comparison.changes import changes
from treeaudit.reports.changes import to_html, to_markdown, to_text


@pytest.fixture
def old(figure_3):
    return json.loads(json.dumps(ta.scan(figure_3).to_dict()))


def ways(before, after):
    return {row.id: row.way for row in changes(before, after).rows if row.way != "same"}


def changed(old, of, name, **values):
    new = copy.deepcopy(old)
    row = next(one for one in new[of] if one["id" if of == "findings" else "name"] == name)
    row.update(values)
    return new


@pytest.mark.parametrize(
    ("of", "name", "values", "way", "back"),
    [
        ("checks", "min-leaf", {"measured": 3}, "better", "worse"),
        ("checks", "max-certain-share", {"measured": 1.0}, "worse", "better"),
        ("checks", "min-leaf", {"measured": None, "status": "skipped"}, "unknown", "new"),
        ("findings", "TA101", {"people": 100_000}, "worse", "better"),
        ("findings", "TA101", {"severity": "low", "people": 100_000}, "better", "worse"),
        ("findings", "TA101", {"severity": "none", "status": "clear"}, "gone", "new"),
        ("findings", "TA101", {"severity": "none", "status": "skipped"}, "unknown", "new"),
    ],
)
def test_which_way(old, of, name, values, way, back) -> None:
    new = changed(old, of, name, **values)
    assert ways(old, new) == {name: way}
    assert ways(new, old) == {name: back}
    codes = {"worse": 1, "new": 1, "unknown": 3, "better": 0, "gone": 0}
    assert (changes(old, new).exit_code, changes(new, old).exit_code) == (codes[way], codes[back])


def test_a_verdict_that_became_a_pass_exits_with_0(old) -> None:
    new = changed(old, "checks", "max-certain-share", measured=1.0) | {"verdict": "pass"}
    assert changes(old, new).exit_code == 0
    assert changes(new, old).exit_code == 1


def test_nothing_found_got_better_where_its_check_got_worse(old) -> None:
    """A forest tells of one tree, its check of all: fewer people there are not fewer."""
    new = changed(old, "findings", "TA102", people=1)
    new = changed(new, "checks", "max-certain-share", measured=1.0)
    assert ways(old, new) == {"TA102": "changed", "max-certain-share": "worse"}


def test_texts_of_a_report_steer_nothing(old) -> None:
    new = changed(old, "findings", "TA101", people=9, title="<b>|x|</b>\x1b[31m")
    found = changes(old, new)
    assert "<b>" not in to_html(found)
    assert "<b>" not in to_markdown(found)
    assert "|x|" not in to_markdown(found)
    assert all("\x1b" not in form(found) for form in (to_text, to_markdown))


def test_from_the_command_line(cancer_file, tmp_path) -> None:
    safer, old, new = (tmp_path / name for name in ("safer.pkl", "old.json", "new.json"))
    assert run("defend", cancer_file, "-o", safer).returncode == 0
    assert run("scan", cancer_file, "-q", "-o", old).returncode == 1
    assert run("scan", safer, "-q", "-o", new).returncode == 0
    outputs = [tmp_path / f"changes.{form}" for form in ("html", "json", "md", "txt")]
    done = run("diff", old, new, *(f"-o{path}" for path in outputs), "--exit-zero")
    assert (done.returncode, done.stderr) == (0, "")
    assert "verdict  FAIL → PASS by policy default" in done.stdout
    assert "better: People alone in a leaf:" in done.stdout
    told = json.loads(outputs[1].read_text())
    assert json.loads(run("diff", old, new, "--format", "json").stdout) == told
    assert {"of": "verdict", "old": "FAIL", "new": "PASS"}.items() <= told["changes"][0].items()
    for path in outputs:
        assert "PASS" in path.read_text()
    assert run("diff", new, old).returncode == 1
    done = run("diff", old, cancer_file)
    assert done.returncode == 2
    assert "is a report and" in done.stderr


@pytest.mark.parametrize("key", ["model", "findings", "checks", "policy", "verdict", "people"])
def test_reports_that_are_not_whole(old, tmp_path, key) -> None:
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    paths[0].write_text(json.dumps(old))
    for part in (None, 3, [], [3]):
        paths[1].write_text(json.dumps(old | {key: part}))
        done = run("diff", *paths)
        if part != [] and key != "people":
            assert done.returncode == 2, (key, part)
            assert "internal error" not in done.stderr


def plain(report):
    return json.loads(json.dumps(report.to_dict()))


def test_numbers_that_rest_on_other_things_are_not_as_before() -> None:
    x = np.repeat(np.arange(10.0), 20)[:, None]
    y = 100 * (x[:, 0] + 1) + np.random.default_rng(0).normal(0, 0.5, 200)
    model = DecisionTreeRegressor(min_samples_leaf=20).fit(x, y)
    old, new = plain(ta.scan(model, tolerance=50)), plain(ta.scan(model))
    found = changes(old, new)
    assert ways(old, new) == dict.fromkeys(
        [
            *("max-nearly-certain-share", "max-known-number-share", "max-dominating-people"),
            "TA109",
        ],
        "changed",
    )
    unlike = ("max-nearly-certain-share", "max-known-number-share")
    assert (found.exit_code, found.unlike) == (3, unlike)
    assert (
        "'People whose number is known within the tolerance' and 'People whose "
        "number is nine tenths of the total of a leaf', as --tolerance was 50 and is not given."
    ) in to_text(found)
    assert (ways(old, old), changes(old, old).exit_code) == ({}, 0)
