"""What may have gone into a printed number that does not come out, each put to the test.

A candidate is another number: of another tree, of another rule, or printed
elsewhere in the table. It is called a reason only if it equals the printed one.
"""

from benchmarks.paper.agreement import agreement, distance
from benchmarks.paper.cells import THRESHOLDS, Cell, Measured, spread
from benchmarks.paper.protocol import SPARING
from benchmarks.paper.published import PRINTED, Printed
from benchmarks.paper.words import described, shown

__all__ = ["reason"]

_OTHER_TREE = (
    {
        Cell("loan", "none", depth, 0, what): Cell("loan", "Method 1", of, 5, what)
        for depth, of in ((4, 4), (5, 6))
        for what in ("U", "N_l", "N_u")
    }
    | {
        Cell("adult", "none", 4, 0, "N_u"): Cell("adult", "Method 1", 4, 5, "N_u"),
    }
    | {
        Cell("adult", "Method 1", 7, s, "ACC"): Cell("adult", SPARING, 7, s, "ACC")
        for s in THRESHOLDS
    }
)

_COPIED = {
    ("Table 7, Method 1", Cell("nursery", "Method 1", 7, 20, "ACC")): 10,
    ("Table 7, Method 2", Cell("adult", "Method 2", 7, 10, "N_l")): 20,
    ("Table 7, Method 2", Cell("adult", "Method 2", 7, 10, "N_u")): 20,
    ("Table 7, Method 2", Cell("adult", "Method 2", 7, 20, "ACC")): 30,
}
"""Cells that may repeat the row of another threshold."""

_BESIDES = {
    Cell("loan", "none", 4, 0, "N_u"): " It cannot fall from depth 3 (printed 3653): a leaf of "
    "one label is not split. One digit apart, 3303 would be 3673.",
}


def reason(printed: Printed, measured: Measured) -> str:
    """Say in one line why a number differs, as far as that can be shown."""
    cell = printed.cell
    found = f"{printed.text} printed, {shown(spread(measured[cell]), cell.what)} reproduced"
    if (printed.table, cell) in _COPIED:
        why = _copied(printed, measured)
    elif cell in _OTHER_TREE:
        why = _other(printed, _OTHER_TREE[cell], measured)
    else:
        why = "not explained" + _in_all(printed, measured)
    return f"{found}; {why}.{_BESIDES.get(cell, '')}"


def _other(printed: Printed, other: Cell, measured: Measured) -> str:
    found, of = spread(measured[other]), described(other)
    if agreement(printed.text, found) != "differs":
        return f"it is the number of {of} ({shown(found, other.what)})"
    off = abs(distance(printed.text, found))
    gap = f"{off:.4f}" if other.what == "ACC" else f"{off:.1f}"
    return f"not explained; nearest: {of}, {shown(found, other.what)}, {gap} off"


def _copied(printed: Printed, measured: Measured) -> str:
    row = _COPIED[printed.table, printed.cell]
    of = printed.cell._replace(s=row)
    there = next(p for p in PRINTED if p.table == printed.table and p.cell == of)
    if there.text != printed.text or agreement(there.text, spread(measured[of])) == "differs":
        return "not explained"
    return f"the row s = {row} prints the same and is reproduced: a copy of it, most likely"


def _in_all(printed: Printed, measured: Measured) -> str:
    """Say how much it is over all trees: a mean hides how little that can be."""
    if printed.cell.what == "ACC":
        return ""
    splits = len(measured[printed.cell])
    off = distance(printed.text, spread(measured[printed.cell])) * splits
    one, many = ("person", "people") if printed.cell.what == "N_u" else ("leaf", "leaves")
    unit = one if round(abs(off)) == 1 else many
    return f": {abs(off):.0f} {unit} {'more' if off > 0 else 'fewer'} in {splits} trees"
