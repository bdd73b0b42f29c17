"""Run a piece of Python in a fresh process and read what it cost."""

import json
import statistics
import subprocess
import sys
from dataclasses import dataclass

__all__ = ["Cost", "side_by_side"]

_PROGRAM = """
import json, resource, sys, time
{setup}
begun = time.process_time()
{code}
used = time.process_time() - begun
usage = resource.getrusage(resource.RUSAGE_SELF)
# ru_maxrss begins with the size of the process that started this one; VmHWM does not.
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(json.dumps([used, usage.ru_utime + usage.ru_stime, peak / 1024]))
"""


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
    """

    call: float
    process: float
    peak: float


def side_by_side(programs: dict[str, tuple[str, str]], runs: int) -> dict[str, Cost]:
    """Run every program in turn, several times, and return medians.

    Parameters
    ----------
    programs
        Setup and measured code by name.
    runs
        How often; the programs alternate, so that a machine that drifts
        drifts for all of them. One warm-up round is not counted.
    """
    figures: dict[str, list[list[float]]] = {name: [] for name in programs}
    for turn in range(runs + 1):
        for name, (setup, code) in programs.items():
            program = _PROGRAM.format(setup=setup, code=code)
            done = subprocess.run(
                [sys.executable, "-c", program], capture_output=True, text=True, check=True
            )
            if turn:
                figures[name].append(json.loads(done.stdout.splitlines()[-1]))
    return {
        name: Cost(*(statistics.median(column) for column in zip(*rows, strict=True)))
        for name, rows in figures.items()
    }
