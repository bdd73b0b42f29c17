"""The direction of imports, and what `import treeaudit` loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "treeaudit"

# Whoever stands later may import whoever stands earlier, or stands in the same place.
LAYERS = [
    ["version"],
    ["errors"],
    ["schema"],
    ["tree"],
    ["walk"],
    ["output"],
    ["schema_file"],
    ["dp"],
    ["readers"],
    ["writers"],
    ["rules", "diversity"],
    ["words"],
    ["trainers"],
    ["disclosure"],
    ["data"],
    ["records"],
    ["groups"],
    ["table"],
    ["findings"],
    ["stats"],
    ["measures"],
    ["checks"],
    ["policy_file"],
    ["policy", "baseline"],
    ["claims", "imputation", "knowledge", "predictions", "prior", "verification"],
    ["attacks", "defenses"],
    ["preparation"],
    ["audit"],
    ["comparison"],
    ["repairs"],
    ["defending"],
    ["fixes"],
    ["reports"],
    ["cli"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

# `Report` and `Comparison` offer their own renderers: the calls upwards, made when they are used.
UPWARDS = {("findings", "reports"), ("findings", "policy"), ("comparison", "reports")}


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "treeaudit":
                names = [f"treeaudit.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {n.split(".")[1] for n in names if n.startswith("treeaudit.")}
    return found


MODULES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem[0] != "_"
)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_run_one_way(path) -> None:
    mine = part_of(path)
    for other in imports_of(path):
        if (mine, other) not in UPWARDS and other in LEVEL:
            assert LEVEL[other] <= LEVEL[mine], f"{mine} must not import {other}"


def test_every_part_has_its_place() -> None:
    assert {part_of(path) for path in MODULES} == set(LEVEL)


def loaded_by(code: str) -> set[str]:
    program = f"import sys; {code}; print(*sorted(sys.modules))"
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
    for name in ("attacks", "defenses", "reports"):
        link = ROOT / name
        assert link.is_symlink()
        assert link.resolve() == PACKAGE / name


def test_only_private_names_of_our_own() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                assert "._" not in (node.module or "")


def test_public_names_are_documented_and_there() -> None:
    import treeaudit as ta

    assert sorted(ta.__all__) == dir(ta)
    for name in ta.__all__:
        thing = getattr(ta, name)
        assert name == "__version__" or thing.__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ta.nothing
