"""The browser that the tests of this folder share."""

import os
import shutil
from importlib.util import find_spec

import pytest

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


def _missing() -> str:
    for package in ("playwright", "axe_playwright_python"):
        if find_spec(package) is None:
            return f"the package {package} is not installed (extra 'browser')"
    return "" if _chromium() else "there is no chromium on the PATH"


def _chromium() -> str | None:
    return (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )


@pytest.fixture(scope="module")
def browser():
    reason = _missing()
    if reason and os.environ.get("TREEAUDIT_REQUIRE_BROWSER"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=_chromium(), args=FLAGS)
        yield started
        started.close()
