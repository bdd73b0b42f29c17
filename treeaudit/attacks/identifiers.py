"""Identifying features: a column that should not be in the model (TA201).

A row number or a customer ID among the features lets a tree cut the people
apart one by one. A column with nearly as many thresholds as there are people
is listed, value by value, in the file itself.
"""

import re
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.case import Case, Need
from treeaudit.findings.checks import Rule
from treeaudit.findings.details import Count, Details, People
from treeaudit.findings.findings import About, Figure, Finding, Skipped, View, Words, details_of
from treeaudit.findings.report import Report, Show
from treeaudit.model.forest import Forest

_ANYWHERE = frozenset("uuid guid iban surname lastname firstname fullname".split())
_LAST = frozenset(
    (
        "id ids uid pid ssn email mail passport phone telephone username userid customerid "
        "patientid personid recordid rowid rownum rownumber nhsnumber"
    ).split()
)
_WHOLE = frozenset({"index", "level 0"})
_PAIRS = re.compile(
    r"\b(row|record|case|customer|patient|person|client|account|member|user|social security|"
    r"nhs|ssn|personal|full|first|last|passport|phone|telephone)\s?"
    r"(id|no|nr|num|number|name|index|key)\b"
)
_SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")

_UNKNOWN = (
    "the file does not tell how many people there are, so nobody can say whether a feature is cut "
    "once per person: give the training data (--train)"
)

_OFF_GRID = 0.1
"""How far from a grid, in its half steps, a cut may be by rounding."""


def named_like_identifier(name: str) -> bool:
    """Tell whether a column is named like something that identifies people."""
    words = [word.lower() for word in _SPLIT.split(name) if word]
    text = " ".join(words)
    found = _ANYWHERE & {*words} or {*words[-1:]} & _LAST or text in _WHOLE or _PAIRS.search(text)
    return bool(found) or text.startswith("unnamed 0")


_FEATURES = Rule(
    name="max-identifying-features",
    title="Features that identify people",
    bound="at most {:,.0f}",
    tells_of="file",
    measure=lambda findings, _: float(len(details_of(findings[0], IdentifierDetails).features)),
    step="train again without identifying features, or with their values on a public grid",
    rests_on=("unit",),
)


def _view(result: Finding | Skipped, _: Report) -> View:
    if isinstance(result, Skipped):
        return View()
    n = len(details_of(result, IdentifierDetails).features)
    counted = Count(n, "feature that identifies", "features that identify people")
    return View(
        figure=Figure(number=counted, counts=""),
        step="leave out identifying features, or round them to a public grid",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifyingFeature(Details):
    """One feature that identifies people."""

    feature: str  # Its name
    thresholds: int  # Gaps between values that are cut, if nearly every one is; else its uses
    # Why it is listed
    named_like_identifier: bool
    nearly_every_value: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifierDetails(Details):
    """What TA201 found."""

    features: tuple[IdentifyingFeature, ...]  # Those that identify people
    people: People  # Whom they were judged by; 0 where that is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifiers:
    """Find features that identify people by themselves."""

    id: ClassVar[str] = "TA201"
    title: ClassVar[str] = "Identifying features"
    words: ClassVar[Words] = Words(
        kinds=("singling out", "exfiltration"),
        attacker="A row number, an ID or a finely measured column among the features cuts the "
        "people apart one by one. Its thresholds lie halfway between the values of two people, "
        "so that nearly every value can be read from the file.",
        assumes="the attacker has the file",
        remedy="train again without the column, or with its values rounded to a public grid",
        limit="names are only a hint, and a column can identify people without many thresholds; "
        "thresholds that a library draws at random are no values of people and are not counted",
        reference="a threshold of CART is the midpoint of two neighbouring training values",
    )
    about: ClassVar[About] = "file"
    checks: ClassVar[tuple[Rule, ...]] = (_FEATURES,)
    warns: ClassVar[bool] = True
    view: ClassVar[Show] = staticmethod(_view)
    needs: ClassVar[tuple[Need, ...]] = ()
    details: ClassVar[type[Details]] = IdentifierDetails
    # A feature that is cut in at least this many gaps between its values per person is given
    # away value by value; with the training data as many must have a value of their own
    share: float = 0.5
    fewest: int = 20  # Thresholds below which the share says nothing

    def run(self, case: Case) -> Finding | Skipped:
        """Return the features that are named or cut like identifiers."""
        forest, people = case.forest, _people(case)
        drawn = forest.source.draws_thresholds
        told = bool(people) and not drawn
        used, many, plain = _thresholds(forest, self._bar(people) if told else None)
        if case.train is not None:
            bar, values = self._bar(len(case.train)), case.train.values
            many = {i: n for i, n in many.items() if _alone(values[:, i]) >= bar}
        names = forest.schema.names
        hints = forest.schema.named
        named = {
            i
            for i in np.flatnonzero(used).tolist()
            if hints and i not in plain and named_like_identifier(names[i])
        }
        listed = [
            IdentifyingFeature(
                feature=names[i],
                thresholds=int(many[i]) if i in many else int(used[i]),
                named_like_identifier=i in named,
                nearly_every_value=i in many,
            )
            for i in np.flatnonzero(used).tolist()
            if i in many or i in named
        ]
        if not listed and not people and not drawn:
            asks = ("--train",)
            return Skipped(id=self.id, title=self.title, reason=_UNKNOWN, asks=asks)
        worst = any(entry.nearly_every_value for entry in listed)
        return Finding(
            id=self.id,
            title=self.title,
            severity="none" if not listed else "high" if worst else "medium",
            leaves=0,
            people=0,
            summary=_summary([entry.feature for entry in listed], hinted=hints),
            looked=_looked(int(np.count_nonzero(used)), hints, people, drawn),
            unseen=() if people or drawn else ("thresholds beside the number of people",),
            details=IdentifierDetails(features=tuple(listed), people=People(people)),
        )

    def _bar(self, people: int) -> int:
        return max(self.fewest, int(self.share * people))


def _people(case: Case) -> int:
    if case.forest.n_records is not None:
        return case.forest.n_records
    if not case.table.tells_people:
        return 0 if case.train is None else len(case.train)
    return int(case.table.per_tree(case.table.size).max())


def _alone(column: npt.NDArray[np.floating[Any]]) -> int:
    """Return how many people have a value of their own."""
    return int(np.count_nonzero(np.unique(column, return_counts=True)[1] == 1))


def _gaps(cuts: npt.NDArray[np.float64], n_trees: int) -> int:
    """Return in how many gaps between neighbouring values of a column its cuts lie.

    Cuts that differ by rounding are one: a scaler makes many of one age. Several trees
    cut halfway between values that are no neighbours, too: on a grid of values they cut
    at each half step, and two half steps are a gap.
    """
    cuts = np.unique(cuts)
    least = 2 * np.spacing(np.float32(np.abs(cuts).max()))
    cuts = cuts[np.diff(cuts, prepend=-np.inf) > least]
    if n_trees == 1 or len(cuts) < 3:
        return len(cuts)
    span = cuts[-1] - cuts[0]
    steps = (cuts - cuts[0]) / span * np.rint(span / np.diff(cuts).min())
    whole = np.rint(steps)
    if np.abs(steps - whole).max() > _OFF_GRID:
        return len(cuts)
    return min(len(np.unique((whole + phase) // 2)) for phase in (0, 1))


def _looked(features: int, named: bool, people: int, drawn: bool) -> tuple[str, ...]:
    """Say what the features were judged by."""
    if drawn:
        return ("names of features",) * named or ("thresholds, which were drawn at random",)
    of = "of 1 feature" if features == 1 else f"of {features:,} features"
    found = [f"names {of}"] if named else []
    return (*found, f"thresholds {of} beside {people:,} people") if people else tuple(found)


def _thresholds(
    forest: Forest, bar: int | None
) -> tuple[npt.NDArray[np.int64], dict[int, int], frozenset[int]]:
    """Return uses per feature, the gaps that those at the bar are cut in, and the indicators.

    Gaps are only counted where there are enough uses to matter, and
    nowhere without a bar: who does not know how many people there are cannot
    say that nearly all their values are there. An indicator is only ever cut
    between 0 and 1: it says yes or no, whatever its name.
    """
    width = len(forest.schema.features)
    used = np.zeros(width, dtype=np.int64)
    between = np.zeros(width, dtype=np.int64)
    bar = sys.maxsize if bar is None else bar
    kept: list[list[npt.NDArray[np.float64]]] = [[] for _ in range(width)]
    # A feature must show this many cuts per tree on average to reach the bar.
    least = max(1, bar // max(forest.n_trees, 1) // 2)
    for tree in forest.trees:
        closed = np.isfinite(tree.high)
        edges = np.flatnonzero((tree.feature >= 0) & closed)
        feature = tree.feature[edges]
        here = np.bincount(feature, minlength=width)
        used += np.bincount(tree.feature[1:], minlength=width)
        # Cut by the upper end, or where that is open by the lower one.
        cut = (tree.high > 0) & (tree.high < 1)
        cut |= ~closed & (tree.low > 0) & (tree.low < 1)
        between += np.bincount(tree.feature[cut & (tree.feature >= 0)], minlength=width)
        enough = np.flatnonzero(here >= least)
        if not len(enough):
            continue
        # Few features are sorted as small numbers, by counting them.
        order = np.argsort(feature.astype(np.min_scalar_type(width)), kind="stable")
        high, end = tree.high[edges[order]], np.cumsum(here)
        for i in enough.tolist():
            kept[i].append(high[end[i] - here[i] : end[i]])
    many = {}
    for i in np.flatnonzero([len(parts) for parts in kept]).tolist():
        if sum(len(part) for part in kept[i]) >= bar:
            gaps = _gaps(np.concatenate(kept[i]), forest.n_trees)
            if gaps >= bar:
                many[i] = gaps
    return used, many, frozenset(np.flatnonzero((used > 0) & (used == between)).tolist())


def _summary(features: list[str], *, hinted: bool) -> str:
    if not features and not hinted:
        return "No feature is cut once per person; the file does not name them."
    if not features:
        return "No feature is named like an identifier or cut once per person."
    quoted = ", ".join(repr(name) for name in features[:3]) + (", …" if len(features) > 3 else "")
    verb = "identifies" if len(features) == 1 else "identify"
    return f"{quoted} {verb} people: an ID, a row number or a column given away value by value."
