"""`treeaudit schema` and `treeaudit train`."""

import json
import pickle

import pytest

import treeaudit as ta
from tests.cli.run import run
from tests.trainers.people import CLASSIFIERS, REGRESSORS, people
from treeaudit.trainers.algorithms import ALGORITHMS


@pytest.fixture
def folder(tmp_path):
    frame, y = people(200)
    frame.insert(0, "id", range(200))
    frame["sex"] = frame["sex"].map({"f": 1, "m": 2})
    frame.assign(ill=y).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


@pytest.fixture
def confirmed(folder):
    arguments = "--target ill --categorical sex -o".split()
    done = run("schema", folder / "people.csv", *arguments, folder / "schema.toml")
    assert done.returncode == 0, done.stderr
    path = folder / "schema.toml"
    text = path.read_text()
    assert 'categories = ["1", "2"]' in text
    # The person who confirms leaves out what is nobody's business.
    before, _, after = text.partition('[[columns]]\nname = "id"')
    after = after.partition("[[columns]]")[2]
    text = f"{before}[[columns]]{after}".replace("confirmed = false", "confirmed = true")
    path.write_text(text)
    # The same with a number as the target.
    text = text.partition('\n[[columns]]\nname = "dose"')[0]
    text = text.replace('classes = ["no", "yes"]', "target_low = -1.0\ntarget_high = 1.0")
    (folder / "numbers.toml").write_text(text.replace('target = "ill"', 'target = "dose"'))
    return folder


def schema_file(trainer) -> str:
    return "numbers.toml" if trainer in REGRESSORS else "schema.toml"


def test_a_draft_is_printed_or_written_and_trains_nothing(folder) -> None:
    printed = run("schema", folder / "people.csv", "--target", "ill")
    assert printed.stdout.splitlines()[5] == "confirmed = false"
    (folder / "schema.toml").write_text(printed.stdout)
    done = run(
        *"train people.csv --epsilon 1 --schema schema.toml -o model.json".split(), cwd=folder
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "is a draft" in done.stderr
    assert not (folder / "model.json").exists()


@pytest.mark.parametrize("trainer", ALGORITHMS, ids=lambda t: t.algorithm)
def test_a_model_is_trained_and_read(confirmed, monkeypatch, trainer) -> None:
    monkeypatch.chdir(confirmed)
    done = run(
        *"train people.csv --epsilon 0.5 -o model.json -o model.pkl".split(),
        *("--algorithm", trainer.algorithm, "--schema", schema_file(trainer)),
    )
    assert done.returncode == 0, done.stderr
    told = done.stdout.replace(" with delta 1e-06", "")
    assert "claim: epsilon 0.5 (add-remove)" in told
    assert "NOT PRIVATE" not in done.stdout
    model = pickle.loads((confirmed / "model.pkl").read_bytes())
    assert type(model) is trainer
    for name in ("model.json", "model.pkl"):
        forest = ta.load(confirmed / name)
        assert forest.privacy["epsilon"] == 0.5
        columns = ["age", "sex", "dose"]
        target = "dose" if trainer in REGRESSORS else "ill"
        assert forest.schema.names == [name for name in columns if name != target]
        assert forest.schema.target == target


def test_what_is_not_private_is_said(confirmed, monkeypatch) -> None:
    name = CLASSIFIERS[-1].algorithm
    monkeypatch.chdir(confirmed)
    done = run(
        *"train people.csv --epsilon 1 --schema schema.toml -o m.json --seed 3".split(),
        *("--algorithm", name),
    )
    assert done.returncode == 0, done.stderr
    assert "NOT PRIVATE: random_state was set" in done.stdout
    assert json.loads((confirmed / "m.json").read_text())["privacy"]["not_private"]
    done = run(*"train people.csv --target ill --epsilon 1 --schema from-data -o n.json".split())
    assert "NOT PRIVATE: bounds, categories and classes" in done.stdout
    done = run(
        *"train people.csv --epsilon 1 --schema schema.toml -o p.json --variant published".split(),
        *"--algorithm smooth-sensitivity-forest --set n_estimators=2".split(),
    )
    assert "NOT PRIVATE: as published" in done.stdout
    assert ta.load(confirmed / "p.json").n_trees == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--schema schema.toml -o model.txt", "the suffix of a model"),
        ("--schema schema.toml -o people.json --set n_estimators", "write NAME=VALUE"),
        ("--schema schema.toml -o m.json --set epsilon=9", "has an option of its own"),
        ("--schema schema.toml -o m.json --set leaves=9", "has no parameter 'leaves'"),
        ("--schema schema.toml -o m.json --algorithm dpfd", "there is no algorithm 'dpfd'"),
        ("--schema schema.toml -o m.json --target sick", "no column 'sick'"),
        ("--schema schema.toml -o none/m.json", "no such folder"),
        ("--schema none.toml -o m.json", "treeaudit schema DATA drafts one"),
        ("-o m.json", "treeaudit schema DATA drafts one"),
        ("--schema from-data -o m.json", "--target"),
        ("--schema schema.toml -o people.csv.json --epsilon -1", "epsilon is -1.0"),
        ("--schema schema.toml -o m.json --person id", "say with rows_per_person"),
        ("--schema schema.toml -o m.json --rows-per-person 2", "fit was not told"),
        ("--schema schema.toml -o m.json --person who --rows-per-person 2", "no column 'who'"),
        ("--schema schema.toml -o m.json --person age --rows-per-person 2", "describes 'age'"),
        ("--schema schema.toml -o m.json --set rows_per_person=2", "an option of its own"),
    ],
)
def test_what_cannot_be_meant(confirmed, monkeypatch, arguments, says) -> None:
    monkeypatch.chdir(confirmed)
    done = run("train", "people.csv", "--epsilon", "1", *arguments.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("treeaudit: ")
    assert says in done.stderr


@pytest.mark.parametrize("trainer", ALGORITHMS, ids=lambda t: t.algorithm)
def test_a_person_is_protected(confirmed, monkeypatch, trainer) -> None:
    monkeypatch.chdir(confirmed)
    done = run(
        *"train people.csv --epsilon 0.5 -o model.json --schema".split(),
        *(schema_file(trainer), "--algorithm", trainer.algorithm),
        *("--person", "id", "--rows-per-person", 3),
    )
    assert done.returncode == 0, done.stderr
    told = done.stdout.replace(" with delta 1e-06", "")
    assert "claim: epsilon 0.5 (add-remove) for a person, at most 3 rows, of which 0" in told
    privacy = ta.load(confirmed / "model.json").privacy
    assert (privacy["unit"], privacy["rows_per_person"]) == ("person, at most 3 rows", 3)


def test_nothing_is_overwritten(confirmed) -> None:
    (confirmed / "model.json").write_text("mine")
    arguments = "train people.csv --epsilon 1 --schema schema.toml -o model.json".split()
    done = run(*arguments, cwd=confirmed)
    assert done.returncode == 2
    assert "exists already" in done.stderr
    assert (confirmed / "model.json").read_text() == "mine"
    assert run(*arguments, "--force", cwd=confirmed).returncode == 0


@pytest.mark.parametrize(
    ("algorithm", "setting", "says"),
    [
        ("diffpid3", "certainty_factor=x", "certainty_factor is 'x': it must be above 0 and below"),
        ("sulq-id3", "printed_delta=x", "printed_delta is 'x': it must be above 0 and below 1"),
        ("private-tree", "leaf_share=x", "leaf_share is 'x': it must be at least 0 and below 1"),
        ("dpdf", "prune=x", "prune is 'x': it must be True or False"),
        ("random-count-forest", "n_jobs=0", "n_jobs is 0: it must be None, a whole number from 1"),
        (
            "smooth-sensitivity-forest",
            "n_estimators=1000000000000000",
            "n_estimators is 1000000000000000: it must be a whole number from 1 to 10000",
        ),
        (
            "smooth-sensitivity-forest",
            "max_leaves=1000000000000000000000",
            "max_leaves is 1000000000000000000000: it must be a whole number from 1 to",
        ),
        (
            "semi-supervised-forest",
            "public_records=people.csv",
            "public_records is 'people.csv': give the records themselves, a table",
        ),
    ],
)
def test_a_setting_is_refused_before_it_is_paid_for(confirmed, algorithm, setting, says) -> None:
    run("budget", "a.budget", "--epsilon", 1, cwd=confirmed)
    one = "train people.csv --schema schema.toml --epsilon 1 -o m.json --algorithm".split()
    done = run(*one, algorithm, "--set", setting, "--budget", "a.budget", cwd=confirmed)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "1 of 1 left" in run("budget", "a.budget", cwd=confirmed).stdout


def test_models_of_one_account_cost_what_it_holds(confirmed) -> None:
    one = "train people.csv --epsilon 0.3 --schema schema.toml --budget a.budget".split()
    done = run(*one, "-o", "m.json", cwd=confirmed)
    assert (done.returncode, done.stdout) == (2, "")
    assert "treeaudit budget a.budget --epsilon 1" in done.stderr
    done = run("budget", "a.budget", "--epsilon", 1, cwd=confirmed)
    assert (done.returncode, done.stdout) == (0, "account  a.budget: 1 of 1 left\n")
    codes = []
    for i in range(10):
        done = run(*one, "-o", f"m{i}.json", cwd=confirmed)
        codes.append(done.returncode)
        assert (confirmed / f"m{i}.json").exists() == (done.returncode == 0)
        told = f"  account  a.budget: {0.7 - 0.3 * i:g} of 1 left\n"
        assert done.returncode == 2 or told in done.stdout
        assert done.returncode == 2 or ", asked 1 time of disjoint parts" in done.stdout
    assert codes == [0] * 3 + [2] * 7
    assert len(done.stderr.splitlines()) == 1
    assert "the budget does not cover it: 0.1 of 1 are left and" in done.stderr
    assert run(*one[:3], 0.1, *one[4:], "-o", "m.pkl", cwd=confirmed).returncode == 0
    assert run("scan", "m.pkl", "--policy", "private", cwd=confirmed).returncode == 0
    shown = run("budget", "a.budget", cwd=confirmed)
    assert shown.stdout.splitlines() == [
        *["  0.3  PrivateTreeClassifier (add-remove of a record)"] * 3,
        "  0.1  PrivateTreeClassifier (add-remove of a record)",
        "account  a.budget: 0 of 1 left",
    ]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--variant=published", "the variant as published is not proved"),
        ("--seed=1", "a budget counts fits that are private, and this is none"),
        ("--neighbours=replace-one", "needs a budget of its own"),
        ("--epsilon=5", "the budget does not cover it: 1.5 of 2 are left"),
    ],
)
def test_an_account_pays_for_what_it_counts(confirmed, option, message) -> None:
    run("budget", "a.budget", "--epsilon", 2, cwd=confirmed)
    one = "train people.csv --schema schema.toml --budget a.budget --epsilon 0.5".split()
    assert run(*one, "-o", "m.json", cwd=confirmed).returncode == 0
    done = run(*one, "-o", "n.json", option, cwd=confirmed)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "1.5 of 2 left" in run("budget", "a.budget", cwd=confirmed).stdout


def test_an_account_is_opened_once_and_says_how_it_is_mended(tmp_path) -> None:
    account = tmp_path / "a.budget"
    assert run("budget", account, "--epsilon", 1).returncode == 0
    again = run("budget", account, "--epsilon", 5)
    assert (again.returncode, again.stdout) == (2, "")
    assert "exists already" in again.stderr
    (tmp_path / "link").symlink_to(account)
    assert "1 of 1 left" in run("budget", tmp_path / "link").stdout
    with account.open("a") as file:
        file.write('{"wh')
    assert "delete that line if the disk was full" in run("budget", account).stderr
    account.write_text("")
    assert "open another with what is surely left" in run("budget", account).stderr
    for wrong in (tmp_path, tmp_path / "gone"):
        done = run("budget", wrong)
        assert (done.returncode, done.stdout) == (2, "")
