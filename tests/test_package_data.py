"""What is no code and belongs to the package comes along when it is installed."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_file_is_installed() -> None:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    package = ROOT / "treeaudit"
    patterns = stated["tool"]["setuptools"]["package-data"]["treeaudit"]
    installed = {path for pattern in patterns for path in package.glob(pattern)}
    files = {path for path in package.rglob("*.*") if path.is_file()}
    assert {path for path in files if path.suffix not in (".py", ".pyc")} - installed == set()
    assert package / "readers" / "r" / "elements.txt" in installed
