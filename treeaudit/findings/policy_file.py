"""Policies in TOML: ``[tool.treeaudit.policies.NAME]`` or ``[policies.NAME]``."""

from pathlib import Path
from typing import Any

from treeaudit.errors import PolicyError
from treeaudit.files import read_toml

__all__ = ["policies_in"]

_LONGEST = 80


def policies_in(path: Path) -> dict[str, dict[str, Any]]:
    """Return the thresholds of every policy in a file, by name.

    Raises
    ------
    PolicyError
        If the file is not there, is no TOML, or a policy is no table or has a
        name that cannot be printed.
    """
    try:
        data = read_toml(path, PolicyError)
    except FileNotFoundError:
        raise PolicyError(f"there is no file {path}") from None
    tool = data.get("tool")
    own = tool.get("treeaudit") if isinstance(tool, dict) else None
    for table in (own, data):
        found = table.get("policies") if isinstance(table, dict) else None
        if isinstance(found, dict):
            for name, values in found.items():
                if not isinstance(values, dict):
                    raise PolicyError(f"{path}: policy {name} is not a table of thresholds")
                if not name.isprintable() or not 0 < len(name) <= _LONGEST:
                    raise PolicyError(
                        f"{path}: {name[:_LONGEST]!r} is no name of a policy; take a short one "
                        "of letters and digits"
                    )
            return found
    return {}
