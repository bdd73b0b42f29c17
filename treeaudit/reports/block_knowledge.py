"""TA103 drawn: who falls and how certain a label becomes, the more is known."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from treeaudit.findings import Finding
from treeaudit.reports.block import Blocks, Chart
from treeaudit.reports.lines import Series, lines
from treeaudit.reports.masking import Numbers, percent
from treeaudit.reports.plain_text import plain

__all__ = ["knowledge"]

_NEARLY = 0.95
"""From this certainty on there is nothing left to draw."""
_ONE = {
    "others known": "with one other person known",
    "labels ruled out": "with one label ruled out",
    "implications": "with one implication",
}
_CERTAINTIES = {
    "worst_case_certainty_by_known": "others known",
    "certainty_by_negations": "labels ruled out",
    "certainty_by_implications": "implications",
}


def knowledge(finding: Finding, numbers: Numbers) -> Blocks:
    """Return the curves over what is known, and what known people and a prior disclosed.

    A safe copy leaves the certainties out, which are those of single leaves, and
    the averages, which tell small groups apart.
    """
    details = finding.details
    charts = [_people(details, numbers)]
    facts = [*_known(details.get("known"), numbers), *_prior(details.get("prior"), numbers)]
    if not numbers.safe:
        told = _told(details)
        start = next(iter(told.values()), [1.0])[0]
        if start < _NEARLY:
            charts.append(_certainty(told))
        elif told:
            facts.append(("Certainty", _already(told)))
    return Blocks(facts=tuple(facts), charts=tuple(chart for chart in charts if chart is not None))


def _people(details: Mapping[str, Any], numbers: Numbers) -> Chart | None:
    worst: Sequence[int] = details.get("people_disclosed_by_known") or ()
    if len(worst) < 2 or worst[-1] == worst[0] == 0:
        return None
    countable = details.get("people_countable", 0)
    shares = () if numbers.safe else details.get("share_certain_random_known") or ()
    random = [round(share * countable) for share in shares]
    drawn = {"the best others are known": worst, "others at random are known": random}
    title = "People whose label is certain when"
    svg = lines(
        [
            Series(
                name=name,
                values=[numbers.rounded(n) for n in people],
                texts=[numbers.count(n) for n in people],
            )
            for name, people in drawn.items()
            if len(people) > 1
        ],
        name=f"{title} others are known",
        axis="how many others in the leaf the attacker knows",
    )
    return Chart(title=title, svg=svg)


def _told(details: Mapping[str, Any]) -> dict[str, Sequence[float]]:
    return {
        name: details[key]
        for key, name in _CERTAINTIES.items()
        if len(details.get(key) or ()) > 1 and None not in details[key]
    }


def _certainty(told: Mapping[str, Sequence[float]]) -> Chart:
    title = "Certainty in the worst leaf of several labels, by"
    svg = lines(
        [
            Series(name=name, values=values, texts=[percent(value) for value in values])
            for name, values in told.items()
        ],
        name=f"{title} what is known",
        axis="pieces of knowledge",
        most=1.0,
    )
    return Chart(title=title, svg=svg)


def _already(told: Mapping[str, Sequence[float]]) -> str:
    """Return the certainties in a sentence, where a drawing would be a flat line."""
    parts = [f"{percent(values[1])} {_ONE[name]}" for name, values in told.items()]
    start = percent(next(iter(told.values()))[0])
    return f"in the worst leaf of several labels {start} by the file alone; {', '.join(parts)}"


def _known(known: Mapping[str, Any] | None, numbers: Numbers) -> Iterator[tuple[str, str]]:
    if not known:
        return
    origin = plain(str(known.get("origin", "")), 80)
    text = f"{numbers.people(int(known.get('records', 0)))} of {origin}"
    if known.get("reason"):
        yield "Known people", f"{text}: {numbers.text(str(known['reason']))}"
        return
    falling = int(known.get("people_falling", 0))
    text += f": {numbers.people(falling) if falling else 'nobody else'} disclosed"
    if known.get("followed") == "leaves":
        text += ", summed over trees"
    if falling and "people_falling_at_once" in known:
        once, later = known["people_falling_at_once"], known["people_falling_as_a_consequence"]
        text += f", {numbers.count(once)} at once and {numbers.count(later)} as a consequence"
    yield "Known people", text


def _prior(prior: Mapping[str, Any] | None, numbers: Numbers) -> Iterator[tuple[str, str]]:
    if not prior:
        return
    because, at_most = prior.get("people_because_of_prior"), ""
    if because is None:
        because, at_most = prior.get("people_because_of_prior_at_most", 0), "at most "
    origin = plain(str(prior.get("origin", "")), 80)
    column = plain(str(prior.get("column", "")), 60)
    yield (
        "Public prior",
        f"{origin} ({column}): {at_most}{numbers.people(int(because))} become at least "
        f"{percent(float(prior.get('certainty', 0.95)))} certain because of it; "
        f"{plain(str(prior.get('method', '')), 160)}",
    )
