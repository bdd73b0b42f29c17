"""Differencing (TA107): the page of the attack that takes two models, `treeaudit diff OLD NEW`.

References
----------
Ganta, Kasiviswanathan and Smith (2008), Composition attacks and auxiliary information in data
privacy.
"""

from dataclasses import dataclass
from typing import ClassVar

from treeaudit.findings.findings import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Differencing:
    """What there is to say about the attack, as for those that look at one model."""

    id: ClassVar[str] = "TA107"
    title: ClassVar[str] = "Differencing of two releases"
    words: ClassVar[Words] = Words(
        kinds=("linkability", "membership inference"),
        attacker="Whoever has two releases of a model, trained before and after some people left "
        "or came, reads off who that was: leaves that both have alike differ by nobody else, and "
        "whoever must be in one table and has no room in the other has moved.",
        assumes="the attacker has both files, and knows which values the columns can have",
        remedy="train every release with differential privacy, one budget for all of them; a "
        "record that was published by its erasure cannot be called back",
        limit="runs as 'treeaudit diff OLD NEW', since it needs two models; not for weights, "
        "noise, boosting, or trees of draws; people who left and came alike cancel out",
        reference="Ganta, Kasiviswanathan and Smith (2008), on composition",
    )
