"""One model of a comparison: its audit, what it gives away, and what it is good for."""

import math
from dataclasses import dataclass, field

from treeaudit.attacks import all_checks
from treeaudit.comparison.claims import Claims
from treeaudit.comparison.leakage import Leakage
from treeaudit.dp.claims import bounded
from treeaudit.findings.findings import Check, Verdict
from treeaudit.findings.judging import judge, verdict_of
from treeaudit.findings.policy import BUILT_IN, Policy
from treeaudit.findings.report import Report
from treeaudit.people.predict.predictions import Utility
from treeaudit.stats import Estimate

__all__ = ["Compared", "by_ledger"]

_PRIVATE = BUILT_IN["private"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """One model of a comparison.

    Attributes
    ----------
    name
        What to call it: its file name, or a number.
    report
        Its audit.
    claims
        What the file claims, and what of that is true where there is training
        data.
    utility
        What it is good for on unseen people, or None.
    explained
        R² of a number that it predicts on unseen people, or None.
    leakage
        What was measured of its people.
    ledger
        The checks of policy ``private``, where noise bounds what the model gives away and
        the policy could therefore not be checked; empty elsewhere.
    notes
        What could not be done for it, one sentence each.
    """

    name: str
    report: Report
    claims: Claims
    utility: Utility | None
    explained: Estimate | None = None
    leakage: Leakage = field(default_factory=Leakage)
    ledger: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def epsilon(self) -> float | None:
        """What bounds all that the model gives away of one person, or None."""
        epsilon = self.report.epsilon
        return epsilon if math.isfinite(epsilon) else None

    @property
    def delta(self) -> float:
        """The chance with which that may be exceeded; 0 where there is no epsilon."""
        return 0.0 if self.epsilon is None else self.report.delta

    @property
    def verdict(self) -> Verdict:
        """That of the policy; of a private model that it cannot check, that of its ledger."""
        return verdict_of(self.ledger) if self.ledger else self.report.verdict

    @property
    def membership_auc(self) -> float | None:
        """How well members are told from unseen people, or None where that was not attacked."""
        return None if self.leakage.auc is None else self.leakage.auc.value

    @property
    def useful(self) -> Estimate | None:
        """Accuracy on unseen people, whoever gets no answer being wrong; R² of a number."""
        return self.explained if self.utility is None else self.utility.right_of_all


def by_ledger(report: Report) -> tuple[Check, ...]:
    """Return the checks of policy ``private`` where another policy asks about leaves of noise.

    The largest epsilon is that of the policy of the report, where it names one.
    """
    if report.verdict not in ("review", "fail") or not bounded(report.forest):
        return ()
    # What fails of people or of the file fails whatever the leaves are; leaves hold noise.
    pages = report.pages
    failed = [check.attack for check in report.checks if check.status == "fail"]
    if any(one is None or one not in pages or pages[one].about != "table" for one in failed):
        return ()
    own = {name: report.policy.values[name] for name in _PRIVATE.values
           if name in report.policy.values}  # fmt: skip
    policy = Policy(name="private", values={**_PRIVATE.values, **own})
    return judge(policy, report.results, report.forest, all_checks(), report.unit.most)
