"""What the details of an attack are drawn as; a detail that is not there draws nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from treeaudit.findings import Estimate, Finding
from treeaudit.reports.charts import strip
from treeaudit.reports.lines import Series, lines
from treeaudit.reports.masking import Numbers, percent
from treeaudit.reports.terminal import plain
from treeaudit.reports.whiskers import Kind, Line, Plot, share_line

__all__ = ["Blocks", "blocks"]

_MOST_FEATURES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """What a card shows beside its words.

    Attributes
    ----------
    facts
        Further measures, name and text.
    plots
        Shares on a common scale.
    charts
        Drawings.
    """

    facts: tuple[tuple[str, str], ...] = ()
    plots: tuple[Plot, ...] = ()
    charts: tuple[Markup, ...] = field(default=())


def blocks(finding: Finding, numbers: Numbers) -> Blocks:
    """Return what the details of a finding are drawn as."""
    draw = _DRAWN.get(finding.id)
    return Blocks() if draw is None else draw(finding, numbers)


def _singling_out(finding: Finding, numbers: Numbers) -> Blocks:
    plot = _contribution(finding.details.get("contribution") or (), numbers)
    facts = () if numbers.safe else (*_risks(finding.details), *_population(finding.details))
    return Blocks(facts=facts, plots=() if plot is None else (plot,))


def _contribution(entries: Sequence[Mapping[str, Any]], numbers: Numbers) -> Plot | None:
    """Return which features single people out, the most important first.

    A safe copy leaves out a feature that tells of fewer than k people.
    """
    tried = bool(entries) and entries[0].get("hidden_share") is not None
    total = round(entries[0]["people"] / entries[0]["share"]) if entries else 0
    n = int(entries[0].get("hidden_n") or total) if tried else total
    rows = []
    for entry in entries:
        share = float(entry["hidden_share"] if tried else entry["last_split_share"])
        if not share or numbers.hides(int(entry["people"])) or numbers.hides(round(share * n)):
            continue
        told = numbers.estimate(Estimate(value=share, low=share, high=share, n=n))
        if told is not None:
            rows.append(
                Line(
                    name=plain(str(entry["feature"]), 60),
                    graph=strip([("part", told.value)]),
                    value=numbers.rate(told),
                )
            )
    if not rows:
        return None
    if tried:
        title = "What singles them out: left out of the rule, it would hide"
        said = f"Share of the {numbers.people(n)} below {numbers.k} who would be among at least "
        said += f"{numbers.k} if this one feature were left out of the rule of their leaf."
    else:
        title = "What singles them out: the last condition on the way"
        said = f"Share of the {numbers.people(n)} below {numbers.k} whom this feature alone, as "
        said += f"the last condition of their rule, puts below {numbers.k}."
    return Plot(title=title, lines=tuple(rows[:_MOST_FEATURES]), sentence=said)


def _risks(details: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    found = details.get("risks")
    if not found:
        return
    who = {
        "prosecutor": ("Prosecutor", "knows that the target is in the data"),
        "journalist": ("Journalist", "does not know whether the target is in the data"),
    }
    for name, (title, knows) in who.items():
        risk = found.get(name)
        if risk is not None:
            yield (
                title,
                f"{knows}: a match is right with {percent(risk['highest'])} for the most exposed "
                f"person, {percent(risk['average'])} on average; "
                f"{percent(risk['above_threshold'])} of the people are above "
                f"{percent(found['threshold'])}",
            )
    yield (
        "Marketer",
        f"tries everybody: {percent(found['marketer'])} of the matches are right"
        + (", an estimate" if found.get("estimated") else ""),
    )


_ESTIMATORS = {"pitman": "Pitman", "zayatz": "Zayatz", "slide_negative_binomial": "SNB"}


def _population(details: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    found = details.get("population")
    if not found:
        return
    both = [
        f"{value:,.1f} ({_ESTIMATORS.get(name, name)})"
        for name, value in found["alone_in_both"].items()
        if value is not None
    ]
    alone = f"of {found['alone_in_data']:,} alone in the data"
    if both:
        text = f"{alone}, {', '.join(both)} are alone among {found['people']:,} people as well"
        yield "Population", f"{text}; {found['assumes']}"
    others = found.get("others_per_unique_leaf")
    if others:
        yield (
            "Lookalikes",
            f"{others['value']:,.1f} ({others['low']:,.1f}–{others['high']:,.1f}) further people "
            f"of the population for each leaf of one person, by {others['n']:,} unseen people",
        )


def _background(finding: Finding, numbers: Numbers) -> Blocks:
    values = finding.details.get("people_disclosed_by_known")
    if not values or len(values) < 2 or finding.status == "clear":
        return Blocks()
    worst = Series(
        name="People disclosed, fewest others known",
        values=[numbers.rounded(n) for n in values],
        texts=[numbers.count(n) for n in values],
    )
    chart = lines(
        [worst],
        name="People disclosed by the number of others that the attacker knows",
        axis="other people in the leaf whom the attacker knows",
    )
    return Blocks(charts=(chart,))


_TESTS = {"loss": "Loss of the model", "lira": "LiRA, shadow models"}
_RATES = {
    "tpr_at_1_percent_fpr": ("Members recognised at 1 % false alarms", 0.01),
    "tpr_at_0_1_percent_fpr": ("Members recognised at 0.1 % false alarms", 0.001),
}


def _membership(finding: Finding, numbers: Numbers) -> Blocks:
    details = finding.details
    if "auc" not in details:
        return Blocks()
    tests = {"Counts of leaves": details} | {
        _TESTS.get(name, name): found for name, found in details.get("references", {}).items()
    }
    people = int(details.get("members", 0)), int(details.get("control", 0))
    told_apart = Plot(
        title="A member told from somebody else (AUC; a coin has 50 %)",
        lines=tuple(
            _measured(name, found, "auc", sum(people), 0.5, numbers)
            for name, found in tests.items()
        ),
        sentence=_non_members(details, numbers),
    )
    rates = []
    for key, (title, chance) in _RATES.items():
        rows = tuple(
            _measured(name, found, key, people[0], chance, numbers) for name, found in tests.items()
        )
        said = " ".join(c.sentence for c in finding.controls) if chance == 0.01 else ""
        if any(row.graph for row in rows):
            rates.append(Plot(title=title, lines=rows, sentence="" if numbers.safe else said))
        else:
            reason = details.get("refused", {}).get(key, "too few control people")
            rates.append(Plot(title=title, lines=(), sentence=f"Not told: {numbers.text(reason)}."))
    return Blocks(plots=(told_apart, *rates))


def _measured(
    name: str, found: Mapping[str, Any], key: str, n: int, chance: float, numbers: Numbers
) -> Line:
    """Return a row of a membership test, or why it has no number."""
    value = found.get(key)
    if value is None:
        reason = found.get("reason") or found.get("refused", {}).get(key, "not measured")
        return Line(name=name, graph=Markup(""), value=numbers.text(str(reason)))
    share = Estimate(
        value=float(value),
        low=float(found.get(f"{key}_low", value)),
        high=float(found.get(f"{key}_high", value)),
        n=n,
    )
    kind: Kind = "unseen" if name == "Counts of leaves" else "guess"
    return share_line(name, kind, share, numbers, chance)


def _non_members(details: Mapping[str, Any], numbers: Numbers) -> str:
    n, control = int(details.get("certain_non_members", 0)), int(details.get("control", 0))
    if not n:
        return ""
    who = "person is" if numbers.count(n) == "1" else "people are"
    return (
        f"{numbers.count(n)} of {numbers.count(control)} unseen {who} certainly not in the "
        "training data: the file excludes them without any doubt."
    )


_DRAWN: Mapping[str, Callable[[Finding, Numbers], Blocks]] = {
    "TA101": _singling_out,
    "TA103": _background,
    "TA105": _membership,
}
