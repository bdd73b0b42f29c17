"""``treeaudit defend``: what it writes, prints and how it ends."""

import pickle

import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.cli.run import run
from treeaudit.cli.console import grid
from treeaudit.reports.plain_text import printed


def test_the_mildest_repair_is_written(cancer_file, cancer_tree, cancer) -> None:
    folder = cancer_file.parent
    before = cancer_file.read_bytes()
    done = run("defend", cancer_file, "-o", folder / "safe.pkl")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "merged leaves of fewer than 5 people into their parents" in done.stdout
    assert ["verdict", "FAIL", "PASS"] in [line.split() for line in done.stdout.splitlines()]
    assert f"model  {folder / 'safe.pkl'}" in done.stdout
    assert cancer_file.read_bytes() == before
    assert run("scan", folder / "safe.pkl", "--quiet").returncode == 0
    made = pickle.loads((folder / "safe.pkl").read_bytes())
    agree = made.predict(cancer[0]) == cancer_tree.predict(cancer[0])
    assert agree.mean() > 0.9


def test_the_written_file_is_what_is_audited(cancer_file) -> None:
    folder = cancer_file.parent
    done = run("defend", cancer_file, "--min-leaf", 10, "--strip", "-o", folder / "bare.pkl")
    assert done.returncode == 3, done.stderr
    assert ["verdict", "FAIL", "REVIEW"] in [line.split() for line in done.stdout.splitlines()]
    assert "not run: " in done.stdout
    assert run("scan", folder / "bare.pkl", "--quiet").returncode == 3


def test_nothing_is_written_where_the_unseen_people_do_not_fit(cancer_file, cancer) -> None:
    folder = cancer_file.parent
    cancer[0].drop(columns="mean radius").to_csv(folder / "narrow.csv", index=False)
    done = run("defend", cancer_file, "--test", folder / "narrow.csv", "-o", folder / "never.pkl")
    assert (done.returncode, done.stdout) == (2, "")
    assert not (folder / "never.pkl").exists()


def test_unanswered_records(cancer_file, cancer) -> None:
    folder = cancer_file.parent
    x, y = cancer
    x.assign(diagnosis=y).to_csv(folder / "people.csv", index=False)
    done = run(
        "defend", cancer_file, "--min-leaf", 10, "--method", "prune-leaves",
        "--test", folder / "people.csv", "--target", "diagnosis", "-o", folder / "parent.pkl",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    for words in ("removed leaves of fewer than 10 people", "share of them answered", "AUC"):
        assert words in done.stdout
    reject = ("--min-leaf", 10, "--method", "prune-leaves", "--unanswered", "reject")
    done = run("defend", cancer_file, *reject, "-o", folder / "reject.json")
    assert done.returncode == 1, done.stderr
    assert ta.load(folder / "reject.json").trees[0].n_nodes % 2 == 0
    done = run("defend", cancer_file, *reject, "-o", folder / "reject.pkl")
    assert done.returncode == 2
    assert "use --unanswered parent" in done.stderr
    assert not (folder / "reject.pkl").exists()


def test_nothing_passes(cancer_file) -> None:
    folder = cancer_file.parent
    policy = folder / "mine.toml"
    policy.write_text("[policies.mine]\nmin-leaf = 5\nmax-epsilon = 1.0\n")
    done = run("defend", cancer_file, "--policy", policy, "-o", folder / "safe.pkl")
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert (
        "nothing written: none of 5 repairs passes policy mine of mine.toml; nearest: merged"
        in text
    )
    assert not (folder / "safe.pkl").exists()


def test_nothing_of_before_and_after_is_cut() -> None:
    """Of a forest a check is a sentence: it runs on to the next line of its column."""
    before = "99.5% of the people in tree 56, at most 100.0% of all people in some tree"
    after = "0.2% of the people in tree 7, at most 3.1% of all people in some tree"
    rows = [("people whose number is known within the tolerance", before, after)]
    rows.append(("verdict", "FAIL", "REVIEW"))
    text = printed(lambda console: console.print(grid(["", "before", "after"], rows)), 80)
    assert max(map(len, text.splitlines())) <= 80
    words = text.split()
    for row in rows:
        for cell in row:
            assert all(word in words for word in cell.split()), text


def test_what_each_k_costs(cancer_file) -> None:
    done = run("defend", cancer_file, "--sweep", "2,5,10,20")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[0] for row in rows if row and row[0].isdecimal()] == ["2", "5", "10", "20"]
    assert run("defend", cancer_file, "--sweep", "2,many").returncode == 2
    page = cancer_file.parent / "curve.html"
    drawn = run("defend", cancer_file, "--sweep", "2,20", "-o", page)
    assert drawn.returncode == 0, drawn.stderr
    assert "k = 20" in page.read_text(encoding="utf-8")
    again = run("defend", cancer_file, "--sweep", "2,20", "-o", page)
    assert (again.returncode, "use --force" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--min-leaf", 570), "only 569 in the tree; ask for at most 190 (--min-leaf 190)"),
        (("--min-leaf", 400), "a single leaf would be left"),
        (("-o", "safe.txt"), "this model is written as .json, .pkl"),
        (("-o", "cancer.pkl", "--force"), "is the model itself"),
        (("-o", "no/safe.pkl"), "no such file or directory"),
        (("--method", "intersect-k"), "give it with --train"),
        (("--policy", "nobody"), "there is no policy"),
    ],
    ids=str,
)
def test_one_sentence(cancer_file, options, says) -> None:
    done = run("defend", cancer_file.name, *options, cwd=cancer_file.parent)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("treeaudit: ")
    assert done.stderr.count("\n") == 1
    assert says in done.stderr


class Mine(DecisionTreeClassifier):
    """A class outside scikit-learn."""


def test_a_foreign_class_goes_to_json(cancer, tmp_path) -> None:
    (tmp_path / "mine.pkl").write_bytes(pickle.dumps(Mine(random_state=0).fit(*cancer)))
    done = run("defend", tmp_path / "mine.pkl", "-o", tmp_path / "safe.pkl")
    assert done.returncode == 2
    assert "a Mine cannot be written as a scikit-learn estimator" in done.stderr
    done = run("defend", tmp_path / "mine.pkl", "-o", tmp_path / "safe.json")
    assert done.returncode == 0, done.stderr
