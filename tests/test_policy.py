"""Policies: thresholds, files, verdicts."""

import pytest

import treeaudit as ta
from treeaudit.policy import BUILT_IN, judge, read_policy

FOUND = ta.Finding(
    id="TA101",
    title="Singling out",
    severity="high",
    leaves=2,
    people=3,
    summary="x.",
    details={"min_leaf": 1, "unique_people": 1, "below_k_people": 3},
)
CLEAR = ta.Finding(
    id="TA102",
    title="Homogeneity",
    severity="none",
    leaves=0,
    people=0,
    summary="x.",
    details={"certain_share": 0.0},
)
MISSING = ta.Skipped(id="TA102", title="Homogeneity", reason="no classes")


def verdict_of(values, results, forest) -> str:
    return judge(ta.Policy(name="mine", values=values), results, forest)[1]


@pytest.mark.parametrize(
    ("values", "results", "verdict"),
    [
        ({"min-leaf": 5}, [FOUND], "fail"),
        ({"min-leaf": 1}, [FOUND], "pass"),
        ({"max-unique-people": 1}, [FOUND], "pass"),
        ({"max-unique-people": 0}, [FOUND], "fail"),
        ({"max-small-leaf-people": 2}, [FOUND], "fail"),
        ({"max-certain-share": 0.0}, [CLEAR], "pass"),
        ({"max-certain-share": 0.0}, [MISSING], "review"),
        ({"max-certain-share": 0.0}, [], "review"),
        ({"max-certain-share": 0.0, "min-leaf": 5}, [FOUND, MISSING], "fail"),
        ({"max-epsilon": 1.0}, [], "fail"),
        ({}, [FOUND], "pass"),
    ],
)
def test_verdicts(figure_3, values, results, verdict) -> None:
    assert verdict_of(values, results, figure_3) == verdict


def test_a_model_that_claims_epsilon(figure_3) -> None:
    import dataclasses

    private = dataclasses.replace(figure_3, privacy={"epsilon": 0.5})
    assert verdict_of({"max-epsilon": 1.0}, [], private) == "pass"
    assert verdict_of({"max-epsilon": 0.1}, [], private) == "fail"


def test_a_skipped_check_says_why(figure_3) -> None:
    checks, _ = judge(BUILT_IN["default"], [FOUND, MISSING], figure_3)
    assert [(c.name, c.status) for c in checks] == [
        ("min-leaf", "fail"),
        ("max-unique-people", "fail"),
        ("max-certain-share", "skipped"),
    ]
    assert checks[2].reason == "no classes"
    assert checks[2].measured is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"min_leaf": 5}, "did you mean min-leaf"),
        ({"colour": 5}, "known: min-leaf"),
        ({"min-leaf": "5"}, "must be a number"),
        ({"min-leaf": True}, "must be a number"),
        ({"min-leaf": -1}, "at least 0"),
        ({"min-leaf": float("nan")}, "must be a number"),
        ({"max-certain-share": 5}, "share between 0 and 1"),
    ],
)
def test_policies_that_are_not_well_formed(values, message) -> None:
    with pytest.raises(ta.PolicyError, match=message):
        ta.Policy(name="mine", values=values)


def test_built_in_policies() -> None:
    assert BUILT_IN["default"].k == 5
    assert BUILT_IN["strict"].k == 10
    assert BUILT_IN["observe"].values == {}


def test_the_hash_is_of_the_thresholds_not_of_the_name_or_the_order() -> None:
    one = ta.Policy(name="a", values={"min-leaf": 5, "max-unique-people": 0})
    two = ta.Policy(name="b", values={"max-unique-people": 0.0, "min-leaf": 5.0})
    three = ta.Policy(name="a", values={"min-leaf": 6, "max-unique-people": 0})
    assert one.sha256 == two.sha256 != three.sha256


def test_policies_from_files(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.treeaudit.policies.release]\nmin-leaf = 7\n")
    assert read_policy("release").values == {"min-leaf": 7}
    (tmp_path / "tre.toml").write_text("[policies.tre]\nmin-leaf = 10\nmax-epsilon = 1.0\n")
    assert read_policy("tre.toml").name == "tre"
    assert read_policy("tre", tmp_path / "tre.toml").k == 10


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "releas", "no policy"),
        ("[tool.treeaudit.policies.release]\nmin-leaf = 7\n", "relase", "did you mean release"),
        ("[[[", "release", "cannot be read as TOML"),
        ("tool = 3\n", "release", "no policy"),
        ("[tool.treeaudit.policies]\nrelease = 3\n", "release", "not a table"),
    ],
)
def test_files_that_do_not_help(tmp_path, monkeypatch, text, name, message) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(ta.PolicyError, match=message):
        read_policy(name)


def test_a_file_with_two_policies_or_none(tmp_path) -> None:
    path = tmp_path / "two.toml"
    path.write_text("[policies.a]\nmin-leaf = 1\n[policies.b]\nmin-leaf = 2\n")
    with pytest.raises(ta.PolicyError, match=r"defines 2 policies \(a, b\)"):
        read_policy(str(path))
    with pytest.raises(ta.PolicyError, match="no file"):
        read_policy(str(tmp_path / "nowhere.toml"))
