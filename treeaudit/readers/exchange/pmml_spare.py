"""What the trees of a PMML file and its columns say that no condition and no answer needs."""

import re
from collections.abc import Iterator, Sequence

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.exchange.pmml_conditions import Fields
from treeaudit.readers.exchange.pmml_parts import Document, Model, Node, Predicate
from treeaudit.readers.exchange.pmml_trees import Rows
from treeaudit.readers.leftovers.booster_parts import NUMBER, is_name
from treeaudit.readers.leftovers.unexplained import not_explained

__all__ = ["in_trees"]

_AMOUNT = re.compile(rf"(?=.{{1,26}}\Z){NUMBER}")


def in_trees(
    document: Document, model: Model, fields: Fields, rows: Sequence[Rows], target: str
) -> Iterator[Leftover]:
    """Yield columns that nothing tests, nodes that nobody reaches, and scores that are no answer.

    Parameters
    ----------
    document, model
        The file, and the model that is read.
    fields
        The columns that its trees test.
    rows
        Its trees, one row per node that can be reached.
    target
        What the model predicts.
    """
    listed = {entry.get("name", "") for entry in model.schema}
    tested = {feature.name for feature in fields.features}
    used = listed | tested | document.used | {target}
    for name, stored in document.fields.items():
        if not is_name(name) or (name not in used and (stored.derived or listed)):
            yield not_explained("a field that no tree tests", [name, *stored.values])
        elif long := [value for value in stored.values if not is_name(value)]:
            yield not_explained("the values of a field", long)
    for name in listed - document.fields.keys():
        yield not_explained("a field of the model that does not exist", name)
    answer = document.fields.get(target)
    known = set(() if answer is None else answer.values)
    for i, (some, tree) in enumerate(zip(rows, model.trees, strict=True)):
        reached = {id(node) for node in some.node if node is not None}
        votes = tree.attributes.get("functionName", model.attributes.get("functionName"))
        labels = known if votes == "classification" else set()
        for node in _walk(tree.root):
            if id(node) not in reached:
                yield not_explained(f"tree {i}: a node that nobody reaches", node.attributes)
            yield from _answers(f"tree {i}", node, labels, numeric=votes != "classification")
            if dead := _dead(node.predicate):
                yield not_explained(f"tree {i}: a condition that decides nothing", dead)


def _walk(root: Node | None) -> Iterator[Node]:
    waiting = [] if root is None else [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.children)


def _answers(where: str, node: Node, labels: set[str], *, numeric: bool) -> Iterator[Leftover]:
    """Yield the scores of a node that are no label of the target and no number."""
    said = [value for value, _ in node.distribution]
    if "score" in node.attributes:
        said.append(node.attributes["score"])
    if len(set(said)) < len(node.distribution):
        yield not_explained(f"{where}: a label that is counted twice", said)
    for text in said:
        if numeric:
            fits = _AMOUNT.fullmatch(text) is not None
        else:
            fits = text in labels if labels else is_name(text)
        if not fits:
            yield not_explained(f"{where}: a score", text)


def _dead(predicate: Predicate | None) -> list[str]:
    """Return the values of conditions that stand beside one that always holds."""
    found: list[str] = []
    waiting = [] if predicate is None else [predicate]
    while waiting:
        one = waiting.pop()
        always = one.operator == "or" and any(part.operator == "True" for part in one.parts)
        waiting.extend(one.parts)
        if always:
            found += [value for part in one.parts for value in (part.field, *part.values) if value]
    return found
