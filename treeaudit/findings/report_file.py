"""The JSON report of an earlier audit, as plain data."""

import hashlib
import os
from pathlib import Path
from typing import Any

from treeaudit.errors import PolicyError, ReadError, TreeauditError
from treeaudit.files import BASELINE, read_bytes
from treeaudit.readers.json_text import parse_json
from treeaudit.readers.limits import Most

__all__ = ["checked_report", "checked_reports", "is_report", "read_json", "read_report"]

_SCHEMA_VERSION = 2


def read_report(
    path: str | os.PathLike[str], what: str = "the baseline"
) -> tuple[dict[str, Any], str]:
    """Read a JSON report of one model, and the SHA-256 of its file.

    Parameters
    ----------
    what
        What it is called in messages.

    Raises
    ------
    PolicyError
        If it is none, or has another schema version.
    """
    data, sha256 = read_json(path, what)
    return checked_report(data, f"{what} {Path(path).name}"), sha256


def is_report(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is a JSON report, of one model or of several."""
    try:
        content = read_bytes(path, BASELINE, PolicyError)
        told = b'"schema_version"' in content and content.lstrip()[:1] == b"{"
        data = parse_json(content, Most.form, (232, 88, 36)) if told else None
    except (OSError, TreeauditError):
        return False
    return isinstance(data, dict) and ("checks" in data or "reports" in data)


def read_json(path: str | os.PathLike[str], what: str, most: int = BASELINE) -> tuple[object, str]:
    """Read what a JSON file of at most so many bytes holds, and its SHA-256.

    Raises
    ------
    PolicyError
        If there is none, or it is damaged.
    """
    try:
        content = read_bytes(path, most, PolicyError, what)
        data = parse_json(content, Most.form, (232, 88, 36))
    except FileNotFoundError:
        raise PolicyError(f"there is no {what.removeprefix('the ')} {path}") from None
    except ReadError as error:
        raise PolicyError(
            f"{what} {path} is no JSON report ({error}); 'treeaudit scan MODEL -o report.json' "
            "writes one"
        ) from None
    return data, hashlib.sha256(content).hexdigest()


def checked_reports(data: Any, name: str) -> list[dict[str, Any]]:  # noqa: ANN401  # JSON
    """Return the JSON report of each model of a file, once they are seen to be such.

    Raises
    ------
    PolicyError
        If one is none, or has another schema version.
    """
    each = data.get("reports") if isinstance(data, dict) and "schema_version" in data else None
    if not isinstance(each, list) or not each:
        return [checked_report(data, name)]
    return [checked_report(one, f"{name}, model {i}") for i, one in enumerate(each, start=1)]


def checked_report(data: Any, name: str) -> dict[str, Any]:  # noqa: ANN401  # JSON
    """Return the JSON report of one model, once it is seen to be one.

    Raises
    ------
    PolicyError
        If it is none, or has another schema version.
    """
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version is not None and isinstance(data.get("reports"), list):
        raise PolicyError(f"{name} is about several models: scan one with --select NAME")
    if version is None or not all(isinstance(data.get(k), list) for k in ("checks", "findings")):
        raise PolicyError(
            f"{name} is no treeaudit report; 'treeaudit scan MODEL -o report.json' writes one"
        )
    if version != _SCHEMA_VERSION:
        raise PolicyError(
            f"{name} has schema version {version}, this treeaudit reads "
            f"{_SCHEMA_VERSION}; write it again with this version"
        )
    report: dict[str, Any] = data
    return report
