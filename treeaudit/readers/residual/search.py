"""One walk over a file as inert data, which asks each kind of evidence at every place (TA202–206).

Attributes that are known to hold training data are named; beyond them any array with a row per
training record counts, wherever it is. Nothing that is part of the trees themselves, and nothing
that is the same for everybody.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from treeaudit.model.forest import Forest
from treeaudit.model.source import FEWEST_RECORDS, KINDS, Extra, Extras, Kind
from treeaudit.readers.limits import show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.residual.allow_list import Sizes
from treeaudit.readers.residual.attribute_walk import residual
from treeaudit.readers.residual.code import calls, flaws
from treeaudit.readers.residual.column_statistics import columns, many_categories
from treeaudit.readers.residual.extra_content import few
from treeaudit.readers.residual.rounds import first_round, open_round
from treeaudit.readers.residual.rows import long_values, named_rows, rows
from treeaudit.readers.residual.seeds import generators, seeds
from treeaudit.readers.residual.small_groups import groups, holds_groups
from treeaudit.readers.residual.structure import malformed
from treeaudit.readers.residual.tables import tables
from treeaudit.readers.residual.targets import targets
from treeaudit.readers.walk import Place, Walk


def find_extras(
    root: object,
    n_records: int | None,
    mentioned: Sequence[Global],
    *,
    unread: Iterable[str] = (),
    written_by: tuple[str, object] | None = None,
    boosted: Forest | None = None,
) -> Extras:
    """Return what else a file gives away, with the way to it.

    All kinds are looked for, but for records if there are too few of them to tell an array of
    records from any other. ``boosted`` is a model that its library stores as a document.

    Examples
    --------
    >>> import pickle
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from treeaudit.readers.pickle.pickle_vm import read_pickle
    >>> forest = RandomForestClassifier(10, random_state=0).fit(*load_iris(return_X_y=True))
    >>> file = read_pickle(pickle.dumps(forest))
    >>> [(one.kind, one.where) for one in find_extras(file.root, 150, file.mentioned)]
    [('seeds', 'estimators_[*].random_state'), ('seeds', 'random_state')]
    """
    # Numbers of a doctored file may overflow; what follows from them fails its check.
    with np.errstate(all="ignore"):
        larger: list[tuple[int, Extra]] = []
        beside, open_kinds = _find(root, n_records, mentioned, boosted, larger)
    says = "nothing in the model needs it, and it was not read"
    beside += [Extra(kind="unseen", where=show(p, 80), n=1, says=says) for p in unread]
    beside += flaws(*written_by) if written_by is not None else ()
    found = few(list(dict.fromkeys(beside)))
    if n_records is not None and n_records < FEWEST_RECORDS:
        open_kinds |= {"records"}
    looked_for = KINDS - (open_kinds - {one.kind for one in found})
    return Extras(found=found, looked_for=looked_for, groups=tuple(larger))


def _find(
    root: object,
    n_records: int | None,
    mentioned: Sequence[Global],
    boosted: Forest | None,
    larger: list[tuple[int, Extra]],
) -> tuple[list[Extra], frozenset[Kind]]:
    """Return what was found, and the kinds that the numbers of the file leave open."""
    found: list[Extra] = []
    trees: list[Place] = []
    grouped: list[Place] = []
    claimed: set[int] = set()
    sizes = Sizes()
    if boosted is not None:
        sizes.note_boosted(boosted)
    open_kinds: set[Kind] = set()
    listing: list[Place] = []
    nested = 0
    walk = Walk(root)
    found += tables(root, n_records, claimed, boosted)
    for place in walk:
        value = place.value
        nested += isinstance(value, np.ndarray) and value.dtype == object
        if isinstance(value, Inert):
            sizes.note(value)
            found += named_rows(place, claimed)
            found += columns(place, n_records)
            found += generators(place)
            if value.get("estimators_") is not None:
                found += seeds(place, n_records)
            if value.get("loss") is not None:
                found += first_round(place)
                open_kinds |= {"first-round-counts"} if open_round(place) else set()
            if holds_groups(value):
                grouped.append(place)
            if isinstance(arrived(value.get("tree_")), Inert):
                trees.append(place)
            if value.get("categories_") is not None or value.get("classes_") is not None:
                listing.append(place)
        if id(value) not in claimed:
            long = [*(long_values(place) if n_records is None else rows(place, n_records))]
            found += long
            claimed.update((id(value),) if long else ())
    for place in listing if n_records is not None else ():
        found += many_categories(place, n_records or 0, sizes.classes, claimed)
    found += [one for place in trees for one in malformed(place)]
    of_trees, is_open = targets(trees)
    found += of_trees
    found += groups(grouped, trees, n_records, larger)
    found += calls(mentioned, nested)
    found += residual(root, sizes, claimed)
    if walk.cut is not None:
        says = "the file holds more objects than are looked at: what lies behind was not seen"
        found.append(Extra(kind="unseen", where=walk.cut, n=0, says=says))
    open_kinds |= {"targets"} if is_open else set()
    return found, frozenset(open_kinds)
