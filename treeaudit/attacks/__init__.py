"""The attacks. Adding one: its module, its name in `ATTACKS`, its test file.

Ids: ``TA1xx`` attacks on the table, ``TA2xx`` what else the file gives away,
``TA3xx`` claims of differential privacy. Other packages add attacks through the
entry-point group ``treeaudit.attacks``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treeaudit.attacks.attribute_inference.attack import Attributes
from treeaudit.attacks.background.attack import Background
from treeaudit.attacks.case import Attack, Case, Need
from treeaudit.attacks.homogeneity.attack import Homogeneity
from treeaudit.attacks.identifiers import Identifiers
from treeaudit.attacks.leftovers import CodeInside, ExactValues, ReproducibleDraws, TrainingData
from treeaudit.attacks.membership_inference.attack import Membership
from treeaudit.attacks.needs import run_attack
from treeaudit.attacks.sensitive.attack import Sensitive
from treeaudit.attacks.singling_out.uniqueness import Uniqueness
from treeaudit.errors import PolicyError
from treeaudit.findings.checks import Registered, register
from treeaudit.findings.findings import Skipped

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
    Sensitive,
    Identifiers,
    TrainingData,
    ReproducibleDraws,
    ExactValues,
    CodeInside,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """What other packages offer.

    Attributes
    ----------
    attacks
        Those that can run.
    refused
        Those that cannot, each with the reason: an audit without them has not
        looked at what they look at.
    """

    attacks: tuple[type[Attack], ...]
    refused: tuple[Skipped, ...]


def offered_attacks() -> Offered:
    """Return the attacks of the entry-point group ``treeaudit.attacks``.

    One that cannot be imported, is no attack, or takes an id or the name of a
    check that is taken, is refused.
    """
    from importlib.metadata import entry_points

    kept: list[type[Attack]] = []
    refused = []
    for entry in sorted(entry_points(group="treeaudit.attacks"), key=lambda e: (e.name, e.value)):
        try:
            reason = _unfit(found := entry.load(), (*ATTACKS, *kept))
        except Exception as error:  # noqa: BLE001  # whatever a foreign module raises
            reason = f"it cannot be imported ({type(error).__name__}: {error})"
        if reason:
            said = f"the attack of another package ({entry.value}) was left out: {reason}"
            refused.append(Skipped(id=entry.name, title=f"Attack {entry.name}", reason=said))
        else:
            kept.append(found)
    return Offered(attacks=tuple(kept), refused=tuple(refused))


_PARTS = ("id", "title", "words", "about", "needs", "checks", "view", "run")


def _unfit(found: Any, taken: Sequence[type[Attack]]) -> str:  # noqa: ANN401  # foreign
    """Return why something is not taken as an attack; nothing where it is."""
    missing = [name for name in _PARTS if not hasattr(found, name)]
    if missing:
        return f"it has no {', '.join(missing)}"
    if found.id in {attack.id for attack in taken}:
        return f"the id {found.id} is taken"
    try:
        register((attack.id, attack.checks) for attack in (*taken, found))
    except PolicyError as error:
        return str(error)
    return ""


def all_attacks() -> tuple[type[Attack], ...]:
    """Return the built-in attacks and those that other packages offer.

    Examples
    --------
    >>> [attack.id for attack in all_attacks()][:3]
    ['TA101', 'TA102', 'TA103']
    """
    return (*ATTACKS, *offered_attacks().attacks)


def all_checks(attacks: Sequence[type[Attack]] | None = None) -> Mapping[str, Registered]:
    """Return what a policy can ask for, by name: the checks of the model and of attacks.

    Parameters
    ----------
    attacks
        Which; `all_attacks` unless told.

    Examples
    --------
    >>> all_checks()["max-certain-share"].attacks
    ('TA102', 'TA110')
    """
    every = all_attacks() if attacks is None else attacks
    return register((attack.id, attack.checks) for attack in every)
