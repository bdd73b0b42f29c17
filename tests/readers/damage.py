"""Read damaged bytes, and see that a reader never goes wrong."""

import pickle
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.outcome import refusal
from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.open import Content


def refused(folder: Path, data: bytes, kind: type[ReadError] = UnsupportedModelError) -> str:
    """Read a file of these bytes; return the sentence of the error, of exactly this kind."""
    path = folder / "model"
    path.write_bytes(data)
    error = refusal(path)
    assert type(error) is kind, error
    return str(error)


def one_sentence(read: Callable[..., object], *given: Any, match: str = ".") -> None:
    """See that reading what is given ends in one short sentence."""
    with pytest.raises(ReadError, match=match) as error:
        read(*given)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def pickled(folder: Path, value: object, protocol: int | None = None) -> Path:
    """Return the path of a new file that holds a value."""
    path = folder / "model.pkl"
    path.write_bytes(pickle.dumps(value, protocol))
    return path


def put(document: Any, *path: Any) -> Any:
    """Put the last of a path at the place that the others lead to; return the document."""
    *steps, name, value = path
    at = document
    for step in steps:
        at = at[step]
    at[name] = value
    return document


def same_ends(ours: Any, theirs: Any) -> None:
    """See that rows end together in one place where they do in the other."""
    pairs = set(zip(np.asarray(ours).tolist(), np.asarray(theirs).tolist(), strict=True))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def same_trees(one: Forest, other: Forest, rtol: float = 0) -> None:
    """See that two forests have the same trees."""
    for a, b in zip(one.trees, other.trees, strict=True):
        for name in ("parent", "feature", "low", "high", "missing", "n_records", "counts", "value"):
            first, second = getattr(a, name), getattr(b, name)
            assert (first is None) == (second is None), name
            if first is not None:
                np.testing.assert_allclose(first, second, rtol=rtol, err_msg=name)


def sentence_or_model(reader: ModuleType, data: bytes) -> ReadError | None:
    """Read bytes whole; return the error, or None for a model or another format."""
    content = Content(data=data, compression="", digest=str, n_bytes=len(data))
    if not reader.matches(content):
        return None
    try:
        forest = reader.read(content, Source(), None, LIMITS)
        for tree in forest.trees:
            assert tree.n_nodes >= 1
            assert (tree.feature < len(forest.schema.features)).all()
            assert not np.isnan(tree.low).any()
            if tree.counts is not None:
                assert tree.counts.shape == (tree.n_nodes, len(forest.schema.classes))
                assert np.isfinite(tree.counts).all()
            if tree.n_records is not None:
                assert (tree.n_records >= 0).all()
            if tree.value is not None:
                assert np.isfinite(tree.value).all()
            if tree.label is not None:
                assert (tree.label < len(forest.schema.classes)).all()
        texts = [*forest.schema.names, *forest.warnings, forest.counts_reason, forest.source.inside]
        texts += [leftover.says for leftover in forest.extras.found]
        "".join(texts).encode()
    except ReadError as refused:
        text = str(refused)
        assert text
        assert "\n" not in text, text
        assert len(text) < 600, text[:900]
        text.encode()
        return refused
    return None
