"""Damage model files at random and see that reading them never goes wrong.

Run ``python -m tests.fuzz.mutate --seconds 600`` from the root of the
repository. Every input is read whole. A finding is any exception that is not a
`ReadError`, a message that is no single line, or a read of more than ten CPU
seconds; its bytes are kept in the folder that ``--keep`` names.
"""

import argparse
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.fuzz.genuine import seeds
from tests.fuzz.mutants import Mutator
from tests.outcome import refusal

LONGEST = 10


class Slow(BaseException):
    """Reading took too long."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise `Slow` after so many CPU seconds."""

    def ring(signum: int, frame: FrameType | None) -> None:
        raise Slow

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fuzz(
    inputs: Iterable[object], seed: int, keep: Path | None = None
) -> tuple[Counter[str], list[str]]:
    """Read one damaged file for each of the inputs; return the outcomes and the findings."""
    mutator = Mutator(seeds(), seed)
    outcomes: Counter[str] = Counter()
    findings: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        path = Path(folder) / "model"
        for _ in inputs:
            made = mutator.make()
            path.write_bytes(made)
            try:
                with alarm(LONGEST):
                    outcome = type(refusal(path)).__name__
            except (Exception, Slow) as error:  # noqa: BLE001  # this is what it looks for
                last = traceback.extract_tb(error.__traceback__)[-1]
                outcome = "finding"
                where = f"{type(error).__name__} {Path(last.filename).name}:{last.lineno}"
                if where not in findings:
                    findings[where] = f"{where}: {str(error)[:200]}"
                    if keep is not None:
                        keep.mkdir(parents=True, exist_ok=True)
                        name = f"{where.replace(' ', '-').replace(':', '-')}.bin"
                        (keep / name).write_bytes(made)
            outcomes[outcome] += 1
    return outcomes, list(findings.values())


def until(seconds: float) -> Iterator[None]:
    """Yield for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield


def main() -> int:
    """Parse the command line and fuzz."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the inputs that went wrong")
    options = parser.parse_args()
    outcomes, findings = fuzz(until(options.seconds), options.seed, options.keep)
    print(f"{outcomes.total():,} inputs:", dict(outcomes.most_common()))
    print(*findings, sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
