"""Read files in a process of its own that watches what the reading does.

Run as ``python -m tests.hostile.sandbox FOLDER``: prints one line of JSON per
file, with the class of the error, CPU seconds, peak memory, growth and the audit events
that no reader may cause. Every file is read in a fork of its own.
"""

import contextlib
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from treeaudit import ReadError, load
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.readers import READERS
from treeaudit.writers import save

FORBIDDEN = (
    "compile",
    "exec",
    "import",
    "pickle.find_class",
    "os.",
    "subprocess.",
    "socket.",
    "shutil.",
    "ctypes.",
    "marshal.",
    "code.__new__",
    "sys.settrace",
    "urllib.",
    "http.",
    "ftplib.",
    "smtplib.",
    "glob.",
    "pty.",
    "webbrowser.",
    "winreg.",
    "_winapi.",
    "syslog.",
)


def main(folder: Path) -> int:
    """Read every file of the folder."""
    allowed: set[str] = set()
    events: list[str] = []

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path = arguments[0]
            # What was unpacked may go to a file without a name in the temporary folder.
            if isinstance(path, int) or str(path) in allowed:
                return
            events.append(f"open {path}")
        elif event.startswith(FORBIDDEN):
            events.append(f"{event} {arguments!r}"[:200])

    names = sorted(folder.iterdir())
    _warm_up()
    print(json.dumps({"started": True}), flush=True)
    sys.addaudithook(watch)
    for path in names:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            continue
        allowed = {str(path), os.fspath(tempfile.gettempdir())}
        events.clear()
        line = _read(path)
        print(json.dumps(line | {"events": events[:5]}), flush=True)
        os._exit(0)
    return 0


def _read(path: Path) -> dict[str, Any]:
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    outcome = "model"
    try:
        forest = load(path)
        for tree in forest.trees:
            del tree
    except ReadError as error:
        outcome = type(error).__name__
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "name": path.name,
        "outcome": outcome,
        "seconds": seconds,
        "megabytes": peak // 1024,
        "grown": 1024 * (peak - base),
    }


def _warm_up() -> None:
    """Import what a reader loads on demand: codecs, lz4, the parts of numpy, other libraries."""
    import bz2
    import hashlib  # noqa: F401
    import lzma
    import pickletools  # noqa: F401
    import threading  # noqa: F401
    import zlib

    with contextlib.suppress(ImportError):
        import lz4.frame  # noqa: F401
    for codec in ("utf-8", "latin1", "ascii", "raw_unicode_escape", "utf-16", "utf-32", "cp437"):
        "a".encode(codec).decode(codec)
    np.linalg.lstsq(np.eye(2), np.ones(2), rcond=None)
    np.unique(np.eye(2), axis=0)
    for form in READERS:
        assert form.reader
    with contextlib.suppress(ReadError):
        load({"no": "model"})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        tree = Tree(
            parent=[-1, 0, 0],
            feature=[-1, 0, 0],
            low=[-np.inf, -np.inf, 0],
            high=[np.inf, 0, np.inf],
        )
        save(Forest(trees=(tree,), schema=Schema.numeric(1), counts_are="absent"), path)
        load(path)
        for packed in (zlib.compress(b"x"), bz2.compress(b"x"), lzma.compress(b"x")):
            path.write_bytes(packed)
            with contextlib.suppress(ReadError):
                load(path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
