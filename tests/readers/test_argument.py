"""What the interpreter's own docstring argues, checked in the source of its modules."""

import ast
import importlib
from pathlib import Path

import pytest

import treeaudit.readers as readers
from treeaudit.readers.pickle.listed_names import CLASSES
from treeaudit.trainers.algorithms import ALGORITHMS

FILES = {path.stem: path for path in Path(readers.__file__).parent.rglob("*.py")}
ROOTS = ("pickle_vm", "skops_file")
TABLES = ("known_names", "listed_estimators", "listed_moves", "listed_names")
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
        ours = [str(n.module) for n in imported if str(n.module).startswith("treeaudit")]
        todo.extend(module.rpartition(".")[2] for module in ours)
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
            assert _called(node) not in FORBIDDEN, f"{name}.py line {node.lineno}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
            assert module.partition(".")[0] not in MODULES, f"{name}.py line {node.lineno}"


def test_attributes_are_fetched_by_names_of_ours() -> None:
    for name in REACHED:
        for node in ast.walk(ast.parse(FILES[name].read_text())):
            if isinstance(node, ast.Call) and _called(node) == "getattr":
                assert isinstance(node.args[1], ast.Constant), f"{name}.py line {node.lineno}"


def test_files_are_opened_in_one_place() -> None:
    opening = set()
    for name in REACHED:
        for node in ast.walk(ast.parse(FILES[name].read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("open", "os.open"):
                opening.add(name)
    assert opening == {"open"}


def test_the_modules_are_few_enough_to_review() -> None:
    assert {"pickle_vm", "names", "states", "construct", "opcodes"} <= set(REACHED)
    assert {"companions", *TABLES} <= set(REACHED)
    # Tables of numbers and of names are no code to follow.
    code = [name for name in REACHED if name not in ("limits", *TABLES)]
    lines = sum(len(FILES[name].read_text().splitlines()) for name in code)
    assert lines < 5500
    assert importlib.import_module("treeaudit.readers.pickle.pickle_vm")


def test_the_lists_of_names_are_data() -> None:
    """Whatever they list stands there in full: texts, sets, and patterns made of them."""
    tables = ast.parse(FILES["known_names"].read_text())
    assert not [n for n in ast.walk(tables) if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    assert {_called(n) for n in ast.walk(tables) if isinstance(n, ast.Call)} <= {
        *("", "frozenset", "split", "pattern"),
    }
    for listed in ("listed_estimators", "listed_moves"):
        assert {type(node) for node in ast.parse(FILES[listed].read_text()).body} == {
            *(ast.Expr, ast.Assign),
        }
    names = ast.parse(FILES["listed_names"].read_text())
    functions = [n for n in ast.walk(names) if isinstance(n, ast.FunctionDef)]
    assert sum(node.end_lineno - node.lineno for node in functions if node.end_lineno) < 30


def test_every_trainer_of_ours_is_listed_by_its_exact_name() -> None:
    trained = {f"{trainer.__module__}.{trainer.__name__}" for trainer in ALGORITHMS}
    assert trained == {name for name in CLASSES if name.startswith("treeaudit.trainers.")}
