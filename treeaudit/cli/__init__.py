"""The command line: parse, call the library, print. No logic of the audit.

stdout carries the result; stderr progress, warnings and errors. Exit codes:
0 every check passed, 1 a check failed, 2 not audited, 3 nothing failed but a
required check was skipped, 4 a named person accepted what fails.
"""

import io
import os
import sys

import typer

from treeaudit.cli.accept import accept
from treeaudit.cli.attacks import attacks
from treeaudit.cli.bounds import bounded
from treeaudit.cli.budget import budget
from treeaudit.cli.compare import compare
from treeaudit.cli.defend import defend
from treeaudit.cli.demo import demo
from treeaudit.cli.diff import diff
from treeaudit.cli.explain import explain
from treeaudit.cli.inspect import inspect
from treeaudit.cli.methods import Interrupted, Named, NamedWithMethods
from treeaudit.cli.mistakes import USAGE, told, usage
from treeaudit.cli.options import VERBOSE
from treeaudit.cli.reconstruct import reconstruct
from treeaudit.cli.release import release
from treeaudit.cli.scan import scan
from treeaudit.cli.schema import schema
from treeaudit.cli.train import train
from treeaudit.cli.verify import verify
from treeaudit.errors import TreeauditError
from treeaudit.version import __version__

__all__ = ["app", "main"]

_INTERRUPTED = 130

app = typer.Typer(
    name="treeaudit",
    help="What does a decision tree give away about the people it was trained on? "
    "Reads the model file without running code from it.",
    epilog="Exit codes: 0 every check passed · 1 a check failed · 2 not audited · "
    "3 nothing failed, but a required check could not be made · 4 what fails was accepted by name.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS = (
    *(scan, accept, reconstruct, verify, inspect, compare, diff, release, defend),
    *(train, schema, budget, explain, attacks, demo),
)
for command in _COMMANDS:
    app.command(cls=NamedWithMethods if command is defend else Named)(command)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"treeaudit {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", help="Show the version and leave.", callback=_version, is_eager=True
    ),
    verbose: bool = typer.Option(False, "--verbose", "-v", hidden=True),
) -> None:
    """Parse what stands before the command."""
    VERBOSE.set(verbose)


def main() -> None:
    """Run the command line; every failure ends in one sentence and exit code 2, Ctrl-C in 130."""
    _write_utf8()
    words = sys.argv[1:]
    code: object = 0
    try:
        with bounded(words):
            code = app(prog_name="treeaudit", standalone_mode=False)
    except USAGE as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the help is printed by then
            sys.exit(2)
        _fail(usage(error, {str(one.__name__): one for one in _COMMANDS}, words))
    except TreeauditError as error:
        _fail(told(error, words))
    except BrokenPipeError:
        # Whoever read our output has had enough: not an error, not a verdict.
        sys.stderr.close()
        sys.exit(2)
    except (KeyboardInterrupt, Interrupted):
        _fail("interrupted: nothing was decided", _INTERRUPTED)
    except OSError as error:
        _fail(f"a file could not be read or written: {(error.strerror or str(error)).lower()}")
    except MemoryError:
        _fail("the model needs more memory than there is")
    except Exception as error:  # noqa: BLE001  # a bug must not look like a verdict
        _fail(
            f"internal error ({type(error).__name__}: {error}): this is a bug of treeaudit; "
            "run 'treeaudit --verbose …' and report it at https://github.com/treeaudit/treeaudit/issues"
        )
    if code == _INTERRUPTED:
        _fail("interrupted: nothing was decided", _INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _write_utf8() -> None:
    # A pipe has the code page of the machine, on Windows one without ≤ or most people's names.
    for stream in (sys.stdout, sys.stderr):
        told = stream.isatty() or "PYTHONIOENCODING" in os.environ
        if isinstance(stream, io.TextIOWrapper) and not told:
            stream.reconfigure(encoding="utf-8")


def _fail(message: str, code: int = 2) -> None:
    from treeaudit.reports.plain_text import plain

    if VERBOSE.get():
        import traceback

        traceback.print_exc()
    print(f"treeaudit: {plain(message, 2000)}", file=sys.stderr)
    sys.exit(code)
