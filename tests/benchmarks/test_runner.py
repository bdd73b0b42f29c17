"""What ``make bench`` runs and installs, and that a miss is called a miss."""

import importlib.util
import re
from pathlib import Path

import pytest

from benchmarks.__main__ import SECTIONS
from benchmarks.measure import Cost, Program, side_by_side
from benchmarks.scale import exponent
from benchmarks.tables import Bound, table

ROOT = Path(__file__).parents[2]
PEERS = (ROOT / "benchmarks" / "peers.txt").read_text(encoding="utf-8")


def test_every_section_is_a_module_that_runs() -> None:
    for section in SECTIONS:
        found = importlib.util.find_spec(f"benchmarks.{section.module}")
        assert found is not None, section
        text = Path(str(found.origin)).read_text(encoding="utf-8")
        assert 'if __name__ == "__main__":' in text, section
        assert "RESULTS" in text, section


def test_the_peers_are_pinned() -> None:
    lines = [line for line in PEERS.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\d.]+", line) for line in lines)
    named = {line.partition("==")[0] for line in lines}
    assert named >= {
        *("sacroml", "fickling", "skops", "adversarial-robustness-toolbox", "pycanon"),
        "diffprivlib",
    }
    assert "benchmarks/peers.txt" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_peer_that_fails_is_told_and_ours_is_an_error(tmp_path, monkeypatch) -> None:
    import sys

    monkeypatch.setattr("benchmarks.measure.PEERS", Path(sys.executable))
    costs = side_by_side(
        {"floor": ("", "pass"), "peer": Program("", "raise ValueError('no | pipe')", peer=True)}, 1
    )
    lines = table("Title", "Note.", costs, "peer", {"floor": Bound(peak=1)})
    assert "| peer | FAILED: ValueError: no / pipe | – | – | – | – | |" in lines
    assert any("**MISS** (≤ 1 MB)" in line for line in lines)
    with pytest.raises(RuntimeError, match="ours"):
        side_by_side({"ours": ("", "raise ValueError")}, 1)
    monkeypatch.setattr("benchmarks.measure.PEERS", tmp_path / "nothing")
    with pytest.raises(FileNotFoundError, match="make bench"):
        side_by_side({"peer": Program("", "pass", peer=True)}, 1)


def test_a_bound_that_holds_is_no_miss() -> None:
    cost, floor = Cost(1.9, 2.9, 99.0), Cost(1.0, 1.0, 50.0)
    told = Bound(ratio=2, process_ratio=3, call=2, process=3, peak=100).verdict(cost, floor)
    assert "MISS" not in told
    assert Bound().verdict(cost, floor) == ""


def test_a_line_has_the_exponent_it_was_made_with() -> None:
    assert exponent([10, 100], [1.0, 1.0]) == pytest.approx(0, abs=1e-9)
    assert exponent([10, 100, 1000], [0.0, 0.0, 3.0]) is None
