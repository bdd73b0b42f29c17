"""How numbers and cells are written."""

from benchmarks.paper.cells import Cell, Spread

__all__ = ["described", "fixed", "shown"]

_DIGITS = {"U": 1, "N_l": 1, "N_u": 1}


def fixed(value: float, what: str) -> str:
    """Write a number with the digits of its kind."""
    return f"{value:.{_DIGITS.get(what, 4)}f}"


def shown(found: Spread, what: str) -> str:
    """Write mean, standard deviation and, where ties show in the digits, their range.

    Examples
    --------
    >>> shown(Spread(mean=6.86, deviation=2.6, low=6.6, high=7.0), "U")
    '6.9 ± 2.6 [6.6–7.0]'
    """
    if found.high == found.low == found.deviation == 0:
        return "0"
    text = f"{fixed(found.mean, what)} ± {fixed(found.deviation, what)}"
    low, high = fixed(found.low, what), fixed(found.high, what)
    return text if low == high else f"{text} [{low}–{high}]"


def described(cell: Cell) -> str:
    """Say which tree a number is of."""
    after = "" if cell.rule == "none" else f" after {cell.rule}, s = {cell.s}"
    return f"the depth-{cell.depth} tree{after}"
