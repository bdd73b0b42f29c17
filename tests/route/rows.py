"""Raw rows and trees: who there is, and who ends where."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["Drawn", "People", "Seen", "draws", "limits", "of_trees", "people", "seen", "values"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """Raw rows: features, answers and whose row each is."""

    features: pd.DataFrame
    label: np.ndarray
    number: np.ndarray
    person: np.ndarray

    def frame(self, answer: str = "label") -> pd.DataFrame:
        """Return the rows as a table, with what the model was asked to learn."""
        more = {answer: getattr(self, answer)} if answer else {}
        return self.features.assign(**more, person=self.person)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """One tree: the leaf of each row, how often it was drawn and what it weighs.

    ``counts`` tells what the class counts of the tree are: ``draws`` of people, ``weights``, or
    nothing. ``label`` is the class of each row as this tree knows it.
    """

    leaf: np.ndarray
    times: np.ndarray
    weight: np.ndarray
    label: np.ndarray | None = None
    n_classes: int = 0
    counts: str = ""
    n_leaves: int = 0
    route: Callable[[pd.DataFrame], np.ndarray] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """A model, the people behind it and its trees, in their order."""

    model: Any
    people: People
    trees: list[Seen]
    answer: str = "label"
    sees: str = "all"
    joint: str = ""
    classes: list[Any] = field(default_factory=list)
    own_classes: bool = False
    tells_sizes: bool = True
    class_weight: Any = None
    seeds: bool = False
    sized_only: bool = False
    rest: bool = False


def people(rng: np.random.Generator, *, gaps: bool = False, text: bool = False) -> People:
    """Draw rows: coarse and fine columns, rare labels, several rows a person."""
    n, wide = int(rng.integers(60, 220)), int(rng.choice([2, 3, 5, 9]))
    columns: dict[str, Any] = {}
    for i in range(wide):
        kind = int(rng.integers(4))
        columns[f"x{i}"] = (
            rng.integers(0, int(rng.integers(2, 30)), n).astype(np.float64),
            rng.normal(size=n).round(1),
            rng.normal(size=n),
            rng.integers(0, 2, n).astype(np.float64),
        )[kind]
    frame = pd.DataFrame(columns)
    signal = sum((frame[c] - frame[c].mean()) / (frame[c].std() + 1) for c in list(frame)[:3])
    number = (signal + rng.normal(size=n) * rng.choice([0.2, 1.0])).to_numpy().round(2)
    n_classes = int(rng.integers(2, 6))
    cuts = np.quantile(number, np.sort(rng.uniform(0.1, 0.95, n_classes - 1)))
    code = np.searchsorted(cuts, number)
    names = np.array([["no", "yes", "perhaps", "never", "always"], [0, 1, 2, 5, 9]][
        int(rng.integers(2))])  # fmt: skip
    if gaps:
        frame = frame.mask(rng.random(frame.shape) < 0.1)
    if text:
        frame["colour"] = np.array(["red", "blue", "green", "grey"])[rng.integers(0, 4, n)]
    person = np.sort(rng.integers(0, max(2, int(n / rng.choice([1, 2, 4]))), n))
    return People(features=frame, label=names[code], number=number, person=person)


def seen(leaf: Any, label: Any = None, **more: Any) -> Seen:
    """Return a tree that saw everybody once unless told."""
    leaf = np.asarray(leaf).astype(np.int64)
    label = None if label is None else np.asarray(label)
    form = {"times": np.ones(len(leaf), np.int64), "weight": np.ones(len(leaf)), **more}
    if label is not None:
        form = {"n_classes": int(label.max()) + 1, "counts": "draws", **form}
    return Seen(leaf=leaf, label=label, **form)


def values(frame: pd.DataFrame) -> np.ndarray:
    return frame.to_numpy(dtype=np.float64)


def of_trees(trees: list[Any], rows: pd.DataFrame, label: Any, **more: Any) -> list[Seen]:
    """Return what scikit-learn's trees say, each with its own times, weight and columns."""
    found = []
    for i, tree in enumerate(trees):
        columns = more["features"][i] if "features" in more else slice(None)

        def route(frame: pd.DataFrame, tree: Any = tree, columns: Any = columns) -> np.ndarray:
            return tree.tree_.apply(values(frame)[:, columns].astype(np.float32))

        own = {name: more[name][i] for name in ("times", "weight") if name in more}
        shared = {name: more[name] for name in ("n_classes", "counts") if name in more}
        found.append(
            seen(route(rows), label, route=route, n_leaves=tree.get_n_leaves(), **own, **shared)
        )
    return found


def draws(samples: list[np.ndarray], n: int) -> list[np.ndarray]:
    return [np.bincount(one, minlength=n) for one in samples]


def limits(rng: np.random.Generator) -> dict[str, Any]:
    return [
        {},
        {"max_depth": int(rng.integers(1, 7))},
        {"min_samples_leaf": int(rng.integers(2, 15))},
        {"max_leaf_nodes": int(rng.integers(2, 12))},
        {"min_samples_leaf": 5, "max_depth": 4, "criterion": "entropy"},
    ][int(rng.integers(5))]
