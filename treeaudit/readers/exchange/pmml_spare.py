"""What the trees of a PMML file and its columns say that no condition and no answer needs."""

import math
import re
from collections.abc import Iterator, Sequence

from treeaudit.model.leftovers import Leftover
from treeaudit.model.tree import Tree
from treeaudit.readers.exchange.pmml_conditions import Fields
from treeaudit.readers.exchange.pmml_parts import Document, Model, Node, Predicate
from treeaudit.readers.exchange.pmml_trees import Rows
from treeaudit.readers.leftovers.booster_parts import NUMBER, is_name
from treeaudit.readers.leftovers.extra import extra
from treeaudit.readers.leftovers.spare import spare_columns
from treeaudit.readers.types import Wide

__all__ = ["in_trees"]

_SAME = 1e-6
_MOST_KEPT = 100_000
_AMOUNT = re.compile(rf"(?=.{{1,26}}\Z){NUMBER}")


def in_trees(
    document: Document,
    model: Model,
    fields: Fields,
    rows: Sequence[Rows],
    trees: Sequence[Tree],
    target: str,
) -> Iterator[Leftover]:
    """Yield columns that nothing tests, nodes that nobody reaches, and scores that are no answer.

    Parameters
    ----------
    document, model
        The file, and the model that is read.
    fields
        The columns that its trees test.
    rows, trees
        Its trees, one row per node that can be reached, and what was made of them.
    target
        What the model predicts.
    """
    listed = {entry.get("name", "") for entry in model.schema}
    tested = {feature.name for feature in fields.features}
    used = listed | tested | document.used | {target}
    for name, stored in document.fields.items():
        if not is_name(name) or (name not in used and (stored.derived or listed)):
            yield extra("a field that no tree tests", [name, *stored.values])
        elif long := [value for value in stored.values if not is_name(value)]:
            yield extra("the values of a field", long)
    for name in listed - document.fields.keys():
        yield extra("a field of the model that does not exist", name)
    answer = document.fields.get(target)
    known = set(() if answer is None else answer.values)
    for i, (some, tree, made) in enumerate(zip(rows, model.trees, trees, strict=True)):
        reached = {id(node) for node in some.node if node is not None}
        votes = tree.attributes.get("functionName", model.attributes.get("functionName"))
        labels = known if votes == "classification" else set()
        answers = set[tuple[int, tuple[str, ...]]]()
        for node in tree.nodes:
            if id(node) not in reached:
                yield extra(f"tree {i}: a node that nobody reaches", node.attributes)
            # Nearly all say what others have said.
            said = len(node.distribution), _said(node)
            if said not in answers:
                odd = False
                for one in _answers(f"tree {i}", node, labels, numeric=votes != "classification"):
                    odd = True
                    yield one
                if not odd and len(answers) < _MOST_KEPT:
                    answers.add(said)
            asked = node.predicate
            if asked is not None and asked.parts and (dead := _dead(asked)):
                yield extra(f"tree {i}: a condition that decides nothing", dead)
        if n := _nobody(some, tree.nodes, made.n_records):
            says = f"{n:,} nodes that nobody was in: no training makes one"
            yield Leftover(kind="extra", where=f"tree {i}", n=16 * n, says=says)
    if n := fields.n_spare:
        says = f"{n:,} conditions beside others that leave them nothing to decide"
        yield Leftover(kind="extra", where="conditions", n=8 * n, says=says)
    if n := fields.n_left_out:
        says = f"{n:,} conditions that stand in for others where a value is missing"
        yield Leftover(kind="unseen", where="surrogates", n=n, says=says)


def beside_columns(
    document: Document, fields: Fields, rows: Sequence[Rows], model: Model
) -> Iterator[Leftover]:
    """Yield names, settings, and numbers of nodes, where they are more than the trees need."""
    tested = {one.feature for some in rows for one in some.condition if one is not None}
    # Most numbers stand in a file more than once.
    numbers = _Numbers()
    loose = document.beside.n_free + sum(_loose(tree.nodes, numbers) for tree in model.trees)
    names = [feature.name for feature in fields.features]
    known = {*names}
    names += [name for name in document.fields if name not in known]
    yield from spare_columns("DataDictionary", names, {}, tested, loose)


def _nobody(rows: Rows, nodes: Sequence[Node], people: Wide | None) -> int:
    """Count the nodes without people, but leaves of categories, which a writer may list."""
    if people is None or people.all():
        return 0
    inner, stored = set(rows.parent), {*map(id, nodes)}
    return sum(
        id(node) in stored and not n and (i in inner or one is None or one.codes is None)
        for i, (node, one, n) in enumerate(
            zip(rows.node, rows.condition, people.tolist(), strict=True)
        )
    )


class _Numbers(dict[str, float]):
    """Numbers by their texts."""

    def __missing__(self, text: str) -> float:
        number = _number(text)
        if len(self) < _MOST_KEPT:
            self[text] = number
        return number


def _loose(nodes: Sequence[Node], numbers: _Numbers) -> int:
    """Count the bytes of numbers of nodes that do not follow from those of the nodes below."""
    n = 0
    most = 100 + 20 * len(nodes)
    held = {
        id(node): {value: numbers[count] for value, count in node.distribution} for node in nodes
    }
    for node in nodes:
        name = node.attributes.get("id", "")
        number = name.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
        plain = not number or (number.isdecimal() and len(number) < 9 and int(number) <= most)
        n += 0 if plain and len(name) - len(number) < 8 else len(name)
        own = held[id(node)]
        if node.confidences:
            total = math.fsum(own.values())
            for count, stated in node.confidences:
                gap = abs(numbers[stated] - numbers[count] / total) if total > 0 else math.nan
                n += 0 if not gap or gap <= _rounding(stated) else 8
        if node.children and own:
            below = [held[id(child)] for child in node.children]
            if all(below):
                n += 0 if _adds_up(own, below, node.children) else 8 * len(own)
        elif node.children and not math.isnan(score := numbers[node.attributes.get("score", "")]):
            means = [numbers[child.attributes.get("score", "")] for child in node.children]
            if not any(map(math.isnan, means)):
                n += 0 if _is_mean(score, means, node.children) else 8
    return n


def _adds_up(
    own: dict[str, float], each: Sequence[dict[str, float]], children: Sequence[Node]
) -> bool:
    """Tell whether class numbers are the sums of those below, or shares that are their mean."""
    sums = {value: math.fsum(one.get(value, 0) for one in each) for value in own}
    if all(abs(sums[v] - n) <= _SAME * max(abs(n), 1) for v, n in own.items()):
        return True
    shares = [{v: n / (math.fsum(one.values()) or 1) for v, n in one.items()} for one in each]
    total = math.fsum(own.values()) or 1
    return all(
        _is_mean(n / total, [one.get(value, 0) for one in shares], children)
        for value, n in own.items()
    )


def _rounding(stated: str) -> float:
    """Return how far a share may be off what it was, by its digits."""
    return 0.51 * 10.0 ** -len(stated.partition(".")[2]) + 1e-15


def _is_mean(stated: float, each: Sequence[float], children: Sequence[Node]) -> bool:
    """Tell whether a number is the mean of others, weighted with the people of nodes."""
    people = [_number(child.attributes.get("recordCount", "")) for child in children]
    if not math.fsum(people) > 0:
        return False
    mean = math.fsum(n * one for n, one in zip(people, each, strict=True)) / math.fsum(people)
    return abs(stated - mean) <= _SAME * max(map(abs, each), default=1)


def _number(text: str) -> float:
    return float(text) if _AMOUNT.fullmatch(text) else math.nan


def _said(node: Node) -> tuple[str, ...]:
    """Return the labels that a node counts, and its score."""
    score = node.attributes.get("score")
    counted = [value for value, _ in node.distribution]
    return (*counted,) if score is None else (*counted, score)


def _answers(where: str, node: Node, labels: set[str], *, numeric: bool) -> Iterator[Leftover]:
    """Yield the scores of a node that are no label of the target and no number."""
    said = _said(node)
    if len(set(said)) < len(node.distribution):
        yield extra(f"{where}: a label that is counted twice", [*said])
    for text in said:
        if numeric:
            fits = _AMOUNT.fullmatch(text) is not None
        else:
            fits = text in labels if labels else is_name(text)
        if not fits:
            yield extra(f"{where}: a score", text)


def _dead(predicate: Predicate) -> list[str]:
    """Return the values of conditions that stand beside one that always holds."""
    found: list[str] = []
    waiting = [predicate]
    while waiting:
        one = waiting.pop()
        always = one.operator == "or" and any(part.operator == "True" for part in one.parts)
        waiting.extend(one.parts)
        if always:
            found += [value for part in one.parts for value in (part.field, *part.values) if value]
    return found
