"""Every notebook runs from top to bottom, and holds what it showed."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "notebooks"
EVERY = pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda p: p.stem)


@EVERY
def test_it_holds_what_it_showed(path) -> None:
    """Where nobody runs it, its tables and pictures are seen all the same; none is a wall."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    shown = [one.get("data", {}) for cell in code for one in cell["outputs"]]
    assert all(cell["execution_count"] for cell in code)
    draws = any("Display" in line for cell in code for line in cell["source"])
    assert any(("image/png" if draws else "text/html") in data for data in shown)
    assert all(len("".join(data.get("text/plain", []))) < 5_000 for data in shown)
    assert code[-1]["outputs"]


@pytest.mark.sampled(3)
@pytest.mark.slow
@EVERY
@pytest.mark.filterwarnings("ignore")  # of the machinery, not of ours
def test_it_runs(path, tmp_path) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=None, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    assert all(cell.get("execution_count") for cell in notebook.cells if cell.cell_type == "code")
