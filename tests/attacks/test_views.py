"""What attacks show of a finding, in words and drawn."""

from dataclasses import replace

import pytest

import treeaudit as ta
from tests.attacks.test_background_known import TABLE_4
from treeaudit.attacks import ATTACKS
from treeaudit.attacks.attribute_inference.attack import Attributes
from treeaudit.attacks.attribute_inference.view import AttributesDetails
from treeaudit.attacks.background.attack import Background
from treeaudit.attacks.background.view import BackgroundDetails, KnownPeople, PublicPrior
from treeaudit.attacks.distinct_people import InAnyTree
from treeaudit.attacks.membership_inference.attack import Membership
from treeaudit.attacks.membership_inference.roc import (
    MembershipDetails,
    NotMade,
    References,
    Refused,
    Separation,
)
from treeaudit.attacks.sensitive import Sensitive
from treeaudit.attacks.singling_out.attack import Uniqueness
from treeaudit.attacks.singling_out.view import Contribution
from treeaudit.findings.details import People, Share
from treeaudit.reports.plots import draw_curve, draw_plot
from treeaudit.reports.wording import in_words


@pytest.fixture(scope="module")
def report(figure_3) -> ta.Report:
    return ta.scan(figure_3)


def finding(attack, details, controls=(), people=9) -> ta.Finding:
    return ta.Finding(
        id=attack.id,
        title="t",
        severity="low",
        leaves=1,
        people=people,
        summary="s",
        looked=("x",),
        details=details,
        controls=controls,
    )


def facts(view) -> dict[str, str]:
    return {name: in_words(text) for name, text in view.facts}


def drawn(view) -> list:
    every = [draw_plot(plot) for plot in view.plots]
    every += [draw_curve(curve) for curve in view.curves]
    return [one for one in every if one is not None]


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_was_not_run_draws_nothing_and_has_no_figure(attack, report) -> None:
    view = attack.view(ta.Skipped(id=attack.id, title="t", reason="it cannot be"), report)
    assert (drawn(view), view.facts, view.figure, view.headline) == ([], (), None, None)
    assert all(rung.number is None for rung in view.rungs)


def background(**measured) -> BackgroundDetails:
    """Return details in which nothing was found but what is given."""
    nobody = InAnyTree(tree=0, worst=People(0), low=People(0), high=People(0), among=People(100))
    nothing = BackgroundDetails(
        tree=0,
        disclosed_by_one_in_any_tree=nobody,
        disclosed_by_most_in_any_tree=nobody,
        people_disclosed_by_known=(People(0), People(0)),
        leaves_by_known=(People.leaves(0), People.leaves(0)),
        leaves_not_countable=0,
        people_total=People(100),
        people_countable=People(100),
        share_certain_random_known=(Share(0.0), Share(0.0)),
        mean_certainty_by_known=(Share(0.5), Share(0.5)),
        mixed_leaves=People.leaves(0),
        mixed_people=People(0),
        worst_case_certainty_by_known=(),
        certainty_by_negations=(),
        certainty_by_implications=(),
        skyline=(),
    )
    return replace(nothing, **measured)


def people(*curve: int) -> tuple[People, ...]:
    return tuple(map(People, curve))


def shares(*curve: float) -> tuple[Share, ...]:
    return tuple(map(Share, curve))


def test_knowledge_is_two_lines_of_people_and_one_chart_of_certainty(report) -> None:
    details = background(
        people_disclosed_by_known=people(0, 20, 40),
        share_certain_random_known=shares(0.0, 0.05, 0.1),
        worst_case_certainty_by_known=shares(0.4, 2 / 3, 1.0),
        certainty_by_negations=shares(0.4, 0.5, 1.0),
        certainty_by_implications=shares(0.4, 10 / 19, 0.7),
    )
    by_people, certainty = drawn(Background.view(finding(Background, details), report))
    assert "the best others are known: from 0 to 40" in by_people.svg
    assert "others at random are known: from 0 to 10" in by_people.svg
    assert "<title>52.6%</title>" in certainty.svg
    assert "labels ruled out: from 40.0% to 100%" in certainty.svg


def test_known_people_are_told_at_once_and_as_a_consequence(report) -> None:
    known = KnownPeople(
        origin="known.csv",
        records=People(3),
        followed="people",
        trees_used=1,
        trees=1,
        people_certain_before=People(2),
        people_falling=People(4),
        people_falling_at_once=People(3),
        people_falling_as_a_consequence=People(1),
        rounds=2,
        leaves_falling=People.leaves(1),
        falling=(),
        people=(),
    )
    view = Background.view(finding(Background, background(known=known)), report)
    assert facts(view)["Known people"] == (
        "3 people of known.csv: 4 people disclosed, 3 at once and 1 as a consequence"
    )
    rung = view.rungs[-1]
    assert (in_words(rung.knows), in_words(rung.number)) == (
        "the known people (3)",
        "4 more people",
    )


def test_nothing_that_can_be_proved_is_no_rung_of_known_people(report) -> None:
    known = KnownPeople(
        origin="known.csv",
        records=People(1),
        followed="leaves",
        trees_used=0,
        trees=1,
        people_falling=People(0),
        leaves_falling=People.leaves(0),
        falling=(),
        reason="noise was added to the counts of 3 leaves",
    )
    view = Background.view(finding(Background, background(known=known)), report)
    assert not any("known people" in in_words(rung.knows) for rung in view.rungs)
    assert facts(view)["Known people"].endswith("the counts of 3 leaves")


def prior(**measured) -> PublicPrior:
    return replace(
        PublicPrior(
            origin="prior.csv",
            column="country",
            kinds=2,
            certainty=0.95,
            whose="the training people's own",
            method="the Ω-estimate in 2 leaves of three or more labels",
            leaves_estimated=People.leaves(2),
            leaves_contradicting=People.leaves(0),
            leaves_looked_at=People.leaves(9),
            leaves=People.leaves(4),
            people=People(12),
            people_at_most=People(12),
            leaves_because_of_prior=People.leaves(1),
            people_because_of_prior=People(3),
            people_because_of_prior_at_most=People(3),
        ),
        **measured,
    )


def test_a_prior_is_told_with_its_method(report) -> None:
    view = Background.view(finding(Background, background(prior=prior())), report)
    assert facts(view)["Public prior"] == (
        "prior.csv (country): 3 people become at least 95% certain because of it; "
        "the Ω-estimate in 2 leaves of three or more labels"
    )
    assert not view.rungs[-1].at_most


def test_without_the_people_a_prior_is_a_bound_and_without_a_column_of_everybody(report) -> None:
    unknown = prior(
        column=None,
        people=None,
        people_because_of_prior=None,
        method="exact",
        leaves_estimated=People.leaves(0),
    )
    view = Background.view(finding(Background, background(prior=unknown)), report)
    assert facts(view)["Public prior"] == (
        "prior.csv: at most 3 people become at least 95% certain because of it; exact"
    )
    assert view.rungs[-1].at_most


def column(name: str, members: float, unseen: float) -> ta.Control:
    def share(value: float) -> ta.Estimate:
        return ta.Estimate(value=value, low=value - 0.05, high=value + 0.05, n=400)

    return ta.Control(
        of=name,
        claim=share(members),
        control=share(unseen),
        baselines={"guess without the model": share(0.3)},
        excess=share(members - unseen),
        sentence=f"{name} in words.",
    )


def attributes(*given: str) -> AttributesDetails:
    return AttributesDetails(
        columns=(),
        given_away=given,
        not_attacked=(),
        alpha=1.0,
        members=People(400),
        control=People(400),
        reference=People(400),
    )


def test_columns_that_are_given_away_come_first(report) -> None:
    every = (column("age", 0.5, 0.5), column("sex", 0.4, 0.3), column("<job>", 0.6, 0.4))
    view = Attributes.view(finding(Attributes, attributes("<job>"), every), report)
    (plot,) = drawn(view)
    assert [line.name for line in plot.lines] == ["<job> (given away)", "sex", "age"]
    assert plot.lines[0].cells == ("60%", "40%", "30%")
    assert plot.more == ("<job> in words.", "sex in words.", "age in words.")
    assert in_words(view.unseen) == "40%, members 60%"


TOO_FEW = "needs 10,000 control people, there are 8,141"
LOSS = Separation(
    auc=0.59,
    auc_low=0.58,
    auc_high=0.6,
    tpr_at_1_percent_fpr=Share(0.015),
    tpr_at_1_percent_fpr_low=Share(0.012),
    tpr_at_1_percent_fpr_high=Share(0.018),
    tpr_at_0_1_percent_fpr=None,
    tpr_at_0_1_percent_fpr_low=None,
    tpr_at_0_1_percent_fpr_high=None,
    refused=Refused(tpr_at_0_1_percent_fpr=TOO_FEW),
)
MEMBERSHIP = MembershipDetails(
    auc=0.61,
    auc_low=0.6,
    auc_high=0.62,
    tpr_at_1_percent_fpr=Share(0.021),
    tpr_at_1_percent_fpr_low=Share(0.018),
    tpr_at_1_percent_fpr_high=Share(0.023),
    tpr_at_0_1_percent_fpr=None,
    tpr_at_0_1_percent_fpr_low=None,
    tpr_at_0_1_percent_fpr_high=None,
    refused=LOSS.refused,
    score="counts",
    strongest="counts",
    strongest_at_1_percent_fpr="counts",
    n_tests=2,
    certain_non_members=People(8),
    certain_non_members_share=Share.of(8, 8_141),
    members=People(20_000),
    control=People(8_141),
    reference=People(8_141),
    blind=False,
    people_alone=People(0),
    references=References(
        counts=replace(LOSS, auc=0.61, auc_low=0.603, auc_high=0.62),
        loss=LOSS,
        shadows=NotMade(reason="only 3 people have shadow models"),
    ),
)


def test_membership_has_the_strongest_of_three_tests_and_says_what_is_not_told(report) -> None:
    view = Membership.view(finding(Membership, MEMBERSHIP), report)
    area, one, tenth = drawn(view)
    assert [line.cells[0] for line in area.lines] == [
        "61.0%",
        "61.0%",
        "59.0%",
        "only 3 people have shadow models",
    ]
    assert area.sentences[0].startswith("8 of 8,141 unseen people are certainly not")
    assert one.lines[0].cells == ("2.1%", "1.8–2.3%", "of 20,000")
    assert tenth.lines == ()
    assert tenth.sentences == (f"Not told: {TOO_FEW}.",)
    # The area is a chance, and no share of people who are recognised.
    (rung,) = view.rungs
    assert in_words(rung.follows).startswith("is the chance that the score of a member is above")
    assert area.title.startswith("Chance that the score of a member is above somebody else's (AUC")


def test_the_control_of_membership_stands_by_the_first_rate(report) -> None:
    control = replace(column("people taken for members", 0.021, 0.01), sentence="2.1% of 20,000.")
    view = Membership.view(finding(Membership, MEMBERSHIP, (control,)), report)
    assert drawn(view)[1].sentences == ("2.1% of 20,000.",)


def test_features_are_ordered_as_they_matter(report) -> None:
    features = tuple(
        Contribution(
            feature=name,
            people=People(n),
            share=Share.of(n, 40),
            last_split_people=People(last),
            last_split_share=Share.of(last, 40),
            hidden_share=None,
            hidden_n=None,
        )
        for name, n, last in (("age", 30, 20), ("rare", 2, 2))
    )
    details = replace(report["TA101"].details, contribution=features)
    view = Uniqueness.view(finding(Uniqueness, details), report)
    (plot,) = drawn(view)
    assert [(line.name, *line.cells) for line in plot.lines] == [("age", "50%"), ("rare", "5.0%")]


def test_the_risks_of_single_people_are_facts(report) -> None:
    view = Uniqueness.view(report["TA101"], report)
    assert {"Chance to find one chosen person", "Chance over everybody"} <= set(facts(view))


def test_a_sensitive_column_is_a_row(figure_3) -> None:
    people = TABLE_4.assign(sex=list("fmfmfmfmf"))
    report = ta.scan(figure_3, train=people, target="Health", sensitive=["sex"])
    view = Sensitive.view(report["TA110"], report)
    assert [line.name for plot in drawn(view) for line in plot.lines] == ["sex"]
