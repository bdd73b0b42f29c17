"""Trees of rpart: a row of ``frame`` for each node, numbered so that ``i`` has ``2i`` and ``2i+1``.

``frame$n`` are people, ``frame$wt`` what they weigh. The primary split of a node is a row of
``splits``; rows of competing and surrogate splits follow it.

Trees of the package tree are numbered alike, with conditions as text: ``<7.5`` and ``>7.5`` for
numbers, ``:acd`` for the levels of a factor, a letter each. ``where`` is the row of the leaf of
every training row, ``yprob`` the shares of classes.
"""

from dataclasses import replace
from string import ascii_letters

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.source import KINDS, Extra, Extras, Source
from treeaudit.model.words import number_of
from treeaudit.readers.limits import Most, listed
from treeaudit.readers.links import sums
from treeaudit.readers.r.fields import (
    Sides,
    below,
    binary,
    codes_of,
    halves,
    levels_of,
    parameters_of,
    schema_of,
    target_of,
)
from treeaudit.readers.r.objects import NA_INTEGER, RObject
from treeaudit.readers.sklearn.counts import absent, people_per_class

_LEAF = "<leaf>"
_ROUNDING = 1e-6


def read(model: RObject, source: Source) -> Forest:
    """Return the tree of an rpart object."""
    frame = model.part("frame")
    asked = frame.part("var").texts()
    n = len(asked)
    people, weight = frame.part("n").whole(n), frame.part("wt").complete(n)
    leaf = np.array([one == _LEAF for one in asked])
    left, right = _children_of(frame, leaf)
    names = _columns(model, asked)
    levels = levels_of(names, model.attribute("xlevels"))
    feature = np.full(n, -1)
    feature[~leaf] = codes_of(names, [one for one in asked if one != _LEAF])
    splits = _splits(model, frame, leaf)
    partly = ~leaf & (splits[:, 0] < people)
    _check_people(people, weight, ~leaf, left, right, may_stop=partly)
    bound, sets, swapped = _conditions(model, splits, feature, [levels.get(x) for x in names])
    left, right = np.where(swapped, right, left), np.where(swapped, left, right)
    # Where none of its surrogates tells, a row follows most people, unless they are as many.
    majority = np.sign(people[right] - people[left])
    use = model.get("control", "usesurrogate").scalar()
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
    means = alike and model.get("method").scalar() == "anova"
    spread, deviance = None, frame.get("dev").numbers()
    # A released tree keeps no deviances.
    if means and not np.isnan(deviance).all():
        spread = np.sqrt(np.maximum(frame.part("dev").complete(n), 0) / np.maximum(people, 1))
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
    guided = (frame.part("nsurrogate").whole(n) > 0) & (use != 0)
    stopped = np.where(leaf, 0, people - people[left] - people[right])
    led = {*feature[partly & guided].tolist()}, {int(feature[i]) for i in unseen if guided[i]}
    unclear = [[names[i] for i in sorted(some)] for some in led]
    rest = values - values[left] - values[right]
    extras = _groups_at_nodes(stopped, rest) if stopped.any() else Extras()
    return Forest(
        trees=(tree,),
        schema=schema_of(names, levels, classes, target_of(model.get("terms")), gaps),
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
            parameters=parameters_of(model.get("control"), model) | _costs(model, classes),
        ),
    )


def _costs(model: RObject, classes: list[str] | None) -> dict[str, float]:
    """Return the largest cost of a wrong answer, where it is not 1 for all of them."""
    stored = model.get("parms", "loss")
    if classes is None or not stored:
        return {}
    costs = stored.matrix(len(classes), len(classes))
    usual = np.array_equal(costs, 1 - np.eye(len(classes)))
    return {} if usual else {"largest loss": float(costs.max())}


def _children_of(frame: RObject, leaf: Flag) -> tuple[Wide, Wide]:
    """Return the rows of the children of every node, 0 at leaves."""
    stored, n = frame.attribute("row.names"), len(leaf)
    if not stored:
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


def _columns(model: RObject, asked: list[str]) -> list[str]:
    """Return the names of the columns, as far as the file tells."""
    names = model.get("ordered").names or model.get("terms").attribute("term.labels").texts()
    used = [one for one in asked if one != _LEAF]
    return list(dict.fromkeys([*names, *([] if names else used)]))


def _splits(model: RObject, frame: RObject, leaf: Flag) -> Float:
    """Return the primary split of each node: ``count ncat improve index``; zeros at leaves."""
    found = np.zeros((len(leaf), 4))
    stored = model.get("splits")
    if not stored:
        if not leaf.all():
            raise ReadError("the model has no splits")
        return found
    table, n = stored.matrix(width=4), len(leaf)
    more = frame.part("ncompete").whole(n) + frame.part("nsurrogate").whole(n)
    if more.min() < 0 or more.max() > len(table):
        raise ReadError("a node has an impossible number of splits")
    rows = np.cumsum(np.where(leaf, 0, 1 + more)) - (1 + more)
    if np.sum(1 + more[~leaf]) != len(table):
        raise ReadError("there are not as many splits as the nodes of the frame have")
    own = table[rows[~leaf], :4]
    names = stored.dimnames(0)
    asked = frame.part("var").texts()
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
    ways, swapped = model.get("csplit"), splits[:, 1] == 1
    table = ways.matrix() if ways else np.zeros((0, 0))
    for i in np.flatnonzero(feature >= 0).tolist():
        known, n_cat, at = levels[feature[i]], int(splits[i, 1]), int(splits[i, 3]) - 1
        if abs(n_cat) == 1:
            if known is not None:
                sets[i] = halves(len(known), bound[i])
            continue
        if known is None or not 0 <= at < len(table) or n_cat > table.shape[1]:
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
    stored, n = model.attribute("ylevels"), len(frame.part("var"))
    if not stored or model.get("method").scalar() not in (None, "class"):
        return frame.part("yval").complete(n), None, np.ones(0)
    classes = stored.texts()
    table = frame.part("yval2").matrix(n, len(classes) + 1)[:, 1 : len(classes) + 1]
    if not np.all((table >= 0) & (table <= Most.weight)):
        raise ReadError("a class has a negative or impossible count")
    prior = model.get("parms", "prior")
    shares = table[0] / max(table[0].sum(), 1.0) if not prior else prior.complete()
    if len(shares) != len(classes):
        raise ReadError("there are not as many priors as classes")
    # rpart answers with counts that are weighed so that the root has the shares of the prior.
    weights: Float = shares / np.maximum(table[0], 1)
    same = np.allclose(weights[table[0] > 0], weights[table[0] > 0][:1], rtol=_ROUNDING)
    return table, classes, np.ones(len(classes)) if same else weights


def _groups_at_nodes(people: Wide, rest: Float) -> Extras:
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
    where = model.get("where")
    if where.kind == "integer":
        n, rows = len(leaf), where.values
        held = np.bincount(rows[(rows > 0) & (rows <= n)].astype(np.int64) - 1, minlength=n)
        if not np.array_equal(held[leaf], people[leaf]):
            found.append("where, the leaf of every training row, disagrees with the counts")
    return tuple(found)


def read_tree(model: RObject, source: Source) -> Forest:
    """Return the tree of a tree object."""
    frame = model.part("frame")
    asked = frame.part("var").texts()
    leaf, n = np.array([one == _LEAF for one in asked]), len(asked)
    left, right = _children_of(frame, leaf)
    stored = model.attribute("xlevels")
    names = model.get("terms").attribute("term.labels").texts()
    names = names or stored.names
    levels = levels_of(names, stored)
    feature = np.full(n, -1)
    feature[~leaf] = codes_of(names, [one for one in asked if one != _LEAF])
    labels = model.attribute("ylevels").texts() or None
    weight = frame.part("n").complete(n)
    bound, sets = _conditions_of_tree(frame.part("splits").texts(), feature, names, levels)
    held, counts = _people(model, leaf, weight), None
    meaning = absent("the model predicts a number, not a class")
    if labels is not None:
        counts = frame.part("yprob").matrix(n, len(labels))[:, : len(labels)] * weight[:, None]
        meaning = people_per_class(counts[leaf], held[leaf], weight[leaf])
        counts = np.rint(counts) if meaning.counts_are == "exact" else counts
    tree = binary(
        inner=~leaf,
        left=left,
        right=right,
        feature=feature,
        bound=below(bound),
        n_features=len(names),
        sets=sets,
        n_records=held.astype(np.float64),
        counts=counts,
        value=frame.part("yval").complete(n) if labels is None else None,
    )
    people = sums(tree.parent, np.asarray(tree.n_records, np.float64))
    tree = replace(tree, n_records=people.astype(np.int64))
    alike = np.array_equal(weight[leaf], held[leaf])
    return Forest(
        trees=(tree,),
        schema=schema_of(names, levels, labels, target_of(model.get("terms"))),
        counts_are=meaning.counts_are,
        counts_reason=meaning.reason,
        n_records=int(people[0]),
        values_are="means" if alike and labels is None else "unknown",
        source=replace(source, library="tree"),
    )


def _people(model: RObject, leaf: Flag, weight: Float) -> Wide:
    """Return the people that end in every node: without a value of a column they do so above."""
    where = model.get("where")
    if not where:
        return np.where(leaf, np.rint(weight), 0).astype(np.int64)
    at = where.whole() - 1
    if np.any((at < 0) | (at >= len(leaf))):
        raise ReadError("a row is in no node")
    return np.bincount(at, minlength=len(leaf)).astype(np.int64)


def _conditions_of_tree(
    stored: list[str], feature: Wide, names: list[str], levels: dict[str, list[str]]
) -> tuple[Float, dict[int, Sides]]:
    """Return the bounds of numbers and the sets of levels, by their text."""
    n = len(feature)
    if len(stored) != 2 * n:
        raise ReadError("it does not have two conditions for each node")
    bound, sets = np.zeros(n), dict[int, Sides]()
    for i in np.flatnonzero(feature >= 0).tolist():
        known, both = levels.get(names[feature[i]]), (stored[i], stored[n + i])
        if known is None:
            try:
                bound[i] = float(both[0].removeprefix("<"))
            except ValueError:
                raise ReadError("a split has no bound") from None
            continue
        codes = [[ascii_letters.find(letter) for letter in one[1:]] for one in both]
        if any(not 0 <= code < len(known) for side in codes for code in side):
            raise ReadError("a split names a level that does not exist")
        sets[i] = codes[0], codes[1]
    return bound, sets
