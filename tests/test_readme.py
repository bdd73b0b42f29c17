"""README and site: their commands run, they read easily, and their links lead somewhere."""

import re
import shlex
import sys
from pathlib import Path

import pytest

import treeaudit as ta
from tests.cli.run import run
from tools.pages import pages

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
START = sorted((ROOT / "docs" / "start").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Pages that mkdocs makes from the notebooks and the files at the top.
MADE = r"docs/(notebooks/\w+|security|changelog)\.md"


def prose(text: str) -> list[str]:
    """Return the paragraphs and list items of a page, without code, tables and addresses."""
    text = re.sub(r"```.*?```", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    lines = (line for line in text.splitlines() if not line.startswith(("|", "#", "![")))
    blocks = re.split(r"\n\s*\n|\n(?=[-*] |\d+\. )", "\n".join(lines))
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "it", b)) for b in blocks)
    return [block for block in (one.strip() for one in plain) if block]


def reading_ease(text: str) -> float:
    """Return the Flesch reading ease: 100 is very easy, 0 is very hard."""
    sentences = words = syllables = 0
    for block in prose(text):
        sentences += max(1, len(re.findall(r"[.!?](?:\s|$)", block)))
        for word in re.findall(r"[A-Za-z']+", block):
            words += 1
            heard = len(re.findall(r"[aeiouy]+", word.lower()))
            silent = re.search(r"[^aeiouyl]e$|[^dt]ed$", word.lower()) is not None
            syllables += max(1, heard - silent)
    return 206.835 - 1.015 * words / sentences - 84.6 * syllables / words


def as_typed(line: str) -> str:
    """A command of the README as it is typed where treeaudit is installed."""
    return line.replace("$ .venv/bin/treeaudit", "$ treeaudit").replace(
        "$ make demo", "$ treeaudit demo"
    )


def test_the_readme_is_two_screens() -> None:
    assert len(README.split()) <= 1200


@pytest.mark.parametrize("page", [ROOT / "README.md", *START], ids=lambda page: page.stem)
def test_a_page_reads_easily(page) -> None:
    text = page.read_text(encoding="utf-8")
    assert reading_ease(text) >= 50
    assert max(len(block.split()) for block in prose(text)) <= 80


def test_reading_ease_is_that_of_flesch() -> None:
    # 6 words, one sentence, 6 syllables; 7 words, one sentence, 22 syllables.
    assert reading_ease("The cat sat on the mat.") == pytest.approx(116.145)
    assert reading_ease(f"{'Reconstruction ' * 7}.") < 0


def test_no_command_needs_an_index_that_does_not_have_it() -> None:
    for _, body in BLOCKS:
        assert not re.search(r"pip install (?:--?\S+ )*treeaudit\b", body)


def test_the_commands_run(tmp_path) -> None:
    commands = [
        shlex.split(typed.removeprefix("$ treeaudit "))
        for kind, body in BLOCKS
        for line in body.splitlines()
        if kind == "console" and (typed := as_typed(line)).startswith("$ treeaudit ")
    ]
    assert ["demo"] in commands
    for command in commands:
        done = run(*command, cwd=tmp_path)
        expected = 1 if command[0] == "scan" else 0
        assert done.returncode == expected, (command, done.stderr)
        if command == ["demo"]:
            (tmp_path / "treeaudit-demo" / "model.pkl").rename(tmp_path / "model.pkl")
    assert (tmp_path / "report.html").is_file()


def test_the_commands_of_the_site_are_commands() -> None:
    from treeaudit.cli import COMMANDS

    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"```(?:sh|console|text)\n(.*?)```", text, re.DOTALL)
        for command in re.findall(r"^(?:\$ )?treeaudit (\w+)", "\n".join(blocks), re.M):
            assert command in COMMANDS, (page, command)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/start/researcher.md"])
def test_the_python_runs(page, tmp_path, monkeypatch, cancer_file) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "treeaudit-demo").mkdir()
    cancer_file.rename(tmp_path / "treeaudit-demo" / "model.pkl")
    exec(code, {})  # our own page
    assert {"audit.html", "private.json"} & {one.name for one in tmp_path.iterdir()}


def test_the_policy_is_well_formed(tmp_path) -> None:
    from treeaudit.attacks import all_checks
    from treeaudit.findings.policy import read_policy

    text = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
    (policy,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "mine.toml").write_text(policy)
    assert set(read_policy("release", tmp_path / "mine.toml").values) == set(all_checks())


def test_the_refusal_is_the_real_one(tmp_path) -> None:
    import pickle

    from tests.cli.test_scan import Payload

    (tmp_path / "hostile.pkl").write_bytes(pickle.dumps(Payload(), protocol=4))
    done = run("scan", "hostile.pkl", cwd=tmp_path)
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    (shown,) = [line for line in text.splitlines() if line.startswith("treeaudit: loading")]
    assert re.sub(r"byte \d+", "byte", done.stderr.strip()) == re.sub(r"byte \d+", "byte", shown)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page) -> None:
    for link in re.findall(r"\]\(((?!https?:|#)[^)#]+)", page.read_text(encoding="utf-8")):
        file = (page.parent / link).resolve()
        made = re.fullmatch(MADE, file.relative_to(ROOT.resolve()).as_posix())
        assert file.exists() or made, link


def test_the_first_screen_comes_first() -> None:
    first = README[:2200]
    for needed in (
        "docs/report.png",
        "treeaudit demo",
        "treeaudit scan model.pkl",
        "does not mean",
    ):
        assert needed in first
    assert ta.__doc__


CURRENT = pages()


@pytest.mark.parametrize("page", CURRENT, ids=lambda page: page.stem)
def test_what_follows_from_the_code_is_current(page) -> None:
    """Run ``python -m tools.pages`` where it is not."""
    if page.stem == "python" and sys.version_info[:2] != (3, 11):
        pytest.skip("signatures are as Python 3.11 prints them")
    assert page.read_text(encoding="utf-8") == CURRENT[page]
