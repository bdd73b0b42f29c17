"""Many files: which of those named are to be audited, and which are no models.

Links out of a folder, pipes and hidden folders are not followed; whatever is left
out is reported. A folder of MLflow is read for the file of its model.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from treeaudit.audit import mlflow
from treeaudit.audit.paths import (
    MatchedFiles,
    Place,
    is_folder,
    is_link,
    is_pattern,
    matched,
    why_not,
)
from treeaudit.audit.scan import audit_all
from treeaudit.errors import ModelTooLargeError, ReadError, UnsafeModelError
from treeaudit.files import CONFIG
from treeaudit.findings.report import Report
from treeaudit.findings.request import Request
from treeaudit.readers import READERS
from treeaudit.readers.detect import could_run, name_of
from treeaudit.readers.limits import show
from treeaudit.readers.open import beginning

# What nobody would call anything else: a damaged one is said to be damaged.
_SUFFIXES = frozenset(
    ".pkl .pickle .joblib .skops .ubj .xgb .lgb .cbm .onnx .pmml .dill .cloudpickle".split()
)

_TREES = ("a Git LFS", "an XGBoost", "a CatBoost", "a treelite", "a LightGBM", "an H2O", "a skops")

_TEXT = "a text file"

_TEXTS = frozenset(".txt .in .lock .yaml .yml .toml .cfg .ini .md .rst .csv .tsv".split())


def find(paths: Sequence[str | os.PathLike[str]]) -> MatchedFiles:
    r"""Return the files that paths stand for, each once, by name."""
    found, each, entered = MatchedFiles(), dict[str, Place](), set[str]()
    for given in map(Path, paths):
        for path, wrong in matched(given) if is_pattern(given) else [(given, "")]:
            for key, place in _at(Path(path), wrong, found, entered):
                each[key] = _of_both(each[key], place) if key in each else place
    found.places = sorted(each.values(), key=lambda one: one.path)
    found.aside.sort()
    return found


def _of_both(one: Place, other: Place) -> Place:
    """Return the place of a file with two names: what either says of it stays."""

    def rank(place: Place) -> tuple[bool, bool, bool, bool]:
        path = Path(place.path)
        other_name = path.suffix.lower() not in _SUFFIXES
        return bool(place.wrong), other_name, not place.named, is_link(path)

    first = min(one, other, key=rank)
    return replace(first, named=one.named or other.named)


def _says_model(path: str) -> bool:
    """Tell whether a file calls itself a model, by its own name or that of a link to it."""
    return not {Path(one).suffix.lower() for one in (path, os.path.realpath(path))}.isdisjoint(
        _SUFFIXES
    )


def _at(
    path: Path, wrong: str, found: MatchedFiles, entered: set[str]
) -> Iterator[tuple[str, Place]]:
    """Yield the files at a path, by where they really are."""
    if not wrong and is_link(path) and not os.path.lexists(os.path.realpath(path)):
        wrong = f"it is a link to {show(str(path.readlink()), 200)}, which is not there"
    if wrong or not is_folder(path):
        yield os.path.realpath(path), Place(path=str(path), named=not wrong, wrong=wrong)
    elif str(path) not in entered:  # a pattern matches folders and what lies in them
        yield from _below(path, found, entered)


def _below(folder: Path, found: MatchedFiles, entered: set[str]) -> Iterator[tuple[str, Place]]:
    """Yield the regular files of a folder and the folders in it, by where they really are."""
    root, todo = os.path.realpath(folder), [(folder, os.path.realpath(folder))]
    while todo:
        here, real = todo.pop()
        entered.add(str(here))
        try:
            with os.scandir(here) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            wrong = f"the folder cannot be opened: {why_not(error)}"
            yield real, Place(path=str(here), wrong=wrong)
            continue
        for entry in entries:
            path, at = here / entry.name, os.path.join(real, entry.name)  # noqa: PTH118  # a text
            if entry.is_symlink():
                at = os.path.realpath(path)
                if why := _refused(at, root):
                    found.aside.append((str(path), why))
                    continue
            elif entry.is_dir(follow_symlinks=False):
                if entry.name.startswith(".") or entry.name == "__pycache__":
                    found.aside.append((str(path), "a hidden folder, not entered"))
                else:
                    todo.append((path, at))
                continue
            elif not entry.is_file(follow_symlinks=False):
                found.aside.append((str(path), "no regular file"))
                continue
            yield at, Place(path=str(path))
            yield from mlflow.places_named(path, root)


def _refused(at: str, root: str) -> str:
    """Say why a link is not followed; nothing where it leads to a file of the same folder."""
    if not Path(at).is_relative_to(root):
        return "a link out of the folder"
    try:
        regular = stat.S_ISREG(os.lstat(at).st_mode)
    except OSError:
        return "a link that leads nowhere"
    return "" if regular else "a link to what is no file"


def attempt(request: Request, *, named: bool) -> tuple[Report, ...] | str:
    """Return the reports on a file, or what it is where nobody said that it is a model."""
    path = str(request.model)
    if not named and (other := no_model(path)):
        return other
    try:
        return audit_all(request)
    except ReadError as error:
        if named or not _is_text(path, error):
            raise
        return _TEXT


def no_model(path: str) -> str:
    """Say what a file is that no reader knows; nothing where it is, or calls itself, a model."""
    if _says_model(path):
        return ""
    try:
        content = beginning(path)
    except ReadError:
        empty = Path(path).is_file() and Path(path).stat().st_size == 0
        return "an empty file" if empty else ""
    what = name_of(content.data)
    known = what.startswith(_TREES) or any(one.matches(content) for one in READERS)
    return "" if known else what


def _is_text(path: str, error: ReadError) -> bool:
    """Tell whether a text was taken for a pickle: lists of packages begin as old ones do."""
    if _says_model(path) or isinstance(error, ModelTooLargeError):
        return False
    content = beginning(path)
    if name_of(content.data) != _TEXT or could_run(content.data):
        return False
    if type(error) is ReadError:
        # Of what is packed only the beginning was looked at.
        return not content.compression or len(content.data) < CONFIG
    # A name that cannot be one, as in a list of packages; what has an end says that it is a pickle.
    is_text = Path(path).suffix.lower() in _TEXTS
    whole = len(content.data) > CONFIG or bytes(content.data[-64:]).rstrip()[-1:] == b"."
    return isinstance(error, UnsafeModelError) and is_text and not whole
