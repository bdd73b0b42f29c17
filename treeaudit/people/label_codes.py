"""Labels of people as numbers: of the model, or of members that each know one class and others."""

from collections.abc import Mapping

import numpy as np

from treeaudit.arrays import Int, Wide
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Label
from treeaudit.people.input.cell_parsing import code_of
from treeaudit.people.input.columns import SHOWN

__all__ = ["class_apart", "counts_others", "label_codes", "own_classes"]

_REST = ("another", "its own")


def own_classes(forest: Forest) -> tuple[str, ...]:
    """Return the class that each member of a one-vs-rest knows apart; empty for other models.

    Examples
    --------
    >>> from treeaudit.model.schema import Schema
    >>> from treeaudit.model.tree import Tree
    >>> leaf = Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf])
    >>> own_classes(Forest(trees=(leaf, leaf), schema=Schema.numeric(1, ["another", "its own"]),
    ...                    tree_classes=(("not u", "u"), ("not v", "v"))))
    ('u', 'v')
    """
    each = forest.tree_classes or ()
    if forest.schema.classes != _REST or not all(a == f"not {b}" for a, b in each):
        return ()
    return tuple(dict.fromkeys(str(own) for _, own in each))


def counts_others(forest: Forest) -> bool:
    """Tell whether trees count labels of their own that no column of labels holds for all.

    So they do for several outputs, and where each tells groups of classes apart.

    Examples
    --------
    >>> from treeaudit.model.schema import Schema
    >>> from treeaudit.model.tree import Tree
    >>> leaf = Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf])
    >>> counts_others(Forest(trees=(leaf,), schema=Schema.numeric(1, ["class 0", "class 1"]),
    ...                      tree_classes=(("u or v", "w"),)))
    True
    """
    classes, each = set(map(str, forest.schema.classes or ())), forest.tree_classes
    if each is None or own_classes(forest):
        return False
    return all(class_apart(told) is None and not classes & set(map(str, told)) for told in each)


def class_apart(told: tuple[Label, ...]) -> int | None:
    """Return which class a tree tells from all others, by what its columns count; None for others.

    Examples
    --------
    >>> class_apart(("not v", "v", "(none)"))
    1
    >>> class_apart(("u", "not u", "(none)"))
    0
    >>> class_apart(("u", "v", "w"))
    """
    for k, label in enumerate(told if len(told) > 2 else ()):
        others = {str(one) for i, one in enumerate(told) if i not in (k, 0 if k else 1)}
        if told[0 if k else 1] == f"not {label}" and others == {"(none)"}:
            return k
    return None


def label_codes(
    codes: Wide,
    names: list[str | None],
    known: Mapping[str, int],
    where: str,
    first: int,
    other: int | None = None,
    step: str = "",
) -> Int:
    """Return the code of the label of each row.

    Parameters
    ----------
    codes, names
        As `treeaudit.people.input.columns.Column.distinct` gives them.
    known
        The codes of the labels.
    where, first
        What to call the column, and how many rows stand before these.
    other
        The code of all other labels; unless given there are none.
    step
        What to do about a label that is not known.

    Raises
    ------
    DataError
        Names the row of a label that is not known, or of none.

    Examples
    --------
    >>> label_codes(np.array([0, 1, 0]), ["no", "yes"], {"no": 0, "yes": 1}, "y", 0).tolist()
    [0, 1, 0]
    """
    code = code_of(known)
    wanted = [None if name is None else code(name) for name in names]
    if other is not None:
        told = zip(names, wanted, strict=True)
        wanted = [other if name and at is None else at for name, at in told]
    found = np.array([*(-2 if at is None else at for at in wanted), -2], dtype=np.int32)[codes]
    if not len(found) or found.min() > -2:
        return found
    lost = np.flatnonzero([*(name is None for name in names), True])
    empty = np.flatnonzero(np.isin(codes, [*lost, -1]))
    if len(empty):
        raise DataError(f"{where}, row {first + int(empty[0]) + 1} has no value")
    row = int(np.argmin(found))
    label = str(names[codes[row]])[:SHOWN]
    raise DataError(
        f"{where}, row {first + row + 1}: the model has no label {label!r}; "
        f"it knows {', '.join(list(known)[:6])}{step}"
    )
