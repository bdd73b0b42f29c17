"""A `Forest` in, a file or a scikit-learn estimator out.

Adding a format: one module with a function from `Forest` to the content of the
file, and its suffix in `WRITERS`.
"""

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from treeaudit.errors import DataError
from treeaudit.files import check_new, same_file, write_file
from treeaudit.model.forest import Forest

__all__ = [
    "WRITERS",
    "check_target",
    "content_by",
    "is_written_whole",
    "repaired_suffix",
    "save",
    "suffixes_of",
    "to_estimator",
    "writer_for",
]

WRITERS: Mapping[str, str] = {
    ".json": "native_json.to_json",
    ".pkl": "scikit_learn.to_pickle",
    ".pickle": "scikit_learn.to_pickle",
    ".joblib": "scikit_learn.to_joblib",
    ".skops": "scikit_learn.to_skops",
}
"""Every format by suffix; a writer loads when it is asked for."""

_OWN: Mapping[str, Mapping[str, str]] = {
    "XGBoost": {
        ".json": "xgboost_document.to_xgboost_json",
        ".ubj": "xgboost_document.to_xgboost_ubjson",
    },
    "LightGBM": {".txt": "lightgbm_text.to_lightgbm_text"},
}
"""The formats of other libraries, for models that were read from them."""


def save(forest: Forest, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write a model; the suffix tells the format.

    Parameters
    ----------
    path
        ``.json`` is the version-free form, which keeps every model whole; ``.pkl``,
        ``.joblib`` and ``.skops`` hold a scikit-learn estimator: of the version that the model
        was read from, else of the installed one. A model of XGBoost is written as
        XGBoost's own ``.json`` and ``.ubj``, and as ``.treeaudit.json`` in the version-free form;
        one of LightGBM as its text (``.txt``).
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
    writer = check_target(forest, path, force=force)
    return write_file(path, content_by(writer, forest), force=force)


def check_target(forest: Forest, path: str | os.PathLike[str], *, force: bool = False) -> str:
    """Return the name of the writer for a path, before any work is done for it.

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
        raise DataError(f"{target}: a model is written as {', '.join(writers)}")
    if forest.source.path is not None and same_file(target, forest.source.path):
        raise DataError(f"{target} is the model itself; choose another name")
    check_new(target, force=force)
    if not target.parent.is_dir():
        raise DataError(f"{target} cannot be written: no such file or directory")
    return writer


def content_by(writer: str, forest: Forest) -> str | bytes:
    """Return the content of a file, by the name of its writer.

    Raises
    ------
    UnsupportedModelError
        If it has no such form; names what can be written.
    """
    module, _, name = writer.partition(".")
    content: str | bytes = getattr(import_module(f"{__name__}.{module}"), name)(forest)
    return content


def _writers_of(forest: Forest) -> Mapping[str, str]:
    """Return the writers by suffix: those of its own library stand before ours."""
    from treeaudit.readers.boosters import StoredBooster

    stored = forest.source.stored
    if not isinstance(stored, StoredBooster):
        return WRITERS
    pickled = dict.fromkeys((".pkl", ".pickle", ".joblib"), "in_place.to_pickle")
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
    from treeaudit.readers.sklearn.ensembles import FORESTS, TREES

    own = {name: one for name, one in _writers_of(forest).items() if WRITERS.get(name) != one}
    if own:
        return [*own, *([] if ".json" in own else [".json"])]
    # What is asked most often waits for no writer.
    if forest.source.estimator in (TREES | FORESTS) - {"RandomTreesEmbedding"}:
        return list(WRITERS)
    from treeaudit.writers.estimators import BUILDERS
    from treeaudit.writers.in_place import SKOPS, is_in_place
    from treeaudit.writers.votes import VOTES

    live = forest.source.estimator in (*BUILDERS, *VOTES) or forest.source.format == SKOPS
    if is_in_place(forest):
        return [name for name in WRITERS if live or name != ".skops"]
    return list(WRITERS) if live else [".json"]


def is_written_whole(forest: Forest, suffix: str) -> bool:
    """Tell whether a file of a suffix holds a model with all that it was read with, as a pickle."""
    from treeaudit.writers.in_place import SKOPS, is_in_place

    writer = _writers_of(forest).get(suffix.lower(), "")
    if writer == "in_place.to_pickle":
        return True
    forms = {"scikit_learn.to_pickle", "scikit_learn.to_joblib"}
    if forest.source.format == SKOPS:
        forms.add("scikit_learn.to_skops")
    return writer in forms and is_in_place(forest)


def repaired_suffix(forest: Forest) -> str:
    """Return the suffix of the file in which a repair of a model is advised to be written."""
    path = forest.source.path
    named = ".pkl" if path is None else Path(path).suffix.lower()
    return named if named in suffixes_of(forest) else ".json"


def writer_for(forest: Forest, suffix: str) -> str:
    """Return the name of the writer for one of `suffixes_of`."""
    return _writers_of(forest)[suffix]


def to_estimator(forest: Forest) -> Any:  # noqa: ANN401  # scikit-learn has no types
    """Return a model as a fitted estimator of the installed scikit-learn.

    See `treeaudit.writers.scikit_learn.to_estimator`.
    """
    from treeaudit.writers.scikit_learn import to_estimator as made

    return made(forest)
