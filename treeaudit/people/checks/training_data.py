"""Is this the training data? The counts of the file have to fit the people of the table.

A table that does not fit is an error, never a guess: every number that is verified on it would be
about other people. `check_noise` refutes a ledger that claims noise on exact counts.

Under the law that a ledger states, a count equals the number of its people with at most the
chance of the likeliest single value of the noise, whatever is done to it afterwards (clipped at 0,
drawn towards other counts, scaled). Counts of disjoint groups have noise of their own. So as many
right counts as there are have at most the chance of a binomial tail, which Chernoff bounds.
A model with the noise that it states is accused with a chance of at most 1e-9.
"""

import math
import re
from dataclasses import replace
from math import ceil

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.dp.claims import BOUNDS_OF_DATA, FOUND_OUT, unbounded_because
from treeaudit.dp.ledger import Ledger, Query
from treeaudit.dp.mechanisms import GAUSSIAN
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.rules import rules_of
from treeaudit.model.tree import Tree
from treeaudit.model.words import label_text, number_of, sentence
from treeaudit.people.checks.leaf_values import (
    bootstrap_labels,
    draws_in_order,
    no_room,
    other_value,
    wrong_counts,
)
from treeaudit.people.coding.columns import class_apart, own_classes
from treeaudit.people.records import Records
from treeaudit.readers.sklearn.ensembles import children
from treeaudit.readers.sklearn.model_ref import ModelRef

_SUMS = ("XGBoost", "CatBoost")
"""Libraries that keep the weight in a leaf, which is people if no row had one."""
_DRAWN = ", drawn again with the seeds of the file"
_SAME_WEIGHT = ", and did all rows of a class weigh the same, from which the counts were worked out"
_DEEP, _PART = 20, 0.1


class MisfitError(DataError):
    """The table is not what the model was trained on."""


def verify(forest: Forest, train: Records) -> str:
    """Compare the counts of a model with the people it is said to be trained on.

    If every tree has seen all records, each leaf has to hold exactly as many people, as many of
    each class if the counts are people, and the mean of their numbers if its value is one. If a
    tree has seen a sample of them, no leaf may hold more people than end there, and none of labels
    that nobody there has; if seeds draw the rows again, its counts have to be those of the sample.
    """
    if forest.counts_are == "noisy":
        return f"{train.origin} could not be verified: the counts of the file are noisy"
    compared = False
    again = train.labels is not None and draws_in_order(forest, train)
    if forest.n_records is not None and forest.n_records != train.n_people:
        raise MisfitError(_size(forest, train, forest.n_records))
    for i, tree in enumerate(forest.trees):
        if tree.n_records is None:
            continue
        compared = True
        routed = train.in_tree(i, tree.n_nodes)
        leaves = tree.leaves
        stated, real = tree.n_records[leaves], routed[leaves]
        whole = forest.records_are == "all"
        # A leaf of nobody stands for one that a repair took out, with who was there.
        there = stated > 0
        wrong = np.flatnonzero(there & (stated != real if whole else stated > real))
        if len(wrong) and any("surrogate splits" in one for one in forest.warnings):
            what = "R used surrogate splits, which treeaudit leaves out; scan without --train"
            raise MisfitError(f"{train.origin} cannot be verified: {what}")
        if len(wrong):
            in_file = int(stated.sum())
            if whole and (in_file > train.n_people or (there.all() and in_file < train.n_people)):
                raise MisfitError(_size(forest, train, in_file))
            leaf = int(leaves[wrong[0]])
            raise MisfitError(
                f"{_not_fitting(train, forest, tree, i, leaf)} holds "
                f"{number_of(int(stated[wrong[0]]), 'person', 'people')} in the file and "
                f"{int(real[wrong[0]]):,} in the table; give the columns as the model took them, "
                f"before or after cleaning as in training{_weights_hint(forest, train)}"
            )
        _verify_labels(forest, train, tree, i, again=again)
        _verify_numbers(forest, train, tree, i)
    if compared:
        return ""
    return (
        f"{train.origin} could not be verified: the file does not tell how many people are in "
        "its leaves"
    )


def _verify_labels(forest: Forest, train: Records, tree: Tree, i: int, *, again: bool) -> None:
    classes = forest.classes_of(i)
    real = _labels_in(forest, train, tree, i)
    if tree.counts is None or real is None or classes is None:
        return
    leaves = tree.leaves
    if tree.n_records is not None:
        # A leaf of nobody repeats the answer of the node above: a repair took out who was there.
        leaves = leaves[tree.n_records[leaves] > 0]
    stated, there, held = tree.counts[leaves], real[leaves], real.sum(axis=0)
    whole, counted = forest.records_are == "all", forest.counts_are in ("exact", "likely")
    # People of weight 0 may be of any label.
    weightless = forest.counts_are == "weighted" and _counts_weightless(forest)
    if whole and counted:
        wrong = stated != there
    elif again:
        there = bootstrap_labels(forest, train, i)[leaves]
        wrong = stated != there
    else:
        # Weights tell only whether a class is there at all.
        wrong = (stated > 0) & (there == 0)
        if whole and forest.counts_are == "weighted" and not weightless:
            wrong |= (stated == 0) & (there > 0)
        if counted and tree.n_records is not None:
            wrong |= wrong_counts(tree.n_records[leaves], stated, there, held)
    if wrong.any():
        row = int(np.flatnonzero(wrong.any(axis=1))[0])
        column = int(np.flatnonzero(wrong[row])[0])
        raise MisfitError(
            f"{_not_fitting(train, forest, tree, i, int(leaves[row]))} holds "
            f"{stated[row, column]:,.6g} × {label_text(classes[column])} in the file and "
            f"{int(there[row, column]):,} in the table{_DRAWN if again else ''}; are these the "
            f"labels it was trained with{_SAME_WEIGHT if forest.counts_are == 'likely' else ''}?"
        )
    if tree.n_records is None or weightless:
        return
    people = tree.n_records[leaves]
    full = np.flatnonzero(no_room(people, stated, there, once=forest.counts_are == "exact"))
    if len(full):
        row = int(full[0])
        raise MisfitError(
            f"{_not_fitting(train, forest, tree, i, int(leaves[row]))} holds "
            f"{number_of(int(people[row]), 'person', 'people')} in the file of labels that too "
            "few have who end there in the table; are these the labels it was trained with?"
        )


def _labels_in(forest: Forest, train: Records, tree: Tree, i: int) -> Wide | None:
    """Return how many people of each class of a tree end in each node; None where not told."""
    classes, own = forest.schema.classes, own_classes(forest)
    if own and train.members is not None and forest.tree_classes is not None:
        its = train.members == own.index(str(forest.tree_classes[i][1]))
        key = 2 * train.node[:, i].astype(np.int64) + its
        return np.bincount(key, minlength=2 * tree.n_nodes).reshape(-1, 2)
    if train.labels is None or classes is None:
        return None
    if forest.tree_classes is None:
        return train.in_tree(i, tree.n_nodes, len(classes))
    k = class_apart(forest.tree_classes[i])
    if k is None or tree.counts is None:
        return None
    each = train.in_tree(i, tree.n_nodes, len(classes))
    real = np.zeros_like(each)
    real[:, k] = each[:, k]
    real[:, 0 if k else 1] = each.sum(axis=1) - each[:, k]
    return real


def _verify_numbers(forest: Forest, train: Records, tree: Tree, i: int) -> None:
    found = other_value(forest, train, i)
    if found is not None:
        raise MisfitError(
            f"{_not_fitting(train, forest, tree, i, found.leaf)} holds a {found.what} of "
            f"{found.stated:,.6g} in the file and of {found.real:,.6g} in the table; are these the "
            "numbers it was trained with?"
        )


def _size(forest: Forest, train: Records, in_file: int) -> str:
    rows = "1 row" if train.n_people == 1 else f"{train.n_people:,} rows"
    text = f"{train.origin} is not the training data: it has {rows}, "
    text += f"the model was trained on {in_file:,}"
    times = train.n_people // in_file if in_file else 0
    if times and times * in_file == train.n_people and _repeat(forest, train, times):
        return f"{text}; every row seems to be there {times} times"
    return text + (
        _early_stopping_split(forest, train.n_people, in_file) or _weights_hint(forest, train)
    )


def _repeat(forest: Forest, train: Records, times: int) -> bool:
    """Tell whether rows that stand there so many times would end as these do."""
    ends = (train.in_tree(i, tree.n_nodes) for i, tree in enumerate(forest.trees))
    return all(bool((held % times == 0).all()) for held in ends)


def _not_fitting(train: Records, forest: Forest, tree: Tree, i: int, leaf: int) -> str:
    where = f"leaf {leaf} of tree {i}" if forest.n_trees > 1 else f"leaf {leaf}"
    rule = sentence(rules_of(tree, [leaf]), forest.schema)
    short = rule if len(rule) <= 160 else f"{rule[:160].rsplit(' · ', 1)[0]} · …"
    return f"{train.origin} is not the training data of the model: {where} ({short})"


def _counts_weightless(forest: Forest) -> bool:
    """Tell whether people of weight 0 are counted in a leaf, though in no class of it."""
    source = forest.source
    return source.library == "scikit-learn" and "HistGradient" in source.estimator


def _weights_hint(forest: Forest, train: Records) -> str:
    """Return how sample weights may explain the misfit; empty if they do not."""
    library = forest.source.library
    if library not in (*_SUMS, "scikit-learn") or _counts_weightless(forest):
        return ""
    if forest.records_are == "bootstrap":
        return ""
    each, n = [], train.n_people
    for i, tree in enumerate(forest.trees):
        if tree.n_records is not None:
            leaf: Flag = tree.is_leaf & (tree.n_records > 0)
            each.append((tree.n_records[leaf], train.in_tree(i, tree.n_nodes)[leaf]))
    if all(stated.sum() < n and (stated <= real).all() for stated, real in each):
        return (
            f"; rows whose sample_weight was 0 are not counted by {library}: leave them out, if "
            "there were any"
        )
    if library not in _SUMS or all(stated.sum() == n for stated, _ in each):
        return ""
    return f"; {library} adds up the weights of rows (sample_weight), which may explain it too"


def _early_stopping_split(forest: Forest, n_people: int, in_file: int) -> str:
    """Return the rows that scikit-learn put aside to stop early, if they explain the difference."""
    found = _boosting(forest)
    if found is None:
        return ""
    part, binned = found.get("validation_fraction"), found.estimator.kind.startswith("Hist")
    stops = found.get("do_early_stopping_") is True
    if not (stops if binned else found.get("n_iter_no_change") is not None):
        return ""
    part = _PART if part is None and not binned else part
    if isinstance(part, bool) or not isinstance(part, int | float) or part <= 0:
        return ""
    aside = part if isinstance(part, int) else ceil(part * n_people)
    if n_people - aside != in_file:
        return ""
    said = (
        f"; it stopped early, for which {aside:,} rows were put aside "
        f"(validation_fraction={part:g}): give the other {in_file:,}"
    )
    seed = found.get("_random_seed" if binned else "random_state")
    if isinstance(seed, bool) or not isinstance(seed, int):
        return said
    stratified = ", stratify=labels" if found.estimator.kind.endswith("Classifier") else ""
    return (
        f"{said}, which train_test_split of scikit-learn returns first with test_size={part:g}, "
        f"random_state={seed}{stratified}"
    )


def _boosting(forest: Forest) -> ModelRef | None:
    """Return the boosting that a model answers with, whatever is around it."""
    found = forest.source.stored
    for _ in range(_DEEP):
        if not isinstance(found, ModelRef):
            return None
        if "GradientBoosting" in found.estimator.kind:
            return found
        inner = [one for one in children(found) if one is not None]
        found = inner[0] if len(inner) == 1 else None
    return None


_LEVEL = 1e-9
_OWN_TREE = re.compile(r"leaf counts of tree (\d{1,6})\Z", re.ASCII)


def check_noise(forest: Forest, train: Records) -> Forest:
    """Return a private model with the reason that its counts have not the noise that it states."""
    if forest.counts_are != "noisy" or forest.schema.classes is None or train.labels is None:
        return forest
    if unbounded_because(forest) is not None or chance_of_exact(forest, train) >= _LEVEL:
        return forest
    privacy = forest.privacy or {}
    reason = FOUND_OUT[-1]
    return replace(
        forest,
        privacy={**privacy, "not_private": True, "reasons": [*privacy["reasons"], reason]},
        warnings=(*forest.warnings, f"not private: {reason}"),
    )


def check_bounds(forest: Forest, train: Records) -> Forest:
    """Return a private model with a warning where all its bounds equal the extremes of people."""
    schema, targets = forest.schema, train.targets
    columns = [(one.low, one.high, train.values[:, i]) for i, one in enumerate(schema.features)]
    columns += [] if targets is None else [(schema.target_low, schema.target_high, targets)]
    # Of a flag or a share everybody knows the bounds.
    bounded = [one for one in columns if None not in one[:2] and one[:2] != (0, 1)]
    # Missing values are left out, and bounds compared in the precision of the people.
    if not bounded or any(
        of.dtype.type(low) != np.fmin.reduce(of) or of.dtype.type(high) != np.fmax.reduce(of)
        for low, high, of in bounded
    ):
        return forest
    return replace(forest, warnings=(*forest.warnings, BOUNDS_OF_DATA))


def chance_of_exact(forest: Forest, train: Records) -> float:
    """Return a bound of the chance that noise leaves as many counts right as are right."""
    queries = Ledger.from_plain(forest.privacy or {}).queries
    peak = max(map(_peak, queries)) if forest.noise is None else math.tanh(forest.noise.rate / 2)
    # Trees without a row of their own, as those that private trees taught, count other people.
    own = [int(found[1]) for query in queries if (found := _OWN_TREE.search(query.name))]
    trees = forest.trees[: max(own, default=forest.n_trees)]
    deepest = max(int(tree.depths.max()) for tree in trees)
    hits, n = np.zeros(deepest + 1, np.int64), np.zeros(deepest + 1, np.int64)
    for i, tree in enumerate(trees):
        if tree.counts is None:
            continue
        counts = np.asarray(tree.counts, dtype=np.float64)
        people = _with_sums(tree, train.in_tree(i, tree.n_nodes, counts.shape[1]))
        # A count of nobody is right wherever noise below 0 is clipped.
        compared = people > 0
        right = compared & (np.abs(counts - people) <= 1e-9 * people)
        for depth in range(deepest + 1):
            nodes = (tree.depths == depth) | (tree.is_leaf & (tree.depths < depth))
            hits[depth] += np.count_nonzero(right[nodes])
            n[depth] += np.count_nonzero(compared[nodes])
    least = min(map(_tail, hits.tolist(), n.tolist(), [peak] * len(n)))
    return min(1.0, least * len(n))


def _peak(query: Query) -> float:
    """Return the chance of the likeliest noise of a count; 0 of what is no count."""
    used = query.as_used
    if query.mechanism == "discrete Laplace":
        return math.tanh(float(used.epsilon / query.sensitivity) / 2)
    if query.mechanism == GAUSSIAN and used.rho:
        variance = float(query.sensitivity**2 / (2 * used.rho))
        return min(1.0, 1 / math.sqrt(2 * math.pi * variance))
    return 0.0


def _with_sums(tree: Tree, people: Wide) -> Float:
    """Return how many people end in each node or below it; parents stand before children."""
    sums = np.array(people, dtype=np.float64)
    for depth in range(int(tree.depths.max()), 0, -1):
        nodes = np.flatnonzero(tree.depths == depth)
        np.add.at(sums, tree.parent[nodes], sums[nodes])
    return sums


def _tail(hits: int, n: int, chance: float) -> float:
    """Return Chernoff's bound of the chance of so many hits among n, each by a chance at most."""
    if not n or hits <= n * chance:
        return 1.0
    share = hits / n
    apart = share * math.log(share / chance)
    if share < 1:
        apart += (1 - share) * math.log((1 - share) / (1 - chance))
    return math.exp(-n * apart)
