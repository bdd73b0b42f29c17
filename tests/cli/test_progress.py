"""The bar: on a terminal, after half a second, and gone afterwards."""

import io
import sys
import time

import pytest

from treeaudit.cli.console import progress_bar


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch) -> Screen:
    monkeypatch.setenv("TERM", "xterm")
    return Screen()


def test_short_work_shows_nothing(screen, monkeypatch) -> None:
    monkeypatch.setattr("treeaudit.cli.console._PATIENCE", 1e6)
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar("reading the file") as bar:
        bar("reading leaves", 1, 2)
    assert screen.getvalue() == ""


@pytest.mark.parametrize("told", [True, False])
def test_long_work_shows_what_is_done(screen, monkeypatch, told) -> None:
    """Even if the work never says how far it is."""
    monkeypatch.setattr("treeaudit.cli.console._PATIENCE", 0)
    monkeypatch.setattr(sys, "stderr", screen)
    words = "reading leaves" if told else "reading the file"
    with progress_bar("reading the file") as bar:
        for _ in range(1_000):
            if told:
                bar("reading leaves", 1, 2)
            if words in screen.getvalue():
                break
            time.sleep(0.01)
    assert words in screen.getvalue()


@pytest.mark.parametrize("quiet", [True, False])
def test_pipes_and_quiet_runs_stay_silent(screen, monkeypatch, quiet) -> None:
    monkeypatch.setattr("treeaudit.cli.console._PATIENCE", 0)
    monkeypatch.setattr(sys, "stderr", screen)
    if not quiet:
        monkeypatch.setattr(Screen, "isatty", lambda _: False)
    with progress_bar("reading the file", quiet=quiet) as bar:
        bar("reading leaves", 1, 2)
        time.sleep(0.05)
    assert screen.getvalue() == ""
