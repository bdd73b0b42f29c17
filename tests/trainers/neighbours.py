"""All small tables and all their neighbours: what a whole fit gives away at worst, exactly."""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pandas as pd

from tests.dp.exact import SLACK
from tests.trainers.transcripts import fitted_alike
from treeaudit.model.schema import Feature, Schema

__all__ = ["SMALL", "worst_of_all_neighbours"]

SMALL = Schema(
    features=(Feature(name="sex", categories=("f", "m")), Feature(name="old", low=0, high=1)),
    classes=(0, 1),
)
_KINDS = list(product(("f", "m"), (0.0, 1.0), (0, 1)))


def _table(records: Any) -> dict[str, Any]:
    frame = pd.DataFrame(records, columns=["sex", "old", "label"])
    nobody = pd.DataFrame({"sex": ["f"], "old": [0.0], "label": [-1]})
    frame = pd.concat([nobody, frame], ignore_index=True)
    return {"X": frame[["sex", "old"]], "y": frame["label"].to_numpy()}


def worst_of_all_neighbours(trainer: Any, most: int = 1, **parameters: Any) -> Fraction:
    """Return the largest loss over all tables of so many records at most and one record more.

    As a share of what the ledger says is used. The same answers are forced on both, some of
    them as likely as can be, some strange; the first row has a label that is dropped.
    """
    model = trainer(schema=SMALL, outside="clip", **parameters)
    found = Fraction(0)
    seed = 0
    for n in range(most + 1):
        for base in combinations_with_replacement(_KINDS, n):
            for more in _KINDS:
                seed += 1
                one, other = _table(list(base)), _table([*base, more])
                for pair in ((one, other), (other, one)):
                    loss = abs(fitted_alike(model, *pair, seed, wild=bool(seed % 2)))
                    found = max(found, (loss - SLACK) / model.privacy_.used)
    return found
