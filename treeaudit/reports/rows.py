"""The table that a model publishes, as rows of a page: worst first, capped."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.findings import Report
from treeaudit.groups import people_per_class
from treeaudit.reports.icicle import level_of
from treeaudit.reports.leaves import conditions
from treeaudit.reports.masking import Numbers
from treeaudit.reports.terminal import plain
from treeaudit.rules import rules_of
from treeaudit.tree import Forest, Tree
from treeaudit.words import ANY, cells, label_text

__all__ = ["Row", "Rows", "published_rows", "worst_positions"]

Wide = npt.NDArray[np.int64]
Int = npt.NDArray[np.int32]

MOST_ROWS = 200
MOST_FEATURES = 8
MOST_CLASSES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One leaf.

    Attributes
    ----------
    id
        Its anchor in the page.
    tree, leaf
        Where it is.
    people, shade
        Its people in words, and the colour of that size.
    labels
        One text per column of labels.
    conditions
        One text per column of features, ``*`` where the tree says nothing.
    others
        The conditions that have no column.
    small, one_label
        Whether it is below k, and whether everybody has the same label.
    """

    id: str
    tree: int
    leaf: int
    people: str
    shade: str
    labels: tuple[str, ...]
    conditions: tuple[str, ...]
    others: str
    small: bool
    one_label: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of a page, and what was left out.

    Attributes
    ----------
    rows
        The rows.
    total
        Groups in the model.
    label_names, feature_names
        Headings of the columns.
    has_others, has_estimates
        Whether some conditions have no column, and whether some counts of
        labels are not people.
    """

    rows: tuple[Row, ...]
    total: int
    label_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    has_others: bool
    has_estimates: bool


def worst_positions(size: Wide | None, total: int, numbers: Numbers, most: int) -> Wide:
    """Return the positions of the smallest groups, smallest first.

    A safe copy holds no group below k, and its order tells no more than the
    numbers in it.

    Examples
    --------
    >>> worst_positions(np.array([9, 1, 5, 1]), 4, Numbers(k=5), 3).tolist()
    [1, 3, 2]
    """
    if size is None:
        return np.arange(0 if numbers.safe else min(most, total))
    eligible = np.flatnonzero(size >= numbers.k) if numbers.safe else np.arange(len(size))
    kept = size[eligible]
    if numbers.safe:
        kept = (2 * kept + numbers.k) // (2 * numbers.k)
    if len(kept) > most:
        # Sorting millions of leaves for two hundred of them would be slow.
        last = np.partition(kept, most - 1)[most - 1]
        under = np.flatnonzero(kept < last)
        chosen = np.concatenate([under, np.flatnonzero(kept == last)[: most - len(under)]])
    else:
        chosen = np.arange(len(kept))
    return np.asarray(eligible[chosen[np.lexsort((chosen, kept[chosen]))]], dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A leaf before it is known which features have a column of their own."""

    position: int
    tree: int
    leaf: int
    labels: tuple[str, ...]
    cell: dict[int, str]
    condition: dict[int, str]


def published_rows(report: Report, numbers: Numbers, most: int = MOST_ROWS) -> Rows:
    """Return the worst rows of the reconstructed table."""
    forest, groups = report.forest, report.groups
    chosen = worst_positions(groups.size, len(groups.leaf), numbers, most)
    home = groups.tree_of(chosen)
    drafts: dict[int, _Draft] = {}
    for index in np.unique(home).tolist():
        here = chosen[home == index]
        for draft in _drafts(forest, index, here, groups.leaf[here], numbers):
            drafts[draft.position] = draft
    ordered = [drafts[position] for position in chosen.tolist()]
    features = _features(ordered)
    rows = tuple(_row(report, numbers, draft, features) for draft in ordered)
    return Rows(
        rows=rows,
        total=len(groups.leaf),
        label_names=_label_names(forest),
        feature_names=tuple(plain(forest.schema.names[i], 60) for i in features),
        has_others=any(row.others for row in rows),
        has_estimates=any("†" in text for row in rows for text in row.labels),
    )


def _features(drafts: Sequence[_Draft]) -> list[int]:
    """Return the features that get a column; none where most would not."""
    used = Counter(feature for draft in drafts for feature in draft.cell)
    common = used.most_common()
    without = sum(times for _, times in common[MOST_FEATURES:])
    if without > 2 * len(drafts):
        return []
    return sorted(feature for feature, _ in common[:MOST_FEATURES])


def _drafts(
    forest: Forest, index: int, positions: Wide, leaves: Int, numbers: Numbers
) -> Iterator[_Draft]:
    tree = forest.trees[index]
    rules = rules_of(tree, leaves)
    cell: list[dict[int, str]] = [{} for _ in positions]
    condition: list[dict[int, str]] = [{} for _ in positions]
    texts, full = cells(rules, forest.schema, ",", 4), conditions(rules, forest.schema)
    for i, (row, feature) in enumerate(
        zip(rules.row.tolist(), rules.feature.tolist(), strict=True)
    ):
        cell[row][feature], condition[row][feature] = plain(texts[i], 80), plain(full[i], 160)
    for i, (position, leaf) in enumerate(zip(positions.tolist(), leaves.tolist(), strict=True)):
        yield _Draft(
            position=position,
            tree=index,
            leaf=leaf,
            labels=_labels(forest, tree, leaf, numbers),
            cell=cell[i],
            condition=condition[i],
        )


def _row(report: Report, numbers: Numbers, draft: _Draft, features: list[int]) -> Row:
    groups = report.groups
    size = None if groups.size is None else int(groups.size[draft.position])
    levels = numbers.levels()
    one_label = groups.labels is not None and int(groups.labels.distinct[draft.position]) == 1
    return Row(
        id=f"t{draft.tree}-{draft.leaf}",
        tree=draft.tree,
        leaf=draft.leaf,
        people="" if size is None else numbers.count(size),
        shade=""
        if size is None
        else levels[int(level_of(size, [level.low for level in levels]))].shade,
        labels=draft.labels,
        conditions=tuple(draft.cell.get(i, ANY) for i in features),
        others=" · ".join(text for i, text in draft.condition.items() if i not in set(features)),
        small=size is not None and size < numbers.k,
        one_label=one_label and not numbers.safe,
    )


def _label_names(forest: Forest) -> tuple[str, ...]:
    schema = forest.schema
    if schema.classes is None:
        return ("predicted value",)
    if len(schema.classes) > MOST_CLASSES:
        return (plain(f"{schema.target} (largest first)", 60),)
    target = plain(schema.target, 30)
    return tuple(f"{target} = {plain(label_text(label), 40)}" for label in schema.classes)


def _labels(forest: Forest, tree: Tree, leaf: int, numbers: Numbers) -> tuple[str, ...]:
    """Return a text per column of `_label_names`; empty where the file tells nothing."""
    classes = forest.schema.classes
    if classes is None:
        return ("" if tree.value is None else f"{tree.value[leaf]:,.6g}",)
    width = 1 if len(classes) > MOST_CLASSES else len(classes)
    if tree.counts is None or tree.n_records is None:
        predicted = None if tree.label is None else int(tree.label[leaf])
        if width == 1 and predicted is not None:
            return (plain(label_text(classes[predicted]), 40),)
        return tuple("predicted" if predicted == i else "" for i in range(width))
    counts = tree.counts[[leaf]]
    people = people_per_class(counts, tree.n_records[[leaf]], forest.counts_are)[0]
    known = not np.isnan(people).any()
    if numbers.safe and not (known and bool((people >= numbers.k).all())):
        return ("withheld",) * width
    texts = [
        f"{numbers.rounded(int(n)):,}" if known else f"{raw:,.6g}†"
        for n, raw in zip(people if known else counts[0], counts[0].tolist(), strict=True)
    ]
    if width == len(texts):
        return tuple(texts)
    largest = np.argsort(-counts[0], kind="stable")[:4].tolist()
    present = int((counts[0] > 0).sum())
    parts = [f"{texts[i]} × {plain(label_text(classes[i]), 40)}" for i in largest if counts[0, i]]
    return (", ".join(parts) + (f" and {present - 4} more" if present > 4 else ""),)
