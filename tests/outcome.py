"""What becomes of a file: a model that was read whole, or one clear sentence."""

import os

import numpy as np

from treeaudit import Forest, ReadError, load

__all__ = ["read_whole", "refusal"]


def read_whole(path: str | os.PathLike[str], select: str | None = None) -> Forest:
    """Read a model and build every tree of it, as an audit would."""
    forest = load(path, select=select)
    for tree in forest.trees:
        assert tree.n_nodes >= 1
        assert not np.isnan(tree.low).any()
        if tree.counts is not None and forest.schema.classes is not None:
            assert tree.counts.shape == (tree.n_nodes, len(forest.schema.classes))
        assert (tree.feature < len(forest.schema.features)).all()
    texts = [*forest.schema.names, *forest.warnings, forest.counts_reason, forest.source.inside]
    "".join(texts).encode()
    return forest


def refusal(path: str | os.PathLike[str]) -> ReadError | None:
    """Return the error that reading ends in, or None for a model.

    Any other exception, or a message that is no single line, fails the test.
    """
    try:
        read_whole(path)
    except ReadError as error:
        text = str(error)
        assert text
        assert "\n" not in text, text
        assert len(text) < 600, text[:900]
        text.encode()
        return error
    return None
