"""A privacy budget that every fit spends, wherever it runs.

A scikit-learn search fits many copies of an estimator, some of them in other
processes. Copies must spend from one account, or the account says nothing. So
the account is a small file to which every spending adds one line, and all
copies of a `Budget`, also those sent to other processes, name that file.

Lines are appended whole, one process at a time; the order in the file is the order
of spending, and everybody who reads it comes to the same result: a line counts
if it still fits into what the lines before it left. A process whose line does
not count is refused. Where the file cannot be reached, as on another machine,
every fit is refused. Network file systems that do not append whole lines are
not safe for this.
"""

import atexit
import json
import os
import secrets
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeaudit.dp.accounting import Epsilon, exact, rational
from treeaudit.dp.ledger import Neighbours, Unit
from treeaudit.errors import PrivacyError
from treeaudit.files import BASELINE, alone, open_regular, read_bytes

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class _Spending:
    """One line of an account: what was taken out, for whom, and under which relation."""

    what: str
    epsilon: Fraction
    neighbours: str
    unit: str
    token: str


def _read_account(lines: list[bytes], path: Path) -> tuple[Fraction, list[_Spending]]:
    """Return the whole budget, and the lines that count, in order; refuse a damaged account."""
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
            _Spending(
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
    counted: list[_Spending] = []
    left = stated
    for spending in found:
        # Two first fits at a time may count differently: the account keeps to the first.
        first = counted[0] if counted else spending
        alike = (first.neighbours, first.unit) == (spending.neighbours, spending.unit)
        if alike and spending.epsilon <= left:
            counted.append(spending)
            left -= spending.epsilon
    return stated, counted


_PATIENCE = 50
"""Milliseconds for a line that another process has begun."""


class Budget:
    """An account of epsilon that copies, threads and processes share.

    Parameters
    ----------
    epsilon
        The most that all fits together may spend.
    path
        The file that holds the account. One that exists is continued, so that
        a budget lives as long as the data. A temporary file of this process
        unless told.

    Raises
    ------
    PrivacyError
        If the file is of another budget, or damaged.

    Examples
    --------
    >>> import copy
    >>> budget = Budget(1.0)
    >>> copy.deepcopy(budget).spend(0.75, "a fit")
    >>> budget.left
    0.25
    >>> budget.spend(0.5, "it")
    Traceback (most recent call last):
    treeaudit.errors.PrivacyError: the budget does not cover it: 0.25 of 1 are left and it needs 0.5
    """

    def __init__(self, epsilon: Epsilon, path: str | os.PathLike[str] | None = None) -> None:
        self._epsilon = rational(epsilon)
        if path is None:
            handle, name = tempfile.mkstemp(prefix="treeaudit-budget-", suffix=".jsonl")
            os.close(handle)
            atexit.register(_remove, name, os.getpid())
            self._path = Path(name)
        else:
            self._path = Path(path).absolute()
        head = {"treeaudit-budget": 1, "epsilon": str(self._epsilon)}
        if not self._path.exists() or self._path.stat().st_size == 0:
            self._append(head)
        self._read()

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> "Budget":
        """Return the budget whose account is in a file, which must exist.

        Raises
        ------
        PrivacyError
            If there is none.
        """
        budget = cls.__new__(cls)
        budget._path = Path(path).absolute()
        if not budget._path.exists():
            raise PrivacyError(
                f"there is no account {path}: open one for these people, once, with "
                f"treeaudit budget {path} --epsilon 1"
            )
        budget._epsilon = _read_account(budget._lines(), budget._path)[0]
        return budget

    @classmethod
    def elsewhere(cls, epsilon: Epsilon) -> "Budget":
        """Return what stands for a budget in the file of a model: nothing can be spent from it."""
        budget = cls.__new__(cls)
        budget._epsilon = rational(epsilon)
        budget._path = Path(os.devnull)
        return budget

    @property
    def epsilon(self) -> float:
        """The whole budget."""
        return float(self._epsilon)

    @property
    def path(self) -> Path:
        """The file that holds the account."""
        return self._path

    @property
    def spent(self) -> float:
        """What all copies spent so far."""
        return float(self.bill)

    @property
    def bill(self) -> Fraction:
        """The same, exactly."""
        return _sum(self._read())

    @property
    def left(self) -> float:
        """What is left."""
        return float(self._epsilon - _sum(self._read()))

    @property
    def statement(self) -> str:
        """What is left of how much, and where, in words."""
        return f"account  {self._path.name}: {self.left:g} of {self.epsilon:g} left"

    def spend(
        self,
        epsilon: Epsilon,
        what: str = "a fit",
        neighbours: Neighbours = "add-remove",
        unit: Unit = "record",
    ) -> None:
        """Take epsilon out of the budget, before the data is looked at.

        What a fit that fails later has spent stays spent.

        Parameters
        ----------
        what
            For whom, for the history.
        neighbours, unit
            Under which relation, of records or persons; one account keeps to one.

        Raises
        ------
        PrivacyError
            If less than that is left, or the account cannot be reached.
        """
        amount = rational(epsilon)
        before = self._read()
        for earlier in before[:1]:
            if (earlier.neighbours, earlier.unit) != (neighbours, unit):
                raise PrivacyError(
                    f"the budget counts epsilon under {earlier.neighbours} of a {earlier.unit}; "
                    f"a fit under {neighbours} of a {unit} needs a budget of its own"
                )
        left = self._epsilon - _sum(before)
        token = secrets.token_hex(16)
        if amount <= left:
            relation = {"neighbours": neighbours, "unit": unit}
            self._append({"what": what[:80], "epsilon": str(amount), **relation, "token": token})
            if any(s.token == token for s in self._read()):
                return
            left = self._epsilon - _sum(self._read())
        raise PrivacyError(
            f"the budget does not cover it: {float(left):g} of {self.epsilon:g} are left "
            f"and {what} needs {float(amount):g}"
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return the history, one row per fit."""
        import pandas as pd

        rows = [(s.what, float(s.epsilon), s.neighbours, s.unit) for s in self._read()]
        return pd.DataFrame(rows, columns=["what", "epsilon", "neighbours", "unit"])

    def __repr__(self) -> str:
        return f"Budget({self.epsilon:g})"

    def _append(self, entry: dict[str, Any]) -> None:
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        flags = os.O_WRONLY | os.O_APPEND
        if "treeaudit-budget" in entry:
            flags |= os.O_CREAT
        try:
            handle = open_regular(self._path, flags)
        except OSError as error:
            raise self._unreachable(error) from None
        try:
            with alone(handle):
                written = os.write(handle, line)
        except OSError as error:
            raise self._unreachable(error) from None
        finally:
            os.close(handle)
        if written != len(line):
            raise PrivacyError(f"the budget's account {self._path} could not be written: disk full")

    def _lines(self) -> list[bytes]:
        """Return the account; a line that somebody is just writing is waited for."""
        try:
            for _ in range(_PATIENCE):
                found = read_bytes(self._path, BASELINE, PrivacyError, "the budget's account")
                if found.endswith(b"\n") and b"\0" not in found:
                    break
                time.sleep(0.001)
        except OSError as error:
            raise self._unreachable(error) from None
        return found.split(b"\n")

    def _read(self) -> list[_Spending]:
        """Return the lines that count, in order."""
        if self._path == Path(os.devnull):
            raise PrivacyError(
                "a model that was saved does not carry its budget: give it one with "
                "set_params(budget=...) before it is fitted again"
            )
        stated, counted = _read_account(self._lines(), self._path)
        if stated != self._epsilon:
            raise PrivacyError(
                f"{self._path} is the account of a budget of {float(stated):g}, "
                f"not of {self.epsilon:g}"
            )
        return counted

    def _unreachable(self, error: OSError) -> PrivacyError:
        return PrivacyError(
            f"the budget's account {self._path} cannot be reached "
            f"({(error.strerror or 'error').lower()}): give the estimator a budget of this machine"
        )


def _sum(spendings: list[_Spending]) -> Fraction:
    return sum((one.epsilon for one in spendings), Fraction(0))


def _remove(name: str, process: int) -> None:
    # A forked process inherits the exit handler but not the account.
    if os.getpid() == process:
        Path(name).unlink(missing_ok=True)
