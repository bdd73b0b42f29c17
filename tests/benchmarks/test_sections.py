from benchmarks.sections import RESULTS, replace_section


def test_a_section_is_replaced_and_the_others_stay() -> None:
    document = replace_section(replace_section("", "costs", "old"), "paper", "kept")
    changed = replace_section(document, "costs", r"new \1 with a backslash")
    assert "old" not in changed
    assert r"new \1 with a backslash" in changed
    assert "<!-- paper: begin -->\nkept\n<!-- paper: end -->" in changed


def test_writing_the_same_again_changes_nothing() -> None:
    document = replace_section(replace_section("", "costs", "one"), "paper", "two")
    assert replace_section(document, "costs", "one") == document


def test_the_results_hold_both_sections_once() -> None:
    document = RESULTS.read_text(encoding="utf-8")
    for name in ("costs", "paper", "private regression"):
        assert document.count(f"<!-- {name}: begin -->") == 1
        assert document.count(f"<!-- {name}: end -->") == 1
