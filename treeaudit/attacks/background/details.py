"""What TA103 measures. Lists are indexed by how much is known, from 0."""

from dataclasses import dataclass
from typing import Literal

from treeaudit.attacks.distinct_people import InAnyTree
from treeaudit.findings.details import Details, only_if_given
from treeaudit.findings.numbers import People, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class FallingLeaf(Details):
    """A leaf in which one label is left.

    Attributes
    ----------
    tree, leaf
        Where it is.
    people, label
        For how many others which label is left.
    known_rows
        The known people in it, as rows counted from 1.
    """

    tree: int
    leaf: int
    people: People
    label: str
    known_rows: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FallenPerson(Details):
    """A person of the training data whose label follows.

    Attributes
    ----------
    row
        Of the training data, counted from 1.
    label
        What follows.
    round
        1 where it follows from the known people, 2 where from those who fell, and so on.
    tree, leaf
        Where it can be seen.
    """

    row: int
    label: str
    round: int
    tree: int
    leaf: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPeople(Details):
    """What known people disclose (``--known``).

    Attributes
    ----------
    origin, records
        What they are called, and how many are known.
    followed
        ``people`` with training data, through all trees; otherwise ``leaves``.
    trees_used, trees
        Trees that prove something, of all: the others do not tell whether they
        have seen a known person.
    people_certain_before
        By the file alone; with training data.
    people_falling
        Others whose label follows; of the tree with the most where leaves are followed.
    people_falling_at_once, people_falling_as_a_consequence
        Of them from the known people, and from others who fell; with training data.
    rounds
        How often somebody fell because of others who did; with training data.
    leaves_falling
        Where they are.
    falling, people
        The first of them one by one; people with training data.
    reason
        Why nothing can be proved, where it cannot.
    """

    origin: str
    records: People
    followed: Literal["people", "leaves"]
    trees_used: int
    trees: int
    people_certain_before: People | None = only_if_given()
    people_falling: People
    people_falling_at_once: People | None = only_if_given()
    people_falling_as_a_consequence: People | None = only_if_given()
    rounds: int | None = only_if_given()
    leaves_falling: People
    falling: tuple[FallingLeaf, ...]
    people: tuple[FallenPerson, ...] | None = only_if_given()
    reason: str | None = only_if_given()


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicPrior(Details):
    """What a public prior discloses (``--prior``), once whoever is known or falls is taken out.

    Attributes
    ----------
    origin, column, kinds
        What it is called, the column that says who is of which kind (None where
        all are alike), and how many kinds there are.
    certainty
        From which probability on a label counts as disclosed.
    whose
        Which prior each person has.
    method
        ``exact``, or where the Ω-estimate was used.
    leaves_estimated
        Leaves where it was.
    leaves_contradicting
        Leaves whose counts cannot be if the prior is true.
    leaves_looked_at
        Leaves of several labels.
    leaves, people
        Those that pass the certainty; how many people is known with training
        data only.
    people_at_most
        The people of these leaves.
    leaves_because_of_prior, people_because_of_prior, people_because_of_prior_at_most
        Those of them that would not pass by the leaf alone.
    """

    origin: str
    column: str | None
    kinds: int
    certainty: float
    whose: Literal["the training people's own", "one target among others"]
    method: str
    leaves_estimated: People
    leaves_contradicting: People
    leaves_looked_at: People
    leaves: People
    people: People | None
    people_at_most: People
    leaves_because_of_prior: People
    people_because_of_prior: People | None
    people_because_of_prior_at_most: People


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge(Details):
    """How certain a label becomes in the worst leaf of several labels by some knowledge.

    Attributes
    ----------
    negations
        Labels that are ruled out for the target.
    known
        Others whose label is known.
    implications
        "If this person has this label, that person has that one".
    certainty
        Of the best guess.
    """

    negations: int
    known: int
    implications: int
    certainty: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundDetails(Details):
    """Who is disclosed for each amount of knowledge.

    Leaves are those of all trees, people and their shares those of one.

    Attributes
    ----------
    tree
        Which: the one in which one known person discloses the most.
    disclosed_by_one_in_any_tree, disclosed_by_most_in_any_tree
        Different people whose label is certain in some tree if the attacker knows
        the best other of their leaf, and the most others that are asked about.
    people_disclosed_by_known
        People whose label is certain if the attacker knows the r best others of
        their leaf.
    leaves_by_known
        Leaves for which exactly r known people are the fewest that are enough.
    leaves_not_countable
        Leaves whose class counts are not people; they are in no other number.
    people_total, people_countable
        People in all leaves, and in those whose class counts are people.
    share_certain_random_known
        Share of the countable people whose label is the most frequent of their
        leaf, and certain if the attacker knows r others of it, drawn at random.
    mean_certainty_by_known
        How certain the best guess in a person's leaf is if the attacker knows
        the r best others, on average over the countable people.
    mixed_leaves, mixed_people
        Countable leaves of several labels, and the people in them. The next
        four are empty where there are none.
    worst_case_certainty_by_known
        The highest certainty in any mixed leaf for r known others.
    certainty_by_negations, certainty_by_implications
        The same for labels that are ruled out, and for implications.
    skyline
        The same for nothing, for one piece of each kind, and for one of all.
    known, prior
        With known people, and with a public prior.
    """

    tree: int
    disclosed_by_one_in_any_tree: InAnyTree
    disclosed_by_most_in_any_tree: InAnyTree
    people_disclosed_by_known: tuple[People, ...]
    leaves_by_known: tuple[People, ...]
    leaves_not_countable: int
    people_total: People
    people_countable: People
    share_certain_random_known: tuple[Share, ...]
    mean_certainty_by_known: tuple[Share, ...]
    mixed_leaves: People
    mixed_people: People
    worst_case_certainty_by_known: tuple[Share, ...]
    certainty_by_negations: tuple[Share, ...]
    certainty_by_implications: tuple[Share, ...]
    skyline: tuple[Knowledge, ...]
    known: KnownPeople | None = only_if_given()
    prior: PublicPrior | None = only_if_given()
