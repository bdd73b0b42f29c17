"""What MLflow says of its models, whoever wrote it."""

from pathlib import Path

import pytest

from treeaudit.audit.fleet import find
from treeaudit.files import CONFIG


def said(folder: Path, name: str, text: str) -> dict[str, str]:
    """Return what is said of each place in a folder with a good model and this file."""
    (folder / "good.pkl").write_text("x")
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, newline="")
    return {place.path: place.wrong for place in find([folder]).places}


@pytest.mark.parametrize("name", ["MLmodel", "version-1/meta.yaml"])
def test_a_file_that_is_too_large_is_a_line(tmp_path, name) -> None:
    told = said(tmp_path, name, " " * (CONFIG + 1))
    wrong = told[str((tmp_path / name).parent)]
    assert "which model is meant cannot be told" in wrong
    assert "larger than the 1,048,576 bytes" in wrong
    assert told[str(tmp_path / "good.pkl")] == ""


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("MLmodel", "    data: a\0b.pkl\n", "is no path"),
        ("MLmodel", f"    data: {'a/' * 9000}\n", "is no path"),
        ("version-1/meta.yaml", "source: file:///a%00b\n", "'file:///a%00b': name that folder"),
        ("version-1/meta.yaml", "source: http://[x\n", "'http://[x': name that folder"),
        ("version-1/meta.yaml", "source: 'file:'\n", "'file:': name that folder"),
    ],
)
def test_what_is_no_path_is_a_line_for_the_folder(tmp_path, name, text, why) -> None:
    told = said(tmp_path, name, text)
    assert why in told[str((tmp_path / name).parent)]
    assert told[str(tmp_path / "good.pkl")] == ""
    assert str(tmp_path / name) in told
