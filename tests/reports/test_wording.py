"""The one place where typed numbers become text."""

import pytest
from markupsafe import Markup

from treeaudit.findings.details import Agreeing, Count, People, Score, Share, Strong, say
from treeaudit.reports.wording import in_bold, in_words
from treeaudit.stats import Estimate

FOUND = Estimate(value=0.61, low=0.42, high=0.76, n=28)


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        (People(0), "0 people"),
        (People(1), "1 person"),
        (People(1_888), "1,888 people"),
        (People.alone(4), "4"),
        (People.leaves(1), "1 leaf"),
        (Agreeing(1, "is", "are"), "is"),
        (Agreeing(2, "is", "are"), "are"),
        (Count(1, "feature", "features"), "1 feature"),
        (Count(1_234), "1,234"),
        (Share.of(1, 3), "33.3%"),
        (Share.of(0, 0), "0%"),
        (Share(0.1234), "12.3%"),
        (FOUND, "61%"),
        (Score(0.612, 0.6, 0.62), "0.612"),
        (say("{} left", People(3)), "3 people left"),
        ("3\x1b", "3␛"),
        (Strong("nobody"), "nobody"),
        (1_234, "1,234"),
        (0.25, "0.25"),
    ],
)
def test_each_type_is_told_in_its_way(part, shown) -> None:
    assert in_words(say("{}", part)) == shown


@pytest.mark.parametrize("nothing", [None, True])
def test_what_is_no_number_and_no_text_is_not_told(nothing) -> None:
    with pytest.raises(TypeError, match="is nothing to tell"):
        in_words(say("{}", nothing))


def test_in_markup_people_are_bold_and_texts_of_the_model_are_escaped() -> None:
    phrase = say("the {} of {}: {}", "<job>", People(3), Strong("<all>"))
    assert in_bold(phrase) == "the &lt;job&gt; of <b>3 people</b>: <b>&lt;all&gt;</b>"
    assert isinstance(in_bold(phrase), Markup)
