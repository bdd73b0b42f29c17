"""TA104 and TA105 drawn: what is inferred of members, beside unseen people and guesses."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from treeaudit.findings import Control, Finding
from treeaudit.reports.block import Blocks
from treeaudit.reports.masking import Numbers
from treeaudit.reports.plain_text import plain
from treeaudit.reports.whiskers import Kind, Line, Mark, Plot, share_line, whiskers
from treeaudit.stats import Estimate

__all__ = ["attributes", "membership"]

_MOST_COLUMNS = 12


def attributes(finding: Finding, numbers: Numbers) -> Blocks:
    """Return a row per column: found with the model, on unseen people, without the model."""
    given = set(finding.details.get("given_away", ()))
    order = sorted(
        finding.controls,
        key=lambda c: (c.of not in given, 0.0 if c.excess is None else -c.excess.value),
    )
    rows = [_column(control, control.of in given, numbers) for control in order[:_MOST_COLUMNS]]
    if not rows:
        return Blocks()
    left = len(order) - len(rows)
    said = "Square: training people, with the model. Dot: unseen people, with the model. Ring: "
    said += "unseen people, guessed without the model. Lines: 95 % intervals."
    if left:
        said += f" {left:,} more in report.json."
    plot = Plot(
        title="Values found, column by column",
        lines=tuple(rows),
        heads=("members", "unseen", "guess"),
        told=True,
        sentences=(said,),
        more=() if numbers.safe else tuple(control.sentence for control in order),
    )
    return Blocks(plots=(plot,))


def _column(control: Control, given: bool, numbers: Numbers) -> Line:
    """Return a row for a column: with the model, on unseen people, without the model."""
    guess = control.baselines.get("guess without the model")
    shares: list[tuple[Kind, Estimate | None]] = [
        ("guess", guess),
        ("unseen", control.control),
        ("claim", control.claim),
    ]
    told = {kind: None if share is None else numbers.estimate(share) for kind, share in shares}
    marks = [
        Mark(kind=kind, value=share.value, low=share.low, high=share.high)
        for kind, _ in shares
        if (share := told[kind]) is not None
    ]
    cells = tuple(
        "–" if (share := told[kind]) is None else numbers.rate(share)
        for kind in ("claim", "unseen", "guess")
    )
    name = plain(control.of, 60) + (" (given away)" if given else "")
    return Line(name=name, graph=whiskers(marks), cells=cells)


_TESTS = {"loss": "Loss of the model", "lira": "LiRA, shadow models"}
_RATES = {
    "tpr_at_1_percent_fpr": ("Members recognised at 1 % false alarms", 0.01),
    "tpr_at_0_1_percent_fpr": ("Members recognised at 0.1 % false alarms", 0.001),
}


def membership(finding: Finding, numbers: Numbers) -> Blocks:
    """Return how well each test tells members, with its interval and what chance gives."""
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
        sentences=_non_members(details, numbers),
    )
    rates = []
    for key, (title, chance) in _RATES.items():
        rows = tuple(
            _measured(name, found, key, people[0], chance, numbers) for name, found in tests.items()
        )
        said = tuple(c.sentence for c in finding.controls if chance == 0.01 and not numbers.safe)
        if any(row.graph for row in rows):
            rates.append(Plot(title=title, lines=rows, sentences=said))
        else:
            reason = f"Not told: {_refused(details, key, numbers)}."
            rates.append(Plot(title=title, lines=(), sentences=(reason,)))
    return Blocks(plots=(told_apart, *rates))


def _measured(
    name: str, found: Mapping[str, Any], key: str, n: int, chance: float, numbers: Numbers
) -> Line:
    """Return a row of a membership test, or why it has no number."""
    value = found.get(key)
    if value is None:
        reason = str(found.get("reason") or _refused(found, key, numbers))
        return Line(name=name, graph=Markup(""), cells=(numbers.text(reason),))
    share = Estimate(
        value=float(value),
        low=float(found.get(f"{key}_low", value)),
        high=float(found.get(f"{key}_high", value)),
        n=n,
    )
    kind: Kind = "unseen" if name == "Counts of leaves" else "guess"
    return share_line(name, kind, share, numbers, chance)


def _refused(found: Mapping[str, Any], key: str, numbers: Numbers) -> str:
    """Return why a rate is not told; the sentence of the attack holds exact numbers."""
    few = "too few control people"
    return few if numbers.safe else str(found.get("refused", {}).get(key, few))


def _non_members(details: Mapping[str, Any], numbers: Numbers) -> tuple[str, ...]:
    n, control = int(details.get("certain_non_members", 0)), int(details.get("control", 0))
    if not n:
        return ()
    who = "person is" if numbers.count(n) == "1" else "people are"
    said = f"{numbers.count(n)} of {numbers.count(control)} unseen {who} certainly not in the "
    return (f"{said}training data: the file excludes them without any doubt.",)
