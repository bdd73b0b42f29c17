"""The command stands behind limits of its own, which it takes away again and can be told."""

import sys
from pathlib import Path

import numpy as np
import pytest

from treeaudit.cli.limits import limited, memory_for, seconds_for
from treeaudit.errors import TreeauditError

resource = pytest.importorskip("resource")
signal = pytest.importorskip("signal")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits addresses")
KINDS = (resource.RLIMIT_AS, resource.RLIMIT_CPU)


def test_the_limits_are_there_and_gone_afterwards(tmp_path: Path) -> None:
    before = [resource.getrlimit(kind) for kind in KINDS]
    handler = signal.getsignal(signal.SIGXCPU)
    with limited(["scan", "model.pkl"]):
        within = [resource.getrlimit(kind) for kind in KINDS]
    assert [resource.getrlimit(kind) for kind in KINDS] == before
    assert signal.getsignal(signal.SIGXCPU) == handler
    assert [hard for _, hard in within] == [hard for _, hard in before]
    assert within[1][0] != resource.RLIM_INFINITY


@LINUX
def test_too_much_memory_ends_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEAUDIT_MAX_MEMORY", str(1 << 30))
    with (
        pytest.raises(TreeauditError, match=r"1\.0 GiB .* set TREEAUDIT_MAX_MEMORY .* to 0"),
        limited(["scan"]),
    ):
        np.ones(1 << 40)


def test_spent_time_ends_in_one_sentence() -> None:
    with (
        pytest.raises(TreeauditError, match=r"900 seconds .* set TREEAUDIT_MAX_SECONDS .* to 0"),
        limited(["scan"]),
    ):
        signal.raise_signal(signal.SIGXCPU)


def test_nothing_is_limited_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [resource.getrlimit(kind) for kind in KINDS]
    for name in ("MEMORY", "SECONDS"):
        monkeypatch.setenv(f"TREEAUDIT_MAX_{name}", "0")
    with limited(["scan"]):
        assert [resource.getrlimit(kind) for kind in KINDS] == before


def test_the_limits_follow_the_files_and_the_command(tmp_path: Path) -> None:
    model = tmp_path / "model.pkl"
    model.write_bytes(bytes(10**6))
    base = memory_for(["scan"])
    for words in (["scan", str(model)], ["scan", f"--train={model}"], ["scan", str(tmp_path)]):
        assert memory_for(words) - base == 40 * 10**6
        assert seconds_for(words) == 903
    assert memory_for(["scan", "--max-bytes", "1000"]) - base == 40_000
    assert memory_for(["scan", "--max-bytes=1000"]) - base == 40_000
    assert [seconds_for([one]) for one in ("train", "compare", "defend", "demo")] == [0] * 4
