"""What attacks show of a finding, in words and drawn."""

from dataclasses import replace

import pytest

import treeaudit as ta
from treeaudit.attacks import ATTACKS
from treeaudit.attacks.background.attack import Background
from treeaudit.attacks.background.view import BackgroundDetails, KnownPeople, PublicPrior
from treeaudit.attacks.distinct_people import InAnyTree
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
