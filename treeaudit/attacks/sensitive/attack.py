"""Sensitive columns inside the groups: what else a leaf says of its people (TA110).

The label is not all that people share. A column that the file does not even
hold is disclosed as soon as everybody in a leaf has the same value in it, to
whoever learns what that leaf holds: from a second table, or from one member.

References
----------
Machanavajjhala et al. (2006), l-diversity: the sensitive attribute. Li et al.
(2007), t-closeness. Hundepool et al. (2012), section 4.2, dominance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.case import Case, Need, looked_at, severity_of_share, unseen_trees
from treeaudit.attacks.control import explained, lowered
from treeaudit.attacks.needs import PEOPLE, SENSITIVE
from treeaudit.attacks.sensitive.checks import DIVERSITY
from treeaudit.attacks.sensitive.column import SensitiveColumn, codes_of, columns_to_audit
from treeaudit.attacks.sensitive.groups import SensitiveGroups, groups_of
from treeaudit.attacks.sensitive.view import view
from treeaudit.findings.checks import Rule, most
from treeaudit.findings.details import Details
from treeaudit.findings.findings import About, Control, Evidence, Finding, Skipped, Words
from treeaudit.findings.report import Show
from treeaudit.model.forest import Forest
from treeaudit.model.rules import rules_of
from treeaudit.model.words import sentence
from treeaudit.people.records import Records
from treeaudit.stats import Estimate, difference, fact, wilson

__all__ = ["Sensitive"]

_MOST_EVIDENCE = 5


def _no_magnitudes(forest: Forest) -> str | None:
    """Say that a classifier publishes no total of anything; None for other models."""
    return "the model publishes no magnitudes" if forest.schema.classes is not None else None


_CHECKS = (
    *DIVERSITY,
    Rule(
        name="max-nk-leaves",
        title="Leaves where two people hold 90 % of a total",
        bound="at most {:,.0f}",
        measure=most("nk_leaves"),
        needless=_no_magnitudes,
    ),
    Rule(
        name="max-p-percent-leaves",
        title="Leaves where a total gives one contribution away to within 10 %",
        bound="at most {:,.0f}",
        measure=most("p_percent_leaves"),
        needless=_no_magnitudes,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitive:
    """Audit named columns of the training data inside the groups.

    Attributes
    ----------
    n, k, p
        Of the dominance rules: two people with more than 90 % of a total; a
        contribution that the second-largest contributor knows to within 10 %.
    """

    id: ClassVar[str] = "TA110"
    title: ClassVar[str] = "Sensitive columns"
    words: ClassVar[Words] = Words(
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
    details: ClassVar[type[Details]] = Details
    n: int = 2
    k: float = 0.9
    p: float = 0.1

    def run(self, case: Case) -> Finding | Skipped:
        """Return what the groups say of the columns that were named.

        A model that predicts a number publishes its mean in every leaf: its
        target is audited without being named.

        ``details``, the worst over all columns: ``homogeneous_leaves`` and
        ``homogeneous_people`` (the sum over columns), ``certain_share``,
        ``distinct_l``, ``entropy_l``, ``t_closeness``, ``largest_share``,
        ``nk_leaves``, ``p_percent_leaves``; ``columns``, one entry each:
        ``column``, ``named`` (False for the target of a model that predicts a
        number), ``kind`` (``values`` or ``numbers``), ``used_by_model``,
        ``distinct_values``, ``missing``; ``homogeneous_leaves``,
        ``homogeneous_people``, ``certain_share`` (of people, in the worst
        tree), ``distinct_l``, ``entropy_l``, ``recursive_c_for_l_2`` and
        ``delta_disclosure`` (None: unbounded), ``beta_likeness``,
        ``t_closeness`` (values without order), ``ordered_t_closeness`` (None
        for text), ``largest_share``; for numbers ``nk_leaves``, ``nk_people``,
        ``p_percent_leaves``, ``p_percent_people`` (None for text).

        Raises
        ------
        DataError
            If there is no such column.
        """
        columns = columns_to_audit(case)
        groups = [groups_of(case, column, n=self.n, k=self.k, p=self.p) for column in columns]
        entries = [_entry(column, found) for column, found in zip(columns, groups, strict=True)]
        share = max(entry["certain_share"] for entry in entries)
        controls = [
            control
            for column, found in zip(columns, groups, strict=True)
            for control in _controls(case, column, found)
        ]
        severity = severity_of_share(share)
        if severity == "none" and any(entry["nk_leaves"] for entry in entries):
            severity = "low"
        severity, unseen = lowered(severity, controls), unseen_trees(case)
        if severity == "none" and unseen:
            return Skipped(id=self.id, title=self.title, reason=unseen[0])
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity,
            leaves=int(np.any([found.only >= 0 for found in groups], axis=0).sum()),
            people=max(entry["homogeneous_people"] for entry in entries),
            summary=_summary(entries, case.forest.n_trees > 1),
            looked=tuple(
                part
                for column in columns
                for part in looked_at(f"{column.name} in the leaves", case)
            ),
            unseen=unseen,
            details=_whole(entries) | {"columns": entries},
            evidence=_evidence(case, columns, groups),
            controls=tuple(controls),
        )


def _entry(column: SensitiveColumn, found: SensitiveGroups) -> dict[str, Any]:
    return {
        "column": column.name,
        "named": column.named,
        "kind": "values" if column.number is None else "numbers",
        "used_by_model": column.used,
        "distinct_values": len(column.names),
        "missing": column.missing,
        **found.measures,
    }


def _whole(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the worst over the columns."""

    def worst(name: str, *, least: bool = False) -> Any:  # noqa: ANN401  # as in the entries
        values = [entry[name] for entry in entries if entry[name] is not None]
        return (min if least else max)(values, default=0)

    return {
        "homogeneous_leaves": worst("homogeneous_leaves"),
        "homogeneous_people": worst("homogeneous_people"),
        "certain_share": worst("certain_share"),
        "distinct_l": worst("distinct_l", least=True),
        "entropy_l": worst("entropy_l", least=True),
        "t_closeness": worst("t_closeness"),
        "largest_share": worst("largest_share"),
        "nk_leaves": worst("nk_leaves"),
        "p_percent_leaves": worst("p_percent_leaves"),
    }


def _summary(entries: Sequence[dict[str, Any]], many: bool) -> str:
    worst = max(entries, key=lambda entry: (entry["certain_share"], entry["column"]))
    column, share = worst["column"][:60], worst["certain_share"]
    if not worst["homogeneous_leaves"]:
        text = "No leaf holds people who are all alike in " + ", ".join(
            entry["column"][:60] for entry in entries[:3]
        )
    else:
        where = "in the worst tree " if many else ""
        text = f"The {column} of {share:.1%} of the people {where}is that of everybody in the leaf"
    dominated = [entry for entry in entries if entry["nk_leaves"]]
    if dominated:
        first = dominated[0]
        leaves = "1 leaf" if first["nk_leaves"] == 1 else f"{first['nk_leaves']:,} leaves"
        text += f"; in {leaves} two people hold nearly all of {first['column'][:60]}"
    return text + "."


def _evidence(
    case: Case, columns: Sequence[SensitiveColumn], groups: Sequence[SensitiveGroups]
) -> tuple[Evidence, ...]:
    """Describe the largest leaves of one value, over all columns."""
    found: list[tuple[int, int, int]] = []
    for i, one in enumerate(groups):
        pure = np.flatnonzero(one.only >= 0)
        largest = pure[np.argsort(-one.people[pure], kind="stable")[:_MOST_EVIDENCE]]
        found += [(-int(one.people[position]), i, int(position)) for position in largest]
    evidence = []
    for people, i, position in sorted(found)[:_MOST_EVIDENCE]:
        index = int(case.table.tree_of(position))
        leaf = int(case.table.leaf[position])
        value = columns[i].names[int(groups[i].only[position])]
        rule = sentence(rules_of(case.forest.trees[index], [leaf]), case.forest.schema)
        says = f"{columns[i].name[:60]} = {value[:60]}"
        evidence.append(Evidence(tree=index, leaf=leaf, people=-people, says=says, rule=rule))
    return tuple(evidence)


def _controls(case: Case, column: SensitiveColumn, found: SensitiveGroups) -> list[Control]:
    """Ask unseen people whether they have the value of their leaf, in small and large leaves."""
    test, size = case.test, case.table.size
    code = None if test is None else codes_of(column, test.frame)
    if test is None or code is None:
        return []
    name, k = column.name[:60], case.k
    common = int(np.bincount(code[code >= 0], minlength=1).argmax()) if (code >= 0).any() else -1
    controls = []
    for chosen, of in (
        (size < k, f"leaves of one {name} and fewer than {k} people"),
        (size >= k, f"leaves of one {name} and {k} or more people"),
    ):
        chosen = chosen & (found.only >= 0)
        if not chosen.any():
            continue
        people = int(found.people[chosen].sum())
        control = Control(of=of, claim=fact(1.0, people), verified=fact(1.0, people))
        fits, right = _tested(case, test, code, found, chosen)
        if fits.any():
            n = int(fits.sum())
            unseen = wilson(float(right[fits].sum()), n)
            control = replace(
                control,
                control=unseen,
                baselines={"most frequent value": wilson(int((code[fits] == common).sum()), n)},
                excess=difference(control.claim, unseen),
            )
        controls.append(replace(control, sentence=_sentence(control, len(code))))
    return controls


def _tested(
    case: Case,
    test: Records,
    code: npt.NDArray[np.int64],
    found: SensitiveGroups,
    chosen: npt.NDArray[np.bool_],
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Return who fits the leaves, and with what share of theirs they agree."""
    fits, right = np.zeros(len(code)), np.zeros(len(code))
    for tree in range(case.forest.n_trees):
        position = case.table.positions(tree, test.node[:, tree])
        inside = (position >= 0) & chosen[position]
        fits += inside
        right += inside & (found.only[position] == code)
    return fits > 0, right / np.maximum(fits, 1)


def _sentence(control: Control, unseen: int) -> str:
    share: Estimate | None = control.control
    if share is None:
        return (
            f"None of the {unseen:,} unseen people fits {control.of}: nothing speaks for a fact "
            "of the population."
        )
    who = "person who fits has" if share.n == 1 else "people who fit have"
    text = (
        f"In {control.of}, {share.value:.0%} ({share.low:.0%}–{share.high:.0%}) of {share.n:,} "
        f"unseen {who} the value of their leaf, against all training people: "
    )
    if explained(control):
        return text + "mostly a fact of the population, not memory."
    if control.excess is not None and control.excess.low > 0:
        return text + "the difference is true of the training people only."
    return text + "too few unseen people fit to tell memory from fact."
