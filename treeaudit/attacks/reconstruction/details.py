"""What TA108 measures."""

from dataclasses import dataclass
from typing import Literal

from treeaudit.findings.details import Details, only_if_given
from treeaudit.findings.numbers import People, Share
from treeaudit.inference.explanation import Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterTrees(Details):
    """What is certain after the first trees.

    Attributes
    ----------
    trees
        How many.
    certified, exact
        As in `ReconstructionDetails`.
    """

    trees: int
    certified: Share
    exact: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(Details):
    """The certificates, held against the training people.

    Attributes
    ----------
    cells
        Cells with somebody certain in them.
    wrong
        Those that hold fewer or more people than was certain.
    """

    cells: People
    wrong: People


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyPeople(Details):
    """Who is likely in the training data where nobody is certain: estimates, never certificates.

    Attributes
    ----------
    counts_are
        Why nobody is certain: ``draws`` of nobody knows whom, or ``noisy``.
    level
        From which probability on somebody is called likely.
    people
        Those who are likely, of all who are not known.
    expected
        People of the likeliest table who are in the training data, by the probabilities.
    known
        People whom the attacker knows already; not written where there are none.
    public
        People of a public table that probabilities start from; not written without one.
    right
        Of the likely people, those who are in the training data; not written without it.
    right_of_others
        The control: as many as other people would show of them; not written without those.
    error, error_of_others
        Share of the values that are wrong in the likeliest table, paired with the training
        people as well as can be, and in a table of others.
    """

    counts_are: Literal["draws", "noisy"]
    level: float
    people: Share
    expected: float
    known: People | None = only_if_given()
    public: People | None = only_if_given()
    right: Share | None = only_if_given()
    right_of_others: Share | None = only_if_given()
    error: float | None = only_if_given()
    error_of_others: float | None = only_if_given()


@dataclass(frozen=True, slots=True, kw_only=True)
class Informed(Details):
    """What follows for whoever knows some of the people already.

    Attributes
    ----------
    known
        Those who are known.
    certified, exact
        Of the others, as in `ReconstructionDetails`.
    """

    known: People
    certified: Share
    exact: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconstructionDetails(Details):
    """Whom the leaves of all trees give away for certain, from the file alone.

    Attributes
    ----------
    given_away
        People who are certain with every value that a tree asks about, or in a cell that
        certainly holds fewer than ``k``.
    certified
        People of whom it is certain in which cell they are.
    exact
        Those of them whose every value that a tree asks about is certain.
    in_order
        Those given away of whom the row of the training table is certain too; not written where
        no seeds tell rows.
    k
        The smallest acceptable group.
    cells, open_cells
        Cells that may hold somebody, label by label, and those in which it is open how many.
    bits, bits_of_all
        What is given away of the records, no fewer; and what there is to give away.
    trees, of_trees
        The first so many trees were used, of all.
    seconds
        The budget.
    stopped
        What ended the search before its end; not written where nothing did.
    assumptions
        What the file does not say and every certificate rests on.
    curve
        The same for the first trees.
    by_hand
        One person and the leaves that prove it; not written where no few leaves do.
    checked
        Not written without the training people.
    likely
        Where nobody can be certain: who is likely. Not written elsewhere.
    informed
        Not written where the attacker knows nobody.
    """

    given_away: People
    certified: Share
    exact: Share
    in_order: People | None = only_if_given()
    k: int
    cells: int
    open_cells: int
    bits: float
    bits_of_all: float
    trees: int
    of_trees: int
    seconds: float
    stopped: str | None = only_if_given()
    assumptions: tuple[str, ...]
    curve: tuple[AfterTrees, ...]
    by_hand: Explanation | None = only_if_given()
    checked: Checked | None = only_if_given()
    likely: LikelyPeople | None = only_if_given()
    informed: Informed | None = only_if_given()
