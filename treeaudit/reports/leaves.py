"""The leaves that a report shows: the worst ones as rows, each tree as a drawing."""

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from treeaudit.arrays import Wide
from treeaudit.findings.report import Report
from treeaudit.model.forest import Forest
from treeaudit.model.rules import edges_into, rules_of
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.model.words import conditions, label_text, number_of, sentence
from treeaudit.reports.charts import Column, icicle, strip
from treeaudit.reports.icicle import Cell, Layout, lay_out, level_of
from treeaudit.reports.plain_text import plain
from treeaudit.reports.wording import LEVELS
from treeaudit.table.labels import people_per_class
from treeaudit.table.persons import counted_tree
from treeaudit.table.table import Table

__all__ = [
    "MOST_STRIPS",
    "Drawing",
    "Strip",
    "draw_trees",
    "levels_per_tree",
    "strips",
    "worst_trees",
]

MOST_STRIPS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """One tree, drawn.

    Attributes
    ----------
    folded
        Columns that stand for more than one leaf.
    """

    tree: int
    svg: Markup
    folded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """One tree of a forest in a line."""

    tree: int
    svg: Markup
    leaves: str
    smallest: str
    people: str


def levels_per_tree(table: Table) -> Wide:
    """Return leaves by level of size, shape ``(n_trees, n_levels)``."""
    starts = [level.low for level in LEVELS]
    n_trees = len(table.start) - 1
    tree = np.repeat(np.arange(n_trees), np.diff(table.start))
    key = tree * len(starts) + level_of(table.size, starts)
    return np.bincount(key, minlength=n_trees * len(starts)).reshape(n_trees, len(starts))


def worst_trees(table: Table, k: int, most: int | None = None) -> list[int]:
    """Return the trees with the most people below k first."""
    per_tree = table.per_tree(np.where(table.size < k, table.size, 0))
    told = np.flatnonzero(np.diff(table.start))
    order: list[int] = told[np.argsort(-per_tree[told], kind="stable")][:most].tolist()
    return order


def strips(report: Report) -> list[Strip]:
    """Return a line per tree, the worst first, at most `MOST_STRIPS`."""
    table, shades = report.table, [level.shade for level in LEVELS]
    counted = levels_per_tree(table)
    below = table.per_tree(np.where(table.size < report.policy.k, table.size, 0))
    lines = []
    for tree in worst_trees(table, report.policy.k, MOST_STRIPS):
        here = table.size[table.rows_of(tree)]
        lines.append(
            Strip(
                tree=tree,
                svg=strip(list(zip(shades, (counted[tree] / len(here)).tolist(), strict=True))),
                leaves=f"{len(here):,}",
                smallest=f"{int(here.min()):,}",
                people=f"{int(below[tree]):,}",
            )
        )
    return lines


def draw_trees(report: Report, most: int = 3) -> list[Drawing]:
    """Draw the worst trees."""
    table, k = report.table, report.policy.k
    return [_draw(table, index, k) for index in worst_trees(table, k, most)]


def _draw(table: Table, index: int, k: int) -> Drawing:
    forest, tree = table.forest, counted_tree(table, index)
    layout = lay_out(tree, k, [level.low for level in LEVELS])
    many = forest.n_trees > 1
    name = f"Icicle of tree {index}" if many else "Icicle of the tree"
    folded = sum(cell.kind == "fold" for cell in layout.ends)
    svg = icicle(
        layout,
        _columns(forest, index, tree, layout),
        _questions(forest.schema, tree, layout),
        k=k,
        name=name,
        description=_description(layout, k, folded),
    )
    return Drawing(tree=index, svg=svg, folded=folded)


def _description(layout: Layout, k: int, folded: int) -> str:
    total = int(layout.below.n_leaves[0])
    small = number_of(int(layout.below.small[0]), "leaf", "leaves")
    text = number_of(total, "leaf", "leaves")
    text += f"; those with fewer than {k:,} people: {small}."
    if folded:
        text += f" Columns that stand for several leaves each: {folded}."
    return text + " The table of groups lists the smallest ones with their rules."


def _columns(forest: Forest, index: int, tree: Tree, layout: Layout) -> list[Column]:
    ends = layout.ends
    rules = rules_of(tree, [cell.node for cell in ends])
    shades = [level.shade for level in LEVELS]
    columns = []
    for i, cell in enumerate(ends):
        total = int(layout.below.n_leaves[cell.node])
        counts = layout.below.levels[cell.node].tolist()
        shares = [(s, n / total) for s, n in zip(shades, counts, strict=True) if n]
        smallest = int(layout.below.smallest[cell.node])
        text = sentence(rules, forest.schema, i)
        columns.append(
            Column(
                title=plain(_title(forest, index, tree, cell, layout, text), 700),
                row="" if cell.kind == "fold" else f"t{index}-{cell.node}",
                smallest=smallest,
                largest=max(int(layout.below.largest[cell.node]), 1),
                shares=tuple(shares) or (("nd", 1.0),),
                one_label=int(layout.below.one_label[cell.node]) == total > 0,
            )
        )
    return columns


def _title(forest: Forest, index: int, tree: Tree, cell: Cell, layout: Layout, rule: str) -> str:
    smallest = int(layout.below.smallest[cell.node])
    total = int(layout.below.n_leaves[cell.node])
    if cell.kind == "fold":
        parts = [f"{number_of(total, 'leaf', 'leaves')}, smallest {smallest:,}", rule]
    else:
        parts = [
            f"Leaf {cell.node}: {number_of(smallest, 'person', 'people') if total else 'nobody'}",
            _says(forest, index, tree, cell.node),
            rule,
        ]
    return " · ".join(part for part in parts if part)


def _says(forest: Forest, index: int, tree: Tree, leaf: int) -> str:
    """Return what a leaf tells about its people."""
    classes = forest.classes_of(index)
    if tree.n_records is None:
        return ""
    if tree.counts is None or classes is None:
        return "" if tree.value is None else f"value {tree.value[leaf]:,.6g}"
    counts = tree.counts[[leaf]]
    people = people_per_class(counts, tree.n_records[[leaf]], forest.counts_are)[0]
    present = np.flatnonzero(counts[0] > 0)
    names = [plain(label_text(classes[i]), 60) for i in present.tolist()]
    if len(present) == 1:
        return f"{plain(forest.schema.target, 60)} = {names[0]}"
    if np.isnan(people).any():
        return f"{len(present)} labels"
    shown = [f"{people[i]:,.0f} × {name}" for i, name in zip(present, names, strict=True)]
    return ", ".join(shown[:4]) + (", …" if len(shown) > 4 else "")


def _questions(schema: Schema, tree: Tree, layout: Layout) -> dict[int, tuple[str, str]]:
    """Return for each inner cell the condition of its first branch."""
    inner = [cell.node for cell in layout.cells if cell.kind == "inner"]
    start, child = tree.children()
    asked = {}
    for node in inner:
        first, *others = child[start[node] : start[node + 1]].tolist()
        if len(others) == 1:
            text = conditions(edges_into(tree, [first]), schema)[0]
        else:
            text = f"{schema.features[int(tree.feature[first])].name}?"
        people = ""
        if tree.n_records is not None:
            people = f" · {number_of(int(tree.n_records[node]), 'person', 'people')}"
        asked[node] = (plain(text, 160), plain(text, 300) + people)
    return asked
