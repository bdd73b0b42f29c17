"""The table that a model publishes, as rows of a page: worst first, capped."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Int, Wide
from treeaudit.findings.report import Report
from treeaudit.model.forest import Forest
from treeaudit.model.rules import rules_of
from treeaudit.model.tree import Tree
from treeaudit.model.words import ANY, cells, conditions, label_text
from treeaudit.reports.icicle import level_of
from treeaudit.reports.plain_text import plain
from treeaudit.reports.wording import LEVELS
from treeaudit.table.labels import people_per_class
from treeaudit.table.persons import counted_tree
from treeaudit.table.table import Table

MOST_ROWS = 200
MOST_FEATURES = 8
MOST_CLASSES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One leaf."""

    id: str  # Its anchor in the page
    tree: int
    leaf: int
    # people, shade: its people in words, and the colour of that size
    people: str
    shade: str
    labels: tuple[str, ...]  # One text per column of labels
    # One text per column of features, ``*`` where the tree says nothing
    conditions: tuple[str, ...]
    others: str  # The conditions that have no column
    # small, one_label: whether it is below k, and whether everybody has the same label
    small: bool
    one_label: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of a page, and what was left out."""

    rows: tuple[Row, ...]
    total: int  # Groups in the model
    label_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    # has_others, has_estimates: whether some conditions have no column, and whether some counts of
    # labels are not people.
    has_others: bool
    has_estimates: bool


def worst_positions(size: Wide, most: int) -> Wide:
    """Return the positions of the smallest groups, smallest first."""
    return np.argsort(size, kind="stable")[:most].astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A leaf before it is known which features have a column of their own."""

    tree: int
    leaf: int
    size: int | None
    one_label: bool
    labels: tuple[str, ...]
    cell: dict[int, str]
    condition: dict[int, str]


def published_rows(report: Report, most: int = MOST_ROWS) -> Rows:
    """Return the worst rows of the reconstructed table."""
    forest, table = report.forest, report.table
    if not table.tells_people:
        home, leaf = _first_leaves(forest, most)
        size = np.zeros(0, np.int64)
    else:
        chosen = worst_positions(table.size, most)
        home, leaf, size = table.tree_of(chosen), table.leaf[chosen], table.size[chosen]
    drafts: dict[int, _Draft] = {}
    for index in np.unique(home).tolist():
        here = np.flatnonzero(home == index)
        sizes = size[here].tolist() if len(size) else [None] * len(here)
        made = _drafts(table, index, leaf[here], sizes)
        drafts.update(zip(here.tolist(), made, strict=True))
    ordered = [drafts[i] for i in range(len(home))]
    features = _features(ordered)
    rows = tuple(_row(report.policy.k, draft, features) for draft in ordered)
    return Rows(
        rows=rows,
        total=len(table) if table.tells_people else table.n_leaves,
        label_names=_label_names(forest),
        feature_names=tuple(plain(forest.schema.names[i], 60) for i in features),
        has_others=any(row.others for row in rows),
        has_estimates=any("†" in text for row in rows for text in row.labels),
    )


def _first_leaves(forest: Forest, most: int) -> tuple[Wide, Int]:
    """Return trees and leaves in their order, where no sizes say which matter."""
    home: list[int] = []
    leaves: list[int] = []
    for index, tree in enumerate(forest.trees):
        if len(leaves) >= most:
            break
        found = tree.leaves[: most - len(leaves)].tolist()
        leaves += found
        home += [index] * len(found)
    return np.array(home, dtype=np.int64), np.array(leaves, dtype=np.int32)


def _features(drafts: Sequence[_Draft]) -> list[int]:
    """Return the features that get a column; none where most would not."""
    used = Counter(feature for draft in drafts for feature in draft.cell)
    common = used.most_common()
    without = sum(times for _, times in common[MOST_FEATURES:])
    if without > 2 * len(drafts):
        return []
    return sorted(feature for feature, _ in common[:MOST_FEATURES])


def _drafts(table: Table, index: int, leaves: Int, sizes: Sequence[int | None]) -> Iterator[_Draft]:
    forest, tree = table.forest, counted_tree(table, index)
    rules = rules_of(tree, leaves)
    cell: list[dict[int, str]] = [{} for _ in leaves]
    condition: list[dict[int, str]] = [{} for _ in leaves]
    texts, full = cells(rules, forest.schema, ",", 4), conditions(rules, forest.schema)
    for i, (row, feature) in enumerate(
        zip(rules.row.tolist(), rules.feature.tolist(), strict=True)
    ):
        cell[row][feature], condition[row][feature] = plain(texts[i], 80), plain(full[i], 160)
    for i, (leaf, size) in enumerate(zip(leaves.tolist(), sizes, strict=True)):
        yield _Draft(
            tree=index,
            leaf=leaf,
            size=size,
            one_label=tree.counts is not None and int((tree.counts[leaf] > 0).sum()) == 1,
            labels=_labels(forest, index, tree, leaf),
            cell=cell[i],
            condition=condition[i],
        )


def _row(k: int, draft: _Draft, features: list[int]) -> Row:
    size = draft.size
    shade = ""
    if size is not None:
        shade = LEVELS[int(level_of(size, [level.low for level in LEVELS]))].shade
    return Row(
        id=f"t{draft.tree}-{draft.leaf}",
        tree=draft.tree,
        leaf=draft.leaf,
        people="" if size is None else f"{size:,}",
        shade=shade,
        labels=draft.labels,
        conditions=tuple(draft.cell.get(i, ANY) for i in features),
        others=" · ".join(text for i, text in draft.condition.items() if i not in set(features)),
        small=size is not None and size < k,
        one_label=draft.one_label,
    )


def _one_column(forest: Forest) -> bool:
    """Tell whether the labels share a column, each with its name."""
    classes = forest.schema.classes or ()
    return len(classes) > MOST_CLASSES or forest.tree_classes is not None


def _label_names(forest: Forest) -> tuple[str, ...]:
    schema = forest.schema
    if schema.classes is None:
        return ("predicted value",)
    if _one_column(forest):
        return (plain(f"{schema.target} (largest first)", 60),)
    target = plain(schema.target, 30)
    return tuple(f"{target} = {plain(label_text(label), 40)}" for label in schema.classes)


def _labels(forest: Forest, index: int, tree: Tree, leaf: int) -> tuple[str, ...]:
    """Return a text per column of `_label_names`; empty where the file tells nothing."""
    classes = forest.classes_of(index)
    if classes is None:
        return ("" if tree.value is None else f"{tree.value[leaf]:,.6g}",)
    width = 1 if _one_column(forest) else len(classes)
    if tree.counts is None or tree.n_records is None:
        predicted = None if tree.label is None else int(tree.label[leaf])
        if _one_column(forest) and predicted is not None:
            return (plain(label_text(classes[predicted]), 40),)
        return tuple("predicted" if predicted == i else "" for i in range(width))
    counts = tree.counts[[leaf]]
    people = people_per_class(counts, tree.n_records[[leaf]], forest.counts_are)[0]
    known = not np.isnan(people).any()
    texts = [
        f"{int(n):,}" if known else f"{raw:,.6g}†"
        for n, raw in zip(people if known else counts[0], counts[0].tolist(), strict=True)
    ]
    if not _one_column(forest):
        return tuple(texts)
    largest = np.argsort(-counts[0], kind="stable")[:4].tolist()
    present = int((counts[0] > 0).sum())
    parts = [f"{texts[i]} × {plain(label_text(classes[i]), 40)}" for i in largest if counts[0, i]]
    return (", ".join(parts) + (f" and {present - 4} more" if present > 4 else ""),)
