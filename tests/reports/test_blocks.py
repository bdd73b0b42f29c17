"""Details of attacks as rows and curves: what is missing draws nothing."""

import pytest

from treeaudit.findings import Control, Finding
from treeaudit.reports.block import Blocks
from treeaudit.reports.blocks import blocks
from treeaudit.reports.masking import Numbers
from treeaudit.stats import Estimate

OPEN, SAFE = Numbers(k=5), Numbers(k=5, safe=True)


def finding(attack: str, controls: tuple[Control, ...] = (), **details) -> Finding:
    return Finding(
        id=attack,
        title="t",
        severity="low",
        leaves=1,
        people=9,
        summary="s",
        details=details,
        controls=controls,
    )


@pytest.mark.parametrize("numbers", [OPEN, SAFE])
@pytest.mark.parametrize("attack", ["TA101", "TA102", "TA103", "TA104", "TA105", "TA110", "XX1"])
def test_no_details_draw_nothing(attack, numbers):
    assert blocks(finding(attack), numbers) == Blocks()


def test_knowledge_is_two_lines_of_people_and_one_chart_of_certainty():
    drawn = blocks(
        finding(
            "TA103",
            people_disclosed_by_known=[0, 20, 40],
            people_countable=100,
            share_certain_random_known=[0.0, 0.05, 0.1],
            worst_case_certainty_by_known=[0.4, 2 / 3, 1.0],
            certainty_by_negations=[0.4, 0.5, 1.0],
            certainty_by_implications=[0.4, 10 / 19, 0.7],
        ),
        OPEN,
    )
    people, certainty = (chart.svg for chart in drawn.charts)
    assert "the best others are known: from 0 to 40" in people
    assert "others at random are known: from 0 to 10" in people
    assert "<title>52.6%</title>" in certainty
    assert "labels ruled out: from 40.0% to 100%" in certainty


def test_what_is_nearly_certain_already_is_a_sentence_and_no_flat_line():
    drawn = blocks(
        finding("TA103", worst_case_certainty_by_known=[0.99, 1.0], people_countable=9), OPEN
    )
    assert drawn.charts == ()
    (name, text), = drawn.facts  # fmt: skip
    assert name == "Certainty"
    assert text.endswith("99.0% by the file alone; 100% with one other person known")


def test_a_safe_copy_draws_only_rounded_people():
    drawn = blocks(
        finding(
            "TA103",
            people_disclosed_by_known=[3, 21, 38],
            people_countable=100,
            share_certain_random_known=[0.03, 0.05, 0.1],
            worst_case_certainty_by_known=[0.4, 0.6, 1.0],
        ),
        SAFE,
    )
    (chart,) = drawn.charts
    assert "from fewer than 5 to 40" in chart.svg
    assert "random" not in chart.svg


def column(name: str, members: float, unseen: float) -> Control:
    def share(value: float) -> Estimate:
        return Estimate(value=value, low=value - 0.05, high=value + 0.05, n=400)

    return Control(
        of=name,
        claim=share(members),
        control=share(unseen),
        baselines={"guess without the model": share(0.3)},
        excess=share(members - unseen),
        sentence=f"{name} in words.",
    )


def test_columns_that_are_given_away_come_first():
    every = (column("age", 0.5, 0.5), column("sex", 0.4, 0.3), column("<job>", 0.6, 0.4))
    (plot,) = blocks(finding("TA104", every, given_away=["<job>"]), OPEN).plots
    assert [line.name for line in plot.lines] == ["<job> (given away)", "sex", "age"]
    assert plot.lines[0].cells == ("60%", "40%", "30%")
    assert plot.more == ("<job> in words.", "sex in words.", "age in words.")
    (plot,) = blocks(finding("TA104", every, given_away=["<job>"]), SAFE).plots
    assert plot.more == ()


def membership(**more) -> Finding:
    test = {
        "auc": 0.61,
        "auc_low": 0.6,
        "auc_high": 0.62,
        "tpr_at_1_percent_fpr": 0.021,
        "tpr_at_1_percent_fpr_low": 0.018,
        "tpr_at_1_percent_fpr_high": 0.023,
        "tpr_at_0_1_percent_fpr": None,
        "refused": {"tpr_at_0_1_percent_fpr": "needs 10,000 control people, there are 8,141"},
    }
    references = {"loss": dict(test, auc=0.59), "lira": {"reason": "no shadow models"}}
    counted = {"members": 20_000, "control": 8_141, "certain_non_members": 8}
    return finding("TA105", **test, **counted, references=references, **more)


def test_membership_has_three_tests_and_says_what_is_not_told():
    area, one, tenth = blocks(membership(), OPEN).plots
    assert [line.cells[0] for line in area.lines] == ["61.0%", "59.0%", "no shadow models"]
    assert area.sentences[0].startswith("8 of 8,141 unseen people are certainly not")
    assert one.lines[0].cells == ("2.1%", "1.8–2.3%", "of 20,000")
    assert tenth.lines == ()
    assert tenth.sentences == ("Not told: needs 10,000 control people, there are 8,141.",)


def test_a_safe_copy_of_membership_tells_no_exact_number():
    area, one, tenth = blocks(membership(), SAFE).plots
    assert area.lines[0].cells == ("≈60%", "60–65%", "of 28,140")
    assert area.sentences[0].startswith("10 of 8,140 unseen people")
    assert one.lines[0].cells == ("≈0%", "0–5%", "of 20,000")
    assert tenth.sentences == ("Not told: too few control people.",)


def test_features_are_ordered_as_they_matter_and_masked():
    entries = [
        {"feature": "age", "people": 30, "share": 0.75, "last_split_people": 20,
         "last_split_share": 0.5, "hidden_share": None, "hidden_n": None},
        {"feature": "rare", "people": 2, "share": 0.05, "last_split_people": 2,
         "last_split_share": 0.05, "hidden_share": None, "hidden_n": None},
    ]  # fmt: skip
    (plot,) = blocks(finding("TA101", contribution=entries), OPEN).plots
    assert [(line.name, *line.cells) for line in plot.lines] == [("age", "50%"), ("rare", "5.0%")]
    (plot,) = blocks(finding("TA101", contribution=entries), SAFE).plots
    assert [line.name for line in plot.lines] == ["age"]
