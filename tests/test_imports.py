"""The direction of imports, and what `import treeaudit` loads."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "treeaudit"

# The rooms of the house, from the ground up: what stands higher may import what stands lower or
# beside it. A room is a folder or a loose module of the package.
FLOORS: list[set[str]] = [
    {"arrays", "errors", "files", "version", "stats", "rendered"},
    {"model"},
    {"dp", "readers", "people", "table"},
    {"writers", "defenses", "findings", "inference"},
    {"attacks", "trainers"},
    {"audit"},
    {"repair", "comparison"},
    {"reports"},
    {"cli"},
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def part_of(module: str) -> str:
    return module.split(".")[1]


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for path in PACKAGE.rglob("*.py")}


@functools.cache
def imports_of(module: str) -> set[str]:
    """Our own modules that a module imports anywhere in it, for type checkers too."""
    found = set()
    for node in ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in FILES else node.module for name in names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name for name in names if name in FILES and name != module}
    return found


# The face of the package and what runs it stand above everything.
MODULES = sorted(name for name in FILES if name not in ("treeaudit", "treeaudit.__main__"))


def test_imports_run_one_way() -> None:
    wrong = []
    for module in MODULES:
        mine = part_of(module)
        for other in imports_of(module):
            # Commands use the library as everybody does, by its face.
            if other == "treeaudit":
                up = mine != "cli"
            else:
                up = FLOOR_OF[part_of(other)] > FLOOR_OF[mine]
            if up:
                wrong.append(f"{module} must not import {other}")
    assert wrong == []


def test_every_part_has_its_place() -> None:
    assert {part_of(module) for module in MODULES} == set(FLOOR_OF)


def test_nothing_imports_in_a_circle() -> None:
    modules = nx.DiGraph((module, other) for module in FILES for other in imports_of(module))
    rooms = nx.DiGraph(
        (part_of(module), part_of(other))
        for module, other in modules.edges
        if module in MODULES and other in MODULES
    )
    for graph in (modules, rooms):
        assert not [sorted(c) for c in nx.strongly_connected_components(graph) if len(c) > 1]


FORMATS = {"sklearn", "xgboost", "lightgbm", "catboost", "onnx", "pmml", "skops", "r"}


def test_residual_content_knows_no_format() -> None:
    for module in MODULES:
        if module.startswith("treeaudit.readers.residual"):
            rooms = {other.split(".")[2] for other in imports_of(module) if ".readers." in other}
            assert not rooms & FORMATS, f"{module} must not import {sorted(rooms & FORMATS)}"


def loaded_by(code: str) -> set[str]:
    program = f"import sys; {code}\nprint(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return {name.partition(".")[0] for name in done.stdout.split()}


HEAVY = {"sklearn", "pandas", "networkx", "scipy", "joblib", "jinja2", "matplotlib"}


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not loaded_by("import treeaudit") & (HEAVY | {"numpy", "rich"})


def test_reading_and_scanning_a_file_loads_no_model_library(cancer_file) -> None:
    code = f"import treeaudit as ta; ta.scan({str(cancer_file)!r}).to_dict()"
    assert not loaded_by(code) & HEAVY


def test_the_help_needs_no_numbers() -> None:
    code = "from treeaudit.cli import app; from typer.main import get_command; get_command(app)"
    assert not loaded_by(code) & (HEAVY | {"numpy"})


def test_nothing_is_imported_through_the_links_at_the_top() -> None:
    """Links, or the plain files that a checkout without links has: no code needs them."""
    through = re.compile(r"^\s*(import|from)\s+(attacks|defenses|reports)\b", re.MULTILINE)
    assert through.search("    from reports.html import x")
    for part in ("treeaudit", "tests", "benchmarks"):
        for path in (ROOT / part).rglob("*.py"):
            assert not through.search(path.read_text(encoding="utf-8")), path


def test_only_private_names_of_our_own() -> None:
    private = re.compile(r"^\s*from\s+sklearn[\w.]*\._", re.MULTILINE)
    assert private.search("from sklearn.tree._tree import Tree")
    for path in FILES.values():
        assert not private.search(path.read_text(encoding="utf-8")), path


def test_public_names_are_documented_and_there() -> None:
    import treeaudit as ta

    assert sorted(ta.__all__) == dir(ta)
    for name in ta.__all__:
        thing = getattr(ta, name)
        assert name == "__version__" or thing.__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ta.nothing


def test_the_help_imports_the_commands_alone() -> None:
    loaded = loaded_by(
        "import contextlib, io; from treeaudit.cli import main; sys.argv = ['x', '--help']\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main()\n"
    )
    assert not loaded & (HEAVY | {"numpy", "pydantic"})
