"""A fork without network, files and processes, in which hostile files may be loaded."""

import contextlib
import ctypes
import gc
import os
import pkgutil
import resource
import signal
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["Act", "sandboxed"]

_MEMORY, _SECONDS = 1 << 30, 10
_STOPPED = (
    *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.startfile", "os.kill"),
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.link"),
    *("os.symlink", "os.truncate"),
    *("subprocess.", "socket.", "shutil.", "ctypes.", "pty.", "urllib.", "http.", "ftplib."),
    *("smtplib.", "webbrowser.", "sys.settrace", "sys.setprofile", "sqlite3.", "mmap."),
)
_KNOWN = frozenset(
    (
        "sklearn",
        "numpy",
        "scipy",
        "joblib",
        "pandas",
        "threadpoolctl",
        "dill",
        *sys.stdlib_module_names,
    )
)
_NEWNET, _NEWUSER = 0x40000000, 0x10000000

Act = Callable[[Callable[[str], None]], None]
"""What is done in the fork; it says its lines by what it is handed."""


@cache
def _installed() -> frozenset[str]:
    return frozenset(module.name for module in pkgutil.iter_modules())


def _confine(say: Callable[[str], None], stops: tuple[str, ...], n: int) -> None:
    """Take from this process what loading a model does not need."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).unshare(_NEWUSER | _NEWNET)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS + n, _SECONDS + n))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + _MEMORY, size + _MEMORY))
    signal.alarm(6 * _SECONDS)
    installed = _installed()

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = (*arguments, None, None)[:3]
            writes = isinstance(mode, str) and set(mode) & set("wax+")
            writes = writes or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR))
            stopped = bool(writes) and not isinstance(path, int)
        elif event == "import":
            # A module that is not there runs nothing.
            stopped = str(arguments[0]).partition(".")[0] in installed - _KNOWN
        elif event == "exec":
            # Modules are run too; what stands in no file was computed.
            stopped = arguments[0].co_filename in ("<string>", "<stdin>", "<unknown>")
        else:
            stopped = event.startswith(stops)
        if stopped:
            say(f"stopped {event} {arguments!r}"[:200])
            os._exit(3)

    sys.addaudithook(watch)


def sandboxed(act: Act, native: bool = False, n: int = 1) -> list[str]:
    """Run something in a fork that is confined; return what it said, line by line.

    The last line is ``died N`` where a signal or an exception ended it. A ``native``
    library is called through ctypes. It has a second more for each of ``n`` files.
    """
    _installed()
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.close(reads)
        status = 1
        try:
            stops = tuple(one for one in _STOPPED if not (native and one == "ctypes."))
            _act(act, writes, stops, n)
            status = 0
        finally:
            os._exit(status)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        said = pipe.read().decode("utf-8", "replace").splitlines()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return said if code in (0, 3) else [*said, f"died {code}"]


def _act(act: Act, writes: int, stops: tuple[str, ...], n: int) -> None:
    gc.freeze()
    null = os.open(os.devnull, os.O_RDWR)
    for n in (0, 1, 2):
        os.dup2(null, n)

    def say(line: str) -> None:
        os.write(writes, line.replace("\n", " ").encode("utf-8", "replace")[:2000] + b"\n")

    warnings.simplefilter("ignore")
    _confine(say, stops, n)
    act(say)
