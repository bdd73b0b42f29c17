"""What is one in the audits of a repair: the same before and after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from treeaudit.attacks import ATTACKS, all_checks, offered_attacks
from treeaudit.attacks.needs import TEST
from treeaudit.audit.scan import scan
from treeaudit.findings.policy import Policy
from treeaudit.findings.report import Report
from treeaudit.model.forest import Forest
from treeaudit.people.checks.training_data import MisfitError
from treeaudit.people.records import held_table
from treeaudit.people.streaming import sample_table

__all__ = ["RECORDS", "Counting", "attacks_of", "counting_of"]

_SECONDS = 0.5
"""For the reconstruction from each of many candidates; what takes longer is not shown to pass."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counting:
    """How the models of a repair are audited.

    Attributes
    ----------
    options
        Of `treeaudit.scan`.
    test
        Unseen people; None without. They are in the audits where a policy asks about them.
    bound
        The same where a repair leaves people out or rounds their number, so that the
        training data no longer fits: the most records of one person.
    by_policy
        Whether only the attacks that the policy asks are run.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    test: object = None
    bound: Mapping[str, Any] = field(default_factory=dict)
    by_policy: bool = False

    @property
    def train(self) -> object:
        """The training people; None without."""
        return self.options.get("train")

    def audited(
        self, forest: Forest, policy: Policy, attacks: Sequence[str] | None = None
    ) -> Report:
        """Return the audit of a model.

        By some attacks, unless told by all, or by those that the policy asks where that is said
        or people are at hand.
        """
        if attacks is None and (self.by_policy or self.train is not None):
            attacks = attacks_of(policy)
        test = self.test if _asks_unseen(attacks_of(policy)) else None
        asked: dict[str, Any] = {"attacks": attacks, "seconds": _SECONDS}
        try:
            return scan(forest, policy=policy, test=test, **asked, **self.options)
        except MisfitError:
            if self.train is None:
                raise
            return scan(forest, policy=policy, **asked, **self.bound)


RECORDS = Counting()


def attacks_of(policy: Policy) -> tuple[str, ...]:
    """Return the ids of the attacks that a policy asks for, in their order."""
    checks = all_checks(offered_attacks())
    known = [checks[name] for name in policy.values if name in checks]
    return tuple(sorted({one for check in known for one in check.attacks}))


def _asks_unseen(attacks: Sequence[str]) -> bool:
    return any(TEST in attack.needs for attack in ATTACKS if attack.id in attacks)


def counting_of(
    forest: Forest,
    *,
    train: object,
    test: object = None,
    target: str | None,
    person: str | None,
    rows_per_person: int | None,
    repeats: str | None,
) -> Counting:
    """Return what a repair is to count, and on whom, told by the model as it is.

    Raises
    ------
    DataError
        If the people do not fit the model, or what was said of persons does not fit either.
    """
    held = partial(held_table, forest=forest, target=target, person=person)
    bound = {"rows_per_person": rows_per_person}
    if train is None and person is None and repeats is None:
        return RECORDS if rows_per_person is None else Counting(options=bound)
    options: dict[str, Any] = {
        "train": None if train is None else held(train, origin="train"),
        "target": target,
        "person": person,
        "rows_per_person": rows_per_person,
        "repeats": repeats,
    }
    unit = scan(forest, policy="observe", attacks=[], **options).unit
    most = rows_per_person if unit.persons is None else unit.most
    return Counting(
        options=options,
        test=None if test is None else held(sample_table(test), origin="test"),
        bound={"rows_per_person": most},
    )
