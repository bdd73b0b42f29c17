"""What is counted as one: a person where it is known whose each record is, else a record."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Unit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What an audit counts.

    Attributes
    ----------
    by
        How persons were told apart: ``record`` where one record a person is assumed,
        ``people`` where that was said, ``person`` by a column, ``rows-per-person`` by
        a bound, ``copies`` where equal records are one person.
    persons, records
        Of the training data, where it was given.
    rows_per_person
        The bound.
    most_records
        The most records of one person, where they were told apart.
    """

    by: Literal["record", "people", "person", "rows-per-person", "copies"] = "record"
    persons: int | None = None
    records: int | None = None
    rows_per_person: int | None = None
    most_records: int | None = None

    @property
    def counts_persons(self) -> bool:
        """Whether sizes are other than the records of a leaf."""
        return self.by not in ("record", "people")

    @property
    def spread(self) -> bool:
        """Whether a person may be in several leaves of a tree."""
        return self.by in ("person", "rows-per-person")

    @property
    def most(self) -> int:
        """The most records of one person, as far as it is known."""
        return self.most_records or self.rows_per_person or 1

    @property
    def sentence(self) -> str:
        """What is counted, in a sentence.

        Examples
        --------
        >>> Unit().sentence
        'records; one record a person is assumed'
        >>> Unit(by="person", persons=200, records=2000).sentence
        '200 persons, 2,000 records'
        """
        if self.by == "people":
            return "records; each is another person, as was said (--repeats people)"
        if self.by == "person":
            return f"{self.persons:,} persons, {self.records:,} records"
        if self.by == "copies":
            return f"distinct records, {self.persons:,} of {self.records:,}"
        if self.by == "rows-per-person":
            return f"persons, at least, with at most {self.most:,} records a person"
        return "records; one record a person is assumed"
