"""Many files: which of those named are to be audited, and which are no models.

Links out of a folder, pipes and hidden folders are not followed; whatever is left
out is reported. A folder of MLflow is read for the file of its model.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlparse

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
from treeaudit.files import CONFIG, read_bytes
from treeaudit.findings.report import Report
from treeaudit.findings.request import Request
from treeaudit.readers import READERS
from treeaudit.readers.detect import could_run, name_of
from treeaudit.readers.limits import show
from treeaudit.readers.open import beginning

_KEYS = "pickled_model|model_path|python_model|model_data|data"

# What stands behind the name is stripped afterwards: a pattern takes the square of its blanks.
_NAMED = re.compile(rf"^[ \t]++(?:{_KEYS}):(.*)$", re.MULTILINE)

_KEPT = re.compile(r"^(storage_location|source):(.*)$", re.MULTILINE)

_VERSION = re.compile(r"version-\d+")

_LONGEST = 4096

_FOLDER = "is a folder"


def _said_by_mlflow(path: Path, root: str) -> Iterator[tuple[str, Place]]:
    """Yield what a file says of models, if it is one of MLflow's."""
    if path.name == "MLmodel":
        read = _of_model
    elif path.name == "meta.yaml" and _VERSION.fullmatch(path.parent.name):
        read = _registered
    else:
        return
    try:
        text = read_bytes(path, CONFIG, ReadError).decode("utf-8", "replace")
    except OSError:
        return
    except ReadError as error:
        yield _instead(path, f"which model is meant cannot be told: {error}")
        return
    yield from read(path, text, root)


def _of_model(path: Path, text: str, root: str) -> Iterator[tuple[str, Place]]:
    """Yield the files that an ``MLmodel`` says its model is in."""
    for name in dict.fromkeys(filter(None, map(_value, _NAMED.findall(text)))):
        meant = f"MLmodel says that the model is in {show(name, 80)}, which"
        try:
            at = _really(name, path.parent)
        except ValueError:
            yield _instead(path, f"{meant} is no path", name)
            continue
        wrong = _lacking(at) if Path(at).is_relative_to(root) else "lies outside of the folder"
        if wrong != _FOLDER:
            wrong = wrong and f"{meant} {wrong}"
            yield at, Place(path=str(path.parent / name), named=True, wrong=wrong)


def _lacking(at: str) -> str:
    """Say why a file cannot be audited; nothing where it can."""
    try:
        mode = os.stat(at).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "is not there"
    except OSError as error:
        return f"cannot be looked at: {why_not(error)}"
    return "" if stat.S_ISREG(mode) else _FOLDER if stat.S_ISDIR(mode) else "is no regular file"


def _registered(path: Path, text: str, root: str) -> Iterator[tuple[str, Place]]:
    """Say which version of a registered model lies elsewhere."""
    told = {key: _value(text) for key, text in _KEPT.findall(text)}
    where = told.get("storage_location") or told.get("source") or ""
    if not where:
        return
    at = _of_address(where)
    if not at or not Path(at).is_relative_to(root):
        why = f"this version of a registered model lies in {show(where, 200)}: name that folder"
        yield _instead(path, why)


def _of_address(where: str) -> str:
    """Return where an address really leads on this machine; nothing where it does not."""
    try:
        url = urlparse(where)
        here = url.path and url.scheme in ("", "file")
        return _really(unquote(url.path)) if here else ""
    except ValueError:
        return ""


def _really(name: str, folder: Path | None = None) -> str:
    """Return where a path leads, links followed."""
    if len(name) > _LONGEST:  # following it takes the square of its length
        raise ValueError
    return os.path.realpath(name if folder is None else folder / name)


def _value(text: str) -> str:
    return text.strip(" \t\r").strip("'\"")


def _instead(path: Path, wrong: str, about: str = "") -> tuple[str, Place]:
    """Return a line for the folder of a file; the file itself is audited as any other."""
    return f"{path}\0{about}", Place(path=str(path.parent), named=True, wrong=wrong)


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
            yield from _said_by_mlflow(path, root)


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
