"""Hold a report against what has to be in it."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tests.route.expected import Expected
from tests.route.leaves import Group

__all__ = ["differences"]

_LOOSE = {"joint", "excess", "excess_of_one_label"}


def differences(report: Mapping[str, Any], expected: Expected) -> list[str]:
    """Return what a JSON report says otherwise, a line each."""
    found = {one["id"]: one for one in report["findings"]}
    said: list[str] = []
    loose = expected.loose
    for name, numbers in expected.findings.items():
        if expected.person is not None:
            # How certain single leaves are stays told in records.
            numbers = {
                n: v
                for n, v in numbers.items()
                if n
                not in ("mixed_leaves", "worst_case_certainty_by_known", "certainty_by_negations")
            }
        if loose:
            # Who of those who end in a leaf was drawn, the report cannot know.
            numbers = {
                n: v
                for n, v in numbers.items()
                if not n.endswith(("_people", "_share"))
                and n not in ("group_sizes", "certain_share")
            }
        if found[name]["status"] == "skipped":
            if not _rightly_skipped(name, numbers, expected):
                said.append(f"{name}: skipped, {found[name]['reason']}")
            continue
        said += _unequal(name, found[name]["details"], numbers)
    details = {name: one["details"] for name, one in found.items() if one["status"] != "skipped"}
    for name, check in (("TA101", _alone), ("TA102", _certain), ("TA103", _known)):
        if name in expected.findings and name in details:
            said += [f"{name}.{line}" for line in check(details[name], expected)]
    for name in {"TA101", "TA102"} & {*expected.findings} & {*details}:
        said += [f"{name}.{line}" for line in _tree_by_tree(name, found[name], expected)]
    return said


def _tree_by_tree(name: str, finding: Mapping[str, Any], expected: Expected) -> Iterator[str]:
    """Hold the rows of single trees against their groups."""
    k, some = expected.k, expected.loose
    for row in finding.get("per_tree") or ():
        tree = row["tree"]
        each = expected.trees[tree]
        real: dict[str, Any] = {
            "unique_leaves": sum(g.size == 1 for g in each),
            "below_k_leaves": sum(g.size < k for g in each),
            "min_leaf": min(g.size for g in each),
        }
        people = {
            "unique_people": expected.count(lambda g: g.size == 1)[tree],
            "below_k_people": expected.count(lambda g: g.size < k)[tree],
        }
        if name == "TA102":
            real = {"homogeneous_leaves": sum(g.distinct == 1 for g in each)}
            real["distinct_l"] = min(g.distinct for g in each)
            people = {"homogeneous_people": expected.count(lambda g: g.distinct == 1)[tree]}
        yield from _unequal(f"per_tree[{tree}]", row, real if some else real | people)


def _rightly_skipped(name: str, numbers: Mapping[str, Any], expected: Expected) -> bool:
    """Tell whether nothing was found where not everything could be looked at."""
    if name == "TA103":
        return bool(numbers["leaves_not_countable"]) and not any(numbers["leaves_by_known"][1:])
    return name == "TA106" and expected.drawn.seeds and numbers["excess"] <= 0


def _unequal(path: str, said: Any, real: Any) -> Iterator[str]:
    if isinstance(real, Mapping):
        for name, value in real.items():
            if name in ("curves", "by_tree", "last"):
                continue
            if name not in said:
                yield f"{path}.{name}: missing"
            else:
                yield from _unequal(f"{path}.{name}", said[name], value)
    elif isinstance(real, list | tuple):
        if len(said) != len(real):
            yield f"{path}: {len(said)} entries, not {len(real)}"
        for i, (one, other) in enumerate(zip(said, real, strict=False)):
            yield from _unequal(f"{path}[{i}]", one, other)
    elif real is None or said is None or isinstance(real, bool | str):
        if said != real:
            yield f"{path}: {said!r}, not {real!r}"
    elif not np.isclose(said, real, rtol=1e-6, atol=1e-8):
        yield f"{path}: {said!r}, not {real!r}"


def _any(
    name: str, said: Mapping[str, Any], expected: Expected, chosen: Any, top: bool = False
) -> Iterator[str]:
    """Hold different people over all trees against the bounds that are told."""
    loose = expected.loose
    each = expected.of_the_top(chosen) if top else expected.count(chosen)
    people = expected.different(chosen, top=top)
    if loose:
        if said["worst"] > max(each):
            yield f"{name}: {said} of at most {each}"
    elif said["worst"] != max(each) or each[said["tree"]] != max(each):
        yield f"{name}: {said} of {each}"
    if not said["low"] <= said["high"] <= said["among"] or said["worst"] > said["low"]:
        yield f"{name}: {said} are no bounds"
    true = len(people)
    if expected.most == 1 and not said["low"] <= true <= said["high"]:
        yield f"{name}: {said['low']} to {said['high']}, in truth {true}"
    if (
        expected.most == 1
        and expected.train
        and expected.drawn.sees == "all"
        and said["low"] != said["high"]
    ):
        yield f"{name}: {said['low']} to {said['high']} is not exact ({true})"
    if not expected.train:
        known = expected.n_people
        high = sum(each) if known is None else min(sum(each), known)
        if said["low"] != max(each) or said["high"] != max(high, max(each)):
            yield f"{name}: {said} by the file alone, not {max(each)} to {high}"
    if expected.n_people is not None and said["among"] != expected.n_people:
        yield f"{name}: among {said['among']}, not {expected.n_people}"


def _alone(said: Mapping[str, Any], expected: Expected) -> Iterator[str]:
    k = expected.k
    for name, chosen in (
        ("unique_in_any_tree", lambda g: g.size == 1),
        ("below_k_in_any_tree", lambda g: g.size < k),
    ):
        yield from _any(name, said[name], expected, chosen)
    worst = [len(tree) / sum(g.size for g in tree) for tree in expected.trees]
    if not np.isclose(worst[said["risks"]["tree"]], max(worst)):
        yield f"risks.tree: {said['risks']['tree']} of {worst}"


def _certain(said: Mapping[str, Any], expected: Expected) -> Iterator[str]:
    k = expected.k
    occur = {id(g): (sum(o.counts for o in t) > 0).sum() for t in expected.trees for g in t}
    people = {
        id(g): other
        for tree, others in zip(expected.trees, expected.of_people, strict=True)
        for g, other in zip(tree, others, strict=True)
    }
    for name, chosen in (
        ("homogeneous_in_any_tree", lambda g: g.distinct == 1),
        ("absent_class_in_any_tree", lambda g: g.distinct < occur[id(g)]),
        ("nearly_certain_in_any_tree",
         lambda g: people[id(g)].others <= 1
         or (people[id(g)].share >= 0.95 and people[id(g)].others < k)),
    ):  # fmt: skip
        yield from _any(name, said[name], expected, chosen)


def _known(said: Mapping[str, Any], expected: Expected) -> Iterator[str]:
    for name, r in (("disclosed_by_one_in_any_tree", 1), ("disclosed_by_most_in_any_tree", 10)):

        def chosen(group: Group, r: int = r) -> bool:
            return group.size - group.majority <= r

        yield from _any(name, said[name], expected, chosen, True)
    real = expected.findings["TA103"]
    tree = said["tree"]
    loose = expected.loose
    by_one = [curve[1] for curve in real["curves"]]
    if not loose and any(by_one) and by_one[tree] != max(by_one):
        yield f"tree {tree}: {by_one}"
    if loose:
        return
    curve = {"people_disclosed_by_known": real["curves"][tree]}
    yield from _unequal(f"tree {tree}", said, curve | real["by_tree"][tree])
