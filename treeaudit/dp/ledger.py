"""What a model asked about its people, and what that cost: the claim, row by row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, get_args

from treeaudit.dp.accounting import epsilon_at, exact, of_epsilon
from treeaudit.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


Neighbours = Literal["add-remove", "replace-one"]
"""Two data sets are neighbours when one unit, a record or a person, is added or replaced."""

Unit = Literal["record", "person"]
"""What neighbours differ in."""

Composition = Literal["parallel", "sequential"]
Variant = Literal["sound", "published"]


def factor(neighbours: Neighbours, rows_per_person: int | None = None) -> int:
    """Return by how many records, added or removed one after the other, neighbours differ.

    Replacing is removing one and adding another; a person is at most so many
    records. Whatever all answers together cost when one record is added or
    removed, they cost at most so many times that here, also where the records
    fall into different parts.
    """
    return (2 if neighbours == "replace-one" else 1) * (rows_per_person or 1)


def unit_of(rows_per_person: int | None) -> str:
    """Return in words whom the claim is about."""
    if rows_per_person is None:
        return "record"
    return f"person, at most {rows_per_person:,} row{'s' * (rows_per_person > 1)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One question, or one asked of many disjoint parts of the data.

    Attributes
    ----------
    name
        What was asked, such as ``leaf labels``.
    mechanism
        How it was answered, such as ``permute-and-flip``.
    epsilon
        What asking once may cost; 0 where that is a rho.
    sensitivity
        How far neighbours move the answer: the sum of the changes of all
        counts, or how far apart two scores can move, in people.
    used
        What asking once does cost: rates are rounded down to what is exact.
        As epsilon, or rho, where None.
    neighbours
        Under which relation.
    composition
        ``parallel``: asked of disjoint parts, so that no person is in two of
        them, and costs epsilon once. ``sequential``: asked of the same people
        each time, and costs epsilon every time.
    asked
        How often.
    delta
        The chance with which asking once may cost more than that.
    rho
        How concentrated asking once is, where no epsilon bounds it (Gaussian noise); else 0.

    Examples
    --------
    >>> Query(name="leaf labels", mechanism="permute-and-flip", epsilon=Fraction(1),
    ...       sensitivity=Fraction(1), asked=800).cost
    Fraction(1, 1)
    """

    name: str
    mechanism: str
    epsilon: Fraction
    sensitivity: Fraction
    neighbours: Neighbours = "add-remove"
    composition: Composition = "parallel"
    asked: int = 1
    used: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)

    @property
    def times(self) -> int:
        """How often the row costs."""
        return min(self.asked, 1) if self.composition == "parallel" else self.asked

    @property
    def cost(self) -> Fraction:
        """What the row adds to the claim."""
        return self.epsilon * self.times

    @property
    def concentrated(self) -> Fraction:
        """What the row adds to the claim as rho."""
        return (self.rho or of_epsilon(self.epsilon)) * self.times

    @property
    def as_used(self) -> "Query":
        """The row with what it does cost in the place of what it may."""
        if self.used is None:
            return self
        if self.rho:
            return replace(self, rho=self.used, used=None)
        return replace(self, epsilon=self.used, used=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """All questions of one fit. Rows add up: each row was asked of all the data.

    Attributes
    ----------
    queries
        The rows.
    budget
        What the user allowed.
    neighbours
        The relation that the claim is about.
    variant
        ``sound`` or ``published``.
    reasons
        Why the model is not private after all, one sentence each; empty where
        the claim holds.
    public
        What was taken to be known to everybody, one entry each.
    rows_per_person
        How many records of one person were used at most, where the claim is
        about persons; None where it is about records.
    conversion_delta
        The chance at which rhos are told as an epsilon, where there are any.

    Examples
    --------
    >>> split = Query(name="split", mechanism="permute-and-flip", epsilon=Fraction(1, 4),
    ...               sensitivity=Fraction(2), asked=7)
    >>> labels = Query(name="labels", mechanism="permute-and-flip", epsilon=Fraction(3, 4),
    ...                sensitivity=Fraction(1), asked=8)
    >>> ledger = Ledger(queries=(split, labels), budget=Fraction(1))
    >>> ledger.epsilon, ledger.to_plain()["epsilon"], ledger.not_private
    (Fraction(1, 1), 1.0, False)
    >>> Ledger.from_plain(ledger.to_plain()) == ledger
    True
    """

    queries: tuple[Query, ...]
    budget: Fraction
    neighbours: Neighbours = "add-remove"
    variant: Variant = "sound"
    reasons: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    rows_per_person: int | None = None
    conversion_delta: Fraction = Fraction(0)

    @property
    def unit(self) -> str:
        """Whom the claim is about, in words."""
        return unit_of(self.rows_per_person)

    @property
    def epsilon(self) -> Fraction:
        """What the model claims: the sum of its rows."""
        return self._sum(self.queries)

    @property
    def rho(self) -> Fraction:
        """The sum of the rows as rho, those with a delta of their own left out; 0 without any."""
        return _rho(self.queries)

    @property
    def delta(self) -> Fraction:
        """The chance with which that may be exceeded: 0 where epsilon is a bound."""
        own = sum((query.delta * query.times for query in self.queries), Fraction(0))
        return own + (self.conversion_delta if self.rho else 0)

    @property
    def used(self) -> Fraction:
        """What the answers do cost: at most the claim, as rates are rounded down."""
        return self._sum([query.as_used for query in self.queries])

    def epsilon_of(self, records: int) -> Fraction:
        """Return what so many records may lose together, where no row has a delta of its own."""
        if not self.rho:
            return self.epsilon * records
        return epsilon_at(self.rho * records * records, self.conversion_delta)

    def _sum(self, queries: Sequence[Query]) -> Fraction:
        rho = _rho(queries)
        plain = [q for q in queries if q.delta or not rho]
        told = epsilon_at(rho, self.conversion_delta) if rho else Fraction(0)
        return sum((query.cost for query in plain), told)

    @property
    def not_private(self) -> bool:
        """Whether the claim is known not to hold."""
        return bool(self.reasons)

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per question, with its cost."""
        import pandas as pd

        rows = [
            {
                "query": q.name,
                "mechanism": q.mechanism,
                "epsilon": float(q.epsilon),
                "sensitivity": float(q.sensitivity),
                "composition": q.composition,
                "asked": q.asked,
                "cost": float(q.cost),
                "used": float(q.epsilon if q.used is None else q.used),
                **({"rho": float(q.rho)} if self.rho else {}),
            }
            for q in self.queries
        ]
        return pd.DataFrame(rows)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data, for `Forest.privacy` and the file."""
        return {
            "epsilon": float(self.epsilon),
            "used": float(self.used),
            "delta": float(self.delta),
            **self._concentrated(),
            "budget": str(self.budget),
            "neighbours": self.neighbours,
            "unit": self.unit,
            "rows_per_person": self.rows_per_person,
            "variant": self.variant,
            "not_private": self.not_private,
            "reasons": list(self.reasons),
            "public": list(self.public),
            "queries": [
                {
                    "name": q.name,
                    "mechanism": q.mechanism,
                    "epsilon": str(q.epsilon),
                    "used": str((q.rho or q.epsilon) if q.used is None else q.used),
                    "sensitivity": str(q.sensitivity),
                    "composition": q.composition,
                    "asked": q.asked,
                    **({"delta": str(q.delta)} if q.delta else {}),
                    **({"rho": str(q.rho)} if q.rho else {}),
                }
                for q in self.queries
            ],
        }

    def _concentrated(self) -> dict[str, Any]:
        if not self.rho:
            return {}
        return {"rho": float(self.rho), "conversion_delta": str(self.conversion_delta)}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "Ledger":
        """Return the ledger that plain data describes.

        Raises
        ------
        DataError
            If it is no ledger.
        """
        try:
            neighbours, variant = data["neighbours"], data["variant"]
            if neighbours not in get_args(Neighbours) or variant not in get_args(Variant):
                raise ValueError("neighbours or variant")
            rows = data.get("rows_per_person")
            if not (rows is None or (type(rows) is int and rows > 0)):
                raise ValueError("rows of a person")
            if data.get("unit", unit_of(rows)) != unit_of(rows):
                raise ValueError("unit")
            ledger = cls(
                queries=tuple(_query(row, neighbours) for row in data["queries"]),
                budget=exact(data["budget"]),
                neighbours=neighbours,
                variant=variant,
                reasons=tuple(str(reason) for reason in data["reasons"]),
                public=tuple(str(entry) for entry in data["public"]),
                rows_per_person=rows,
                conversion_delta=exact(data.get("conversion_delta", "0")),
            )
            if bool(ledger.rho) != (0 < ledger.conversion_delta < 1):
                raise ValueError("rows with rho need a delta to be told as an epsilon")
            if data.get("rho", 0.0) != float(ledger.rho):
                raise ValueError("the rows do not sum to the rho")
            # What is told as a floating-point number must be one.
            float(ledger.epsilon), float(ledger.budget)
            if data.get("delta", 0.0) != float(ledger.delta):
                raise ValueError("the rows do not sum to the delta")
        except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
            raise DataError(f"the privacy ledger is damaged: {error}") from None
        return ledger


def _rho(queries: Sequence[Query]) -> Fraction:
    """Return the sum as rho where a row is stated so: what is private by epsilon is it, too."""
    if not any(query.rho for query in queries):
        return Fraction(0)
    return sum((q.concentrated for q in queries if not q.delta), Fraction(0))


def _query(row: Mapping[str, Any], neighbours: Neighbours) -> Query:
    if row["composition"] not in get_args(Composition):
        raise ValueError("composition")
    epsilon, rho = exact(row["epsilon"]), exact(row.get("rho", "0"))
    used = exact(row["used"]) if "used" in row else rho or epsilon
    if (rho and epsilon) or not 0 <= used <= (rho or epsilon):
        raise ValueError("used")
    delta = exact(row.get("delta", "0"))
    if delta > 1 or (rho and delta):
        raise ValueError("delta")
    if type(row["asked"]) is not int or row["asked"] < 0:
        raise ValueError("how often it was asked")
    return Query(
        name=str(row["name"]),
        mechanism=str(row["mechanism"]),
        epsilon=epsilon,
        used=None if used == (rho or epsilon) else used,
        sensitivity=exact(row["sensitivity"]),
        neighbours=neighbours,
        composition=row["composition"],
        asked=row["asked"],
        delta=delta,
        rho=rho,
    )
