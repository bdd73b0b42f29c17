"""The numbers of the reconstructed table as bounds that can be computed with."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from treeaudit.arrays import Int, Wide
from treeaudit.model.forest import Forest
from treeaudit.model.rules import rules_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["with_bounds"]


def with_bounds(
    frame: "pd.DataFrame", forest: Forest, parts: Iterator[tuple[int, Wide]], leaf: Int
) -> "pd.DataFrame":
    """Return a table with two columns, low and high, in place of the text of each number.

    Parameters
    ----------
    frame
        As `treeaudit.table.table.Table.to_frame` gives it.
    parts
        Each tree, and where its rows stand in the table.
    leaf
        Shape ``(n_rows,)``: the leaf of each row.
    """
    features = forest.schema.features
    low = np.full((len(leaf), len(features)), -np.inf)
    high = np.full_like(low, np.inf)
    for tree, here in parts:
        rules = rules_of(forest.trees[tree], leaf[here])
        low[here[rules.row], rules.feature] = rules.low
        high[here[rules.row], rules.feature] = rules.high
    first = frame.columns.get_loc("leaf") + 1  # type: ignore[operator]  # one column of that name
    made = {name: frame[name] for name in frame.columns}
    columns: dict[object, object] = {}
    for at, (name, texts) in enumerate(made.items()):
        i = at - first
        if 0 <= i < len(features) and features[i].categories is None:
            columns[f"{name} low"], columns[f"{name} high"] = low[:, i], high[:, i]
        else:
            columns[name] = texts
    return type(frame)(columns)
