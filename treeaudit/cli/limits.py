"""Limits of memory and processor time for one command: the last wall behind the readers' limits.

Only the `treeaudit` command has them, never the library. Both follow the sizes of the
files on the command line, are generous, are taken back afterwards, and are never above
what the shell has set. Windows has none.
"""

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from treeaudit.errors import DataError, TreeauditError

if sys.platform != "win32":
    import resource
    import signal


MEMORY, SECONDS = "TREEAUDIT_MAX_MEMORY", "TREEAUDIT_MAX_SECONDS"
# Each thread of numpy's algebra reserves a stack, a buffer and an arena of addresses.
_LIBRARIES, _PER_CORE = 1 << 30, 256 << 20
_BASE, _TIMES = 4 << 30, 40
_PATIENCE, _SECONDS_PER_MB = 900, 3
# What fits models or searches among them takes the time that it takes.
_READING = frozenset({"scan", "inspect", "reconstruct"})
_LIFT = "to 0 for no limit"
_SHELL: dict[int, tuple[int, int]] = {}
"""The limits before this process lowered any."""


class _OutOfTime(BaseException):
    """The processor time is spent; no handler of errors may swallow it."""


@contextmanager
def limited(words: Sequence[str]) -> Iterator[None]:
    """Limit this process while one command runs."""
    if sys.platform == "win32":
        yield
        return
    memory = _chosen_limit(MEMORY, memory_for(words))
    seconds = _chosen_limit(SECONDS, seconds_for(words))
    spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    before = {kind: resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU)}
    for kind, limits in before.items():
        _SHELL.setdefault(kind, limits)
    handler = signal.getsignal(signal.SIGXCPU)
    has_memory = _lower(resource.RLIMIT_AS, _mapped() + memory if memory else 0)
    try:
        with suppress(ValueError):  # a thread of another program
            signal.signal(signal.SIGXCPU, _stop)
            _lower(resource.RLIMIT_CPU, int(spent) + seconds if seconds else 0)
        yield
    except (MemoryError, OSError) as error:
        if not has_memory or not _is_memory(error):
            raise
        raise TreeauditError(
            f"this needs more than the {memory / 2**30:,.1f} GiB of memory that treeaudit takes "
            f"for files of this size: set {MEMORY} to more bytes, or {_LIFT}"
        ) from error
    except _OutOfTime:
        raise TreeauditError(
            f"this needs more than the {seconds:,} seconds of processor time that treeaudit takes "
            f"for files of this size: set {SECONDS} to more, or {_LIFT}"
        ) from None
    finally:
        for kind, limits in before.items():
            with suppress(ValueError, OSError):
                resource.setrlimit(kind, limits)
        with suppress(ValueError, TypeError):
            signal.signal(signal.SIGXCPU, handler)


def restore_limits() -> None:
    """Return to the limits of the shell, for processes that are started from here."""
    for kind, limits in _SHELL.items():
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, limits)


def memory_for(words: Sequence[str]) -> int:
    """Return how many bytes of memory a command may take, beyond what its libraries reserve."""
    return _BASE + _TIMES * (_n_bytes(words) + _max_bytes(words))


def seconds_for(words: Sequence[str]) -> int:
    """Return how many seconds of processor time a command may take; 0 for no limit."""
    command = next((word for word in words if not word.startswith("-")), "")
    n_bytes = _n_bytes(words) + _max_bytes(words)
    return _PATIENCE + _SECONDS_PER_MB * n_bytes // 10**6 if command in _READING else 0


def _n_bytes(words: Sequence[str]) -> int:
    """Sum the sizes of the files that a command names."""
    total = 0
    for word in words:
        name = word.partition("=")[2] if word.startswith("--") else word
        if not name:
            continue
        path = Path(name)
        with suppress(OSError, ValueError):
            inside = path.iterdir() if path.is_dir() else (path,)
            total += sum(one.stat().st_size for one in inside if one.is_file())
    return total


def _max_bytes(words: Sequence[str]) -> int:
    """Return what ``--max-bytes`` allows."""
    for word, then in zip(words, [*words, ""][1:], strict=True):
        name, _, value = word.partition("=")
        if name == "--max-bytes" and (value or then).isdecimal():
            return int(value or then)
    return 0


def _chosen_limit(name: str, otherwise: int) -> int:
    text = os.environ.get(name)
    if text is None:
        return otherwise
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise DataError(f"{name} is {text[:40]!r}: a whole number is needed, 0 for no limit")
    return int(text)


if sys.platform != "win32":

    def _stop(*_: object) -> None:
        # The signal comes again every second: the sentence has to be printed in peace.
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
        raise _OutOfTime

    def _lower(kind: int, most: int) -> bool:
        """Lower a limit, unless it is as low already or cannot be."""
        soft, hard = resource.getrlimit(kind)
        none = resource.RLIM_INFINITY
        if not most or any(limit != none and limit <= most for limit in (soft, hard)):
            return False
        try:
            resource.setrlimit(kind, (most, hard))
        except (ValueError, OSError):
            return False
        return True

    def _mapped() -> int:
        """Return how many bytes of addresses this process has and its libraries will reserve."""
        pages = b"0"
        with suppress(OSError):  # only Linux tells
            pages = Path("/proc/self/statm").read_bytes().split()[0]
        reserved = _LIBRARIES + _PER_CORE * (os.cpu_count() or 1)
        return int(pages) * resource.getpagesize() + reserved

    def _is_memory(error: BaseException) -> bool:
        return isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM
