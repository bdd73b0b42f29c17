"""What is promised of files stands word for word where it is read, and a test shows it."""

import ast
from functools import cache
from pathlib import Path

import pytest

from treeaudit.attacks import ATTACKS

ROOT = Path(__file__).parents[2]

PROMISES = {
    "SECURITY.md": {
        "Reading a file runs none of its code.": [
            "hostile/test_sandbox.py::test_hostile_files_touch_nothing",
            "readers/pickle/test_argument.py::test_no_module_of_the_interpreter_can_run_code",
        ],
        "no library that wrote a file is imported to read it": [
            "readers/pickle/test_argument.py::test_no_module_of_the_interpreter_can_run_code",
        ],
        "a function that is not listed is refused": [
            "hostile/test_named.py::test_it_is_refused_with_its_name",
        ],
        "a class that is not listed is named and forbids a pass": [
            "hostile/test_named.py::test_a_class_that_nobody_listed_is_named_and_no_pass",
        ],
        "a stored value in the place of a method is refused": [
            "hostile/test_forged.py::test_a_method_is_called_by_what_is_refused",
        ],
        "Sizes, counts, depth and unpacked bytes are bounded": [
            "hostile/test_floods.py::test_a_flood_stays_within_its_bounds",
            "hostile/test_sandbox.py::test_bomb_is_bounded_in_time_and_memory",
        ],
        "they are escaped in HTML, and control and direction characters are replaced everywhere": [
            "hostile/test_files.py::test_names_with_half_characters_can_be_written_out",
            "reports/test_html.py::test_hostile_text_is_shown_as_text",
        ],
        "The HTML report loads nothing and needs no script": [
            "browser/test_report_in_browser.py::test_everything_is_there_without_javascript",
        ],
        "everything else is skipped with the reason, and a skipped check is never a pass": [
            "contracts/test_looked.py::test_a_kind_that_nobody_looked_for_passes_nothing",
            "contracts/test_looked.py::test_clear_without_looking_cannot_be_made",
        ],
        "Writes are atomic and need `--force` where a file exists": [
            "test_files.py::test_a_file_that_exists_stays",
        ],
        "`treeaudit release` writes it from the model alone, in one encoding": [
            "writers/test_canonical.py::test_a_release_is_a_fixed_point",
        ],
        "What lies beyond the model is listed by path and size (TA206)": [
            "hostile/test_smuggled.py::test_what_is_hidden_is_listed_or_gone_after_release",
        ],
        "people in the file are reported as people (TA202)": [
            "readers/pickle/test_tables.py::test_rows_are_graded_high_and_fail",
        ],
        "with `--train`, that its counts are not exact": [
            "people/test_noise_check.py::test_exact_counts_are_detected",
        ],
        "unused bytes between columns": [
            "readers/pickle/test_model.py::test_bytes_between_the_columns_are_noted_where_they_stand",
        ],
    },
    "README.md": {
        "It never runs code from your file": [
            "hostile/test_sandbox.py::test_hostile_files_touch_nothing",
        ],
        "A check that could not be made is never a pass": [
            "contracts/test_looked.py::test_every_check_that_reads_a_skipped_attack_is_skipped",
        ],
    },
    "docs/formats.md": {
        "none of them calls anything": [
            "readers/pickle/test_argument.py::test_no_module_of_the_interpreter_can_run_code",
        ],
        "A function that is not on the list is refused": [
            "hostile/test_named.py::test_it_is_refused_with_its_name",
        ],
        "A class that is not on the list is named, and the file cannot pass": [
            "hostile/test_named.py::test_a_class_that_nobody_listed_is_named_and_no_pass",
        ],
    },
    "TA205": {
        "names are compared with a list of functions and classes": [
            "hostile/test_sandbox.py::test_hostile_files_touch_nothing",
            "hostile/test_forged.py::test_a_method_is_called_by_what_is_refused",
        ],
        "A file without findings can still be unsafe to load": [
            "hostile/test_forged.py::test_loaders_are_deceived_by_what_is_refused",
        ],
    },
    "TA206": {
        "write the file again from the model alone": [
            "repair/test_release.py::test_nothing_smuggled_survives",
        ],
    },
}


@cache
def _text(where: str) -> str:
    """Return what is read there, on one line."""
    if where.endswith(".md"):
        return " ".join((ROOT / where).read_text(encoding="utf-8").split())
    words = next(attack.words for attack in ATTACKS if attack.id == where)
    return " ".join(f"{words.remedy} {words.limit}".split())


@cache
def functions_of(module: str) -> set[str]:
    """Return what is defined in a module of the tests."""
    tree = ast.parse((ROOT / "tests" / module).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(
    ("where", "promise"), [(where, said) for where, of in PROMISES.items() for said in of]
)
def test_what_is_promised_is_tested(where: str, promise: str) -> None:
    assert promise in _text(where)
    for test in PROMISES[where][promise]:
        module, _, name = test.partition("::")
        assert name in functions_of(module), f"{promise!r} rests on {test}, which is not there"
