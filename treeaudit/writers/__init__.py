"""A `Forest` in, a file or a scikit-learn estimator out.

Adding a format: one module with a function from `Forest` to the content of the
file, and its suffix in `WRITERS`.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from treeaudit.errors import DataError, UnsupportedModelError
from treeaudit.files import check_new, same_file, write_file
from treeaudit.model.forest import Forest
from treeaudit.readers import load
from treeaudit.readers.boosters import StoredBooster
from treeaudit.writers import in_place
from treeaudit.writers.estimators import BUILDERS
from treeaudit.writers.in_place import SKOPS, is_in_place
from treeaudit.writers.lightgbm import to_lightgbm_text
from treeaudit.writers.native_json import to_json
from treeaudit.writers.r import R_FORMATS, R_MODELS, to_rds
from treeaudit.writers.scikit_learn import VOTES, to_estimator, to_joblib, to_pickle, to_skops
from treeaudit.writers.xgboost import to_xgboost_json, to_xgboost_ubjson

__all__ = [
    "WRITERS",
    "check_target",
    "is_written_whole",
    "repaired_suffix",
    "save",
    "suffixes_of",
    "to_estimator",
    "writer_for",
]

Writer = Callable[[Forest], str | bytes]
"""From a model to the content of its file."""

WRITERS: Mapping[str, Writer] = {
    ".json": to_json,
    ".pkl": to_pickle,
    ".pickle": to_pickle,
    ".joblib": to_joblib,
    ".sav": to_pickle,
    ".skops": to_skops,
}
"""Every format by suffix."""

_PICKLES = ("sklearn-pickle", "sklearn-joblib")
_OWN: Mapping[str, Mapping[str, Writer]] = {
    "XGBoost": {".json": to_xgboost_json, ".ubj": to_xgboost_ubjson},
    "LightGBM": {".txt": to_lightgbm_text},
}
"""The formats of other libraries, for models that were read from them."""


def save(forest: object, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write a model; the suffix tells the format.

    Parameters
    ----------
    forest
        A `Forest`, or a fitted estimator, of which nothing is written but what was read.
    path
        ``.json`` is the version-free form, which keeps every model whole; ``.pkl``,
        ``.joblib`` and ``.skops`` hold a scikit-learn estimator: of the version that the model
        was read from, else of the installed one. A model of XGBoost is written as
        XGBoost's own ``.json`` and ``.ubj``, and as ``.treeaudit.json`` in the version-free form;
        one of LightGBM as its text (``.txt``), one of rpart, randomForest or ranger as ``.rds``.
    force
        Replace a file that exists. The file that the model was read from is
        never replaced.

    Raises
    ------
    DataError
        If the suffix is unknown, the file exists already or cannot be written.
    UnsupportedModelError
        If scikit-learn has no such model; names what can be written.

    Examples
    --------
    >>> import math, tempfile, treeaudit as ta
    >>> tree = ta.Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-math.inf, -math.inf, 1.5],
    ...                high=[math.inf, 1.5, math.inf], n_records=[3, 1, 2])
    >>> model = ta.Forest(trees=(tree,), schema=ta.Schema.numeric(["age"]), counts_are="absent")
    >>> path = save(model, tempfile.mkdtemp() + "/model.json")
    >>> ta.load(path).trees[0].n_records.tolist()
    [3, 1, 2]
    """
    made: Any = load(forest) if hasattr(forest, "predict") else forest
    return write_file(path, check_target(made, path, force=force)(made), force=force)


def check_target(forest: Forest, path: str | os.PathLike[str], *, force: bool = False) -> Writer:
    """Return the writer for a path, before any work is done for it.

    Raises
    ------
    DataError
        If nothing can be written there.
    """
    if not isinstance(forest, Forest):
        raise DataError(f"a {type(forest).__name__} is not what is saved: treeaudit.load gives it")
    target = Path(path)
    writers = _writers_of(forest)
    writer = writers.get(target.suffix.lower())
    if target.name.lower().endswith(".treeaudit.json"):
        writer = WRITERS[".json"]
    if writer is None:
        raise DataError(f"{target}: this model is written as {', '.join(suffixes_of(forest))}")
    if forest.source.path is not None and same_file(target, forest.source.path):
        raise DataError(f"{target} is the model itself; choose another name")
    check_new(target, force=force)
    if not target.parent.is_dir():
        raise DataError(f"{target} cannot be written: no such file or directory")
    return writer


def _writers_of(forest: Forest) -> Mapping[str, Writer]:
    """Return the writers by suffix: those of its own library stand before ours.

    A pickle may have any suffix, and what is written from it the same one.
    """
    stored, named = forest.source.stored, Path(forest.source.path or "").suffix.lower()
    pickle = forest.source.format in _PICKLES and named
    unusual = {named} - WRITERS.keys() if pickle else set[str]()
    if forest.source.format in R_FORMATS:
        return {".rds": to_rds, ".json": to_json}
    if not isinstance(stored, StoredBooster):
        return {**WRITERS, **dict.fromkeys(unusual, to_pickle)}
    pickled = dict.fromkeys((".pkl", ".pickle", ".joblib", ".sav", *unusual), in_place.to_pickle)
    found = stored.found
    seen = None if found is None else found.seen
    # A member of an ensemble answers with other labels, or another table, without it.
    member = seen is not None and (seen.labels or seen.own_labels or seen.apart or seen.target)
    whole = found is not None and (found.holder is not None or not (found.before or member))
    # Before 1.0 XGBoost states no version, and loads nothing but its binary form.
    whole = whole and (forest.source.library, forest.source.library_version) != ("XGBoost", None)
    return {**WRITERS, **_OWN[forest.source.library], **(pickled if whole else {})}


def suffixes_of(forest: Forest) -> list[str]:
    """Return the suffixes of the files that can hold a model of this kind."""
    if forest.source.format in R_FORMATS and forest.source.estimator not in R_MODELS:
        return [".json"]
    own = [name for name, one in _writers_of(forest).items() if one not in WRITERS.values()]
    if own:
        return [*own, *([] if ".json" in own else [".json"])]
    live = forest.source.estimator in (*BUILDERS, *VOTES) or forest.source.format == SKOPS
    if is_in_place(forest):
        return [name for name in _writers_of(forest) if live or name != ".skops"]
    return list(_writers_of(forest)) if live else [".json"]


def keeps_whole_record(forest: Forest, suffix: str) -> bool:
    """Tell whether a file of a suffix holds a model with all that it was read with, as a pickle."""
    writer = _writers_of(forest).get(suffix.lower())
    if writer is in_place.to_pickle:
        return True
    whole = writer in (to_pickle, to_joblib)
    whole = whole or (writer is to_skops and forest.source.format == SKOPS)
    return whole and is_in_place(forest)


def repaired_suffix(forest: Forest) -> str:
    """Return the suffix of the file in which a repair of a model is advised to be written."""
    path = forest.source.path
    named = ".pkl" if path is None else Path(path).suffix.lower()
    named = ".rds" if forest.source.format in R_FORMATS else named
    if named not in suffixes_of(forest):
        return ".json"
    if any(one.kind in ("calls", "code") for one in forest.extras.found):
        # A step of a class of the user's own is not written back.
        try:
            writer_for(forest, named)(forest)
        except UnsupportedModelError:
            return ".json"
    return named


def writer_for(forest: Forest, suffix: str) -> Writer:
    """Return the writer for one of `suffixes_of`."""
    return _writers_of(forest)[suffix]
