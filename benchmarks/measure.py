"""Run a piece of Python in a fresh process and read what it cost."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

__all__ = ["PEERS", "Cost", "Program", "side_by_side"]

PEERS = Path(os.environ.get("TREEAUDIT_PEERS", Path(__file__).parents[1] / ".peers")) / (
    "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
)
"""The Python that `peers.txt` is installed for; `make bench` makes it."""

_PROGRAM = """
import json, os, resource, sys, time
# The threads of OpenBLAS spin after numpy is imported, and whatever runs then pays for them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
{setup}
begun = time.process_time()
{code}
used = time.process_time() - begun
usage = resource.getrusage(resource.RUSAGE_SELF)
# What it started counts too, such as the processes of a command.
started = resource.getrusage(resource.RUSAGE_CHILDREN)
# ru_maxrss begins with the size of the process that started this one; VmHWM does not.
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
children = started.ru_utime + started.ru_stime
peak = max(peak, started.ru_maxrss if children else 0)
process = usage.ru_utime + usage.ru_stime + children
print(json.dumps([used + children, process, peak / 1024]))
"""


class Program(NamedTuple):
    """What is measured.

    Attributes
    ----------
    setup, code
        Python that is run before, and the Python that is measured.
    peer
        Whether it needs what `peers.txt` installs.
    """

    setup: str
    code: str
    peer: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians over the runs.

    Attributes
    ----------
    call
        CPU seconds of the measured code, without its imports.
    process
        CPU seconds of the whole process.
    peak
        Largest resident set in megabytes.
    failed
        Why it could not be measured: the last line that it said; empty where it was.
    """

    call: float
    process: float
    peak: float
    failed: str = ""


def side_by_side(
    programs: Mapping[str, tuple[str, str] | Program], runs: int, *, warm_up: bool = True
) -> dict[str, Cost]:
    """Run every program in turn, several times, and return medians.

    Parameters
    ----------
    programs
        Setup and measured code by name; a `Program` may ask for the peers.
    runs
        How often; the programs alternate, so that a machine that drifts
        drifts for all of them.
    warm_up
        Whether a round goes before that is not counted.

    Raises
    ------
    FileNotFoundError
        If a peer is to be measured and none are installed.
    RuntimeError
        If a program of our own fails; that of a peer is said in its row.
    """
    figures: dict[str, list[list[float]]] = {name: [] for name in programs}
    failed: dict[str, str] = {}
    for turn in range(runs + warm_up):
        for name, program in programs.items():
            if name in failed:
                continue
            done = _run(Program(*program))
            if done.returncode:
                said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
                if not Program(*program).peer:
                    raise RuntimeError(f"{name}: {done.stderr}")
                failed[name] = said
            elif turn >= warm_up:
                figures[name].append(json.loads(done.stdout.splitlines()[-1]))
    return {
        name: Cost(0.0, 0.0, 0.0, failed[name])
        if name in failed
        else Cost(*(statistics.median(column) for column in zip(*rows, strict=True)))
        for name, rows in figures.items()
    }


def _run(program: Program) -> "subprocess.CompletedProcess[str]":
    if program.peer and not PEERS.is_file():
        raise FileNotFoundError(f"{PEERS} is not there: `make bench` installs the peers")
    code = _PROGRAM.format(setup=program.setup, code=program.code)
    return subprocess.run(
        [str(PEERS) if program.peer else sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
    )
