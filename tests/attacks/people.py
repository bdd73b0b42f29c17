"""Models with training and unseen people, for attacks that need both."""

import numpy as np
import pandas as pd

import treeaudit as ta
from treeaudit.attacks import Case
from treeaudit.people.records import Records, read_records


def case_of(model, train, test, **options) -> Case:
    forest = ta.load(model)
    return Case(
        forest=forest,
        table=ta.reconstruct(forest).groups,
        train=read_records(train, forest, origin="train"),
        test=read_records(test, forest, origin="test"),
        **options,
    )


def population(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return people with four columns of few values and labels that half depend on them."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.integers(0, k, n) for k in (2, 4, 8, 16)]).astype(float)
    chance = 1 / (1 + np.exp(-(x[:, 0] + x[:, 1] - 2 + 0.1 * x[:, 2])))
    return x, np.where(rng.random(n) < chance, "yes", "no")


def records_of(forest: ta.Forest, values, labels) -> Records:
    """Return people of a forest that was made by hand."""
    values = np.asarray(values, dtype=float)
    return Records(
        values=values,
        labels=np.asarray(labels, dtype=np.int32),
        targets=None,
        node=forest.apply(values),
        frame=pd.DataFrame(values),
        origin="people",
    )
