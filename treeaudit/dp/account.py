"""The lines of a budget's account: which of them count, and what to do about a damaged one."""

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from treeaudit.dp.rational import exact
from treeaudit.errors import PrivacyError

__all__ = ["Spending", "read_account"]


@dataclass(frozen=True, slots=True)
class Spending:
    """One line: what was taken out, for whom, and under which relation."""

    what: str
    epsilon: Fraction
    neighbours: str
    unit: str
    token: str


def read_account(lines: list[bytes], path: Path) -> tuple[Fraction, list[Spending]]:
    """Return the whole budget, and the lines that count, in order.

    Parameters
    ----------
    lines
        Of the file; what follows its last line break is the last of them.
    path
        For messages.

    Raises
    ------
    PrivacyError
        If it is no account, or is damaged.
    """
    *whole, rest = lines
    if whole and rest:
        raise PrivacyError(
            f"the last line of {path} is not whole: no fit goes ahead before its line is, so "
            "delete that line if the disk was full; if the file was cut later, open another "
            "account with what is surely left"
        )
    try:
        head, *entries = [json.loads(line) for line in whole]
        stated = exact(head["epsilon"])
        found = [
            Spending(
                *(e["what"], exact(e["epsilon"]), e["neighbours"]),
                *(e.get("unit", "record"), e["token"]),
            )
            for e in entries
            if "token" in e
        ]
        wrong = stated <= 0 or any(spending.epsilon <= 0 for spending in found)
    except (ValueError, KeyError, TypeError, ZeroDivisionError, RecursionError):
        wrong = True
    if wrong:
        raise PrivacyError(
            f"{path} is no account of a budget, or is damaged: restore it from a copy, or open "
            "another with what is surely left"
        )
    counted: list[Spending] = []
    left = stated
    for spending in found:
        # Two first fits at a time may count differently: the account keeps to the first.
        first = counted[0] if counted else spending
        alike = (first.neighbours, first.unit) == (spending.neighbours, spending.unit)
        if alike and spending.epsilon <= left:
            counted.append(spending)
            left -= spending.epsilon
    return stated, counted
