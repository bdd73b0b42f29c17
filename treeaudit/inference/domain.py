"""The public domain: which records there can be, read off the file before anything is known.

What the file does not say is assumed, a sentence for each assumption.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.errors import DataError
from treeaudit.inference.questions import Questions, questions_of
from treeaudit.inference.scope import assumptions_of, complete_trees
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variable:
    """One thing of which a record has exactly one value; the values have codes 0, 1, …."""

    name: str  # Untrusted text
    features: tuple[int, ...]  # The columns of the model that hold it; several for a one-hot group
    # ``categories``: one column of codes. ``one-hot``: code i is a 1 in the i-th column and 0
    # in the others, and one more code, where there is one, is 0 in all; a column of 0 and 1
    # is a group of one. ``number``: code i is the interval above ``cuts[i - 1]`` up to
    # ``cuts[i]``.
    kind: Literal["categories", "one-hot", "number"]
    values: tuple[str, ...] = ()  # The names of the codes; empty for numbers
    cuts: Float | None = None  # Ascending thresholds that the trees ask about; None unless a number
    # Public bounds of a number; infinite where there are none
    low: float = -math.inf
    high: float = math.inf
    whole: bool = False  # Whether a number takes whole values only

    @property
    def n_codes(self) -> int:
        """How many codes there are."""
        return len(self.values) if self.cuts is None else len(self.cuts) + 1

    @property
    def edges(self) -> Float:
        """The ends of the intervals of a number, ``n_codes + 1`` of them, within its bounds."""
        inner = np.zeros(0) if self.cuts is None else self.cuts
        # The lowest value itself is in the first interval, which does not hold its lower end.
        first = np.nextafter(self.low, -np.inf) if math.isfinite(self.low) else self.low
        edges: Float = np.clip(np.concatenate([[-np.inf], inner, [np.inf]]), first, self.high)
        return edges

    def n_values(self, first: Int, last: Int) -> Float:
        """Return how many values codes ``first`` to ``last - 1`` hold; infinite if not known."""
        if self.cuts is None:
            return (last - first).astype(np.float64)
        if not self.whole:
            return np.full(len(first), np.inf)
        n = np.floor(self.edges[last]) - np.floor(self.edges[first])
        return np.where(n > 0, n, np.inf)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Domain:
    """The records that there can be: every combination of the values of the variables."""

    variables: tuple[Variable, ...]  # Those that some tree asks about
    silent: tuple[str, ...] = ()  # Names of the columns that no tree asks about
    # What the file does not say and every answer rests on, a sentence each
    assumptions: tuple[str, ...] = ()
    single_precision: bool = False  # Whether numbers are compared as 32-bit numbers

    @property
    def bits(self) -> float:
        """Bits that tell one record of the domain; of numbers the intervals are told apart."""
        return math.fsum(math.log2(variable.n_codes) for variable in self.variables)

    def codes(self, values: Float) -> Int:
        """Return the codes of some records, shape ``(n_records, n_variables)``; -1 outside it.

        ``values``: shape ``(n_records, n_features)``, as `treeaudit.model.tree.Tree.apply` takes
        them.
        """
        codes = np.full((len(values), len(self.variables)), -1, dtype=np.int32)
        for i, variable in enumerate(self.variables):
            columns = values[:, list(variable.features)].astype(np.float64)
            if variable.cuts is not None:
                x = columns[:, 0]
                if self.single_precision:
                    x = x.astype(np.float32).astype(np.float64)
                fits = (x >= variable.low) & (x <= variable.high)
                codes[:, i] = np.where(fits, np.searchsorted(variable.cuts, x), -1)
            elif variable.kind == "categories":
                known = (columns[:, 0] >= 0) & (columns[:, 0] < variable.n_codes)
                codes[:, i] = np.where(known, np.nan_to_num(columns[:, 0]), -1)
            else:
                n, ones = columns.shape[1], columns.sum(axis=1)
                legal = ((columns == 0) | (columns == 1)).all(axis=1) & (ones <= 1)
                none = n if variable.n_codes > n else -1
                codes[legal, i] = np.where(ones == 1, columns.argmax(axis=1), none)[legal]
        return codes


_SIGNS = re.compile(r"[_:=.,;|/\- ]+")
_EXPECTED, _FEWEST = 25, 3
"""Without names: edges of a column to be expected below the others of its group, and members."""
_QUESTIONS, _CUTS = 20, 3
"""Questions below members of a group, and thresholds of a column of whole numbers: with fewer it is
not believed."""


def domain_of(
    forest: Forest,
    trees: Iterable[Tree] | None = None,
    public: Schema | None = None,
    *,
    again: Iterable[Tree] = (),
) -> Domain:
    """Return the domain that trees of a forest ask about.

    Raises DataError if the public schema names a column that the model does not have, or values
    were missing in the training data.
    """
    features = forest.schema.features
    questions = questions_of(
        complete_trees(forest, forest.trees if trees is None else trees), len(features)
    )
    questions = questions.union(questions_of(again, len(features)))
    flags = questions.zero_or_one()
    known, groups = _described(public, features)
    assumptions = [*assumptions_of(forest)]
    if public is None:
        named = forest.schema.named
        groups = (_groups if named else _unnamed_groups)(features, questions, flags)
        dots = "…" if named else ""
        why = "so say their names, and no tree asks" if named else "no tree asks"
        assumptions += [
            f"at most one of the {len(one.features)} columns {one.name}{dots} is 1: {why} for a "
            "second after a first"
            for one in groups
        ]
    grouped = {i for one in groups for i in one.features}
    alone = [i for i in range(len(features)) if i not in grouped and questions.about(i)]
    binary = [i for i in alone if flags[i] and _may_be_flag(features[i])]
    binary = [i for i in binary if i not in known]
    variables = [one for one in groups if any(questions.about(i) for i in one.features)]
    whole = []
    for i in alone:
        feature, cuts = known.get(i, features[i]), questions.cuts[i]
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
            whole += [i] if one.whole else []
        variables.append(one)
    only = "0.5" if questions.half_way else "between the two"
    for columns, what in ((binary, f"0 or 1: their only threshold is {only}"),
                          (whole, "whole numbers: so say their thresholds")):  # fmt: skip
        if columns:
            assumptions.append(f"{_some([features[i].name for i in columns])} {what}")
    assumptions.append("no value is missing in the training data")
    used = {i for one in variables for i in one.features}
    return Domain(
        variables=tuple(sorted(variables, key=lambda one: one.features)),
        silent=tuple(f.name for i, f in enumerate(features) if i not in used),
        assumptions=tuple(assumptions),
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


def _groups(features: Sequence[Feature], questions: Questions, alone: Flag) -> list[Variable]:
    """Return the one-hot groups that names and questions agree on, longest names first."""
    by_prefix = defaultdict(list)
    for i, feature in enumerate(features):
        if _may_be_flag(feature) and (alone[i] or not questions.about(i)):
            for sign in _SIGNS.finditer(feature.name):
                if sign.start() and sign.end() < len(feature.name):
                    by_prefix[feature.name[: sign.start()]].append(i)
    groups: list[Variable] = []
    taken: set[int] = set()
    for prefix, columns in sorted(by_prefix.items(), key=lambda one: (-len(one[0]), one[0])):
        members = [i for i in columns if i not in taken]
        place = questions.places(members)
        below = questions.below[place]
        believed = below.sum() >= _QUESTIONS and not below[:, place].any()
        if len(members) < 2 or not believed or not any(map(questions.about, members)):
            continue
        taken |= {*members}
        values = [_SIGNS.sub("", features[i].name[len(prefix) :], count=1) for i in members]
        groups.append(_one_hot(prefix, members, [*values, "none of these"]))
    return groups


def _unnamed_groups(
    features: Sequence[Feature], questions: Questions, alone: Flag
) -> list[Variable]:
    """Return the groups of which no tree asks for two, where many questions were to be expected."""
    left = np.array([_may_be_flag(one) for one in features], dtype=np.bool_) & alone
    place = questions.places(np.flatnonzero(left).tolist())
    features = [features[i] for i in questions.flags[place].tolist()]
    n_below, share = questions.expected(place)
    left = np.ones(len(place), dtype=np.bool_)

    def expected(i: int | Wide, other: Wide) -> Float:
        return np.minimum(n_below[i] * share[other], n_below[other] * share[i])

    def apart(i: int, other: Wide) -> Flag:
        mine, others = place[i], place[other]
        together = questions.below[mine, others] + questions.below[others, mine]
        return np.asarray((together == 0) & (expected(i, other) >= _EXPECTED / 10))

    groups = []
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
            title, columns = f"{names[0]} … {names[-1]}", questions.flags[place[members]].tolist()
            groups.append(_one_hot(title, columns, [*names, "none of these"]))
    return groups


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
