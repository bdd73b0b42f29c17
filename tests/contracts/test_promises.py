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
            "readers/test_argument.py::test_no_module_of_the_interpreter_can_run_code",
        ],
        "no library that wrote a file is imported to read it": [
            "readers/test_argument.py::test_no_module_of_the_interpreter_can_run_code",
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
            "test_output.py::test_a_file_that_exists_stays",
        ],
        "Impurities and the values above leaves follow from the leaves": [
            "hostile/test_nodes.py::test_what_follows_from_other_numbers",
        ],
        "Texts in the place of names have to read as names": [
            "hostile/test_texts.py::test_rows_are_no_names",
            "hostile/test_texts.py::test_names_are_names",
        ],
        "numbers for each column are weighed: up to 16 KiB of what no tree needs pass": [
            "hostile/test_texts.py::test_columns_that_no_tree_tests",
        ],
        "up to 16 bytes in all are named in a warning, more ends in REVIEW": [
            "hostile/test_forged.py::test_many_other_instructions_are_a_message",
        ],
        "so is each of the 16 plain entries beside a model in a bundle": [
            "hostile/test_smuggled.py::test_keys_of_a_bundle_as_rows",
            "hostile/test_smuggled.py::test_keys_in_bundles_of_bundles",
        ],
        "the time and a file name of up to 100 characters in the head of a gzip file": [
            "readers/test_every_byte.py::test_what_a_compressed_file_holds_beside_its_stream_is_named",
        ],
        "in a skops file the numbers that stand for objects": [
            "hostile/test_smuggled.py::test_room_in_a_skops_file",
        ],
        "which is named as a seed (TA203), and only has to look drawn": [
            "readers/test_account.py::test_a_generator_as_seed_is_a_seed",
        ],
        "`treeaudit release` writes its own order and container, no generator": [
            "repair/test_release.py::test_nothing_smuggled_survives",
            "repair/test_release.py::test_names_stay_and_seeds_go",
        ],
        "Bytes between the columns of a node table are always named": [
            "hostile/test_nodes.py::test_what_a_copy_leaves_between_the_columns",
        ],
    },
    "README.md": {
        "of which no code is run": ["hostile/test_sandbox.py::test_hostile_files_touch_nothing"],
        "A check that could not be made is never a pass": [
            "contracts/test_looked.py::test_every_check_that_reads_a_skipped_attack_is_skipped",
        ],
        "a class that is not on it is named and never passes": [
            "hostile/test_named.py::test_a_class_that_nobody_listed_is_named_and_no_pass",
        ],
    },
    "TA205": {
        "the audit has run none of the code": [
            "hostile/test_sandbox.py::test_hostile_files_touch_nothing",
        ],
        "a state against the methods that it could take the place of": [
            "hostile/test_forged.py::test_a_method_is_called_by_what_is_refused",
        ],
        "that nothing is found does not make a file safe to load": [
            "hostile/test_forged.py::test_loaders_are_deceived_by_what_is_refused",
        ],
    },
    "TA206": {
        "write the file anew from what was audited and nothing else": [
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
