"""An environment for each peer, made when it is first needed."""

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["python_of", "unavailable"]

_REQUIREMENTS = Path(__file__).parent / "requirements"
_LIVES_WITH = {"privatree": "diffprivlib"}


def unavailable(peer: str) -> str | None:
    """Tell why a peer cannot be measured here, before anything is installed."""
    if peer == "privatree" and "PRIVATREE" not in os.environ:
        return (
            "it is on no package index; `--privatree FOLDER` names a checkout of "
            "tudelft-cda-lab/PrivaTree"
        )
    return None


def python_of(peer: str, folder: Path) -> Path:
    """Return the Python of a peer's environment, made from its file of requirements.

    Raises
    ------
    subprocess.CalledProcessError
        If it could not be made.
    """
    name = _LIVES_WITH.get(peer, peer)
    wanted, home = _REQUIREMENTS / f"{name}.txt", folder / name
    python, stamp = home / "bin" / "python", home / "installed.txt"
    if not stamp.exists() or stamp.read_bytes() != wanted.read_bytes():
        print(f"making {home}", file=sys.stderr)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run([*pip, "--requirement", str(wanted)], check=True)
        stamp.write_bytes(wanted.read_bytes())
    return python
