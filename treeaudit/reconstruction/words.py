"""Cells in words: what is certain of whoever is in one."""

import math

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Wide
from treeaudit.model.words import cell as interval
from treeaudit.model.words import number
from treeaudit.reconstruction.cells import Cells
from treeaudit.reconstruction.domain import Variable

__all__ = ["ANY", "columns", "sentence"]

ANY = "*"
_NAMED = 3


def sentence(cells: Cells, at: int) -> str:
    """Return what is known of the people in one cell, a condition a variable."""
    texts = []
    for variable, codes in _codes(cells, at):
        if variable.cuts is not None:
            text = _number(variable, codes[0], codes[-1])
            texts += [] if text == ANY else [f"{variable.name} {text}"]
        elif len(codes) < variable.n_codes:
            named = [variable.values[code] for code in codes[:_NAMED]]
            more = "" if len(codes) <= _NAMED else ", …"
            texts.append(f"{variable.name} = {' or '.join(named)}{more}")
    return " · ".join(texts) or "anybody"


def columns(cells: Cells, names: list[str], at: Wide) -> dict[str, npt.NDArray[np.object_]]:
    """Return the columns of the model for some cells, a value, an interval or ``*`` each."""
    found = {name: np.full(len(at), ANY, dtype=object) for name in names}
    for i, cell in enumerate(at.tolist()):
        for variable, codes in _codes(cells, cell):
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


def _codes(cells: Cells, at: int) -> list[tuple[Variable, list[int]]]:
    """Return the codes of every variable in a cell; of a number the first and the last."""
    found = []
    layout = cells.layout
    for variable, row in zip(layout.domain.variables, layout.row.tolist(), strict=False):
        if variable.cuts is None:
            bits = np.unpackbits(cells.sets[row, at].view(np.uint8), bitorder="little")
            found.append((variable, np.flatnonzero(bits).tolist()))
        else:
            found.append((variable, [int(cells.low[row, at]), int(cells.high[row, at]) - 1]))
    return found


def _number(variable: Variable, first: int, last: int, equals: str = "= ") -> str:
    low, high = float(variable.edges[first]), float(variable.edges[last + 1])
    if variable.whole and math.floor(high) - math.floor(low) == 1:
        return f"{equals}{number(math.floor(high))}"
    return interval(low, high)
