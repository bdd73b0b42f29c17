"""TA101 and TA110 drawn: what singles people out, the risk outside the data, further columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from treeaudit.findings import Finding
from treeaudit.reports.block import Blocks
from treeaudit.reports.charts import strip
from treeaudit.reports.masking import Numbers, percent
from treeaudit.reports.plain_text import plain
from treeaudit.reports.whiskers import Line, Plot
from treeaudit.stats import Estimate

__all__ = ["sensitive", "singling_out"]

_MOST_FEATURES = 8


def singling_out(finding: Finding, numbers: Numbers) -> Blocks:
    """Return contributions of features, risks and uniqueness in the population."""
    plot = _contribution(finding.details.get("contribution") or (), numbers)
    facts = () if numbers.safe else (*_risks(finding.details), *_population(finding.details))
    return Blocks(facts=facts, plots=() if plot is None else (plot,))


def sensitive(finding: Finding, numbers: Numbers) -> Blocks:
    """Return a row per further column: for how many people its value follows from the leaf.

    A safe copy leaves it out: values of groups would tell who is in them.
    """
    columns = finding.details.get("columns") or ()
    if numbers.safe or not columns:
        return Blocks()
    rows = [
        Line(
            name=plain(str(entry["column"]), 60),
            graph=strip([("part", float(entry["certain_share"]))]),
            cells=(
                percent(float(entry["certain_share"])),
                f"{entry['homogeneous_leaves']:,}",
                f"{entry['t_closeness']:.2f}",
            ),
        )
        for entry in columns
    ]
    plot = Plot(
        title="People whose value follows from their leaf",
        lines=tuple(rows),
        heads=("people", "leaves", "t"),
        told=True,
        sentences=(
            "Leaves in which everybody has the same value; t is the largest distance of a leaf "
            "from everybody (t-closeness).",
        ),
    )
    return Blocks(plots=(plot,))


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
                    cells=(numbers.rate(told),),
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
    return Plot(
        title=title, lines=tuple(rows[:_MOST_FEATURES]), heads=("share",), sentences=(said,)
    )


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
