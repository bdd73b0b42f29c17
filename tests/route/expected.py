"""What the JSON report of a model has to say, found, ladder, checks and verdict."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tests.route.joint import alone_together, labels_given_back, net_of_one_label
from tests.route.leaves import Group, groups
from tests.route.measures import alike, background, singling_out
from tests.route.rows import Drawn

__all__ = ["Expected", "told"]

Chosen = Callable[[Group], bool]


def told(drawn: Drawn, report: Mapping[str, Any]) -> Drawn:
    """Return the model as its file tells it: class weights, where they were not taken out again.

    That is all that is taken from a report: both are true, of other numbers.
    """
    if drawn.class_weight is None or report["model"]["counts_are"] != "weighted":
        return drawn
    if drawn.sees == "all" and len(drawn.trees) > 1:
        # Of some of these trees the weights are told apart, and the report does not say of which.
        alone = [replace(tree, counts="") for tree in drawn.trees]
        return replace(drawn, trees=alone, sized_only=True)
    trees = []
    for tree in drawn.trees:
        each = tree.times if drawn.class_weight == "balanced_subsample" else 1
        mass = np.bincount(tree.label, np.broadcast_to(each, tree.label.shape), tree.n_classes)
        weight = np.where(mass > 0, 1 / np.maximum(mass, 1), 0)[tree.label]
        trees.append(replace(tree, weight=weight, counts="weights"))
    return replace(drawn, trees=trees)


def _counted(drawn: Drawn, *, train: bool) -> Drawn:
    """Return the model with people for weights, where everybody is at hand and in every tree."""
    weighed = [tree for tree in drawn.trees if tree.counts == "weights"]
    if not train or drawn.sees != "all" or not weighed:
        return drawn
    ones = np.ones(len(drawn.people.label))
    return replace(drawn, trees=[replace(t, weight=ones, counts="draws") for t in drawn.trees])


def _sizes(trees: list[list[Group]]) -> Callable[[Chosen], list[int]]:
    """Return what tells how many people of each tree are in chosen groups."""
    return lambda chosen: [int(sum(g.size for g in tree if chosen(g))) for tree in trees]


def _measured_on(drawn: Drawn) -> str:
    if any(tree.counts == "weights" for tree in drawn.trees):
        return "weight"
    return "draws" if any((tree.times > 1).any() for tree in drawn.trees) else "people"


class Expected:
    """Numbers by definition, from the raw rows of a model.

    Parameters
    ----------
    drawn
        The model and its people.
    k
        The smallest acceptable group.
    train
        Whether the people are at hand; without, only the file tells.
    person
        Whose row each is, where persons are counted; or the most rows of one person.
    """

    def __init__(self, drawn: Drawn, k: int, *, train: bool, person: Any = None) -> None:
        self.drawn, self.k, self.train, self.person = drawn, k, train, person
        self.most = person if isinstance(person, int) else 1
        self.who = np.arange(len(drawn.people.label)) if person is None or self.most > 1 else person
        named = person if self.most == 1 else None
        self.named = named is not None
        self.trees = [groups(tree, named, self.most) for tree in drawn.trees]
        counted = _counted(drawn, train=train) if person is None else drawn
        alike_in = self.trees if counted is drawn else [groups(tree) for tree in counted.trees]
        self.weighed = _measured_on(counted) == "weight"
        self.of_people = alike_in
        self.in_records = [groups(tree) for tree in drawn.trees]
        self.loose = self.named and drawn.sees != "all"
        n = len(np.unique(self.who))
        self.n_people = -(-n // self.most)
        if drawn.sees == "folds" and not self.named:
            self.n_people = None
        classes = max((tree.n_classes for tree in drawn.trees), default=0)
        self.findings: dict[str, dict[str, Any]] = {}
        if drawn.tells_sizes:
            leaves = sum(tree.n_leaves for tree in drawn.trees)
            self.findings["TA101"] = singling_out(
                self.trees, self.count, k, self.n_people, leaves, len(drawn.classes)
            )
        if classes and drawn.trees[0].counts:
            ordered = drawn.classes == sorted(drawn.classes) and isinstance(drawn.classes[0], int)
            self.findings["TA102"] = {
                **alike(alike_in, self.count if counted is drawn else _sizes(alike_in), k, ordered),
                "measured_on": _measured_on(counted),
            }  # fmt: skip
            total = self.count(lambda g: True)
            self.findings["TA103"] = background(self.trees, self.of_the_top, total)
            if (
                drawn.joint in ("shares", "labels")
                and train
                and person is None
                and len(drawn.trees) > 1
            ):
                self.findings["TA106"] = self._together()

        if drawn.joint == "boosted" and train and person is None and len(drawn.trees) > 1:
            self.findings["TA106"] = self._answered()

    def count(self, chosen: Chosen) -> list[int]:
        """Return how many different people of each tree are in chosen groups."""
        if not self.named:
            return [int(sum(g.size for g in tree if chosen(g))) for tree in self.trees]
        return [len(people) for people in self._each(chosen, top=False)]

    def of_the_top(self, chosen: Chosen) -> list[int]:
        """Return how many people of each tree have the commonest label of chosen groups."""
        if not self.named:
            return [int(sum(g.majority for g in tree if chosen(g))) for tree in self.trees]
        return [len(people) for people in self._each(chosen, top=True)]

    def different(self, chosen: Chosen, *, top: bool) -> set[Any]:
        """Return the people who are in chosen groups of any tree."""
        return set().union(*self._each(chosen, top=top))

    def _each(self, chosen: Chosen, *, top: bool) -> list[set[Any]]:
        found = []
        for tree, each in zip(self.drawn.trees, self.trees, strict=True):
            people: set[Any] = set()
            for group in filter(chosen, each):
                rows = group.members
                if top and tree.label is not None:
                    other = rows[tree.label[rows] != group.top]
                    rows = rows[~np.isin(self.who[rows], self.who[other])]
                people |= set(self.who[rows].tolist())
            found.append(people)
        return found

    def _answered(self) -> dict[str, Any]:
        """Return what a boosting answers of those whom its steps may tell more of."""
        drawn, rows = self.drawn, self.drawn.people
        if drawn.answer != "label":
            return {"train": len(rows.label)}
        features = rows.features
        named = hasattr(drawn.model, "feature_names_in_")
        said = drawn.model.predict(features if named else features.to_numpy())
        of_label = np.bincount(np.unique(rows.label, return_inverse=True)[1])
        return {
            "train": len(rows.label),
            "draws_known": True,
            "own": float((said == rows.label).mean()),
            "majority": of_label.max() / len(rows.label),
            "last": alone_together(drawn.trees, self.k),
        }

    def _together(self) -> dict[str, Any]:
        drawn = self.drawn
        known = drawn.sees == "all" and drawn.trees[0].counts == "draws"
        answer, clear = labels_given_back(drawn.trees, 0.0 if known else 0.3)
        truth, n = drawn.trees[0].label, len(drawn.people.label)
        features = drawn.people.features
        said = drawn.model.predict(features if hasattr(drawn.model, "feature_names_in_") else
                                   features.to_numpy())  # fmt: skip
        own = np.searchsorted(np.array(drawn.classes), said)
        of_label = np.bincount(truth)
        rare = truth == np.flatnonzero(of_label)[of_label[of_label > 0].argmin()]
        return {
            "train": n,
            "draws_known": known,
            "joint": (answer == truth).mean(),
            "own": (own == truth).mean(),
            "excess": (answer == truth).mean() - (own == truth).mean(),
            **({"excess_of_one_label": net_of_one_label(answer, own, truth)} if clear else {}),
            "majority": of_label.max() / n,
            "rarest_people": int(rare.sum()),
            "rarest_own": (own == truth)[rare].mean(),
            "last": alone_together(drawn.trees, self.k),
            "equations": sum(len(np.unique(tree.leaf)) for tree in drawn.trees),
        }
