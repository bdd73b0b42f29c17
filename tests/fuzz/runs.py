"""Run an oracle: judge many mutants, load those that would pass, go on where a run stopped.

Reading a mutant is cheap, a fork is not: those that are not refused and hold nothing that a
check of the file forbids are loaded together in one fork. Whoever ends it is told apart,
and whatever it found is found again in a fork of its own.
"""

import argparse
import gc
import json
import random
import signal
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from tests.fuzz.mutate import Slow, alarm
from tests.fuzz.sandbox import sandboxed
from treeaudit import Forest, scan
from treeaudit.errors import TreeauditError
from treeaudit.findings.policy import Policy
from treeaudit.model.source import KINDS
from treeaudit.readers import load_all

__all__ = ["Compare", "File", "Run", "alone", "main", "settled", "sift"]

LONGEST = 10
_ROUND, _BATCH = 1_000, 250
# Of the mutants that are read, one in so many is scanned too.
_SCANNED = 100
FILE_CHECKS = Policy(
    name="file",
    values={"max-training-rows-inside": 0, "max-calls": 0, "max-extra-bytes": 4096},
)
_FORBIDDEN = frozenset("extra unseen calls code labels out-of-bag records targets".split())
_FORBIDDEN |= {"category-counts"}

File = tuple[bytes, str]
"""Bytes, and how they were damaged."""
Compare = Callable[[bytes, Sequence[Forest], Callable[[str], None]], None]
"""Loads a file and says what it saw, beside what was read of it."""


@dataclass(slots=True)
class Run:
    """What a run has seen.

    Attributes
    ----------
    seed
        Of every mutant, together with the number of its round.
    rounds
        How many rounds are done.
    seconds
        CPU time of this process and its forks.
    outcomes
        How often each kind of file ended in what way.
    findings
        What was found, by the name under which the mutant was kept.
    """

    seed: int = 0
    rounds: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: dict[str, str] = field(default_factory=dict)

    def mutants(self) -> int:
        """Return how many files of the run were damaged."""
        return sum(n for name, n in self.outcomes.items() if not name.startswith("genuine"))


def verdict(path: Path) -> str:
    """Return ``refused``, ``named`` or ``clean``, as a scan of the file says."""
    try:
        report = scan(path, policy=FILE_CHECKS, attacks=("TA202", "TA205", "TA206"))
    except TreeauditError:
        return "refused"
    return "clean" if report.verdict == "pass" else "named"


def read(path: Path) -> tuple[str, list[Forest]]:
    """Return the same without an audit, and what was read."""
    try:
        forests = load_all(path)
        for forest in forests:
            for _ in forest.trees:
                pass
    except TreeauditError:
        return "refused", []
    kinds = {one.kind for forest in forests for one in forest.extras.found}
    # What nobody looked for is skipped, which is no pass.
    kinds |= {kind for forest in forests for kind in KINDS - forest.extras.looked_for}
    return ("named" if kinds & _FORBIDDEN else "clean"), forests


def settled(said: Sequence[str]) -> str:
    """Return ``equal``, ``not loaded`` or ``finding: …`` for what a comparison said."""
    for line in said:
        if line.startswith(("stopped", "different")):
            return f"finding: {line}"
    if said[-1:] and said[-1].startswith("died") and "loading" not in said[-2:-1]:
        return f"finding: {said[-2:]}"
    return "equal" if "equal" in said else "not loaded"


def alone(data: bytes, forests: Sequence[Forest], compare: Compare, native: bool = False) -> str:
    """Load a file in a fork of its own; return ``equal``, ``not loaded`` or ``finding: …``."""
    return settled(sandboxed(lambda say: compare(data, forests, say), native))


def _together(
    files: Sequence[tuple[bytes, Sequence[Forest]]], compare: Compare, native: bool
) -> list[str]:
    """Return the same of each, with one fork for all up to the one that ends it."""
    outcomes: list[str] = []
    while len(outcomes) < len(files):
        todo = files[len(outcomes) :]

        def act(say: Callable[[str], None], todo: Any = todo) -> None:
            for data, forests in todo:
                signal.alarm(LONGEST)
                compare(data, forests, say)
                say("done")

        said = sandboxed(act, native, n=len(todo))
        while "done" in said:
            outcomes.append(settled(said[: said.index("done")]))
            said = said[said.index("done") + 1 :]
        if len(outcomes) < len(files):
            outcomes.append("finding: the fork ended")
    return [
        alone(*one, compare, native) if outcome.startswith("finding") else outcome
        for one, outcome in zip(files, outcomes, strict=True)
    ]


def sift(
    files: Iterable[File],
    compare: Compare,
    *,
    native: bool = False,
    name: str = "",
    keep: Path | None = None,
) -> tuple[Counter[str], dict[str, str]]:
    """Return how often each kind of file ended in what way, and the findings by name."""
    outcomes: Counter[str] = Counter()
    findings: dict[str, str] = {}

    def note(data: bytes, kind: str, outcome: str) -> None:
        if outcome.startswith("finding"):
            found = f"{name}-{outcomes.total()}"
            findings[found] = outcome
            outcome = "finding"
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{found}.bin").write_bytes(data)
        outcomes[f"{kind} {outcome}"] += 1

    files = iter(files)
    # In memory where the system has such a place.
    shared = Path("/dev/shm")
    where = shared if shared.is_dir() else None
    with tempfile.TemporaryDirectory(dir=where) as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        path = Path(folder) / "model"
        while batch := list(islice(files, _BATCH)):
            clean = []
            for data, kind in batch:
                outcome, forests = _judged(path, data)
                if outcome == "clean":
                    clean.append((data, kind, forests))
                else:
                    note(data, kind, outcome)
            ends = _together([(data, forests) for data, _, forests in clean], compare, native)
            for (data, kind, _), outcome in zip(clean, ends, strict=True):
                note(data, kind, outcome)
    return outcomes, findings


def _judged(path: Path, data: bytes) -> tuple[str, list[Forest]]:
    path.write_bytes(data)
    try:
        with alarm(LONGEST):
            outcome, forests = read(path)
            if forests and random.randrange(_SCANNED) == 0 and len(forests) == 1:
                scanned = verdict(path)
                if scanned != outcome:
                    return f"finding: the scan says {scanned}, not {outcome}", []
    except (Exception, Slow) as error:  # noqa: BLE001  # this is what it looks for
        return f"finding: {type(error).__name__} {str(error)[:200]}", []
    finally:
        # What was read maps the file: it must not be written over.
        path.unlink()
    return outcome, forests


def main(
    genuine: Callable[[], Iterable[File]],
    mutants: Callable[[], Callable[[str], Iterator[File]]],
    compare: Compare,
    *,
    native: bool = False,
) -> int:
    """Parse the command line and run: the genuine files, then rounds of their mutants.

    Parameters
    ----------
    genuine
        Makes the good files.
    mutants
        Prepares; what it returns makes mutants without end from the seed of a round.
    compare
        Loads a file and compares.
    native
        Whether the library is called through ctypes.
    """
    parser = argparse.ArgumentParser(description="Compare damaged files with what libraries load.")
    parser.add_argument("--seconds", type=float, default=60, help="of CPU time, in all")
    parser.add_argument("--mutants", type=int, help="so many, however long it takes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the mutants that are findings")
    parser.add_argument("--state", type=Path, help="file to go on from, and to be kept up to date")
    asked = parser.parse_args()
    run = _resumed(asked.state, asked.seed)
    begun, before = time.process_time(), run.seconds
    told: dict[str, Any] = {"native": native, "keep": asked.keep}
    if not run.outcomes:
        _take(run, sift(genuine(), compare, name="genuine", **told))
    make = mutants()
    gc.freeze()
    spent = _children()
    while True:
        left = _ROUND if asked.mutants is None else asked.mutants - run.mutants()
        run.seconds = before + time.process_time() - begun + _children() - spent
        if asked.state is not None:
            _keep(run, asked.state)
        if left <= 0 or (asked.mutants is None and run.seconds >= asked.seconds):
            break
        name = f"{run.seed}-{run.rounds}"
        random.seed(name)
        files = islice(make(name), min(left, _ROUND))
        _take(run, sift(files, compare, name=name, **told))
        run.rounds += 1
    print(f"{run.outcomes.total():,} files, {run.seconds:,.0f} CPU seconds, seed {run.seed}")
    for name, n in sorted(run.outcomes.items()):
        print(f"{name}: {n}")
    for name, said in run.findings.items():
        print(f"{name}: {said}")
    return 1 if run.findings else 0


def _children() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _take(run: Run, told: tuple[Counter[str], dict[str, str]]) -> None:
    run.outcomes += told[0]
    run.findings |= told[1]


def _resumed(state: Path | None, seed: int) -> Run:
    if state is None or not state.exists():
        return Run(seed=seed)
    told = json.loads(state.read_text())
    return Run(**told | {"outcomes": Counter(told["outcomes"])})


def _keep(run: Run, state: Path) -> None:
    draft = state.with_suffix(".draft")
    draft.write_text(json.dumps({name: getattr(run, name) for name in run.__slots__}))
    draft.replace(state)
