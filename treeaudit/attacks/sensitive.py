"""What TA110 measures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from treeaudit.attacks.case import Case, Need, looked_at, unseen_trees
from treeaudit.attacks.distinct_people import in_worst_tree
from treeaudit.attacks.homogeneous_groups import (
    DIVERSITY,
    Diversity,
    homogeneous_groups,
    measures,
    summary_of,
    worst_of,
)
from treeaudit.attacks.needs import PEOPLE, SENSITIVE
from treeaudit.attacks.sensitive_columns import SensitiveColumn, columns_to_audit, groups_of
from treeaudit.findings.checks import Rule, most
from treeaudit.findings.details import Details, People, say
from treeaudit.findings.findings import (
    SEVERITIES,
    About,
    Figure,
    Finding,
    Line,
    Mark,
    Plot,
    Skipped,
    View,
    Words,
    details_of,
)
from treeaudit.findings.report import Report, Show
from treeaudit.model.forest import Forest
from treeaudit.stats import fact


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDetails(Diversity):
    """One column inside the groups."""

    column: str  # Its name
    named: bool  # Whether somebody named it; otherwise it is the number that the model predicts
    kind: Literal["values", "numbers"]  # Whether it has few values, or is a magnitude
    used_by_model: bool  # Whether the model has it as a feature
    distinct_values: int  # How many values it has
    missing: People  # People without a value
    # Leaves in which two people hold nearly all of a total; None for text
    nk_leaves: People | None
    nk_people: People | None
    # Leaves in which a total gives a contribution away; None for text
    p_percent_leaves: People | None
    p_percent_people: People | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveDetails(Diversity):
    """The worst over all columns; without a bound or an order where one of them has none."""

    # As of a column, the most; 0 where all are text
    nk_leaves: People
    p_percent_leaves: People
    columns: tuple[ColumnDetails, ...]  # Each column


def view(result: Finding | Skipped, report: Report) -> View:
    """Return a row per column.

    A safe copy leaves it out: values of groups would tell who is in them.
    """
    if isinstance(result, Skipped):
        return View()
    details = details_of(result, SensitiveDetails)
    lines = tuple(
        Line(
            name=say("{}", entry.column[:60]),
            marks=(Mark(kind="part", share=fact(entry.certain_share, 1)),),
            cells=(
                say("{}", entry.certain_share),
                say("{}", People.alone(entry.homogeneous_leaves)),
                say(f"{entry.t_closeness:.2f}"),
            ),
        )
        for entry in details.columns
    )
    said = "Leaves in which everybody has the same value; t is the largest distance of a leaf "
    said += "from everybody (t-closeness)."
    plot = Plot(
        title=say("People whose value follows from their leaf"),
        lines=lines,
        heads=("people", "leaves", "t"),
        told=True,
        sentences=(say(said),),
    )
    distinct = details.homogeneous_in_any_tree
    return View(
        figure=Figure(
            number=People(result.people),
            counts="whose value in a named column everybody in their leaf has"
            + in_worst_tree(report, distinct),
        ),
        plots=(plot,),
    )


_MOST_EVIDENCE = 5

_OF_SEVERAL = ("MultiOutputRegressor", "RegressorChain")
"""Models of which every member predicts another number."""

_MOST_KINDS = 20
"""A column of numbers with more values than this is told of as a magnitude."""


def _no_magnitudes(forest: Forest) -> str | None:
    """Say that a classifier publishes no total of anything; None for other models."""
    return "the model publishes no magnitudes" if forest.schema.classes is not None else None


def _not_looked_at(findings: Sequence[Finding], forest: Forest) -> str | None:
    """Say that nobody looked at the numbers whose totals a model publishes."""
    if forest.schema.classes is not None or forest.answers in ("path", "leaf"):
        return None
    details = [details_of(finding, SensitiveDetails) for finding in findings]
    numbers = {c.column for one in details for c in one.columns if c.nk_leaves is not None}
    outputs = len(forest.members) if forest.source.estimator in _OF_SEVERAL else 1
    if forest.schema.target in numbers and len(numbers) < outputs:
        return (
            f"the model predicts {outputs:,} numbers, and those of {forest.schema.target} alone "
            "were looked at: name the columns of the others (--sensitive)"
        )
    if forest.schema.target in numbers:
        return None
    return "the numbers that the model predicts were not looked at (--train, --target)"


_CHECKS = (
    *DIVERSITY,
    Rule(
        name="max-nk-leaves",
        title="Leaves where two people hold 90 % of a total",
        bound="at most {:,.0f}",
        measure=most("nk_leaves"),
        needless=_no_magnitudes,
        unsure=_not_looked_at,
        rests_on=("unit", "sensitive"),
    ),
    Rule(
        name="max-p-percent-leaves",
        title="Leaves where a total gives one contribution away to within 10 %",
        bound="at most {:,.0f}",
        measure=most("p_percent_leaves"),
        needless=_no_magnitudes,
        unsure=_not_looked_at,
        rests_on=("unit", "sensitive"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitive:
    """Audit named columns of the training data inside the groups."""

    id: ClassVar[str] = "TA110"
    title: ClassVar[str] = "Sensitive columns"
    words: ClassVar[Words] = Words(
        kinds=("attribute inference",),
        attacker="People in one leaf may share more than their label. When all of them have the "
        "same value in a sensitive column, whoever learns it of one of them, or from a table by "
        "group, knows it of everybody.",
        assumes="the attacker has the file, knows the features on the path, and learns how the "
        "column is spread in the leaf; the file itself tells it only of columns that it asks about",
        remedy="merge leaves until each holds several values of the column (l-diversity), or until "
        "their spread is that of everybody (t-closeness)",
        limit="measured on the training data, not read off the file; values count as alike only "
        "where they are exactly equal, so that a narrow range of numbers is not seen",
        reference="Machanavajjhala et al. (2006); Li et al. (2007); Hundepool et al. (2012), "
        "section 4.2",
    )
    about: ClassVar[About] = "table"
    checks: ClassVar[tuple[Rule, ...]] = _CHECKS
    view: ClassVar[Show] = staticmethod(view)
    needs: ClassVar[tuple[Need, ...]] = (SENSITIVE, PEOPLE)
    details: ClassVar[type[Details]] = SensitiveDetails
    # Of the dominance rules: two people with more than 90 % of a total; a contribution that the
    # second-largest contributor knows to within 10 %
    n: int = 2
    k: float = 0.9
    p: float = 0.1

    def run(self, case: Case) -> Finding | Skipped:
        """Return what the groups say of the columns that were named."""
        columns = columns_to_audit(case)
        alike, entries = [], []
        for column in columns:
            stated, totals = groups_of(case, column, n=self.n, k=self.k, p=self.p)
            alike.append(homogeneous_groups(case, stated))
            entries.append(_entry(column, alike[-1].diversity, totals))
        nk = _of_numbers(entry.nk_leaves for entry in entries)
        close = _of_numbers(entry.p_percent_leaves for entry in entries)
        severity = max((found.severity for found in alike), key=SEVERITIES.index)
        unseen, train = unseen_trees(case), case.people("train")
        if case.forest.schema.classes is None and train.unlabelled:
            # Whose numbers were refused, of those nothing was looked at.
            unseen = (*unseen, train.unlabelled)
        if severity == "none" and nk:
            severity = "low"
        if severity == "none" and unseen:
            return Skipped(id=self.id, title=self.title, reason=unseen[0])
        worst = worst_of(entries)
        evidence = [one for found in alike for one in found.evidence]
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity,
            leaves=int(np.any([found.pure for found in alike], axis=0).sum()),
            people=worst["homogeneous_people"],
            summary=_summary(entries, "many" if case.forest.n_trees > 1 else ""),
            looked=tuple(
                part
                for column in columns
                for part in looked_at(f"{column.name} in the leaves", case)
            ),
            unseen=unseen,
            details=SensitiveDetails(
                **worst, nk_leaves=nk, p_percent_leaves=close, columns=tuple(entries)
            ),
            evidence=tuple(sorted(evidence, key=lambda one: one.people)[:_MOST_EVIDENCE]),
            controls=tuple(control for found in alike for control in found.controls),
        )


def _of_numbers(leaves: Iterable[People | None]) -> People:
    """Return the most leaves of a column of numbers: words have no total."""
    return max((told for told in leaves if told is not None), default=People(0, "leaf", "leaves"))


def _entry(column: SensitiveColumn, found: Diversity, totals: Mapping[str, Any]) -> ColumnDetails:
    return ColumnDetails(
        **measures(found),
        column=column.name,
        named=column.named,
        kind="numbers"
        if column.number is not None and len(column.names) > _MOST_KINDS
        else "values",
        used_by_model=column.used,
        distinct_values=len(column.names),
        missing=People(column.missing),
        **totals,
    )


def _summary(entries: Sequence[ColumnDetails], trees: str) -> str:
    """Say the worst column, and where few hold nearly all of one."""
    worst = max(entries, key=lambda entry: (entry.certain_share, entry.column))
    every = ", ".join(entry.column[:60] for entry in entries[:3])
    text = summary_of(worst, worst.column[:60], f"values of {every}", trees)
    dominated = [entry for entry in entries if entry.nk_leaves]
    if dominated:
        leaves, column = dominated[0].nk_leaves, dominated[0].column[:60]
        where = "1 leaf" if leaves == 1 else f"{leaves:,} leaves"
        text = f"{text.removesuffix('.')}; in {where} two people hold nearly all of {column}."
    return text
