"""Folders of MLflow: the files in which an ``MLmodel`` says that its model is."""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

from treeaudit.audit.paths import Place, why_not
from treeaudit.errors import ReadError
from treeaudit.files import CONFIG, read_bytes
from treeaudit.readers.limits import show

_KEYS = "pickled_model|model_path|python_model|model_data|data"

# What stands behind the name is stripped afterwards: a pattern takes the square of its blanks.
_NAMED = re.compile(rf"^[ \t]++(?:{_KEYS}):(.*)$", re.MULTILINE)

_KEPT = re.compile(r"^(storage_location|source):(.*)$", re.MULTILINE)

_VERSION = re.compile(r"version-\d+")

_LONGEST = 4096

_FOLDER = "is a folder"


def places_named(path: Path, root: str) -> Iterator[tuple[str, Place]]:
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
