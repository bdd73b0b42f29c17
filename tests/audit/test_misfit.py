"""People who do not fit one of several models of a file end no audit of the others."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from tests.cli.run import run

RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame({"age": RNG.integers(18, 90, 300), "pay": RNG.integers(10, 99, 300)})
PEOPLE["ill"] = (PEOPLE.age + RNG.integers(0, 60, 300) > 90).astype(int)


def tree(of=PEOPLE, **given):
    made = DecisionTreeClassifier(max_depth=1, random_state=0, **given)
    return made.fit(of[["age", "pay"]], of.ill)


@pytest.fixture
def folder(tmp_path):
    main, other = tree(), tree(PEOPLE[100:])
    main.beside_ = other
    (tmp_path / "two.pkl").write_bytes(pickle.dumps(main))
    other.beside_ = tree()
    (tmp_path / "turned.pkl").write_bytes(pickle.dumps(other))
    PEOPLE.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path


def test_the_other_model_is_judged_alone_and_never_passes(folder) -> None:
    done = run("scan", "two.pkl", "--train", "t.csv", "-o", "r.json", cwd=folder)
    assert not done.stderr
    assert done.returncode in (1, 3)
    told = " ".join(done.stdout.split())
    assert (
        "the people do not fit this model: t.csv is not the training data: it has 300 rows" in told
    )
    first, second = pd.read_json(folder / "r.json", typ="series")["reports"]
    assert first["people"]["train"]["records"] == 300
    assert second["people"] == {}
    assert second["verdict"] != "pass"
    (held,) = [check for check in second["checks"] if check["name"] == "people-given"]
    assert held["status"] == "skipped"
    assert "people-given" not in [check["name"] for check in first["checks"]]
    assert run("verify", "r.json", "two.pkl", "--train", "t.csv", cwd=folder).returncode == 0


def test_people_who_do_not_fit_the_first_model_are_refused(folder) -> None:
    done = run("scan", "turned.pkl", "--train", "t.csv", cwd=folder)
    assert done.returncode == 2
    assert "is not the training data: it has 300 rows" in done.stderr
