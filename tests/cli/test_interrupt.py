"""A first Ctrl-C ends a search with what is certain so far, any other the program."""

import json
import signal
import time

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier

import treeaudit as ta
from tests.cli.run import run
from treeaudit.attacks.homogeneity import Homogeneity
from treeaudit.inference import exact, scope


@pytest.fixture(autouse=True)
def _as_in_a_terminal(monkeypatch):
    """Whoever starts the tests in the background has the signal ignored; a machine may be busy."""
    monkeypatch.setattr(scope, "_GRACE", 60.0)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def forest(tmp_path_factory):
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.integers(0, 3, (60, 4)), columns=list("abcd"))
    model = ExtraTreesClassifier(40, random_state=0).fit(x, rng.integers(0, 2, 60))
    path = tmp_path_factory.mktemp("forest") / "forest.pkl"
    joblib.dump(model, path)
    return path


def press(monkeypatch, times: int, after: int = 0) -> None:
    """Press Ctrl-C when more trees than that have been put together."""
    seen = [0]

    def interrupted(trees, layout):
        before, seen[0] = seen[0], seen[0] + len(trees)
        if before <= after < seen[0]:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
        return coded(trees, layout)

    coded = exact.coded
    monkeypatch.setattr(exact, "coded", interrupted)


def test_scan_and_reconstruct_keep_what_is_certain(forest, monkeypatch) -> None:
    press(monkeypatch, 1, after=30)
    done = run("scan", forest, "--seconds", "60", "--attack", "TA108", "--format", "json")
    assert (done.returncode, done.stderr) == (1, "")
    (found,) = json.loads(done.stdout)["findings"]
    assert found["details"]["stopped"] == "it was interrupted"
    assert found["people"] > 0
    press(monkeypatch, 1, after=30)
    done = run("reconstruct", forest, "--people", "--seconds", "60")
    assert done.returncode == 0
    assert "ended after it was interrupted" in " ".join(done.stdout.split())
    assert "0 of 60 people are certain" not in done.stdout


def test_what_other_attacks_found_is_kept_and_the_rest_not_run(forest, monkeypatch) -> None:
    press = staticmethod(lambda *_: signal.raise_signal(signal.SIGINT))
    monkeypatch.setattr(Homogeneity, "run", press)
    done = run("scan", forest, "--format", "json")
    assert (done.returncode, done.stderr) == (1, "")
    first, *others = json.loads(done.stdout)["findings"]
    assert (first["id"], first["status"]) == ("TA101", "found")
    assert {one["reason"] for one in others} == {"it was interrupted"}


def test_a_search_that_does_not_hear_ends_without_an_answer(forest, monkeypatch) -> None:
    def deaf(*_, **__) -> None:
        signal.raise_signal(signal.SIGINT)
        while True:
            time.sleep(0.01)

    monkeypatch.setattr(scope, "_GRACE", 0.05)
    monkeypatch.setattr(exact, "coded", deaf)
    done = run("reconstruct", forest, "--people")
    assert (done.returncode, done.stdout) == (2, "")
    assert "who is certain was not settled after it was interrupted" in done.stderr


@pytest.mark.parametrize("command", [["scan"], ["reconstruct", "--people"]])
def test_a_second_time_ends_the_program_in_a_sentence(forest, monkeypatch, command) -> None:
    press(monkeypatch, 2)
    done = run(*command, forest)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "treeaudit: interrupted: nothing was decided\n"


def test_beside_a_search_and_in_the_library_it_is_raised_as_ever(forest, monkeypatch) -> None:
    press(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        ta.scan(forest, attacks=["TA108"])
    monkeypatch.setattr(exact, "coded", None)
    monkeypatch.setattr(ta, "load", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    assert run("reconstruct", forest).returncode == 130
