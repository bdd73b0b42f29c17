"""What a differentially private model claims, in words: epsilon, neighbours and ledger."""

from dataclasses import replace
from math import isfinite

from treeaudit.dp.claims import unbounded_because
from treeaudit.dp.ledger import Ledger
from treeaudit.errors import DataError
from treeaudit.findings.checks import delta, epsilon, protects_records
from treeaudit.findings.report import Report
from treeaudit.model.forest import Forest
from treeaudit.model.words import loss_in_words
from treeaudit.reports.plain_text import plain

__all__ = ["bounded_by", "claim", "spent"]

_MEANS = {
    "add-remove": "one {} more or less",
    "replace-one": "one {} in the place of another",
}
_MOST = 12
"""Questions that are listed one by one."""


def bounded_by(forest: Forest) -> str:
    """Return the epsilon that bounds what a model gives away, or nothing."""
    value = epsilon(forest)
    return loss_in_words(value, delta(forest)) if isfinite(value) else ""


def claim(forest: Forest) -> str:
    """Return what a model says of its privacy, which an audit does not test; or nothing.

    Examples
    --------
    >>> import treeaudit as ta
    >>> from treeaudit.model.tree import Tree
    >>> tree = Tree(parent=[-1], feature=[-1], low=[0], high=[0])
    >>> private = {"epsilon": 0.5, "neighbours": "add-remove", "variant": "sound"}
    >>> model = ta.Forest(trees=(tree,), schema=ta.Schema.numeric(1), privacy=private)
    >>> claim(model)[:79]
    'not bounded: the ledger does not name its unit, a record or a person: train the'
    """
    privacy = forest.privacy
    if privacy is None:
        return ""
    stated = privacy.get("epsilon")
    chance = privacy.get("delta")
    text = "no epsilon told"
    if isinstance(stated, int | float):
        text = loss_in_words(stated, chance if isinstance(chance, int | float) else 0)
    neighbours = plain(str(privacy.get("neighbours") or ""), 40)
    if neighbours:
        one = "record" if protects_records(forest) else "person"
        text += f" for {_MEANS.get(neighbours, 'neighbours').format(one)} ({neighbours})"
    because = unbounded_because(forest)
    if because is None:
        return f"{text}, a claim of the file, not tested"
    stated = privacy.get("reasons")
    each = stated if isinstance(stated, list | tuple) else ()
    reasons = "; ".join(plain(str(reason), 200) for reason in each)
    why = f"not private: {reasons}" if reasons else f"not bounded: {because}"
    return f"{why} ({text} is printed in the file)"


def counting(report: Report) -> str:
    """Return what an audit counts, and what a claimed epsilon protects."""
    text = report.unit.sentence
    if report.unit.counts_persons:
        text += "; counts per label are of records"
    if report.forest.privacy is None:
        return text
    if not protects_records(report.forest):
        return f"{text}; its epsilon is for one {plain(str(report.forest.privacy.get('unit')), 60)}"
    if report.unit.counts_persons:
        most = report.unit.most
        return f"{text}; its epsilon is for one record, and {most:,} times that for a person"
    return f"{text}; its epsilon is for one record: a record is the unit"


def spent(forest: Forest) -> list[tuple[str, str]]:
    """Return what each question of the ledger costs, and what was asked; nothing if damaged.

    Examples
    --------
    >>> import treeaudit as ta
    >>> from fractions import Fraction
    >>> from treeaudit.dp import Ledger, Query
    >>> from treeaudit.model.tree import Tree
    >>> tree = Tree(parent=[-1], feature=[-1], low=[0], high=[0])
    >>> counts = Query(name="counts", mechanism="discrete Laplace", epsilon=Fraction(1, 2),
    ...                sensitivity=Fraction(1), composition="sequential", asked=2)
    >>> private = Ledger(queries=(counts,), budget=Fraction(1)).to_plain()
    >>> spent(ta.Forest(trees=(tree,), schema=ta.Schema.numeric(1), privacy=private))
    [('1', 'counts (discrete Laplace)')]
    """
    if forest.privacy is None:
        return []
    from treeaudit.dp.ledger import Ledger  # which no model needs that claims nothing

    try:
        whole = Ledger.from_plain(forest.privacy)
    except DataError:
        return []
    asked, as_rho = whole.queries, bool(whole.rho)
    told = [
        (
            _cost(replace(whole, queries=(q,)), as_rho=as_rho),
            f"{plain(q.name, 80)} ({plain(q.mechanism, 60)})",
        )
        for q in asked[:_MOST]
    ]
    if len(asked) > _MOST:
        cost = _cost(replace(whole, queries=asked[_MOST:]), as_rho=as_rho)
        told.append((cost, f"{len(asked) - _MOST:,} more questions"))
    return told


def _cost(some: "Ledger", *, as_rho: bool) -> str:
    """Return what some rows cost, as what adds up."""
    if as_rho:
        return f"rho {float(sum(query.concentrated for query in some.queries)):.4g}"
    return f"{float(some.epsilon):.4g}"
