"""What a trainer says of itself in a line of Table I, and all lines together.

References
----------
Fletcher & Islam (2019), Decision tree classification with differential privacy: a survey, table I.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from inspect import getdoc
from typing import ClassVar, Protocol, get_args

from treeaudit.dp.ledger import Neighbours

__all__ = ["Listed", "as_markdown", "as_text", "parameters_as_text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A line of Table I. In all of it β is the epsilon of the fit.

    Attributes
    ----------
    paper
        Who published it, and when.
    query
        What a question may cost.
    tree
        ``greedy`` or ``random``.
    depth
        Levels of questions unless told.
    trees
        How many unless told.
    numbers
        What becomes of columns of numbers.
    published
        Whether it keeps its promise as printed.
    sound
        What the variant with a proof promises.
    """

    paper: str
    query: str
    tree: str
    depth: str
    trees: str
    numbers: str
    published: str
    sound: str = "β"


class Trainer(Protocol):
    """What a line is made from."""

    algorithm: ClassVar[str]
    listed: ClassVar[Listed]

    def get_params(self) -> dict[str, object]:
        """Return its parameters by name."""


_HEADS = (
    *("algorithm", "paper", "budget per query", "tree", "depth", "trees"),
    *("continuous attributes", "as published", "sound", "accuracy"),
)
_SHARED = {
    *("budget", "epsilon", "n_jobs", "neighbours", "outside", "random_state", "rows_per_person"),
    *("schema", "variant"),
}
_BOTH = ", ".join(get_args(Neighbours))
_FIELDS = tuple(field.name for field in fields(Listed))


def _line(trainer: type[Trainer], measured: Mapping[str, str]) -> tuple[str, ...]:
    told = (getattr(trainer.listed, name) for name in _FIELDS)
    return trainer.algorithm, *told, measured.get(trainer.algorithm, "not measured")


def as_text(trainers: Iterable[type[Trainer]], measured: Mapping[str, str]) -> str:
    """Return the table as text, a block for each trainer.

    Parameters
    ----------
    measured
        By algorithm, how accurate it was in the benchmark, in words.
    """
    wide = max(map(len, _HEADS))
    blocks = []
    for trainer in trainers:
        name, *line = _line(trainer, measured)
        said = [
            *zip(_HEADS[1:], line, strict=True),
            ("neighbours", ", ".join(get_args(Neighbours))),
        ]
        blocks.append("\n".join([name, *(f"  {head:{wide}}  {words}" for head, words in said)]))
    return "\n\n".join(blocks)


def as_markdown(trainers: Iterable[type[Trainer]], measured: Mapping[str, str]) -> str:
    """Return the same as a table in Markdown; all trainers know both kinds of neighbours."""
    rows = [_HEADS, ("---",) * len(_HEADS), *(_line(trainer, measured) for trainer in trainers)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def parameters_as_text(trainer: type[Trainer]) -> str:
    r"""Return the parameters that a trainer can be given, with what it says of them.

    Examples
    --------
    >>> from treeaudit.trainers import DPDFClassifier
    >>> parameters_as_text(DPDFClassifier).split("\n")[3]
    "  loop='d <= delta'"
    """
    told = [(getdoc(trainer) or "").split("\n", 1)[0], ""]
    told.append("Parameters, as NAME=VALUE after --set or in Python:")
    words: dict[str, list[str]] = {}
    # Its own words first; "as in" another class is what that one says.
    for kind in (trainer, *trainer.__mro__):
        for name, said in _said(kind).items():
            words.setdefault(name, said)
    for name, default in sorted(trainer().get_params().items(), key=lambda one: one[0] in _SHARED):
        told += [f"  {name}={default!r}", *(f"      {line}" for line in words.get(name, ()))]
    return "\n".join(told)


def _said(kind: type) -> dict[str, list[str]]:
    """Return what a docstring says of each parameter, but for those that it leaves to others."""
    section = (getdoc(kind) or "").partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    words: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.split("\n"):
        if not line.startswith(" "):
            names = line.split(", ")
        else:
            for name in names:
                words.setdefault(name, []).append(line.strip())
    return {name: said for name, said in words.items() if not said[0].startswith("As in")}
