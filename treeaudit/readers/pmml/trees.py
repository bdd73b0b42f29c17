"""Trees of PMML models: children that are asked in turn become children of one question.

The first child whose condition holds is taken. Children that test one column in
turn get what those before them leave; where the next child tests another column,
the rest becomes a node of its own. A condition on several columns becomes a
chain of nodes.
"""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.forest import CountsAre
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.readers.limits import Most, show
from treeaudit.readers.links import category_sets, sums
from treeaudit.readers.pmml.conditions import Condition, Fields
from treeaudit.readers.pmml.document import Node, TreeModel


@dataclass(slots=True, eq=False)
class Rows:
    """A tree, one row per node, parents first; nodes of our own have no original."""

    parent: list[int] = field(default_factory=list)
    condition: list[Condition | None] = field(default_factory=list)
    node: list[Node | None] = field(default_factory=list)
    has_chains: bool = False
    has_rests: bool = False

    def add(self, parent: int, condition: Condition | None, node: Node | None) -> int:
        """Add a row and return its number."""
        self.parent.append(parent)
        self.condition.append(condition)
        self.node.append(node)
        return len(self.parent) - 1

    def records(self) -> Wide | None:
        """Return people per node, if the file states them and they add up."""
        counted = [None if node is None else _count(node) for node in self.node]
        inner = [False] * len(counted)
        for above in self.parent[1:]:
            inner[above] = True
        if any(c is None and not within for c, within in zip(counted, inner, strict=True)):
            counted = [None if node is None else _sum(node) for node in self.node]
        # Who stops at an inner node that does not count its people is in no leaf.
        gaps = any(
            c is None and node is not None for c, node in zip(counted, self.node, strict=True)
        )
        leaves = [c for c, within in zip(counted, inner, strict=True) if not within]
        if gaps and (self.has_rests or {*leaves} <= {0.0, 1.0}):
            return None
        total = [math.nan if c is None else c for c in counted]
        below = [0.0] * len(total)
        for i in range(len(total) - 1, -1, -1):
            if counted[i] is None and inner[i]:
                total[i] = below[i]
            if not 0 <= total[i] <= Most.people or total[i] != int(total[i]):
                return None
            if inner[i] and below[i] != total[i]:
                return None
            if i:
                below[self.parent[i]] += total[i]
        # One node, or nodes that all say 1, prove nothing.
        return np.array(total, dtype=np.int64) if total[0] > 1 else None

    def counts(self, records: Wide, classes: Mapping[str, int]) -> tuple[CountsAre, Float | None]:
        """Return what the class numbers are, and the numbers per node."""
        n, width = len(self.parent), len(classes)
        if n * width > Most.cells:
            raise ModelTooLargeError("the PMML has more nodes and classes than treeaudit takes in")
        table = np.zeros((n, width))
        leaf = np.ones(n, dtype=np.bool_)
        leaf[self.parent[1:]] = False
        at, label, count = list[int](), list[int](), list[float]()
        for i in np.flatnonzero(leaf).tolist():
            node = self.node[i]
            if node is None or not node.distribution:
                return "absent", None
            for value, n_text in node.distribution:
                at.append(i)
                label.append(classes[value])
                count.append(_number(n_text))
        np.add.at(table, (at, label), count)
        leaves = table[leaf]
        if not np.all(np.isfinite(leaves)) or np.any(leaves < 0):
            return "absent", None
        total, people = leaves.sum(axis=1), records[leaf].astype(np.float64)
        counts_are: CountsAre = "exact"
        if not np.allclose(total, people, rtol=1e-6, atol=1e-6):
            if not np.allclose(total[people > 0], 1, rtol=0, atol=1e-6):
                return "absent", None
            leaves = leaves * people[:, None]
            # Shares that come out whole are people, unless classes had weights.
            if np.any((leaves > 1e-9).sum(axis=1) > 1):
                counts_are = "likely"
        near = np.rint(leaves)
        if np.any(np.abs(leaves - near) > 1e-6 * np.maximum(near, 1)):
            counts_are = "weighted"
        else:
            leaves = near
        table[leaf] = leaves
        return counts_are, sums(np.array(self.parent), table)

    def build(
        self, records: Wide | None, counts: Float | None, classes: Mapping[str, int] | None
    ) -> Tree:
        """Return the tree."""
        n = len(self.parent)
        some = [c for c in self.condition if c is not None]
        feature = np.array([-1] + [c.feature for c in some])
        low = np.array([-math.inf] + [math.inf if c.never else c.low for c in some])
        high = np.array([math.inf] + [c.high for c in some])
        label = value = None
        if classes is None:
            value = np.array([_score(node) for node in self.node])
        else:
            label = np.array([_label(node, classes) for node in self.node], dtype=np.int32)
            leaves = np.ones(n, dtype=np.bool_)
            leaves[self.parent[1:]] = False
            label = None if np.any(label[leaves] < 0) else np.maximum(label, 0)
        return Tree(
            parent=np.array(self.parent, dtype=np.int32),
            feature=feature.astype(np.int32),
            low=low,
            high=high,
            categories=_sets(self.condition),
            missing=np.array([False] + [c.missing for c in some]),
            n_records=records,
            counts=counts,
            label=label,
            value=value,
        )


def flatten(model: TreeModel, fields: Fields) -> Rows:
    """Return one tree as rows."""
    if model.root is None:
        raise ReadError("the PMML is damaged: a tree has no nodes")
    if model.root.predicate is None:
        raise ReadError("the PMML is damaged: a node has no condition")
    if fields.conditions(model.root.predicate) is not None:
        raise UnsupportedModelError("the root of a tree asks a condition, which is not read")
    strategy = model.attributes.get("missingValueStrategy", "none")
    stays = model.attributes.get("noTrueChildStrategy") == "returnLastPrediction"
    rows = Rows()
    todo = deque([(model.root, rows.add(-1, None, model.root))])
    while todo:
        node, me = todo.popleft()
        added, anchor, rest = _children(rows, node, me, fields, strategy)
        todo.extend(added)
        if stays and added and rest is not None and not rest.never:
            last = {"score": node.attributes["score"]} if "score" in node.attributes else {}
            rows.add(anchor, rest, Node({**last, "recordCount": "0"}))
            rows.has_rests = True
    return rows


def _children(
    rows: Rows, node: Node, anchor: int, fields: Fields, strategy: str
) -> tuple[list[tuple[Node, int]], int, Condition | None]:
    """Add the children of one node; return them with their rows, and what they leave."""
    added: list[tuple[Node, int]] = []
    # 'Not this value' is shown as open: it comes after its siblings.
    late: list[tuple[int, Condition, Node]] = []
    rest: Condition | None = None
    for child in node.children:
        if child.predicate is None:
            raise ReadError("the PMML is damaged: a node has no condition")
        conditions = fields.conditions(child.predicate)
        if conditions is None:
            conditions, always = [rest or Condition(feature=0, missing=True)], True
        else:
            always = False
        if rest is not None and conditions[0].feature != rest.feature:
            anchor, rest = rows.add(anchor, rest, None), None
        at = anchor
        if len(conditions) > 1:
            rows.has_chains = True
            for one in conditions[:-1]:
                at = rows.add(at, one, None)
        within = one = conditions[-1]
        if len(conditions) == 1 and not always:
            whole = rest or _whole(one, fields, strategy)
            within = whole.both(one, one.missing)
            rest = whole.without(one) or whole
        within = _default(within, child, node, strategy)
        if within.hole is not None:
            late.append((at, within, child))
        else:
            added.append((child, rows.add(at, within, child)))
        if always:
            rest = None
            break
    added += [(child, rows.add(at, within, child)) for at, within, child in late]
    return added, anchor, rest


def _whole(one: Condition, fields: Fields, strategy: str) -> Condition:
    """Return everything that a feature can be; what is left of it may catch missing values."""
    every = fields.every_code(one.feature)
    return Condition(feature=one.feature, codes=every, missing=strategy == "none")


def _default(condition: Condition, child: Node, parent: Node, strategy: str) -> Condition:
    chosen = parent.attributes.get("defaultChild")
    if strategy == "defaultChild" and chosen is not None and child.attributes.get("id") == chosen:
        return condition._replace(missing=True)
    return condition


def _count(node: Node) -> float | None:
    text = node.attributes.get("recordCount")
    return None if text is None else _number(text)


def _sum(node: Node) -> float | None:
    if not node.distribution:
        return None
    return math.fsum(n for _, count in node.distribution if math.isfinite(n := _number(count)))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _score(node: Node | None) -> float:
    text = None if node is None else node.attributes.get("score")
    if text is None:
        return 0.0
    value = _number(text)
    if not math.isfinite(value):
        raise ReadError(f"the PMML is damaged: the score {show(text)} is no number")
    return value


def _label(node: Node | None, classes: Mapping[str, int]) -> int:
    text = "" if node is None else node.attributes.get("score", "")
    return classes.get(text, -1)


def _sets(conditions: list[Condition | None]) -> CategorySets | None:
    sets = [sorted(c.codes) if c is not None and c.codes else [] for c in conditions]
    if sum(map(len, sets)) > Most.codes:
        raise ModelTooLargeError("the trees name more categories than treeaudit takes in")
    return category_sets(sets) if any(sets) else None
