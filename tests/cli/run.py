"""Run the real command in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path


def run(*arguments: object, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess:
    """Return what `treeaudit ARGUMENTS` printed and how it ended."""
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    clean |= {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "TERMINAL_WIDTH": "80"} | env
    return subprocess.run(
        [sys.executable, "-m", "treeaudit", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=cwd,
        env=clean,
    )
