"""Why somebody is certain, as steps that whoever has the file can follow.

`treeaudit.reconstruction.checker` follows them and shares no code with this room.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeaudit.model.forest import Forest
from treeaudit.model.words import label_text
from treeaudit.reconstruction.answer import Answer, OfLabel
from treeaudit.reconstruction.cells import Cells
from treeaudit.reconstruction.domain import Variable
from treeaudit.reconstruction.pairs import from_pairs
from treeaudit.reconstruction.shuttle import sweep
from treeaudit.reconstruction.system import Bounds, System
from treeaudit.reconstruction.words import sentence

__all__ = ["Step", "proof_of", "steps_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One bound, and how often to add up which equations for it.

    Attributes
    ----------
    unknown, side, value
        No fewer (``low``) or no more (``high``) than so many.
    times
        By row of the system.
    """

    unknown: int
    side: str
    value: int
    times: Mapping[int, int]


def proof_of(forest: Forest, answer: Answer, *, public: bool = False) -> dict[str, Any]:
    """Return the proof that people are certain, as plain data.

    Parameters
    ----------
    public
        Whether a public schema was given: the domain then rests on it.

    Returns
    -------
    dict
        ``domain`` and ``assumptions``; ``cells`` as the codes of each variable; ``steps`` in
        order, each a bound of a cell and a label, with ``[tree, leaf, times]`` for every equation
        that is added up; and ``people``: cell, label, bounds, and the same in words.
    """
    place: dict[int, int] = {}
    steps, people = [], []
    start = np.concatenate([[0], np.cumsum([tree.n_nodes for tree in forest.trees])])
    for label, one in enumerate(answer.labels):
        bounds = one.system.bounds
        low, high = bounds.low.copy(), bounds.high.copy()
        for step in steps_of(one.system):
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
        "cells": [_codes(answer.cells, cell) for cell in place],
        "steps": steps,
        "people": people,
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return content | {"sha256": hashlib.sha256(text.encode()).hexdigest()}


def _person(
    answer: Answer,
    forest: Forest,
    label: int,
    one: OfLabel,
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
    told: dict[str, Any] = {
        "name": variable.name,
        "columns": list(variable.features),
        "kind": variable.kind,
    }
    if variable.cuts is None:
        return told | {"values": list(variable.values)}
    ends = {"low": variable.low, "high": variable.high}
    finite = {name: end for name, end in ends.items() if np.isfinite(end)}
    return told | {"cuts": variable.cuts.tolist()} | finite


def _codes(cells: Cells, cell: int) -> list[list[int]]:
    found = []
    for variable, row in zip(
        cells.layout.domain.variables, cells.layout.row.tolist(), strict=False
    ):
        if variable.cuts is None:
            bits = np.unpackbits(cells.sets[row, cell].view(np.uint8), bitorder="little")
            found.append(np.flatnonzero(bits).tolist())
        else:
            found.append(list(range(int(cells.low[row, cell]), int(cells.high[row, cell]))))
    return found


def steps_of(system: System) -> list[Step]:
    """Return the steps to the bounds of a system, the way `treeaudit.reconstruction.settle` goes.

    The unknowns begin at 0, and at most at the least of their equations.
    """
    steps, bounds = _by_sweeps(system, system.bounds)
    n, quiet, turn = system.groups, 0, 0
    while quiet < n - 1 and bounds.open.any():
        turn, quiet = turn % (n - 1) + 1, quiet + 1
        for first in range(n):
            second = (first + turn) % n
            after = from_pairs(system, bounds, first, second)
            if (after.low > bounds.low).any() or (after.high < bounds.high).any():
                steps += _of_pair(system, bounds, after, first, second)
                more, bounds = _by_sweeps(system, after)
                steps += more
                quiet = 0
    return steps


def _by_sweeps(system: System, bounds: Bounds) -> tuple[list[Step], Bounds]:
    """Return the steps of single equations, until nothing moves, and the bounds then."""
    steps: list[Step] = []
    rows = system.row.reshape(system.n_unknowns, -1)
    while system.n_unknowns:
        after = sweep(system, bounds)
        # The equation that leaves the least, or lacks the most.
        spare = (system.most - system.times(bounds.low))[rows]
        lacks = (system.least - system.times(bounds.high))[rows]
        before = len(steps)
        for k in np.flatnonzero(after.high < bounds.high).tolist():
            row = int(rows[k, spare[k].argmin()])
            steps.append(Step(unknown=k, side="high", value=int(after.high[k]), times={row: 1}))
        for k in np.flatnonzero(after.low > bounds.low).tolist():
            row = int(rows[k, lacks[k].argmax()])
            steps.append(Step(unknown=k, side="low", value=int(after.low[k]), times={row: 1}))
        bounds = after
        if len(steps) == before:
            break
    return steps, bounds


def _of_pair(system: System, bounds: Bounds, after: Bounds, first: int, second: int) -> list[Step]:
    """Return the steps of a pair of trees: the equations of leaves that meet, or lie in each other.

    Every one is tried: one of them gives the bound.
    """
    rows = system.row.reshape(-1, system.groups)[:, [first, second]]
    at = np.flatnonzero(bounds.open)
    pairs = np.unique(rows[at], axis=0)
    meets = {r: pairs[pairs[:, 0] == r, 1].tolist() for r in np.unique(pairs[:, 0]).tolist()}
    met = {s: pairs[pairs[:, 1] == s, 0].tolist() for s in np.unique(pairs[:, 1]).tolist()}
    steps = []
    for side, old, new in (
        ("high", bounds.high, after.high),
        ("low", bounds.low, after.low),
    ):
        for k in np.flatnonzero(old != new).tolist():
            r, s = rows[k].tolist()
            ways = [dict.fromkeys(meets[r_2], 1) | {r_2: -1} for r_2 in met[s] if r_2 != r]
            inside = [one for one in meets[r] if met[one] == [r]]
            ways += [{r: 1} | dict.fromkeys(inside, -1)] if s not in inside else []
            value = int(new[k])
            fits = [way for way in ways if _gives(system, bounds, k, side, way, value)]
            steps.append(Step(unknown=k, side=side, value=value, times=min(fits, key=len)))
    return steps


def _gives(
    system: System, bounds: Bounds, unknown: int, side: str, times: Mapping[int, int], value: int
) -> bool:
    """Tell whether equations, added up so many times, give a bound."""
    multiplier = np.zeros(system.n_rows)
    multiplier[list(times)] = list(times.values())
    column = multiplier[system.row].reshape(-1, system.groups).sum(axis=1)
    if column[unknown] != 1:
        return False
    worst = np.where((column > 0) == (side == "low"), bounds.high, bounds.low) * column
    rest = float(multiplier @ system.most - (worst.sum() - worst[unknown]))
    return rest >= value if side == "low" else rest <= value
