"""Who is certain, in words: sentences, tables of people, and the leaves that show it by hand.

By hand: a leaf holds so many people of a label; leaves of other trees hold nobody of it and rule
out every description that fits the first leaf, but one. What is left is the person.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.inference.bootstrap import BootstrapSolution
from treeaudit.inference.cells import Cells
from treeaudit.inference.coding import Coded, Layout, coded, set_sizes
from treeaudit.inference.domain import Variable
from treeaudit.inference.exact import ClassSolution, Solution
from treeaudit.inference.likely import LikelyTable
from treeaudit.inference.questions import chunks
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.words import cell as interval
from treeaudit.model.words import label_text, number

if TYPE_CHECKING:
    import pandas as pd

    from treeaudit.inference.boosted import BoostedSolution


ANY = "*"
_NAMED = 3


def sentence(cells: Cells, at: int) -> str:
    """Return what is known of the people in one cell, a condition a variable."""
    texts = [_condition(variable, codes) for variable, codes in cells.codes(at)]
    return " · ".join(text for text in texts if text) or "anybody"


def _condition(variable: Variable, codes: Sequence[int]) -> str:
    """Return what it says of somebody that one variable has one of some codes, "" where nothing.

    The codes of a number are in a row; the first and the last of them are enough.
    """
    if variable.cuts is not None:
        text = _number(variable, codes[0], codes[-1])
        return "" if text == ANY else f"{variable.name} {text}"
    if len(codes) == variable.n_codes:
        return ""
    named = [variable.values[code] for code in codes[:_NAMED]]
    more = "" if len(codes) <= _NAMED else ", …"
    return f"{variable.name} = {' or '.join(named)}{more}"


def people(answer: "Solution | BoostedSolution", schema: Schema) -> "pd.DataFrame":
    """Return one row per person who is certain.

    They are the columns of the model: a value, an interval, or ``*`` where nothing is known; the
    label; ``certain``; and ``multiplicity``: how many different records of the domain the person
    may have, 1 where every value that is asked about is known, empty where a number has no grid.
    """
    tables = [(cell, bounds.low, np.flatnonzero(bounds.low > 0)) for cell, bounds in answer.tables]
    return table(
        answer.cells,
        schema,
        cell=np.concatenate([np.zeros(0, np.int64), *(cell[at] for cell, _, at in tables)]),
        label=np.repeat(np.arange(len(tables)), [len(at) for _, _, at in tables]),
        people=np.concatenate([np.zeros(0), *(low[at] for _, low, at in tables)]),
    )


def people_by_row(found: BootstrapSolution, schema: Schema) -> "pd.DataFrame":
    """Return one row per person who is certain as `people` does, in the order of the training.

    The result: as of `people`; and ``row``, the row of the training table, the first is 1.
    """
    at = np.flatnonzero(found.certain)
    at = at[np.argsort(found.person[at], kind="stable")]
    rows = table(
        found.cells, schema, cell=found.cell[at], label=found.label[at], people=np.ones(len(at))
    )
    return rows.assign(row=found.person[at] + 1)


def table(
    cells: Cells, schema: Schema, *, cell: Wide, label: Wide, people: npt.NDArray[Any]
) -> "pd.DataFrame":
    """Return one row per person as `people` does, of whom the cell and the label are certain."""
    import pandas as pd

    size = cells.n_records[cell]
    frame: dict[str, object] = dict(_columns(cells, schema.names, cell))
    frame[schema.target] = [label_text((schema.classes or ())[one]) for one in label.tolist()]
    frame["certain"] = "certain"
    frame["multiplicity"] = [None if math.isinf(x) else f"{x:.0f}" for x in size.tolist()]
    rows = pd.DataFrame(frame)
    return rows.loc[rows.index.repeat(people.astype(np.int64))].reset_index(drop=True)


def likely_people(answer: LikelyTable, schema: Schema) -> "pd.DataFrame":
    """Return one row per person of the likeliest table, the likeliest first.

    The result: as of `people`, with ``likely`` under ``certain``; and ``probability``.
    """
    place = answer.people.place
    rows = table(
        answer.cells, schema, cell=answer.cell[place], label=answer.label[place],
        people=np.ones(len(place)),
    )  # fmt: skip
    return rows.assign(certain="likely", probability=answer.people.probability.round(3))


def _columns(cells: Cells, names: Sequence[str], at: Wide) -> dict[str, npt.NDArray[np.object_]]:
    columns = {name: np.full(len(at), ANY, dtype=object) for name in names}
    for i, cell in enumerate(at.tolist()):
        for variable, codes in cells.codes(cell):
            if variable.cuts is not None:
                columns[names[variable.features[0]]][i] = _number(variable, codes[0], codes[-1], "")
            elif variable.kind == "categories":
                if len(codes) < variable.n_codes:
                    texts = " or ".join(variable.values[code] for code in codes)
                    columns[names[variable.features[0]]][i] = texts
            else:
                for member, feature in enumerate(variable.features):
                    if codes == [member]:
                        columns[names[feature]][i] = "1"
                    elif member not in codes:
                        columns[names[feature]][i] = "0"
    return columns


def _number(variable: Variable, first: int, last: int, equals: str = "= ") -> str:
    if (first, last) == (0, variable.n_codes - 1):
        return ANY
    low, high = float(variable.edges[first]), float(variable.edges[last + 1])
    known = variable.whole and math.isfinite(low) and math.isfinite(high)
    if known and math.floor(high) - math.floor(low) == 1:
        return f"{equals}{number(math.floor(high))}"
    return interval(low, high)


_TRIED, _MOST_CODES, _MOST_STEPS = 30, 256, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """What a leaf that holds nobody of the label rules out of another."""

    # Where it is
    tree: int
    leaf: int
    rule: str  # What its people would be like, as far as the other leaf leaves it open


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why so many people are certain, in leaves."""

    # The leaf that holds them, and nobody else of the label
    tree: int
    leaf: int
    # How many, and of which label
    people: int
    label: str
    rule: str  # What the leaf asks for
    fits: int  # How many descriptions fit it; all but one are ruled out
    others: tuple[Exclusion, ...]  # By these leaves, which hold nobody of the label
    left: str  # The one that is left


def explain(forest: Forest, answer: Solution) -> Explanation | None:
    """Return a person who is certain by the fewest leaves; None where no few leaves show it.

    Only the first trees are looked through where there are very many leaves.
    """
    trees, layout = next(chunks(forest.trees[: answer.n_trees]), []), answer.cells.layout
    if not trees or not len(answer.cells):
        return None
    n_nodes = list(accumulate(tree.n_nodes for tree in trees))
    code = coded(trees[: max(bisect_right(n_nodes, layout.most), 1)], layout)
    shortest: Explanation | None = None
    for label, one in enumerate(answer.labels):
        for node, at in islice(_candidates(answer, one, label, code), _TRIED):
            candidate = _explain_cell(answer, code, label, node, int(one.cell[at]))
            if candidate is not None and (
                shortest is None or len(candidate.others) < len(shortest.others)
            ):
                name = label_text((forest.schema.classes or ())[label])
                shortest = replace(
                    candidate,
                    people=int(one.bounds.low[at]),
                    label=f"{forest.schema.target} = {name}",
                )
    return shortest


def _candidates(
    answer: Solution, one: ClassSolution, label: int, code: Coded
) -> Iterator[tuple[int, int]]:
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
    size: Float = np.ones(nodes.shape)
    for low, high in zip(code.low, code.high, strict=True):
        size *= high[nodes] - low[nodes]
    for sets in code.sets:
        size *= set_sizes(sets)[nodes]
    return size


def _explain_cell(
    answer: Solution, code: Coded, label: int, node: int, cell: int
) -> Explanation | None:
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
    chosen = _cover(inside, open_)
    if chosen is None:
        return None
    variables = layout.domain.variables
    others = []
    for k in chosen:
        tree = int(code.tree[empty[k]])
        rule = _text(
            variables, [x[box[k, x]] for box, x in zip(boxes, codes, strict=True)],
            [len(x) for x in codes],
        )  # fmt: skip
        others.append(Exclusion(tree=tree, leaf=int(empty[k] - code.start[tree]), rule=rule))
    tree, whole = int(code.tree[node]), [one.n_codes for one in variables]
    return Explanation(
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
    boxes = []
    for variable, row in zip(layout.domain.variables, layout.row.tolist(), strict=False):
        n = np.arange(variable.n_codes)
        if variable.cuts is None:
            words = np.ascontiguousarray(code.sets[row, nodes])
            bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
            boxes.append(bits[:, : variable.n_codes].astype(np.bool_))
        else:
            low, high = code.low[row, nodes], code.high[row, nodes]
            boxes.append((n >= low[:, None]) & (n < high[:, None]))
    return boxes


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
        _condition(variable, held.tolist())
        for variable, held, n in zip(variables, codes, whole, strict=True)
        if len(held) < n
    ]
    return " · ".join(texts) or "anybody"
