"""Of whom something is true in a leaf: whoever ends there, or has the label that it says."""

import numpy as np

from treeaudit.attacks.case import Case
from treeaudit.attacks.predicted_value import Codes
from treeaudit.table.ends import Meant
from treeaudit.table.labels import Labels

__all__ = ["meant_in"]


def meant_in(case: Case, tree: int, labels: Labels | None, code: Codes | None) -> Meant:
    """Return who is meant by the leaves of a tree; see `treeaudit.attacks.distinct_people.in_any_tree`.

    Kept where persons are named, for the labels that were asked about last.
    """
    told = labels is not None and code is not None
    kept = case.meant.get((tree, told))
    if kept is not None and (not told or (kept[0] is labels and kept[1] is code)):
        return kept[2]
    found = _meant(case, tree, labels, code)
    if case.people("train").persons is not None:
        case.meant[tree, told] = labels, code, found
    return found


def _meant(case: Case, tree: int, labels: Labels | None, code: Codes | None) -> Meant:
    found, rows = case.ends(tree), case.table.rows_of(tree)
    leaf, who, single = found.leaf, found.who, None
    if labels is not None and code is not None and found.once:
        here, own = np.flatnonzero(found.pair >= 0), np.empty(len(leaf), dtype=code.dtype)
        own[found.pair.take(here)] = code.take(here)
        chosen = np.flatnonzero(labels.top[rows].take(leaf) == own)
        leaf, who = leaf.take(chosen), who.take(chosen)
    elif labels is not None and code is not None:
        said = np.append(labels.top[rows][leaf], -2)[found.pair] == code
        alike, mixed = np.zeros((2, len(leaf) + 1), dtype=np.bool_)
        alike[found.pair[said]] = True
        mixed[found.pair[~said]] = True
        # Of a person with several labels in a leaf none follows, unless one record was drawn.
        if case.forest.records_are == "all":
            alike &= ~mixed
        chosen = np.flatnonzero(alike[:-1])
        leaf, who, single = leaf[chosen], who[chosen], ~mixed[chosen]
        single = None if single.all() else single
    people = np.bincount(leaf, minlength=rows.stop - rows.start)
    apart = single is None and int(np.bincount(who, minlength=1).max()) <= 1
    return Meant(leaf=leaf, who=who, people=people, single=single, apart=apart)
