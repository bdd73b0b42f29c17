"""Members that each answer a question of their own: one class, one pair, one target."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.model.schema import Label
from treeaudit.readers.limits import Most, show
from treeaudit.readers.sklearn.found import Found, Seen, elements, is_tree
from treeaudit.readers.types import Flag

_FEW = 6

Held = Iterator[Found | None]


def each(found: Found, seen: Callable[[int], Seen]) -> Held:
    """Yield the members of the usual list, each with what it was given."""
    for i, member in enumerate(elements(found.get("estimators_"))):
        yield found.child(member, f"estimators_[{i}]", seen(i))


def one_vs_rest(found: Found) -> Held:
    """Yield one model per class, which knows it and all others as one."""
    classes, given = found.classes or (), found.given
    if len(classes) == 2 and len(elements(found.get("estimators_"))) == 1:
        return each(found, lambda i: given)

    def seen(i: int) -> Seen:
        its = str(classes[i]) if i < len(classes) else f"class {i}"
        return replace(given, labels=(f"not {its}", its), own_labels=True)

    return each(found, seen)


def one_vs_one(found: Found) -> Held:
    """Yield one model per pair of classes, trained on their rows alone."""
    classes, given = found.classes or (), found.given.after("some")
    pairs = ((a, b) for i, a in enumerate(classes) for b in classes[i + 1 :])
    for i, member in enumerate(elements(found.get("estimators_"))):
        seen = replace(given, labels=next(pairs, ("the first", "the second")))
        yield found.child(member, f"estimators_[{i}]", seen)


def output_code(found: Found) -> Held:
    """Yield one model per column of the code book."""
    classes, book, given = found.classes or (), found.get("code_book_"), found.given
    bits = np.zeros((0, 0), dtype=np.bool_)
    if isinstance(book, np.ndarray) and book.dtype.kind in "biuf" and book.ndim == 2:
        bits = book > 0 if len(book) == len(classes) else bits
        # The nearest row is the answer: other numbers would move it.
        low = {0} if any(is_tree(one) for one in elements(found.get("estimators_"))) else {0, -1}
        zeros = set(book[book != 1].tolist())
        if len(zeros) > 1 or not zeros <= low:
            raise ReadError("the code book of the model is damaged: it has other numbers")

    def seen(i: int) -> Seen:
        labels: tuple[Label, ...] = ("its zeros", "its ones")
        if i < bits.shape[1]:
            labels = (_either(classes, ~bits[:, i]), _either(classes, bits[:, i]))
        return replace(given, labels=labels, own_labels=True)

    return each(found, seen)


def _either(classes: tuple[Label, ...], chosen: Flag) -> str:
    """Name some classes, as many as one reads."""
    places = np.flatnonzero(chosen).tolist()
    names = [show(str(classes[i]), 40).strip("'") for i in places[:_FEW]]
    names += [f"{len(places) - _FEW} others"] if len(places) > _FEW else []
    return " or ".join(names) or "nobody"


def outputs(found: Found) -> Held:
    """Yield one model per target; in a chain it also sees the targets before."""
    order = found.get("order_")
    chain = found.estimator.kind.endswith("Chain")
    if isinstance(order, np.ndarray):
        order = order.ravel().tolist()
    targets = [t for t in order if isinstance(t, int)] if isinstance(order, list) else []
    names = found.given.names
    if chain and len(elements(found.get("estimators_"))) > Most.chain:
        raise ModelTooLargeError(f"a chain of more than {Most.chain:,} models")

    def name(i: int) -> str:
        return f"output {targets[i] if chain and i < len(targets) else i}"

    def seen(i: int) -> Seen:
        added = tuple(name(k) for k in range(i)) if chain else ()
        return replace(
            found.seen, names=names, added=added, labels=None, own_labels=True, target=name(i)
        )

    return each(found, seen)
