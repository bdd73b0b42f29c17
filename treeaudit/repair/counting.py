"""What is one in the audits of a repair: the same before and after it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treeaudit.audit.scan import scan
from treeaudit.findings.policy import Policy
from treeaudit.findings.report import Report
from treeaudit.model.forest import Forest
from treeaudit.people.sheet import read_table
from treeaudit.people.verification import MisfitError

__all__ = ["RECORDS", "Counting", "counting_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counting:
    """How the models of a repair are audited.

    Attributes
    ----------
    options
        Of `treeaudit.scan`.
    bound
        The same where a repair leaves people out or rounds their number, so that the
        training data no longer fits: the most records of one person.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    bound: Mapping[str, Any] = field(default_factory=dict)

    def audited(self, forest: Forest, policy: Policy) -> Report:
        """Return the audit of a model."""
        try:
            return scan(forest, policy=policy, **self.options)
        except MisfitError:
            if "train" not in self.options:
                raise
            return scan(forest, policy=policy, **self.bound)


RECORDS = Counting()


def counting_of(
    forest: Forest,
    *,
    train: object,
    target: str | None,
    person: str | None,
    rows_per_person: int | None,
    repeats: str | None,
) -> Counting:
    """Return what a repair is to count, told by the model as it is.

    Training data that was given for another end, and neither names persons nor
    looks like copies, is not audited on.

    Raises
    ------
    DataError
        If what was said of persons does not fit the data or the model.
    """
    bound = {"rows_per_person": rows_per_person}
    if train is None and person is None and repeats is None:
        return RECORDS if rows_per_person is None else Counting(options=bound)
    options: dict[str, Any] = {
        "train": None if train is None else read_table(train, "train"),
        "target": target,
        "person": person,
        "rows_per_person": rows_per_person,
        "repeats": repeats,
    }
    try:
        unit = scan(forest, policy="observe", attacks=[], **options).unit
    except MisfitError:
        if person is not None or repeats is not None:
            raise
        return Counting(options=bound)
    if unit.persons is None:
        return Counting(options=bound)
    return Counting(options=options, bound={"rows_per_person": unit.most})
