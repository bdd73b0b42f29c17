"""Every headline number, check and verdict of a report against the raw rows."""

from typing import Any

import pytest

import treeaudit as ta
from tests.route.compare import differences
from tests.route.expected import Expected, told
from tests.route.models import KINDS, draw
from tests.route.verdicts import THRESHOLDS, disagreements
from tests.route.words import misread
from treeaudit.findings.policy import Policy
from treeaudit.reports.html import to_html
from treeaudit.reports.terminal import to_text

_MODELS = [(kind, seed) for kind in KINDS for seed in range(11)]
_FEW = 2


@pytest.mark.parametrize(
    ("kind", "seed"),
    [pytest.param(*one, marks=() if one[1] < _FEW else pytest.mark.slow) for one in _MODELS],
)
def test_every_number_again(kind: str, seed: int) -> None:
    """By the file alone, with its people, and with persons of several rows."""
    drawn, rng = draw(kind, seed)
    values = {name: float(rng.choice(some)) for name, some in THRESHOLDS.items()}
    policy, k = Policy(name="route", values=values), int(values["min-leaf"])
    people, answer = drawn.people, drawn.answer
    rows = people.frame(answer) if answer else people.features
    ways: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {"train": False}),
        ({"train": rows, "target": answer or None, "repeats": "people"}, {"train": True}),
    ]
    if answer:
        ways.append(
            (
                {"train": rows, "target": answer, "person": "person"},
                {"train": True, "person": people.person},
            )
        )
    for given, counted in ways:
        found = ta.scan(drawn.model, policy=policy, **given)
        report = found.to_dict()
        expected = Expected(told(drawn, report), k, **counted)
        assert differences(report, expected) == []
        assert list(disagreements(report, expected)) == []
        text, page = to_text(found, width=240), to_html(found)
        assert list(misread(text, page, report, expected)) == []
