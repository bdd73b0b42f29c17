"""What was tried of a forest: trees, smallest leaf, accuracy, and what they give back together."""

from collections.abc import Sequence
from dataclasses import dataclass

from treeaudit.findings.findings import Check
from treeaudit.findings.report import Tried
from treeaudit.model.words import in_percent, number_of
from treeaudit.people.predict.utility import Utility
from treeaudit.repair.attempts import Attempt
from treeaudit.repair.worth import Use
from treeaudit.stats import Estimate

_Row = tuple[str, str, str]


def before_and_after(
    before: Attempt, after: Attempt, uses: Sequence[Use] = (), whom: str = ""
) -> list[_Row]:
    """Return a row per check of the policy that applies, and what the repair cost.

    ``uses``: how useful both are to some people (and the repair to those whom it answers, if not
    all); ``whom``: which. Without, the class counts of the leaves tell how often they are right.
    """
    rows = [("verdict", _verdict_word(before), _verdict_word(after))]
    for old, new in zip(before.report.checks, after.report.checks, strict=True):
        if not old.status == new.status == "not-applicable":
            rows.append((old.title.lower(), _measured(old), _measured(new)))
    rows.append(("leaves", f"{before.leaves:,}", f"{after.leaves:,}"))
    if before.forest.n_trees != after.forest.n_trees:
        rows.append(("trees", f"{before.forest.n_trees:,}", f"{after.forest.n_trees:,}"))
    for one, note in zip(uses[1:], (whom, f"{whom}, if answered"), strict=False):
        rows += use_rows(uses[0], one, note)
    if uses:
        return rows
    if before.accuracy is not None:
        many = max(before.forest.n_trees, after.forest.n_trees) > 1
        whose = "right for its own people, each tree alone" if many else "right for its own people"
        rows.append((whose, _share(before.accuracy), _share(after.accuracy)))
    return rows


def _measured(check: Check) -> str:
    untold = "does not apply" if check.status == "not-applicable" else "not run"
    return check.shown or untold


def use_rows(before: Use, after: Use, note: str = "") -> list[_Row]:
    """Return how useful the model is to people."""
    if isinstance(before, Estimate) or isinstance(after, Estimate):
        numbers = [f"{one.value:.3f}" for one in (before, after) if isinstance(one, Estimate)]
        return [(f"R²{note}", numbers[0], numbers[-1])]
    rows = [(f"accuracy{note}", _share(before.accuracy.value), _share(after.accuracy.value))]
    if before.auc is not None and after.auc is not None:
        rows.append((f"AUC{note}", f"{before.auc:.3f}", f"{after.auc:.3f}"))
    if after.coverage.value < 1:
        for name, one, other in (
            ("  share of them answered", before.coverage, after.coverage),
            ("  unanswered counted wrong", before.right_of_all, after.right_of_all),
        ):
            rows.append((name, _share(one.value), _share(other.value)))
    return rows


OWN_PEOPLE = (
    "Accuracy on training people is too high for a model that memorised them: a repair may gain on "
    "unseen people. Measure it with --test FILE."
)
"""What is said where accuracy is that of the training people."""


CHOSEN = " (the same people chose the repair: on others it may be slightly less accurate)"
"""What is said if the people who measure a repair were those by whom it was chosen."""


def far_fewer(before: int, after: int, uses: Sequence[Use], keep_auc: float | None) -> str:
    """Say that few trees are left of a forest, and the ways to keep more; nothing of many."""
    if after * 4 > before:
        return ""
    text = f"{after:,} of {before:,} trees {'is' if after == 1 else 'are'} left"
    aucs = [one.auc for one in uses if isinstance(one, Utility) and one.auc is not None]
    text += f", AUC {aucs[0]:.3f} → {aucs[1]:.3f}" if len(aucs) > 1 else ""
    keeping = "" if keep_auc is not None else "--keep-auc 0.01 keeps more, "
    return f"{text}; {keeping}--sweep 5,10,20 shows every attempt"


def curve(
    sizes: Sequence[int], attempts: Sequence[Attempt], uses: Sequence[Use]
) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the trade-off between k and use."""
    shown = [c.name for c in attempts[0].report.checks if c.name in _SHORT]
    told = bool(uses)
    many = any(one.forest.n_trees > 1 for one in attempts)
    right = "right, each tree alone" if many else "right, own counts"
    head = ["k", "leaves", *(_SHORT[name] for name in shown), right]
    head += ["right, unseen", "AUC"] if told else []
    rows = []
    for i, (k, one) in enumerate(zip(sizes, attempts, strict=False)):
        by_name = {check.name: check.shown or "not told" for check in one.report.checks}
        row = [f"{k:,}", f"{one.leaves:,}", *(by_name[name] for name in shown)]
        row.append(_share(one.accuracy))
        row += _of_unseen(uses[i]) if told else []
        rows.append([*row, _verdict_word(one)])
    return [*head, "verdict"], rows


def _of_unseen(use: Use) -> list[str]:
    if not isinstance(use, Utility):
        return [f"R² {use.value:.3f}", "–"]
    return [_share(use.accuracy.value), "–" if use.auc is None else f"{use.auc:.3f}"]


_SHORT = {"min-leaf": "smallest", "max-unique-people": "alone", "max-certain-share": "certain"}
"""The checks that a repair moves, in a word each."""


def _verdict_word(one: Attempt) -> str:
    return one.report.verdict.upper() if one.report.checks else "no checks"


def _share(value: float | None) -> str:
    return "not told" if value is None else in_percent(value, 2)


HEAD = ("trees", "leaves", "smallest", "right", "AUC", "excess", "verdict")
_MOST = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A row."""

    tried: Tried
    verdict: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The row in words, as in `HEAD`."""
        one = self.tried
        return (
            f"{one.trees:,}",
            "–" if one.leaves is None else f"{one.leaves:,}",
            "not told" if one.smallest is None else f"{one.smallest:,}",
            "not told" if one.accuracy is None else in_percent(one.accuracy),
            "–" if one.auc is None else f"{one.auc:.3f}",
            "–" if one.excess is None else f"{one.excess:+.1%}",
            self.verdict,
        )

    @property
    def short(self) -> tuple[str, ...]:
        """The row in 80 columns: the check that failed by name alone."""
        return (*self.cells[:-1], self.verdict.partition(":")[0])


def shown(frontier: Sequence[Tried], *, every: bool = False) -> list[_Shown]:
    """Return the model as it is and the repairs that were judged, those that pass before others.

    Of each number of trees and smallest leaf the best, at most a dozen in all; of a sweep every
    one, by trees and leaves.
    """
    if not frontier:
        return []
    before, *others = frontier
    best: dict[tuple[object, ...], Tried] = {}
    for one in sorted(others, key=lambda one: (one.passed, _worth(one)), reverse=True):
        # What was taken out beside the trees is no other forest.
        bare = not one.passed and (one.trees, one.smallest) == (before.trees, before.smallest)
        if (one.judged or every) and not bare:
            size = one.smallest if one.judged else one.leaves
            best.setdefault((one.trees, size, one.passed), one)
    rows = [before, *list(best.values())[: _MOST - 1]]
    if every:
        many = sorted(best.values(), key=lambda one: (one.trees, one.leaves or 0), reverse=True)
        rows = [before, *many]
    return [_Shown(tried=one, verdict=_verdict(one)) for one in rows]


def _worth(one: Tried) -> float:
    return (one.accuracy or 0.0) + (one.auc or 0.0)


def _verdict(one: Tried) -> str:
    if not one.judged:
        return "not judged, loses more AUC"
    if not one.passed:
        return f"fails {one.miss}"
    return "PASS, chosen" if one.chosen else "PASS"


def rest(frontier: Sequence[Tried]) -> str:
    """Say on whom accuracy was measured, and what was not judged."""
    whom = "the training people (give --test)"
    if frontier[0].unseen:
        whom = f"unseen people{CHOSEN if any(one.chosen for one in frontier) else ''}"
    fewer = sum(not one.judged for one in frontier)
    text = f"right, AUC: on {whom}; excess: labels all trees give back beyond the model's answers"
    if not fewer:
        return text
    more = number_of(fewer, "repair", "repairs")
    return f"{text}; not judged: {more} no better in both than one that passes"
