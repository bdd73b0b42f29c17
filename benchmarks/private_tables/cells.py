"""What is measured, a cell at a time, and the file that keeps it: a line of JSON a cell."""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = [
    "CHOSEN_ON",
    "EPSILONS",
    "HELD_OUT",
    "TABLES",
    "Cell",
    "Score",
    "forget",
    "keep",
    "mend",
    "scores_in",
]

CHOSEN_ON = ("adult", "nursery", "mushroom")
"""The tables on which defaults were chosen."""

HELD_OUT = (
    "car",
    "claves",
    "connect4",
    "krkopt",
    "loan",
    "magic",
    "pendigits",
    "tic_tac_toe",
    "wall_following",
)
"""The tables on which nothing was chosen."""

TABLES = CHOSEN_ON + HELD_OUT
EPSILONS = (0.1, 0.5, 1.0, 2.0)


@dataclass(frozen=True, slots=True)
class Cell:
    """One fit.

    Attributes
    ----------
    table, seed
        Name of the table, and the random split.
    model
        Name of the model.
    epsilon
        None for a model that is not private.
    """

    table: str
    seed: int
    model: str
    epsilon: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What a fit reached on the people it had not seen.

    Attributes
    ----------
    accuracy, auc
        Shares; None if it failed.
    seconds
        CPU seconds of fit and answers.
    by
        Library and version.
    failed
        The error, if there was one.
    """

    accuracy: float | None
    auc: float | None
    seconds: float
    by: str
    failed: str | None = None


def keep(file: Path, cell: Cell, score: Score) -> None:
    """Append a line, in one write: workers share the file."""
    line = json.dumps({**asdict(cell), **asdict(score)}) + "\n"
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, line.encode())
    finally:
        os.close(handle)


def mend(file: Path) -> None:
    """Cut off a line that a killed run left unfinished."""
    if file.exists() and not (held := file.read_bytes()).endswith(b"\n"):
        os.truncate(file, held.rfind(b"\n") + 1)


def scores_in(file: Path) -> dict[Cell, Score]:
    """Return what is there; of a cell that was measured twice, the last."""
    if not file.exists():
        return {}
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        held = json.loads(line)
        cell = Cell(*(held.pop(name) for name in Cell.__slots__))
        found[cell] = Score(**held)
    return found


def forget(file: Path, models: Iterable[str]) -> None:
    """Remove the cells of some models, so that they are measured again."""
    gone = set(models)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []
    file.write_text("".join(x for x in lines if json.loads(x)["model"] not in gone), "utf-8")
