"""What two releases give away: as JSON, a page, Markdown, a table of people, and in words."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeaudit.attacks.differencing import Differencing
from treeaudit.comparison.differencing import Difference
from treeaudit.files import check_free, suffix_of, write_file
from treeaudit.inference.exact import Solution
from treeaudit.inference.releases import MovedPeople
from treeaudit.model.forest import Forest
from treeaudit.model.words import number_of
from treeaudit.reports.changes import marked
from treeaudit.reports.html import framed
from treeaudit.reports.plain_text import plain
from treeaudit.reports.table_files import save_people
from treeaudit.reports.to_json import HEAD, as_json
from treeaudit.version import __version__

if TYPE_CHECKING:
    from treeaudit.comparison.differencing import Named


_FORMATS = ("html", "json", "md", "txt", "csv", "parquet")
_SHOWN = 20
"""People on a page; all of them are in a table."""
_TONES = {
    "NAMED": "bad",
    "LIKELY NAMED": "bad",
    "LABEL TOLD": "bad",
    "NOT FINISHED": "warn",
    "NOBODY NAMED": "ok",
}


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


def _model(forest: Forest, answer: Solution) -> dict[str, Any]:
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


def _moved(moved: MovedPeople) -> dict[str, int]:
    return {"people": moved.n_people, "named": moved.named, "exact": moved.exact}


def dumps(difference: Difference) -> str:
    """Return the difference as JSON text."""
    return as_json(to_dict(difference))


def lines(difference: Difference, rows: int = _SHOWN) -> Iterator[str]:
    """Yield what there is to say, people first."""
    found = difference.found
    yield _tables(difference)
    yield from (f"  {plain(one)}" for one in _fewer(difference))
    yield ""
    yield from _who(difference, rows)
    yield ""
    yield from _conclusions(difference)
    if found.domain.assumptions:
        yield "What the files do not say:"
    yield from (f"  {plain(one)}" for one in found.domain.assumptions)


def _tables(difference: Difference) -> str:
    old, new = difference.found.old, difference.found.new
    return f"{_people(old.n_people)} in the old table, {new.n_people:,} in the new one"


def _fewer(difference: Difference) -> Iterator[str]:
    for i, n in enumerate(difference.found.fewer):
        if n:
            yield f"{abs(n):,} {'fewer' if n > 0 else 'more'} with {difference.label(i)}"


def _verdict(difference: Difference) -> str:
    """Say in a word whether somebody is named, as the exit code does."""
    if difference.certain:
        return "NAMED"
    if difference.if_nobody_else_moved or difference.beyond_new > 0:
        return "LIKELY NAMED"
    if difference.told:
        return "LABEL TOLD"
    return "NOBODY NAMED" if difference.found.stopped is None else "NOT FINISHED"


def _headline(difference: Difference) -> str:
    n = difference.certain
    if n:
        needs = difference.certain_if
        where = f" if {' and '.join(needs)}" if needs else ""
        return f"{_people(n)} who moved, for certain{where}, whoever else did:"
    if difference.if_nobody_else_moved:
        return "Nobody who moved is named for certain. If nobody else moved, these are:"
    so_far = "" if difference.found.stopped is None else " so far"
    return f"Nobody who moved is named{so_far}."


def _who(difference: Difference, rows: int) -> Iterator[str]:
    yield f"{'NAMED  ' if difference.certain else ''}{_headline(difference)}"
    named = difference.named
    for one in named[:rows]:
        yield f"  {one.moved:4}  {_described(one)}"
    if len(named) > rows:
        yield f"  {len(named) - rows:,} more: add -o people.csv for all, or --rows N"


def _described(one: "Named") -> str:
    return f"{plain(one.says, 4000)}  ({_how(one)})"


def _how(one: "Named") -> str:
    times = "" if one.people == 1 else f"{one.people:,} people, "
    how = "certain" if one.certain else "if nobody else moved"
    return f"{times}{how}{', every value' if one.exact else ''}"


def _conclusions(difference: Difference) -> Iterator[str]:
    """Yield what follows from who is named, and what was not searched."""
    found = difference.found
    yield from _assumed(difference)
    if difference.beyond_new > 0:
        yield (
            f"If so, both files name {_people(difference.beyond_new)} of the new table with every "
            f"value whom the new one alone does not ({found.new.exact:,})."
        )
    if found.stopped is not None:
        yield f"Not finished: ended after {found.stopped}; --seconds gives more."


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


def to_markdown(difference: Difference) -> str:
    """Return the difference as Markdown, for pull requests; the first people alone."""
    old, new = difference.old.source, difference.new.source
    parts = [
        f"## {_verdict(difference)}: {marked(_name(old.path))} → {marked(_name(new.path))}",
        f"{_tables(difference)}. {_headline(difference)}",
    ]
    if named := difference.named:
        table = ["| | what is certain | |", "|---|---|---|"]
        table += [f"| {one.moved} | {marked(one.says)} | {_how(one)} |" for one in named[:_SHOWN]]
        parts.append("\n".join(table))
    if len(named) > _SHOWN:
        parts.append(f"{len(named) - _SHOWN:,} more.")
    parts += [marked(one) for one in (*_fewer(difference), *_conclusions(difference))]
    assumed = [f"- assumed: {marked(one)}" for one in difference.found.domain.assumptions]
    parts += ["\n".join(assumed)] if assumed else []
    return "\n\n".join(parts) + "\n"


def to_html(difference: Difference) -> str:
    """Return the difference as one page, without a network and without JavaScript."""
    from treeaudit.reports.html import environment

    named = difference.named
    return (
        environment()
        .get_template("difference.html.j2")
        .render(
            old=_name(difference.old.source.path),
            new=_name(difference.new.source.path),
            verdict=_verdict(difference),
            tone=_TONES[_verdict(difference)],
            headline=_headline(difference).rstrip(":"),
            tables=_tables(difference),
            fewer=list(_fewer(difference)),
            named=[(one.moved, plain(one.says, 4000), _how(one)) for one in named[:_SHOWN]],
            more=len(named) - _SHOWN,
            told=list(_conclusions(difference)),
            assumptions=difference.found.domain.assumptions,
            version=__version__,
        )
    )


def _name(path: str | None) -> str:
    return "a model in memory" if path is None else plain(Path(path).name, 300)


def check_output(path: Path, *, force: bool) -> None:
    """Refuse a file that the difference cannot be written to, before long work begins."""
    suffix_of(path, _FORMATS, "what two releases give away")
    check_free(path, force=force)


def save(difference: Difference, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write the difference in the format that the suffix of the path tells."""
    path = Path(path)
    check_output(path, force=force)
    form = path.suffix.lower()
    if form in (".csv", ".parquet"):
        return save_people(difference.people, path, force=force)
    made = {".json": dumps, ".html": to_html, ".md": to_markdown, ".txt": to_text}
    text = made[form](difference)
    return write_file(path, text, force=force, private=True)


def in_notebook(difference: Difference) -> str:
    """Return the page in a frame."""
    return framed(to_html(difference), 480)
