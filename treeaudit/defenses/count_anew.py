"""Count the leaves of a forest, or compute its steps, anew on the training people.

A tree of a forest is grown on a draw, and its leaves say what those who were drawn have: what
the tree learnt by heart. Counted on everybody, a leaf holds those who were not drawn too, so that
fewer leaves are of one label, and none is smaller.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int
from treeaudit.defenses.defense import (
    Bounds,
    Defense,
    DefenseWords,
    check_not_private,
    tree_by_tree,
)
from treeaudit.defenses.tree_edits import averaged, recount
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.model.words import in_percent
from treeaudit.people.predict.newton_steps import Newton, newton_of_people


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountAnew(Defense):
    """Count everybody in the leaf in which they end, whether or not they were drawn.

    Attributes
    ----------
    values
        The training data as `treeaudit.Forest.apply` takes it.
    labels
        Shape ``(n_records,)``: classes as in the trees.
    """

    id = "count-anew"
    title = "Count everybody in every tree"
    did = "counted everybody in the training data again in every leaf"
    words = DefenseWords(
        does="replaces the draws that each leaf of a forest holds by all training people who end "
        "in it; no rule changes, and a leaf answers with their labels",
        fixes="leaves that seem to be of one label because others were not drawn; leaves become "
        "larger, and the answers for those who were drawn less certain",
        leaves="counts that are exact for everybody, so that trees together give back more: fewer "
        "trees may be told",
        reference="Breiman (2001), Random Forests: out-of-bag estimates of the nodes",
    )
    values: npt.NDArray[np.floating[Any]] | None = field(default=None, repr=False)
    labels: Int | None = field(default=None, repr=False)

    def apply(self, forest: Forest) -> Forest:
        """Return the model with everybody in every tree.

        Raises DataError if there are no people with labels, or the counts of the model are not of
        its classes.
        """
        values, labels, classes = self.values, self.labels, forest.schema.classes
        counted = forest.counts_are in ("exact", "likely") and forest.tree_classes is None
        if classes is None or not counted:
            raise DataError("count-anew needs a model whose leaves hold counts of its classes")
        if values is None or labels is None:
            raise DataError("whom to count only the training data tells: give it with --train")
        check_not_private(forest, self.id)
        node, n = forest.apply(values), len(classes)

        def everybody(tree: Tree, i: int) -> Tree:
            key = node[:, i].astype(np.int64) * n + labels
            counts = np.bincount(key, minlength=tree.n_nodes * n).reshape(-1, n).astype(np.float64)
            people = counts.sum(axis=1).astype(np.int64)
            return recount(replace(tree, counts=counts, n_records=people), tree.is_leaf)

        parameters = dict(forest.source.parameters)
        if "bootstrap" in parameters:
            parameters["bootstrap"] = False
        return replace(
            tree_by_tree(forest, everybody),
            counts_are="exact",
            counts_reason="",
            records_are="all",
            n_records=len(values),
            source=replace(forest.source, parameters=parameters),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawSteps(Defense):
    """Compute each step on a share of the people, drawn anew for each round, and off by a person.

    To its gradient normal noise is added, as large as the gradient of one person of the leaf.
    Neither draws nor noise are kept.

    Attributes
    ----------
    share
        How many of the people each round draws.
    values
        The training data as `treeaudit.Forest.apply` takes it.
    labels
        Shape ``(n_records,)``: classes as in the trees.
    targets
        Shape ``(n_records,)``: the number that is predicted.
    newton
        How the steps follow from labels; worked out on the model itself unless told.
    trial
        A seed, for a try of which nothing but figures is kept. What it draws anybody can draw:
        None for every model that is written or handed out.
    """

    id = "draw-steps"
    title = "Steps from draws"
    words = DefenseWords(
        does="computes the step of every leaf of a boosting again. Each round takes a random part "
        "of the training people, and adds noise as large as one person. No rule changes",
        fixes="equations on everybody: nobody knows who was in which part, so that all rounds "
        "together make nobody certain. Counts and sums of people are left out",
        leaves="what is likely: a step still follows from most of the people near it",
        reference="Friedman (2002), Stochastic gradient boosting",
    )
    share: Annotated[float, Bounds(0.1, 0.8)] = 0.5
    values: npt.NDArray[np.floating[Any]] | None = field(default=None, repr=False)
    labels: Int | None = field(default=None, repr=False)
    targets: Float | None = field(default=None, repr=False)
    newton: Newton | None = field(default=None, repr=False)
    trial: int | None = field(default=None, repr=False)

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        return f"computed every step again on draws of {in_percent(self.share, 0)} of the people"

    def apply(self, forest: Forest) -> Forest:
        """Return the model with the steps that draws tell.

        Raises DataError if there are no people, or the steps do not follow from them.
        """
        if self.values is None or (self.labels is None and self.targets is None):
            raise DataError("whom to draw only the training data tells: give it with --train")
        check_not_private(forest, self.id)
        settings = _draw_parameters(forest, self.share)
        node = forest.apply(self.values)
        each = self.targets if forest.schema.classes is None else self.labels
        newton = self.newton or newton_of_people(forest, node, each)
        rng, trees = np.random.default_rng(self.trial), tuple(forest.trees)
        largest = max(float(np.abs(_leaf_values(tree)).max()) for tree in trees)
        # The largest itself would be a step of everybody.
        most = 2.0 ** (np.floor(np.log2(max(largest, 1e-9))) + 1.5)
        score, width = np.tile(newton.start, (len(node), 1)), len(newton.start)
        targets, made = newton.wanted(each), []
        for first in range(0, len(trees), width):
            drawn = np.flatnonzero(rng.permutation(len(node)) < self.share * len(node))
            gradient, curvature = newton.derivatives(score, targets)
            for k in range(width):
                tree, at = trees[first + k], node[:, first + k]
                shift = newton.start[k] if newton.shifted and not first else 0.0
                if np.ptp(_leaf_values(tree)) > 0:
                    one = _typical(at, gradient[:, k], tree.n_nodes)
                    steps = newton.steps(
                        *(at[drawn], gradient[drawn, k], curvature[drawn, k], tree.n_nodes),
                        off=rng.normal(size=tree.n_nodes) * one,
                        # Where curvature is less, noise would be all there is.
                        least=one,
                    )
                    tree = _with_answers(tree, np.clip(steps, -most, most) + shift)
                else:
                    tree = _with_answers(
                        tree, np.zeros(tree.n_nodes) if tree.value is None else tree.value
                    )
                made.append(tree)
                if tree.value is not None:
                    score[:, k] += newton.apart * tree.value[at] - shift
        return replace(
            forest,
            trees=tuple(made),
            counts_are="absent",
            counts_reason="the steps were computed anew, each round on a draw of the people",
            records_are="unknown",
            n_records=None,
            boosting=None,
            tree_classes=None,
            source=replace(forest.source, parameters={**forest.source.parameters, **settings}),
        )


def share_to_draw(forest: Forest) -> float:
    """Return the share that costs least: steps of numbers need more people than those of labels.

    A file that has no place for the share is known by its draws alone: they have to be small.
    """
    numbers = forest.schema.classes is None
    return 0.8 if numbers and _draw_parameters(forest, 0.8) else 0.5


def _draw_parameters(forest: Forest, share: float) -> dict[str, object]:
    """Return the parameters by which a file says that its trees are of draws, where it can."""
    if forest.answers == "sum":
        match forest.source.library:
            case "LightGBM":
                return {"bagging_fraction": f"{share:g}", "bagging_freq": "1"}
            case "XGBoost":
                return {"subsample": share}
            case "scikit-learn" if "subsample" in forest.source.parameters:
                return {"subsample": share}
            case "scikit-learn" if "max_iter" in forest.source.parameters:
                # Its file has no place for that: the training people show it.
                return {}
    raise DataError(
        "draw-steps needs a boosting of scikit-learn, XGBoost or LightGBM that adds up steps"
    )


def _typical(node: Int, gradient: Float, n_nodes: int) -> Float:
    """Return the gradient of one person of each node: the square root of the mean square.

    Of a few people the digits of a step tell who was drawn and with which label, as of all cases
    only one fits. With noise of any such size each case fits, and none is certain.
    """
    people = np.maximum(np.bincount(node, minlength=n_nodes), 1)
    root: Float = np.sqrt(np.bincount(node, gradient**2, n_nodes) / people)
    return root


def _leaf_values(tree: Tree) -> Float:
    return np.zeros(1) if tree.value is None else tree.value[tree.is_leaf]


def _with_answers(tree: Tree, value: Float) -> Tree:
    """Return a tree that answers so, and tells of no people: nor do means of inner nodes."""
    # With weights of people, what is above leaves would tell how many each holds.
    above = averaged(tree, value, np.ones(tree.n_nodes))
    return replace(tree, value=above, counts=None, n_records=None, label=None, spread=None)
