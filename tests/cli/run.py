"""Run the command line: in this process, or in one of its own.

`run` is what tests use; it costs a tenth of a process, which has to import
numpy, pandas and scikit-learn again. `spawn` has the same interface, for what
only a real process shows (`tests/cli/test_process.py`).
"""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from treeaudit.cli import main

Done = subprocess.CompletedProcess[str]


def run(*arguments: object, cwd: Path | None = None, **env: str) -> Done:
    """Return what `treeaudit ARGUMENTS` printed and how it ended.

    Stdout and stderr are pipes of 80 columns; ``env`` adds to the environment.
    A warning that nobody catches is an error, as everywhere in the tests.
    """
    command = ["treeaudit", *map(str, arguments)]
    out, err = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", errors, newline="\n", write_through=True)
        for errors in ("strict", "backslashreplace")
    )
    with (
        mock.patch.dict(os.environ, _environment(env), clear=True),
        mock.patch.object(sys, "argv", command),
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code: object = None
        try:
            main()
        except SystemExit as stopped:
            code = stopped.code
    assert code is None or isinstance(code, int)
    printed, said = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess(command, code or 0, printed, said)


def spawn(*arguments: object, cwd: Path | None = None, **env: str) -> Done:
    """Return the same from a process of its own: half a second to two."""
    return subprocess.run(
        [sys.executable, "-m", "treeaudit", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=cwd,
        env=_environment(env) | {"PYTHONIOENCODING": "utf-8"},
    )


def _environment(env: dict[str, str]) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    return clean | {"COLUMNS": "80", "TERMINAL_WIDTH": "80"} | env
