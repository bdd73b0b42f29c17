"""Read damaged bytes, and see that a reader never goes wrong."""

from pathlib import Path
from types import ModuleType

import numpy as np

from tests.outcome import refusal
from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.source import Source
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.open import Content

__all__ = ["refused", "sentence_or_model"]


def refused(folder: Path, data: bytes, kind: type[ReadError] = UnsupportedModelError) -> str:
    """Read a file of these bytes; return the sentence of the error, of exactly this kind."""
    path = folder / "model"
    path.write_bytes(data)
    error = refusal(path)
    assert type(error) is kind, error
    return str(error)


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
