"""What an audit rests on, and what it did not look at."""

from dataclasses import replace
from math import isfinite
from pathlib import Path

from treeaudit.dp.claims import unbounded_because
from treeaudit.dp.ledger import Ledger
from treeaudit.errors import DataError
from treeaudit.findings.checks import delta, epsilon, protects_records
from treeaudit.findings.findings import Skipped
from treeaudit.findings.report import Report
from treeaudit.model.forest import Forest
from treeaudit.model.words import in_digits, loss_in_words, number_of
from treeaudit.readers.choice import plain_name
from treeaudit.reports.advice import acceptance
from treeaudit.reports.plain_text import plain
from treeaudit.version import __version__

_MEANS = {"add-remove": "one {} more or less", "replace-one": "one {} in the place of another"}
_MOST = 12
"""Questions that are listed one by one."""


def bounded_by(forest: Forest) -> str:
    """Return the epsilon that bounds what a model gives away, or nothing."""
    value = epsilon(forest)
    return loss_in_words(value, delta(forest)) if isfinite(value) else ""


def claim(forest: Forest) -> str:
    """Return what a model says of its privacy, which an audit does not test; or nothing."""
    privacy = forest.privacy
    if privacy is None:
        return ""
    stated = privacy.get("epsilon")
    chance = privacy.get("delta")
    text = "no epsilon told"
    if isinstance(stated, int | float):
        text = loss_in_words(stated, chance if isinstance(chance, int | float) else 0)
    neighbours = plain(str(privacy.get("neighbours") or ""), 40)
    if neighbours:
        one = "record" if protects_records(forest) else "person"
        text += f" for {_MEANS.get(neighbours, 'neighbours').format(one)} ({neighbours})"
    because = unbounded_because(forest)
    if because is None:
        return f"{text}, a claim of the file, not tested"
    stated = privacy.get("reasons")
    each = stated if isinstance(stated, list | tuple) else ()
    reasons = "; ".join(plain(str(reason), 200) for reason in each)
    why = f"not private: {reasons}" if reasons else f"not bounded: {because}"
    return f"{why} ({text} is printed in the file)"


def counting(report: Report) -> str:
    """Return what an audit counts, and what a claimed epsilon protects."""
    text = report.unit.sentence
    if report.unit.counts_persons:
        text += "; counts per label are of records"
    if report.forest.privacy is None:
        return text
    if not protects_records(report.forest):
        return f"{text}; its epsilon is for one {plain(str(report.forest.privacy.get('unit')), 60)}"
    if report.unit.counts_persons:
        most = report.unit.most
        return f"{text}; its epsilon is for one record, and {most:,} times that for a person"
    return f"{text}; its epsilon is for one record: a record is the unit"


def spent(forest: Forest) -> list[tuple[str, str]]:
    """Return what each question of the ledger costs, and what was asked; nothing if damaged."""
    if forest.privacy is None:
        return []
    try:
        whole = Ledger.from_plain(forest.privacy)
    except DataError:
        return []
    asked, as_rho = whole.queries, bool(whole.rho)
    told = [
        (
            _cost(replace(whole, queries=(q,)), as_rho=as_rho),
            f"{plain(q.name, 80)} ({plain(q.mechanism, 60)})",
        )
        for q in asked[:_MOST]
    ]
    if len(asked) > _MOST:
        cost = _cost(replace(whole, queries=asked[_MOST:]), as_rho=as_rho)
        told.append((cost, f"{len(asked) - _MOST:,} more questions"))
    return told


def _cost(some: "Ledger", *, as_rho: bool) -> str:
    """Return what some rows cost, as what adds up."""
    if as_rho:
        return f"rho {float(sum(query.concentrated for query in some.queries)):.4g}"
    return f"{float(some.epsilon):.4g}"


_COUNTS = {
    "exact": "people",
    "likely": "very likely people",
    "weighted": "sums of weights, not people",
    "noisy": "people with noise added on purpose",
    "label-only": "not in the file, only the predicted label of each leaf is",
    "absent": "not in the file",
}
_RECORDS = {
    "all": "every tree holds all the people of the training data",
    "bootstrap": "every tree holds the people of one random draw; a leaf counts different people, "
    "whoever was drawn twice counts once",
    "disjoint": "every tree holds its own part of the people",
    "unknown": "the file does not tell which people a tree holds",
}
_ROLES = {"train": "Training people", "test": "Unseen people", "known": "People the attacker knows"}
_INPUTS = {
    "train": "the training people",
    "test": "the unseen people",
    "known": "the known people",
    "prior": "the public shares",
}
_NO_PEOPLE = (
    "Whether claims are memory or a fact of the population: no unseen people were given (--test)."
)
_NO_TRAIN = "Whether claims are true of the training people: they were not given (--train)."


def model_name(forest: Forest) -> str:
    """Return the file name of a model, as it may be shown."""
    path = forest.source.path
    return plain(Path(path).name, 120) if path else "model in memory"


def shown_name(report: Report) -> str:
    """Return the file name, with the name of the model where the file holds several."""
    name = model_name(report.forest)
    inside = plain(plain_name(report.forest.source.inside), 120)
    return f"{name} [{inside}]" if report.several else name


def facts(report: Report) -> list[tuple[str, str]]:
    """Return what was read, held against what and with which choices, name and text."""
    forest, policy, source = report.forest, report.policy, report.forest.source
    reason = forest.counts_reason
    draws = forest.records_are == "bootstrap" and forest.counts_are in ("exact", "likely")
    counts = "draws, people only where nobody was drawn twice" if draws else ""
    values = ", ".join(f"{name} = {_threshold(value)}" for name, value in policy.values.items())
    found = [("File", f"{model_name(forest)}, {source.format}")]
    if source.inside:
        found.append(("Found in the file at", source.inside))
    if source.sha256:
        found.append(("SHA-256 of the file", source.sha256))
    if source.n_bytes is not None:
        found.append(("Size of the file", f"{source.n_bytes:,} bytes"))
    if source.canonical is not None or source.canonical_reason:
        found.append(("Canonical file", _canonical(forest)))
    if source.skops_call:
        found.append(("How skops loads it, once TA207 is clear", source.skops_call))
    found += [
        ("What is counted", counting(report)),
        ("Counts per label", (counts or _COUNTS[forest.counts_are]) + (reason and f": {reason}")),
        ("People per leaf", _RECORDS[forest.records_are]),
    ]
    if forest.privacy is not None:
        found.append(("Differential privacy", claim(forest)))
        asked = "; ".join(f"{cost} on {question}" for cost, question in spent(forest))
        found += [("Ledger of its epsilon", asked)] if asked else []
    for role, (name, rows) in report.people.items():
        found.append(
            (_ROLES.get(role, role), f"{plain(name, 120)}, {number_of(rows, 'row', 'rows')}")
        )
    found += [
        (f"SHA-256 of {_INPUTS[role]}", digest or "not told: they came as no local file")
        for role, digest in report.record.inputs.items()
    ]
    return [
        *found,
        ("Policy", f"{plain(policy.title, 200)}: {values or 'no checks'}"),
        ("Hash of the policy (its thresholds as JSON, not a file)", policy.sha256),
        *_baseline(report),
        ("Made", report.record.in_words),
        ("Made by", plain(report.record.by or "not stated (--by)", 200)),
        ("Version", f"treeaudit {__version__}"),
        ("Seed", str(report.request.seed)),
    ]


def _threshold(value: float) -> str:
    """Return a threshold of a policy in words."""
    return str(value).lower() if isinstance(value, bool) else in_digits(value, 6, value)


def _canonical(forest: Forest) -> str:
    """Return whether the file is what treeaudit writes for its model, and why not."""
    source = forest.source
    if source.canonical:
        return "yes: it holds its model, in the one encoding that treeaudit writes"
    return f"{'not known' if source.canonical is None else 'no'}: {source.canonical_reason}"


def _baseline(report: Report) -> list[tuple[str, str]]:
    if report.baseline is None:
        return []
    name = plain(str(report.baseline.get("name")), 120)
    told = f"{name}, SHA-256 {report.baseline.get('sha256')}, {acceptance(report)}"
    return [("Accepted report", told)]


def made(report: Report) -> str:
    """Return when an audit was made, and by whom where that is told."""
    by = report.record.by
    return report.record.in_words + (f", by {plain(by, 200)}" if by else "")


def made_from(report: Report) -> str:
    """Return what a page was made from: the model file, and the tables that were given."""
    tables = [plain(name, 80) for name, _ in report.people.values()]
    if not tables:
        return "made from the model file alone"
    return f"made from the model file and {', '.join(dict.fromkeys(tables))}"


def not_checked(report: Report) -> list[str]:
    """Return what this audit did not look at, a sentence each, and why."""
    missing = []
    if "test" not in report.people:
        missing.append(_NO_PEOPLE)
    if "train" not in report.people:
        missing.append(_NO_TRAIN)
    missing += [
        f"{result.title} ({result.id}): {result.reason}."
        for result in report.results
        if isinstance(result, Skipped)
    ]
    return [line.replace("..", ".") for line in missing]
