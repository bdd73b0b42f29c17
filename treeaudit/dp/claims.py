"""Whether an epsilon bounds what a model gives away about anybody: one answer for all who ask."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from treeaudit.dp.accounting import rational, rho_at
from treeaudit.dp.ledger import Ledger, Query, factor
from treeaudit.dp.mechanisms import GAUSSIAN
from treeaudit.dp.subsampling import BOOTSTRAP
from treeaudit.errors import DataError, PrivacyError
from treeaudit.model.forest import Forest

FOUND_OUT = (
    "the steps in front of it learned from the same data without privacy",
    "the file also holds the scores of a search on private data",
    "its counts are nearer to those of the training people than its noise lets them be",
)
"""Reasons that an audit adds to a ledger: what stands around a model undoes its promise."""

BOUNDS_OF_DATA = (
    "the bounds of the schema equal the extremes of the training people: they may have been read "
    "off the data, which no epsilon covers"
)
"""What an audit warns of; bounds that everybody knows may equal them too."""

NOT_ASKED = "not asked: the trees stopped early"
"""The row of a ledger for what a trainer may spend and, with these answers, did not."""

_MECHANISMS = {"discrete Laplace", "permute-and-flip", "exponential mechanism", BOOTSTRAP}
_CONCENTRATED = {GAUSSIAN}
_COUNTED = {"discrete Laplace", GAUSSIAN}
_NEARLY = 1 + 1e-9
_ROUNDED = Fraction(1, 10**6)
_LARGEST_DELTA = Fraction(1, 10**5)
_CHOICE = re.compile(r"the best of ([1-9]\d{0,3}) candidates", re.ASCII)
_CANDIDATE = re.compile(r"candidate ([1-9]\d{0,3}): ", re.ASCII)


def bounded(forest: Forest) -> bool:
    """Tell whether the ledger of a model bounds what it gives away, as far as a file can tell."""
    return unbounded_because(forest) is None


def promises(forest: Forest) -> bool:
    """Tell whether a model states a ledger and no reason against it.

    Then nothing may be decided about it by the people it was trained on.
    """
    return forest.privacy is not None and not _reasons(forest.privacy)


def unbounded_because(forest: Forest) -> str | None:
    """Return why no epsilon bounds what a model gives away; None where its ledger does.

    It does where a variant with a proof was trained without a seed on a public schema, and a
    whole ledger of known mechanisms names its unit and sums to the claim. A ledger is a claim of
    its author: that its rows are those that the trainer asked does not follow from the file.
    """
    privacy = forest.privacy
    if privacy is None:
        return "the model claims no differential privacy"
    if privacy.get("not_private") or privacy.get("reasons"):
        return _around(privacy) or "the model says itself that it is not private"
    if privacy.get("variant") != "sound":
        return "the model was not trained by a variant with a proof (variant='sound')"
    if "unit" not in privacy:
        return "the ledger does not name its unit, a record or a person: train the model again"
    try:
        ledger = Ledger.from_plain(privacy)
    except DataError as error:
        return str(error)
    if any(query.delta for query in ledger.queries):
        return "the ledger states a delta above 0: its epsilon may be broken"
    if ledger.delta > _LARGEST_DELTA:
        return (
            f"the ledger states a delta of {float(ledger.delta):g}: above "
            f"{float(_LARGEST_DELTA):g} an epsilon promises little"
        )
    asked = [q for q in ledger.queries if (q.name, q.mechanism) != (NOT_ASKED, "none")]
    if any(q.mechanism not in (_CONCENTRATED if q.rho else _MECHANISMS) for q in asked):
        return "the ledger names a mechanism that is not known to protect anybody"
    if not asked or any(q.asked < 1 or q.sensitivity <= 0 or q.epsilon < 0 for q in asked):
        return "the ledger is not whole"
    if any(q.used == 0 < q.epsilon + q.rho for q in asked):
        return "the ledger tells of answers that it says cost nothing"
    least = factor(ledger.neighbours, ledger.rows_per_person)
    if any(query.sensitivity < least for query in asked):
        return "the ledger counts less of a person than its neighbours differ in"
    told = (privacy.get("epsilon"), privacy.get("used", float(ledger.used)))
    if told != (float(ledger.epsilon), float(ledger.used)) or ledger.epsilon > ledger.budget:
        return "the rows of the ledger do not sum to what it claims, or to more than its budget"
    if _falls_short(ledger) or not _all_candidates(asked, least):
        return "rows are missing in the ledger: they sum to less than was spent"
    if forest.counts_are not in ("noisy", "label-only"):
        return "the counts of the model are not said to be noise"
    if forest.n_records is not None or any(tree.n_records is not None for tree in forest.trees):
        return "the model tells how many people there are, without noise"
    if forest.counts_are == "label-only" and any(t.counts is not None for t in forest.trees):
        return "the model says that it holds labels alone, and holds counts"
    if forest.counts_are == "noisy" and not any(q.mechanism in _COUNTED for q in asked):
        return "the counts of the model are in no row of its ledger"
    if forest.noise is not None and forest.noise.rate > _NEARLY * max(map(_rate, asked)):
        return "the counts have less noise than the ledger tells"
    if _states_more(forest):
        return "the model holds numbers that no row of its ledger accounts for"
    return _set_otherwise(forest.source.parameters, ledger)


def _states_more(forest: Forest) -> bool:
    """Tell whether leaves state impurities, or means beside class counts, which have no noise."""
    other = "counts" if forest.schema.classes is None else "value"
    return any(tree.spread is not None or getattr(tree, other) is not None for tree in forest.trees)


def _around(privacy: Mapping[str, Any]) -> str | None:
    """Return what an audit found out about the model and no file says itself."""
    return next((one for one in _reasons(privacy) if one in FOUND_OUT), None)


def _reasons(privacy: Mapping[str, Any]) -> Sequence[object]:
    reasons = privacy.get("reasons")
    return reasons if isinstance(reasons, list | tuple) else ()


def _falls_short(ledger: Ledger) -> bool:
    """Tell whether the rows sum to less than the budget; rhos are rounded down."""
    if not ledger.rho:
        return ledger.epsilon < ledger.budget
    return ledger.rho < rho_at(ledger.budget, ledger.conversion_delta) * (1 - _ROUNDED)


def _set_otherwise(set_to: Mapping[str, Any], ledger: Ledger) -> str | None:
    """Return how the parameters of a model contradict its ledger; None where they do not."""
    if set_to.get("variant", "sound") != "sound":
        return "the parameters of the model are not those of a variant with a proof"
    if set_to.get("random_state") is not None:
        return "the parameters of the model tell a seed, which makes the noise again"
    if set_to.get("schema") == "from-data":
        return "the parameters of the model say that its schema was read off the data"
    if "delta" in set_to and set_to["delta"] != (float(ledger.delta) or None):
        return "the parameters of the model are not those that its ledger tells"
    told = {"neighbours": ledger.neighbours, "rows_per_person": ledger.rows_per_person}
    try:
        larger = "epsilon" in set_to and rational(set_to["epsilon"]) > ledger.budget
    except PrivacyError:
        larger = True
    if larger or any(set_to.get(name, value) != value for name, value in told.items()):
        return "the parameters of the model are not those that its ledger tells"
    return None


def _all_candidates(queries: Sequence[Query], units: int) -> bool:
    """Tell whether a search tells what it asked for each of its candidates, and for the choice.

    Nothing else is asked of all candidates together.
    """
    chosen = [q for q in queries if _CHOICE.fullmatch(q.name)]
    tried = {int(found[1]) for q in queries if (found := _CANDIDATE.match(q.name))}
    most = [int(found[1]) for q in chosen if (found := _CHOICE.fullmatch(q.name))]
    if tried != {i for n in most[:1] for i in range(1, n + 1)}:
        return False
    alone = [q for q in queries if not _CANDIDATE.match(q.name)]
    if not tried:
        return True
    return alone == chosen and all(q.asked == 1 and q.sensitivity == units for q in chosen)


def _rate(query: Query) -> float:
    """Return the rate of the noise of a count; 0 of what is chosen."""
    used = query.epsilon if query.used is None else query.used
    return float(used / query.sensitivity) if query.mechanism == "discrete Laplace" else 0.0
