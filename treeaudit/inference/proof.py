"""Why somebody is certain, as steps that whoever has the file can follow.

`treeaudit.inference.checker` follows them and shares no code with this room.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.inference.bounds import Bounds, System, pair_bounds, sweep
from treeaudit.inference.domain import Variable
from treeaudit.inference.exact import ClassSolution, Solution
from treeaudit.inference.explanation import sentence
from treeaudit.model.forest import Forest
from treeaudit.model.words import label_text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One bound, and how often to add up which equations for it."""

    # No fewer (``low``) or no more (``high``) than so many
    unknown: int
    side: str
    value: int
    times: Mapping[int, int]  # By row of the system


def proof_of(
    forest: Forest,
    answer: Solution,
    *,
    public: bool = False,
    over: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Return the proof that people are certain, as plain data.

    ``over`` tells whether to stop: the steps so far then prove fewer people.

    Returns ``domain`` and ``assumptions``; ``cells`` as the codes of each variable; ``steps`` in
    order, each a bound of a cell and a label, with ``[tree, leaf, times]`` for every equation that
    is added up; and ``people``: cell, label, bounds, and the same in words.
    """
    place: dict[int, int] = {}
    steps, people = [], []
    start = np.concatenate([[0], np.cumsum([tree.n_nodes for tree in forest.trees])])
    for label, one in enumerate(answer.labels):
        if not one.bounds.low.any():
            continue
        bounds = one.system.bounds
        low, high = bounds.low.copy(), bounds.high.copy()
        for step in _steps_of(one.system, one.bounds, over):
            side = low if step.side == "low" else high
            side[step.unknown] = step.value
            equations = []
            for row, times in step.times.items():
                node = int(one.system.origin[row])
                tree = int(np.searchsorted(start, node, side="right")) - 1
                equations.append([tree, node - int(start[tree]), times])
            at = place.setdefault(int(one.cell[step.unknown]), len(place))
            steps.append(
                {"label": label, "cell": at, step.side: step.value, "equations": equations}
            )
        people += [
            _person(answer, forest, label, one, k, place, int(low[k]), int(high[k]))
            for k in np.flatnonzero(low > 0).tolist()
        ]
    content = {
        "treeaudit_proof": 1,
        "model": {"sha256": forest.source.sha256, "trees": answer.n_trees},
        "public_schema": public,
        "domain": [_variable(one) for one in answer.domain.variables],
        "assumptions": list(answer.domain.assumptions),
        "certified": sum(one["people"][0] for one in people),
        "cells": [[list(codes) for _, codes in answer.cells.codes(cell)] for cell in place],
        "steps": steps,
        "people": people,
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return content | {"sha256": hashlib.sha256(text.encode()).hexdigest()}


def _person(
    answer: Solution,
    forest: Forest,
    label: int,
    one: ClassSolution,
    unknown: int,
    place: dict[int, int],
    low: int,
    high: int,
) -> dict[str, Any]:
    cell = int(one.cell[unknown])
    name = label_text((forest.schema.classes or ())[label])
    return {
        "label": label,
        "cell": place.setdefault(cell, len(place)),
        "people": [low, high],
        "says": f"{sentence(answer.cells, cell)} · {forest.schema.target} = {name}",
    }


def _variable(variable: Variable) -> dict[str, Any]:
    content: dict[str, Any] = {
        "name": variable.name,
        "columns": list(variable.features),
        "kind": variable.kind,
    }
    if variable.cuts is None:
        return content | {"values": list(variable.values)}
    bounds = {"low": variable.low, "high": variable.high}
    finite = {name: end for name, end in bounds.items() if np.isfinite(end)}
    return content | {"cuts": variable.cuts.tolist()} | finite


def _steps_of(system: System, goal: Bounds, over: Callable[[], bool]) -> list[_Step]:
    """Return the steps to the bounds of a system, the way `treeaudit.inference.bounds` goes.

    The unknowns begin at 0, and at most at the least of their equations; each step counts with
    all that come before it. They end where the bounds are as good as a goal.
    """
    way = _Way(system, over)
    way.sweeps()
    n, quiet, turn = system.groups, 0, 0
    while quiet < n - 1 and not (over() or way.reaches(goal)):
        turn, quiet = turn % (n - 1) + 1, quiet + 1
        for first in range(n):
            if way.pair(first, (first + turn) % n):
                way.sweeps()
                quiet = 0
    return way.steps


class _Way:
    """The steps so far, and the bounds to which they lead."""

    def __init__(self, system: System, over: Callable[[], bool]) -> None:
        self.system, self.steps, self.over = system, list[_Step](), over
        self.rows = system.row.reshape(system.n_unknowns, -1)
        self.low, self.high = system.bounds.low.copy(), system.bounds.high.copy()
        order = np.argsort(system.row, kind="stable")
        self.of = system.column[order]
        self.at = np.searchsorted(system.row[order], np.arange(system.n_rows + 1))

    @property
    def bounds(self) -> Bounds:
        return Bounds(low=self.low.copy(), high=self.high.copy())

    def reaches(self, goal: Bounds) -> bool:
        """Tell whether the bounds are no looser than others."""
        return bool((self.low >= goal.low).all() and (self.high <= goal.high).all())

    def add(self, unknown: int, side: str, times: Mapping[int, int]) -> None:
        """Take a step, where it says more than is known."""
        if self.over():
            return
        multiplier = np.zeros(self.system.n_rows)
        multiplier[list(times)] = list(times.values())
        met = np.unique(self.met(list(times)))
        column = multiplier[self.rows[met]].sum(axis=1)
        lowest = side == "low"
        worst = np.where((column > 0) == lowest, self.high[met], self.low[met]) * column
        others = worst.sum() - worst[met == unknown].sum()
        value = float(multiplier @ self.system.most - others)
        mine = self.low if lowest else self.high
        if value > mine[unknown] if lowest else value < mine[unknown]:
            mine[unknown] = value
            self.steps.append(_Step(unknown=unknown, side=side, value=int(value), times=times))

    def met(self, rows: list[int]) -> Wide:
        """Return the unknowns of some equations."""
        return np.concatenate([self.of[self.at[row] : self.at[row + 1]] for row in rows])

    def sweeps(self) -> None:
        """Take the steps of single equations until nothing moves."""
        system = self.system
        while system.n_unknowns:
            before, known = len(self.steps), self.bounds
            after = sweep(system, known)
            # The equation that leaves the least, or lacks the most.
            spare = (system.most - system.times(known.low))[self.rows]
            lacks = (system.least - system.times(known.high))[self.rows]
            for k in np.flatnonzero(after.high < known.high).tolist():
                self.add(k, "high", {int(self.rows[k, spare[k].argmin()]): 1})
            for k in np.flatnonzero(after.low > known.low).tolist():
                self.add(k, "low", {int(self.rows[k, lacks[k].argmax()]): 1})
            if len(self.steps) == before:
                return

    def pair(self, first: int, second: int) -> bool:
        """Take the steps of a pair of trees; tell whether there were any.

        A bound comes from a leaf and those that meet it, or from one and those inside it: every
        one is tried.
        """
        known, before = self.bounds, len(self.steps)
        after = pair_bounds(self.system, known, self.rows[:, first], self.rows[:, second])
        new = np.flatnonzero((after.low > known.low) | (after.high < known.high))
        if not len(new):
            return False
        rows = self.rows[:, [first, second]]
        pairs = np.unique(rows[known.open], axis=0)
        meets, met = defaultdict(list), defaultdict(list)
        for r, s in pairs.tolist():
            meets[r].append(s)
            met[s].append(r)
        for k in new.tolist():
            r, s = rows[k].tolist()
            combinations = [dict.fromkeys(meets[one], 1) | {one: -1} for one in met[s] if one != r]
            inside = [one for one in meets[r] if met[one] == [r]]
            combinations += [{r: 1} | dict.fromkeys(inside, -1)] if s not in inside else []
            for equations in sorted(combinations, key=len):
                if after.high[k] < self.high[k]:
                    self.add(k, "high", equations)
                if after.low[k] > self.low[k]:
                    self.add(k, "low", equations)
        return len(self.steps) > before
