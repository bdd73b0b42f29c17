"""One person who is certain, and the few leaves from which a reader can see it by hand.

A leaf holds so many people of a label; leaves of other trees hold nobody of it and rule out every
description that fits the first leaf, but one. What is left is the person.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.model.forest import Forest
from treeaudit.model.words import label_text
from treeaudit.reconstruction.answer import Answer, OfLabel
from treeaudit.reconstruction.coding import Coded, Layout, coded
from treeaudit.reconstruction.domain import Variable
from treeaudit.reconstruction.nodes import chunks
from treeaudit.reconstruction.words import condition

__all__ = ["ByHand", "RuledOut", "by_hand"]

_TRIED, _MOST_CODES, _MOST_STEPS = 30, 256, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """What a leaf that holds nobody of the label rules out of another.

    Attributes
    ----------
    tree, leaf
        Where it is.
    rule
        What its people would be like, as far as the other leaf leaves it open.
    """

    tree: int
    leaf: int
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ByHand:
    """Why so many people are certain, in leaves.

    Attributes
    ----------
    tree, leaf
        The leaf that holds them, and nobody else of the label.
    people, label
        How many, and of which label.
    rule
        What the leaf asks for.
    fits
        How many descriptions fit it; all but one are ruled out.
    others
        By these leaves, which hold nobody of the label.
    left
        The one that is left.
    """

    tree: int
    leaf: int
    people: int
    label: str
    rule: str
    fits: int
    others: tuple[RuledOut, ...]
    left: str


def by_hand(forest: Forest, answer: Answer) -> ByHand | None:
    """Return a person who is certain by the fewest leaves; None where no few leaves show it.

    Only the first trees are looked through where there are very many leaves.
    """
    trees, layout = next(chunks(forest.trees[: answer.n_trees]), []), answer.cells.layout
    if not trees or not len(answer.cells):
        return None
    n_nodes = list(accumulate(tree.n_nodes for tree in trees))
    code = coded(trees[: max(bisect_right(n_nodes, layout.most), 1)], layout)
    shortest: ByHand | None = None
    for label, one in enumerate(answer.labels):
        for node, at in islice(_candidates(answer, one, label, code), _TRIED):
            found = _seen(answer, code, label, node, int(one.cell[at]))
            if found is not None and (shortest is None or len(found.others) < len(shortest.others)):
                name = label_text((forest.schema.classes or ())[label])
                shortest = replace(
                    found, people=int(one.bounds.low[at]), label=f"{forest.schema.target} = {name}"
                )
    return shortest


def _candidates(answer: Answer, one: OfLabel, label: int, code: Coded) -> Iterator[tuple[int, int]]:
    """Yield leaves that hold only people of one certain cell, those that say most first."""
    single = answer.cells.n_codes[one.cell] == 1
    at = np.flatnonzero((one.bounds.low > 0) & single)
    nodes = answer.cells.leaf[: code.n_trees][:, one.cell[at]] + code.start[:-1, None]
    full = code.counts[nodes, label] == one.bounds.low[at]
    size = np.where(full, _sizes(code, nodes), np.inf)
    for flat in np.argsort(size, axis=None, kind="stable").tolist():
        tree, k = divmod(flat, len(at))
        if not 1 < size[tree, k] <= _MOST_CODES:
            if size[tree, k] > 1:
                return
            continue
        yield int(nodes[tree, k]), int(at[k])


def _sizes(code: Coded, nodes: Wide) -> Float:
    """Return how many descriptions fit each node."""
    found: Float = np.ones(nodes.shape)
    for low, high in zip(code.low, code.high, strict=True):
        found *= high[nodes] - low[nodes]
    for sets in code.sets:
        found *= np.unpackbits(
            np.ascontiguousarray(sets).view(np.uint8), axis=1
        ).sum(axis=1)[nodes]  # fmt: skip
    return found


def _seen(answer: Answer, code: Coded, label: int, node: int, cell: int) -> ByHand | None:
    layout = answer.cells.layout
    own = _box(code, layout, np.array([node]))
    codes: list[Wide] = [np.flatnonzero(one[0]) for one in own]
    grid = np.stack([x.ravel() for x in np.meshgrid(*codes, indexing="ij")], axis=1)
    sets, low = answer.cells.sets[:, cell], answer.cells.low[:, cell]
    mine = np.array(
        [
            int(low[row]) if number else _first(sets[row])
            for number, row in zip(layout.is_number[:-1], layout.row[:-1], strict=True)
        ]
    )
    open_ = (grid != mine).any(axis=1)
    leaf = code.child[0] < 0
    empty = np.flatnonzero(leaf & (code.counts[:, label] == 0))
    boxes = _box(code, layout, empty)
    meets = np.ones(len(empty), dtype=np.bool_)
    for box, x in zip(boxes, codes, strict=True):
        meets &= box[:, x].any(axis=1)
    empty, boxes = empty[meets], [box[meets] for box in boxes]
    inside = np.ones((len(empty), len(grid)), dtype=np.bool_)
    for box, x in zip(boxes, grid.T, strict=True):
        inside &= box[:, x]
    taken = _cover(inside, open_)
    if taken is None:
        return None
    variables = layout.domain.variables
    others = []
    for k in taken:
        tree = int(code.tree[empty[k]])
        rule = _text(
            variables, [x[box[k, x]] for box, x in zip(boxes, codes, strict=True)],
            [len(x) for x in codes],
        )  # fmt: skip
        others.append(RuledOut(tree=tree, leaf=int(empty[k] - code.start[tree]), rule=rule))
    tree, whole = int(code.tree[node]), [one.n_codes for one in variables]
    return ByHand(
        tree=tree,
        leaf=node - int(code.start[tree]),
        people=0,
        label="",
        rule=_text(variables, codes, whole),
        fits=len(grid),
        others=tuple(others),
        left=_text(variables, [np.array([x]) for x in mine], whole),
    )


def _first(words: Wide) -> int:
    return int(np.unpackbits(words.view(np.uint8), bitorder="little").argmax())


def _box(code: Coded, layout: Layout, nodes: Wide) -> list[Flag]:
    """Return which codes of each variable fit some nodes, shape ``(n_nodes, n_codes)`` each."""
    found = []
    for variable, row in zip(layout.domain.variables, layout.row.tolist(), strict=False):
        n = np.arange(variable.n_codes)
        if variable.cuts is None:
            words = np.ascontiguousarray(code.sets[row, nodes])
            bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
            found.append(bits[:, : variable.n_codes].astype(np.bool_))
        else:
            low, high = code.low[row, nodes], code.high[row, nodes]
            found.append((n >= low[:, None]) & (n < high[:, None]))
    return found


def _cover(inside: Flag, open_: Flag) -> list[int] | None:
    """Return rows that together hold every open column and no other, the fullest first."""
    useful = ~inside[:, ~open_].any(axis=1)
    left, taken = open_.copy(), list[int]()
    while left.any():
        n = (inside & left).sum(axis=1) * useful
        if not len(n) or not n.max() or len(taken) == _MOST_STEPS:
            return None
        taken.append(int(n.argmax()))
        left &= ~inside[taken[-1]]
    return taken


def _text(variables: tuple[Variable, ...], codes: Sequence[Wide], whole: list[int]) -> str:
    """Return a box in words; of a number the codes are in a row."""
    texts = [
        condition(variable, held.tolist())
        for variable, held, n in zip(variables, codes, whole, strict=True)
        if len(held) < n
    ]
    return " · ".join(texts) or "anybody"
