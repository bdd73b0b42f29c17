"""What TA103 measures and shows: who falls and how certain a label becomes, the more is known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from treeaudit.attacks.distinct_people import InAnyTree, in_any, in_worst_tree, skipped_rung
from treeaudit.findings.details import Details, People, Phrase, Share, only_if_given, say
from treeaudit.findings.findings import (
    Curve,
    Figure,
    Finding,
    Rung,
    Series,
    Skipped,
    View,
    details_of,
)
from treeaudit.findings.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class FallingLeaf(Details):
    """A leaf in which one label is left."""

    # Where it is
    tree: int
    leaf: int
    # For how many others which label is left
    people: People
    label: str
    known_rows: tuple[int, ...]  # The known people in it, as rows counted from 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FallenPerson(Details):
    """A person of the training data whose label follows."""

    row: int  # Of the training data, counted from 1
    label: str  # What follows
    round: int  # 1 where it follows from the known people, 2 where from those who fell, and so on
    # Where it can be seen
    tree: int
    leaf: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPeople(Details):
    """What known people disclose (``--known``)."""

    # What they are called, and how many are known
    origin: str
    records: People
    # `people` with training data, through all trees; otherwise `leaves`
    followed: Literal["people", "leaves"]
    # Trees that prove something, of all: the others do not tell whether they have seen a known
    # person
    trees_used: int
    trees: int
    people_certain_before: People | None = only_if_given()  # By the file alone; with training data
    # Others whose label follows; of the tree with the most where leaves are followed
    people_falling: People
    # Of them from the known people, and from others who fell; with training data
    people_falling_at_once: People | None = only_if_given()
    people_falling_as_a_consequence: People | None = only_if_given()
    # How often somebody fell because of others who did; with training data
    rounds: int | None = only_if_given()
    leaves_falling: People  # Where they are
    # The first of them one by one; people with training data
    falling: tuple[FallingLeaf, ...]
    people: tuple[FallenPerson, ...] | None = only_if_given()
    reason: str | None = only_if_given()  # Why nothing can be proved, where it cannot


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicPrior(Details):
    """What a public prior discloses (``--prior``), once whoever is known or falls is taken out.

    * ``leaves_because_of_prior``, ``people_because_of_prior``, ``people_because_of_prior_at_most``:
      those of them that would not pass by the leaf alone.
    """

    # What it is called, the column that says who is of which kind (None where all are alike), and
    # how many kinds there are
    origin: str
    column: str | None
    kinds: int
    certainty: float  # From which probability on a label counts as disclosed
    # Which prior each person has
    whose: Literal["the training people's own", "one target among others"]
    method: str  # `exact`, or where the Ω-estimate was used
    leaves_estimated: People  # Leaves where it was
    leaves_contradicting: People  # Leaves whose counts cannot be if the prior is true
    leaves_looked_at: People  # Leaves of several labels
    # Those that pass the certainty; how many people is known with training data only
    leaves: People
    people: People | None
    people_at_most: People  # The people of these leaves
    leaves_because_of_prior: People
    people_because_of_prior: People | None
    people_because_of_prior_at_most: People


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge(Details):
    """How certain a label becomes in the worst leaf of several labels by some knowledge."""

    negations: int  # Labels that are ruled out for the target
    known: int  # Others whose label is known
    implications: int  # "If this person has this label, that person has that one"
    certainty: Share  # Of the best guess


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundDetails(Details):
    """Who is disclosed for each amount of knowledge."""

    tree: int  # Which: the one in which one known person discloses the most
    # Different people whose label is certain in some tree if the attacker knows the best other of
    # their leaf, and the most others that are asked about
    disclosed_by_one_in_any_tree: InAnyTree
    disclosed_by_most_in_any_tree: InAnyTree
    # People whose label is certain if the attacker knows the r best others of their leaf
    people_disclosed_by_known: tuple[People, ...]
    # Leaves for which exactly r known people are the fewest that are enough
    leaves_by_known: tuple[People, ...]
    # Leaves whose class counts are not people; they are in no other number
    leaves_not_countable: int
    # People in all leaves, and in those whose class counts are people
    people_total: People
    people_countable: People
    # Share of the countable people whose label is the most frequent of their leaf, and certain if
    # the attacker knows r others of it, drawn at random
    share_certain_random_known: tuple[Share, ...]
    # How certain the best guess in a person's leaf is if the attacker knows the r best others, on
    # average over the countable people
    mean_certainty_by_known: tuple[Share, ...]
    # Countable leaves of several labels, and the people in them. The next four are empty where
    # there are none.
    mixed_leaves: People
    mixed_people: People
    # The highest certainty in any mixed leaf for r known others
    worst_case_certainty_by_known: tuple[Share, ...]
    # The same for labels that are ruled out, and for implications
    certainty_by_negations: tuple[Share, ...]
    certainty_by_implications: tuple[Share, ...]
    # The same for nothing, for one piece of each kind, and for one of all
    skyline: tuple[Knowledge, ...]
    # With known people, and with a public prior
    known: KnownPeople | None = only_if_given()
    prior: PublicPrior | None = only_if_given()


_NEARLY = 0.95
"""From this certainty on there is nothing left to draw."""
_OTHERS = {1: "one other person in the leaf", 10: "ten others in the leaf"}


def view(result: Finding | Skipped, report: Report) -> View:
    """Return the curves over what is known, and what known people and a prior disclosed."""
    if isinstance(result, Skipped):
        # Where the labels were skipped too, their rung has said why.
        labels = any(finding.id == "TA102" for finding in report.findings)
        knows = "other people in the leaf"
        return View(rungs=(skipped_rung(knows, result),) if labels else ())
    details = details_of(result, BackgroundDetails)
    curve = details.people_disclosed_by_known
    one, most = details.disclosed_by_one_in_any_tree, details.disclosed_by_most_in_any_tree
    certainty = _certainties(details)
    flat = bool(certainty) and certainty[0].values[0] >= _NEARLY
    curves = [_people(details)] + ([] if flat else [_certainty(certainty)])
    return View(
        brief=say("{} by knowing one", People(curve[1] - curve[0])),
        figure=Figure(
            number=People(result.people, "more person", "more people"),
            counts="disclosed once one other in the leaf is known"
            + in_worst_tree(report, one, labels=True),
        ),
        rungs=(
            *_rungs(curve, [in_any(report, distinct, labels=True) for distinct in (one, most)]),
            *_given(details),
        ),
        facts=(
            *_known(details.known),
            *_prior(details.prior),
            *(_already(certainty) if flat else ()),
        ),
        curves=tuple(one for one in curves if one is not None),
    )


def _rungs(curve: Sequence[int], over: Sequence[Phrase]) -> Iterator[Rung]:
    last = len(curve) - 1
    for r, any_tree in zip(dict.fromkeys((1, last)), over, strict=False):
        if r <= last:
            yield Rung(
                knows=say(_OTHERS.get(r, f"{r} others in the leaf")),
                number=People(curve[r] - curve[0], "more person", "more people"),
                follows=say("disclosed{}", any_tree),
                nobody="more disclosed",
            )


def _given(details: BackgroundDetails) -> Iterator[Rung]:
    """Return what the people and the prior that were given disclose."""
    known, prior = details.known, details.prior
    if known is not None and known.reason is None:
        yield Rung(
            knows=say("the known people ({})", People.alone(known.records)),
            number=People(known.people_falling, "more person", "more people"),
            follows=say("disclosed"),
            nobody="more disclosed",
        )
    if prior is not None:
        yield Rung(
            knows=say("a public prior"),
            number=People(prior.people_because_of_prior_at_most, "more person", "more people"),
            follows=say("nearly certain"),
            at_most=prior.people_because_of_prior is None,
        )


def _people(details: BackgroundDetails) -> Curve | None:
    worst, countable = details.people_disclosed_by_known, details.people_countable
    if worst[-1] == worst[0] == 0:
        return None
    random = [People(round(share * countable)) for share in details.share_certain_random_known]
    drawn = [
        ("the best others are known", worst),
        ("others at random are known", random),
    ]
    title = "People whose label is certain when"
    return Curve(
        title=title,
        name=f"{title} others are known",
        axis="how many others in the leaf the attacker knows",
        series=tuple(
            Series(name=name, values=tuple(people)) for name, people in drawn if len(people) > 1
        ),
    )


@dataclass(frozen=True, slots=True)
class _Certainty:
    """How certain a label becomes by pieces of some knowledge, and by one of them."""

    pieces: str
    one: str
    values: tuple[Share, ...]


def _certainties(details: BackgroundDetails) -> tuple[_Certainty, ...]:
    known, ruled_out = details.worst_case_certainty_by_known, details.certainty_by_negations
    every = (
        _Certainty("others known", "with one other person known", known),
        _Certainty("labels ruled out", "with one label ruled out", ruled_out),
        _Certainty(
            "rules between people",
            "with one rule such as A ill, so B ill",
            details.certainty_by_implications,
        ),
    )
    return tuple(one for one in every if len(one.values) > 1)


def _certainty(told: Sequence[_Certainty]) -> Curve | None:
    if not told:
        return None
    title = "Certainty in the worst leaf of several labels, by"
    return Curve(
        title=title,
        name=f"{title} what is known",
        axis="pieces of knowledge",
        series=tuple(Series(name=one.pieces, values=one.values) for one in told),
        most=1.0,
    )


def _already(told: Sequence[_Certainty]) -> tuple[tuple[str, Phrase]]:
    """Return the certainties in a sentence, where a drawing would be a flat line."""
    parts = [say(f"{{}} {one.one}", one.values[1]) for one in told]
    places = ", ".join("{}" for _ in parts)
    said = say(
        f"in the worst leaf of several labels {{}} by the file alone; {places}",
        told[0].values[0], *parts,
    )  # fmt: skip
    return (("Certainty", said),)


def _known(known: KnownPeople | None) -> Iterator[tuple[str, Phrase]]:
    if known is None:
        return
    people, origin, falling = known.records, known.origin[:80], known.people_falling
    if known.reason is not None:
        yield "Known people", say("{} of {}: {}", people, origin, known.reason)
        return
    text = "{} of {}: {} disclosed"
    parts: list[object] = [people, origin, falling or "nobody else"]
    if known.followed == "leaves" and known.trees > 1:
        text += " in the tree with the most"
    at_once, later = known.people_falling_at_once, known.people_falling_as_a_consequence
    if falling and at_once is not None and later is not None:
        text += ", {} at once and {} as a consequence"
        parts += [People.alone(at_once), People.alone(later)]
    yield "Known people", say(text, *parts)


def _prior(prior: PublicPrior | None) -> Iterator[tuple[str, Phrase]]:
    if prior is None:
        return
    method = say("exact")
    if prior.leaves_estimated:
        method = say("the Ω-estimate in {} of three or more labels", prior.leaves_estimated)
    yield (
        "Public prior",
        say(
            "{}{}: {}{} become at least {}% certain because of it; {}",
            prior.origin[:80], f" ({prior.column[:60]})" if prior.column else "",
            "at most " if prior.people_because_of_prior is None else "",
            prior.people_because_of_prior_at_most, 100 * prior.certainty, method,
        ),
    )  # fmt: skip
