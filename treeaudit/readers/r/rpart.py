"""Trees of rpart: a row of ``frame`` for each node, numbered so that ``i`` has ``2i`` and ``2i+1``.

``frame$n`` are people, ``frame$wt`` what they weigh. The primary split of a node is a row of
``splits``; rows of competing and surrogate splits follow it.
"""

from dataclasses import replace

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.source import KINDS, Extra, Extras, Source
from treeaudit.model.words import number_of
from treeaudit.readers.limits import Most, listed
from treeaudit.readers.r.fields import (
    Sides,
    attribute,
    below,
    binary,
    codes_of,
    dimnames,
    extras_of,
    halves,
    matrix,
    numbers,
    optional,
    parameters_of,
    part,
    scalar,
    schema_of,
    target_of,
    texts,
    whole,
)
from treeaudit.readers.r.objects import NA_INTEGER, RObject
from treeaudit.readers.sklearn.counts import absent, people_per_class

LEAF = "<leaf>"
_ROUNDING = 1e-6


def read(model: RObject, source: Source) -> Forest:
    """Return the tree of an rpart object."""
    frame = part(model, "frame")
    asked = part(frame, "var").texts()
    n = len(asked)
    people, weight = whole(part(frame, "n"), n), numbers(part(frame, "wt"), n)
    leaf = np.array([one == LEAF for one in asked])
    left, right = children_of(frame, leaf)
    names = _columns(model, asked)
    stored = attribute(model, "xlevels")
    levels = {name: texts(stored.get(name)) for name in names if stored and stored.get(name)}
    feature = np.full(n, -1)
    feature[~leaf] = codes_of(names, [one for one in asked if one != LEAF])
    splits = _splits(model, frame, leaf)
    partly = ~leaf & (splits[:, 0] < people)
    _check_people(people, weight, ~leaf, left, right, may_stop=partly)
    bound, sets, swapped = _conditions(model, splits, feature, [levels.get(x) for x in names])
    left, right = np.where(swapped, right, left), np.where(swapped, left, right)
    # Where none of its surrogates tells, a row follows most people, unless they are as many.
    majority = np.sign(people[right] - people[left])
    use = scalar(optional(model, "control", "usesurrogate"))
    if use not in (None, 2.0):
        majority[:] = 0
    unseen = {
        i for i, sides in sets.items() if sum(map(len, sides)) < len(levels[names[feature[i]]])
    }
    for i in unseen:
        sets[i] = _with_others(sets[i], len(levels[names[feature[i]]]), int(majority[i]))
    values, classes, weights = _values(model, frame)
    meaning = absent("the model predicts a number, not a class")
    if classes is not None:
        meaning = people_per_class(values[leaf], people[leaf], weight[leaf])
        if (each := meaning.per_weight) is not None:
            values, weights = np.rint(values * each), weights / each
    alike = bool(np.all(np.abs(weight - people) <= _ROUNDING * (1 + weight)))
    means = alike and scalar(optional(model, "method")) == "anova"
    spread, deviance = None, optional(frame, "dev")
    # A released tree keeps no deviances.
    if means and deviance is not None and not np.isnan(deviance.numbers()).all():
        spread = np.sqrt(np.maximum(numbers(part(frame, "dev"), n), 0) / np.maximum(people, 1))
    tree = binary(
        inner=~leaf,
        left=left,
        right=right,
        feature=feature,
        bound=bound,
        n_features=len(names),
        sets=sets,
        missing=majority,
        n_records=people,
        value=values if classes is None else None,
        spread=spread,
        counts=None if classes is None else values,
    )
    gaps = frozenset(feature[partly].tolist())
    guided = (whole(part(frame, "nsurrogate"), n) > 0) & (use != 0)
    stopped = np.where(leaf, 0, people - people[left] - people[right])
    led = {*feature[partly & guided].tolist()}, {int(feature[i]) for i in unseen if guided[i]}
    unclear = [[names[i] for i in sorted(some)] for some in led]
    extras = extras_of((tree,), means=means) if classes is None else Extras(looked_for=KINDS)
    if stopped.any():
        extras = extras.beside(_stopped(stopped, values - values[left] - values[right]))
    return Forest(
        trees=(tree,),
        schema=schema_of(names, levels, classes, target_of(optional(model, "terms")), gaps),
        counts_are=meaning.counts_are,
        counts_reason=meaning.reason,
        n_records=int(people[0]),
        class_weights=None if np.all(weights == weights[:1]) else (tuple(weights.tolist()),),
        values_are="means" if means else "unknown",
        extras=extras,
        warnings=_warnings(model, unclear, leaf, people),
        source=replace(
            source,
            library="rpart",
            parameters=parameters_of(optional(model, "control"), model) | _costs(model, classes),
        ),
    )


def _costs(model: RObject, classes: list[str] | None) -> dict[str, float]:
    """Return the largest cost of a wrong answer, where it is not 1 for all of them."""
    stored = optional(model, "parms", "loss")
    if classes is None or stored is None:
        return {}
    costs = matrix(stored, len(classes), len(classes))
    usual = np.array_equal(costs, 1 - np.eye(len(classes)))
    return {} if usual else {"largest loss": float(costs.max())}


def children_of(frame: RObject, leaf: Flag) -> tuple[Wide, Wide]:
    """Return the rows of the children of every node, 0 at leaves."""
    stored, n = attribute(frame, "row.names"), len(leaf)
    if stored is None:
        raise ReadError("the frame does not number its nodes")
    # R keeps 1, 2, … as a missing number and their count.
    counted = stored.kind == "integer" and stored.values[:1].tolist() == [NA_INTEGER]
    held = range(1, n + 1) if counted else stored.values
    try:
        number = [int(one) for one in held]
    except (ValueError, TypeError, OverflowError):
        number = []
    place = {one: i for i, one in enumerate(number)}
    if len(number) != n or len(place) != n or not n or number[0] != 1:
        raise ReadError("the frame does not number its nodes")
    sides = np.zeros((2, n), dtype=np.int64)
    for i in np.flatnonzero(~leaf).tolist():
        for side in (0, 1):
            if (below := place.get(2 * number[i] + side)) is None:
                raise ReadError(f"node {2 * number[i] + side} is missing from the frame")
            sides[side, i] = below
    if n != 2 * np.count_nonzero(~leaf) + 1:
        raise ReadError("the frame has nodes that do not hang on its root")
    return sides[0], sides[1]


def _check_people(
    people: Wide, weight: Float, inner: Flag, left: Wide, right: Wide, *, may_stop: Flag
) -> None:
    if people.min() < 0 or weight.min() < 0 or weight.max() > Most.weight:
        raise ReadError("a node has a negative or impossible count")
    below = people[left] + people[right]
    # Rows without a value of the column may stop at a node.
    if np.any(inner & ((below > people) | ((below < people) & ~may_stop))):
        raise ReadError("people of the children do not add up to those of their parent")


def _columns(model: RObject, asked: list[str | None]) -> list[str]:
    """Return the names of the columns, as far as the file tells."""
    ordered, labels = optional(model, "ordered"), attribute(optional(model, "terms"), "term.labels")
    names = [] if ordered is None else ordered.names
    if not names and labels is not None:
        names = texts(labels)
    used = [one or "" for one in asked if one != LEAF]
    return list(dict.fromkeys([*names, *([] if names else used)]))


def _splits(model: RObject, frame: RObject, leaf: Flag) -> Float:
    """Return the primary split of each node: ``count ncat improve index``; zeros at leaves."""
    found = np.zeros((len(leaf), 4))
    stored = optional(model, "splits")
    if stored is None:
        if not leaf.all():
            raise ReadError("the model has no splits")
        return found
    table, n = matrix(stored, width=4), len(leaf)
    more = whole(part(frame, "ncompete"), n) + whole(part(frame, "nsurrogate"), n)
    if more.min() < 0 or more.max() > len(table):
        raise ReadError("a node has an impossible number of splits")
    rows = np.cumsum(np.where(leaf, 0, 1 + more)) - (1 + more)
    if np.sum(1 + more[~leaf]) != len(table):
        raise ReadError("there are not as many splits as the nodes of the frame have")
    own = table[rows[~leaf], :4]
    names = dimnames(stored, 0)
    asked = part(frame, "var").texts()
    places = zip(np.flatnonzero(~leaf).tolist(), rows[~leaf].tolist(), strict=True)
    if not np.isfinite(own).all() or (names and any(names[at] != asked[i] for i, at in places)):
        raise ReadError("a split does not belong to its node")
    found[~leaf] = own
    return found


def _conditions(
    model: RObject, splits: Float, feature: Wide, levels: list[list[str] | None]
) -> tuple[Float, dict[int, Sides], Flag]:
    """Return bounds of numbers, sets of categories, and where ``<`` leads to the right."""
    bound, sets = below(splits[:, 3]), dict[int, Sides]()
    ways, swapped = optional(model, "csplit"), splits[:, 1] == 1
    table = None if ways is None else matrix(ways)
    for i in np.flatnonzero(feature >= 0).tolist():
        known, n_cat, at = levels[feature[i]], int(splits[i, 1]), int(splits[i, 3]) - 1
        if abs(n_cat) == 1:
            if known is not None:
                sets[i] = halves(len(known), bound[i])
            continue
        if table is None or known is None or not 0 <= at < len(table) or n_cat > table.shape[1]:
            raise ReadError("the split of a factor is missing")
        way = table[at, : len(known)]
        sets[i] = np.flatnonzero(way == 1).tolist(), np.flatnonzero(way == 3).tolist()
    return bound, sets, swapped


def _with_others(sides: Sides, size: int, side: int) -> Sides:
    """Send the levels that nobody in the node had where missing values go."""
    others = sorted({*range(size)} - {*sides[0]} - {*sides[1]}) if side else []
    return ([*sides[0], *others], sides[1]) if side < 0 else (sides[0], [*sides[1], *others])


def _values(model: RObject, frame: RObject) -> tuple[Float, list[str] | None, Float]:
    """Return the class weights or the value of every node, the classes, and what each weighs."""
    stored, n = attribute(model, "ylevels"), len(part(frame, "var"))
    if stored is None or scalar(optional(model, "method")) not in (None, "class"):
        return numbers(part(frame, "yval"), n), None, np.ones(0)
    classes = texts(stored)
    table = matrix(part(frame, "yval2"), n, len(classes) + 1)[:, 1 : len(classes) + 1]
    if not np.all((table >= 0) & (table <= Most.weight)):
        raise ReadError("a class has a negative or impossible count")
    prior = optional(model, "parms", "prior")
    shares = table[0] / max(table[0].sum(), 1.0) if prior is None else numbers(prior)
    if len(shares) != len(classes):
        raise ReadError("there are not as many priors as classes")
    # rpart answers with counts that are weighed so that the root has the shares of the prior.
    weights: Float = shares / np.maximum(table[0], 1)
    same = np.allclose(weights[table[0] > 0], weights[table[0] > 0][:1], rtol=_ROUNDING)
    return table, classes, np.ones(len(classes)) if same else weights


def _stopped(people: Wide, rest: Float) -> Extras:
    """Return the groups that stop at a node for lack of a value: they are in no leaf."""
    n, some = int(people.sum()), people > 0
    # A group of one label is as bad as a person alone.
    mixed = np.count_nonzero(rest > _ROUNDING, axis=1) > 1 if rest.ndim > 1 else some
    least = int(np.where(mixed, people, 1)[some].min())
    says = f"counts give away the labels of {number_of(n, 'person', 'people')} who have no value"
    one = Extra(kind="targets", where="inner nodes", n=n, says=says)
    if least < 5:
        return Extras(looked_for=KINDS, found=(one,))
    return Extras(looked_for=KINDS, groups=((least, one),))


def _warnings(
    model: RObject, unclear: list[list[str]], leaf: Flag, people: Wide
) -> tuple[str, ...]:
    """Say what of the file the tree does not show."""
    found = []
    what = ("missing values", "levels that nobody in a node had")
    both = zip(what, unclear, strict=True)
    if told := [f"{one} of {listed(names)}" for one, names in both if names]:
        found.append(
            f"{', and '.join(told)} follow surrogate splits, which treeaudit leaves out: they are "
            "shown as if there were none"
        )
    where = optional(model, "where")
    if where is not None and where.kind == "integer":
        n, rows = len(leaf), where.values
        held = np.bincount(rows[(rows > 0) & (rows <= n)].astype(np.int64) - 1, minlength=n)
        if not np.array_equal(held[leaf], people[leaf]):
            found.append("where, the leaf of every training row, disagrees with the counts")
    return tuple(found)
