"""The bar: on a terminal, after half a second, and gone afterwards."""

import io
import sys

import pytest

from treeaudit.cli.console import progress_bar


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch) -> Screen:
    monkeypatch.setenv("TERM", "xterm")
    return Screen()


def test_short_work_shows_nothing(screen, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("treeaudit.cli.console._PATIENCE", float("inf"))
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar(tmp_path / "model.pkl") as bar:
        bar("reading leaves", 1, 2)
    assert screen.getvalue() == ""


def test_long_work_shows_what_is_done(screen, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("treeaudit.cli.console._PATIENCE", -1)
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar(tmp_path / "model.pkl") as bar:
        bar("reading leaves", 1, 2)
    assert "reading leaves" in screen.getvalue()


def test_a_large_file_shows_at_once(screen, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("treeaudit.cli.console._LARGE", 3)
    model = tmp_path / "model.pkl"
    model.write_bytes(b"12345")
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar(model):
        pass
    assert "reading the file" in screen.getvalue()


@pytest.mark.parametrize("quiet", [True, False])
def test_pipes_and_quiet_runs_stay_silent(screen, tmp_path, monkeypatch, quiet) -> None:
    monkeypatch.setattr("treeaudit.cli.console._PATIENCE", -1)
    if not quiet:
        monkeypatch.setattr(Screen, "isatty", lambda _: False)
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar(tmp_path / "model.pkl", quiet=quiet) as bar:
        bar("reading leaves", 1, 2)
    assert screen.getvalue() == ""
