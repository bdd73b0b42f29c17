"""What two releases give away: as JSON, as a table of people, and in words."""

import os
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeaudit.attacks.differencing import Differencing
from treeaudit.comparison.difference import Difference
from treeaudit.model.forest import Forest
from treeaudit.model.words import number_of
from treeaudit.output import check_free, suffix_of, write_file
from treeaudit.reconstruction.answer import Answer
from treeaudit.reconstruction.moved import Moved
from treeaudit.reports.plain_text import plain
from treeaudit.reports.table_files import save_people
from treeaudit.reports.to_json import HEAD, as_json

if TYPE_CHECKING:
    from treeaudit.comparison.difference import Named

__all__ = ["check_output", "dumps", "in_notebook", "lines", "save", "to_dict", "to_text"]

_FORMATS = ("json", "txt", "csv", "parquet")


def to_dict(difference: Difference) -> dict[str, Any]:
    """Return the difference as plain data."""
    found, together = difference.found, difference.found.together
    fewer = {difference.label(i): n for i, n in enumerate(found.fewer)}
    return {
        **HEAD,
        "attack": Differencing.id,
        "old": _model(difference.old, found.old),
        "new": _model(difference.new, found.new),
        "fewer": fewer,
        "gives_away": difference.gives_away,
        "certain": {"left": _moved(found.left), "came": _moved(found.came)},
        "if_nobody_else_moved": None
        if together is None
        else {
            "left": _moved(together.left),
            "came": _moved(together.came),
            "exact_in_new": together.kept_exact,
            "labels_told": [
                {"moved": moved, "people": n, "label": label}
                for moved, n, label in difference.told
            ],
        },
        "named": [
            {"moved": one.moved, "people": one.people, "certain": one.certain,
             "exact": one.exact, "says": one.says}
            for one in difference.named
        ],
        "assumptions": list(found.domain.assumptions),
        "stopped": found.stopped,
    }  # fmt: skip


def _model(forest: Forest, answer: Answer) -> dict[str, Any]:
    return {
        "path": forest.source.path,
        "sha256": forest.source.sha256,
        "estimator": forest.source.estimator,
        "n_trees": forest.n_trees,
        "trees_used": answer.n_trees,
        "people": answer.n_people,
        "certified": answer.certified,
        "exact": answer.exact,
    }


def _moved(moved: Moved) -> dict[str, int]:
    return {"people": moved.n_people, "named": moved.named, "exact": moved.exact}


def dumps(difference: Difference) -> str:
    """Return the difference as JSON text."""
    return as_json(to_dict(difference))


def lines(difference: Difference, rows: int = 20) -> Iterator[str]:
    """Yield what there is to say, people first."""
    found = difference.found
    yield f"{_people(found.old.n_people)} in the old table, {found.new.n_people:,} in the new one"
    for i, n in enumerate(found.fewer):
        if n:
            more = "fewer" if n > 0 else "more"
            yield f"  {abs(n):,} {more} with {plain(difference.label(i))}"
    yield ""
    yield from _who(difference, rows)
    yield ""
    yield from _assumed(difference)
    if difference.beyond_new > 0:
        yield (
            f"If so, both files name {_people(difference.beyond_new)} of the new table with every "
            f"value whom the new one alone does not ({found.new.exact:,})."
        )
    if found.stopped is not None:
        yield f"The search ended after {found.stopped}: more with --seconds."
    if found.domain.assumptions:
        yield "What the files do not say:"
    yield from (f"  {plain(one)}" for one in found.domain.assumptions)


def _who(difference: Difference, rows: int) -> Iterator[str]:
    n = difference.certain
    if n:
        yield f"NAMED  {_people(n)} who moved, for certain, whoever else did:"
    elif difference.if_nobody_else_moved:
        yield "Nobody who moved is named for certain. If nobody else moved, these are:"
    else:
        so_far = "" if difference.found.stopped is None else " so far"
        yield f"Nobody who moved is named{so_far}."
    named = difference.named
    for one in named[:rows]:
        yield f"  {one.moved:4}  {_described(one)}"
    if len(named) > rows:
        yield f"  {len(named) - rows:,} more: add -o people.csv for all, or --rows N"


def _described(one: "Named") -> str:
    times = "" if one.people == 1 else f"{one.people:,} people, "
    how = "certain" if one.certain else "if nobody else moved"
    return f"{plain(one.says, 4000)}  ({times}{how}{', every value' if one.exact else ''})"


def _assumed(difference: Difference) -> Iterator[str]:
    together, found = difference.found.together, difference.found
    if together is None:
        yield "Of one label some people left and some came: no fewer people moved than is named."
        return
    n = sum(map(abs, found.fewer))
    named, exact = difference.if_nobody_else_moved, together.left.exact + together.came.exact
    if not n:
        yield "The files do not show that anybody moved."
        return
    yield (
        f"If nobody moved but the {n:,} by whom the labels differ, {named:,} of them "
        f"{'is' if named == 1 else 'are'} named, {exact:,} with every value that a model asks "
        "about."
    )
    for moved, people, label in difference.told:
        who = f"Whoever {moved}" if people == 1 else f"Everybody who {moved}"
        yield f"{who} has {plain(label)}: to know who {moved} is to know the label."


def _people(n: int) -> str:
    return number_of(n, "person", "people")


def to_text(difference: Difference) -> str:
    """Return the difference in words."""
    return "\n".join(lines(difference)) + "\n"


def check_output(path: Path, *, force: bool) -> None:
    """Refuse a file that the difference cannot be written to, before long work begins.

    Raises
    ------
    DataError
        If its format is unknown, the file exists, or there is no such folder.
    """
    suffix_of(path, _FORMATS, "what two releases give away")
    check_free(path, force=force)


def save(difference: Difference, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write the difference in the format that the suffix of the path tells.

    Raises
    ------
    DataError
        If the suffix is unknown or the file exists already.
    """
    path = Path(path)
    check_output(path, force=force)
    form = path.suffix.lower()
    if form in (".csv", ".parquet"):
        return save_people(difference.people, path, force=force)
    text = dumps(difference) if form == ".json" else to_text(difference)
    return write_file(path, text, force=force, private=True)


def in_notebook(difference: Difference) -> str:
    """Return the words, escaped."""
    return f"<pre>{escape(to_text(difference))}</pre>"
