"""What TA103 shows: who falls and how certain a label becomes, the more is known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treeaudit.attacks.background.details import BackgroundDetails, KnownPeople, PublicPrior
from treeaudit.attacks.distinct_people import in_any, rung_not_run, where
from treeaudit.findings.findings import Finding, Skipped, details_of
from treeaudit.findings.numbers import People, Phrase, Share, say
from treeaudit.findings.report import Report
from treeaudit.findings.view import Curve, Figure, Rung, Series, View

_NEARLY = 0.95
"""From this certainty on there is nothing left to draw."""
_OTHERS = {1: "one other person in the leaf", 10: "ten others in the leaf"}


def view(result: Finding | Skipped, report: Report) -> View:
    """Return the curves over what is known, and what known people and a prior disclosed."""
    if isinstance(result, Skipped):
        # Where the labels were skipped too, their rung has said why.
        labels = any(finding.id == "TA102" for finding in report.findings)
        knows = "other people in the leaf"
        return View(rungs=(rung_not_run(knows, result),) if labels else ())
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
            + where(report, one, labels=True),
        ),
        rungs=(
            *_rungs(curve, [in_any(report, once, labels=True) for once in (one, most)]),
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
