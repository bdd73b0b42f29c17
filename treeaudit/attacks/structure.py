"""Safe to predict with: whether the trees hold together for the library that loads them (TA207).

Readers refuse a file whose tables are no trees (`treeaudit.MalformedModelError`). What is left is
what a file states beside its tables, and what skops has to be told to trust.
"""

from dataclasses import dataclass
from typing import ClassVar

from treeaudit.attacks.case import Case, Need
from treeaudit.findings.checks import Rule, most
from treeaudit.findings.details import Count, Details
from treeaudit.findings.findings import About, Figure, Finding, Skipped, View, Words, details_of
from treeaudit.findings.report import Report, Show
from treeaudit.model.source import Extra, Kind

_KIND: Kind = "malformed"
_LOOKED = (
    "children, features and categories in range",
    "no node above itself",
    "thresholds that are numbers",
    "sizes of tables",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureDetails(Details):
    """What TA207 checked and found."""

    malformed: int  # Parts that state something else than their tables
    trees: int
    nodes: int
    trusted: tuple[str, ...]  # For a skops file: the types that skops.io.load has to trust
    leftovers: tuple[Extra, ...]  # The malformed parts


def _view(result: Finding | Skipped, _: Report) -> View:
    if isinstance(result, Skipped) or result.status == "clear":
        return View()
    n = details_of(result, StructureDetails).malformed
    return View(figure=Figure(number=Count(n, "malformed part", "malformed parts"), counts=""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """Tell whether a library that loads the file can predict with it."""

    id: ClassVar[str] = "TA207"
    title: ClassVar[str] = "Unsafe to predict with"
    words: ClassVar[Words] = Words(
        attacker="Whoever can change the file points a node outside of its table, or back at "
        "itself. Libraries that believe the table crash, never end or answer wrongly when the "
        "model predicts.",
        assumes="somebody loads the file and predicts with it",
        remedy="take the model from where it was trained, or write it anew: treeaudit release "
        "model.pkl -o clean.pkl",
        limit="only trees are checked. What stands before or behind them, such as a search tree "
        "of nearest neighbours, is not; nor is whether the answers are those of an honest model",
        reference="pull request 34558 of scikit-learn, 535 of skops and issue 7357 of LightGBM "
        "(2026)",
    )
    about: ClassVar[About] = "file"
    checks: ClassVar[tuple[Rule, ...]] = (
        Rule(
            name="max-malformed-parts",
            title="Malformed parts of trees",
            bound="at most {:,.0f}",
            measure=most("malformed"),
            missing="the structure of the file was not checked (TA207)",
            tells_of="file",
            rests_on=(),
        ),
    )
    view: ClassVar[Show] = staticmethod(_view)
    needs: ClassVar[tuple[Need, ...]] = ()
    details: ClassVar[type[Details]] = StructureDetails

    def run(self, case: Case) -> Finding | Skipped:
        """Return the malformed parts, or that there are none."""
        extras, source = case.forest.extras, case.forest.source
        found = tuple(one for one in extras.found if one.kind == _KIND)
        unseen = [one.where for one in extras.found if one.kind == "unseen"]
        if _KIND not in extras.looked_for:
            why = "nobody looked: the model was put together in Python; scan the file of it"
            return Skipped(id=self.id, title=self.title, reason=why)
        if unseen and not found:
            why = f"parts of the file were not read ({', '.join(unseen[:3])})"
            step = "write the model anew with treeaudit release"
            return Skipped(id=self.id, title=self.title, reason=f"{why}: {step}")
        trees, nodes = case.forest.n_trees, case.table.n_nodes
        checked = f"{nodes:,} nodes in {trees:,} trees" if trees > 1 else f"{nodes:,} nodes"
        summary = f"The structure of {checked} was checked: they hold together"
        if found:
            summary = f"{found[0].where}: {found[0].says}"
        elif source.skops_call:
            summary += f"; load the file with {source.skops_call}"
        return Finding(
            id=self.id,
            title=self.title,
            severity="high" if found else "none",
            leaves=0,
            people=0,
            summary=f"{summary}.",
            looked=_LOOKED,
            unseen=tuple(unseen),
            details=StructureDetails(
                malformed=sum(one.n for one in found),
                trees=trees,
                nodes=nodes,
                trusted=source.trusted,
                leftovers=found,
            ),
        )
