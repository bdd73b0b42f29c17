"""The rules of a forest and their sub-rules, with support and confidence."""

from typing import TYPE_CHECKING

import numpy as np

from treeaudit.model.forest import Forest
from treeaudit.model.rules import rules_of
from treeaudit.model.words import sentence
from treeaudit.people.predict.predictions import node_shares

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["rules_frame"]


def rules_frame(forest: Forest) -> "pd.DataFrame":
    """Return one row per node below the roots: each leaf a rule, each inner node a sub-rule.

    ``support`` is the noisy number of people, ``confidence`` the share of the predicted class
    among them; counts below zero count as zero. The counts of all nodes are needed.

    References
    ----------
    Fletcher & Islam (2015), section 3.3.
    """
    import pandas as pd

    classes = forest.schema.classes or ()
    frames = []
    for number, tree in enumerate(forest.trees):
        if tree.counts is None or tree.n_nodes < 2:
            continue
        nodes = np.arange(1, tree.n_nodes)
        shares = node_shares(tree, len(classes))[nodes]
        best = np.argmax(shares, axis=1)
        columns = {
            "tree": number,
            "node": nodes,
            "rule": [sentence(rules_of(tree, [node]), forest.schema) for node in nodes.tolist()],
            "sub_rule": ~tree.is_leaf[nodes],
            "prediction": [classes[i] for i in best.tolist()],
            "support": np.maximum(tree.counts[nodes], 0).sum(axis=1),
            "confidence": shares.max(axis=1),
        }
        counts = {
            f"{forest.schema.target}={c}": tree.counts[nodes, i] for i, c in enumerate(classes)
        }
        frames.append(pd.DataFrame({**columns, **counts}))
    if frames:
        return pd.concat(frames, ignore_index=True)
    names = ["tree", "node", "rule", "sub_rule", "prediction", "support", "confidence"]
    return pd.DataFrame(columns=[*names, *(f"{forest.schema.target}={c}" for c in classes)])
