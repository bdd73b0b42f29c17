"""Processes that audit one file after the other, each within its own limits.

Requests and answers go through pipes as lines of JSON: a process that reads hostile
files is not trusted with more than text, and one that dies becomes a line of the list.
`answers` runs in the process that asks, `serve` in those that audit.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from treeaudit.audit.fleet import attempt
from treeaudit.audit.paths import Place
from treeaudit.cli.limits import limited
from treeaudit.errors import DataError, TreeauditError
from treeaudit.findings.report import Report
from treeaudit.findings.request import Request
from treeaudit.reports.fleet import Row, failed_row, row_of
from treeaudit.reports.release_safe import statement
from treeaudit.reports.to_json import to_dict

# Only what this process trusts is trusted there: no module of the folder that is audited.
_PROGRAM = "import sys; sys.path[:] = {!r}; from treeaudit.cli.workers import serve; serve()"
_SHORT = 200
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What became of a file."""

    rows: tuple[Row, ...] = ()  # A row for each of its models; none where it is no model
    reports: tuple[dict[str, Any], ...] = ()  # The JSON reports, where asked for
    other: str = ""  # What it is where it is no model


def answers(
    places: Sequence[Place], asked: dict[str, Any], jobs: int
) -> Iterator[tuple[int, Answer]]:
    """Yield what became of each file as it is known, with its number."""
    pool = _Pool(places, asked)
    threads = [
        threading.Thread(target=pool.work, daemon=True) for _ in range(min(jobs, len(places)))
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in places:
            told = pool.done.get()
            if isinstance(told, BaseException):
                raise told
            yield told
    finally:
        pool.stop()
        for thread in threads:
            thread.join()


class _Pool:
    """The processes, and what is left to do."""

    def __init__(self, places: Sequence[Place], asked: dict[str, Any]) -> None:
        self.done: queue.SimpleQueue[tuple[int, Answer] | BaseException] = queue.SimpleQueue()
        self._asked = asked
        self._lock = threading.Lock()
        self._left: Iterator[tuple[int, Place]] = iter(enumerate(places))
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def work(self) -> None:
        """Have one process after the other audit what is left: the next where one died."""
        try:
            while self._serve():
                pass
        except BaseException as error:  # noqa: BLE001  # raised where it is waited for
            self.done.put(error)

    def stop(self) -> None:
        """Begin nothing more, and end what runs."""
        with self._lock:
            self._left, self._stopped = iter(()), True
            for process in self._running:
                process.kill()

    def _serve(self) -> bool:
        """Audit with one process until nothing is left; tell whether it died before."""
        process: subprocess.Popen[str] | None = None
        try:
            while (job := self._next()) is not None:
                number, place = job
                if place.wrong:
                    answer = Answer(rows=(failed_row(place.path, place.wrong),))
                    self.done.put((number, answer))
                    continue
                process = process or self._start()
                line = _asks(process, json.dumps(asdict(place)))
                if not line.endswith("\n"):
                    self.done.put((number, Answer(rows=(_killed(place.path, process.wait()),))))
                    return True
                self.done.put((number, _read(line)))
            return False
        finally:
            if process is not None:
                self._end(process)

    def _next(self) -> tuple[int, Place] | None:
        with self._lock:
            return next(self._left, None)

    def _start(self) -> subprocess.Popen[str]:
        one = {name: "1" for name in _THREADS if name not in os.environ}
        process = subprocess.Popen(  # noqa: S603  # this program, on this Python
            [sys.executable, "-P", "-c", _PROGRAM.format(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if self._asked.get("verbose") else subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env=os.environ | one,
        )
        with self._lock:
            self._running.add(process)
            if self._stopped:
                process.kill()
        if _asks(process, json.dumps(self._asked)) != "ready\n":
            self._end(process)
            raise TreeauditError(
                f"a process that audits could not be started (exit code {process.wait()}): "
                "run with --verbose to see why"
            )
        return process

    def _end(self, process: subprocess.Popen[str]) -> None:
        with contextlib.suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
        with self._lock:
            self._running.discard(process)


def _asks(process: subprocess.Popen[str], line: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline()
    except OSError:
        return ""


def _read(line: str) -> Answer:
    told = json.loads(line, object_pairs_hook=_shared)
    rows = tuple(Row(**row) for row in told["rows"])
    return Answer(rows=rows, reports=tuple(told["reports"]), other=told["other"])


def _shared(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a mapping whose short texts are kept once: a million models say much the same."""
    return {k: sys.intern(v) if isinstance(v, str) and len(v) < _SHORT else v for k, v in pairs}


def _killed(path: str, code: int) -> Row:
    how = f"exit code {code}"
    if code < 0:
        with contextlib.suppress(ValueError):
            how = signal.Signals(-code).name
    return failed_row(path, f"the process that audited it was ended ({how}): it told nothing")


def serve() -> None:
    """Answer lines until there are none.

    The first says what is asked of every file: ``request`` (fields of
    `treeaudit.findings.request.Request` but the model), ``release_safe`` and whether
    ``reports`` are wanted.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks ends this one
    warnings.simplefilter("ignore")
    # What anything prints must not be taken for an answer.
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asked = json.loads(sys.stdin.readline())
    print("ready", file=told, flush=True)
    for line in sys.stdin:
        place = json.loads(line)
        print(json.dumps(_audit(asked, place["path"], named=place["named"])), file=told, flush=True)


def _audit(asked: dict[str, Any], path: str, *, named: bool) -> dict[str, Any]:
    """Return what became of a file: ``rows``, ``reports`` where asked for, or what ``other``."""
    words = {**asked["request"], "model": path}
    for field in ("sensitive", "attacks"):
        words[field] = None if words[field] is None else tuple(words[field])
    found: tuple[Report, ...] | str
    try:
        with limited(["scan", path, f"--max-bytes={words['max_bytes'] or 0}"]):
            found = attempt(Request(**words), named=named)
            if isinstance(found, str):
                return {"rows": [], "reports": [], "other": found}
            rows = [row_of(one, release_safe=asked["release_safe"]) for one in found]
            whole = statement if asked["release_safe"] else to_dict
            reports = [whole(one) for one in found] if asked["reports"] else []
    except Exception as error:  # noqa: BLE001  # a line, not the end
        # What is said of tables of people counts some of them.
        masked = asked["release_safe"] and isinstance(error, DataError)
        said = "the tables of people do not fit it" if masked else error
        rows, reports = [failed_row(path, said)], []
    return {"rows": [asdict(row) for row in rows], "reports": reports, "other": ""}
