"""What TA108 measures and shows: people who are certain, over the number of trees."""

from dataclasses import dataclass
from typing import Literal

from treeaudit.attacks.distinct_people import skipped_rung
from treeaudit.findings.details import Count, Details, People, Phrase, Share, only_if_given, say
from treeaudit.findings.findings import (
    Figure,
    Finding,
    Line,
    Mark,
    Plot,
    Rung,
    Skipped,
    View,
    details_of,
)
from treeaudit.findings.report import Report
from treeaudit.inference.explanation import Explanation
from treeaudit.model.words import in_percent, number_of
from treeaudit.stats import fact


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterTrees(Details):
    """What is certain after the first trees."""

    trees: int  # How many
    # As in `ReconstructionDetails`
    certified: Share
    exact: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(Details):
    """The certificates, held against the training people."""

    cells: People  # Cells with somebody certain in them
    wrong: People  # Those that hold fewer or more people than was certain


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyPeople(Details):
    """Who is likely in the training data where nobody is certain: estimates, never certificates."""

    # Why nobody is certain: `draws` of nobody knows whom, or `noisy`
    counts_are: Literal["draws", "noisy"]
    level: float  # From which probability on somebody is called likely
    people: Share  # Those who are likely, of all who are not known
    # People of the likeliest table who are in the training data, by the probabilities
    expected: float
    # People whom the attacker knows already; not written where there are none
    known: People | None = only_if_given()
    # People of a public table that probabilities start from; not written without one
    public: People | None = only_if_given()
    # Of the likely people, those who are in the training data; not written without it
    right: Share | None = only_if_given()
    # The control: as many as other people would show of them; not written without those
    right_of_others: Share | None = only_if_given()
    # Share of the values that are wrong in the likeliest table, paired with the training people
    # as well as can be, and in a table of others
    error: float | None = only_if_given()
    error_of_others: float | None = only_if_given()


@dataclass(frozen=True, slots=True, kw_only=True)
class Informed(Details):
    """What follows for whoever knows some of the people already."""

    known: People  # Those who are known
    # Of the others, as in `ReconstructionDetails`
    certified: Share
    exact: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconstructionDetails(Details):
    """Whom the leaves of all trees give away for certain, from the file alone."""

    # People who are certain with every value that a tree asks about, or in a cell that certainly
    # holds fewer than `k`
    given_away: People
    certified: Share  # People of whom it is certain in which cell they are
    exact: Share  # Those of them whose every value that a tree asks about is certain
    # Those given away of whom the row of the training table is certain too; not written where no
    # seeds tell rows
    in_order: People | None = only_if_given()
    # Numbers in people's columns that are certain within 1 % of the range of a column's thresholds
    numbers: Share | None = only_if_given()
    k: int  # The smallest acceptable group
    # Cells that may hold somebody, label by label, and those in which it is open how many
    cells: int
    open_cells: int
    # What is given away of the records, no fewer; and what there is to give away
    bits: float
    bits_of_all: float
    # The first so many trees were used, of all
    trees: int
    of_trees: int
    seconds: float  # The budget
    # What ended the search before its end; not written where nothing did
    stopped: str | None = only_if_given()
    assumptions: tuple[str, ...]  # What the file does not say and every certificate rests on
    curve: tuple[AfterTrees, ...]  # The same for the first trees
    # One person and the leaves that prove it; not written where no few leaves do
    by_hand: Explanation | None = only_if_given()
    checked: Checked | None = only_if_given()  # Not written without the training people
    # Where nobody can be certain: who is likely. Not written elsewhere.
    likely: LikelyPeople | None = only_if_given()
    informed: Informed | None = only_if_given()  # Not written where the attacker knows nobody


_KNOWS = "nobody, and solves the equations of all leaves"


def view(result: Finding | Skipped, report: Report) -> View:
    """Return whom the leaves of all trees give away for certain."""
    if isinstance(result, Skipped):
        if result.reason.startswith("not applicable"):
            return View()
        return View(rungs=(skipped_rung(_KNOWS, result),))
    details = details_of(result, ReconstructionDetails)
    if details.likely is not None:
        return _of_likely(details, details.likely)
    exact = People(details.exact.part or 0)
    return View(
        brief=say("{} certain with every value, {} certain in all", exact, details.certified),
        figure=Figure(
            number=exact, counts="certain to be in the training data, every value of them"
        ),
        together=say("can write down {} of the training table, for certain", exact)
        if exact
        else None,
        rungs=(
            Rung(
                knows=say(_KNOWS),
                number=People(details.given_away),
                follows=say(
                    "certain with every value that is asked about, or in a group below {}",
                    details.k,
                ),
                nobody="nobody is certain with every value, or in a small group",
            ),
        ),
        facts=_facts(details),
        plots=(_curve(details),),
    )


def _of_likely(details: ReconstructionDetails, likely: LikelyPeople) -> View:
    number = People(likely.people.part or 0)
    level = in_percent(likely.level, 0)
    facts = [
        ("Level", say("by their probabilities about {} people of the likeliest table are expected "
                      "to be in the training data; nobody is certain", f"{likely.expected:,.0f}")),
        ("Assumed", say("{}", "; ".join(details.assumptions))),
    ]  # fmt: skip
    if likely.known is not None:
        facts.append(("Known beforehand", say("{}, not counted here", likely.known)))
    if likely.public is not None:
        facts.append(("Begun from", say("a public table of {}", likely.public)))
    if likely.right is not None:
        text = "{} of the likely people are in the training data"
        facts.append(("Checked", say(text, likely.right)))
    if likely.right_of_others is not None:
        text = "{} of them would be right about as many other people"
        facts.append(("Control", say(text, likely.right_of_others)))
    if likely.error is not None:
        text = "{} of the values in the likeliest table"
        facts.append(("Wrong", say(text, in_percent(likely.error))))
    if likely.error_of_others is not None:
        text = "{} of the values in a table of other people: a guess no better is no attack"
        facts.append(("Wrong in the control", say(text, in_percent(likely.error_of_others))))
    return View(
        brief=say("{} likely at {} or more, nobody certain", likely.people, level),
        figure=Figure(number=number, counts=f"likely in the training data, {level} or more each"),
        rungs=(
            Rung(
                knows=say(_KNOWS),
                number=number,
                follows=say("likely in the training data at {} or more, nobody certain", level),
                nobody="nobody is certain, and nobody likely",
            ),
        ),
        facts=tuple(facts),
    )


def _facts(details: ReconstructionDetails) -> tuple[tuple[str, Phrase], ...]:
    still = "all settled" if details.open_cells == 0 else f"{details.open_cells:,} still open"
    facts = [
        ("Cells", say("{} that may hold somebody, {}", Count(details.cells), still)),
        (
            "Bits of the records",
            say(
                "{} of {} given away, no fewer",
                f"{details.bits:,.0f}",
                f"{details.bits_of_all:,.0f}",
            ),
        ),
        ("Assumed", say("{}", "; ".join(details.assumptions))),
    ]
    if details.stopped is not None:
        trees = f"{details.trees:,} of {details.of_trees:,} trees"
        facts.append(("Not finished", say("ended after {}, {} used", details.stopped, trees)))
    if details.in_order is not None:
        text = "{} certain with the row of the training table: the seeds make the draws again"
        facts.append(("In their order", say(text, details.in_order)))
    if details.numbers:
        text = "{} of the numbers in people's columns, within 1 % of a column's range"
        facts.append(("Numbers known", say(text, details.numbers)))
    if details.by_hand is not None:
        facts.append(("To check by hand", _by_hand(details.by_hand)))
    if details.informed is not None:
        text = "whoever knows {} knows {} of the others for certain"
        facts.append(
            ("With people known", say(text, details.informed.known, details.informed.certified))
        )
    if details.checked is not None:
        text = "every certificate was held against the training people: {} right, none wrong"
        facts.append(("Checked", say(text, details.checked.cells)))
    return tuple(facts)


def _by_hand(seen: Explanation) -> Phrase:
    one = seen.people == 1
    text = (
        f"leaf {seen.leaf} of tree {seen.tree} ({seen.rule}) holds "
        f"{number_of(seen.people, 'person', 'people')} with {seen.label}, and {seen.fits:,} "
        f"descriptions fit it. Leaves with nobody of this label rule out: "
        + "; ".join(f"{x.rule} (tree {x.tree}, leaf {x.leaf})" for x in seen.others)
        + f". One is left, which must be {'that person' if one else 'those people'}: {seen.left}"
    )
    return say("{}", text)


def _curve(details: ReconstructionDetails) -> Plot:
    return Plot(
        title=say("People who are certain with every value"),
        lines=tuple(
            _bar(say("{}", Count(at.trees, "tree", "trees")), at.exact) for at in details.curve
        ),
        heads=("people",),
    )


def _bar(name: Phrase, share: Share) -> Line:
    mark = Mark(kind="part", share=fact(share, share.whole or 0))
    return Line(name=name, marks=(mark,), cells=(say("{}", share),))
