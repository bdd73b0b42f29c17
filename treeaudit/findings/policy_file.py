"""Policies in TOML: ``[tool.treeaudit.policies.NAME]`` or ``[policies.NAME]``."""

import tomllib
from pathlib import Path
from typing import Any

from treeaudit.errors import PolicyError

__all__ = ["policies_in"]


def policies_in(path: Path) -> dict[str, dict[str, Any]]:
    """Return the thresholds of every policy in a file, by name.

    Raises
    ------
    PolicyError
        If the file is not there, is no TOML, or a policy is no table.
    """
    try:
        data: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PolicyError(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PolicyError(f"{path} cannot be read as TOML: {error}") from None
    tool = data.get("tool")
    own = tool.get("treeaudit") if isinstance(tool, dict) else None
    for table in (own, data):
        found = table.get("policies") if isinstance(table, dict) else None
        if isinstance(found, dict):
            wrong = [name for name, values in found.items() if not isinstance(values, dict)]
            if wrong:
                raise PolicyError(f"{path}: policy {wrong[0]} is not a table of thresholds")
            return found
    return {}
