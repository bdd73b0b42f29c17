"""The finding about one sort of leftovers: what was found, how bad it is, what was not seen."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, Protocol

from treeaudit.attacks.case import Case
from treeaudit.findings.details import Details
from treeaudit.findings.findings import SEVERITIES, Finding, Severity, Skipped
from treeaudit.findings.numbers import People
from treeaudit.model.leftovers import FEWEST_RECORDS, Kind, Leftover

__all__ = ["Sorts", "beside"]

_NAMES: Mapping[Kind, str] = {
    "labels": "the labels in row order",
    "out-of-bag": "a prediction for each record",
    "records": "training records",
    "targets": "single targets",
    "category-counts": "counts of labels by category",
    "notes": "plain notes",
    "extra": "content beyond the model",
    "unseen": "parts that could not be read",
    "seeds": "seeds",
    "column-values": "values of single columns",
    "first-round-counts": "exact class counts of the first round",
    "extremes": "smallest and largest values of columns",
    "flaws": "known flaws of the library that wrote it",
    "calls": "names outside the usual libraries",
    "code": "program code",
}

# What was not examined may hold anything but code, of which names alone are run.
_BLIND: frozenset[Kind] = frozenset({"extra", "unseen"})
# Kinds of which `Leftover.n` counts people.
_PEOPLE = frozenset({"labels", "out-of-bag", "records", "targets", "first-round-counts"})

# What every copy of the model holds, too: odd labels, and odd names of columns.
_OF_NAMES = re.compile(r"(^|\.)(classes_|feature_names_in_)\[\d+\]$")


# Libraries whose pickles hold no more than their own forms do, or are not read.
_NOT_ASKED = ("XGBoost", "CatBoost")
# Forms that hold a model as it was fitted.
_WHOLE = ("sklearn-pickle", "sklearn-joblib", "sklearn-skops", "treeaudit-pickle", "memory")


class Sorts(Protocol):
    """An attack on one sort of leftovers.

    Attributes
    ----------
    grades
        How bad each kind is.
    counted
        The numbers of its details and the kinds that each counts.
    details
        What holds those numbers.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    grades: ClassVar[Mapping[Kind, Severity]]
    counted: ClassVar[Mapping[str, tuple[Kind, ...]]]
    details: ClassVar[type[Details]]


def beside(attack: Sorts, case: Case, clear: str) -> Finding | Skipped:
    """Return the finding with the numbers of ``counted``.

    Where `Leftover.n` counts people the number is that of the largest entry, for
    they are the same people; otherwise it is the sum.
    """
    grades, leftovers = attack.grades, case.forest.leftovers
    held = [one for least, one in leftovers.groups if least < case.k]
    found = [one for one in (*leftovers.found, *held) if one.kind in grades]
    hiding = frozenset() if "calls" in grades else _BLIND - set(grades)
    needed = (*grades, *sorted(hiding))
    missing = [kind for kind in needed if kind not in leftovers.looked_for]
    blind = [one.where for one in leftovers.found if one.kind in hiding]
    unseen = (*_listed(missing), *blind)
    if not found and unseen:
        return Skipped(id=attack.id, title=attack.title, reason=_reason(case, missing, blind))
    people = max((one.n for one in found if one.kind in _PEOPLE), default=0)
    if any(one.kind == "seeds" for one in found):
        people = case.forest.n_records or 0
    worst: Severity = max((grades[one.kind] for one in found), key=SEVERITIES.index, default="none")
    details: Callable[..., Details] = attack.details
    return Finding(
        id=attack.id,
        title=attack.title,
        severity=worst,
        leaves=0,
        people=people,
        summary=_summary(found, grades) if found else clear,
        looked=_listed(kind for kind in grades if kind in leftovers.looked_for),
        unseen=unseen,
        details=details(
            people=People(people),
            **{name: _count(found, kinds) for name, kinds in attack.counted.items()},
            leftovers=tuple(found),
        ),
    )


def _listed(kinds: Iterable[Kind]) -> tuple[str, ...]:
    return tuple(_NAMES[kind] for kind in kinds)


def _reason(case: Case, missing: Sequence[Kind], blind: list[str]) -> str:
    """Say what was not looked at, and what to do."""
    if not case.forest.leftovers.looked_for:
        return "nobody looked: the model was put together in Python; scan the file it is written to"
    n = case.forest.n_records
    if list(missing) == ["records"] and n is not None and n < FEWEST_RECORDS:
        return (
            f"in a model of {n:,} people an array of as many entries may be anything: whether "
            "training records are inside cannot be told; train on more people"
        )
    if missing:
        kinds, source = ", ".join(_listed(missing)), case.forest.source
        if source.library in _NOT_ASKED:
            return (
                f"nothing looks for {kinds} in this model of {source.library}, in whatever form: "
                "it stays open; a model of scikit-learn or LightGBM can be asked"
            )
        if source.format in _WHOLE:
            return f"nothing looks for {kinds} in this {source.estimator}: it stays open"
        return (
            f"nobody looks for {kinds} in this form of a model ({source.format}): "
            "scan the model that it was made from, such as a pickle"
        )
    places = ", ".join(blind[:3]) + (", …" if len(blind) > 3 else "")
    step = "write the model anew with treeaudit release"
    if all(_OF_NAMES.search(where) for where in blind):
        step = "give these labels and columns other names and train again"
    return f"parts of the file were not audited ({places}): {step}"


def _count(found: list[Leftover], kinds: tuple[Kind, ...]) -> int:
    numbers = [one.n for one in found if one.kind in kinds]
    return People(max(numbers, default=0)) if _PEOPLE.issuperset(kinds) else sum(numbers)


def _summary(found: list[Leftover], grades: Mapping[Kind, Severity]) -> str:
    """Say the worst in full and name the other kinds."""
    first = max(found, key=lambda one: SEVERITIES.index(grades[one.kind]))
    text = f"{first.says[:1].upper()}{first.says[1:]} ({first.where})"
    others = dict.fromkeys(one.kind for one in found if one.kind != first.kind)
    if others:
        text += f"; also {', '.join(_NAMES[kind] for kind in others)}"
    return text + "."
