"""How often guesses about people are right, tree by tree."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.case import Case
from treeaudit.attacks.stated import Codes
from treeaudit.people.records import Records
from treeaudit.table.labels import Labels

__all__ = ["Score", "leaf_guesses"]

Flag = npt.NDArray[np.bool_]
Float = npt.NDArray[np.float64]
Wide = npt.NDArray[np.int64]


@dataclass(slots=True, eq=False)
class Score:
    """How often guesses about some people are right; filled in tree by tree.

    In a forest each person counts once, with the share of their guesses that
    are right. A row that stands for several people counts as them.

    Attributes
    ----------
    records
        The people.
    code
        What is guessed of each: their labels unless told.
    """

    records: Records
    code: Codes | None = None
    times: Float = field(init=False)
    made: Float = field(init=False)
    right: Float = field(init=False)
    chance: Float = field(init=False)

    def __post_init__(self) -> None:
        self.made, self.right, self.chance = np.zeros((3, len(self.records)))
        times = self.records.times
        self.times = np.ones(len(self.records)) if times is None else times.astype(np.float64)
        if self.code is None:
            self.code = self.records.labels

    def add(self, guess: Codes, chance: Float | float = 1.0) -> None:
        """Take in one guess per person, -1 for none, and how certain it is said to be."""
        made = guess >= 0
        self.made += made
        self.right += made & (guess == self.code)
        self.chance += made * chance if isinstance(chance, float) else np.where(made, chance, 0.0)

    @property
    def n(self) -> int:
        """About how many people there is a guess."""
        return int(self.times[self.made > 0].sum())

    def of(self, right: Float) -> float:
        """Return the mean over people of some sum over their guesses."""
        asked = self.made > 0
        share, times = right[asked] / self.made[asked], self.times[asked]
        return float(np.clip((share * times).sum() / times.sum(), 0, 1))


def leaf_guesses(
    case: Case, records: Records, chosen: Flag, labels: Labels
) -> Iterator[tuple[Wide, Codes]]:
    """Guess what some leaves say of whoever fits them, tree by tree.

    Yields
    ------
    tuple
        The leaf of each person, and what it says: -1 where nothing.
    """
    # Whoever fits no leaf has position -1: the last entry.
    says = np.append(np.where(chosen, labels.top, -1), -1)
    for tree in range(case.forest.n_trees):
        if chosen[case.table.rows_of(tree)].any():
            at = case.table.positions(tree, records.node[:, tree])
            yield at, says.take(at)
