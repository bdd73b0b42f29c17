"""Which domain the file itself tells, and what has to be assumed where it does not."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.dataclass import dataclass
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.tree import Tree
from treeaudit.reconstruction.complete import complete
from treeaudit.reconstruction.domain import Domain, Variable
from treeaudit.reconstruction.nodes import Nodes, chunks, nodes_of
from treeaudit.reconstruction.scope import assumed

__all__ = ["domain_of"]

_SIGNS = re.compile(r"[_:=.,;|/\- ]+")
_HALF = 0.5
_BETWEEN = (_HALF, float(np.nextafter(1.0, 0.0)), float(np.float32(1e-35)))
"""Where libraries put a threshold between 0 and 1: half way, ``x < 1``, and next to 0."""
_EXPECTED, _FEWEST = 25, 3
"""Without names: edges of a column to be expected below the others of its group, and members."""
_QUESTIONS, _AGAIN, _CUTS = 20, 10, 3
"""Questions below members of a group, questions to be expected again about a column of 0 and 1, and
thresholds of a column of whole numbers: with fewer it is not believed."""
_BITS = 64


def domain_of(
    forest: Forest,
    trees: Iterable[Tree] | None = None,
    public: Schema | None = None,
    *,
    again: Iterable[Tree] = (),
) -> Domain:
    """Return the domain that trees of a forest ask about.

    Parameters
    ----------
    trees
        Those that will be used, all of them unless told.
    public
        What is known of the columns besides the file. A column with categories may stand for a
        group of one-hot columns, named ``COLUMN_CATEGORY`` with any of the usual signs between.
    again
        Trees of another release: they ask too, but are no second evidence of what nobody asks.

    Raises
    ------
    DataError
        If the public schema names a column that the model does not have, or values were missing in
        the training data.
    """
    features = forest.schema.features
    asked = _asked(complete(forest, forest.trees if trees is None else trees), len(features))
    asked = asked.and_so(_asked(again, len(features)))
    flags = asked.zero_or_one()
    known, groups = _described(public, features)
    said = [*assumed(forest)]
    if public is None:
        named = forest.schema.named
        groups = (_groups if named else _unnamed_groups)(features, asked, flags)
        dots = "…" if named else ""
        why = "so say their names, and no tree asks" if named else "no tree asks"
        said += [
            f"at most one of the {len(one.features)} columns {one.name}{dots} is 1: {why} for a "
            "second after a first"
            for one in groups
        ]
    grouped = {i for one in groups for i in one.features}
    alone = [i for i in range(len(features)) if i not in grouped and asked.about(i)]
    binary = [i for i in alone if flags[i] and _may_be_flag(features[i])]
    binary = [i for i in binary if i not in known]
    variables = [one for one in groups if any(asked.about(i) for i in one.features)]
    counted = []
    for i in alone:
        feature, cuts = known.get(i, features[i]), asked.cuts[i]
        if i in binary:
            one = Variable(name=feature.name, features=(i,), kind="one-hot", values=("1", "0"))
        elif features[i].categories is not None:
            values = features[i].categories or ()
            one = Variable(name=feature.name, features=(i,), kind="categories", values=values)
        else:
            one = Variable(
                name=feature.name,
                features=(i,),
                kind="number",
                cuts=cuts,
                low=-math.inf if feature.low is None else feature.low,
                high=math.inf if feature.high is None else feature.high,
                whole=len(cuts) >= _CUTS and _whole(cuts),
            )
            counted += [i] if one.whole else []
        variables.append(one)
    only = "0.5" if asked.half_way else "between the two"
    for columns, what in ((binary, f"0 or 1: their only threshold is {only}"),
                          (counted, "whole numbers: so say their thresholds")):  # fmt: skip
        if columns:
            said.append(f"{_some([features[i].name for i in columns])} {what}")
    said.append("no value is missing in the training data")
    used = {i for one in variables for i in one.features}
    return Domain(
        variables=tuple(sorted(variables, key=lambda one: one.features)),
        silent=tuple(f.name for i, f in enumerate(features) if i not in used),
        assumptions=tuple(said),
        single_precision=forest.single_precision,
    )


def _may_be_flag(feature: Feature) -> bool:
    """Tell whether nothing in the file speaks against a column of 0 and 1."""
    return feature.categories is None and not feature.beyond_one


def _some(names: Sequence[str]) -> str:
    more = "" if len(names) <= 5 else f" and {len(names) - 5:,} more columns"
    return f"{', '.join(names[:5])}{more} {'holds' if len(names) == 1 else 'hold'}"


def _whole(cuts: Float) -> bool:
    """Tell whether thresholds are halves or whole numbers, or next below one."""
    at = 2 * np.where(cuts == np.nextafter(np.rint(cuts), -np.inf), np.rint(cuts), cuts)
    return bool((at == np.floor(at)).all())


def _between(cuts: Float) -> bool:
    """Tell whether the only threshold is one between 0 and 1."""
    return len(cuts) == 1 and float(cuts[0]) in _BETWEEN


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Asked:
    """What trees ask: thresholds per column, columns of sets, and columns below a 1 of others.

    ``halves`` counts the edges between 0 and 1 per column, and ``flags`` are the columns that have
    any. ``below[i, j]`` counts the edges of the j-th of them below those on which the i-th is above
    that.
    """

    cuts: tuple[Float, ...]
    sets: frozenset[int]
    halves: Wide
    flags: Wide
    below: Int

    def and_so(self, other: "_Asked") -> "_Asked":
        """Return what both ask, where neither of them is evidence besides the other."""
        flags = np.union1d(self.flags, other.flags)
        below = self.below
        if len(other.flags):
            mine, theirs = (_among(one.below, one.flags, flags) for one in (self, other))
            below = np.maximum(mine, theirs)
        return _Asked(
            cuts=tuple(map(np.union1d, self.cuts, other.cuts)),
            sets=self.sets | other.sets,
            halves=np.maximum(self.halves, other.halves),
            flags=flags,
            below=below,
        )

    def about(self, column: int) -> bool:
        return len(self.cuts[column]) > 0 or column in self.sets

    def zero_or_one(self) -> Flag:
        """Tell which columns are asked one thing alone, where more was to be expected.

        A column with more values would be asked about again where it is above the threshold.
        """
        again = np.zeros(len(self.cuts))
        again[self.flags] = np.prod(self.expected(np.arange(len(self.flags))), axis=0)
        between = np.array([_between(cuts) for cuts in self.cuts], dtype=np.bool_)
        silent = np.array([len(cuts) == 0 for cuts in self.cuts], dtype=np.bool_)
        only = bool((silent | between).all()) and not self.sets
        enough = (again >= _AGAIN) | (only and again.sum() >= 2 * _AGAIN)
        return np.asarray(enough & between)

    @property
    def half_way(self) -> bool:
        """Tell whether no threshold is between 0 and 1 but 0.5."""
        return not any(np.isin(_BETWEEN[1:], cuts).any() for cuts in self.cuts)

    def places(self, columns: Sequence[int]) -> Wide:
        """Return where those of some columns that are asked between 0 and 1 stand in ``flags``."""
        return np.flatnonzero(np.isin(self.flags, columns))

    def expected(self, places: Wide) -> tuple[Float, Float]:
        """Return what ``below`` would be if what is asked did not depend on what was asked.

        For some of the flags: the questions below each of them, and the share of all questions that
        are about each; their products.
        """
        share = self.halves[self.flags[places]] / max(int(self.halves.sum()), 1)
        return self.below.sum(axis=1)[places].astype(np.float64), share


def _asked(trees: Iterable[Tree], n_features: int) -> _Asked:
    halves, sets = np.zeros(n_features, dtype=np.int64), set[int]()
    half_way = np.zeros(n_features, dtype=np.bool_)
    other: list[tuple[Wide, Float]] = []
    flags, below = np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.int32)
    for held in chunks(_distinct(trees)):
        nodes = nodes_of(held)
        sets |= {*np.unique(nodes.feature[nodes.owner]).tolist()}
        ones = np.isin(nodes.low, _BETWEEN)
        for side in (nodes.low, nodes.high):
            between = ones if side is nodes.low else np.isin(side, _BETWEEN)
            halves += np.bincount(nodes.feature[between], minlength=n_features)
            half_way[nodes.feature[side == _HALF]] = True
            at = np.flatnonzero((side != _HALF) & np.isfinite(side) & (nodes.parent >= 0))
            at = at[np.lexsort((side[at], nodes.feature[at]))]
            column, cut = nodes.feature[at], side[at]
            fresh = (np.diff(column, prepend=-1) != 0) | (np.diff(cut, prepend=0) != 0)
            other.append((column[fresh].astype(np.int64), cut[fresh]))
        before, flags = flags, np.flatnonzero(halves)
        more = _below(nodes, ones, flags)
        below = more if not len(before) else _among(below, before, flags) + more
    column = np.concatenate([np.zeros(0, np.int64), *(one for one, _ in other)])
    cut = np.concatenate([np.zeros(0), *(one for _, one in other)])
    order = np.argsort(column, kind="stable")
    ends = np.searchsorted(column[order], np.arange(1, n_features))
    cuts = [np.unique(one) for one in np.split(cut[order], ends)]
    for i in np.flatnonzero(half_way).tolist():
        cuts[i] = np.union1d(cuts[i], _HALF)
    return _Asked(cuts=tuple(cuts), sets=frozenset(sets), halves=halves, flags=flags, below=below)


def _among(below: Int, flags: Wide, more: Wide) -> Int:
    """Return counts of pairs of columns as those of more columns, all of them among these."""
    place = np.searchsorted(more, flags)
    found = np.zeros((len(more), len(more)), dtype=np.int32)
    found[np.ix_(place, place)] = below
    return found


def _distinct(trees: Iterable[Tree]) -> Iterator[Tree]:
    """Yield each tree once: those that ask the same are no evidence besides each other."""
    seen = set[int]()
    for tree in trees:
        key = hash((tree.feature.tobytes(), tree.low.tobytes(), tree.high.tobytes()))
        if key not in seen:
            seen.add(key)
            yield tree


def _below(nodes: Nodes, one: Flag, flags: Wide) -> Int:
    """Count the edges of each of some columns below those on which another is above 0.5.

    ``one`` marks the edges into such nodes. What is above a node is a bit a column.
    """
    at = np.flatnonzero(one)
    # Each of them is among the columns.
    column, parent = np.searchsorted(flags, nodes.feature[at]), nodes.parent[at]
    n = len(flags)
    found = np.zeros((n, n), dtype=np.int32)
    asked = np.flatnonzero(np.bincount(column, minlength=n))
    for columns in np.split(asked, range(_BITS, len(asked), _BITS)):
        bit = np.zeros(n, dtype=np.uint64)
        bit[columns] = np.uint64(1) << np.arange(len(columns), dtype=np.uint64)
        ones = np.zeros(len(nodes.parent), dtype=np.uint64)
        ones[at] = bit[column]
        for level in nodes.levels:
            ones[level] |= ones[nodes.parent[level]]
        above = ones[parent]
        for i in columns.tolist():
            # One edge of each question whether a column is above 0.5.
            found[i] = np.bincount(column[(above & bit[i]) != 0], minlength=n)
    return found


def _groups(features: Sequence[Feature], asked: _Asked, alone: Flag) -> list[Variable]:
    """Return the one-hot groups that names and questions agree on, longest names first."""
    by_prefix = defaultdict(list)
    for i, feature in enumerate(features):
        if _may_be_flag(feature) and (alone[i] or not asked.about(i)):
            for sign in _SIGNS.finditer(feature.name):
                if sign.start() and sign.end() < len(feature.name):
                    by_prefix[feature.name[: sign.start()]].append(i)
    found: list[Variable] = []
    taken: set[int] = set()
    for prefix, columns in sorted(by_prefix.items(), key=lambda one: (-len(one[0]), one[0])):
        members = [i for i in columns if i not in taken]
        place = asked.places(members)
        below = asked.below[place]
        believed = below.sum() >= _QUESTIONS and not below[:, place].any()
        if len(members) < 2 or not believed or not any(map(asked.about, members)):
            continue
        taken |= {*members}
        values = [_SIGNS.sub("", features[i].name[len(prefix) :], count=1) for i in members]
        found.append(_one_hot(prefix, members, [*values, "none of these"]))
    return found


def _unnamed_groups(features: Sequence[Feature], asked: _Asked, alone: Flag) -> list[Variable]:
    """Return the groups of which no tree asks for two, where many questions were to be expected."""
    left = np.array([_may_be_flag(one) for one in features], dtype=np.bool_) & alone
    place = asked.places(np.flatnonzero(left).tolist())
    features = [features[i] for i in asked.flags[place].tolist()]
    n_below, share = asked.expected(place)
    left = np.ones(len(place), dtype=np.bool_)

    def expected(i: int | Wide, other: Wide) -> Float:
        return np.minimum(n_below[i] * share[other], n_below[other] * share[i])

    def apart(i: int, other: Wide) -> Flag:
        mine, others = place[i], place[other]
        together = asked.below[mine, others] + asked.below[others, mine]
        return np.asarray((together == 0) & (expected(i, other) >= _EXPECTED / 10))

    found = []
    for first in range(len(place)):
        if not left[first]:
            continue
        members = np.array([first])
        behind = first + 1 + np.flatnonzero(left[first + 1 :])
        for i in behind[apart(first, behind)].tolist():
            if apart(i, members).all():
                members = np.append(members, i)
        left[members] = False
        other = expected(members[:, None], members[None]).sum(axis=1) - expected(members, members)
        if len(members) >= _FEWEST and (other >= _EXPECTED).all():
            names = [features[i].name for i in members.tolist()]
            title, columns = f"{names[0]} … {names[-1]}", asked.flags[place[members]].tolist()
            found.append(_one_hot(title, columns, [*names, "none of these"]))
    return found


def _one_hot(name: str, members: Sequence[int], values: Sequence[str]) -> Variable:
    return Variable(name=name, features=tuple(members), kind="one-hot", values=tuple(values))


def _described(
    public: Schema | None, features: Sequence[Feature]
) -> tuple[dict[int, Feature], list[Variable]]:
    """Match a public schema with the columns: single ones, and groups of one-hot columns."""
    place = {feature.name: i for i, feature in enumerate(features)}
    flat = {_SIGNS.sub("_", name): i for name, i in place.items()}
    known, groups = {}, list[Variable]()
    for column in () if public is None else public.features:
        if column.name in place:
            known[place[column.name]] = column
            continue
        made = [_SIGNS.sub("_", f"{column.name}_{value}") for value in column.categories or ()]
        if not made or not all(name in flat for name in made):
            raise DataError(f"the schema describes {column.name!r}, which the model does not have")
        groups.append(_one_hot(column.name, [flat[name] for name in made], column.categories or ()))
    return known, groups
