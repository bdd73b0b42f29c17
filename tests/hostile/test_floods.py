"""No file takes more memory than four times its size and 256 MB, nor more work than is counted."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.floods import FLOODS, Flood
from tests.hostile.test_sandbox import read_apart
from tests.strategies import one_in

pytestmark = [
    pytest.mark.slow,
    pytest.mark.sampled,
    pytest.mark.skipif(sys.platform != "linux", reason="memory of a process is measured on Linux"),
]

FAMILIES = sorted({flood.name.split("-")[0] for flood in FLOODS})


def _batches(family: str) -> Iterator[list[Flood]]:
    floods = one_in(18, [flood for flood in FLOODS if flood.name.split("-")[0] == family])
    for i in range(0, len(floods), 40):
        yield floods[i : i + 40]


def test_there_are_more_than_two_hundred() -> None:
    assert len({flood.name for flood in FLOODS}) == len(FLOODS) > 200
    assert len(FAMILIES) > 12


@pytest.mark.parametrize("family", FAMILIES)
def test_a_flood_stays_within_its_bounds(family: str, tmp_path: Path) -> None:
    for i, floods in enumerate(_batches(family)):
        folder = tmp_path / str(i)
        folder.mkdir()
        sizes = {}
        for flood in floods:
            path = folder / flood.name
            path.write_bytes(flood.data())
            sizes[flood.name] = path.stat().st_size
        results = read_apart(folder)
        assert [one["name"] for one in results] == sorted(sizes)
        assert [one for one in results if one["events"]] == []
        assert [
            (one["name"], one["grown"])
            for one in results
            if one["grown"] > 4 * sizes[one["name"]] + (256 << 20)
        ] == []
        for name in sizes:
            (folder / name).unlink()
