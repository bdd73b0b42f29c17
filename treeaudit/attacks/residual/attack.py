"""The residual content of a file beside its trees (TA202 to TA206).

Readers note in `Forest.extras` what they find and what they looked for; the attacks here sort it
by what an attacker can do with it, and say how to take it out. A kind that no reader looked for is
never clear.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from treeaudit.attacks.case import Case, Need
from treeaudit.attacks.residual.details import (
    CodeDetails,
    DrawDetails,
    ExtraDetails,
    ResidualDetails,
    TrainingDataDetails,
    ValueDetails,
)
from treeaudit.findings.checks import Measure, Rule, most
from treeaudit.findings.details import Details, People
from treeaudit.findings.findings import (
    SEVERITIES,
    About,
    Figure,
    Finding,
    Severity,
    Skipped,
    View,
    Words,
    details_of,
)
from treeaudit.findings.report import Report, Show
from treeaudit.model.forest import Forest
from treeaudit.model.source import FEWEST_RECORDS, Extra, Kind

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

# Kinds of which `Extra.n` counts people.
_PEOPLE = frozenset({"labels", "out-of-bag", "records", "targets", "first-round-counts"})

# Forms that hold a model as it was fitted.
_WHOLE = ("sklearn-pickle", "sklearn-joblib", "sklearn-skops", "treeaudit-pickle", "memory")


def _listed(kinds: Iterable[Kind]) -> tuple[str, ...]:
    return tuple(_NAMES[kind] for kind in kinds)


def _reason(case: Case, missing: Sequence[Kind], blind: list[str]) -> str:
    if not case.forest.extras.looked_for:
        return "nobody looked: the model was put together in Python; scan the file it is written to"
    n = case.forest.n_records
    if list(missing) == ["records"] and n is not None and n < FEWEST_RECORDS:
        return (
            f"in a model of {n:,} people an array of as many entries may be anything: whether "
            "training records are inside cannot be told; train on more people"
        )
    if missing:
        kinds, source = ", ".join(_listed(missing)), case.forest.source
        if source.library in ("XGBoost", "CatBoost"):
            return (
                f"nothing looks for {kinds} in this model of {source.library}, in whatever form: "
                "it stays open; a model of scikit-learn or LightGBM can be asked"
            )
        if source.format.startswith("r-") and list(missing) == ["targets"]:
            return "a leaf of one person has her number, and sizes are not told: it stays open"
        if source.format in _WHOLE:
            return f"nothing looks for {kinds} in this {source.estimator}: it stays open"
        return (
            f"nobody looks for {kinds} in this form of a model ({source.format}): "
            "scan the model that it was made from, such as a pickle"
        )
    places = ", ".join(blind[:3]) + (", …" if len(blind) > 3 else "")
    step = "write the model anew with treeaudit release"
    return f"parts of the file were not audited ({places}): {step}"


def _count(found: list[Extra], kinds: tuple[Kind, ...]) -> int:
    """Add up what the entries hold; of people the largest entry counts: they are the same ones."""
    numbers = [one.n for one in found if one.kind in kinds]
    return People(max(numbers, default=0)) if _PEOPLE.issuperset(kinds) else sum(numbers)


def _summary(found: list[Extra], grades: Mapping[Kind, Severity]) -> str:
    first = max(found, key=lambda one: SEVERITIES.index(grades[one.kind]))
    text = f"{first.says[:1].upper()}{first.says[1:]} ({first.where})"
    others = dict.fromkeys(one.kind for one in found if one.kind != first.kind)
    if others:
        text += f"; also {', '.join(_NAMES[kind] for kind in others)}"
    return text + "."


def _view(result: Finding | Skipped, _: Report) -> View:
    if isinstance(result, Skipped) or not result.people:
        return View()
    return View(figure=Figure(number=People(result.people), counts=""))


def _rows_inside(findings: Sequence[Finding], _: Forest) -> float | None:
    """Measure the people who have a row in the file beside the trees."""
    people = float(details_of(findings[0], ResidualDetails).people)
    # Something was found that is no row, such as counts of labels.
    return None if not people and findings[0].status == "found" else people


def _extra(findings: Sequence[Finding], _: Forest) -> float | None:
    """Measure the bytes beyond the model; none where parts were not read."""
    details = details_of(findings[0], ExtraDetails)
    n = float(details.extra_bytes + details.note_bytes)
    return None if details.unread_parts and not n else n


def _not_plain(findings: Sequence[Finding], _: Forest) -> str | None:
    """Say that a few bytes which are no plain note may hold anything."""
    n = details_of(findings[0], ExtraDetails).extra_bytes
    return f"{n:,} bytes are no plain note: what they hold was not examined" if n else None


def _code_inside(findings: Sequence[Finding], _: Forest) -> float:
    return float(details_of(findings[0], CodeDetails).code)


def _code_by_name(findings: Sequence[Finding], _: Forest) -> tuple[float, str]:
    """Say what of somebody else's code the file names, which nobody can judge from here."""
    details = details_of(findings[0], CodeDetails)
    names = ", ".join(one.where for one in details.leftovers[:3] if one.kind == "calls")
    return float(details.calls + details.code), f"somebody has to read the code of {names}"


def _rule(name: str, title: str, measure: Measure, **more: Any) -> Rule:  # noqa: ANN401  # parts of a rule
    parts: dict[str, Any] = {"tells_of": "file", **more}
    return Rule(
        name=name, title=title, bound="at most {:,.0f}", measure=measure, rests_on=(), **parts
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ResidualAttack:
    """An attack on some kinds of content beside the trees."""

    id: ClassVar[str]
    title: ClassVar[str]
    grades: ClassVar[Mapping[Kind, Severity]]
    counted: ClassVar[Mapping[str, tuple[Kind, ...]]]
    details: ClassVar[type[Details]]
    clear: ClassVar[str]
    about: ClassVar[About] = "file"
    view: ClassVar[Show] = staticmethod(_view)
    needs: ClassVar[tuple[Need, ...]] = ()

    def run(self, case: Case) -> Finding | Skipped:
        """Return the finding with the numbers of ``counted``."""
        grades, extras = self.grades, case.forest.extras
        groups = [one for least, one in extras.groups if least < case.k]
        found = [one for one in (*extras.found, *groups) if one.kind in grades]
        hiding = frozenset() if "calls" in grades else _BLIND - set(grades)
        missing = [one for one in (*grades, *sorted(hiding)) if one not in extras.looked_for]
        blind = [one.where for one in extras.found if one.kind in hiding]
        unseen = (*_listed(missing), *blind)
        if not found and unseen:
            return Skipped(id=self.id, title=self.title, reason=_reason(case, missing, blind))
        people = max((one.n for one in found if one.kind in _PEOPLE), default=0)
        if any(one.kind == "seeds" for one in found):
            people = case.forest.n_records or 0
        worst: Severity = max(
            (grades[one.kind] for one in found), key=SEVERITIES.index, default="none"
        )
        details: Callable[..., Details] = self.details
        return Finding(
            id=self.id,
            title=self.title,
            severity=worst,
            leaves=0,
            people=people,
            summary=_summary(found, grades) if found else self.clear,
            looked=_listed(kind for kind in grades if kind in extras.looked_for),
            unseen=unseen,
            details=details(
                people=People(people),
                **{name: _count(found, kinds) for name, kinds in self.counted.items()},
                leftovers=tuple(found),
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData(_ResidualAttack):
    """Find rows of the training data in the file."""

    id: ClassVar[str] = "TA202"
    title: ClassVar[str] = "Training data inside"
    words: ClassVar[Words] = Words(
        kinds=("exfiltration",),
        attacker="Beside its trees a file can hold the training data itself: a label, a prediction "
        "or a whole record per person, in the order of the training table. It only has to be "
        "read out.",
        assumes="the attacker has the file; with the order of the training table, every entry has "
        "a name",
        remedy="write a file that holds the trees alone: treeaudit release model.pkl -o "
        "clean.pkl. If the label of one person is the value of a leaf, train with "
        "min_samples_leaf of at least 5",
        limit="an array is taken for records by its name or its length; data in another form is "
        "listed as extra content (TA206)",
        reference="scikit-learn since 1.9 keeps _sample_weight in forests; a regression leaf keeps "
        "mean and variance of its targets; CVE-2024-5206",
    )
    checks: ClassVar[tuple[Rule, ...]] = (
        _rule(
            "max-training-rows-inside",
            "People with a row of their own in the file",
            _rows_inside,
            tells_of="small groups",
            missing="the file holds something that was not audited (TA202)",
        ),
    )
    details: ClassVar[type[Details]] = TrainingDataDetails

    grades: ClassVar[Mapping[Kind, Severity]] = {
        "labels": "high",
        "out-of-bag": "high",
        "records": "high",
        "targets": "high",
        "category-counts": "medium",
    }
    counted: ClassVar[Mapping[str, tuple[Kind, ...]]] = {
        "labels": ("labels",),
        "rows": ("records", "out-of-bag"),
        "targets": ("targets",),
    }
    clear: ClassVar[str] = "No row of the training data was found beside the trees."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproducibleDraws(_ResidualAttack):
    """Find seeds that tell who was drawn into which tree."""

    id: ClassVar[str] = "TA203"
    title: ClassVar[str] = "Reproducible draws"
    words: ClassVar[Words] = Words(
        kinds=("reconstruction", "linkability"),
        attacker="The seed of a bagged tree repeats the draw of its training rows: who is in which "
        "tree, and how often, by row number. The draws of all trees together tell the records "
        "apart, so that bagging protects nobody.",
        assumes="the attacker has the file; nothing else to repeat the draws",
        remedy="overwrite the seeds before saving: model.random_state = None; for e in "
        "model.estimators_: e.random_state = None; for bagging and isolation forests also "
        "model._seeds = None (predictions do not change)",
        limit="tells row numbers, not whose they are: only who has the training table "
        "in its order knows that; what follows without it is certified reconstruction",
        reference="scikit-learn repeats the draws itself, as estimators_samples_; Ferry et al. "
        "(2024), arXiv 2402.19232",
    )
    checks: ClassVar[tuple[Rule, ...]] = (
        _rule("max-seeds", "Seeds that repeat a draw", most("seeds")),
    )
    details: ClassVar[type[Details]] = DrawDetails
    grades: ClassVar[Mapping[Kind, Severity]] = {"seeds": "medium"}
    counted: ClassVar[Mapping[str, tuple[Kind, ...]]] = {"seeds": ("seeds",)}
    clear: ClassVar[str] = "No seed in the file repeats the draws of its trees."


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactValues(_ResidualAttack):
    """Find values and counts that are stored more exactly than a prediction needs."""

    id: ClassVar[str] = "TA204"
    title: ClassVar[str] = "Exact values"
    words: ClassVar[Words] = Words(
        kinds=("exfiltration",),
        attacker="Bins, quantiles and scalers list values of single columns, nearly every one of "
        "them or the extremes, and the first round of boosting gives away class counts that the "
        "file seems not to hold. They tell who has the largest income, and which values occur.",
        assumes="the attacker has the file",
        remedy="bin on a public grid before training (numpy.digitize with fixed edges), give "
        "encoders their categories and scale by public bounds; train boosted trees with large "
        "leaves, for their first counts cannot be taken out",
        limit="a value without the rest of its record; how many people share it is not told",
        reference="histogram boosting bins at midpoints of neighbouring values; the first boosting "
        "step is a Newton step from the class share (TimberStrike, 2025)",
    )
    checks: ClassVar[tuple[Rule, ...]] = (
        _rule("max-exact-values", "Exact values of single columns", most("exact_values")),
    )
    details: ClassVar[type[Details]] = ValueDetails
    grades: ClassVar[Mapping[Kind, Severity]] = {
        "column-values": "medium",
        "first-round-counts": "medium",
        "extremes": "low",
    }
    counted: ClassVar[Mapping[str, tuple[Kind, ...]]] = {
        "exact_values": ("column-values", "extremes"),
        "first_round_counts": ("first-round-counts",),
    }
    clear: ClassVar[str] = "No list of column values and no hidden class counts were found."


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeInside(_ResidualAttack):
    """Find code that the file would run when it is loaded the usual way."""

    id: ClassVar[str] = "TA205"
    title: ClassVar[str] = "Code in the file"
    words: ClassVar[Words] = Words(
        attacker="A pickle is a program: loading it imports what it names and puts the model "
        "together with it. Code of your own, or of a library that treeaudit does not read, runs on "
        "the machine of whoever loads the file, and may change the model that was audited.",
        assumes="somebody loads the file with pickle or joblib",
        remedy="save an estimator of a published library, without functions or classes of your "
        "own, or the version-free form: treeaudit.save(treeaudit.load(file), 'model.json'); load "
        "files with a library version that has no known flaw",
        limit="names are compared with a list of functions and classes that genuine tree models "
        "hold. Flaws of these libraries are not searched for, except known ones that a loader with "
        "the version of the file would meet. A file without findings can still be unsafe to load",
        reference="documentation of pickle; GHSA-m62q-453p-gv66 (joblib before 1.6); "
        "CVE-2025-54412 and CVE-2025-54886 (skops before 0.13)",
    )
    checks: ClassVar[tuple[Rule, ...]] = (
        _rule("max-calls", "Code outside the usual libraries", _code_inside, perhaps=_code_by_name),
    )
    details: ClassVar[type[Details]] = CodeDetails
    grades: ClassVar[Mapping[Kind, Severity]] = {"calls": "low", "code": "medium", "flaws": "low"}
    counted: ClassVar[Mapping[str, tuple[Kind, ...]]] = {
        "calls": ("calls",),
        "code": ("code",),
        "flaws": ("flaws",),
    }
    clear: ClassVar[str] = (
        "Every function that the file names is one that genuine tree models hold, and every class "
        "is of a library that writes them."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraContent(_ResidualAttack):
    """List what a file holds beyond its models."""

    id: ClassVar[str] = "TA206"
    title: ClassVar[str] = "Extra content"
    words: ClassVar[Words] = Words(
        kinds=("exfiltration",),
        attacker="A file has room for anything beside its model: a second model, notes, bytes in "
        "any form. Whoever opens the file reads it.",
        assumes="the attacker has the file",
        remedy="write the file again from the model alone: treeaudit release model.pkl -o "
        "clean.pkl",
        limit="lists what lies beyond the model by path and size, and does not search for "
        "messages that an author hides in the model's own numbers, names, order or parameters: a "
        "released file (canonical) has no room beyond these",
        reference="attributes of the published estimators, listed for each library version that "
        "was seen",
    )
    checks: ClassVar[tuple[Rule, ...]] = (
        _rule(
            "max-extra-bytes",
            "Bytes beyond the model",
            _extra,
            unsure=_not_plain,
            missing="the file holds something that was not audited (TA206)",
        ),
    )
    details: ClassVar[type[Details]] = ExtraDetails
    grades: ClassVar[Mapping[Kind, Severity]] = {
        "notes": "low",
        "extra": "medium",
        "unseen": "medium",
    }
    counted: ClassVar[Mapping[str, tuple[Kind, ...]]] = {
        "extra_bytes": ("extra",),
        "note_bytes": ("notes",),
        "unread_parts": ("unseen",),
    }
    clear: ClassVar[str] = "The file holds nothing beyond its models."
