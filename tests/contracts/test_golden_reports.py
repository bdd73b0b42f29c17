"""Every report of 25 audits, letter for letter, through the command line.

``tests/golden/reports`` holds for each audit what ``treeaudit scan`` prints (80 columns, piped,
no colour, the command before it and the exit code after it), its JSON and its HTML; for some the
Markdown, the release-safe HTML and the folder for SACRO-Viewer, and what ``treeaudit compare``
gives.
Nothing is trained here: models and tables are small files in ``reports/inputs``, made once by
``reports/make_inputs.py``.

What a difference means. These files say what the reports *are*, not what they should be: a
change of structure leaves all of them as they are, and one that moves a golden has changed what
people read. If that was not the aim, it is a bug. If it was, run ``make golden``, read the
difference of every file line by line, commit it with the change and say in the commit why it
moved: a number, verdict or exit code that moves is a change of behaviour, JSON that moves is a
change of a stable format (`schema_version`), a line of wording or layout is neither. A golden
that says something wrong today (``records_inside_pmml`` finds no training data in a file that
holds two records) is to be corrected by the change that corrects the product, never by hand.

Left out of the comparison: the version of treeaudit, dates, the temporary folder, digits of
JSON numbers after the sixth, style and script of every page but the first (``tree``), and of the
ACRO folder the checksums of reports. Only ``tree_people``, ``tree_sensitive``, ``forest_people``
and ``compare_people`` hold numbers of models that scikit-learn learns during the audit (the guess
without the model; the other goldens are the same without scikit-learn): where these alone move,
and scikit-learn is another version, the library moved and not treeaudit.
"""

import json
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

import pytest
import sklearn
from typer.testing import CliRunner

from treeaudit.cli import app
from treeaudit.version import __version__

INPUTS = Path(__file__).parents[1] / "golden" / "reports" / "inputs"
PEOPLE = "--train train.csv --test test.csv --target returned"

SCANS = {
    "tree": "tree.pkl",
    "tree_people": f"tree.pkl {PEOPLE}",
    "tree_known": "tree.pkl --train train.csv --target returned --known known.csv "
    "--prior prior.csv --sampling-fraction 0.1",
    "tree_sensitive": f"tree.pkl {PEOPLE} --sensitive disease --attack TA101 --attack TA102 "
    "--attack TA110",
    "tree_acro": "tree.pkl --train train.csv --target returned --policy acro --sensitive disease",
    "tree_large_leaves": "large_leaves.pkl --policy observe",
    "tree_accepted": "tree.pkl --baseline accepted.json",
    "forest": "forest.pkl",
    "forest_people": f"forest.pkl {PEOPLE}",
    "leftovers": "leftovers.pkl --seed 3 --select \"['model']\"",
    "records_inside_skops": "records_inside.skops --policy strict",
    "booster": "booster.pkl",
    "xgboost": "xgboost.json",
    "lightgbm": "lightgbm.txt",
    "regressor": "regressor.pkl",
    "regressor_people": "regressor.pkl --train costs.csv --target cost",
    "multiclass": "multiclass.pkl --policy opensafely",
    "categorical": "categorical.json",
    "categorical_people": "categorical.json --train named.csv --target returned",
    "onnx": "tree.onnx",
    "pmml": "tree.pmml",
    "records_inside_pmml": "records_inside.pmml",
    "private_sound": "private_sound.json --policy private",
    "private_people": "private_sound.json --train named.csv --target returned",
    "private_published": "private_published.json",
}
RELEASE_SAFE = ("tree_people", "leftovers", "private_published")
MARKDOWN = ("tree", "forest_people", "private_people")
COMPARISONS = {
    "compare": "tree.pkl forest.pkl",
    "compare_people": f"tree.pkl large_leaves.pkl {PEOPLE}",
    "compare_private": "categorical.json private_sound.json private_published.json "
    "--train named.csv --target returned",
}
OTHERS = {
    "inspect": "inspect leftovers.pkl",
    "reconstruct": "reconstruct tree.pkl",
    "defend": f"defend tree.pkl -o OUT/safer.json {PEOPLE}",
    "defend_merge": "defend forest.pkl -o OUT/safer.json --min-leaf 5",
}


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a command in the folder of the inputs; return what it says, as it is kept."""
    monkeypatch.chdir(INPUTS)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "LINES"):
        monkeypatch.delenv(name, raising=False)

    def run(command: str) -> str:
        args = [part.replace("OUT", str(tmp_path)) for part in shlex.split(command)]
        result = CliRunner().invoke(app, args, prog_name="treeaudit", catch_exceptions=False)
        shown = result.stdout.replace(str(tmp_path), "OUT").replace("OUT\\", "OUT/")
        said = f"stderr\n{result.stderr}" if result.stderr else ""
        return stable(f"$ treeaudit {command}\n{shown}{said}exit {result.exit_code}\n")

    return run


def stable(text: str) -> str:
    """Leave out versions of treeaudit, also the one that wrote a model, and dates."""
    text = re.sub(r"treeaudit \d+\.\d+\.\d+\w*", "treeaudit V", text)
    text = text.replace(f'"version": "{__version__}"', '"version": "V"')
    text = re.sub(r'"timestamp": "[^"]+"', '"timestamp": "T"', text)
    return re.sub(r"<li>\d{1,2} \w+ \d{4}</li>", "<li>D</li>", text)


def rounded(text: str) -> str:
    """Keep six digits of every number of a JSON text."""
    data = json.loads(text, parse_float=lambda digits: float(f"{float(digits):.6g}"))
    return stable(json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def body(page: str) -> str:
    """Leave style and script out of a page, and the hashes that allow them."""
    page = re.sub(r"(?s)<(style|script)>.*?</\1>", r"<\1>…</\1>", stable(page))
    return re.sub(r"'sha256-[^']+'", "'sha256-…'", page)


LEARN = ("tree_people", "tree_sensitive", "forest_people", "compare_people")
OTHER = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 9)


def each(names: Iterable[str]) -> list[object]:
    """Return what is compared; without the audits that learn, where the library is another."""
    other = pytest.mark.skipif(OTHER, reason="goldens of models that scikit-learn 1.9 learns")
    return [pytest.param(name, marks=[other] if name in LEARN else []) for name in names]


@pytest.mark.parametrize("name", each(SCANS))
def test_scan(name, run, golden, tmp_path) -> None:
    command = f"scan {SCANS[name]} -o OUT/{name}.html -o OUT/{name}.json"
    command += f" -o OUT/{name}.md" * (name in MARKDOWN)
    golden(f"reports/{name}.txt", run(command))
    golden(f"reports/{name}.json", rounded(read(tmp_path / f"{name}.json")))
    page = read(tmp_path / f"{name}.html")
    golden(f"reports/{name}.html", stable(page) if name == "tree" else body(page))
    if name in MARKDOWN:
        golden(f"reports/{name}.md", stable(read(tmp_path / f"{name}.md")))


@pytest.mark.parametrize("name", each(RELEASE_SAFE))
def test_release_safe(name, run, golden, tmp_path) -> None:
    run(f"scan {SCANS[name]} -o OUT/{name}.html --release-safe")
    golden(f"reports/{name}.release-safe.html", body(read(tmp_path / f"{name}.html")))


@pytest.mark.parametrize("name", COMPARISONS)
def test_compare(name, run, golden, tmp_path) -> None:
    command = f"compare {COMPARISONS[name]} -o OUT/{name}.html -o OUT/{name}.json"
    golden(f"reports/{name}.txt", run(command))
    golden(f"reports/{name}.json", rounded(read(tmp_path / f"{name}.json")))
    golden(f"reports/{name}.html", body(read(tmp_path / f"{name}.html")))


@pytest.mark.parametrize("name", OTHERS)
def test_what_other_commands_print(name, run, golden) -> None:
    golden(f"reports/{name}.txt", run(OTHERS[name]))


def test_acro_folder(run, golden, tmp_path) -> None:
    """The whole folder in one text; of its reports, those that other goldens do not hold."""
    said = run(f"scan {SCANS['tree_acro']} --acro OUT/acro")
    folder = tmp_path / "acro"
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))
    parts = [said, "\n".join(files) + "\n"]
    kept = ("results.json", "config.json", "checksums/tree.pkl.txt", "treeaudit_tree.pkl.txt")
    parts += [f"== {name}\n{stable(read(folder / name))}\n" for name in kept]
    golden("reports/tree_acro.folder.txt", "".join(parts))
    for suffix, keep in (("html", body), ("json", rounded)):
        stored = read(Path(__file__).parents[1] / "golden" / "reports" / f"tree_acro.{suffix}")
        assert keep(read(folder / f"treeaudit_tree.pkl.{suffix}")) == stored


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
