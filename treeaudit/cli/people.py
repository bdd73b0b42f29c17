"""The people of ``treeaudit reconstruct MODEL --people``."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeaudit.cli.console import echo, frame_grid, progress_bar, width_of
from treeaudit.errors import DataError
from treeaudit.files import write_file
from treeaudit.inference.boosted import BoostedSolution, infer_boosted
from treeaudit.inference.bootstrap import (
    BootstrapSolution,
    infer_bootstrap,
    not_reproducible,
    sample_counts,
)
from treeaudit.inference.domain import Domain
from treeaudit.inference.exact import Solution, infer_exact
from treeaudit.inference.explanation import ANY, likely_people, people, people_by_row
from treeaudit.inference.likely import infer_likely, not_likely
from treeaudit.inference.proof import proof_of
from treeaudit.inference.scope import (
    Budget,
    OutOfBudgetError,
    not_usable,
    stop_on_interrupt,
    subtract_known,
)
from treeaudit.model.schema_file import read_schema
from treeaudit.people.records import Records, read_records
from treeaudit.reports.plain_text import plain
from treeaudit.reports.table_files import save_people

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from treeaudit.model.forest import Forest
    from treeaudit.model.schema import Schema

    Proof = Callable[..., dict[str, Any]]
    Found = tuple[pd.DataFrame, Proof | None, str]
    Solve = Callable[[Forest, "Knowledge", Budget], Found]
    """To the people, what makes a proof where there is one, and a sentence."""
    Certain = Solution | BoostedSolution | BootstrapSolution


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What is known besides the file, and how long to look."""

    known: Path | None  # Training people whose values and labels are known
    test: Path | None  # People of the population who were not in the training data
    target: str | None  # Column of the labels in these tables
    schema: Path | None  # Which values the columns can have
    seconds: float  # The budget

    @property
    def public(self) -> "Schema | None":
        """What is known of the columns besides the file."""
        return None if self.schema is None else read_schema(self.schema)

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
    solve = _way(forest, knows)
    if proofs and (solve is not _certain or knows.known is not None):
        raise DataError(
            "a proof is of people who are certain from the leaves of a forest alone, "
            "without draws, steps or people who are known"
        )
    budget, content = Budget(seconds=knows.seconds), {}
    try:
        with progress_bar("who must be there"), stop_on_interrupt(), budget.spent():
            found, make_proof, said = solve(forest, knows, budget)
            if proofs and make_proof is not None:
                content = make_proof(over=budget.anew(1.0).over)
    except OutOfBudgetError as ended:
        who = "likely" if solve is _likely else "certain"
        reason = f"who is {who} was not settled after {ended}; --seconds raises the limit"
        raise DataError(reason) from ended
    for path in output:
        if path in proofs:
            text = json.dumps(content, separators=(",", ":"))
            written = write_file(path, text, force=force, private=True)
            echo(f"proof  {written}, of {content['certified']:,} people")
        else:
            echo(f"people  {save_people(found, path, force=force)}")
    if not output and len(found):
        _print(console, found.head(rows), forest)
    echo(said)


def _print(console: "Console", found: "pd.DataFrame", forest: "Forest") -> None:
    """Print people: a column each, or in one where that would not fit."""
    shown = frame_grid(found)
    if width_of(console, shown) > console.width:
        asked = {f.name: f.categories is not None for f in forest.schema.features}
        says = [
            _says(dict(zip(asked, row, strict=True)), asked) for row in found[[*asked]].to_numpy()
        ]
        shown = frame_grid(found.drop(columns=[*asked]).assign(rule=says))
    console.print(shown)


def _says(cells: Mapping[str, str], named: Mapping[str, bool]) -> str:
    """Return what is known of one person in a line; names that are texts may begin with a sign."""
    told = {name: text for name, text in cells.items() if text != ANY}
    bare = {name for name, text in told.items() if text[:1] in "<>≤≥" and not named[name]}
    parts = (f"{name} {'' if name in bare else '= '}{text}" for name, text in told.items())
    return " · ".join(parts) or "anybody"


def _way(forest: "Forest", knows: Knowledge) -> "Solve":
    """Return what tells most of the people of a model."""
    if forest.boosting is not None:
        return _boosted
    if knows.known is None and not_reproducible(forest) is None:
        with suppress(DataError):
            sample_counts(forest)
            return _in_order
    certain = not_usable(forest)
    if certain is not None and not_likely(forest) is not None:
        raise DataError(f"the people cannot be reconstructed: {certain}")
    return _certain if certain is None else _likely


def _certain(forest: "Forest", knows: Knowledge, budget: Budget) -> "Found":
    public, known = knows.public, knows.read(knows.known, forest)
    answer = infer_exact(forest if known is None else subtract_known(forest, known), public, budget)
    said = _said(answer.certified, answer.exact, answer, _besides(known))
    # A proof can take longer than the search: it is made for those who ask for it.
    proof = partial(proof_of, forest, answer, public=public is not None)
    return people(answer, forest.schema), proof, said


def _in_order(forest: "Forest", knows: Knowledge, budget: Budget) -> "Found":
    found = infer_bootstrap(forest, sample_counts(forest), knows.public, budget)
    said = _said(int(found.certain.sum()), int(found.exact.sum()), found)
    said += "; the row is that of the training table"
    return people_by_row(found, forest.schema), None, said


def _boosted(forest: "Forest", knows: Knowledge, budget: Budget) -> "Found":
    known = knows.read(knows.known, forest)
    found = infer_boosted(forest, knows.public, budget, known)
    said = _said(found.certified, found.exact, found, _besides(known))
    return people(found, forest.schema), None, said


def _besides(known: Records | None) -> str:
    return "" if known is None else f" besides the {len(known):,} who are known"


def _said(certain: int, exact: int, found: "Certain", besides: str = "") -> str:
    ended = "" if found.stopped is None else f"; ended after {found.stopped}"
    return (
        f"{certain:,} of {found.n_people:,} people{besides} are certain, "
        f"{exact:,} with every value that the model asks about{ended}; {_assumed(found.domain)}"
    )


def _assumed(domain: Domain) -> str:
    return plain(f"assumed: {'; '.join(domain.assumptions)}", 4_000)


def _likely(forest: "Forest", knows: Knowledge, budget: Budget) -> "Found":
    known, prior = knows.read(knows.known, forest), knows.read(knows.test, forest)
    answer = infer_likely(forest, knows.public, budget, known=known, prior=prior)
    expected = answer.people.probability.sum()
    return (
        likely_people(answer, forest.schema),
        None,
        f"nobody is certain; of the {answer.n_people:,} likeliest people about {expected:,.0f} are "
        f"expected to be in the training data, by the probabilities stated; "
        f"{_assumed(answer.domain)}",
    )
