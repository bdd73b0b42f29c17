"""The public domain: which records there can be, before anything is known of the people."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from treeaudit.arrays import Float, Int

__all__ = ["Domain", "Variable"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variable:
    """One thing of which a record has exactly one value; the values have codes 0, 1, ….

    Attributes
    ----------
    name
        Untrusted text.
    features
        The columns of the model that hold it; several for a one-hot group.
    kind
        ``categories``: one column of codes. ``one-hot``: code i is a 1 in the i-th column and 0
        in the others, and one more code, where there is one, is 0 in all; a column of 0 and 1 is
        a group of one. ``number``: code i is the interval above ``cuts[i - 1]`` up to ``cuts[i]``.
    values
        The names of the codes; empty for numbers.
    cuts
        Ascending thresholds that the trees ask about; None unless a number.
    low, high
        Public bounds of a number; infinite where there are none.
    whole
        Whether a number takes whole values only.
    """

    name: str
    features: tuple[int, ...]
    kind: Literal["categories", "one-hot", "number"]
    values: tuple[str, ...] = ()
    cuts: Float | None = None
    low: float = -math.inf
    high: float = math.inf
    whole: bool = False

    @property
    def n_codes(self) -> int:
        """How many codes there are."""
        return len(self.values) if self.cuts is None else len(self.cuts) + 1

    @property
    def edges(self) -> Float:
        """The ends of the intervals of a number, ``n_codes + 1`` of them, within its bounds."""
        inner = np.zeros(0) if self.cuts is None else self.cuts
        # The lowest value itself is in the first interval, which does not hold its lower end.
        first = np.nextafter(self.low, -np.inf) if math.isfinite(self.low) else self.low
        ends: Float = np.clip(np.concatenate([[-np.inf], inner, [np.inf]]), first, self.high)
        return ends

    def n_values(self, first: Int, last: Int) -> Float:
        """Return how many values codes ``first`` to ``last - 1`` hold; infinite if not known."""
        if self.cuts is None:
            return (last - first).astype(np.float64)
        if not self.whole:
            return np.full(len(first), np.inf)
        n = np.floor(self.edges[last]) - np.floor(self.edges[first])
        return np.where(n > 0, n, np.inf)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Domain:
    """The records that there can be: every combination of the values of the variables.

    Attributes
    ----------
    variables
        Those that some tree asks about.
    silent
        Names of the columns that no tree asks about.
    assumptions
        What the file does not say and every answer rests on, a sentence each.
    single_precision
        Whether numbers are compared as 32-bit numbers.
    """

    variables: tuple[Variable, ...]
    silent: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    single_precision: bool = False

    @property
    def bits(self) -> float:
        """Bits that tell one record of the domain; of numbers the intervals are told apart."""
        return math.fsum(math.log2(variable.n_codes) for variable in self.variables)

    def codes(self, values: Float) -> Int:
        """Return the codes of some records, shape ``(n_records, n_variables)``; -1 outside it.

        Parameters
        ----------
        values
            Shape ``(n_records, n_features)``, as `treeaudit.model.tree.Tree.apply` takes them.
        """
        found = np.full((len(values), len(self.variables)), -1, dtype=np.int32)
        for i, variable in enumerate(self.variables):
            held = values[:, list(variable.features)].astype(np.float64)
            if variable.cuts is not None:
                x = held[:, 0]
                if self.single_precision:
                    x = x.astype(np.float32).astype(np.float64)
                fits = (x >= variable.low) & (x <= variable.high)
                found[:, i] = np.where(fits, np.searchsorted(variable.cuts, x), -1)
            elif variable.kind == "categories":
                known = (held[:, 0] >= 0) & (held[:, 0] < variable.n_codes)
                found[:, i] = np.where(known, np.nan_to_num(held[:, 0]), -1)
            else:
                n, ones = held.shape[1], held.sum(axis=1)
                legal = ((held == 0) | (held == 1)).all(axis=1) & (ones <= 1)
                none = n if variable.n_codes > n else -1
                found[legal, i] = np.where(ones == 1, held.argmax(axis=1), none)[legal]
        return found
