"""What must not be seen of the numbers, the page and the commands, each beside its tests.

Every row is a defect in a sentence. Its tests fail where the cause comes back; each was seen to.
A test in brackets is one case: a line of `tests/cli/mistakes.txt` as it is typed.
"""

from pathlib import Path

import pytest

from tests.contracts.test_promises import functions_of

TESTS = Path(__file__).parents[1]
MISTAKE = "cli/test_mistakes.py::test_one_sentence_with_what_helps"
TYPED = {
    line.split(" | ")[0]
    for line in (TESTS / "cli" / "mistakes.txt").read_text(encoding="utf-8").splitlines()[1:]
}

DEFECTS = {
    "statistics": {
        "The interval of the rate at 1 % takes its threshold as known": [
            "attacks/test_roc.py::test_the_interval_of_a_rate_holds_what_the_threshold_may_be",
        ],
        "Half of the control may be training rows, and memory looks like a fact": [
            "audit/test_controls_apart.py::test_three_training_rows_among_fifty_are_left_out_and_named",
            "people/test_overlap.py::test_members_in_the_control_do_not_move_the_area",
        ],
        "A cell of the paper is called unexplained that another tree explains": [
            "benchmarks/paper/test_reasons.py::test_adult_was_mixed_up_at_depth_4_as_loan_was",
        ],
        "A model of the population decides where people at hand were counted": [
            "attacks/singling_out/test_population.py::test_a_policy_takes_the_count_before_the_model",
        ],
        "A group of exactly k people of a label is small": [
            "attacks/test_homogeneity.py::test_a_cell_of_exactly_k_people_is_not_small",
        ],
        "Trees that make no guess add to how sure a guess is": [
            "attacks/test_background_prior.py::test_a_tree_that_makes_no_guess_adds_nothing_to_what_is_claimed",
        ],
        "That labels add up to the size of a leaf is not used from below": [
            "attacks/background/test_bounds.py::test_both_bounds_are_the_best_that_the_size_allows",
        ],
        "Diversity of draws is judged as that of people": [
            "attacks/test_homogeneity.py::test_draws_of_a_vote_are_no_people",
        ],
        "One column among many seems to be given away by chance": [
            "attacks/test_attributes.py::test_a_column_among_many_has_to_be_more_certain",
        ],
        "One of two excesses is enough for a hidden value to be given away": [
            "attacks/test_attributes.py::test_one_excess_that_is_proven_does_not_stand_for_the_other",
        ],
        "Memory is a word for all people of a claim, and no number of them": [
            "attacks/test_control.py::test_memory_is_a_number_with_an_interval",
            "reports/test_html.py::test_the_verdict_tells_how_many_are_memory",
        ],
        "The share of what fails without, as anonymeter has it, is not told": [
            "test_stats.py::test_the_residual_risk_is_anonymeters",
        ],
        "Random others disclose more than the best ones": [
            "attacks/background/test_curves.py::test_random_people_against_every_choice",
        ],
        "Policies judge a weaker test of membership than one that was made": [
            "attacks/test_membership.py::test_policies_judge_the_strongest_of_the_tests",
            "attacks/test_membership.py::test_the_strongest_is_corrected_for_choosing",
        ],
        "The area under the curve is told as a share of people who are recognised": [
            "attacks/test_views.py::test_membership_has_the_strongest_of_three_tests_and_says_what_is_not_told",
        ],
    },
    "forests and boosting": {
        "A forest of large leaves is clear, whatever all trees tell together": [
            "attacks/singling_out/test_attack.py::test_a_clear_forest_is_said_to_be_judged_tree_by_tree",
            "attacks/composition/test_attack.py::test_random_labels_of_large_leaves_do_not_pass",
        ],
        "Nobody is told how many people all trees together set apart": [
            "attacks/composition/test_units.py::test_who_is_apart_from_everybody_is_told",
        ],
        "More people are told of than there are: a person counts in every tree": [
            "attacks/singling_out/test_attack.py::test_agreement_with_a_count_by_hand",
            "route/test_route.py::test_every_number_again",
        ],
        "A share of a tree stands beside one of everybody as if of the same people": [
            "findings/test_policy.py::test_bounds_over_all_trees_are_told_and_judged_by_their_upper_end",
        ],
        "The headline joins numbers of two trees": [
            "reports/test_html.py::test_no_headline_joins_numbers_of_two_trees",
        ],
        "A forest is drawn as walls of folded columns": [
            "reports/test_html.py::test_a_forest_speaks_of_its_worst_tree",
        ],
        "No boosting can pass, repaired or not": [
            "repair/test_candidates.py::test_a_booster_passes_and_so_does_what_is_written",
        ],
    },
    "the page": {
        "The largest leaves come first, and who is alone never": [
            "attacks/test_homogeneity.py::test_the_smallest_leaves_of_one_label_are_shown_first",
        ],
        "It is long: what is clear or in detail stands open": [
            "browser/test_one_screen.py::test_odd_models_are_told_in_four_sheets",
        ],
        "Words of the field stand without what they mean": [
            "reports/test_html.py::test_words_of_the_field_are_explained_where_they_stand_first",
        ],
        "The footer denies the tables that were given": [
            "reports/test_html.py::test_the_footer_tells_what_the_page_was_made_from",
        ],
        "Advice that nobody tried reads like a way out": [
            "reports/test_html.py::test_the_repair_that_was_tried_is_told",
        ],
        "A repair cannot be written with its page": [
            "repair/test_search.py::test_the_command_prints_it_and_writes_a_page",
        ],
        "What a repair changes is cut where a check is a sentence": [
            "cli/test_defend.py::test_nothing_of_before_and_after_is_cut",
        ],
        "Ids do not stand in the terminal": ["reports/test_terminal.py::test_the_papers_tree"],
    },
    "what leaves the room": {
        "A share is divided from rounded numbers, and 83 % become all": [
            "reports/test_release_safe.py::test_a_share_is_rounded_by_itself_and_never_divided_from_rounded_numbers",
        ],
        "Subtraction gives small groups back": [
            "reports/test_release_safe.py::test_what_stands_in_it_is_listed",
            "reports/test_release_safe.py::test_a_linear_program_gives_no_small_group_back",
            "reports/test_release_safe.py::test_of_all_small_tables_that_fit_no_number_is_told",
        ],
        "The folder for the output checker holds what the safe copy leaves out": [
            "reports/test_release_safe.py::test_every_output_of_the_command_line",
        ],
        "A report that somebody has makes a failing model pass": [
            "findings/test_baseline.py::test_the_same_model_again_is_accepted",
            "findings/test_baseline.py::test_a_report_that_nobody_answers_for_is_no_baseline",
            "findings/test_baseline.py::test_an_acceptance_that_ended_counts_no_more",
        ],
        "Nobody can write down who decides, until when and why": [
            "findings/test_baseline.py::test_who_accepts_and_until_when_is_said",
        ],
        "A baseline follows the name of a file": [
            "findings/test_baseline.py::test_a_baseline_follows_the_line_of_a_model_and_not_the_name_of_its_file",
        ],
        "Nobody can tell whether a report is of a file and true": [
            "comparison/test_verify.py::test_every_entry_that_is_changed_is_found",
        ],
        "Nothing that runs on every change takes the verdict": [
            "cli/test_scan_several.py::test_the_worst_verdict_decides",
            "cli/test_fleet.py::test_the_hook_for_pre_commit_stops_a_model_that_fails",
            "reports/test_lists.py::test_every_kind_of_model_fits_the_standard",
        ],
    },
    "models side by side": {
        "The model that is leakier and no more accurate is advised": [
            "comparison/test_choice.py::test_the_model_to_take",
        ],
        "A private model is never taken: nobody can count in its noise": [
            "comparison/test_choice.py::test_private_models_are_judged_by_what_their_ledger_bounds",
        ],
        "Counts of noise stand as claims about people, or less than is true as a claim": [
            "comparison/test_choice.py::test_leaves_of_noise_are_no_claims_about_people",
        ],
        "Leakage is not on the picture, nor epsilon": [
            "comparison/test_choice.py::test_the_picture_has_accuracy_leakage_and_epsilon",
        ],
    },
    "Python": {
        "Notebooks are empty where nobody runs them": [
            "test_notebooks.py::test_it_holds_what_it_showed",
        ],
        "What is shown at a prompt is a wall": ["test_python.py::test_texts_are_short"],
        "What is shown in a notebook is text": ["test_python.py::test_notebooks_get_html"],
        "A text is taken for a list of its letters": ["test_python.py::test_mistakes_are_named"],
        "Numbers of the table are texts": [
            "test_python.py::test_numbers_of_the_table_are_bounds",
        ],
        "A report is no frame and no JSON": [
            "test_python.py::test_reports_are_frames_and_json",
        ],
    },
    "the command line": {
        "The first command of the README asks an index that does not have it": [
            "test_readme.py::test_no_command_needs_an_index_that_does_not_have_it",
        ],
        "A checkout without links does not work": [
            "test_imports.py::test_nothing_is_imported_through_the_links_at_the_top",
        ],
        "A test asks for a number of files in so many seconds": [
            "fuzz/test_mutate.py::test_damaged_files_end_in_a_sentence",
        ],
        "An internal error does not say where to report it": [
            "cli/test_scan.py::test_a_bug_is_no_verdict",
        ],
        "Help tells types of Python": [
            "cli/test_help.py::test_types_are_told_in_words_that_one_writes",
        ],
        "Help names some of the formats, policies or algorithms": [
            "cli/test_help.py::test_formats_are_those_that_are_read",
            "cli/test_help.py::test_policies_are_those_that_there_are",
            "cli/test_help.py::test_algorithms_are_those_that_there_are",
            "cli/test_train_list.py::test_the_parameters_of_a_trainer",
        ],
        "Rare options stand among the others": [
            "cli/test_help.py::test_rare_options_of_scan_come_last",
        ],
        "The shell completes nothing": [
            "cli/test_help.py::test_the_shell_completes",
        ],
        "Ctrl-C ends without a word": [
            "cli/test_interrupt.py::test_a_second_time_ends_the_program_in_a_sentence",
        ],
        "The encoding that somebody chose is not kept to": [
            "cli/test_process.py::test_a_pipe_carries_utf_8_unless_somebody_chose_otherwise",
        ],
    },
    "mistakes": {
        "A file that was cut off is a frame beyond its end": [f"{MISTAKE}[scan cut.pkl]"],
        "A table that has other columns has a cell that is no number": [
            f"{MISTAKE}[scan nonames.pkl --train named.csv --target job]",
        ],
        "A decimal comma is not read": ["cli/test_mistakes.py::test_decimal_commas_are_read"],
        "A header in capitals is another one": [
            f"{MISTAKE}[scan tree.pkl --train upper.csv --target job]",
        ],
        "Gaps in the table are people in another leaf": [
            f"{MISTAKE}[scan tree.pkl --train gaps.csv --target job]",
        ],
        "A table as baseline is a value at character 0": [
            f"{MISTAKE}[scan tree.pkl --baseline people.csv]",
        ],
        "The target of a schema is a column of a public table": [
            f"{MISTAKE}[schema people.csv --target jobb]",
        ],
        "A feature as target is no column": [
            f"{MISTAKE}[train people.csv --epsilon 1 --schema schema.toml --target age -o m.json]",
        ],
        "A file that exists is told of in Python": [
            f"{MISTAKE}[scan tree.pkl -o kept.json]",
            f"{MISTAKE}[train people.csv --epsilon 1 --schema schema.toml -o kept.json]",
        ],
        "Attacks are not found by name": [
            "cli/test_words.py::test_an_attack_is_explained_by_its_name",
        ],
        "The target is dropped where there are no tables": [
            "audit/test_scan.py::test_the_target_names_the_label_without_tables",
        ],
        "A value of the wrong type is told in words of a library": [
            f"{MISTAKE}[scan tree.pkl --format html]",
            f"{MISTAKE}[scan tree.pkl --seed abc]",
        ],
        "An address or standard input is a file that is not there": [
            f"{MISTAKE}[scan -]",
            f"{MISTAKE}[scan https://example.org/model.pkl]",
        ],
    },
}
ROWS = [(sentence, tests) for of in DEFECTS.values() for sentence, tests in of.items()]


@pytest.mark.parametrize(("sentence", "tests"), ROWS, ids=[sentence for sentence, _ in ROWS])
def test_what_must_not_be_seen_is_tested(sentence: str, tests: list[str]) -> None:
    assert tests
    for test in tests:
        module, _, name = test.partition("::")
        name, _, typed = name.partition("[")
        assert name in functions_of(module), f"{sentence!r} rests on {test}, which is not there"
        assert not typed or typed.removesuffix("]") in TYPED, f"nobody types {typed}"
