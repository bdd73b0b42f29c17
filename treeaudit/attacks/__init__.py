"""The attacks. Adding one: its module, its name in `ATTACKS`, its test file.

Ids: ``TA1xx`` attacks on the table, ``TA2xx`` what else the file gives away,
``TA3xx`` claims of differential privacy. Other packages add attacks through the
entry-point group ``treeaudit.attacks``: foreign code, taken only if it is what it should be.
One that cannot be imported, is no attack, or takes an id or the name of a check
that is taken, is refused and named, and an audit without it is at best `review`.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any, get_args

from treeaudit.attacks.attribute_inference.attack import Attributes
from treeaudit.attacks.background.attack import Background
from treeaudit.attacks.case import Attack, Case, Need
from treeaudit.attacks.composition.attack import Composition
from treeaudit.attacks.homogeneity import Homogeneity
from treeaudit.attacks.identifiers import Identifiers
from treeaudit.attacks.known_numbers.attack import KnownNumbers
from treeaudit.attacks.membership_inference.attack import Membership
from treeaudit.attacks.needs import run_attack
from treeaudit.attacks.reconstruction.attack import Reconstruction
from treeaudit.attacks.residual.attack import (
    CodeInside,
    ExactValues,
    ExtraContent,
    ReproducibleDraws,
    TrainingData,
)
from treeaudit.attacks.sensitive import Sensitive
from treeaudit.attacks.singling_out.attack import Uniqueness
from treeaudit.attacks.structure import Structure
from treeaudit.findings.checks import Registered, Rule, register
from treeaudit.findings.findings import About, Finding, Skipped, Words

__all__ = [
    "ATTACKS",
    "Attack",
    "Case",
    "Need",
    "Offered",
    "all_attacks",
    "all_checks",
    "offered_attacks",
    "run_attack",
]

ATTACKS: tuple[type[Attack], ...] = (
    Uniqueness,
    Homogeneity,
    Background,
    Attributes,
    Membership,
    Composition,
    Reconstruction,
    KnownNumbers,
    Sensitive,
    Identifiers,
    TrainingData,
    ReproducibleDraws,
    ExactValues,
    CodeInside,
    ExtraContent,
    Structure,
)

_FAILURES = (Exception, SystemExit)
"""What foreign code may raise: leaving the process is not its business."""

_GROUP = "treeaudit.attacks"
_ID = re.compile(r"[A-Z]+[0-9]+")
_FIT: dict[str, Callable[[Any], bool]] = {
    "id": lambda part: isinstance(part, str) and _ID.fullmatch(part) is not None,
    "title": lambda part: isinstance(part, str) and bool(part),
    "words": lambda part: isinstance(part, Words),
    "about": lambda part: part in get_args(About),
    "needs": lambda part: isinstance(part, tuple) and all(isinstance(one, Need) for one in part),
    "checks": lambda part: isinstance(part, tuple) and all(isinstance(one, Rule) for one in part),
    "view": callable,
    "run": callable,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """What other packages offer."""

    attacks: tuple[type[Attack], ...]  # Those that can run
    # Those that cannot, each with the reason: an audit without them has not looked at what they
    # look at
    refused: tuple[Skipped, ...]


def search(built_in: Sequence[type[Attack]]) -> Offered:
    """Return the attacks of the entry-point group ``treeaudit.attacks``."""
    kept: list[type[Attack]] = []
    refused = []
    for entry in _entries():
        try:
            reason = _unfit(found := entry.load(), (*built_in, *kept))
        except _FAILURES as error:
            reason = f"it cannot be imported ({type(error).__name__}: {error})"
        if reason:
            said = f"the attack of another package ({entry.value}) was left out: {reason}"
            name = f"offered {entry.name}"
            refused.append(Skipped(id=name, title=f"Attack {entry.name}", reason=said))
        else:
            kept.append(found)
    return Offered(attacks=tuple(kept), refused=tuple(refused))


def _entries() -> tuple[EntryPoint, ...]:
    """Return what is installed for the group, read once for a search path."""
    return _entries_by(metadata.entry_points, tuple(sys.path))


@cache
def _entries_by(
    entry_points: Callable[..., EntryPoints], _path: tuple[str, ...]
) -> tuple[EntryPoint, ...]:
    found = entry_points(group=_GROUP)
    return tuple(sorted(found, key=lambda e: (e.name, e.value)))


def _unfit(found: Any, taken: Sequence[type[Attack]]) -> str:  # noqa: ANN401  # foreign
    """Return why something is not taken as an attack; nothing where it is."""
    if not isinstance(found, type):
        return "it is no class"
    wrong = [name for name, fits in _FIT.items() if not fits(getattr(found, name, None))]
    if wrong:
        return f"it has no {', '.join(wrong)} as an attack has"
    attack: type[Attack] = found
    if attack.id in {other.id for other in taken}:
        return f"the id {attack.id} is taken"
    names = register((other.id, other.checks) for other in taken)
    both = [rule.name for rule in attack.checks if rule.name in names]
    return f"{attack.id} has a check {both[0]} of its own: the name is taken" if both else ""


def run_offered(attack: type[Attack], case: Case) -> tuple[Finding | Skipped, bool]:
    """Run an attack of another package, and tell whether it did what an attack does."""
    try:
        result: object = run_attack(attack(), case)
        if isinstance(result, Finding | Skipped) and result.id == attack.id:
            return result, True
        reason = "it gave back no finding of its own"
    except _FAILURES as error:
        reason = f"it ended in {type(error).__name__}: {error}"
    said = f"the attack of another package ({attack.__module__}) failed: {reason}"
    return Skipped(id=attack.id, title=attack.title, reason=said), False


def offered_attacks() -> Offered:
    """Return the attacks of the entry-point group ``treeaudit.attacks``, fit and refused."""
    return search(ATTACKS)


def all_attacks(offered: Offered | None = None) -> tuple[type[Attack], ...]:
    """Return the built-in attacks and those that other packages offer."""
    return (*ATTACKS, *(offered or offered_attacks()).attacks)


def all_checks(offered: Offered | None = None) -> Mapping[str, Registered]:
    """Return what a policy can ask for, by name: the checks of all attacks and of the model."""
    return register((attack.id, attack.checks) for attack in all_attacks(offered))
