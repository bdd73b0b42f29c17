"""The command line: parse, call the library, print. No logic of the audit.

stdout carries the result; stderr progress, warnings and errors. Exit codes:
0 every check passed, 1 a check failed, 2 not audited, 3 nothing failed but a
required check was skipped, 4 a named person accepted what fails.
"""

import atexit
import gc
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from treeaudit.cli.bounds import bounded
from treeaudit.cli.declared import Interrupted, echo, page, parsed
from treeaudit.cli.front import front_page
from treeaudit.cli.options import VERBOSE
from treeaudit.errors import TreeauditError

__all__ = ["COMMANDS", "app", "main"]

COMMANDS = (
    *("scan", "accept", "reconstruct", "verify", "inspect", "compare", "diff", "release", "defend"),
    *("train", "schema", "budget", "explain", "attacks", "demo"),
)
"""Every command, a function in the module of its name."""


def __getattr__(name: str) -> Any:  # noqa: ANN401  # the module protocol wants Any
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _typed_commands(None)


def _typed_commands(asked: str | None) -> Any:  # noqa: ANN401  # typer's own
    from treeaudit.cli.typed import command_line

    # A shell that asks how a word goes on may ask of every command.
    return command_line(COMMANDS, None if "_TREEAUDIT_COMPLETE" in os.environ else asked)


def _run(words: Sequence[str]) -> None:
    """Run a plain line as it stands; leave everything else to typer."""
    asked = next((word for word in words if word in COMMANDS), "")
    if words[:1] == [asked]:
        function = getattr(import_module(f"treeaudit.cli.{asked}"), asked)
        VERBOSE.set(False)
        given = parsed(function, words[1:])
        if given is not None:
            function(**given)
            return
    # A shell that asks how a word goes on gives none of them here.
    nothing = not words and "_TREEAUDIT_COMPLETE" not in os.environ
    if (nothing or words in (["--help"], ["-h"])) and (told := _front_page()):
        page(told)
        if nothing:
            sys.exit(2)
        return
    from treeaudit.cli.typed import run

    run(_typed_commands(asked), COMMANDS)


def _front_page() -> str | None:
    told = {}
    for name in COMMANDS:
        function = getattr(import_module(f"treeaudit.cli.{name}"), name)
        told[name] = " ".join((function.__doc__ or "").partition("\n\n")[0].split())
    return front_page(told)


def main() -> None:
    """Run the command line; every failure ends in one sentence and exit code 2, Ctrl-C in 130."""
    _write_utf8()
    # A short command makes nothing that has to be collected, and looks 200 times for it.
    gc.set_threshold(100_000, 20, 20)
    # Nor at its end, where Python goes through everything that was imported.
    atexit.register(gc.freeze)
    # No command multiplies matrices that are worth a thread a core; where OpenBLAS starts them,
    # they spin for half of what importing numpy costs.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = sys.argv[1:]
    try:
        with bounded(words):
            _run(words)
    except TreeauditError as error:
        from treeaudit.cli.mistakes import told

        _fail(told(error, words))
    except BrokenPipeError:
        # Whoever read our output has had enough: not an error, not a verdict.
        sys.stderr.close()
        sys.exit(2)
    except (KeyboardInterrupt, Interrupted):
        _fail("interrupted: nothing was decided", 130)
    except OSError as error:
        named = isinstance(error.filename, str | bytes | os.PathLike)
        which = os.fsdecode(error.filename) if named else "a file"
        reason = (error.strerror or str(error)).lower()
        _fail(f"{which} could not be read or written: {reason}")
    except MemoryError:
        _fail("the model needs more memory than there is")
    except Exception as error:  # noqa: BLE001  # a bug must not look like a verdict
        _fail(
            f"internal error ({type(error).__name__}: {error}): this is a bug of treeaudit; "
            "run 'treeaudit --verbose …' and report it at https://github.com/treeaudit/treeaudit/issues"
        )


def _write_utf8() -> None:
    # A pipe has the code page of the machine, on Windows one without ≤ or most people's names.
    # Where somebody chose another, what it does not have is written as its number.
    for stream in (sys.stdout, sys.stderr):
        told = stream.isatty() or "PYTHONIOENCODING" in os.environ
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if not told:
            # Names of files may hold bytes that are no text.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        elif stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")


def _fail(message: str, code: int = 2) -> None:
    from treeaudit.reports.plain_text import plain

    if VERBOSE.get():
        import traceback

        for part in traceback.format_exception(*sys.exc_info()):
            if part.startswith("  File "):
                page(part, err=True)
            else:
                echo(part.strip("\n"), err=True)
    echo(f"treeaudit: {plain(message, 2000)}", err=True)
    sys.exit(code)
