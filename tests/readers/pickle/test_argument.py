"""What the interpreter's own docstring argues, checked in the source of its modules."""

import ast
import importlib
from pathlib import Path

import pytest

import treeaudit
from treeaudit.readers.pickle.names import CLASSES
from treeaudit.trainers.algorithms import ALGORITHMS

PACKAGE = Path(treeaudit.__file__).parent
READERS = "treeaudit.readers."
FILES = {
    ".".join(("treeaudit", *path.relative_to(PACKAGE).with_suffix("").parts)): path
    for path in (PACKAGE / "readers").rglob("*.py")
}
ROOTS = tuple(f"{READERS}{name}" for name in ("pickle.pickle_vm", "skops.nodes", "open"))
FORBIDDEN = frozenset(
    (
        "eval exec compile __import__ breakpoint globals locals vars delattr setattr literal_eval "
        "import_module find_class load loads system popen Popen memmap fromfile load_module"
    ).split()
)
MODULES = frozenset(
    (
        "pickle _pickle marshal shelve importlib subprocess ctypes socket runpy code codeop ast "
        "imp pkgutil shutil urllib http joblib sklearn skops cloudpickle scipy pandas"
    ).split()
)


def _reached(root: str) -> set[str]:
    """Return the modules of the readers that one of them imports, and itself."""
    todo, seen = [root], set()
    while todo:
        name = todo.pop()
        if name in seen or name not in FILES:
            continue
        seen.add(name)
        source = ast.parse(FILES[name].read_text())
        imported = [n for n in ast.walk(source) if isinstance(n, ast.ImportFrom)]
        todo.extend(str(n.module) for n in imported)
    return seen


REACHED = sorted(set().union(*(_reached(root) for root in ROOTS)))


def _called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        owner = function.value.id if isinstance(function.value, ast.Name) else ""
        # A regular expression of ours, and the JSON of a schema, are no code of the file.
        return "" if owner in ("re", "json") else function.attr
    return function.id if isinstance(function, ast.Name) else ""


@pytest.mark.parametrize("name", REACHED)
def test_no_module_of_the_interpreter_can_run_code(name: str) -> None:
    for node in ast.walk(ast.parse(FILES[name].read_text())):
        if isinstance(node, ast.Call):
            assert _called(node) not in FORBIDDEN, f"{name} line {node.lineno}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
            assert module.partition(".")[0] not in MODULES, f"{name} line {node.lineno}"


def test_attributes_are_fetched_by_names_of_ours() -> None:
    for name in REACHED:
        for node in ast.walk(ast.parse(FILES[name].read_text())):
            if isinstance(node, ast.Call) and _called(node) == "getattr":
                assert isinstance(node.args[1], ast.Constant), f"{name} line {node.lineno}"


def test_files_are_opened_in_one_place() -> None:
    opening = set()
    for name in REACHED:
        for node in ast.walk(ast.parse(FILES[name].read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("open", "os.open"):
                opening.add(name)
    assert opening == {f"{READERS}open"}


def test_the_modules_are_few_enough_to_review() -> None:
    parts = {f"{READERS}pickle.{name}" for name in ("names", "states", "construct", "pickle_vm")}
    assert {*ROOTS, *parts} <= set(REACHED)
    assert sum(len(FILES[name].read_text().splitlines()) for name in REACHED) < 4_500
    assert all(importlib.import_module(name) for name in ROOTS)


def test_every_trainer_of_ours_is_listed_by_its_exact_name() -> None:
    trained = {f"{trainer.__module__}.{trainer.__name__}" for trainer in ALGORITHMS}
    assert trained == {name for name in CLASSES if name.startswith("treeaudit.trainers.")}
