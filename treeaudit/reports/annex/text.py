"""The annex as lines of text, for Markdown."""

from collections.abc import Callable, Iterable, Iterator

from treeaudit.reports.annex import Annex, Anonymity


def markdown_of(annex: Annex, escaped: Callable[[str], str]) -> Iterator[str]:
    """Yield the blocks of an annex; every text of a model goes through ``escaped``."""
    yield "### Annex"
    yield escaped(annex.note)
    if annex.edpb is not None:
        yield from _anonymity(annex.edpb, escaped)
    if annex.satre is not None:
        yield "**Record of the output check** (SATRE, section 3.3)"
        yield _listed(((one.name, one.value) for one in annex.satre), escaped)
    if annex.dp is not None:
        yield "**Differential privacy** (the elements of NIST SP 800-226)"
        if annex.dp.elements:
            told = ((one.name, f"{one.value} ({one.basis})") for one in annex.dp.elements)
            yield _listed(told, escaped)
        yield _listed((("Known gap", gap) for gap in annex.dp.gaps), escaped)


def _anonymity(told: Anonymity, escaped: Callable[[str], str]) -> Iterator[str]:
    worst = told.worst_person
    rule = f": {worst.rule}" if worst.rule else ""
    yield f"**The worst person: highest risk that one is found** {escaped(worst.in_words + rule)}"
    yield "**Evidence on anonymity**"
    rows = ["| asked by | question | status | attacks | why |", "|---|---|---|---|---|"]
    rows += [
        f"| {escaped(one.source)} | {escaped(one.name)} | {one.status} | "
        f"{escaped(', '.join(one.attacks))} | {escaped(one.reason or '')} |"
        for one in told.answers
    ]
    yield "\n".join(rows)
    yield _listed(told.statuses.items(), escaped)
    rows = ["| attack | status | found | numbers | attacker |", "|---|---|---|---|---|"]
    for one in told.attacks:
        numbers = [each.in_words for each in one.measures]
        numbers += [each.in_words for each in one.checks]
        found = f"{one.counted}: {one.says}"
        attacker = f"{one.knowledge}; limit: {one.limit}"
        cells = (f"{one.title}, {one.id}", one.status, found, "; ".join(numbers), attacker)
        rows.append(f"| {' | '.join(map(escaped, cells))} |")
    yield "\n".join(rows)


def _listed(told: Iterable[tuple[str, str]], escaped: Callable[[str], str]) -> str:
    return "\n".join(f"- **{escaped(name)}**: {escaped(value)}" for name, value in told)
