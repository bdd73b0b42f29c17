"""Reading hostile files imports, opens, runs and connects to nothing, and stays small."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.files import BOMBS, HOSTILE, Hostile
from tests.strategies import one_in

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LONGEST = 10
LARGEST = 1024


def read_apart(folder: Path, megabytes: int | None = None) -> list[dict[str, Any]]:
    if os.name != "posix":
        pytest.skip("files are read apart in forks, which need a POSIX system")

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (300, 300))
        if megabytes is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))

    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.sandbox", str(folder)],
        cwd=ROOT,
        env={**os.environ, "TREEAUDIT_MARKER": str(folder.parent / "marker")},
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert not (folder.parent / "marker").exists()
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[0] == {"started": True}
    return lines[1:]


def test_hostile_files_touch_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    # Without the package, the attempt to import it is the one import there is.
    files = [c for c in HOSTILE if find_spec("lz4") or not c.name.startswith("lz4")]
    for case in files:
        (folder / case.name).write_bytes(case.bytes())
    results = read_apart(folder)
    assert len(results) == len(files)
    assert [r for r in results if r["events"]] == []
    assert [r for r in results if r["outcome"] == "model"] == []
    assert max(r["seconds"] for r in results) < LONGEST


SOME_BOMBS = one_in(3, BOMBS)


@pytest.fixture(scope="module")
def read_bombs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What became of every bomb, each read by a process with little memory."""
    folder = tmp_path_factory.mktemp("bombs") / "files"
    folder.mkdir()
    for bomb in SOME_BOMBS:
        (folder / bomb.name).write_bytes(bomb.bytes())
    return {result["name"]: result for result in read_apart(folder, megabytes=2 * LARGEST)}


@pytest.mark.skipif(sys.platform != "linux", reason="memory of a process is measured on Linux")
@pytest.mark.parametrize("bomb", SOME_BOMBS, ids=lambda bomb: bomb.name)
def test_bomb_is_bounded_in_time_and_memory(
    bomb: Hostile, read_bombs: dict[str, dict[str, Any]]
) -> None:
    result = read_bombs[bomb.name]
    assert result["events"] == []
    assert result["outcome"] == bomb.error.__name__
    assert result["seconds"] < LONGEST
    assert result["megabytes"] < LARGEST
