"""What each trainer writes: the rows of its ledger, and what its file must hold with them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from treeaudit.dataclass import dataclass
from treeaudit.dp.gaussian import GAUSSIAN
from treeaudit.dp.ledger import Query
from treeaudit.dp.missing_rows import (
    all_points,
    all_ranks,
    counted_all,
    counted_first,
    fewer_below,
    pays_for_draws,
)
from treeaudit.dp.row_numbers import tell_more
from treeaudit.dp.sampling import BOOTSTRAP
from treeaudit.model.forest import Forest

__all__ = ["FORMS", "STUMPS", "Form", "contradicted", "is_row"]

STUMPS = "columns"
"""The row of the tables of all columns, each of which asks everybody anew."""

_TREE = r"(?:tree \d{1,6}: )"
_LEVEL = r"of level \d{1,3}"
_SPLITS = rf"splits {_LEVEL}"
_OF_TREE = r"leaf counts of tree \d{1,6}"
_ALL, _PARTS = ("all",), ("all", "disjoint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a trainer writes.

    Attributes
    ----------
    needs
        Names of rows, as patterns, that each of its ledgers has.
    may
        Those that it can have, too.
    records
        What `Forest.records_are` can be.
    sums
        Whether nodes hold what their leaves hold together; else each has noise of its own.
    afterwards
        What is done to the noisy counts, as in `Noise`; None where no law is told.
    counted
        Whether the people of a node are asked before it is split.
    each
        Whether the people of leaves are asked, too.
    concentrated
        Whether rows may be told by a rho.
    """

    needs: tuple[str, ...]
    may: tuple[str, ...] = ()
    records: tuple[str, ...] = _ALL
    sums: bool = True
    afterwards: tuple[str, ...] | None = ()
    counted: bool = False
    each: bool = False
    concentrated: bool = False


_GREEDY = Form(
    needs=("people", "leaf counts"), may=(_SPLITS,), sums=False, afterwards=("shrunk", "clipped")
)
_NUMBERS = Form(
    needs=("people and their sum", "distances from the mean", "leaf sums"),
    may=(rf"sums {_LEVEL}", _SPLITS),
    sums=False,
    afterwards=None,
)


FORMS: Mapping[str, Form] = {
    "PrivateTreeClassifier": _GREEDY,
    "PrivateForestClassifier": replace(_GREEDY, records=_PARTS),
    "PrivateAdditiveTreeClassifier": Form(
        needs=("people", "leaf counts", "weights"),
        may=(STUMPS, _SPLITS),
        sums=False,
        afterwards=None,
        concentrated=True,
    ),
    "DPDFClassifier": Form(
        needs=(r"tree 1: classes of level 1",),
        may=(rf"tree \d{{1,6}}: (?:classes|splits) {_LEVEL}",),
        sums=False,
    ),
    "DiffPID3Classifier": Form(
        needs=("people of level 1", "leaf counts"),
        may=(
            rf"people {_LEVEL}",
            _SPLITS,
            r"points of .*, level \d{1,3}",
            rf"values(?: and classes)? of attribute \d{{1,6}} {_LEVEL}",
        ),
        afterwards=("clipped", "scaled"),
        counted=True,
        each=True,
    ),
    "SmoothSensitivityForestClassifier": Form(
        needs=("leaf labels",), records=("disjoint",), afterwards=None
    ),
    "SulqID3Classifier": Form(
        needs=("leaf counts",), may=(rf"values and classes of column \d{{1,6}} {_LEVEL}",)
    ),
    "ExponentialID3Classifier": Form(needs=("leaf counts",), may=(_SPLITS,)),
    "BootstrapForestClassifier": Form(
        needs=("tree 1: leaf counts", "records drawn again"),
        may=(rf"tree \d{{1,6}}: (?:leaf counts|(?:people|splits) {_LEVEL})",),
        records=("bootstrap",),
        counted=True,
    ),
    "MidpointForestClassifier": Form(
        needs=("leaf counts",),
        may=(rf"(?:people|splits|midpoints) {_LEVEL}",),
        records=("disjoint",),
        counted=True,
    ),
    "RandomCountForestClassifier": Form(needs=(_OF_TREE,), may=("people",)),
    "SemiSupervisedForestClassifier": Form(
        needs=(_OF_TREE,), records=("unknown",), afterwards=None
    ),
    "SignalToNoiseForestClassifier": Form(
        needs=(_OF_TREE,), may=("people",), sums=False, afterwards=("clipped", "shrunk")
    ),
    "ThresholdForestClassifier": Form(
        needs=(_OF_TREE,), may=("people",), records=("unknown",), afterwards=None
    ),
    "TopDownSpecializationClassifier": Form(
        needs=("groups",), may=(r"specialization \d{1,5}",)
    ),
    "PrivateTreeRegressor": _NUMBERS,
    "PrivateForestRegressor": replace(_NUMBERS, records=_PARTS),
}  # fmt: skip
"""By the class of the trainer. A row that is asked of parts is parallel, and of ``columns`` never.

What was not asked, and what a search chose by, are rows of any of them.
"""

_ONCE = re.compile(
    r"people|people and their sum|distances from the mean|weights|specialization \d{1,5}"
    r"|records drawn again|the best of \d{1,4} candidates"
)
"""Asked of everybody: disjoint parts there are none."""
_TOGETHER = re.compile(
    rf"leaf counts|leaf labels|leaf sums|groups|(?:splits|people|sums|midpoints) {_LEVEL}"
    rf"|points of .*, level \d{{1,3}}|values(?: and classes)? of .* {_LEVEL}",
    re.DOTALL,
)
"""Asked of the nodes of all trees together, which hold disjoint parts where trees do."""
_CHOSEN = re.compile(
    rf"leaf labels|weights|specialization \d{{1,5}}|{_TREE}?splits {_LEVEL}"
    r"|points of .*, level \d{1,3}|the best of \d{1,4} candidates",
    re.DOTALL,
)
"""Answered by a choice; all others are counts, or pay for draws."""
_LABELS = "leaf labels"
_EVERY = re.compile(
    "|".join(dict.fromkeys(name for form in FORMS.values() for name in (*form.needs, *form.may))),
    re.ASCII | re.DOTALL,
)
_OF_SEARCH = re.compile(
    r"not asked: the trees stopped early|the best of [1-9]\d{0,3} candidates"
    r"|earlier fits of the same account",
    re.ASCII,
)
_CANDIDATE = re.compile(r"candidate [1-9]\d{0,3}: ", re.ASCII)
_POINTS = re.compile(r"points of (.*), level \d{1,3}", re.ASCII | re.DOTALL)


def is_row(name: str, columns: Sequence[str]) -> bool:
    """Tell whether a row of this name is one that a trainer writes for such columns.

    Examples
    --------
    >>> names = "points of km/h, level 1", "points of km, level 1", "leaf counts", "ann is ill"
    >>> [is_row(name, ["km/h"]) for name in (*names, "candidate 2: tree 10: splits of level 3")]
    [True, False, True, False, True]
    """
    found = _CANDIDATE.match(name)
    asked = name[found.end() :] if found else name
    if found is None and _OF_SEARCH.fullmatch(asked):
        return True
    about = _POINTS.fullmatch(asked)
    if about is not None:
        return _as_read(about[1]) in map(_as_read, columns)
    return _EVERY.fullmatch(asked) is not None


def _as_read(name: str) -> str:
    """Return a name as it comes out of a file, which holds no half characters."""
    return name.encode("utf-8", "backslashreplace").decode()


def contradicted(forest: Forest, fits: Sequence[Sequence[Query]], units: int) -> bool:
    """Tell whether the rows of any fit are not those of the trainer, or of the file they are in.

    Parameters
    ----------
    forest
        The model.
    fits
        What was asked: of a search, for each of its candidates.
    units
        In how many records neighbours differ.
    """
    form = FORMS.get(forest.source.estimator)
    if form is not None and not _is_of(form, forest, fits):
        return True
    if form is None and not all(is_row(row.name, forest.schema.names) for f in fits for row in f):
        return True
    if form is not None and form.each and not _asks_each(forest, fits):
        return True
    n_trees = forest.n_trees if len(fits) == 1 else None
    if any(tell_more(rows, units, n_trees) for rows in fits):
        return True
    return any(_costs_more(forest, rows, form, units) for rows in fits)


def _asks_each(forest: Forest, fits: Sequence[Sequence[Query]]) -> bool:
    """Tell whether a fit asked for all nodes of the trees, and each fit for points of the root.

    Candidates of a search may cut numbers otherwise than the one that was chosen.
    """
    ranges = forest.source.parameters.get("numbers", "ranges") == "ranges"
    mine = [rows for rows in fits if all_points(rows, forest.schema, ranges=ranges)]
    others = [rows for rows in fits if all_points(rows, forest.schema, ranges=not ranges)]
    if any(rows not in mine and rows not in others for rows in fits):
        return False
    return any(counted_all(rows, forest.trees) for rows in mine)


def _is_of(form: Form, forest: Forest, fits: Sequence[Sequence[Query]]) -> bool:
    """Tell whether the file and the names of the rows are those of a trainer."""
    known = re.compile("|".join((*form.needs, *form.may)), re.ASCII | re.DOTALL)
    # Which records a tree saw is not told beside labels that were made of counts.
    labels = forest.counts_are == "label-only"
    if forest.records_are not in ((*form.records, "unknown") if labels else form.records):
        return False
    if forest.noise is not None and (*forest.noise.afterwards,) != form.afterwards:
        return False
    columns = forest.schema.names
    for rows in fits:
        names = [row.name for row in rows]
        if not all(known.fullmatch(name) and is_row(name, columns) for name in names):
            return False
        if not all(any(re.fullmatch(need, name) for name in names) for need in form.needs):
            return False
    return True


def _costs_more(forest: Forest, rows: Sequence[Query], form: Form | None, units: int) -> bool:
    """Tell whether asking costs more than the composition of a row says, or a row is missing."""
    names = {row.name for row in rows}
    # Without stumps there was a tree alone, whatever a search chose.
    own = 1 if STUMPS in (*names, *(() if form is None else form.may)) else forest.n_trees
    apart = forest.records_are == "disjoint" or (form is not None and "disjoint" in form.records)
    for row in rows:
        if row.rho and form is not None and not form.concentrated:
            return True
        counted = row.mechanism in ("discrete Laplace", GAUSSIAN)
        if row.mechanism != BOOTSTRAP and counted == bool(_CHOSEN.fullmatch(row.name)):
            return True
        if row.composition == "sequential":
            continue
        if row.name == STUMPS or (row.asked > 1 and _ONCE.fullmatch(row.name)):
            return True
        if own > 1 and not apart and _TOGETHER.fullmatch(row.name):
            return True
    if _LABELS in names and forest.counts_are != "label-only":
        return True
    if forest.records_are == "bootstrap" and not pays_for_draws(rows, units):
        return True
    if not (all_ranks(rows, forest.schema) and fewer_below(rows)):
        return True
    return form is not None and form.counted and not counted_first(rows)
