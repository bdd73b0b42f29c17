"""The attacks. Adding one: its module, its name in `ATTACKS`, its test file.

Ids: ``TA1xx`` attacks on the table, ``TA2xx`` what else the file gives away,
``TA3xx`` claims of differential privacy. Other packages add attacks through the
entry-point group ``treeaudit.attacks``.
"""

from treeaudit.attacks.attributes import Attributes
from treeaudit.attacks.background import Background
from treeaudit.attacks.case import Attack, Case
from treeaudit.attacks.homogeneity import Homogeneity
from treeaudit.attacks.identifiers import Identifiers
from treeaudit.attacks.leftovers import CodeInside, ExactValues, ReproducibleDraws, TrainingData
from treeaudit.attacks.membership import Membership
from treeaudit.attacks.sensitive import Sensitive
from treeaudit.attacks.uniqueness import Uniqueness

__all__ = ["ATTACKS", "Attack", "Case", "all_attacks"]

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


def all_attacks() -> tuple[type[Attack], ...]:
    """Return the built-in attacks and those that other packages offer.

    Examples
    --------
    >>> [attack.id for attack in all_attacks()][:3]
    ['TA101', 'TA102', 'TA103']
    """
    from importlib.metadata import entry_points

    offered = [entry.load() for entry in entry_points(group="treeaudit.attacks")]
    return (*ATTACKS, *offered)
