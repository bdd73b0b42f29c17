"""``treeaudit compare``: exit codes, files, one sentence for what is wrong."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.cli.run import run
from treeaudit.trainers.private_tree import PrivateTreeClassifier


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(500, 2)), columns=["age", "height"])
    frame["sick"] = np.where(frame["age"] + rng.normal(0, 1, 500) > 0, "yes", "no")
    frame.to_csv(folder / "people.csv", index=False)
    columns = frame[["age", "height"]]
    for name, options in (("large", {}), ("small", {"min_samples_leaf": 120})):
        model = DecisionTreeClassifier(random_state=0, **options).fit(columns, frame["sick"])
        ta.save(ta.load(model), folder / f"{name}.json")
    return folder


def test_files_and_formats(folder, tmp_path) -> None:
    page = tmp_path / "c.html"
    both = ("compare", folder / "large.json", folder / "small.json")
    done = run(*both, "--test", folder / "people.csv", "--format", "json", "-o", page)
    data = json.loads(done.stdout)
    assert data["models"][0]["utility"]["accuracy"]["value"] > 0.9
    assert data["people"] == {"test": {"name": "people.csv", "records": 500}}
    assert page.exists()
    again = run(*both, "-o", page)
    assert (again.returncode, "use --force" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["none.json"], "there is no file"),
        (["large.json", "--test", "none.csv"], "there is no file"),
        (["large.json", "--test", "people.csv", "--target", "well"], "no column 'well'"),
        (["large.json", "-o", "c.pdf"], "can be written as"),
        (["large.json", "-o", "c.sarif"], "the comparison can be written as .html, .json, .txt"),
    ],
)
def test_one_sentence(folder, arguments, says) -> None:
    arguments = [folder / a if a.endswith(("json", "csv")) else a for a in arguments]
    done = run("compare", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.filterwarnings("ignore::treeaudit.PrivacyWarning")
def test_a_private_model_passes_by_the_policy_that_is_named(folder, tmp_path) -> None:
    people = pd.read_csv(folder / "people.csv")
    public = ta.Schema(
        features=tuple(ta.Feature(name=name, low=-5, high=5) for name in ("age", "height")),
        classes=("no", "yes"),
    )
    for name, epsilon in (("private", 1.0), ("loose", 5.0)):
        tree = PrivateTreeClassifier(schema=public, epsilon=epsilon)
        tree.fit(people[["age", "height"]], people["sick"])
        ta.save(ta.load(tree), tmp_path / f"{name}.json")
    private, loose, small = (
        tmp_path / "private.json",
        tmp_path / "loose.json",
        folder / "small.json",
    )
    done = run("compare", private)
    assert ("PASS" in done.stdout, "by policy private" in done.stdout) == (True, True)
    assert "Passing policy private: private.json." in done.stdout
    assert "Passing policy default" not in done.stdout
    assert done.returncode == 0
    told = json.loads(run("compare", private, "--format", "json").stdout)["models"][0]
    assert (told["verdict"], told["judged_by"]) == ("pass", "private")
    done = run("compare", private, small)
    said = " ".join(done.stdout.split())
    assert "Passing policy default: small.json. Passing policy private: private.json." in said
    done = run("compare", loose)
    assert ("FAIL" in done.stdout, done.returncode) == (True, 1)
    done = run("compare", private, "--policy", "private")
    assert (done.stdout.count("Passing policy private"), done.returncode) == (1, 0)
