"""What TA103 shows: who falls and how certain a label becomes, the more is known."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from treeaudit.attacks.showing import over_trees, rung_not_run
from treeaudit.findings import Finding, Skipped
from treeaudit.numbers import People, Phrase, Prose, Share, say
from treeaudit.report import Report
from treeaudit.view import Curve, Figure, Rung, Series, View

__all__ = ["view"]

_NEARLY = 0.95
"""From this certainty on there is nothing left to draw."""
_CERTAINTIES = {
    "worst_case_certainty_by_known": ("others known", "with one other person known"),
    "certainty_by_negations": ("labels ruled out", "with one label ruled out"),
    "certainty_by_implications": ("implications", "with one implication"),
}
_OTHERS = {1: "one other person in the leaf", 10: "ten others in the leaf"}


def view(result: Finding | Skipped, report: Report) -> View:
    """Return the curves over what is known, and what known people and a prior disclosed.

    A safe copy leaves the certainties out, which are those of single leaves, and
    the averages, which tell small groups apart.
    """
    if isinstance(result, Skipped):
        # Where the labels were skipped too, their rung has said why.
        labels = any(finding.id == "TA102" for finding in report.findings)
        knows = "other people in the leaf"
        return View(rungs=(rung_not_run(knows, result),) if labels else ())
    details = result.details
    curve: Sequence[int] = details["people_disclosed_by_known"]
    many = "" if report.forest.n_trees == 1 else ", summed over all trees"
    certainty, known, prior = _certainties(details), details.get("known"), details.get("prior")
    flat = bool(certainty) and next(iter(certainty.values()))[0] >= _NEARLY
    curves = [_people(details)] + ([] if flat else [_certainty(certainty)])
    return View(
        brief=say("{} by knowing one", People(curve[1] - curve[0])),
        figure=Figure(
            number=People(result.people, "more person", "more people"),
            counts=f"disclosed once one other in the leaf is known{many}",
        ),
        rungs=(*_rungs(curve, over_trees(report)), *_given(known, prior)),
        facts=(*_known(known), *_prior(prior), *(_already(certainty) if flat else ())),
        curves=tuple(one for one in curves if one is not None),
    )


def _rungs(curve: Sequence[int], over: str) -> Iterator[Rung]:
    last = len(curve) - 1
    for r in dict.fromkeys((1, last)):
        if r <= last:
            yield Rung(
                knows=say(_OTHERS.get(r, f"{r} others in the leaf")),
                number=People(curve[r] - curve[0], "more person", "more people"),
                follows=say("disclosed{}", over),
                nobody=f"more disclosed{over}",
            )


def _given(known: Mapping[str, Any] | None, prior: Mapping[str, Any] | None) -> Iterator[Rung]:
    """Return what the people and the prior that were given disclose."""
    if known and not known.get("reason"):
        yield Rung(
            knows=say("the known people ({})", People.alone(known.get("records", 0))),
            number=People(known.get("people_falling", 0), "more person", "more people"),
            follows=say("disclosed"),
            nobody="more disclosed",
        )
    if prior:
        exact = prior.get("people_because_of_prior")
        people = prior.get("people_because_of_prior_at_most", 0) if exact is None else exact
        yield Rung(
            knows=say("a public prior"),
            number=People(int(people), "more person", "more people"),
            follows=say("nearly certain"),
            at_most=exact is None,
        )


def _people(details: Mapping[str, Any]) -> Curve | None:
    worst: Sequence[int] = details["people_disclosed_by_known"]
    if worst[-1] == worst[0] == 0:
        return None
    countable = details["people_countable"]
    random = [round(share * countable) for share in details["share_certain_random_known"]]
    drawn = [
        ("the best others are known", worst, False),
        ("others at random are known", random, True),
    ]
    title = "People whose label is certain when"
    return Curve(
        title=title,
        name=f"{title} others are known",
        axis="how many others in the leaf the attacker knows",
        series=tuple(
            Series(name=name, values=tuple(map(People, people)), exact=exact)
            for name, people, exact in drawn
            if len(people) > 1
        ),
    )


def _certainties(details: Mapping[str, Any]) -> dict[str, Sequence[float]]:
    return {
        key: details[key]
        for key in _CERTAINTIES
        if len(details[key]) > 1 and None not in details[key]
    }


def _certainty(told: Mapping[str, Sequence[float]]) -> Curve | None:
    if not told:
        return None
    title = "Certainty in the worst leaf of several labels, by"
    return Curve(
        title=title,
        name=f"{title} what is known",
        axis="pieces of knowledge",
        series=tuple(
            Series(name=_CERTAINTIES[key][0], values=tuple(values)) for key, values in told.items()
        ),
        most=1.0,
        exact=True,
    )


def _already(told: Mapping[str, Sequence[float]]) -> tuple[tuple[str, Phrase]]:
    """Return the certainties in a sentence, where a drawing would be a flat line."""
    parts = [say(f"{{}} {_CERTAINTIES[key][1]}", Share(values[1])) for key, values in told.items()]
    places = ", ".join("{}" for _ in parts)
    said = say(
        f"in the worst leaf of several labels {{}} by the file alone; {places}",
        Share(next(iter(told.values()))[0]), *parts, exact=True,
    )  # fmt: skip
    return (("Certainty", said),)


def _known(known: Mapping[str, Any] | None) -> Iterator[tuple[str, Phrase]]:
    if not known:
        return
    people, origin = People(known.get("records", 0)), str(known.get("origin", ""))[:80]
    if known.get("reason"):
        yield "Known people", say("{} of {}: {}", people, origin, Prose(known["reason"]))
        return
    falling = int(known.get("people_falling", 0))
    text = "{} of {}: {} disclosed"
    parts: list[object] = [people, origin, People(falling) if falling else "nobody else"]
    if known.get("followed") == "leaves":
        text += ", summed over trees"
    if falling and "people_falling_at_once" in known:
        text += ", {} at once and {} as a consequence"
        parts += [
            People.alone(known["people_falling_at_once"]),
            People.alone(known["people_falling_as_a_consequence"]),
        ]
    yield "Known people", say(text, *parts)


def _prior(prior: Mapping[str, Any] | None) -> Iterator[tuple[str, Phrase]]:
    if not prior:
        return
    because, at_most = prior.get("people_because_of_prior"), ""
    if because is None:
        because, at_most = prior.get("people_because_of_prior_at_most", 0), "at most "
    yield (
        "Public prior",
        say(
            "{} ({}): {}{} become at least {}% certain because of it; {}",
            str(prior.get("origin", ""))[:80], str(prior.get("column", ""))[:60], at_most,
            People(int(because)), 100 * float(prior.get("certainty", 0.95)),
            str(prior.get("method", ""))[:160],
        ),
    )  # fmt: skip
