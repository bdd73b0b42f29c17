"""What a system must have for a test, each with the reason to skip it."""

import functools
import os
import tempfile
from pathlib import Path

import pytest

__all__ = ["LINKS", "POSIX"]


@functools.cache
def _links() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            (Path(folder) / "link").symlink_to(folder)
        except OSError:
            return False
    return True


LINKS = pytest.mark.skipif(not _links(), reason="this system lets this user make no links")
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system")
