"""The attacks. Adding one: its module, its name in `ATTACKS`, its test file.

Ids: ``TA1xx`` attacks on the table, ``TA2xx`` what else the file gives away,
``TA3xx`` claims of differential privacy. Other packages add attacks through the
entry-point group ``treeaudit.attacks``.
"""

from collections.abc import Mapping

from treeaudit.attacks.attribute_inference.attack import Attributes
from treeaudit.attacks.background.attack import Background
from treeaudit.attacks.case import Attack, Case, Need
from treeaudit.attacks.composition.attack import Composition
from treeaudit.attacks.homogeneity import Homogeneity
from treeaudit.attacks.identifiers import Identifiers
from treeaudit.attacks.known_numbers.attack import KnownNumbers
from treeaudit.attacks.membership_inference.attack import Membership
from treeaudit.attacks.needs import run_attack
from treeaudit.attacks.plugins import Offered, search
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
from treeaudit.findings.checks import Registered, register

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
)


def offered_attacks() -> Offered:
    """Return the attacks of the entry-point group ``treeaudit.attacks``, fit and refused."""
    return search(ATTACKS)


def all_attacks(offered: Offered | None = None) -> tuple[type[Attack], ...]:
    """Return the built-in attacks and those that other packages offer."""
    return (*ATTACKS, *(offered or offered_attacks()).attacks)


def all_checks(offered: Offered | None = None) -> Mapping[str, Registered]:
    """Return what a policy can ask for, by name: the checks of all attacks and of the model."""
    return register((attack.id, attack.checks) for attack in all_attacks(offered))
