"""A file or a fitted estimator in, a `Forest` out. No code of the file runs.

Adding a format: one module with ``matches`` and ``read``, and its name in
`READERS`.
"""

import os
import pickle
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.detect import name_of
from treeaudit.readers.pickles import pickled
from treeaudit.readers.pickles.inert import Limits
from treeaudit.readers.unpack import Content, open_file, unpack

__all__ = ["READERS", "load"]

READERS: tuple[ModuleType | str, ...] = (
    pickled,
    "own_json",
    "skops.skops_file",
    "boosters.xgboost_model",
    "boosters.lightgbm_model",
    "boosters.catboost_model",
    "exchange.pmml",
    "exchange.onnx_model",
)
"""Every format, in the order in which they are asked; the rarer load when it is their turn."""


def load(
    model: object,
    *,
    select: str | None = None,
    max_bytes: int | None = None,
) -> Forest:
    """Read a model file, or a fitted estimator, as a forest.

    Parameters
    ----------
    model
        The path of a file (pickle, joblib, skops, XGBoost, LightGBM, CatBoost
        JSON, ONNX, PMML, treeaudit JSON), or a fitted estimator. An estimator
        is pickled in memory and read through the same door as a file. A
        `Forest` is returned as it is.
    select
        Which model to take from a bundle of several, by the name that the
        error lists.
    max_bytes
        Largest file, packed or unpacked. Unless told 8 GiB, and unpacked at most 100
        times the file, or 256 MiB.

    Returns
    -------
    Forest
        Its trees are built from the mapped file when they are asked for.

    Raises
    ------
    UnsafeModelError
        If loading the file the usual way would run code.
    UnsupportedModelError
        If it holds no tree model; names what it holds.
    ModelTooLargeError
        If it goes over a limit.
    ReadError
        If it cannot be opened or is damaged.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> forest = load(DecisionTreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True)))
    >>> forest.n_trees, forest.counts_are, forest.schema.classes
    (1, 'exact', (0, 1, 2))
    """
    if isinstance(model, Forest):
        return model
    limits = Limits.up_to(max_bytes)
    if isinstance(model, str | os.PathLike):
        content = open_file(model, limits)
        source = Source(path=str(Path(model)), digest=content.digest, n_bytes=content.n_bytes)
    else:
        content = unpack(_pickled(model), limits)
        source = Source(n_bytes=content.n_bytes)
    for name in READERS:
        reader = import_module(f"{__name__}.{name}") if isinstance(name, str) else name
        if reader.matches(content):
            forest: Forest = reader.read(content, source, select, limits)
            if source.path is None:
                in_memory = replace(forest.source, format="memory", digest=None, n_bytes=None)
                return replace(forest, source=in_memory)
            return forest
    what = name_of(content.data)
    if what == "a text file":
        raise ReadError(f"{_where(source, content)} is a text file; name the model that was saved")
    raise UnsupportedModelError(f"{_where(source, content)} is {what}")


def _where(source: Source, content: Content) -> str:
    name = Path(source.path or "the model").name
    return f"{name} (inside {content.compression})" if content.compression else name


def _pickled(model: object) -> bytes:
    if isinstance(model, Tree):
        raise UnsupportedModelError(
            "a Tree alone does not say what its columns are: wrap it in a Forest with a Schema"
        )
    try:
        return pickle.dumps(model, protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        raise UnsupportedModelError(
            f"a {type(model).__name__} cannot be read as a model: {error}"
        ) from None
