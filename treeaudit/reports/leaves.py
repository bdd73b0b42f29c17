"""The leaves that a report shows: the worst ones as rows, each tree as a drawing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from treeaudit.arrays import Wide
from treeaudit.findings.details import Phrase
from treeaudit.findings.findings import Rung
from treeaudit.findings.report import Report, view_of
from treeaudit.model.forest import Forest
from treeaudit.model.rules import edges_into, rules_of
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.model.words import conditions, label_text, number_of, sentence
from treeaudit.reports.charts import Column, icicle, strip
from treeaudit.reports.icicle import Cell, Layout, lay_out, level_of
from treeaudit.reports.plain_text import plain
from treeaudit.reports.wording import LEVELS, in_words
from treeaudit.table.labels import people_per_class
from treeaudit.table.persons import counted_tree
from treeaudit.table.table import Table

_MOST_COLUMNS = 150
_RECT = Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """All trees of a forest, a column each, and what is seen in words."""

    svg: Markup
    said: str


def draw_forest(report: Report) -> _Columns | None:
    """Draw a column per tree: its people by the size of their group, the most exposed tree first.

    Trees beyond `_MOST_COLUMNS` are left out evenly.
    """
    table, k = report.table, report.policy.k
    starts = [level.low for level in LEVELS]
    told = np.flatnonzero(np.diff(table.start))
    if not len(told):
        return None
    level = level_of(table.size, starts)
    people = np.stack(
        [table.per_tree(np.where(level == i, table.size, 0)) for i in range(len(starts))], axis=1
    )[told]
    share = people / np.maximum(people.sum(axis=1, keepdims=True), 1)
    order = np.lexsort(-share.T[::-1])
    at = np.unique(
        np.linspace(0, len(order) - 1, min(len(order), _MOST_COLUMNS)).round().astype(int)
    )
    svg = _forest_columns(share[order[at]].tolist(), [one.shade for one in LEVELS])
    below = table.per_tree(np.where(table.size < k, table.size, 0))[told]
    least = sorted(int(table.size[table.rows_of(tree)].min()) for tree in told.tolist())
    said = (
        f"{_shown(len(at), report.forest.n_trees)}, a column each. In a tree "
        f"{_between(below.min(), below.max())} people are in groups below {k}; "
        f"its smallest group holds {_between(least[0], least[-1])}."
    )
    return _Columns(svg=svg, said=said)


def _shown(drawn: int, trees: int) -> str:
    return f"{trees:,} trees" if drawn == trees else f"{drawn:,} of {trees:,} trees"


def _between(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _forest_columns(shares: Sequence[Sequence[float]], shades: Sequence[str]) -> Markup:
    """Return shares on top of each other, a column each, the first at the bottom."""
    width = 460 / max(len(shares), 1)
    parts = []
    for i, column in enumerate(shares):
        y = 160.0
        for shade, share in zip(shades, column, strict=True):
            y -= 160 * share
            if share:
                gap = min(1.0, width / 5)
                parts.append(_RECT.format(shade, i * width, y, width - gap, 160 * share))
    return Markup(
        '<svg class="chart columns" viewBox="0 0 460 160" preserveAspectRatio="none" '
        'aria-hidden="true">{}</svg>'
    ).format(Markup("").join(parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """A rung as the page shows it."""

    knows: str
    number: str
    follows: str


def ladder(report: Report) -> list[_Step]:
    """Return the rungs, from the file alone to everything but one fact."""
    steps = [_file(report)]
    for result in report.results:
        steps += [_step(rung) for rung in view_of(report, result).rungs]
    return steps


def _file(report: Report) -> _Step:
    trees = report.forest.n_trees
    table = report.table
    total = len(table) if table.tells_people else table.n_leaves
    return _Step(
        knows="nothing but the file",
        number=f"{total:,}",
        follows=f"{'group' if total == 1 else 'groups'} rebuilt, with their rules"
        + (f", over {trees:,} trees" if trees > 1 else ""),
    )


def _step(rung: Rung) -> _Step:
    knows, follows = in_words(rung.knows), in_words(rung.follows)
    if rung.number is None:
        return _Step(knows=knows, number="–", follows=follows)
    if isinstance(rung.number, Phrase):
        return _Step(knows=knows, number=in_words(rung.number), follows=follows)
    if rung.nobody and not rung.number:
        return _Step(knows=knows, number="nobody", follows=rung.nobody)
    bound = "at most " if rung.at_most else ""
    return _Step(
        knows=knows, number=f"{bound}{rung.number:,}", follows=f"{rung.number.noun} {follows}"
    )


MOST_STRIPS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawing:
    """One tree, drawn."""

    tree: int
    svg: Markup
    folded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Strip:
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


def _worst_trees(table: Table, k: int, most: int | None = None) -> list[int]:
    """Return the trees with the most people below k first."""
    per_tree = table.per_tree(np.where(table.size < k, table.size, 0))
    told = np.flatnonzero(np.diff(table.start))
    order: list[int] = told[np.argsort(-per_tree[told], kind="stable")][:most].tolist()
    return order


def strips(report: Report) -> list[_Strip]:
    """Return a line per tree, the worst first, at most `MOST_STRIPS`."""
    table, shades = report.table, [level.shade for level in LEVELS]
    counted = levels_per_tree(table)
    below = table.per_tree(np.where(table.size < report.policy.k, table.size, 0))
    lines = []
    for tree in _worst_trees(table, report.policy.k, MOST_STRIPS):
        here = table.size[table.rows_of(tree)]
        lines.append(
            _Strip(
                tree=tree,
                svg=strip(list(zip(shades, (counted[tree] / len(here)).tolist(), strict=True))),
                leaves=f"{len(here):,}",
                smallest=f"{int(here.min()):,}",
                people=f"{int(below[tree]):,}",
            )
        )
    return lines


def draw_trees(report: Report, most: int = 3) -> list[_Drawing]:
    """Draw the worst trees."""
    table, k = report.table, report.policy.k
    return [_draw(table, index, k) for index in _worst_trees(table, k, most)]


def _draw(table: Table, index: int, k: int) -> _Drawing:
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
    return _Drawing(tree=index, svg=svg, folded=folded)


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
