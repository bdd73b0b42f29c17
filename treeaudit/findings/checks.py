"""What a policy can ask for: how a check is measured, held and worded.

A number that was measured on people counts with the unfavourable end of its
95 % interval, so that a check which passes has been shown to hold. Every attack
names the checks that can be made of its finding; those of the model itself are
here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, inf, isfinite
from typing import Literal, get_args

import numpy as np

from treeaudit.dp.claims import bounded, unbounded_because
from treeaudit.errors import PolicyError
from treeaudit.findings.details import Phrase, Share
from treeaudit.findings.findings import Finding, TellsOf
from treeaudit.model.forest import Forest
from treeaudit.model.words import in_digits, in_percent

_Term = Literal[
    "k", "below_k", "unit", "tolerance", "fraction", "sensitive", "train", "test", "known",
    "prior", "seconds", "seed", "counts", "spread", "noise", "promise",
]  # fmt: skip
"""What a number may rest on.

``k`` is the smallest acceptable group, ``below_k`` the same for numbers that only grow with it;
``unit`` what is counted as one; ``counts`` what class counts count: those of the training people
where their labels are held and the file does not tell; ``spread`` where it is known from how far
numbers differ, ``noise`` whether counts hold any; ``promise`` of whom an epsilon is. The others are
options, and of people and of a prior only whether they were given counts. A number of different
people in some tree needs no ``train``: without the training people it is a bound above.
"""

EVERY_TERM: tuple[_Term, ...] = get_args(_Term)

Measure = Callable[[Sequence[Finding], Forest], float | None]


def _holds_at_most(measured: float, threshold: float) -> bool:
    """Tell whether a number is no more than its threshold."""
    return measured <= threshold


def holds_at_least(measured: float, threshold: float) -> bool:
    """Tell whether a number is no less than its threshold."""
    return measured >= threshold


def holds_multiple_of(measured: float, threshold: float) -> bool:
    """Tell whether a common divisor is a multiple of the threshold; 0 has no counts at all."""
    return threshold == 0 or measured % threshold == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How a check is measured and worded."""

    name: str
    # What is measured, and its bound with a place for the threshold
    title: str
    bound: str
    # The number, from the findings of the attacks that name the rule and from the model; None
    # where they do not hold it
    measure: Measure
    # Why they do not, in a few words with the next step, or what tells that of a model
    missing: str | Callable[[Forest], str] = ""
    # Says why more than was measured may be true; a pass has not been shown then
    unsure: Callable[[Sequence[Finding], Forest], str | None] | None = None
    # The most that it may be, and why no less is known: a pass has been shown where that fits
    perhaps: Callable[[Sequence[Finding], Forest], tuple[float, str]] | None = None
    # Whether a measured number fits a threshold
    holds: Callable[[float, float], bool] = _holds_at_most
    share: bool = False  # Whether it is a share between 0 and 1
    among: bool = False  # Whether it is a number of people that is told beside all of them
    # Of whom it tells that the check passes or fails: of some people, unless of `everybody` or of
    # the `file` alone. A copy that may leave the room asks.
    tells_of: TellsOf = "people"
    # Says the measured number where a number alone would not; empty where it does. Shares in a
    # phrase are told with as many digits as keep them off the threshold.
    told: Callable[[Sequence[Finding]], str | Phrase] | None = None
    # Says why there is nothing to measure in a model, where the attack was skipped for that
    # reason; None where there is
    needless: Callable[[Forest], str | None] | None = None
    # What to do where it fails; the remedy of the attack without. `{release}` stands for the
    # command that releases the model.
    step: str = ""
    # Says why the number is infinite in a model
    unbounded: Callable[[Forest], str | None] | None = None
    # Measures the same in the place of `measure` for a person of several records
    of_person: Callable[[Forest, int], float] | None = None
    # What its number means something else without: two numbers are held against one another only
    # where all of it is the same. Everything, unless told.
    rests_on: tuple[_Term, ...] = EVERY_TERM
    condition: bool = False  # Whether it is a condition: 1 where it is met, and 0 where it is not
    # Which of the attacks that name it has to have run for a model; the first, unless told
    lead: Callable[[Forest], str] | None = None
    # Says what is measured where findings add more than the title tells; empty where they do not
    wider: Callable[[Sequence[Finding]], str] | None = None

    def asked(self, threshold: float) -> str:
        """Return the bound in words, with all digits of the threshold."""
        return self.bound.format(_Whole(threshold))

    def show(self, measured: float, *beside: float) -> str:
        """Return a measured number in words, never on another side of what it stands beside."""
        if self.condition:
            return "yes" if measured else "no"
        if not isfinite(measured):
            return "unbounded"
        if self.share:
            return in_percent(measured, 1, *beside)
        if float(measured).is_integer():
            return f"{int(measured):,}"
        return in_digits(measured, 4, *beside)

    def say(self, findings: Sequence[Finding], measured: float, threshold: float) -> str:
        """Return what was measured in words, beside its threshold."""
        told = self.told(findings) if self.told else ""
        if isinstance(told, Phrase):
            told = told.template.format(
                *(in_percent(x, 1, threshold) if isinstance(x, Share) else x for x in told.parts)
            )
        return told or self.show(measured, threshold)


class _Whole(float):
    """A threshold that is written with no fewer digits than it has."""

    def __format__(self, spec: str) -> str:
        text, value = format(float(self), spec), float(self)
        if not spec.endswith("%"):
            same = float(text.replace(",", "")) == value
            return text if same else f"{value:,}".removesuffix(".0")
        texts = (f"{value:.{digits}%}" for digits in range(1, 19))
        same_texts = (one for one in texts if float(f"{one[:-1]}e-2") == value)
        return text if float(f"{text[:-1]}e-2") == value else next(same_texts, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A rule and the attacks that name it, by id."""

    rule: Rule
    attacks: tuple[str, ...] = ()


def register(offered: Iterable[tuple[str, Sequence[Rule]]]) -> Mapping[str, Registered]:
    """Return every check by its name in a policy, of attacks by id and of the model itself."""
    found: dict[str, Registered] = {}
    for attack, rules in offered:
        for rule in rules:
            taken = found.get(rule.name)
            if taken is not None and taken.rule is not rule:
                raise PolicyError(f"{attack} has a check {rule.name} of its own: the name is taken")
            ids = () if taken is None else taken.attacks
            found[rule.name] = Registered(rule=rule, attacks=(*ids, attack))
    return found | {rule.name: Registered(rule=rule) for rule in _MODEL_CHECKS}


def most(name: str) -> Measure:
    """Measure the largest of a number in the details; None where one of them is not known."""
    return _worst(name, max)


def least(name: str) -> Measure:
    """Measure the smallest of a number in the details; None where one of them is not known."""
    return _worst(name, min)


def _worst(name: str, pick: Callable[[list[float]], float]) -> Measure:
    def measure(findings: Sequence[Finding], _: Forest) -> float | None:
        found = [_number(finding, name) for finding in findings]
        known = [value for value in found if value is not None]
        return pick(known) if len(known) == len(found) else None

    return measure


def _number(finding: Finding, name: str) -> float | None:
    value: float | None = getattr(finding.details, name)
    return value if value is None or isinstance(value, Share) else float(value)


def protects_records(forest: Forest) -> bool:
    """Tell whether a claimed epsilon is for a record, and not for a person with all records."""
    return (forest.privacy or {}).get("rows_per_person") is None


def epsilon(forest: Forest, records: int = 1) -> float:
    """Measure the epsilon of a person of so many records; infinite where nothing bounds it."""
    if forest.privacy is None or not bounded(forest):
        return inf
    from treeaudit.dp.ledger import Ledger  # which no model needs that claims nothing

    ledger = Ledger.from_plain(forest.privacy)
    return float(ledger.epsilon_of(records if protects_records(forest) else 1))


def delta(forest: Forest) -> float:
    """Measure the chance with which that may be exceeded; infinite where nothing bounds it."""
    if forest.privacy is None or not bounded(forest):
        return inf
    return float(forest.privacy.get("delta", 0))


def _canonical(_: Sequence[Finding], forest: Forest) -> float | None:
    """Measure whether the file is its own rewriting."""
    canonical = forest.source.canonical
    return None if canonical is None else float(canonical)


def _common_divisor(_: Sequence[Finding], forest: Forest) -> float:
    """Measure the largest number that divides every count in the file; 0 without counts."""
    common = 0
    for tree in forest.trees:
        for counts in (tree.n_records, tree.counts):
            if counts is None:
                continue
            whole = np.unique(counts)
            if (whole != np.floor(whole)).any():
                return 1.0
            common = gcd(common, *whole.astype(np.int64).tolist())
    return float(common)


_MODEL_CHECKS: tuple[Rule, ...] = (
    Rule(
        name="round-to",
        title="Largest number that divides every count",
        bound="a multiple of {:,.0f}",
        measure=_common_divisor,
        holds=holds_multiple_of,
        rests_on=(),
    ),
    Rule(
        name="require-canonical",
        title="Canonical file: what treeaudit writes for its model, and nothing else",
        bound="required",
        tells_of="file",
        measure=_canonical,
        holds=holds_at_least,
        condition=True,
        missing=lambda forest: forest.source.canonical_reason or "the model is no file",
        step="write the file again from its model: {release}",
        rests_on=(),
    ),
    Rule(
        name="max-epsilon",
        title="Differential privacy, epsilon",
        bound="at most {:g}",
        tells_of="file",
        measure=lambda _, forest: epsilon(forest),
        step=(
            "train with differential privacy and an epsilon that the policy allows (treeaudit "
            "train --epsilon): no repair changes it; or ask for a policy without max-epsilon"
        ),
        unbounded=unbounded_because,
        of_person=epsilon,
        rests_on=("unit", "promise"),
    ),
    Rule(
        name="max-delta",
        title="Differential privacy, delta",
        bound="at most {:g}",
        tells_of="file",
        measure=lambda _, forest: delta(forest),
        step="train with a smaller delta, or ask for a policy without max-delta",
        unbounded=unbounded_because,
        rests_on=("promise",),
    ),
)
"""Checks of what the model itself tells."""
