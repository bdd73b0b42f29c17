"""One tree, drawn in the terminal."""

from typing import TYPE_CHECKING

from treeaudit.model.rules import edges_into
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.model.words import conditions, label_text, number_of
from treeaudit.reports.plain_text import plain

if TYPE_CHECKING:
    from rich.tree import Tree as Drawing


def draw(tree: Tree, schema: Schema, *, k: int = 5, most: int = 400) -> "Drawing":
    """Return a drawing of a tree, the condition into every node as its text.

    Leaves with fewer than k people are marked; what lies deeper than the first nodes is counted.
    """
    from rich.text import Text
    from rich.tree import Tree as Drawing

    leaf = tree.is_leaf
    start, child = tree.children()
    below = _leaves_below(tree)
    texts = ["everybody", *conditions(edges_into(tree, range(1, tree.n_nodes)), schema)]
    root = Drawing(Text.assemble((texts[0], "bold"), _people(tree, 0)), guide_style="dim")
    todo = [(0, root)]
    drawn = 1
    while todo:
        node, branch = todo.pop(0)
        for inner in child[start[node] : start[node + 1]].tolist():
            if drawn >= most:
                branch.add(Text(f"… {below[inner]:,} leaves more", style="dim"))
                continue
            drawn += 1
            text = Text.assemble(plain(texts[inner], 160), _people(tree, inner))
            if leaf[inner]:
                text.append(_label(tree, schema, inner), style="bold")
                if tree.n_records is not None and tree.n_records[inner] < k:
                    text.append(f"  below {k}", style="bold red")
            todo.append((inner, branch.add(text)))
    return root


def _leaves_below(tree: Tree) -> list[int]:
    count: list[int] = tree.is_leaf.astype(int).tolist()
    for node, parent in zip(
        range(tree.n_nodes - 1, 0, -1), tree.parent[:0:-1].tolist(), strict=True
    ):
        count[parent] += count[node]
    return count


def _people(tree: Tree, node: int) -> tuple[str, str]:
    if tree.n_records is None:
        return "", "dim"
    return f"  {number_of(int(tree.n_records[node]), 'person', 'people')}", "dim"


def _label(tree: Tree, schema: Schema, node: int) -> str:
    if tree.counts is not None and schema.classes is not None:
        return f"  {plain(label_text(schema.classes[int(tree.counts[node].argmax())]), 60)}"
    if tree.value is not None:
        return f"  {tree.value[node]:.6g}"
    return ""
