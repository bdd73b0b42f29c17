"""Attribute inference by Fredrikson's rules, beside the Adversarial Robustness Toolbox (ART).

The same tree, people, candidates and priors; ART cannot be asked about the last
column, nor about a forest.
"""

import time
import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from benchmarks.models import data
from benchmarks.toolbox_rules import people_reached, single_match
from treeaudit.attacks.attribute_inference.guesses import Paths, fredrikson

__all__ = ["side_by_side_with_art"]

_COLUMNS = {6: 2, 7: 5, 8: 15, 9: 42, 13: 9}
"""Categorical columns of `benchmarks.models.data`, and how many values each has."""

_TITLE = "Attribute inference"
_TIMES = 100


def side_by_side_with_art(rows: int = 40_000, asked: int = 1_000) -> list[str]:
    """Return a table: equal answers and seconds, per tree and column."""
    x, y = data(rows)
    lines = [
        "",
        f"## {_TITLE}",
        "",
        f"Fredrikson's rules for {asked:,} people of a tree on {rows:,} rows: ART's two white-box "
        "attacks and ours, CPU seconds, the same priors. ART takes phi from the leaves that the "
        "batch reaches; so do we here. Bound: 100 times faster at 15 values, the same answers.",
        "",
        "| tree | values | rule | ART, CPU-s | treeaudit, CPU-s | ratio | same answers |",
        "|---|---:|---|---:|---:|---:|---:|",
    ]
    for name, depth in (("depth 7", 7), ("unlimited", None)):
        model = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(x, y)
        lines += [line for column in _COLUMNS for line in _rows(name, model, x[:asked], column)]
    return [*lines, _forest(x, y, asked)]


def _rows(name: str, model: DecisionTreeClassifier, people: np.ndarray, column: int) -> list[str]:
    n = _COLUMNS[column]
    # Priors without ties: where two candidates are equally likely any answer is right.
    prior = np.arange(n, 0, -1) / (n * (n + 1) / 2) + 0.01 * np.sqrt(np.arange(n) + 2)
    seen = model.predict(people)
    rules = {"Lifestyle": _lifestyle, "DecisionTree": _decision_tree}
    lines = []
    for rule, ours in rules.items():
        forest = ta.load(model)
        begun = time.process_time()
        answer = ours(forest, people, column, prior, seen)
        used = time.process_time() - begun
        theirs, cost = _art(rule, model, people, column, prior, seen)
        if theirs is None:
            lines.append(f"| {name} | {n} | {rule} | refused | {used:.4f} | – | – |")
            continue
        right, ratio = float((answer == theirs).mean()), cost / used
        missed = right < 1 or (n == 15 and ratio < _TIMES)
        told = f"{ratio:,.0f} (**MISS**)" if missed else f"{ratio:,.0f}"
        lines.append(f"| {name} | {n} | {rule} | {cost:.2f} | {used:.4f} | {told} | {right:.1%} |")
    return lines


def _people(forest: ta.Forest, people: np.ndarray, column: int, n: int) -> tuple:
    (tree,) = forest.trees
    paths = Paths(tree, forest.schema, [((column,), np.arange(float(n))[:, None])])
    at = paths.what_if(people, tree.apply(people))
    return tree, at, tree.n_records[at]


def _lifestyle(
    forest: ta.Forest, people: np.ndarray, column: int, prior: np.ndarray, seen: np.ndarray
) -> np.ndarray:
    tree, at, reached = _people(forest, people, column, len(prior))
    return fredrikson(reached, prior, people_reached(tree, at)).argmax(axis=1)


def _decision_tree(
    forest: ta.Forest, people: np.ndarray, column: int, prior: np.ndarray, seen: np.ndarray
) -> np.ndarray:
    tree, at, reached = _people(forest, people, column, len(prior))
    return single_match(reached, prior, tree.counts.argmax(axis=1)[at], seen)


def _art(
    rule: str,
    model: DecisionTreeClassifier,
    people: np.ndarray,
    column: int,
    prior: np.ndarray,
    seen: np.ndarray,
) -> tuple[np.ndarray | None, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from art.attacks.inference import attribute_inference
        from art.estimators.classification.scikitlearn import ScikitlearnDecisionTreeClassifier

    kind = getattr(
        attribute_inference,
        f"AttributeInferenceWhiteBox{rule}".replace("Lifestyle", "LifestyleDecisionTree"),
    )
    attack = kind(ScikitlearnDecisionTreeClassifier(model), attack_feature=column)
    hidden = np.delete(people, column, axis=1)
    values = [float(v) for v in range(len(prior))]
    begun = time.process_time()
    try:
        found = attack.infer(hidden, y=seen, values=values, priors=prior.tolist())
    except ValueError:
        return None, 0.0
    return found, time.process_time() - begun


def _forest(x: np.ndarray, y: np.ndarray, asked: int) -> str:
    """Say what a forest costs, which ART refuses."""
    trees = 100
    model = RandomForestClassifier(trees, random_state=0, n_jobs=2).fit(x[:4_000], y[:4_000])
    forest, people, n = ta.load(model), x[:asked], 15
    begun = time.process_time()
    reached, phi = np.zeros((asked, n)), np.zeros(n)
    candidates = np.arange(float(n))[:, None]
    for tree in forest.trees:
        paths = Paths(tree, forest.schema, [((8,), candidates)])
        reached += tree.n_records[paths.what_if(people, tree.apply(people))]
        phi += paths.people_with()
    fredrikson(reached, np.full(n, 1 / n), phi)
    used = time.process_time() - begun
    return (
        f"\nA forest of {trees} unlimited trees on 4,000 rows, 15 values: {used:.2f} CPU-s; "
        "ART takes no forests."
    )
