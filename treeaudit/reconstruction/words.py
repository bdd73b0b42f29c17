"""Cells in words: what is certain of whoever is in one."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Wide
from treeaudit.model.schema import Schema
from treeaudit.model.words import cell as interval
from treeaudit.model.words import label_text, number
from treeaudit.reconstruction.answer import Answer
from treeaudit.reconstruction.cells import Cells
from treeaudit.reconstruction.domain import Variable
from treeaudit.reconstruction.drawn import Drawn
from treeaudit.reconstruction.likely import Likely

if TYPE_CHECKING:
    import pandas as pd

    from treeaudit.reconstruction.boosted import Boosted

__all__ = ["condition", "likely_people", "people", "people_in_order", "sentence", "table"]

ANY = "*"
_NAMED = 3


def sentence(cells: Cells, at: int) -> str:
    """Return what is known of the people in one cell, a condition a variable."""
    texts = [condition(variable, codes) for variable, codes in cells.codes(at)]
    return " · ".join(text for text in texts if text) or "anybody"


def condition(variable: Variable, codes: Sequence[int]) -> str:
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


def people(answer: "Answer | Boosted", schema: Schema) -> "pd.DataFrame":
    """Return one row per person who is certain.

    Returns
    -------
    pandas.DataFrame
        The columns of the model: a value, an interval, or ``*`` where nothing is known; the
        label; ``certain``; and ``multiplicity``: how many different records of the domain the
        person may have, 1 where every value that is asked about is known, empty where a number
        has no grid.
    """
    held = [(cell, bounds.low, np.flatnonzero(bounds.low > 0)) for cell, bounds in answer.tables]
    return table(
        answer.cells,
        schema,
        cell=np.concatenate([np.zeros(0, np.int64), *(cell[at] for cell, _, at in held)]),
        label=np.repeat(np.arange(len(held)), [len(at) for _, _, at in held]),
        people=np.concatenate([np.zeros(0), *(low[at] for _, low, at in held)]),
    )


def people_in_order(found: Drawn, schema: Schema) -> "pd.DataFrame":
    """Return one row per person who is certain as `people` does, in the order of the training.

    Returns
    -------
    pandas.DataFrame
        As of `people`; and ``row``, the row of the training table, the first is 1.
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
    """Return one row per person as `people` does, of whom the cell and the label are certain.

    Parameters
    ----------
    cell, label, people
        Where people are, their class, and how many of them there are.
    """
    import pandas as pd

    size = cells.n_records[cell]
    frame: dict[str, object] = dict(_columns(cells, schema.names, cell))
    frame[schema.target] = [label_text((schema.classes or ())[one]) for one in label.tolist()]
    frame["certain"] = "certain"
    frame["multiplicity"] = [None if math.isinf(x) else f"{x:.0f}" for x in size.tolist()]
    rows = pd.DataFrame(frame)
    return rows.loc[rows.index.repeat(people.astype(np.int64))].reset_index(drop=True)


def likely_people(answer: Likely, schema: Schema) -> "pd.DataFrame":
    """Return one row per person of the likeliest table, the likeliest first.

    Returns
    -------
    pandas.DataFrame
        As of `people`, with ``likely`` under ``certain``; and ``probability``.
    """
    place = answer.people.place
    rows = table(
        answer.cells, schema, cell=answer.cell[place], label=answer.label[place],
        people=np.ones(len(place)),
    )  # fmt: skip
    return rows.assign(certain="likely", probability=answer.people.probability.round(3))


def _columns(cells: Cells, names: Sequence[str], at: Wide) -> dict[str, npt.NDArray[np.object_]]:
    found = {name: np.full(len(at), ANY, dtype=object) for name in names}
    for i, cell in enumerate(at.tolist()):
        for variable, codes in cells.codes(cell):
            if variable.cuts is not None:
                found[names[variable.features[0]]][i] = _number(variable, codes[0], codes[-1], "")
            elif variable.kind == "categories":
                if len(codes) < variable.n_codes:
                    texts = " or ".join(variable.values[code] for code in codes)
                    found[names[variable.features[0]]][i] = texts
            else:
                for member, feature in enumerate(variable.features):
                    if codes == [member]:
                        found[names[feature]][i] = "1"
                    elif member not in codes:
                        found[names[feature]][i] = "0"
    return found


def _number(variable: Variable, first: int, last: int, equals: str = "= ") -> str:
    if (first, last) == (0, variable.n_codes - 1):
        return ANY
    low, high = float(variable.edges[first]), float(variable.edges[last + 1])
    known = variable.whole and math.isfinite(low) and math.isfinite(high)
    if known and math.floor(high) - math.floor(low) == 1:
        return f"{equals}{number(math.floor(high))}"
    return interval(low, high)
