"""The one place where numbers of people become text: each type, open and for a safe copy."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from treeaudit.findings.numbers import (
    Agreeing,
    Count,
    Either,
    People,
    Prose,
    Score,
    Share,
    Strong,
    exactly,
    say,
)
from treeaudit.reports.masking import Numbers
from treeaudit.stats import Estimate

OPEN, SAFE = Numbers(k=5), Numbers(k=5, safe=True)


def of(n: int) -> Estimate:
    return Estimate(value=0.61, low=0.42, high=0.76, n=n)


@pytest.mark.parametrize(
    ("part", "shown", "safe"),
    [
        (People(0), "0 people", "0 people"),
        (People(1), "1 person", "fewer than 5 people"),
        (People(4), "4 people", "fewer than 5 people"),
        (People(5), "5 people", "5 people"),
        (People(1_888), "1,888 people", "1,890 people"),
        (People.alone(4), "4", "fewer than 5"),
        (People.leaves(1), "1 leaf", "fewer than 5 leaves"),
        (Agreeing(1, "is", "are"), "is", "are"),
        (Agreeing(2, "is", "are"), "are", "are"),
        (Count(1, "feature", "features"), "1 feature", "1 feature"),
        (Count(1_234), "1,234", "1,234"),
        (Share.of(1, 3), "33.3%", "under 100%"),
        (Share.of(2, 100), "2.0%", "under 5.0%"),
        (Share.of(33, 100), "33.0%", "35.0%"),
        (Share(0.1234), "12.3%", "about 12%"),
        (of(28), "61%", "≈60%"),
        (of(4), "61%", "–"),
        (Score(0.612, 0.6, 0.62), "0.612", "0.6"),
        (say("{} left", People(3)), "3 people left", "fewer than 5 people left"),
        (exactly("3 of 40"), "3 of 40", ""),
        (Either("3 of 40", "few"), "3 of 40", "few"),
        (Prose("3 of 40 (scikit-learn 1.9.1)"), "3 of 40 (scikit-learn 1.9.1)",
         "fewer than 5 of 40 (scikit-learn 1.9.1)"),
        ("3\x1b", "3␛", "3␛"),
        (Strong("nobody"), "nobody", "nobody"),
        (1_234, "1,234", "1,234"),
        (0.25, "0.25", "0.25"),
    ],
)  # fmt: skip
def test_each_type_is_told_in_its_way(part, shown, safe) -> None:
    assert (OPEN.say(say("{}", part)), SAFE.say(say("{}", part))) == (shown, safe)


@pytest.mark.parametrize("nothing", [None, True])
def test_what_is_no_number_and_no_text_is_not_told(nothing) -> None:
    with pytest.raises(TypeError, match="is nothing to tell"):
        OPEN.say(say("{}", nothing))


def test_only_an_exact_phrase_is_left_out_of_a_safe_copy() -> None:
    phrases = (None, say("a"), exactly("a"))
    assert [OPEN.tells(phrase) for phrase in phrases] == [False, True, True]
    assert [SAFE.tells(phrase) for phrase in phrases] == [False, True, False]


def test_in_markup_people_are_bold_and_texts_of_the_model_are_escaped() -> None:
    phrase = say("the {} of {}: {}", "<job>", People(3), Strong("<all>"))
    assert OPEN.strong(phrase) == "the &lt;job&gt; of <b>3 people</b>: <b>&lt;all&gt;</b>"
    assert SAFE.strong(phrase).count("fewer than 5") == 1
    assert isinstance(OPEN.strong(phrase), Markup)


def of_people(n: int, whole: int, kind: int) -> object:
    """Return a part that tells of n people."""
    return (
        People(n),
        People.alone(n),
        People.leaves(n),
        Agreeing(n, "is", "are"),
        Share.of(n, whole),
        Prose(f"{n} are in it"),
        Estimate(value=1 / n, low=1 / n, high=1 / n, n=n),
        say("{} of {}", People(n), People(whole)),
        exactly(f"{n} of {whole}"),
    )[kind]


@given(st.data(), st.integers(2, 1_000), st.integers(1_000, 1 << 40), st.integers(0, 8))
def test_in_a_safe_copy_all_numbers_of_people_below_k_are_the_same(data, k, whole, kind) -> None:
    numbers = Numbers(k=k, safe=True)
    few = st.integers(1, k - 1)
    one, other = (
        say("{} of {}", of_people(data.draw(few), whole, kind), People(whole)) for _ in range(2)
    )
    assert numbers.say(one) == numbers.say(other)
    assert numbers.strong(one) == numbers.strong(other)


@given(st.integers(2, 1_000), st.lists(st.integers(0, 5_000), min_size=1, max_size=5))
def test_a_safe_copy_tells_people_in_steps_of_k_only(k, people) -> None:
    """Whatever is subtracted from whatever, nothing below k is left but 0."""
    phrase = say(", ".join("{}" for _ in people), *map(People, people))
    told = re.findall(r"\d[\d,]*\d|\d", Numbers(k=k, safe=True).say(phrase))
    assert len(told) == len(people)
    assert all(int(n.replace(",", "")) % k == 0 for n in told)


@given(st.integers(2, 1_000), st.data())
def test_an_estimate_of_few_people_is_not_told_and_steps_stand_for_k_people(k, data) -> None:
    n = data.draw(st.integers(1, 20 * k))
    value = data.draw(st.integers(0, n)) / n
    found = Numbers(k=k, safe=True).estimate(Estimate(value=value, low=value, high=value, n=n))
    if n < k:
        assert found is None
    if found is not None:
        steps = [step for step in (0.05, 0.1, 0.2, 0.25, 0.5) if step * n >= k]
        assert found.value / steps[0] == pytest.approx(round(found.value / steps[0]))
