"""What patterns match, against pathlib, and what they cannot reach."""

import os
import sys
from pathlib import Path

import pytest

from treeaudit.audit.fleet import find
from treeaudit.audit.paths import matched
from treeaudit.errors import DataError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = "a.pkl b/a.pkl b/c/a.pkl b/c/d/e.json b/.h/a.pkl [x]/a.pkl b/c/xa.pkl".split()
    for path in map(Path, names):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    "pattern",
    [
        *("*.pkl", "**", "**/*.pkl", "b/**", "*/*", "b/*/a.pkl", "**/c/**/e.json", "b/**/c/*.pkl"),
        *("?/**/*a.pkl", "**/**/a.pkl", "b/**/**", "[[]x]/*", "*/c", "./b/../b/*.pkl", "[!b]*"),
        *("**/nothing", "nowhere/*.pkl", "a.pkl/*"),
    ],
)
@pytest.mark.parametrize("whole", [False, True])
def test_a_pattern_matches_what_it_does_for_pathlib(folder, pattern, whole) -> None:
    if sys.platform != "win32":
        Path("b/link").symlink_to("c")
        Path("b/up").symlink_to("..")
        Path("b/round.pkl").symlink_to("round.pkl")
    at = next(i for i, part in enumerate(Path(pattern).parts) if set("*?[") & set(part))
    start, rest = Path(*Path(pattern).parts[:at]), Path(*Path(pattern).parts[at:])
    start = folder / start if whole else start
    expected = sorted({str(one) for one in start.glob(str(rest))})
    if not expected:
        with pytest.raises(DataError, match="nothing matches"):
            matched(start / rest)
    else:
        assert matched(start / rest) == [(one, "") for one in expected]


def test_no_pattern_is_a_sentence(folder) -> None:
    with pytest.raises(DataError, match=r"a\*\*/b is no pattern: \*\* stands alone"):
        matched(Path("a**/b"))


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("**/*.pkl", ["b/c"]),
        ("b/*/a.pkl", ["b/c"]),
        ("b/*/d/*.json", ["b/c"]),
        ("b/c/*.pkl", ["b/c"]),
        ("b/*.pkl", []),
        ("*.pkl", []),
        ("b/*", ["b/c"]),
    ],
)
def test_a_folder_that_nobody_can_enter_is_a_line(folder, monkeypatch, pattern, told) -> None:
    for name in ("scandir", "lstat"):
        real = getattr(os, name)

        def refused(path=".", *more, real=real, **given):
            at = os.path.relpath(path)
            if at == "b/c" if real.__name__ == "scandir" else at.startswith("b/c/"):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *more, **given)

        monkeypatch.setattr(os, name, refused)
    wrong = {place.path: place.wrong for place in find([pattern]).places if place.wrong}
    assert list(wrong) == told
    assert set(wrong.values()) <= {"the folder cannot be opened: permission denied"}
