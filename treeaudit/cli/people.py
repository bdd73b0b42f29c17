"""The people of ``treeaudit reconstruct MODEL --people``."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treeaudit.cli.grid import frame_grid
from treeaudit.errors import DataError
from treeaudit.model.schema_file import read_schema
from treeaudit.output import write_file
from treeaudit.people.records import Records, read_records
from treeaudit.reconstruction.answer import reconstruct
from treeaudit.reconstruction.budget import Budget, OutOfBudgetError, heeding_interrupts
from treeaudit.reconstruction.informed import without
from treeaudit.reconstruction.likely import not_likely, reconstruct_likely
from treeaudit.reconstruction.proof import proof_of
from treeaudit.reconstruction.scope import not_usable
from treeaudit.reconstruction.words import likely_people, people
from treeaudit.reports.table_files import save_people

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from treeaudit.model.forest import Forest

__all__ = ["Knowledge", "show_people"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What is known besides the file, and how long to look.

    Attributes
    ----------
    known
        Training people whose values and labels are known.
    test
        People of the population who were not in the training data.
    target
        Column of the labels in these tables.
    schema
        Which values the columns can have.
    seconds
        The budget.
    """

    known: Path | None
    test: Path | None
    target: str | None
    schema: Path | None
    seconds: float

    def read(self, path: Path | None, forest: "Forest") -> Records | None:
        """Return a table of people with labels."""
        return None if path is None else read_records(path, forest, target=self.target)


def show_people(
    console: "Console",
    forest: "Forest",
    knows: Knowledge,
    output: list[Path],
    rows: int,
    *,
    force: bool,
) -> None:
    """Print or write who is certain, or likely where nobody can be certain."""
    proofs = [path for path in output if path.suffix.lower() == ".json"]
    certain = not_usable(forest)
    if certain is not None and not_likely(forest) is not None:
        raise DataError(f"the people cannot be reconstructed: {certain}")
    if proofs and (certain is not None or knows.known is not None):
        raise DataError("a proof is of people who are certain from the file alone")
    solve = _certain if certain is None else _likely
    found, proof, said = solve(forest, knows)
    for path in output:
        if path in proofs:
            content = json.dumps(proof, separators=(",", ":"))
            console.print(f"proof  {write_file(path, content, force=force, private=True)}")
        else:
            console.print(f"people  {save_people(found, path, force=force)}", soft_wrap=True)
    if not output:
        console.print(frame_grid(found.head(rows)))
    console.print(said)


def _certain(forest: "Forest", knows: Knowledge) -> tuple["pd.DataFrame", object, str]:
    public = None if knows.schema is None else read_schema(knows.schema)
    known = knows.read(knows.known, forest)
    others = forest if known is None else without(forest, known)
    budget = Budget(seconds=knows.seconds)
    with heeding_interrupts(), budget.spent():
        answer = reconstruct(others, public, budget)
    ended = "" if answer.stopped is None else f"; ended after {answer.stopped}"
    besides = "" if known is None else f" besides the {len(known):,} who are known"
    return (
        people(answer, forest.schema),
        None if known is not None else proof_of(forest, answer, public=public is not None),
        f"{answer.certified:,} of {answer.n_people:,} people{besides} are certain, "
        f"{answer.exact:,} with every value that the model asks about{ended}",
    )


def _likely(forest: "Forest", knows: Knowledge) -> tuple["pd.DataFrame", object, str]:
    public = None if knows.schema is None else read_schema(knows.schema)
    known, prior = knows.read(knows.known, forest), knows.read(knows.test, forest)
    budget = Budget(seconds=knows.seconds)
    try:
        with heeding_interrupts(), budget.spent():
            answer = reconstruct_likely(forest, public, budget, known=known, prior=prior)
    except OutOfBudgetError as ended:
        reason = f"who is likely had not settled after {ended}: more with --seconds"
        raise DataError(reason) from ended
    expected = answer.people.probability.sum()
    return (
        likely_people(answer, forest.schema),
        None,
        f"nobody is certain; of the {answer.n_people:,} likeliest people about {expected:,.0f} are "
        "expected to be in the training data, by the probabilities stated",
    )
