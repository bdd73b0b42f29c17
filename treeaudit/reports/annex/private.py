"""The annex on differential privacy: the elements that NIST SP 800-226 asks a claim to state."""

import hashlib
import json
from dataclasses import dataclass

from treeaudit.dp.claims import BOUNDS_OF_DATA, unbounded_because
from treeaudit.dp.ledger import Ledger
from treeaudit.errors import DataError
from treeaudit.findings.report import Report
from treeaudit.model.schema import Schema
from treeaudit.model.words import number_of
from treeaudit.reports.annex.release import Entry

_GAPS = (
    "The ledger is a claim of whoever made the file: it was read, not tested.",
    "No attack measured a lower bound of epsilon on this model.",
    "How long the training took, and what else the machine told, is in no ledger.",
    "What was chosen by looking at the data before the fit (columns, bounds, epsilon, one of "
    "several fits) is in no ledger unless it stands there.",
    "Other models of the same people add to what each person loses.",
)
_NONE = "The file states no differential privacy: nothing bounds what it gives away of a person."


@dataclass(frozen=True, slots=True, kw_only=True)
class Private:
    """What the file claims, element by element, and what nothing shows."""

    claimed: bool
    elements: tuple[Entry, ...]
    gaps: tuple[str, ...]


def private(report: Report) -> Private:
    """Return the elements of a claim."""
    stated, forest = report.forest.privacy, report.forest
    if stated is None:
        return Private(claimed=False, elements=(), gaps=(_NONE,))
    because, answer = unbounded_because(forest), "no"
    if because is None and BOUNDS_OF_DATA in report.warnings:
        because, answer = BOUNDS_OF_DATA, "not shown"
    bound = Entry(
        name="Does it bound what the file gives away?",
        value="yes, if the ledger is true and its public inputs, such as the bounds of columns, "
        "were not read off the data"
        if because is None
        else f"{answer}: {because}",
        basis="the file" if because is None else "seen",
    )
    try:
        ledger = Ledger.from_plain(stated)
    except DataError as error:
        return Private(claimed=True, elements=(bound,), gaps=(f"{error}.", *_GAPS))
    elements = (bound, *_elements(ledger, refuted=because is not None), *_inputs(report, ledger))
    seen = (f"{BOUNDS_OF_DATA[0].upper()}{BOUNDS_OF_DATA[1:]}.",) * (because == BOUNDS_OF_DATA)
    return Private(claimed=True, elements=elements, gaps=(*ledger.reasons, *seen, *_GAPS))


def _elements(ledger: Ledger, *, refuted: bool) -> tuple[Entry, ...]:
    loss = f"epsilon {float(ledger.epsilon):g}, delta {float(ledger.delta):g}"
    asked = [
        f"{query.name}: {query.mechanism}, sensitivity {float(query.sensitivity):g}, asked "
        f"{number_of(query.asked, 'time', 'times')}, in {query.composition}"
        for query in ledger.queries
    ]
    summed = "rows add up; questions of disjoint parts cost once"
    if ledger.rho:
        summed += f"; rhos are told as an epsilon at delta {float(ledger.conversion_delta):g}"
    differ = {"add-remove": "one more or less", "replace-one": "one in the place of another"}
    proof = "as published: no proof is claimed"
    if ledger.variant == "sound":
        proof = "a variant with a proof" + (", which is not shown to hold here" if refuted else "")
    says = "the file"
    return (
        Entry(name="Unit of privacy", value=f"one {ledger.unit}", basis=says),
        Entry(
            name="Neighbours", value=f"{ledger.neighbours}: {differ[ledger.neighbours]}", basis=says
        ),
        Entry(name="Loss", value=loss, basis=says),
        Entry(name="Mechanisms", value="; ".join(asked) or "none", basis=says),
        Entry(name="Composition", value=summed, basis=says),
        Entry(name="Proof", value=proof, basis=says),
    )


def _inputs(report: Report, ledger: Ledger) -> tuple[Entry, ...]:
    seed = report.forest.source.parameters.get("random_state")
    source = (
        "no seed is stored; trainers of treeaudit draw whole numbers from the random bytes of the "
        "operating system, which no file shows"
        if seed is None
        else "a seed is stored: whoever has it draws the noise again"
    )
    public = ", ".join(ledger.public) or "nothing"
    return (
        Entry(
            name="Source of randomness", value=source, basis="not shown" if seed is None else "seen"
        ),
        Entry(name="Public inputs", value=public, basis="the file"),
        Entry(
            name="SHA-256 of the schema (as JSON, not of a file)",
            value=schema_sha256(report.forest.schema),
        ),
    )


def schema_sha256(schema: Schema) -> str:
    """Return the hash of what everybody is taken to know of the columns and of the target.

    Of JSON with sorted keys and no spaces: ``columns`` (name, categories, low, high), ``labels``,
    ``target``, ``target_low`` and ``target_high``.
    """
    columns = [
        {"name": one.name, "categories": one.categories, "low": one.low, "high": one.high}
        for one in schema.features
    ]
    told = {
        "columns": columns,
        "labels": schema.classes,
        "target": schema.target,
        "target_low": schema.target_low,
        "target_high": schema.target_high,
    }
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
